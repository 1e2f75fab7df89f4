#include "metadata_window.hpp"

#include "checked.hpp"
#include "checksum.hpp"
#include "cursor.hpp"

#include <cstring>

namespace h5mote {

Status PinnedWindow::open(MetadataCache& cache, Usage usage, Address address, Address size,
                          ChecksumPlace checksum) noexcept {
    close();
    H5MOTE_TRY(cache.protect(usage, address, static_cast<std::size_t>(size), block_, checksum));
    size_ = size;
    return Status::ok;
}

void PinnedWindow::adopt(Pinned&& block) noexcept {
    block_ = static_cast<Pinned&&>(block);
    origin_ = 0;
    size_ = narrow(block_->size());
}

Status PinnedWindow::restrict(Address offset, Address size) noexcept {
    if (!within(offset, size, size_)) {
        return Status::corrupt_file;
    }
    origin_ += offset;
    size_ = size;
    return Status::ok;
}

Status PinnedWindow::view(Address offset, std::size_t count, ConstBytes& bytes) noexcept {
    if (!within(offset, count, size_)) {
        return Status::corrupt_file;
    }
    bytes = {block_->at(static_cast<std::size_t>(origin_ + offset)), count};
    return Status::ok;
}

Status PinnedWindow::peek(Address offset, ConstBytes& bytes) noexcept {
    return offset >= size_ ? Status::corrupt_file : view(offset, static_cast<std::size_t>(size_ - offset), bytes);
}

Status PinnedWindow::read(Address offset, Bytes to) noexcept {
    ConstBytes from;
    H5MOTE_TRY(view(offset, to.size(), from));
    if (!to.empty()) {
        std::memcpy(to.data(), from.data(), to.size());
    }
    return Status::ok;
}

StreamedWindow::StreamedWindow() noexcept = default;

void StreamedWindow::take(StreamedWindow& other) noexcept {
    context_ = other.context_;
    cache_ = other.cache_;
    block_ = static_cast<Pinned&&>(other.block_);
    memory_ = other.memory_;
    capacity_ = other.capacity_;
    held_ = other.held_;
    held_from_ = other.held_from_;
    origin_ = other.origin_;
    size_ = other.size_;
    address_ = other.address_;
    usage_ = other.usage_;
    checksum_ = other.checksum_;
    other.memory_ = nullptr;
    other.close();
}

void StreamedWindow::close() noexcept {
    block_.reset();
    if (memory_ != nullptr) {
        context_->release(MemoryKind::metadata, memory_, capacity_);
    }
    context_ = nullptr;
    cache_ = nullptr;
    memory_ = nullptr;
    capacity_ = held_ = 0;
    size_ = origin_ = held_from_ = 0;
    address_ = kUndefinedAddress;
}

Status StreamedWindow::damaged(SourcePlace place) noexcept {
    return context_ == nullptr ? Status::corrupt_file
                               : context_->fail(Module::storage, place, Status::corrupt_file, 0, address_);
}

Status StreamedWindow::open(MetadataCache& cache, Usage usage, Address address, Address size, ChecksumPlace checksum,
                            bool in_pieces) noexcept {
    close();
    context_ = &cache.context();
    cache_ = &cache;
    usage_ = usage;
    address_ = address;
    size_ = size;
    checksum_ = checksum;
    const Status status = hold(in_pieces);
    if (status != Status::ok) {
        // Nothing can be read from a window whose block was not verified.
        close();
    }
    return status;
}

// Opens the block: pinned as a whole if the cache has room for it. Otherwise its checksum is verified piece by piece.
Status StreamedWindow::hold(bool in_pieces) noexcept {
    const bool checksummed = has_checksum(checksum_);
    if (checksummed && (!within(checksum_offset(checksum_, size_), kChecksumSize, size_) || size_ > 0xffffffffU)) {
        return damaged(H5MOTE_HERE);
    }
    if (cache_->is_unsealed(address_)) {
        return Status::ok;
    }
    block_.reset(cache_->touch(address_));
    if (block_) {
        // The cache may have just the first bytes of the block, read to learn its size, or bytes whose checksum was not
        // verified: these are dropped.
        if (checksummed ? block_->size() == size_ && block_->checksum() == checksum_ : block_->size() >= size_) {
            return Status::ok;
        }
        block_.reset();
        if (!cache_->drop_clean(address_)) {
            return damaged(H5MOTE_HERE);
        }
    }
    // Such blocks would drive out what is needed more often: in a heap of names, the nodes of its index.
    constexpr Address kLeastInPieces = 16384;
    const bool piece = in_pieces && !checksummed && size_ >= kLeastInPieces && size_ > cache_->budget() / 32;
    if (size_ != 0 && !piece && cache_->fits(size_)) {
        return cache_->protect(usage_, address_, static_cast<std::size_t>(size_), block_, checksum_);
    }
    if (checksummed && !cache_->is_verified(address_, size_)) {
        H5MOTE_TRY(verify(checksum_, address_));
        cache_->set_verified(address_, size_);
    }
    return Status::ok;
}

Status StreamedWindow::verify(ChecksumPlace place, Address address) noexcept {
    constexpr std::byte kZeros[kChecksumSize] = {};
    const Address at = checksum_offset(place, size_);
    const Address end = is_at_end(place) ? at : size_;
    Lookup3Stream checksum(static_cast<std::uint32_t>(end));
    ConstBytes piece;
    for (Address done = 0; done < end; done += piece.size()) {
        const Address left = (done < at ? at : end) - done;
        piece = kZeros;
        if (done != at) {
            H5MOTE_TRY(view(done, left < kWindow ? static_cast<std::size_t>(left) : kWindow, piece));
        }
        checksum.update(piece);
    }
    H5MOTE_TRY(view(at, kChecksumSize, piece));
    // The record also gets the size: the fuzzer needs it to repair checksums.
    return checksum.finish() == load_le<std::uint32_t>(piece.data())
               ? Status::ok
               : context_->fail(Module::storage, H5MOTE_HERE, Status::corrupt_file, static_cast<std::uint32_t>(size_),
                                address);
}

Status StreamedWindow::pin() noexcept {
    if (block_) {
        return Status::ok;
    }
    MetadataCache& cache = *cache_;
    const Address address = address_;
    const auto size = static_cast<std::size_t>(size_);
    close();
    Pinned block;
    H5MOTE_TRY(cache.protect(usage_, address, size, block, checksum_));
    context_ = &cache.context();
    cache_ = &cache;
    adopt(static_cast<Pinned&&>(block));
    return Status::ok;
}

void StreamedWindow::adopt(Pinned&& block) noexcept {
    block_ = static_cast<Pinned&&>(block);
    address_ = block_->address();
    size_ = block_->size();
    origin_ = 0;
}

Status StreamedWindow::allocate(Context& context, std::size_t size, Bytes& to) noexcept {
    close();
    context_ = &context;
    H5MOTE_TRY(reserve(size));
    size_ = held_ = size;
    to = {memory_, size};
    return Status::ok;
}

Status StreamedWindow::restrict(Address offset, Address size) noexcept {
    if (!within(offset, size, size_)) {
        return damaged(H5MOTE_HERE);
    }
    origin_ += offset;
    address_ = address_ == kUndefinedAddress ? address_ : address_ + offset;
    size_ = size;
    return Status::ok;
}

Status StreamedWindow::reserve(std::size_t size) noexcept {
    if (size <= capacity_) {
        return Status::ok;
    }
    auto* memory = static_cast<std::byte*>(context_->allocate(MemoryKind::metadata, size));
    if (memory == nullptr) {
        return Status::out_of_memory;
    }
    context_->release(MemoryKind::metadata, memory_, capacity_);
    memory_ = memory;
    capacity_ = size;
    held_ = 0;
    return Status::ok;
}

// Brings at least `count` bytes from `offset` of this window on into memory. The caller has checked that they lie
// within the window.
Status StreamedWindow::load(Address offset, std::size_t count) noexcept {
    if (block_ || cache_ == nullptr) {
        return Status::ok;
    }
    const Address from = origin_ + offset;
    if (from >= held_from_ && from - held_from_ <= held_ && count <= held_ - (from - held_from_)) {
        return Status::ok;
    }
    const Address left = size_ - offset;
    const std::size_t most = left < kWindow ? static_cast<std::size_t>(left) : kWindow;
    const std::size_t now = count < most ? most : count;
    H5MOTE_TRY(reserve(now));
    held_ = 0;
    H5MOTE_TRY(cache_->driver().read(usage_, address_ + offset, {memory_, now}));
    held_from_ = from;
    held_ = now;
    return Status::ok;
}

Status StreamedWindow::view(Address offset, std::size_t count, ConstBytes& bytes) noexcept {
    if (!within(offset, count, size_)) {
        return damaged(H5MOTE_HERE);
    }
    H5MOTE_TRY(load(offset, count));
    const Address from = origin_ + offset - (block_ ? 0 : held_from_);
    bytes = {(block_ ? block_->at(0) : memory_) + static_cast<std::size_t>(from), count};
    return Status::ok;
}

Status StreamedWindow::peek(Address offset, ConstBytes& bytes) noexcept {
    if (offset >= size_) {
        return damaged(H5MOTE_HERE);
    }
    H5MOTE_TRY(view(offset, 1, bytes));
    const Address held = block_ ? block_->size() : held_from_ + held_;
    const Address left = held - (origin_ + offset);
    const Address most = size_ - offset;
    bytes = {bytes.data(), static_cast<std::size_t>(left < most ? left : most)};
    return Status::ok;
}

Status StreamedWindow::read(Address offset, Bytes to) noexcept {
    if (!within(offset, to.size(), size_)) {
        return damaged(H5MOTE_HERE);
    }
    if (to.empty()) {
        return Status::ok;
    }
    if (block_ || cache_ == nullptr || to.size() <= kWindow / 2) {
        ConstBytes from;
        H5MOTE_TRY(view(offset, to.size(), from));
        std::memcpy(to.data(), from.data(), to.size());
        return Status::ok;
    }
    return cache_->driver().read(usage_, address_ + offset, to);
}

}  // namespace h5mote
