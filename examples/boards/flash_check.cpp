// The driver of a board's flash by itself: flash_check write|verify. `write` erases and programs in all sizes that the
// geometry allows and reads everything back; `verify` finds it again after a restart.
#include "board.hpp"

#include <h5mote/port/semihosting.hpp>

#include <cstring>

namespace {

using h5mote::Bytes;
using h5mote::FlashDevice;
using h5mote::FlashGeometry;
using h5mote::Status;
using h5mote::semihosting::print;

alignas(4) std::byte buffer[1028];

int fail(const char* what, std::uint32_t block, std::uint32_t offset) {
    print("FAILED: ");
    print(what);
    print(", block ");
    print(block);
    print(", offset ");
    print(offset);
    print("\n");
    return 1;
}

std::byte pattern(std::uint32_t block, std::uint32_t offset, unsigned round) {
    const std::uint32_t mixed = (block * 65599 + offset + round * 977) * 2654435761U;
    return static_cast<std::byte>(mixed >> 24);
}

// Whether the block holds the pattern, or erased bytes if `round` is 0; read at odd offsets into odd addresses.
bool holds(FlashDevice& flash, std::uint32_t block, unsigned round) {
    const FlashGeometry geometry = flash.geometry();
    std::uint32_t offset = 0;
    for (std::uint32_t size = 1; offset < geometry.block_size; size = size * 2 + 1) {
        const std::uint32_t rest = geometry.block_size - offset;
        size = size > 1023 ? 1 : size;
        const std::uint32_t count = size < rest ? size : rest;
        const Bytes to(buffer + size % 4, count);
        if (flash.read(block, offset, to) != Status::ok) {
            return false;
        }
        for (std::uint32_t i = 0; i < count; ++i) {
            if (to[i] != (round == 0 ? std::byte{geometry.erased_value} : pattern(block, offset + i, round))) {
                return false;
            }
        }
        offset += count;
    }
    return true;
}

// Programs of one unit, two units, four ... up to a page.
bool fill(FlashDevice& flash, std::uint32_t block, unsigned round) {
    const FlashGeometry geometry = flash.geometry();
    std::uint32_t size = geometry.program_unit;
    for (std::uint32_t offset = 0; offset < geometry.block_size;) {
        const std::uint32_t in_page = geometry.page_size - offset % geometry.page_size;
        std::uint32_t count = size < in_page ? size : in_page;
        count = count < 1024 ? count : 1024;
        std::byte* const from = buffer + offset / 4 % 4;
        for (std::uint32_t i = 0; i < count; ++i) {
            from[i] = pattern(block, offset + i, round);
        }
        if (flash.program(block, offset, {from, count}) != Status::ok) {
            return false;
        }
        offset += count;
        size = size < geometry.page_size ? size * 2 : geometry.program_unit;
    }
    return true;
}

int check(bool verify) {
    FlashDevice* flash = nullptr;
    if (board::start_flash(flash) != Status::ok) {
        return fail("no chip", 0, 0);
    }
    const std::uint32_t last = flash->geometry().blocks - 1;
    const std::uint32_t blocks[] = {0, 1, last / 2, last - 1, last};
    for (const std::uint32_t block : blocks) {
        for (unsigned round = 1; !verify && round <= 2; ++round) {
            if (flash->erase(block) != Status::ok || !holds(*flash, block, 0)) {
                return fail("erase", block, round);
            }
            if (!fill(*flash, block, round) || !holds(*flash, block, round)) {
                return fail("program", block, round);
            }
        }
    }
    // Erasing and programming one block must leave the others as they are.
    for (const std::uint32_t block : blocks) {
        if (!holds(*flash, block, 2)) {
            return fail("kept", block, 0);
        }
    }
    print("1 passed, 0 failed\n");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const bool verify = argc == 2 && std::strcmp(argv[1], "verify") == 0;
    if (argc != 2 || (!verify && std::strcmp(argv[1], "write") != 0)) {
        print("usage: flash_check write|verify\n");
        return 2;
    }
    return check(verify);
}
