// The storage of the board that the image is made for. Each board's folder defines one of the two functions.
#pragma once

#include <h5mote/vfd/flash_device.hpp>

namespace board {

class SdCard;

/// The flash that recordings may use, ready. io_error: it does not answer as it should.
h5mote::Status start_flash(h5mote::FlashDevice*& flash) noexcept;

/// The card in its slot, ready. Errors as SdCard::start().
h5mote::Status start_card(SdCard*& card) noexcept;

}  // namespace board
