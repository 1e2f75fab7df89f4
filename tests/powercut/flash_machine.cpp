#include "flash_machine.hpp"

namespace h5mote_test {

using namespace h5mote;

namespace {

FlashSimulatorOptions simulated(const FlashChipOptions& options) {
    FlashSimulatorOptions result;
    result.geometry = options.geometry;
    result.blank_is_unreadable = options.blank_is_unreadable;
    result.programs_per_page = options.programs_per_page;
    result.keeps_marks = options.keeps_marks;
    result.overwrites = options.overwrites;
    return result;
}

}  // namespace

Status OperationRecorder::program(std::uint32_t block, std::uint32_t offset, ConstBytes from) noexcept {
    operations.push_back({false, block, offset, {from.begin(), from.end()}});
    if (weak_every_ != 0 && operations.size() % weak_every_ == 0) {
        chip_.weaken(block, offset);
    }
    return chip_.program(block, offset, from);
}

Status OperationRecorder::erase(std::uint32_t block) noexcept {
    operations.push_back({true, block, 0, {}});
    return chip_.erase(block);
}

FlashMachine::FlashMachine(const FlashChipOptions& options)
    : options_(options),
      memory_(FlashSimulator::required_memory(options.geometry) / 8 + 1),
      chip(simulated(options), {reinterpret_cast<std::byte*>(memory_.data()), memory_.size() * 8}),
      recorder(chip, options.weak_every) {
    mount_.changes = options.changes;
    work_.resize(FlashDriver::required_memory(options.geometry, options.format, mount_) / 8 + 1);
    begin();
}

void FlashMachine::begin() {
    driver_ =
        std::make_unique<FlashDriver>(recorder, Bytes(reinterpret_cast<std::byte*>(work_.data()), work_.size() * 8));
}

Status FlashMachine::format() {
    begin();
    return driver_->format(options_.format, mount_);
}

Status FlashMachine::mount(std::uint64_t seed, std::uint64_t failing_read) {
    chip.power_on(seed);
    begin();
    chip.fail_read(failing_read);
    const Status status = driver_->mount(mount_);
    chip.fail_read(0);
    return status;
}

std::string FlashMachine::violation() const {
    return chip.counts().violations == 0
               ? ""
               : "violation " + std::to_string(static_cast<int>(chip.violation())) + " in block " +
                     std::to_string(chip.violation_block()) + " at " + std::to_string(chip.violation_offset()) + "; ";
}

Status FlashMachine::apply(const FlashOperation& operation) {
    return operation.erase
               ? chip.erase(operation.block)
               : chip.program(operation.block, operation.offset, {operation.bytes.data(), operation.bytes.size()});
}

void cut_operations(FlashMachine& base, FlashMachine& trial, const std::vector<FlashOperation>& operations,
                    const std::function<bool()>& enough, const AfterFlashCut& then) {
    const FlashGeometry geometry = base.chip.geometry();
    Random random(operations.size());
    for (std::size_t i = 0; i < operations.size() && !enough(); ++i) {
        const FlashOperation& operation = operations[i];
        const std::size_t bytes = operation.erase ? geometry.block_size : operation.bytes.size();
        const std::size_t units = bytes / geometry.program_unit;
        const auto cut = [&](FlashCut how, const char* what, std::size_t number) {
            trial.chip.copy_from(base.chip);
            trial.chip.cut_after(1, how, random.next(), static_cast<std::uint32_t>(number));
            (void)trial.apply(operation);
            then(i, how, what, number);
        };
        cut(FlashCut::not_begun, "not begun", 0);
        for (std::size_t n = 1; n <= units; ++n) {
            if (units <= 4 || n == 1 || n == units / 2 || n >= units - 1) {
                cut(FlashCut::torn, operation.erase ? "erase torn after units" : "torn after units", n);
            }
        }
        for (std::size_t n = 0; n < 3; ++n) {
            cut(FlashCut::partly, operation.erase ? "partly erased" : "partly programmed", n);
            cut(FlashCut::unstable, operation.erase ? "unstable after an erase" : "unstable", n);
        }
        (void)base.apply(operation);  // fails on a worn block, as it did when it was recorded
    }
}

}  // namespace h5mote_test
