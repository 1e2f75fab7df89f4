#include "spi_nor.hpp"

namespace board {
namespace {

using h5mote::Bytes;
using h5mote::ConstBytes;
using h5mote::Status;

enum : std::uint8_t {
    kWriteStatus = 0x01,
    kPageProgram = 0x02,
    kRead = 0x03,
    kWriteDisable = 0x04,
    kReadStatus = 0x05,
    kWriteEnable = 0x06,
    kReadId = 0x9f,
    kWordProgram = 0xad,
};
constexpr std::byte kBusy{0x01};
// No erase takes as long as this many reads of the status register.
constexpr std::uint32_t kPatience = 10000000;

struct Head {
    std::byte bytes[4];
};

constexpr Head head_of(std::uint8_t code, std::uint32_t address) noexcept {
    return {{std::byte{code}, static_cast<std::byte>(address >> 16), static_cast<std::byte>(address >> 8),
             static_cast<std::byte>(address)}};
}

}  // namespace

void SpiNor::command(std::uint8_t code) noexcept {
    const std::byte byte{code};
    spi_.select(1);
    spi_.send({&byte, 1});
    spi_.deselect();
}

void SpiNor::command(std::uint8_t code, std::uint32_t address, ConstBytes from) noexcept {
    const Head head = head_of(code, address);
    spi_.select(sizeof head + from.size());
    spi_.send(head.bytes);
    spi_.send(from);
    spi_.deselect();
}

Status SpiNor::wait() noexcept {
    const std::byte code{kReadStatus};
    for (std::uint32_t i = 0; i < kPatience; ++i) {
        std::byte status{};
        spi_.select(2);
        spi_.send({&code, 1});
        spi_.receive({&status, 1});
        spi_.deselect();
        if ((status & kBusy) == std::byte{0}) {
            return Status::ok;
        }
    }
    return Status::io_error;
}

Status SpiNor::start() noexcept {
    // A reset of the processor stops neither a program or an erase in the chip nor its word program mode: end the mode
    // and wait.
    command(kWriteDisable);
    H5MOTE_TRY(wait());
    const std::byte code{kReadId};
    std::byte id[3];
    spi_.select(1 + sizeof id);
    spi_.send({&code, 1});
    spi_.receive(id);
    spi_.deselect();
    for (std::size_t i = 0; i < sizeof id; ++i) {
        if (id[i] != std::byte{chip_.id[i]}) {
            return Status::io_error;
        }
    }
    if (!chip_.protected_after_reset) {
        return Status::ok;
    }
    command(kWriteEnable);
    constexpr std::byte kUnprotect[2] = {std::byte{kWriteStatus}, std::byte{0}};
    spi_.select(sizeof kUnprotect);
    spi_.send(kUnprotect);
    spi_.deselect();
    return wait();
}

Status SpiNor::read(std::uint32_t block, std::uint32_t offset, Bytes to) noexcept {
    std::uint32_t address = block * chip_.geometry.block_size + offset;
    while (!to.empty()) {
        const std::size_t size = to.size() < Spi::kLongest - sizeof(Head) ? to.size() : Spi::kLongest - sizeof(Head);
        const Head head = head_of(kRead, address);
        spi_.select(sizeof head + size);
        spi_.send(head.bytes);
        spi_.receive(to.first(size));
        spi_.deselect();
        to = to.subspan(size);
        address += static_cast<std::uint32_t>(size);
    }
    return Status::ok;
}

// The first word is sent with the address, each further one alone; "write disable" ends this mode.
Status SpiNor::program_words(std::uint32_t address, ConstBytes from) noexcept {
    Status status = Status::ok;
    for (std::size_t at = 0; at < from.size() && status == Status::ok; at += 2) {
        if (at == 0) {
            command(kWordProgram, address, from.first(2));
        } else {
            const std::byte next[3] = {std::byte{kWordProgram}, from[at], from[at + 1]};
            spi_.select(sizeof next);
            spi_.send(next);
            spi_.deselect();
        }
        status = wait();
    }
    command(kWriteDisable);
    return status;
}

Status SpiNor::program(std::uint32_t block, std::uint32_t offset, ConstBytes from) noexcept {
    const std::uint32_t address = block * chip_.geometry.block_size + offset;
    command(kWriteEnable);
    if (chip_.word_programming) {
        return program_words(address, from);
    }
    command(kPageProgram, address, from);
    return wait();
}

Status SpiNor::erase(std::uint32_t block) noexcept {
    command(kWriteEnable);
    command(chip_.erase_command, block * chip_.geometry.block_size, {});
    return wait();
}

}  // namespace board
