// Measures the bytes and syncs that a recorder sends to the storage for every byte that is recorded, and the size of
// the reference file. All bytes from open() of a blank storage to the closed file are counted.
//
//   recorder_written   writes $H5MOTE_REPORT_DIR/figures.d/recorder_written.tsv
//
// Records of 64 bytes, chunks of 64 rows, a flush after every 1, 16 or 64 records, in memory: the recorder makes the
// same calls for every storage whose sync is a barrier.
#include "workloads.hpp"

#include "counting_driver.hpp"
#include "measured_log.hpp"

#include <h5mote/port/malloc.hpp>
#include <h5mote/recorder.hpp>
#include <h5mote/vfd/memory.hpp>
#include <h5mote/vfd/posix.hpp>

namespace {

using namespace measured;
namespace blueprint = h5mote::blueprint;

constexpr std::uint32_t kRows = 8192;
constexpr auto kLog = blueprint::file(blueprint::dataset<Record>("log", 64));
constexpr auto kReference = blueprint::file(
    blueprint::FileOptions{4, false}, blueprint::dataset<reference::Sample>(reference::kPath, reference::kChunkRows));

void verify_log(h5mote::Driver& driver) {
    h5mote::MallocAllocator allocator;
    h5mote::NullPort port;
    h5mote::Library library(allocator, port);
    auto file = h5mote::File::open(library, driver);
    check(file.status(), "open");
    verify_records(*file, "log", kRows);
}

void measure_log(std::uint32_t flush_rows, const char* budget) {
    h5mote::MallocAllocator memory;
    h5mote::GrowingMemoryDriver storage(memory);
    h5mote_test::CountingDriver driver(storage);
    static h5mote::Recorder<kLog> recorder;
    check(recorder.open(driver), "open");
    const std::uint64_t opening = driver.syncs();
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    for (std::uint32_t i = 0; i < kRows; ++i) {
        check(recorder.append<0>(record(i)), "append");
        if ((i + 1) % flush_rows == 0) {
            const std::uint64_t before = driver.syncs();
            check(recorder.flush(), "flush");
            last = driver.syncs() - before;
            first = first == 0 ? last : first;
        }
    }
    const std::uint64_t syncs = driver.syncs() - opening;
    check(recorder.close(), "close");
    const std::uint64_t rest = driver.syncs() - syncs;
    verify_log(storage);

    const std::string suffix = "." + std::to_string(flush_rows);
    const double payload = double{sizeof(Record)} * kRows;
    const double flushes = double{kRows} / flush_rows;
    figure("written.recorder.file" + suffix, decimal(static_cast<double>(driver.total().bytes_written) / payload, 4),
           "bytes/byte", budget);
    figure("syncs.recorder.file" + suffix, decimal(static_cast<double>(syncs) / flushes, 3),
           "syncs/flush, with those that place chunks", "");
    if (flush_rows == 1) {
        figure("syncs.recorder.file", std::to_string(last), "syncs of a flush that places no chunk", "2");
        figure("syncs.recorder.first", std::to_string(first), "syncs of the first flush", "4");
        figure("syncs.recorder.rest", std::to_string(rest), "syncs to create and close", "");
    }
}

// The reference workload; libhdf5 reads the file.
void measure_reference() {
    const std::string path = "recorder_reference.h5";
    const auto rows = bench::make_rows(reference::kRows);
    h5mote::PosixDriver driver;
    check(driver.open(path.c_str(), h5mote::PosixDriver::Mode::truncate), "open file");
    static h5mote::Recorder<kReference> recorder;
    check(recorder.open(driver), "open");
    for (const reference::Sample& row : rows) {
        check(recorder.append<0>(row), "append");
    }
    check(recorder.close(), "close");
    check(driver.close(), "close file");
    const auto libhdf5 = bench::make_libhdf5();
    std::vector<reference::Sample> back(reference::kRows);
    libhdf5->begin_read(path, bench::Storage::file);
    libhdf5->read(back.data(), back.size(), 1);
    libhdf5->end_read();
    expect(std::memcmp(back.data(), rows.data(), rows.size() * sizeof rows[0]) == 0, "libhdf5 reads other values");
    figure("filesize.recorder", std::to_string(std::filesystem::file_size(path)), "bytes", "17000");
}

void measure() {
    measure_log(1, "1.4");
    measure_log(16, "1.1");
    measure_log(64, "1.05");
    measure_reference();
}

}  // namespace

int main() { return measured::report("recorder_written", measure); }
