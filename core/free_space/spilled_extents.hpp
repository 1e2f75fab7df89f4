// H5FS - free extents for which memory has no room, kept in the file itself.
//
// They stand in a table in space of the file that nothing refers to, so that no other program and no later session
// reads it. The table has several parts, because a full storage has free space in small pieces only. An entry is:
// address | size | pending 1 | kind 1, with addresses and sizes as wide as Address. Changed entries that follow each
// other are gathered and written together, because each write costs a flash chip much more than its bytes.
//
// After a power cut the table is space that nothing uses, and the extents in it as well: File::reclaim() finds both. An
// I/O error in the table loses the extents in the same way.
#pragma once

#include "file_state.hpp"
#include "space_keeper.hpp"
#include "spilling.hpp"

namespace h5mote {

class SpilledExtents : public SpaceKeeper, public Spilling {
public:
    explicit SpilledExtents(FileState& file) noexcept : file_(file) {}

    /// Gives `file` such a keeper if it has none. Without memory for it the file goes on without one.
    static void attach(FileState& file) noexcept;

    Status store() noexcept override;
    Span<const FreeExtent> own() const noexcept override { return {parts_, count_}; }
    SpaceOverflow* overflow() noexcept override { return this; }

protected:
    ~SpilledExtents() = default;

    bool read(std::size_t i, FreeExtent& extent) noexcept override;
    bool reserve(std::size_t count) noexcept override;
    bool write(std::size_t i, const FreeExtent& extent) noexcept override;

    static constexpr std::size_t kEntry = 2 * sizeof(Address) + 2;  // bytes
    static constexpr std::size_t kWindow = 8;                       // entries that are read and written at once
    static constexpr Address kLeastPart = kWindow * kEntry;         // bytes of a part of the table

    FileState& file_;
    bool busy_ = false;  // the table is moved, recorded or has been given up: it cannot grow

private:
    static std::size_t entries_of(const FreeExtent& part) noexcept;
    Address address_of(std::size_t i) const noexcept;
    Status load(std::size_t first) noexcept;
    Status place(std::size_t least, std::size_t& more, FreeExtent& part) noexcept;
    Status write_changes() noexcept;
    Status fill(const FreeExtent& part, std::size_t from) noexcept;
    Status grow() noexcept;

    static constexpr std::size_t kParts = 8;

    FreeExtent parts_[kParts] = {};  // each has whole windows
    std::size_t count_ = 0;          // of parts
    std::size_t room_ = 0;           // extents that the table has space for
    std::size_t first_ = kNone;      // number of the first extent in the window, if it has any
    std::size_t changed_ = 0;        // the first of the entries that are still to be written
    std::size_t unchanged_ = 0;      // the one behind the last of them
    std::byte window_[kWindow * kEntry] = {};
    std::byte changes_[kWindow * kEntry] = {};  // the entries to be written, where they are in their window
};

}  // namespace h5mote
