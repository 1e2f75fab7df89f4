// H5MF - file space: from the end of the file, or from what was released in this session.
//
// Metadata blocks of at most a sector are placed inside one sector, and the tail of larger ones too, so that a change
// up to the checksum is one atomic write. Space that the committed file still uses is `pending` when released: it is
// given out again only after the commit that made it unreachable. The driver hears of it, too: of a whole run of free
// space whenever that grows, so that it can give up all the pages or blocks in it.
#pragma once

#include <h5mote/address.hpp>
#include <h5mote/context.hpp>
#include <h5mote/driver.hpp>

namespace h5mote {

class FileSpace {
public:
    static constexpr Address kSector = 512;

    /// Whether the bytes from `from` up to `to` are in one sector.
    static bool in_one_sector(Address from, Address to) noexcept { return (from ^ (to - 1)) < kSector; }

    FileSpace(Context& context, Driver& driver) noexcept : context_(context), driver_(driver) {}

    /// Starts with a file of `end` bytes whose addresses stay below `limit`. The storage has `stored` bytes: what lies
    /// beyond `end` was written before a power cut and is not zero.
    void open(Address end, Address limit, Address stored) noexcept;

    /// `size` bytes. The driver is extended at once, so that a full device is found before anything is changed:
    /// no_space. Room is kept in it for metadata, which is written later. `zeros`, if given, says whether the new bytes
    /// are known to read as zero.
    Status allocate(Usage usage, Address size, Address& address, bool* zeros = nullptr) noexcept;
    /// Gives back [address, address + size). `fresh`: no commit has made it reachable, it can be used again at once; at
    /// the end of the file it is cut off.
    void release(Address address, Address size, bool fresh) noexcept;
    /// While set, what is released waits for one settle() more: what makes it unreachable is written by the commit
    /// after the next.
    void hold(bool on) noexcept { held_ = on; }
    /// After a commit: pending space becomes usable. `all`: also what was to be held. True when a driver that commits
    /// was told of space: the next commit has it.
    bool settle(bool all = true) noexcept;

    /// Room in the storage for `size` bytes that are in memory only, wherever they will go: no_space. Kept until
    /// unkeep(), which comes before they are written.
#if H5MOTE_KEEP_ROOM
    Status keep(Address size) noexcept { return keep(ranges_ + 1, bytes_ + size); }
    void unkeep(Address size) noexcept { (void)keep(ranges_ - 1, bytes_ - size); }
    /// The same for new metadata, until all of it is about to be written.
    Status keep_metadata(Address size) noexcept;
    void unkeep_metadata() noexcept;
#else
    Status keep(Address /*size*/) noexcept { return Status::ok; }
    void unkeep(Address /*size*/) noexcept {}
    Status keep_metadata(Address /*size*/) noexcept { return Status::ok; }
    void unkeep_metadata() noexcept {}
#endif

    /// End of the allocated part of the file (H5FD "end of address").
    Address end() const noexcept { return end_; }

private:
    // Largest page of a driver that gets back what is released in several parts.
    static constexpr Address kPage = 4096;

    struct Extent {
        Address address;
        Address size;
        std::uint8_t pending;  // settle() calls until it can be used
    };

    // Notes that [address, address + size) is free; returns the run that it is part of then. What can be used and lies
    // at the end is cut off: whatever its size, it is room for anything.
    Extent add(Address address, Address size, unsigned pending) noexcept;
    void tell(Address address, Address size, const Extent& merged) noexcept;
#if H5MOTE_KEEP_ROOM
    Status keep(std::uint32_t ranges, Address bytes) noexcept;
#endif
    bool reuse(Usage usage, Address size, Address& address) noexcept;
    void erase(std::size_t i) noexcept { extents_[i] = extents_[--count_]; }

    Context& context_;
    Driver& driver_;
    bool extends_with_zeros_ = false;
    bool held_ = false;
    bool commits_ = false;  // the driver takes releases back unless a sync follows
    Address end_ = 0;
    Address limit_ = 0;
    Address extended_ = 0;  // the driver has at least this many bytes
#if H5MOTE_KEEP_ROOM
    // What room is kept for in the storage; of that, metadata.
    Address bytes_ = 0;
    Address metadata_bytes_ = 0;
    std::uint32_t ranges_ = 0;
    std::uint32_t metadata_ranges_ = 0;
#endif
    std::size_t count_ = 0;
    Extent extents_[H5MOTE_FREE_EXTENTS];
};

}  // namespace h5mote
