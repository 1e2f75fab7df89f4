// H5FS - the space map: which parts of a file are free, as extents that are found again.
//
// It knows nothing of where blocks may be placed, of the end of the file or of the storage: that is FileSpace, which
// reaches the extents through this interface only. The map forgets what it holds when the file is closed.
//
// H5MOTE_FREE_EXTENTS extents have room in any case. More of them need memory from the allocator, which is given back
// when others need it; without that memory the smallest extents are forgotten.
#pragma once

#include <h5mote/address.hpp>
#include <h5mote/context.hpp>

namespace h5mote {

/// A run of free bytes, [address, address + size).
struct FreeExtent {
    Address address;
    Address size;
    std::uint8_t pending;  ///< commits until it can be used: FileSpace::settle() counts them down
};

class SpaceMap final : public Reclaimer {
public:
    explicit SpaceMap(Context& context) noexcept : context_(context) { context_.add_reclaimer(*this); }
    SpaceMap(const SpaceMap&) = delete;
    SpaceMap& operator=(const SpaceMap&) = delete;
    ~SpaceMap() {
        clear();
        context_.remove_reclaimer(*this);
    }

    /// Forgets all extents, and gives back the memory in which they were remembered.
    void clear() noexcept {
        count_ = 0;
        reclaim();
    }
    /// Extents are numbered from 0 in no particular order. insert(), erase() and absorb() change the numbers.
    std::size_t count() const noexcept { return count_; }
    FreeExtent& operator[](std::size_t i) noexcept { return extents_[i]; }
    void erase(std::size_t i) noexcept { extents_[i] = extents_[--count_]; }
    /// Whether the extent has bytes in common with one that is in the map.
    bool overlaps(const FreeExtent& extent) const noexcept;
    /// Takes out of the map the neighbours of `extent` that are as `pending` as it is, and makes them part of it.
    void absorb(FreeExtent& extent) noexcept;
    /// Adds an extent, not empty, that overlaps none. If the map is full, the smallest extent is forgotten: the new one
    /// or another. Its space stays unused until the file is repacked.
    void insert(const FreeExtent& extent) noexcept;

    Context& context() noexcept { return context_; }

    /// Gives back the memory for more than H5MOTE_FREE_EXTENTS extents if no more than that are left.
    void reclaim() noexcept override;
    /// Gives that memory back in any case, by forgetting the smallest extents. false: there was none to give back.
    bool reclaim_used() noexcept override;

private:
    std::size_t smallest() const noexcept;
    void use(FreeExtent* extents, std::size_t room) noexcept;
    bool grow() noexcept;

    Context& context_;
    std::size_t count_ = 0;
    std::size_t room_ = H5MOTE_FREE_EXTENTS;
    FreeExtent* extents_ = few_;  // few_, or a larger array from the allocator
    FreeExtent few_[H5MOTE_FREE_EXTENTS];
};

}  // namespace h5mote
