#include "storage.hpp"

#include "failing_driver.hpp"
#include "flash_simulator.hpp"

#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/flash.hpp>
#include <h5mote/vfd/journal.hpp>
#include <h5mote/vfd/memory.hpp>
#include <h5mote/vfd/posix.hpp>
#include <h5mote/vfd/region.hpp>

#include <unistd.h>
#include <cstdio>

namespace differential {
namespace {

using namespace h5mote;

void need(Status status, const char* what) {
    if (status != Status::ok) {
        differ(std::string("storage: ") + what + " " + to_string(status));
    }
}

class MemoryStorage final : public Storage {
public:
    Driver& open() override { return driver_; }
    void close() override {}

private:
    MallocAllocator allocator_;
    GrowingMemoryDriver driver_{allocator_};
};

// A storage that is full during some of the calls. Of some of them sync() is a commit, and then they have room for
// changes at times, and at times not.
class FullStorage final : public Storage, private h5mote_test::ForwardingDriver {
public:
    explicit FullStorage(Random& random) : ForwardingDriver(file_), commits_(random.one_in(2)) {}
    Driver& open() override { return *this; }
    void close() override {}
    void disturb(Random& random) override {
        std::uint64_t end = 0;
        need(file_.end_of_file(end), "end_of_file");
        most_ = end + random.pick<std::uint64_t>({0, random.below(64), random.below(600), random.below(6000)});
        if (random.one_in(2)) {
            room_ = random.below(random.pick<std::uint64_t>({3, 30, 300}));
            for_all_ = random.one_in(2);
        }
    }
    void calm() override {
        most_ = kNoLimit;
        room_ = kNoLimit;
    }
    bool was_disturbed() const override { return was_disturbed_; }

private:
    static constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

    bool fits(std::uint64_t size) {
        std::uint64_t end = 0;
        need(file_.end_of_file(end), "end_of_file");
        const bool fits = size <= most_ || size <= end;
        was_disturbed_ = was_disturbed_ || !fits;
        return fits;
    }
    Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept override {
        return fits(address + from.size()) ? file_.write(usage, address, from) : Status::no_space;
    }
    Status truncate(std::uint64_t size) noexcept override {
        return fits(size) ? file_.truncate(size) : Status::no_space;
    }
    Capabilities capabilities() const noexcept override {
        Capabilities capabilities = file_.capabilities();
        capabilities.sync_is_commit = commits_;
        return capabilities;
    }
    Status keep_room(std::uint32_t /*ranges*/, std::uint64_t bytes) noexcept override {
        const bool refused = bytes > kept_ && room_ == 0;
        if (refused) {
            was_disturbed_ = true;
            room_ = for_all_ ? 0 : kNoLimit;
            return Status::no_space;
        }
        room_ -= bytes > kept_ && room_ != kNoLimit ? 1 : 0;
        kept_ = bytes;
        return Status::ok;
    }

    MallocAllocator allocator_;
    GrowingMemoryDriver file_{allocator_};
    bool commits_;
    std::uint64_t most_ = kNoLimit;
    std::uint64_t room_ = kNoLimit;  // after so many more calls of keep_room() that ask for more there is no room
    std::uint64_t kept_ = 0;
    bool for_all_ = false;  // none of the later calls finds room then
    bool was_disturbed_ = false;
};

// A storage of which a call fails during some of the steps, or all calls from then on: a bus that is disturbed, a card
// that is pulled out and put back. Of some of them sync() is a commit.
class FailingStorage final : public Storage {
public:
    explicit FailingStorage(Random& random) : file_(memory_, random.one_in(2)) {}
    Driver& open() override { return driver_; }
    void close() override {}
    void disturb(Random& random) override {
        h5mote_test::DriverFault fault;
        fault.at = 1 + random.below(random.pick<std::uint64_t>({2, 10, 100}));
        fault.persistent = random.one_in(3);
        fault.whole_raw_data = true;
        fault.torn_bytes = random.below(random.pick<std::size_t>({1, 20, 600}));
        driver_.arm(fault);
    }
    void calm() override {
        was_disturbed_ = was_disturbed_ || driver_.failures() != 0;
        driver_.disarm();
    }
    Status refusal() const override { return Status::io_error; }
    bool was_disturbed() const override { return was_disturbed_; }

private:
    class File final : public h5mote_test::ForwardingDriver {
    public:
        File(Driver& inner, bool commits) : ForwardingDriver(inner), commits_(commits) {}
        Capabilities capabilities() const noexcept override {
            Capabilities capabilities = ForwardingDriver::capabilities();
            capabilities.sync_is_commit = commits_;
            return capabilities;
        }

    private:
        bool commits_;
    };

    MallocAllocator allocator_;
    GrowingMemoryDriver memory_{allocator_};
    File file_;
    h5mote_test::FailingDriver driver_{file_};
    bool was_disturbed_ = false;
};

class BufferStorage final : public Storage {
public:
    Driver& open() override { return driver_; }
    void close() override {}

private:
    // Large enough for two copies of the largest index: in ordered mode one is changed by a copy.
    static constexpr std::size_t kSize = 16 << 20;
    std::unique_ptr<std::byte[]> bytes_{new std::byte[kSize]};  // not filled, which would take most of a run's time
    MemoryDriver driver_{{bytes_.get(), kSize}};
};

class PosixStorage final : public Storage {
public:
    PosixStorage() {
        static int number = 0;
        path_ = "differential." + std::to_string(::getpid()) + ".storage" + std::to_string(++number) + ".h5";
        need(driver_.open(path_.c_str(), PosixDriver::Mode::truncate), "posix");
        need(driver_.close(), "posix");
    }
    ~PosixStorage() override {
        (void)driver_.close();
        std::remove(path_.c_str());
    }
    Driver& open() override {
        need(driver_.open(path_.c_str(), PosixDriver::Mode::read_write), "posix");
        return driver_;
    }
    void close() override { need(driver_.close(), "posix"); }

private:
    std::string path_;
    PosixDriver driver_;
};

class JournalStorage final : public Storage {
public:
    explicit JournalStorage(Random& random) {
        options_.checkpoint = random.pick({512U, 4096U, 32768U});
        options_.lists = random.pick<std::uint16_t>({1, 4, 64});
        memory_.resize((JournalDriver::required_memory(random.pick<std::size_t>({256, 768, 4096}), options_) + 7) / 8);
    }
    Driver& open() override {
        driver_ = std::make_unique<JournalDriver>(
            home_, log_, Bytes{reinterpret_cast<std::byte*>(memory_.data()), memory_.size() * 8});
        need(driver_->open(options_), "journal open");
        return *driver_;
    }
    void close() override {
        need(driver_->close(), "journal close");
        driver_.reset();
    }

private:
    MallocAllocator allocator_;
    GrowingMemoryDriver home_{allocator_};
    GrowingMemoryDriver log_{allocator_};
    JournalOptions options_;
    std::vector<std::uint64_t> memory_;
    std::unique_ptr<JournalDriver> driver_;
};

class RegionStorage final : public Storage {
public:
    explicit RegionStorage(Random& random) : RegionStorage(512 * random.below(5), random.one_in(2)) {}
    RegionStorage(std::uint64_t start, bool sized)
        : region_(driver_, start, sized ? std::uint64_t{4} << 20 : RegionDriver::kToTheEnd) {
        // Fill the storage before and within the region with other data, as on a card that was in use before.
        const Blob before(start + (sized ? 40000 : 0), std::byte{0xa5});
        need(driver_.write(Usage::raw_data, 0, {before.data(), before.size()}), "region");
    }
    Driver& open() override { return region_; }
    void close() override {}

private:
    MallocAllocator allocator_;
    GrowingMemoryDriver driver_{allocator_};
    RegionDriver region_;
};

class FlashStorage final : public Storage {
public:
    explicit FlashStorage(Random& random) : options_(options(random)) {
        memory_.resize((h5mote_test::FlashSimulator::required_memory(options_.geometry) + 7) / 8);
        chip_ = std::make_unique<h5mote_test::FlashSimulator>(
            options_, Bytes{reinterpret_cast<std::byte*>(memory_.data()), memory_.size() * 8});
        format_.page_size = random.pick({256U, 512U, 1024U});
        mount_.changes = random.pick<std::uint16_t>({32, 128});
        work_.resize((FlashDriver::required_memory(options_.geometry, format_, mount_) + 7) / 8);
        make();
        need(driver_->format(format_, mount_), "format");
        driver_.reset();
    }
    Driver& open() override {
        make();
        need(driver_->mount(mount_), "mount");
        return *driver_;
    }
    void close() override {
        if (chip_->counts().violations != 0) {
            differ("storage: the flash driver broke a rule of the chip");
        }
        driver_.reset();
    }

private:
    static h5mote_test::FlashSimulatorOptions options(Random& random) {
        h5mote_test::FlashSimulatorOptions options;
        options.geometry.block_size = random.pick({4096U, 16384U});
        options.geometry.blocks = (2U << 20) / options.geometry.block_size;
        options.geometry.page_size = 256;
        options.geometry.program_unit = random.pick({1U, 16U, 256U});
        return options;
    }
    void make() {
        driver_ =
            std::make_unique<FlashDriver>(*chip_, Bytes{reinterpret_cast<std::byte*>(work_.data()), work_.size() * 8});
    }

    h5mote_test::FlashSimulatorOptions options_;
    std::vector<std::uint64_t> memory_;
    std::vector<std::uint64_t> work_;
    std::unique_ptr<h5mote_test::FlashSimulator> chip_;
    FlashFormat format_;
    FlashOptions mount_;
    std::unique_ptr<FlashDriver> driver_;
};

}  // namespace

Blob Storage::contents() {
    Driver& driver = open();
    std::uint64_t size = 0;
    need(driver.end_of_file(size), "end_of_file");
    Blob bytes(size);
    need(driver.read(Usage::raw_data, 0, {bytes.data(), bytes.size()}), "read");
    close();
    return bytes;
}

bool Storage::load(const Blob& file) {
    Driver& driver = open();
    need(driver.truncate(0), "truncate");
    need(driver.sync(), "sync");  // until then the room of the file before is not free
    const Status status = driver.write(Usage::raw_data, 0, {file.data(), file.size()});
    if (status != Status::no_space) {
        need(status, "write");
        need(driver.truncate(file.size()), "truncate");
        need(driver.sync(), "sync");
    }
    close();
    return status == Status::ok;
}

std::unique_ptr<Storage> make_storage(const std::string& name, Random& random) {
    if (name == "memory") {
        return std::make_unique<MemoryStorage>();
    }
    if (name == "buffer") {
        return std::make_unique<BufferStorage>();
    }
    if (name == "full") {
        return std::make_unique<FullStorage>(random);
    }
    if (name == "posix") {
        return std::make_unique<PosixStorage>();
    }
    if (name == "journal") {
        return std::make_unique<JournalStorage>(random);
    }
    if (name == "failing") {
        return std::make_unique<FailingStorage>(random);
    }
    if (name == "region") {
        return std::make_unique<RegionStorage>(random);
    }
    return name == "flash" ? std::make_unique<FlashStorage>(random) : nullptr;
}

}  // namespace differential
