// A flash chip that programs only when the next command comes, whatever it has answered before: for a test that must
// notice the loss of data.
#pragma once

#include <h5mote/vfd/flash_device.hpp>

#include <cstring>

namespace board {

class ForgetfulChip final : public h5mote::FlashDevice {
public:
    /// The chip is borrowed.
    explicit ForgetfulChip(h5mote::FlashDevice& chip) noexcept : chip_(chip) {}

    h5mote::FlashGeometry geometry() const noexcept override { return chip_.geometry(); }
    h5mote::Status read(std::uint32_t block, std::uint32_t offset, h5mote::Bytes to) noexcept override {
        H5MOTE_TRY(finish());
        return chip_.read(block, offset, to);
    }
    h5mote::Status program(std::uint32_t block, std::uint32_t offset, h5mote::ConstBytes from) noexcept override {
        H5MOTE_TRY(finish());
        if (from.size() > sizeof bytes_) {
            return chip_.program(block, offset, from);
        }
        block_ = block;
        offset_ = offset;
        size_ = from.size();
        std::memcpy(bytes_, from.data(), size_);
        return h5mote::Status::ok;
    }
    h5mote::Status erase(std::uint32_t block) noexcept override {
        H5MOTE_TRY(finish());
        return chip_.erase(block);
    }

private:
    h5mote::Status finish() noexcept {
        const h5mote::ConstBytes from{bytes_, size_};
        size_ = 0;
        return from.empty() ? h5mote::Status::ok : chip_.program(block_, offset_, from);
    }

    h5mote::FlashDevice& chip_;
    std::uint32_t block_ = 0;
    std::uint32_t offset_ = 0;
    std::size_t size_ = 0;
    std::byte bytes_[512];
};

}  // namespace board
