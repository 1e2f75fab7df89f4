// Logs rotate in the first blocks of the board's flash.
#include "board.hpp"
#include "rotation_part.hpp"

#include <h5mote/vfd/flash.hpp>

namespace board {
namespace {

using h5mote::Bytes;
using h5mote::ConstBytes;
using h5mote::FlashDevice;
using h5mote::FlashDriver;
using h5mote::FlashGeometry;
using h5mote::Status;

class FirstBlocks final : public FlashDevice {
public:
    FlashGeometry geometry() const noexcept override {
        FlashGeometry geometry = chip->geometry();
        const std::uint32_t blocks = (128U << 10) / geometry.block_size;
        geometry.blocks = blocks < 12 ? 12 : blocks;
        return geometry;
    }
    Status read(std::uint32_t block, std::uint32_t offset, Bytes to) noexcept override {
        return chip->read(block, offset, to);
    }
    Status program(std::uint32_t block, std::uint32_t offset, ConstBytes from) noexcept override {
        return chip->program(block, offset, from);
    }
    Status erase(std::uint32_t block) noexcept override { return chip->erase(block); }

    FlashDevice* chip = nullptr;
};

FirstBlocks device;
// Of the geometry, only the program unit decides how much memory the driver needs: 1, 2 or 4 bytes on these boards.
alignas(8) std::byte memory[FlashDriver::required_memory({1, 1024, 256, 4, 0xff})];
FlashDriver file(device, memory);

}  // namespace

Status make_part(std::uint64_t& capacity) noexcept {
    H5MOTE_TRY(start_flash(device.chip));
    H5MOTE_TRY(file.format());
    capacity = file.usage().capacity;
    return Status::ok;
}

Status start_part(h5mote::Driver*& driver) noexcept {
    driver = &file;
    return file.mount();
}

}  // namespace board
