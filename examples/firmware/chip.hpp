#pragma once

#include <h5mote/vfd/flash_device.hpp>

#include "nor_chip.hpp"  // read, program, erase by address, as the chip's data sheet has them

class Chip final : public h5mote::FlashDevice {
public:
    // 64 erase blocks of 4 KiB; a program stays within 256 bytes, may be one byte, and erased bytes are 0xff.
    static constexpr h5mote::FlashGeometry kGeometry{64, 4096, 256, 1, 0xff};

    h5mote::FlashGeometry geometry() const noexcept override { return kGeometry; }
    h5mote::Status read(std::uint32_t block, std::uint32_t offset, h5mote::Bytes to) noexcept override {
        return status(nor_chip::read(block * 4096 + offset, to.data(), to.size()));
    }
    h5mote::Status program(std::uint32_t block, std::uint32_t offset, h5mote::ConstBytes from) noexcept override {
        return status(nor_chip::program(block * 4096 + offset, from.data(), from.size()));
    }
    h5mote::Status erase(std::uint32_t block) noexcept override { return status(nor_chip::erase(block * 4096)); }

private:
    static h5mote::Status status(bool good) { return good ? h5mote::Status::ok : h5mote::Status::io_error; }
};
