// H5FS - how a space map gives extents to a table elsewhere when memory has no room for them. A part of its own,
// because programs that delete nothing have no such table.
#pragma once

#include "space_map.hpp"

namespace h5mote {

class Spilling : public SpaceOverflow {
public:
    FreeExtent get(SpaceMap& map, std::size_t i) noexcept final;
    void set(SpaceMap& map, std::size_t i, const FreeExtent& extent) noexcept final;
    void erase(SpaceMap& map, std::size_t i) noexcept final;
    bool insert(SpaceMap& map, const FreeExtent& extent) noexcept final;
    bool take_smallest(SpaceMap& map) noexcept final;

protected:
    ~Spilling() = default;

    /// Reads an extent of the table. false: the storage failed, and `extent` is as it was. The map then forgets all
    /// that the table has.
    virtual bool read(std::size_t i, FreeExtent& extent) noexcept = 0;
    /// Makes room for so many extents. That may allocate and release space, which changes the map. false: there is
    /// less.
    virtual bool reserve(std::size_t count) noexcept = 0;
    /// Replaces the extent with that number, for which there is room. false: it is not kept.
    virtual bool write(std::size_t i, const FreeExtent& extent) noexcept = 0;

    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

private:
    // The entry that has an extent of the map.
    std::size_t entry_of(const SpaceMap& map, std::size_t i) const noexcept { return i == empty_ ? map.spilled_ : i; }
    void lose(SpaceMap& map) noexcept;
    void remove_last(SpaceMap& map) noexcept;
    bool add(SpaceMap& map, const FreeExtent& extent) noexcept;

    // The entry of an extent that was erased, until the next one is added: the last extent of the table, which has the
    // erased one's number now, need not be moved there if the erased one comes back changed. kNone: there is no such
    // entry.
    std::size_t empty_ = kNone;
};

}  // namespace h5mote
