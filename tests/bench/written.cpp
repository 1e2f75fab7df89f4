// Bytes and syncs that reach the storage for every byte that is logged; file size, memory and allocations of the
// reference workload. Bytes: from File::create() to the closed file, nothing left out.
//
//   written   writes $H5MOTE_REPORT_DIR/figures.d/written.tsv
//
// Records of 64 bytes, chunks of 64 rows, durable after every 1, 16, 64 records; posix: in a file, journal: in a file
// with a journal, both counted. The counting driver sees every call of
// the core; below it sync() does nothing, since waiting for a disk 8,000 times would measure the disk.
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
    std::uint64_t bytes;   // from creating to closing
    std::uint64_t syncs;   // while records were appended and flushed
    std::uint64_t rest;    // syncs before and after that
    std::uint64_t writes;  // all
};

// How many syncs it took to make the records durable.
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

// One whole life of a log, through a counting driver.
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

// The same through a journal with its defaults: what reaches the file and the log together.
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

// The reference workload in as many sessions as `ends` has elements, the i-th one appending up to row ends[i].
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
    library.set_free_list_limits({0, 0});  // what is needed, not what lies idle
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
    // As a device has it: flushed every 100 rows, switched off half way, continued.
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
