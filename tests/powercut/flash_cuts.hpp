// The power fails within any program or erase of a flash chip, which is left torn, partly programmed or unstable.
#pragma once

#include "cuts.hpp"
#include "flash_simulator.hpp"
#include "scenarios.hpp"

#include <h5mote/vfd/flash.hpp>

namespace h5mote_test {

struct FlashCutOptions {
    h5mote::FlashGeometry geometry{24, 1024, 256, 4, 0xff};
    h5mote::FlashFormat format{128, 12};
    std::uint16_t changes = 16;
    bool blank_is_unreadable = false;  ///< the chip has an ECC
    std::uint8_t programs_per_page = 0;
    std::uint32_t bad_every = 0;   ///< every so manyth block is bad from the factory
    std::uint32_t worn_every = 0;  ///< and every so manyth fails, at a program or erase of its own
    std::uint32_t weak_every = 0;  ///< every so manyth program leaves something for the chip's ECC to correct
    bool fills_up = false;         ///< the device is full in the end
    std::size_t recovery_of = 64;  ///< one in so many cuts has its recovery cut, too, in every operation; 0: none
    std::size_t recoveries = 12;   ///< about that many of them until the end, and are gone on from
};

/// Runs a scenario on a freshly formatted chip that held random bytes before, cuts it everywhere and reports. A chip
/// that is not used as it must be counts as a loss.
void cut_flash(const std::string& name, const Scenario& scenario, std::size_t floor,
               const FlashCutOptions& options = {});

}  // namespace h5mote_test
