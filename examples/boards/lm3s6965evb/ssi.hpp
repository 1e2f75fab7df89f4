// The synchronous serial interface of Stellaris microcontrollers (PL022), with the card's select line at a GPIO pin.
#pragma once

#include "../spi.hpp"

namespace board {

class Ssi final : public Spi {
public:
    /// To be called once before everything else.
    void start() noexcept;

    void select(std::size_t bytes) noexcept override;
    void send(h5mote::ConstBytes from) noexcept override;
    void receive(h5mote::Bytes to) noexcept override;
    void deselect() noexcept override;
};

}  // namespace board
