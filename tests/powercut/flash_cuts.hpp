// The power fails within any program or erase of a flash chip, which is left torn, partly programmed or unstable.
#pragma once

#include "cuts.hpp"
#include "flash_machine.hpp"
#include "scenarios.hpp"

namespace h5mote_test {

struct FlashCutOptions : FlashChipOptions {
    bool fills_up = false;         ///< the device is full in the end
    std::size_t recovery_of = 64;  ///< one in so many cuts has its recovery cut, too, in every operation; 0: none
    std::size_t recoveries = 12;   ///< about that many of them until the end, and are gone on from
};

/// Runs a scenario on a freshly formatted chip that held random bytes before, cuts it everywhere and reports. A chip
/// that is not used as it must be counts as a loss.
void cut_flash(const std::string& name, const Scenario& scenario, std::size_t floor,
               const FlashCutOptions& options = {});

}  // namespace h5mote_test
