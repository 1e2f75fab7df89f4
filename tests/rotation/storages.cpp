#include "storages.hpp"

#include "card.hpp"
#include "flash_simulator.hpp"
#include "forwarding_driver.hpp"

#include <h5mote/vfd/journal.hpp>
#include <h5mote/vfd/memory.hpp>
#include <h5mote/vfd/posix.hpp>

#include <optional>
#include <vector>

namespace h5mote_test {

using h5mote::Bytes;
using h5mote::ConstBytes;
using h5mote::Status;
using h5mote::Usage;

namespace {

Bytes bytes_of(std::vector<std::uint64_t>& memory) {
    return {reinterpret_cast<std::byte*>(memory.data()), memory.size() * sizeof(std::uint64_t)};
}

// A storage whose power may fail: what was written before stays, as it does when a program is killed.
class Switched final : public ForwardingDriver {
public:
    Switched(h5mote::Driver& inner, Power& power) noexcept : ForwardingDriver(inner), power_(power) {}

    Status read(Usage usage, std::uint64_t address, Bytes to) noexcept override {
        return power_.on() ? ForwardingDriver::read(usage, address, to) : Status::io_error;
    }
    Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept override {
        return power_.spend() ? ForwardingDriver::write(usage, address, from) : Status::io_error;
    }
    Status sync() noexcept override { return power_.spend() ? ForwardingDriver::sync() : Status::io_error; }
    Status truncate(std::uint64_t size) noexcept override {
        return power_.spend() ? ForwardingDriver::truncate(size) : Status::io_error;
    }

private:
    Power& power_;
};

// What all storages but chips have in common.
class PoweredStorage : public Storage {
public:
    void cut_after(std::uint64_t operation, std::uint64_t) noexcept override { power_.cut_after(operation); }
    bool powered() const noexcept override { return power_.on(); }
    std::uint64_t operations() const noexcept override { return power_.operations(); }
    std::uint64_t capacity() const noexcept override { return capacity_; }

protected:
    explicit PoweredStorage(std::uint64_t capacity) noexcept : capacity_(capacity) {}

    Power power_;
    std::uint64_t capacity_;
};

class FileStorage final : public PoweredStorage {
public:
    FileStorage(std::uint64_t capacity, const std::string& folder)
        : PoweredStorage(capacity), name_(folder + "/rotation.h5"), switched_(file_, power_) {
        (void)file_.open(name_.c_str(), h5mote::PosixDriver::Mode::truncate);
    }
    h5mote::Driver& driver() noexcept override { return switched_; }
    Status restart(std::uint64_t) override {
        power_.restore();
        return file_.open(name_.c_str(), h5mote::PosixDriver::Mode::read_write);
    }

private:
    std::string name_;
    h5mote::PosixDriver file_;
    Switched switched_;
};

class JournalStorage final : public PoweredStorage {
public:
    JournalStorage(std::uint64_t capacity, const std::string& folder)
        : PoweredStorage(capacity), name_(folder + "/rotation.h5"), home_(file_, power_), log_(journal_file_, power_) {
        (void)file_.open(name_.c_str(), h5mote::PosixDriver::Mode::truncate);
        (void)journal_file_.open((name_ + "-journal").c_str(), h5mote::PosixDriver::Mode::truncate);
        journal_.emplace(home_, log_, Bytes(memory_, sizeof memory_));
        (void)journal_->open();
    }
    h5mote::Driver& driver() noexcept override { return *journal_; }
    Status restart(std::uint64_t) override {
        if (power_.on()) {
            H5MOTE_TRY(journal_->close());
        }
        journal_.reset();
        power_.restore();
        constexpr auto kMode = h5mote::PosixDriver::Mode::read_write;
        H5MOTE_TRY(file_.open(name_.c_str(), kMode));
        H5MOTE_TRY(journal_file_.open((name_ + "-journal").c_str(), kMode));
        journal_.emplace(home_, log_, Bytes(memory_, sizeof memory_));
        return journal_->open();
    }

private:
    std::string name_;
    h5mote::PosixDriver file_, journal_file_;
    Switched home_, log_;
    alignas(8) std::byte memory_[h5mote::JournalDriver::required_memory()];
    std::optional<h5mote::JournalDriver> journal_;
};

class MemoryStorage final : public PoweredStorage {
public:
    explicit MemoryStorage(std::uint64_t capacity)
        : PoweredStorage(capacity), buffer_(static_cast<std::size_t>(capacity)) {
        connect(0);
    }
    h5mote::Driver& driver() noexcept override { return *switched_; }
    Status restart(std::uint64_t) override {
        power_.restore();
        connect(memory_->contents().size());
        return Status::ok;
    }

private:
    void connect(std::size_t size) {
        memory_.emplace(Bytes(buffer_.data(), buffer_.size()), size);
        switched_.emplace(*memory_, power_);
    }

    std::vector<std::byte> buffer_;
    std::optional<h5mote::MemoryDriver> memory_;
    std::optional<Switched> switched_;
};

class CardStorage final : public PoweredStorage {
public:
    explicit CardStorage(std::uint64_t capacity)
        : PoweredStorage(capacity / Card::kSector * Card::kSector), card_(capacity_, power_) {}
    h5mote::Driver& driver() noexcept override { return card_; }
    Status restart(std::uint64_t seed) override {
        card_.restart(!power_.on(), seed);
        power_.restore();
        return Status::ok;
    }

private:
    Card card_;
};

class ChipStorage final : public Storage {
public:
    explicit ChipStorage(const FlashSimulatorOptions& options)
        : chip_memory_(FlashSimulator::required_memory(options.geometry) / 8 + 1),
          work_(h5mote::FlashDriver::required_memory(options.geometry) / 8 + 1),
          chip_(options, bytes_of(chip_memory_)) {
        driver_.emplace(chip_, bytes_of(work_));
        (void)driver_->format();
        capacity_ = driver_->usage().capacity;
    }
    h5mote::Driver& driver() noexcept override { return *driver_; }
    std::uint64_t capacity() const noexcept override { return capacity_; }
    Status restart(std::uint64_t seed) override {
        chip_.power_on(seed);
        driver_.emplace(chip_, bytes_of(work_));
        return driver_->mount();
    }
    void cut_after(std::uint64_t operation, std::uint64_t seed) noexcept override {
        constexpr FlashCut kCuts[] = {FlashCut::not_begun, FlashCut::torn, FlashCut::partly, FlashCut::unstable};
        chip_.cut_after(operation, kCuts[seed % 4], seed, static_cast<std::uint32_t>(seed / 4 % 64));
    }
    bool powered() const noexcept override { return chip_.powered(); }
    std::uint64_t operations() const noexcept override { return chip_.operations(); }
    h5mote::FlashDriver* flash() noexcept override { return &*driver_; }
    Wear wear() const noexcept override {
        Wear wear{~0U, 0};
        for (std::uint32_t block = 0; block < chip_.geometry().blocks; ++block) {
            const std::uint32_t erases = chip_.erases(block);
            wear.least = erases < wear.least ? erases : wear.least;
            wear.most = erases > wear.most ? erases : wear.most;
        }
        return wear;
    }

private:
    std::vector<std::uint64_t> chip_memory_, work_;
    FlashSimulator chip_;
    std::optional<h5mote::FlashDriver> driver_;
    std::uint64_t capacity_ = 0;
};

FlashSimulatorOptions nor(std::uint64_t capacity) {
    FlashSimulatorOptions options;
    options.geometry = {static_cast<std::uint32_t>(capacity / 4096), 4096, 256, 1, 0xff};
    return options;
}

FlashSimulatorOptions nand(std::uint64_t capacity) {
    FlashSimulatorOptions options;
    options.geometry = {static_cast<std::uint32_t>(capacity / 8192), 8192, 512, 512, 0xff};
    options.programs_per_page = 1;
    options.blank_is_unreadable = true;
    return options;
}

}  // namespace

std::unique_ptr<Storage> make_storage(const std::string& kind, std::uint64_t capacity, const std::string& folder) {
    if (kind == "file") {
        return std::make_unique<FileStorage>(capacity, folder);
    }
    if (kind == "journal") {
        return std::make_unique<JournalStorage>(capacity, folder);
    }
    if (kind == "memory") {
        return std::make_unique<MemoryStorage>(capacity);
    }
    if (kind == "card") {
        return std::make_unique<CardStorage>(capacity);
    }
    if (kind == "nor" || kind == "nand") {
        return std::make_unique<ChipStorage>(kind == "nor" ? nor(capacity) : nand(capacity));
    }
    return nullptr;
}

}  // namespace h5mote_test
