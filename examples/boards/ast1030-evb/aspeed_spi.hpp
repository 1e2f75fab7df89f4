// Aspeed's firmware memory controller (FMC) in user mode: every access to the chip's window of the address space sends
// or receives these bytes on the bus as they are.
#pragma once

#include "../spi.hpp"

#include <cstdint>

namespace board {

/// The chip at select line 0.
class AspeedSpi final : public Spi {
public:
    /// `base`: of the controller's registers; `window`: where the chip lies in the address space.
    constexpr AspeedSpi(std::uintptr_t base, std::uintptr_t window) noexcept : base_(base), window_(window) {}

    /// To be called once before everything else.
    void start() noexcept;

    void select(std::size_t bytes) noexcept override;
    void send(h5mote::ConstBytes from) noexcept override;
    void receive(h5mote::Bytes to) noexcept override;
    void deselect() noexcept override;

private:
    std::uintptr_t base_;
    std::uintptr_t window_;
};

}  // namespace board
