// A simulated flash chip with its driver, and a sweep over every way in which the power can fail in its operations.
#pragma once

#include "flash_simulator.hpp"
#include "random.hpp"

#include <h5mote/vfd/flash.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace h5mote_test {

/// The geometry of a chip, how it is formatted and mounted, and its defects.
struct FlashChipOptions {
    h5mote::FlashGeometry geometry{24, 1024, 256, 4, 0xff};
    h5mote::FlashFormat format{128, 12};
    std::uint16_t changes = 16;
    bool blank_is_unreadable = false;  ///< the chip has an ECC, which rejects units that were not programmed
    std::uint8_t programs_per_page = 0;
    bool keeps_marks = true;       ///< mark_bad() is remembered
    bool overwrites = false;       ///< an EEPROM or FRAM, which needs no erase
    std::uint32_t bad_every = 0;   ///< one in so many blocks is bad from the factory; 0: none
    std::uint32_t worn_every = 0;  ///< one in so many blocks wears out, each at a time of its own; 0: none
    std::uint32_t weak_every = 0;  ///< one in so many programs leaves something for the ECC to correct; 0: none
};

struct FlashOperation {
    bool erase;
    std::uint32_t block;
    std::uint32_t offset;
    std::vector<std::byte> bytes;
};

/// Passes calls on to a chip, and records programs and erases.
class OperationRecorder final : public h5mote::FlashDevice {
public:
    OperationRecorder(FlashSimulator& chip, std::uint32_t weak_every) : chip_(chip), weak_every_(weak_every) {}
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
    /// Mounts as after switching on: `seed` decides what unstable bits read as from now on. The `failing_read`-th
    /// read() of the mount fails, counted from 1. 0: none.
    h5mote::Status mount(std::uint64_t seed, std::uint64_t failing_read = 0);
    h5mote::Driver& driver() { return *driver_; }
    h5mote::FlashUsage usage() const { return driver_->usage(); }
    /// Describes the first operation that the chip refused; empty if there was none.
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
    OperationRecorder recorder;
};

/// Called after each cut. `done`: operations before the one that was cut; `what` and `number` describe the cut.
using AfterFlashCut = std::function<void(std::size_t done, FlashCut cut, const char* what, std::size_t number)>;

/// A hash that tells apart what cuts leave behind. Images with unstable bits differ by the cut, too, since equal bytes
/// may read differently there.
inline std::uint64_t hash_of(const FlashMachine& machine, std::uint64_t seed, std::size_t done, FlashCut cut,
                             std::size_t number) {
    return hash_of(machine.chip.contents(), seed) + (cut == FlashCut::unstable ? done * 7 + number : 0);
}

/// Makes every cut within these operations, until `enough` returns true. `base` is the chip before them, on which they
/// are then done one by one; each cut is made on `trial`, a copy, before `then` is called.
void cut_operations(FlashMachine& base, FlashMachine& trial, const std::vector<FlashOperation>& operations,
                    const std::function<bool()>& enough, const AfterFlashCut& then);

}  // namespace h5mote_test
