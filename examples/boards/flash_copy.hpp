// A copy of a flash chip as it is, in a file of the host.
#pragma once

#include <h5mote/vfd/flash_device.hpp>

namespace board {

/// For an emulator that does not keep the chip, and for `h5mote extract`. io_error; errors of the chip.
h5mote::Status copy_flash(h5mote::FlashDevice& flash, const char* path) noexcept;

}  // namespace board
