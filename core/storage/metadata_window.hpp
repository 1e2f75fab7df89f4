// H5AC (large objects) - reads metadata blocks of any size, so that size alone never makes a file unreadable.
//
// A block that the metadata cache has room for is in the cache as a whole, pinned. A larger one is read through a
// window of a few hundred bytes; its checksum is verified in a stream before the first byte is used. Objects that the
// file does not hold as they are (blocks of a filtered fractal heap) get memory of their own. Callers read all three in
// the same way.
#pragma once

#include "metadata_cache.hpp"

namespace h5mote {

#if H5MOTE_ALL_FORMATS

class MetadataWindow {
public:
    /// Bytes that a window holds unless more are asked for at once.
    static constexpr std::size_t kWindow = 512;

    // Not inlined: many functions have a window.
    [[gnu::noinline]] MetadataWindow() noexcept;
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

    /// Opens the block of `size` bytes at `address`, which the caller has found to lie in the file. With `checksummed`
    /// its last four bytes are the lookup3 checksum of the others. It is fine to open the first few bytes of a block
    /// and then, with another call, all of it. corrupt_file (also: the same address is in use as a block of another
    /// size), out_of_memory, io_error. Whatever the window held before is released, also on error; it is not valid()
    /// then.
    Status open(MetadataCache& cache, Usage usage, Address address, Address size, bool checksummed) noexcept;
    /// Makes this a window over `size` bytes of memory of its own, which the caller fills. out_of_memory.
    Status allocate(Context& context, std::size_t size, Bytes& to) noexcept;
    /// Narrows the window to its `size` bytes at `offset`, the first of which becomes byte 0. corrupt_file when they do
    /// not lie within the window.
    Status restrict(Address offset, Address size) noexcept;
    /// Releases everything; size() is 0 then.
    void close() noexcept;
    /// Closes the window if it pins a block of the metadata cache. Whoever keeps a window during other operations calls
    /// this before them, because a pinned block can be neither moved nor dropped. Other windows stay as they are.
    void unpin() noexcept {
        if (block_) {
            close();
        }
    }

    Address size() const noexcept { return size_; }
    /// For a whole block whose checksum is not at its end: whether set_verified() was called for it since it is in the
    /// cache. For a block that is too large for the cache: whether it is one of the last few for which that was called.
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
    /// The file address of byte 0 of the window; undefined for memory of its own.
    Address address() const noexcept { return address_; }
    bool valid() const noexcept { return context_ != nullptr; }

    /// `count` consecutive bytes from `offset` on in memory, valid until the next call on this window. corrupt_file
    /// when they do not all lie within the window; out_of_memory when the window needs more memory for them and gets
    /// none.
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
    MetadataCache* cache_ = nullptr;  // nullptr after allocate()
    Pinned block_;                    // the whole block, if it is in the cache
    std::byte* memory_ = nullptr;     // of its own: part of the block, or everything after allocate()
    std::size_t capacity_ = 0;        // of memory_
    std::size_t held_ = 0;            // valid bytes in memory_ ...
    Address held_from_ = 0;           // ... and which ones, counted from the start of the block
    Address origin_ = 0;              // offset in the block of byte 0 of this window
    Address size_ = 0;
    Address address_ = kUndefinedAddress;  // of byte 0 of this window
    Usage usage_ = Usage::object_header;
};

#endif

}  // namespace h5mote
