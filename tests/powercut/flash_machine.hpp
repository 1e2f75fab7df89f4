// A flash chip with its driver, and every way in which the power can fail within what is done to it.
#pragma once

#include "flash_simulator.hpp"
#include "random.hpp"

#include <h5mote/vfd/flash.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace h5mote_test {

/// A chip, how it was formatted, and what is wrong with it.
struct FlashChipOptions {
    h5mote::FlashGeometry geometry{24, 1024, 256, 4, 0xff};
    h5mote::FlashFormat format{128, 12};
    std::uint16_t changes = 16;
    bool blank_is_unreadable = false;  ///< the chip has an ECC
    std::uint8_t programs_per_page = 0;
    std::uint32_t bad_every = 0;   ///< every so manyth block is bad from the factory
    std::uint32_t worn_every = 0;  ///< and every so manyth fails, at a program or erase of its own
    std::uint32_t weak_every = 0;  ///< every so manyth program leaves something for the chip's ECC to correct
};

struct FlashOperation {
    bool erase;
    std::uint32_t block;
    std::uint32_t offset;
    std::vector<std::byte> bytes;
};

/// Passes on to a chip, and records what changes it.
class FlashRecorder final : public h5mote::FlashDevice {
public:
    FlashRecorder(FlashSimulator& chip, std::uint32_t weak_every) : chip_(chip), weak_every_(weak_every) {}
    h5mote::FlashGeometry geometry() const noexcept override { return chip_.geometry(); }
    h5mote::Status read(std::uint32_t block, std::uint32_t offset, h5mote::Bytes to) noexcept override {
        return chip_.read(block, offset, to);
    }
    bool corrected() noexcept override { return chip_.corrected(); }
    h5mote::Status program(std::uint32_t block, std::uint32_t offset, h5mote::ConstBytes from) noexcept override;
    h5mote::Status erase(std::uint32_t block) noexcept override;
    h5mote::Status is_bad(std::uint32_t block, bool& bad) noexcept override { return chip_.is_bad(block, bad); }
    h5mote::Status mark_bad(std::uint32_t block) noexcept override { return chip_.mark_bad(block); }

    std::vector<FlashOperation> operations;

private:
    FlashSimulator& chip_;
    std::uint32_t weak_every_;
};

class FlashMachine {
public:
    explicit FlashMachine(const FlashChipOptions& options);

    h5mote::Status format();
    /// As after switching on: what is unstable reads in another way. `failing_read`: the chip does not answer that
    /// read(), counted from 1. 0: it answers all.
    h5mote::Status mount(std::uint64_t seed, std::uint64_t failing_read = 0);
    h5mote::Driver& driver() { return *driver_; }
    h5mote::FlashUsage usage() const { return driver_->usage(); }
    /// What the chip refused first, if anything.
    std::string violation() const;
    h5mote::Status apply(const FlashOperation& operation);

private:
    void begin();

    const FlashChipOptions& options_;
    std::vector<std::uint64_t> memory_;
    std::vector<std::uint64_t> work_;
    h5mote::FlashOptions mount_;
    std::unique_ptr<h5mote::FlashDriver> driver_;

public:
    FlashSimulator chip;
    FlashRecorder recorder;
};

/// `done`: operations before the one that was cut.
using AfterFlashCut = std::function<void(std::size_t done, FlashCut cut, const char* what, std::size_t number)>;

/// For telling what cuts leave apart: images of a seed, and unstable ones by the cut as well.
inline std::uint64_t hash_of(const FlashMachine& machine, std::uint64_t seed, std::size_t done, FlashCut cut,
                             std::size_t number) {
    return hash_of(machine.chip.contents(), seed) + (cut == FlashCut::unstable ? done * 7 + number : 0);
}

/// Every cut within these operations, while not `enough`. `base` comes as the chip before them, and has them all in the
/// end; `trial` is where each cut happens.
void cut_operations(FlashMachine& base, FlashMachine& trial, const std::vector<FlashOperation>& operations,
                    const std::function<bool()>& enough, const AfterFlashCut& then);

}  // namespace h5mote_test
