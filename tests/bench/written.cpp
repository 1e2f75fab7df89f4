// Measures the bytes and syncs that reach the storage for every byte that is logged, and the file size, memory and
// allocations of the reference workload. All bytes from File::create() to the closed file are counted.
//
//   written   writes $H5MOTE_REPORT_DIR/figures.d/written.tsv
//
// Records of 64 bytes, chunks of 64 rows, a flush after every 1, 16 or 64 records. `posix`: in a file, where the
// counting driver sees every call of the core; below it sync() does nothing, since waiting for a disk 8,000 times would
// measure the disk. `journal`: through a journal, whose file and log are in memory and are counted together.
#include "workloads.hpp"

#include "counting_driver.hpp"
#include "measured_log.hpp"
#include "test_allocators.hpp"

#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/journal.hpp>
#include <h5mote/vfd/memory.hpp>
#include <h5mote/vfd/posix.hpp>

namespace {

using namespace measured;

constexpr std::uint32_t kRows = 8192;
constexpr char kFile[] = "written.h5";

class UnsyncedDriver final : public h5mote_test::ForwardingDriver {
public:
    using ForwardingDriver::ForwardingDriver;
    Status sync() noexcept override { return Status::ok; }
};

struct Written {
    std::uint64_t bytes;   // bytes written from creating to closing the file
    std::uint64_t syncs;   // syncs while records were appended and flushed
    std::uint64_t rest;    // syncs before and after that
    std::uint64_t writes;  // writes from creating to closing the file
};

// Logs kRows records to a new file. Returns the number of syncs while records were appended and flushed.
std::uint64_t log_records(h5mote_test::CountingDriver& driver, h5mote::Allocator& allocator, std::uint32_t flush_rows) {
    h5mote::NullPort port;
    h5mote::Library library(allocator, port);
    h5mote::FileAccess access;
    access.metadata_cache = 2048;
    access.chunk_cache = 64 * sizeof(Record);
    auto file = h5mote::File::create(library, driver, access);
    check(file.status(), "create");
    auto log = file->root().create_dataset<Record>("log", reference::kLayout);
    check(log.status(), "create dataset");
    check(file->flush(), "flush");
    const std::uint64_t before = driver.syncs();
    append_records(*file, *log, kRows, flush_rows);
    const std::uint64_t syncs = driver.syncs() - before;
    check(file->close(), "close");
    return syncs;
}

// Logs through a counting driver, from creating to closing the file.
Written write_log(h5mote::Driver& storage, std::uint32_t flush_rows) {
    h5mote_test::CountingDriver driver(storage);
    h5mote::MallocAllocator allocator;
    const std::uint64_t syncs = log_records(driver, allocator, flush_rows);
    expect(allocator.blocks() == 0, "memory was not released");
    const h5mote_test::DriverCounts total = driver.total();
    return {total.bytes_written, syncs, driver.syncs() - syncs, total.writes};
}

void verify_log(h5mote::Driver& driver) {
    h5mote::MallocAllocator allocator;
    h5mote::NullPort port;
    h5mote::Library library(allocator, port);
    auto file = h5mote::File::open(library, driver);
    check(file.status(), "open");
    verify_records(*file, "log", kRows);
}

void measure_log(std::uint32_t flush_rows, const char* written_budget) {
    h5mote::PosixDriver posix;
    check(posix.open(kFile, h5mote::PosixDriver::Mode::truncate), "open file");
    UnsyncedDriver unsynced(posix);
    const Written written = write_log(unsynced, flush_rows);
    verify_log(posix);
    check(posix.close(), "close file");

    h5mote::MallocAllocator allocator;
    h5mote::GrowingMemoryDriver memory(allocator);
    const Written in_memory = write_log(memory, flush_rows);
    expect(in_memory.bytes == written.bytes && in_memory.syncs == written.syncs, "memory and posix drivers differ");

    const std::string suffix = "." + std::to_string(flush_rows);
    const double payload = double{sizeof(Record)} * kRows;
    const double flushes = double{kRows} / flush_rows;
    figure("written.posix" + suffix, decimal(static_cast<double>(written.bytes) / payload, 4), "bytes/byte",
           written_budget);
    figure("syncs.posix" + suffix, decimal(static_cast<double>(written.syncs) / flushes, 3), "syncs/flush", "2");
    figure("writes.posix" + suffix, decimal(static_cast<double>(written.writes) / flushes, 3), "writes/flush", "");
    if (flush_rows == 64) {
        figure("syncs.posix.rest", std::to_string(written.rest), "syncs to create and close", "");
        figure("filesize.log64", std::to_string(std::filesystem::file_size(kFile)), "bytes", "");
    }
}

// The same through a journal with default options. Counts the bytes, syncs and writes that reach file and log together.
void measure_journal(std::uint32_t flush_rows) {
    h5mote::MallocAllocator memory;
    h5mote::GrowingMemoryDriver file(memory);
    h5mote::GrowingMemoryDriver journal_file(memory);
    h5mote_test::CountingDriver home(file);
    h5mote_test::CountingDriver log(journal_file);
    alignas(8) std::byte work[h5mote::JournalDriver::required_memory()];
    h5mote::JournalDriver journal(home, log, work);
    check(journal.open(), "open journal");
    h5mote::MallocAllocator allocator;
    const std::uint64_t before = home.syncs() + log.syncs();
    h5mote_test::CountingDriver driver(journal);
    (void)log_records(driver, allocator, flush_rows);
    const std::uint64_t syncs = home.syncs() + log.syncs() - before;
    check(journal.close(), "close journal");
    verify_log(file);
    const std::string suffix = "." + std::to_string(flush_rows);
    const double payload = double{sizeof(Record)} * kRows;
    const double flushes = double{kRows} / flush_rows;
    const std::uint64_t bytes = home.total().bytes_written + log.total().bytes_written;
    figure("written.journal" + suffix, decimal(static_cast<double>(bytes) / payload, 4), "bytes/byte", "");
    figure("syncs.journal" + suffix, decimal(static_cast<double>(syncs) / flushes, 3), "syncs/flush", "2");
    figure("writes.journal" + suffix,
           decimal(static_cast<double>(home.total().writes + log.total().writes) / flushes, 3), "writes/flush", "");
}

struct Reference {
    std::uintmax_t file_size;
    std::size_t peak;
    std::uint64_t allocations;
};

// Runs the reference workload in as many sessions as `ends` has elements; session i appends up to row ends[i].
Reference write_reference(std::uint8_t sizeof_addr, std::initializer_list<std::uint32_t> ends,
                          std::uint32_t flush_rows) {
    const std::string path = "reference.h5";
    h5mote::PosixDriver driver;
    check(driver.open(path.c_str(), h5mote::PosixDriver::Mode::truncate), "open file");
    UnsyncedDriver unsynced(driver);
    h5mote::MallocAllocator malloc;
    h5mote_test::FailingAllocator allocator(malloc);  // for its counter only
    h5mote::NullPort port;
    h5mote::Library library(allocator, port);
    library.set_free_list_limits({0, 0});  // so that the peak has no released blocks that lie in free lists
    const auto rows = bench::make_rows(reference::kRows);
    for (const std::uint32_t end : ends) {
        auto file =
            h5mote::File::open_or_create(library, unsynced, reference::kAccess, reference::file_create(sizeof_addr));
        check(file.status(), "open");
        auto log = file->root().open_or_create_dataset<reference::Sample>(reference::kPath, reference::kLayout);
        check(log.status(), "open dataset");
        for (auto i = static_cast<std::uint32_t>(log->size()); i < end; ++i) {
            check(log->append(rows[i]), "append");
            if ((i + 1) % flush_rows == 0) {
                check(file->flush(), "flush");
            }
        }
        check(file->close(), "close");
    }
    check(driver.close(), "close file");
    expect(malloc.blocks() == 0, "memory was not released");

    const auto libhdf5 = bench::make_libhdf5();
    std::vector<reference::Sample> back(reference::kRows);
    libhdf5->begin_read(path, bench::Storage::file);
    libhdf5->read(back.data(), back.size(), 1);
    libhdf5->end_read();
    expect(std::memcmp(back.data(), rows.data(), rows.size() * sizeof rows[0]) == 0, "libhdf5 reads other values");
    return {std::filesystem::file_size(path), malloc.usage().peak, allocator.calls()};
}

void measure_reference() {
    constexpr std::uint32_t kNever = reference::kRows + 1;
    const Reference plain = write_reference(4, {reference::kRows}, kNever);
    figure("filesize.reference", std::to_string(plain.file_size), "bytes", "17000");
    figure("ram.reference.host", std::to_string(plain.peak), "bytes, chunk included", "");
    figure("ram.reference.host.allocations", std::to_string(plain.allocations), "allocations", "");
    figure("filesize.reference.addr8", std::to_string(write_reference(8, {reference::kRows}, kNever).file_size),
           "bytes", "");
    // As on a device: flushed after every 100 rows, closed half way, and continued.
    const Reference continued = write_reference(4, {reference::kRows / 2, reference::kRows}, 100);
    figure("filesize.reference.continued", std::to_string(continued.file_size), "bytes", "");
}

void measure() {
    measure_log(1, "1.4");
    measure_log(16, "1.1");
    measure_log(64, "1.05");
    for (const std::uint32_t flush_rows : {1U, 16U, 64U}) {
        measure_journal(flush_rows);
    }
    measure_reference();
}

}  // namespace

int main() { return measured::report("written", measure); }
