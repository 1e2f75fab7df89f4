// A simulated flash chip with a FlashDriver on it; both own the memory that they work in.
#pragma once

#include <h5mote/vfd/flash.hpp>

#include "flash_simulator.hpp"

#include <vector>

namespace h5mote_test {

class FlashChip {
public:
    explicit FlashChip(const h5mote::FlashGeometry& geometry, const h5mote::FlashFormat& format = {},
                       const h5mote::FlashOptions& options = {})
        : chip_memory_(FlashSimulator::required_memory(geometry) / 8 + 1),
          work_(h5mote::FlashDriver::required_memory(geometry, format, options) / 8 + 1),
          simulator(simulated(geometry), bytes(chip_memory_)),
          driver(simulator, bytes(work_)) {}

    /// Writes `size` bytes that all are `value`.
    h5mote::Status fill(std::uint64_t address, std::size_t size, unsigned value) {
        const std::vector<std::byte> data(size, static_cast<std::byte>(value));
        return driver.write(h5mote::Usage::raw_data, address, {data.data(), size});
    }

private:
    static FlashSimulatorOptions simulated(const h5mote::FlashGeometry& geometry) {
        FlashSimulatorOptions options;
        options.geometry = geometry;
        return options;
    }
    static h5mote::Bytes bytes(std::vector<std::uint64_t>& memory) {
        return {reinterpret_cast<std::byte*>(memory.data()), memory.size() * 8};
    }

    std::vector<std::uint64_t> chip_memory_, work_;

public:
    FlashSimulator simulator;
    h5mote::FlashDriver driver;
};

}  // namespace h5mote_test
