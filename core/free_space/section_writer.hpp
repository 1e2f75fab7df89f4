// H5FS - writing free-space managers: what of a file's free space they record, in which order, and their bytes.
#pragma once

#include "checksum.hpp"
#include "free_space_header.hpp"
#include "next_pairs.hpp"
#include "spilled_extents.hpp"

namespace h5mote {

/// The sections of which one manager of the file keeps a record.
class SectionWriter {
public:
    /// `own` is space that becomes free with the record. Sections of less than `least` bytes and those from `end` on
    /// are left out; for the former the map of free space becomes incomplete, so that the next opening may look for
    /// them. `all`: the manager has sections of every kind.
    SectionWriter(FileState& file, Span<const FreeExtent> own, std::uint64_t least, SpaceKind kind, Address end,
                  bool all) noexcept
        : file_(file), own_(own), least_(least), kind_(kind), end_(end), all_(all) {}

    /// Call once: counts the sections. header() has all numbers then but those of the list's place.
    void measure() noexcept;
    /// Writes header and list to these addresses. io_error.
    Status write(Address header, Address list) noexcept;
    const FreeSpaceHeader& header() const noexcept { return header_; }

private:
    static constexpr std::size_t kPiece = 64;

    // Size and address of the first section of the manager's kind that has the number `i` or a later one, in no
    // order; `i` becomes the number behind it. false: there is none.
    H5MOTE_STEP bool next(std::size_t& i, NumberPair& section) noexcept;
    H5MOTE_STEP void gather(NextPairs& sections) noexcept;
    std::uint64_t count_equal(Address size) noexcept;
    Status put(std::uint64_t number, unsigned width) noexcept;
    Status flush() noexcept;
    Status write_sections() noexcept;

    FileState& file_;
    Span<const FreeExtent> own_;
    std::uint64_t least_;
    SpaceKind kind_;
    Address end_;
    bool all_;
    FreeSpaceHeader header_;
    Lookup3Stream checksum_{0};
    Address to_ = 0;    // where the next bytes of the list go ...
    Address left_ = 0;  // ... and how many may come
    std::size_t held_ = 0;
    std::byte piece_[kPiece];
};

}  // namespace h5mote
