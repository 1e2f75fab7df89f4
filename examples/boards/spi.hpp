// What a SPI controller offers to the driver of the chip behind it.
#pragma once

#include <h5mote/span.hpp>

#include <cstddef>

namespace board {

/// A bus with one chip, most significant bit first, data taken at the clock's rising edge (mode 0). Transfers go one
/// way at a time, as these chips have it, and cannot fail: nothing on the bus says whether a chip is there.
class Spi {
public:
    /// select() of a transfer whose length is not known when it begins.
    static constexpr std::size_t kOpen = 0;
    /// The longest transfer whose length is known.
    static constexpr std::size_t kLongest = 32768;

    /// Selects the chip until deselect(); `bytes` will be sent and received in all. Controllers that drive the select
    /// line themselves must know, and cannot do kOpen.
    virtual void select(std::size_t bytes) noexcept = 0;
    virtual void send(h5mote::ConstBytes from) noexcept = 0;
    /// Sends 0xff meanwhile.
    virtual void receive(h5mote::Bytes to) noexcept = 0;
    virtual void deselect() noexcept = 0;

protected:
    Spi() = default;
    Spi(const Spi&) = delete;
    Spi& operator=(const Spi&) = delete;
    ~Spi() = default;
};

}  // namespace board
