#include "sd_driver.hpp"

#include <cstring>

namespace board {
namespace {

using h5mote::Bytes;
using h5mote::ConstBytes;
using h5mote::Status;
using h5mote::Usage;

constexpr std::size_t kBlock = SdCard::kBlock;

// The part of a range that lies in its first block.
struct Piece {
    Piece(std::uint64_t address, std::size_t left) noexcept
        : block(static_cast<std::uint32_t>(address / kBlock)),
          offset(static_cast<std::size_t>(address % kBlock)),
          size(left < kBlock - offset ? left : kBlock - offset) {}

    std::uint32_t block;
    std::size_t offset;
    std::size_t size;
};

}  // namespace

h5mote::Capabilities SdDriver::capabilities() const noexcept {
    h5mote::Capabilities capabilities;
    capabilities.atomic_unit = kBlock;
    capabilities.extends_with_zeros = false;
    return capabilities;
}

Status SdDriver::format() noexcept {
    std::memset(buffer_, 0, sizeof buffer_);
    changed_ = false;
    held_ = kNone;
    end_ = 0;
    return card_.write(0, buffer_);
}

// Reads a block into the buffer, whose previous block is stored first.
Status SdDriver::hold(std::uint32_t block) noexcept {
    if (held_ == block) {
        return Status::ok;
    }
    H5MOTE_TRY(store());
    held_ = kNone;
    H5MOTE_TRY(card_.read(block, buffer_));
    held_ = block;
    return Status::ok;
}

Status SdDriver::read(Usage, std::uint64_t address, Bytes to) noexcept {
    if (address > end_ || to.size() > end_ - address) {
        return Status::io_error;
    }
    while (!to.empty()) {
        const Piece piece(address, to.size());
        if (piece.size == kBlock && piece.block != held_) {
            H5MOTE_TRY(card_.read(piece.block, reinterpret_cast<SdCard::Block&>(*to.data())));
        } else {
            H5MOTE_TRY(hold(piece.block));
            std::memcpy(to.data(), buffer_ + piece.offset, piece.size);
        }
        to = to.subspan(piece.size);
        address += piece.size;
    }
    return Status::ok;
}

Status SdDriver::write(Usage, std::uint64_t address, ConstBytes from) noexcept {
    if (address > capacity() || from.size() > capacity() - address) {
        return Status::no_space;
    }
    while (!from.empty()) {
        const Piece piece(address, from.size());
        if (piece.size == kBlock) {
            held_ = held_ == piece.block ? kNone : held_;
            H5MOTE_TRY(store());
            H5MOTE_TRY(card_.write(piece.block, reinterpret_cast<const SdCard::Block&>(*from.data())));
        } else {
            H5MOTE_TRY(hold(piece.block));
            std::memcpy(buffer_ + piece.offset, from.data(), piece.size);
            changed_ = true;
        }
        from = from.subspan(piece.size);
        address += piece.size;
        end_ = address > end_ ? address : end_;
    }
    return Status::ok;
}

// Writes the buffer to the card if the card has not got it yet.
Status SdDriver::store() noexcept {
    if (held_ != kNone && changed_) {
        H5MOTE_TRY(card_.write(held_, buffer_));
    }
    changed_ = false;
    return Status::ok;
}

Status SdDriver::sync() noexcept { return store(); }

Status SdDriver::end_of_file(std::uint64_t& size) noexcept {
    size = end_;
    return Status::ok;
}

Status SdDriver::truncate(std::uint64_t size) noexcept {
    if (size > capacity()) {
        return Status::no_space;
    }
    end_ = size;
    return Status::ok;
}

}  // namespace board
