// Measures the bytes that are programmed into flash for every byte that is logged, with everything that this takes:
// map, commits, block headers, and data that is moved to free blocks. Also erases, wear, and the bytes that a mount
// reads.
//
//   flash_written   writes $H5MOTE_REPORT_DIR/figures.d/flash_written.tsv
//
// Records of 64 bytes, chunks of 64 rows, a flush after every 1, 16 or 64 records, on a simulated NOR flash of 1 MiB
// (blocks of 4 KiB, pages of 256 bytes) that refuses operations whose result a real chip leaves undefined.
//
//   first    from a formatted device until half of what it holds is full
//   steady   until 100 times the size of the device is programmed: a file that is created anew whenever half of what
//            the device holds is full
//   rolling  until 100 times the size of the device is programmed: a file with records that never change, and segments
//            of which the oldest is unlinked before another one begins. The library writes more then, since new rows
//            take the space of old ones
#include "flash_simulator.hpp"
#include "measured_log.hpp"

#include <h5mote/library.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/flash.hpp>

#include <memory>

namespace {

using namespace measured;

constexpr std::uint32_t kRows = 6144;
constexpr std::uint32_t kSegment = 1024;  // rows of a segment
constexpr std::uint32_t kSegments = 3;    // segments that are kept
constexpr std::uint32_t kLife = 5;        // segments until the file is created anew

struct Device {
    static h5mote_test::FlashSimulatorOptions options(std::uint32_t unit) {
        h5mote_test::FlashSimulatorOptions result;
        result.geometry = {256, 4096, 256, unit, 0xff};
        return result;
    }
    explicit Device(std::uint32_t unit)
        : memory(h5mote_test::FlashSimulator::required_memory(options(unit).geometry) / 8 + 1),
          chip(options(unit), {reinterpret_cast<std::byte*>(memory.data()), memory.size() * 8}),
          driver(chip, h5mote::Bytes(work, sizeof work)) {
        check(driver.format(), "format");
    }
    std::vector<std::uint64_t> memory;
    h5mote_test::FlashSimulator chip;
    alignas(8) std::byte work[h5mote::FlashDriver::required_memory({256, 4096, 256, 4, 0xff})];
    h5mote::FlashDriver driver;
};

class Log {
public:
    Log(h5mote::FlashDriver& driver, std::uint32_t flush_rows) : library_(allocator_, port_), flush_rows_(flush_rows) {
        h5mote::FileAccess access;
        access.metadata_cache = 2048;
        access.chunk_cache = 64 * sizeof(Record);
        file_ = h5mote::File::create(library_, driver, access);
        check(file_.status(), "create");
    }

    void append(const std::string& name, std::uint32_t rows) {
        h5mote::DatasetCreate layout;
        layout.chunk = {64};
        auto log = file_->root().create_dataset<Record>(name.c_str(), layout);
        check(log.status(), "create dataset");
        append_records(*file_, *log, rows, flush_rows_);
    }

    void remove(const std::string& name) {
        check(file_->root().unlink(name), "unlink");
        check(file_->flush(), "flush");
    }

    void verify(const std::string& name, std::uint32_t rows) { verify_records(*file_, name.c_str(), rows); }

private:
    h5mote::MallocAllocator allocator_;
    h5mote::NullPort port_;
    h5mote::Library library_;
    h5mote::Result<h5mote::File> file_{Status::not_found};
    std::uint32_t flush_rows_;
};

void expect_no_violation(const Device& device) {
    expect(device.chip.violation() == h5mote_test::FlashViolation::none, "the chip refused something");
}

std::string named(const char* what, std::uint32_t flush_rows, std::uint32_t unit) {
    return what + ("." + std::to_string(flush_rows)) + (unit == 1 ? "" : ".unit" + std::to_string(unit));
}

void measure_first(std::uint32_t flush_rows, std::uint32_t unit, const char* budget) {
    Device device(unit);
    Log log(device.driver, flush_rows);
    device.chip.reset_counts();
    log.append("log", kRows);
    const double payload = 64.0 * kRows;
    figure(named("written.flash.first", flush_rows, unit),
           decimal(static_cast<double>(device.chip.counts().bytes_programmed) / payload, 3), "bytes/byte", budget);
    log.verify("log", kRows);
    expect_no_violation(device);
}

// Measures from 4 times the device's size on until 100 times its size is programmed again. `next` logs something and
// returns how many rows it was.
template <typename Next>
void measure_long(Device& device, const std::string& name, const std::string& suffix, std::uint32_t flush_rows,
                  const char* budget, Next next) {
    while (device.chip.counts().bytes_programmed < 4 << 20) {
        next();
    }
    device.chip.reset_counts();
    const h5mote::FlashUsage before = device.driver.usage();
    std::uint64_t rows = 0;
    while (device.chip.counts().bytes_programmed < 100 << 20) {
        rows += next();
    }
    const double payload = 64.0 * static_cast<double>(rows);
    const h5mote_test::FlashCounts counts = device.chip.counts();
    const h5mote::FlashUsage usage = device.driver.usage();
    const auto each = [&](const char* what, std::uint64_t value, double per, const char* unit, const char* limit) {
        figure(what + ("." + name + suffix), decimal(static_cast<double>(value) / per, 3), unit, limit);
    };
    each("written.flash", counts.bytes_programmed, payload, "bytes/byte", budget);
    each("collected.flash", usage.collected - before.collected, payload, "bytes/byte", "");
    each("given.flash", usage.written - before.written, payload, "bytes/byte", "");
    each("erased.flash", counts.erases * 4096, payload, "bytes/byte", budget);
    each("programs.flash", counts.programs, static_cast<double>(rows) / flush_rows, "programs/flush", "");
    std::uint32_t least = ~0U;
    std::uint32_t most = 0;
    for (std::uint32_t block = 0; block < 256; ++block) {
        least = device.chip.erases(block) < least ? device.chip.erases(block) : least;
        most = device.chip.erases(block) > most ? device.chip.erases(block) : most;
    }
    figure("wear.flash." + name + suffix, std::to_string(most - least), "erases between most and least",
           std::to_string(least / 20 + 2).c_str());
    expect(most - least <= least / 20 + 2, "wear is not level");
    expect_no_violation(device);
}

// Mounts the device again. No file may be open on it: a driver refuses to mount while a file uses it.
void measure_mount(Device& device, const std::string& name, const std::string& suffix) {
    check(device.driver.mount(), "mount");
    figure("mount.flash." + name + suffix, std::to_string(device.driver.usage().mount_bytes), "bytes read", "");
    expect_no_violation(device);
}

void measure_steady(std::uint32_t flush_rows, std::uint32_t unit, const char* budget) {
    Device device(unit);
    const std::string suffix = named("", flush_rows, unit);
    measure_long(device, "steady", suffix, flush_rows, budget, [&] {
        Log log(device.driver, flush_rows);
        log.append("log", kRows);
        log.verify("log", kRows);
        return kRows;
    });
    measure_mount(device, "steady", suffix);
}

void measure_rolling(std::uint32_t flush_rows) {
    Device device(1);
    std::unique_ptr<Log> log;
    const std::string suffix = named("", flush_rows, 1);
    std::uint32_t count = kLife;
    const auto segment = [](std::uint32_t i) { return "segment" + std::to_string(i); };
    measure_long(device, "rolling", suffix, flush_rows, "", [&] {
        // Free space that is too small to be used again adds up, so the file is created anew now and then.
        const bool anew = count == kLife;
        if (anew) {
            log = nullptr;
            log = std::make_unique<Log>(device.driver, flush_rows);
            log->append("fixed", kSegment);
            count = 0;
        }
        if (count >= kSegments) {
            log->remove(segment(count - kSegments));
        }
        log->append(segment(count++), kSegment);
        log->verify("fixed", kSegment);
        return anew ? 2 * kSegment : kSegment;
    });
    log = nullptr;
    measure_mount(device, "rolling", suffix);
}

void measure() {
    static constexpr std::uint32_t kFlushRows[] = {1, 16, 64};
    static constexpr const char* kBudgets[] = {"4", "1.3", "1.1"};
    for (unsigned i = 0; i < 3; ++i) {
        for (const std::uint32_t unit : {1U, 4U}) {
            measure_first(kFlushRows[i], unit, kBudgets[i]);
            measure_steady(kFlushRows[i], unit, kBudgets[i]);
        }
        measure_rolling(kFlushRows[i]);
    }
}

}  // namespace

int main() { return measured::report("flash_written", measure); }
