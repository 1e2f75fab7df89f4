// H5AC (large objects) - bytes of metadata of any size: size alone never makes a file unreadable.
//
// A block that the metadata cache has room for stands there whole, pinned. A larger one is walked through a window of
// a few hundred bytes; its checksum is verified in a stream before the first byte is used. Objects that do not stand in
// the file as they are (filtered heap blocks) get memory of their own. Whoever reads does not see the difference.
#pragma once

#include "metadata_cache.hpp"

namespace h5mote {

#if H5MOTE_ALL_FORMATS

class MetadataWindow {
public:
    /// Bytes that a window holds unless more are asked for at once.
    static constexpr std::size_t kWindow = 512;

    MetadataWindow() noexcept = default;
    MetadataWindow(const MetadataWindow&) = delete;
    MetadataWindow& operator=(const MetadataWindow&) = delete;
    MetadataWindow(MetadataWindow&& other) noexcept { take(other); }
    MetadataWindow& operator=(MetadataWindow&& other) noexcept {
        if (this != &other) {
            close();
            take(other);
        }
        return *this;
    }
    ~MetadataWindow() { close(); }

    /// The block of `size` bytes at `address`, which the caller has found to lie in the file. With `checksummed` its
    /// last four bytes are the lookup3 checksum of the others. Opening first a few bytes, then the whole block is fine,
    /// one after the other. corrupt_file (also: the same address is in use as a block of another size), out_of_memory,
    /// io_error. Whatever the window held before is released, also on error; it is not valid() then.
    Status open(MetadataCache& cache, Usage usage, Address address, Address size, bool checksummed) noexcept;
    /// `size` bytes of memory of its own, which the caller fills. out_of_memory.
    Status allocate(Context& context, std::size_t size, Bytes& to) noexcept;
    /// From now on only the part of `size` bytes at `offset`. corrupt_file when it is not within.
    Status restrict(Address offset, Address size) noexcept;
    /// Releases everything; size() is 0 then.
    void close() noexcept;
    /// close(), if the block is held in the metadata cache: whoever keeps a window while other things happen must not
    /// keep a block from being moved or dropped. A copy of its own the window keeps.
    void unpin() noexcept {
        if (block_) {
            close();
        }
    }

    Address size() const noexcept { return size_; }
    /// For a whole block that has its checksum elsewhere than at its end: whether set_verified() was called while it
    /// stood in the cache, or, if it is too large for that, of late.
    bool verified() const noexcept {
        return block_ ? block_->verified_ : cache_ != nullptr && cache_->is_verified(address_, size_);
    }
    void set_verified() noexcept {
        if (block_) {
            block_->verified_ = true;
        } else if (cache_ != nullptr) {
            cache_->set_verified(address_, size_);
        }
    }
    /// Where byte 0 stands in the file; undefined for memory of its own.
    Address address() const noexcept { return address_; }
    bool valid() const noexcept { return context_ != nullptr; }

    /// `count` bytes from `offset` on side by side in memory, valid until the next call on this window. corrupt_file
    /// when they are not all within; out_of_memory when more than the window has are asked for and there is no memory.
    Status view(Address offset, std::size_t count, ConstBytes& bytes) noexcept;
    /// As many bytes from `offset` on as are at hand: at least one. corrupt_file beyond the end.
    Status peek(Address offset, ConstBytes& bytes) noexcept;
    /// Copies bytes from `offset` on.
    Status read(Address offset, Bytes to) noexcept;

private:
    void take(MetadataWindow& other) noexcept;
    Status damaged(SourcePlace place) noexcept;
    Status reserve(std::size_t size) noexcept;
    Status load(Address offset, std::size_t count) noexcept;
    Status hold(bool checksummed) noexcept;
    Status verify() noexcept;

    Context* context_ = nullptr;
    MetadataCache* cache_ = nullptr;  // of blocks in the file
    Pinned block_;                    // the whole block, or nothing
    std::byte* memory_ = nullptr;     // of its own: the window, or everything
    std::size_t capacity_ = 0;        // of memory_
    std::size_t held_ = 0;            // valid bytes in memory_ ...
    Address held_from_ = 0;           // ... and which ones, counted from the start of the block
    Address origin_ = 0;              // byte 0 of this window in the block
    Address size_ = 0;
    Address address_ = kUndefinedAddress;  // of byte 0
    Usage usage_ = Usage::object_header;
};

#endif

}  // namespace h5mote
