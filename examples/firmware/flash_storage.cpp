#include <h5mote/vfd/flash.hpp>

#include "chip.hpp"

static Chip chip;
alignas(8) static std::byte flash_memory[h5mote::FlashDriver::required_memory(Chip::kGeometry)];  // about 1 KiB
static h5mote::FlashDriver flash{chip, flash_memory};

h5mote::Status log_to_flash(h5mote::Status (*log_samples)(h5mote::Driver&)) {
    h5mote::Status status = flash.mount();  // finds the last flush() that returned ok, writes nothing
    if (status == h5mote::Status::not_found) {
        status = flash.format();  // a blank chip; one that holds something else is corrupt_file, and left alone
    }
    return status == h5mote::Status::ok ? log_samples(flash) : status;
}
