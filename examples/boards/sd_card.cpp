#include "sd_card.hpp"

namespace board {
namespace {

using h5mote::Bytes;
using h5mote::ConstBytes;
using h5mote::Status;

enum : std::uint8_t {
    kGoIdle = 0,
    kSendInterfaceCondition = 8,
    kSendCardData = 9,
    kSetBlockLength = 16,
    kReadBlock = 17,
    kWriteBlock = 24,
    kApplicationCommand = 55,
    kReadConditions = 58,
    kApplicationSendConditions = 41,
};
// First byte of each answer.
constexpr std::uint8_t kReady = 0x00;
constexpr std::uint8_t kIdle = 0x01;
constexpr std::uint8_t kUnknownCommand = 0x05;

constexpr std::uint8_t kStartOfData = 0xfe;
constexpr std::uint8_t kDataAccepted = 0x05;  // the low five bits of the card's answer
constexpr std::uint32_t kPatience = 1000000;  // bytes on the bus; half a second at 16 MHz

}  // namespace

std::uint8_t SdCard::receive() noexcept {
    std::byte byte{};
    spi_.receive({&byte, 1});
    return std::to_integer<std::uint8_t>(byte);
}

// Reads bytes until one is `value`. A card holds the line low while it is busy, and high until its data begin.
bool SdCard::receive_until(std::uint8_t value) noexcept {
    for (std::uint32_t i = 0; i < kPatience; ++i) {
        if (receive() == value) {
            return true;
        }
    }
    return false;
}

// Sends a command and returns the first byte of the answer, 0xff if none came. The card stays selected.
std::uint8_t SdCard::command(std::uint8_t index, std::uint32_t argument) noexcept {
    spi_.select(Spi::kOpen);
    if (!receive_until(0xff)) {
        return 0xff;
    }
    // Checksums are off in SPI mode except in the first two commands, which are always sent with the same argument.
    const std::uint8_t checksum = index == kGoIdle ? 0x95 : index == kSendInterfaceCondition ? 0x87 : 0x01;
    const std::byte bytes[6] = {std::byte(0x40 | index),
                                static_cast<std::byte>(argument >> 24),
                                static_cast<std::byte>(argument >> 16),
                                static_cast<std::byte>(argument >> 8),
                                static_cast<std::byte>(argument),
                                std::byte{checksum}};
    spi_.send(bytes);
    std::uint8_t answer = 0xff;
    for (int i = 0; i < 10 && (answer & 0x80) != 0; ++i) {
        answer = receive();
    }
    return answer;
}

std::uint8_t SdCard::simple_command(std::uint8_t index, std::uint32_t argument) noexcept {
    const std::uint8_t answer = command(index, argument);
    spi_.deselect();
    return answer;
}

Status SdCard::receive_data(Bytes to) noexcept {
    if (!receive_until(kStartOfData)) {
        return Status::io_error;
    }
    spi_.receive(to);
    (void)receive();  // checksum
    (void)receive();
    return Status::ok;
}

Status SdCard::leave_idle(bool version_2) noexcept {
    constexpr std::uint32_t kHighCapacity = 1U << 30;
    for (std::uint32_t i = 0; i < kPatience; ++i) {
        (void)simple_command(kApplicationCommand, 0);
        const std::uint8_t answer = simple_command(kApplicationSendConditions, version_2 ? kHighCapacity : 0);
        if (answer != kIdle) {
            return answer == kReady ? Status::ok : Status::io_error;
        }
    }
    return Status::io_error;
}

// The card's data register tells the size in one of two ways.
Status SdCard::find_size() noexcept {
    std::byte csd[16];
    Status status = command(kSendCardData, 0) == kReady ? receive_data(csd) : Status::io_error;
    spi_.deselect();
    H5MOTE_TRY(status);
    const auto at = [&csd](std::size_t i) { return std::to_integer<std::uint32_t>(csd[i]); };
    if (at(0) >> 6 == 1) {
        blocks_ = (((at(7) & 0x3f) << 16 | at(8) << 8 | at(9)) + 1) * 1024;
    } else {
        const std::uint32_t size = (at(6) & 3) << 10 | at(7) << 2 | at(8) >> 6;
        const std::uint32_t multiplier = (at(9) & 3) << 1 | at(10) >> 7;
        const std::uint32_t length = at(5) & 15;  // of the card's own blocks, a power of two from 512 on
        blocks_ = length < 9 || length > 11 ? 0 : (size + 1) << (multiplier + 2 + length - 9);
    }
    return blocks_ == 0 ? Status::io_error : Status::ok;
}

Status SdCard::start() noexcept {
    // A card that was just powered needs 74 clocks while it is not selected.
    spi_.deselect();
    for (int i = 0; i < 10; ++i) {
        (void)receive();
    }
    std::uint8_t answer = 0xff;
    for (int i = 0; i < 10 && answer != kIdle; ++i) {
        answer = simple_command(kGoIdle, 0);
    }
    if (answer != kIdle) {
        return Status::io_error;
    }
    answer = command(kSendInterfaceCondition, 0x1aa);
    std::byte rest[4];
    spi_.receive(rest);
    spi_.deselect();
    const bool version_2 = answer != kUnknownCommand;
    if (version_2 && (rest[2] != std::byte{0x01} || rest[3] != std::byte{0xaa})) {
        return Status::io_error;  // not for our voltage
    }
    H5MOTE_TRY(leave_idle(version_2));
    answer = command(kReadConditions, 0);
    spi_.receive(rest);
    spi_.deselect();
    if (answer > kIdle) {  // an error bit; some say "idle" here whether they are or not
        return Status::io_error;
    }
    by_block_ = (rest[0] & std::byte{0x40}) != std::byte{0};
    if (!by_block_ && simple_command(kSetBlockLength, kBlock) != kReady) {
        return Status::io_error;
    }
    return find_size();
}

Status SdCard::read(std::uint32_t block, Block& to) noexcept {
    const Status status = command(kReadBlock, address(block)) == kReady ? receive_data(to) : Status::io_error;
    spi_.deselect();
    return status;
}

Status SdCard::write(std::uint32_t block, const Block& from) noexcept {
    Status status = Status::io_error;
    if (command(kWriteBlock, address(block)) == kReady) {
        constexpr std::byte kStart[2] = {std::byte{0xff}, std::byte{kStartOfData}};
        constexpr std::byte kChecksum[2] = {};
        spi_.send(kStart);
        spi_.send(from);
        spi_.send(kChecksum);
        if ((receive() & 0x1f) == kDataAccepted && receive_until(0xff)) {
            status = Status::ok;
        }
    }
    spi_.deselect();
    return status;
}

}  // namespace board
