// Power cuts within any program or erase of a flash chip, which leave it torn, partly done or unstable.
#pragma once

#include "cuts.hpp"
#include "flash_machine.hpp"
#include "scenarios.hpp"

namespace h5mote_test {

struct FlashCutOptions : FlashChipOptions {
    bool fills_up = false;         ///< the scenario fills the device, so that logging on may report no_space
    bool reclaim = false;          ///< as DiskOptions::reclaim, on what the second mount finds
    std::size_t recovery_of = 64;  ///< one in so many cuts has its recovery cut, too, in every operation; 0: none
    std::size_t recoveries = 12;   ///< about so many recoveries are cut up to their end, and logged on from
};

/// Runs a scenario on a freshly formatted chip that held random bytes before, cuts it in every operation and reports;
/// fewer cuts than `floor` fail. An operation that the simulator refuses (FlashViolation) counts as a loss.
void cut_flash(const std::string& name, const Scenario& scenario, std::size_t floor,
               const FlashCutOptions& options = {});

}  // namespace h5mote_test
