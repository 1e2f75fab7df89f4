#include "nrf51_flash.hpp"

#include "../registers.hpp"

#include <cstring>

namespace board {
namespace {

using h5mote::Status;

constexpr std::uintptr_t kReady = 0x4001e400;
constexpr std::uintptr_t kConfig = 0x4001e504;
constexpr std::uintptr_t kErasePage = 0x4001e508;

enum Mode : std::uint32_t { kReadOnly = 0, kWriting = 1, kErasing = 2 };

void wait() noexcept {
    while ((load(kReady) & 1) == 0) {
    }
}

// Lets the controller write or erase while the object exists; afterwards it is read-only again, so that a stray pointer
// harms nothing.
class Allow {
public:
    explicit Allow(Mode mode) noexcept {
        store(kConfig, mode);
        wait();
    }
    Allow(const Allow&) = delete;
    Allow& operator=(const Allow&) = delete;
    ~Allow() {
        store(kConfig, kReadOnly);
        wait();
        __asm__ volatile("" ::: "memory");  // the compiler must not reuse plain reads of the flash from before
    }
};

}  // namespace

Status Nrf51Flash::read(std::uint32_t block, std::uint32_t offset, h5mote::Bytes to) noexcept {
    std::memcpy(to.data(), reinterpret_cast<const void*>(begin_ + block * kBlock + offset), to.size());
    return Status::ok;
}

Status Nrf51Flash::program(std::uint32_t block, std::uint32_t offset, h5mote::ConstBytes from) noexcept {
    const Allow writing(kWriting);
    const std::uintptr_t to = begin_ + block * kBlock + offset;
    for (std::size_t at = 0; at < from.size(); at += 4) {
        std::uint32_t word = 0;
        std::memcpy(&word, from.data() + at, sizeof word);  // `from` may lie anywhere
        store(to + at, word);
        wait();
    }
    return Status::ok;
}

Status Nrf51Flash::erase(std::uint32_t block) noexcept {
    const Allow erasing(kErasing);
    store(kErasePage, begin_ + block * kBlock);
    wait();
    return Status::ok;
}

}  // namespace board
