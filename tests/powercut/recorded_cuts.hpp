// What a power cut may leave of a file whose writes were recorded.
#pragma once

#include "recording_driver.hpp"

#include <string>

namespace h5mote_test {

/// Calls `judge(RecordingDriver::Image, std::size_t count, std::string where)` for what a cut during or after each
/// operation from number `first` on may leave, where units of 512 bytes are atomic: the first `count` operations; with
/// the next one torn; or without one of those since the last sync.
template <typename Judge>
void for_each_cut(const RecordingDriver& driver, std::size_t first, const Judge& judge) {
    const std::vector<DriverOperation>& operations = driver.operations();
    for (std::size_t count = first; count <= operations.size(); ++count) {
        const std::string where = "cut after operation " + std::to_string(count);
        judge(driver.image(count), count, where);
        if (count < operations.size()) {
            for (const std::size_t torn : driver.tears(count, 512)) {
                judge(driver.image_torn(count, torn), count, where + ", the next torn at " + std::to_string(torn));
            }
        }
        for (std::size_t lost = driver.synced(count); lost < count; ++lost) {
            RecordingDriver::Image image = driver.image(lost);
            for (std::size_t i = lost + 1; i < count; ++i) {
                RecordingDriver::apply(image, operations[i]);
            }
            judge(std::move(image), count, where + ", without operation " + std::to_string(lost));
        }
    }
}

}  // namespace h5mote_test
