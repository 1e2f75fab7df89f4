// Stellaris LM3S6965 evaluation board: Cortex-M3, and a slot for SD cards.
#include "ssi.hpp"

#include "../board.hpp"
#include "../sd_card.hpp"

namespace board {

h5mote::Status start_card(SdCard*& card) noexcept {
    static Ssi spi;
    static SdCard slot(spi);
    spi.start();
    card = &slot;
    return slot.start();
}

}  // namespace board
