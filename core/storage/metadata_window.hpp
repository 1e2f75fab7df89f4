// H5AC (large objects) - views of metadata blocks, through which every structure of a file is read.
//
// A MetadataWindow is one of two classes, as the build says. A build that reads all formats has the StreamedWindow, so
// that size alone never makes a file unreadable. A build that reads only what a logger writes has the PinnedWindow,
// which is smaller and refuses blocks that the metadata cache has no room for. Both have the same functions, and
// callers do not know which of the two they use.
#pragma once

#include "metadata_cache.hpp"

#include <type_traits>

namespace h5mote {

/// A view of a block that is in the metadata cache as a whole, or of a part of such a block.
class PinnedWindow {
public:
    /// The most bytes that callers ask for at a time where any number would do.
    static constexpr std::size_t kWindow = 512;

    /// As StreamedWindow::open(); over_budget: the cache has no room for the block.
    Status open(MetadataCache& cache, Usage usage, Address address, Address size, ChecksumPlace checksum) noexcept;
    /// The same: true is ChecksumPlace::at_end, false ChecksumPlace::none.
    Status open(MetadataCache& cache, Usage usage, Address address, Address size, bool checksummed) noexcept {
        return open(cache, usage, address, size, static_cast<ChecksumPlace>(checksummed));
    }
    /// As StreamedWindow::restrict().
    Status restrict(Address offset, Address size) noexcept;
    void close() noexcept { *this = PinnedWindow(); }
    void unpin() noexcept { close(); }
    Status pin() noexcept { return Status::ok; }
    void adopt(Pinned&& block) noexcept;

    Pinned& block() noexcept { return block_; }
    const Pinned& block() const noexcept { return block_; }
    Address size() const noexcept { return size_; }
    Address address() const noexcept { return block_ ? block_->address() + origin_ : kUndefinedAddress; }
    bool valid() const noexcept { return static_cast<bool>(block_); }

    Status view(Address offset, std::size_t count, ConstBytes& bytes) noexcept;
    Status peek(Address offset, ConstBytes& bytes) noexcept;
    Status read(Address offset, Bytes to) noexcept;

private:
    Pinned block_;
    Address origin_ = 0;  // offset in the block of byte 0 of this window
    Address size_ = 0;
};

/// A view of a block of any size. A block that the metadata cache has room for is in the cache as a whole, pinned. A
/// larger one is read through a window of a few hundred bytes; its checksum is verified in a stream before the first
/// byte is used. Objects that the file does not hold as they are (blocks of a filtered fractal heap) get memory of
/// their own.
class StreamedWindow {
public:
    /// Bytes that a window holds unless more are asked for at once.
    static constexpr std::size_t kWindow = 512;

    // Not inlined: many functions have a window.
    [[gnu::noinline]] StreamedWindow() noexcept;
    StreamedWindow(const StreamedWindow&) = delete;
    StreamedWindow& operator=(const StreamedWindow&) = delete;
    StreamedWindow(StreamedWindow&& other) noexcept { take(other); }
    StreamedWindow& operator=(StreamedWindow&& other) noexcept {
        if (this != &other) {
            close();
            take(other);
        }
        return *this;
    }
    ~StreamedWindow() { close(); }

    /// Opens the block of `size` bytes at `address`, which the caller has found to lie in the file. Its checksum is
    /// verified. It is fine to open the first few bytes of a block, which have none, and then, with another call, all
    /// of it. corrupt_file (also: the same address is in use as a block of another size), out_of_memory, io_error.
    /// Whatever the window held before is released, also on error; it is not valid() then.
    ///
    /// `in_pieces`: a block that would take a large part of the cache, and has no checksum, is read through a window,
    /// because little of it is needed.
    Status open(MetadataCache& cache, Usage usage, Address address, Address size, ChecksumPlace checksum,
                bool in_pieces = false) noexcept;
    /// The same: true is ChecksumPlace::at_end, false ChecksumPlace::none.
    Status open(MetadataCache& cache, Usage usage, Address address, Address size, bool checksummed) noexcept {
        return open(cache, usage, address, size, static_cast<ChecksumPlace>(checksummed));
    }
    /// Makes this a window over `size` bytes of memory of its own, which the caller fills. out_of_memory.
    Status allocate(Context& context, std::size_t size, Bytes& to) noexcept;
    /// Verifies the checksum of a whole block that open() did not verify: of one in memory of its own, that of the
    /// block at `address`. corrupt_file, io_error.
    Status verify(ChecksumPlace checksum, Address address) noexcept;
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

    /// Brings the whole block into the metadata cache, so that it can be changed. over_budget: the cache cannot hold
    /// it. The window shows a whole block, not a part of one.
    Status pin() noexcept;
    /// Makes this a window over the whole of that block of the metadata cache.
    void adopt(Pinned&& block) noexcept;

    /// The block, if it is in the cache as a whole; else empty.
    Pinned& block() noexcept { return block_; }
    const Pinned& block() const noexcept { return block_; }
    Address size() const noexcept { return size_; }
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
    void take(StreamedWindow& other) noexcept;
    Status damaged(SourcePlace place) noexcept;
    Status reserve(std::size_t size) noexcept;
    Status load(Address offset, std::size_t count) noexcept;
    Status hold(bool in_pieces) noexcept;

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
    ChecksumPlace checksum_ = ChecksumPlace::at_end;
};

using MetadataWindow = std::conditional_t<H5MOTE_ALL_FORMATS != 0, StreamedWindow, PinnedWindow>;

}  // namespace h5mote
