// H5MF - file space: from the end of the file, or from what was released in this session.
//
// A metadata block that fits in an atomic unit of the storage is placed inside one unit. Of a larger one the first
// bytes lie in one unit and the last bytes in one unit, so that most changes up to the checksum are one atomic write.
// Space that the committed file still uses is `pending` when released: it is given out again only after the commit that
// made it unreachable. The driver hears of it, too: of a whole run of free space whenever that grows, so that it can
// give up all the pages or blocks in it.
//
// H5MOTE_FREE_EXTENTS runs of free space are remembered in any case. More take memory from the allocator for as long as
// nobody else needs it; where there is none, the smallest runs are forgotten.
#pragma once

#include <h5mote/address.hpp>
#include <h5mote/context.hpp>
#include <h5mote/driver.hpp>

namespace h5mote {

class FileSpace final : public Reclaimer {
public:
    /// Blocks are placed for units of at most this many bytes, whatever larger unit a driver promises: the file may be
    /// copied to a disk or card with sectors.
    static constexpr std::uint16_t kMostUnit = 512;
    /// The smallest unit with which a file is written in order. Half of it holds the superblock, or an object header's
    /// first block that has nothing but a continuation message.
    static constexpr std::uint32_t kLeastUnit = 128;

    /// The power of two that blocks are placed by on a storage whose aligned units of `atomic_unit` bytes are atomic: a
    /// driver may promise any number, and what divides it is atomic as well.
    static constexpr std::uint16_t unit_of(std::uint32_t atomic_unit) noexcept {
        const std::uint32_t unit = atomic_unit & (~atomic_unit + 1);
        return unit < kMostUnit ? static_cast<std::uint16_t>(unit) : kMostUnit;
    }

    /// Whether the bytes [from, to) lie in one atomic unit.
    bool in_one_unit(std::uint64_t from, std::uint64_t to) const noexcept { return (from ^ (to - 1)) < unit_; }

    FileSpace(Context& context, Driver& driver) noexcept : context_(context), driver_(driver) {
        context_.add_reclaimer(*this);
    }
    ~FileSpace() {
        close();
        context_.remove_reclaimer(*this);
    }

    /// Starts with a file of `end` bytes whose addresses stay below `limit`. The storage has `stored` bytes: what lies
    /// beyond `end` was written before a power cut and is not zero.
    void open(Address end, Address limit, Address stored) noexcept;

    /// Forgets what is free, and gives back the memory for it.
    void close() noexcept {
        count_ = 0;
        reclaim();
    }
    /// Gives back the memory for many extents where there are few.
    void reclaim() noexcept override;
    /// The same, after the smallest extents are forgotten.
    bool give_up() noexcept override;

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
    /// The same for one block that was given up before it was written.
    void unkeep_metadata(Address size) noexcept;
#else
    Status keep(Address /*size*/) noexcept { return Status::ok; }
    void unkeep(Address /*size*/) noexcept {}
    Status keep_metadata(Address /*size*/) noexcept { return Status::ok; }
    void unkeep_metadata() noexcept {}
    void unkeep_metadata(Address /*size*/) noexcept {}
#endif

    /// End of the allocated part of the file (H5FD "end of address").
    Address end() const noexcept { return end_; }
    /// Bytes that the storage has, at least end(): it grows here only.
    Address stored() const noexcept { return stored_; }

private:
    // Largest page of a driver that gets back what is released in several parts.
    static constexpr Address kPage = 4096;

    struct Extent {
        Address address;
        Address size;
        std::uint8_t pending;  // settle() calls until it can be used
    };

    // First address at or after `address` where a block may stand; may lie beyond what an Address can say.
    std::uint64_t place(Usage usage, Address address, Address size) const noexcept;
    Status find_space(Usage usage, Address size, Address& address, bool* zeros) noexcept;
    // Notes that [address, address + size) is free; returns the run that it is part of then. What can be used and lies
    // at the end is cut off: whatever its size, it is room for anything.
    Extent add(Address address, Address size, unsigned pending) noexcept;
    void tell(Address address, Address size, const Extent& merged) noexcept;
#if H5MOTE_KEEP_ROOM
    Status keep(std::uint32_t ranges, Address bytes) noexcept;
#endif
    bool reuse(Usage usage, Address size, Address& address) noexcept;
    void erase(std::size_t i) noexcept { extents_[i] = extents_[--count_]; }
    std::size_t smallest() const noexcept;
    void use(Extent* extents, std::size_t room) noexcept;
    bool grow() noexcept;

    Context& context_;
    Driver& driver_;
    bool extends_with_zeros_ = false;
    bool held_ = false;
    std::uint16_t unit_ = kMostUnit;
    bool commits_ = false;  // the driver takes releases back unless a sync follows
    Address end_ = 0;
    Address limit_ = 0;
    Address stored_ = 0;
#if H5MOTE_KEEP_ROOM
    // What room is kept for in the storage; of that, metadata.
    Address bytes_ = 0;
    Address metadata_bytes_ = 0;
    std::uint32_t ranges_ = 0;
    std::uint32_t metadata_ranges_ = 0;
#endif
    std::size_t count_ = 0;
    std::size_t room_ = H5MOTE_FREE_EXTENTS;
    Extent* extents_ = few_;  // or more of them in memory from the allocator
    Extent few_[H5MOTE_FREE_EXTENTS];
};

}  // namespace h5mote
