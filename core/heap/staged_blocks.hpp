// H5HF - the metadata blocks that a change of a structure makes and replaces, until it is clear whether it succeeds.
//
// A change never touches a block of the structure as it is: it makes new ones beside, and what leads to them changes
// last. Until then everything can be undone, however far it has come, and whatever the cache has written meanwhile.
#pragma once

#include "file_state.hpp"
#include "free_space_header.hpp"

namespace h5mote {

class StagedBlocks {
public:
    explicit StagedBlocks(FileState& file) noexcept : file_(file) {}
    StagedBlocks(const StagedBlocks&) = delete;
    StagedBlocks& operator=(const StagedBlocks&) = delete;

    /// A new block of `size` zero bytes in the cache. over_budget also: one change needs more blocks than can be noted.
    Status create(Usage usage, Address size, Pinned& block, ChecksumPlace checksum = ChecksumPlace::at_end) noexcept;
    /// Call when such a block is filled: it is to be written. To make room for others the cache may have committed
    /// since it was made, but nothing leads to it yet.
    static void mark(CacheEntry& block) noexcept {
        MetadataCache::set_fresh(block);
        MetadataCache::mark_dirty(block, 0, Phase::object);
    }
    /// New space, for bytes that are written at once and not through the cache.
    Status allocate(Usage usage, Address size, Address& address) noexcept;
    /// Notes a new block that somebody else has made.
    Status adopt(Address address, Address size) noexcept;
    /// Notes that a block is no longer used once the change is complete.
    Status replace(Address address, Address size, SpaceKind kind = SpaceKind::metadata) noexcept;
    /// The change is complete: gives up what was replaced. Nobody may hold one of these blocks.
    void keep() noexcept;
    /// Gives back what was made. Nobody may hold one of these blocks.
    void undo() noexcept;

private:
    // Twice the depth of a heap whose address space has 40 bits, which is 9, and the blocks of its free-space manager.
    static constexpr unsigned kMost = 32;
    struct Block {
        Address address;
        Address size;
        SpaceKind kind;
    };

    Status note(Address address, Address size, SpaceKind kind) noexcept;
    // Gives up a block: at once if nothing on the storage can lead to it, because it is new, because the cache says so,
    // or because it lies behind the end of file that the superblock on the storage has.
    void give_up(const Block& block, bool is_new) noexcept;

    FileState& file_;
    unsigned made_count_ = 0;
    unsigned old_count_ = 0;
    Block made_[kMost];
    Block old_[kMost];
};

}  // namespace h5mote
