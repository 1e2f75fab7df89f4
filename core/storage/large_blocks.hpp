// H5AC (large objects) - blocks that are too large for the metadata cache, and are changed on the storage itself.
//
// Such a block is changed only where no power cut can show the change before the next commit: because nothing on the
// storage leads to the block yet (it is fresh), or because the storage shows all changes between two commits at once. A
// change is then one write of a few bytes. The checksum is computed anew once for many of them, by reading the whole
// block, before the commit or before the list of such blocks is full. Until then the block is unsealed, and readers do
// not look at its checksum.
#pragma once

#include <h5mote/address.hpp>
#include <h5mote/driver.hpp>

#include <type_traits>

namespace h5mote {

class MetadataCache;

class LargeBlocks {
public:
    static constexpr std::size_t kMostUndone = 20;

    /// Whether nothing on the storage leads to what begins at `address`: note_fresh() was called since the last commit.
    /// Only the last few addresses are remembered, and for the others the answer is false.
    bool is_fresh(Address address) const noexcept;
    void note_fresh(Address address) noexcept;
    /// Whether the checksum of the block at `address` is out of date.
    bool is_unsealed(Address address) const noexcept;
    /// Call before a block of `size` bytes, the last four of which are its checksum, is changed on the storage. Errors
    /// of seal(), which may come from another block: then the block must not be changed.
    Status unseal(MetadataCache& cache, Address address, Address size) noexcept;
    /// Says that a change of an unsealed block failed and could not be undone either: `count` times these bytes, at
    /// most kMostUndone of them, have to be written from `address` on. The next call of unseal() or seal(), and with it
    /// every commit, does that first or fails.
    void undo_later(Address address, ConstBytes bytes, std::uint32_t count) noexcept;
    /// Writes the checksums of all unsealed blocks. io_error, no_space.
    Status seal(MetadataCache& cache) noexcept;

protected:
    /// Forgets the blocks in [address, address + size), whose space is given up.
    void forget(Address address, Address size) noexcept;
    /// Forgets which blocks are fresh: something may lead to them now.
    void settle() noexcept;

private:
    static constexpr unsigned kFresh = 8;
    static constexpr unsigned kUnsealed = 4;
    struct Unsealed {
        Address address = kUndefinedAddress;
        Address size = 0;
    };
    struct Undo {
        Address address = 0;
        std::uint32_t count = 0;  // 0: nothing is to be undone
        std::uint8_t size = 0;
        std::byte bytes[kMostUndone];
    };
    Status undo(MetadataCache& cache) noexcept;
    static Status seal(MetadataCache& cache, Unsealed& block) noexcept;

    Address fresh_[kFresh] = {kUndefinedAddress, kUndefinedAddress, kUndefinedAddress, kUndefinedAddress,
                              kUndefinedAddress, kUndefinedAddress, kUndefinedAddress, kUndefinedAddress};
    Unsealed unsealed_[kUnsealed];
    Undo undo_;
    std::uint8_t next_fresh_ = 0;
    std::uint8_t next_unsealed_ = 0;
};

/// Takes its place in builds that write no block which is too large for the cache.
class NoLargeBlocks {
public:
    static bool is_unsealed(Address /*address*/) noexcept { return false; }
    static Status seal(MetadataCache& /*cache*/) noexcept { return Status::ok; }

protected:
    static void forget(Address /*address*/, Address /*size*/) noexcept {}
    static void settle() noexcept {}
};

using LargeOrNone = std::conditional_t<H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0, LargeBlocks, NoLargeBlocks>;

}  // namespace h5mote
