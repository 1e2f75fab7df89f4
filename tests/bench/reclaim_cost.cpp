// Measures what finding lost space costs: reads of the storage for each MB of a file of logs, and the time that they
// take on this machine.
//
//   reclaim_cost   writes $H5MOTE_REPORT_DIR/figures.d/reclaim_cost.tsv
//
// Records of 64 bytes in chunks of 64 rows, ten datasets; the session that deletes an eleventh one is killed. The rows
// themselves are never written, so that the file takes little room on the disk. With the memory of a small machine: a
// metadata cache of 2048 bytes and 1024 bytes for the table of used space.
#include "measured_log.hpp"

#include "counting_driver.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/posix.hpp>

#include <chrono>

namespace {

using namespace measured;

constexpr char kFile[] = "reclaim_cost.h5";
constexpr std::uint32_t kLogs = 10;

/// Leaves out what is written of rows and, once the machine is dead, every change.
class SparseDriver final : public h5mote_test::ForwardingDriver {
public:
    using ForwardingDriver::ForwardingDriver;
    Status write(h5mote::Usage usage, std::uint64_t address, h5mote::ConstBytes from) noexcept override {
        return dead || usage == h5mote::Usage::raw_data ? Status::ok : ForwardingDriver::write(usage, address, from);
    }
    Status truncate(std::uint64_t size) noexcept override {
        return dead ? Status::ok : ForwardingDriver::truncate(size);
    }
    Status sync() noexcept override { return Status::ok; }

    bool dead = false;
};

h5mote::FileAccess access_of_loggers() {
    h5mote::FileAccess access;
    access.metadata_cache = 2048;
    access.chunk_cache = 64 * sizeof(Record);
    return access;
}

void append(h5mote::File& file, const std::string& name, std::uint32_t rows) {
    h5mote::DatasetCreate create;
    create.chunk = {64};
    auto log = file.root().create_dataset<Record>(name, create);
    check(log.status(), "create dataset");
    const std::vector<Record> records(64, record(0));
    for (std::uint32_t i = 0; i < rows; i += 64) {
        check(log->append({records.data(), records.size()}), "append");
    }
    check(log->close(), "close dataset");
    check(file.flush(), "flush");
}

void make(std::uint32_t megabytes) {
    h5mote::PosixDriver posix;
    check(posix.open(kFile, h5mote::PosixDriver::Mode::truncate), "open file");
    SparseDriver driver(posix);
    h5mote::MallocAllocator allocator;
    h5mote::NullPort port;
    h5mote::Library library(allocator, port);
    auto file = h5mote::File::create(library, driver, access_of_loggers());
    check(file.status(), "create");
    append(*file, "lost", 640);
    for (std::uint32_t i = 0; i < kLogs; ++i) {
        append(*file, "log" + std::to_string(i), megabytes * (1U << 20) / kLogs / sizeof(Record));
    }
    check(file->root().unlink("lost"), "unlink");
    check(file->flush(), "flush");
    driver.dead = true;
    check(file->close(), "close");
    check(posix.close(), "close file");
}

void measure_search(const h5mote::ReclaimFormat& format, const std::string& name, std::uint32_t megabytes,
                    const char* budget) {
    h5mote::PosixDriver posix;
    check(posix.open(kFile, h5mote::PosixDriver::Mode::read_write), "open file");
    h5mote_test::CountingDriver driver(posix);
    h5mote::MallocAllocator allocator;
    h5mote::NullPort port;
    h5mote::Formats formats = h5mote::formats::standard;
    formats.reclaim = &format;
    h5mote::Library library(allocator, port, {}, formats);
    auto file = h5mote::File::open(library, driver, access_of_loggers());
    check(file.status(), "open");
    const std::uint64_t before = driver.total().reads;
    const auto start = std::chrono::steady_clock::now();
    std::uint64_t bytes = 0;
    check(file->reclaim(&bytes), "reclaim");
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const double reads = static_cast<double>(driver.total().reads - before);
    expect(bytes >= 640 * sizeof(Record), "the space of the deleted log was not found");
    const std::string suffix = "." + std::to_string(megabytes);
    figure(name + ".reads_per_mb" + suffix, decimal(reads / megabytes, 2), "reads/MB", budget);
    figure(name + ".seconds" + suffix, decimal(seconds.count(), 4), "seconds", "");
    check(file->close(), "close");
    check(posix.close(), "close file");
}

void measure() {
    for (const std::uint32_t megabytes : {1U, 100U, 1024U}) {
        for (const bool any : {false, true}) {
            make(megabytes);
            measure_search(any ? h5mote::formats::reclaim_any : h5mote::formats::reclaim,
                           any ? "reclaim.any" : "reclaim", megabytes, "");
        }
    }
    std::filesystem::remove(kFile);
}

}  // namespace

int main() { return measured::report("reclaim_cost", measure); }
