// The SPI controller of SmartFusion2's microcontroller subsystem (MSS).
#pragma once

#include "../spi.hpp"

#include <cstdint>

namespace board {

/// The controller drives the select line: it is told how many frames follow and keeps the chip selected for all of
/// them. kOpen cannot be done.
class MssSpi final : public Spi {
public:
    /// `base`: of the controller's registers.
    constexpr explicit MssSpi(std::uintptr_t base) noexcept : base_(base) {}

    /// To be called once before everything else.
    void start() noexcept;

    void select(std::size_t bytes) noexcept override;
    void send(h5mote::ConstBytes from) noexcept override;
    void receive(h5mote::Bytes to) noexcept override;
    void deselect() noexcept override {}

private:
    std::byte exchange(std::byte out) noexcept;

    std::uintptr_t base_;
};

}  // namespace board
