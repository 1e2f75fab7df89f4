// The driver of a board's SD card by itself: card_check write|verify BLOCKS. `write` writes blocks all over a card of
// that size and reads them back; `verify` finds them again after a restart.
#include "board.hpp"
#include "sd_card.hpp"

#include <h5mote/port/semihosting.hpp>

#include <cstdlib>
#include <cstring>

namespace {

using board::SdCard;
using h5mote::Status;
using h5mote::semihosting::print;

SdCard::Block buffer;

int fail(const char* what, std::uint32_t block) {
    print("FAILED: ");
    print(what);
    print(", block ");
    print(block);
    print("\n");
    return 1;
}

std::byte pattern(std::uint32_t block, std::size_t offset) {
    const std::uint32_t mixed = (block * 65599 + static_cast<std::uint32_t>(offset)) * 2654435761U;
    return static_cast<std::byte>(mixed >> 24);
}

bool holds(SdCard& card, std::uint32_t block) {
    if (card.read(block, buffer) != Status::ok) {
        return false;
    }
    for (std::size_t i = 0; i < sizeof buffer; ++i) {
        if (buffer[i] != pattern(block, i)) {
            return false;
        }
    }
    return true;
}

int check(bool verify, std::uint32_t size) {
    SdCard* card = nullptr;
    if (board::start_card(card) != Status::ok) {
        return fail("no card", 0);
    }
    if (card->blocks() != size) {
        return fail("size", card->blocks());
    }
    const std::uint32_t blocks[] = {0, 1, 2, size / 3, size / 2, size - 2, size - 1};
    for (const std::uint32_t block : blocks) {
        for (std::size_t i = 0; i < sizeof buffer; ++i) {
            buffer[i] = pattern(block, i);
        }
        if (!verify && (card->write(block, buffer) != Status::ok || !holds(*card, block))) {
            return fail("write", block);
        }
    }
    for (const std::uint32_t block : blocks) {
        if (!holds(*card, block)) {
            return fail("kept", block);
        }
    }
    if (card->read(size, buffer) != Status::io_error || card->write(size, buffer) != Status::io_error) {
        return fail("behind the end", size);
    }
    print("1 passed, 0 failed\n");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const bool verify = argc == 3 && std::strcmp(argv[1], "verify") == 0;
    if (argc != 3 || (!verify && std::strcmp(argv[1], "write") != 0)) {
        print("usage: card_check write|verify BLOCKS\n");
        return 2;
    }
    return check(verify, static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10)));
}
