// Records a flight in an HDF5 file. A recording in a CSV file takes the place of sensors. The same program runs on
// boards and hosts.

#include "console.hpp"
#include "decimal.hpp"
#include "flight_csv.hpp"
#include "machine.hpp"
#include "storage.hpp"
#include H5MOTE_LOGGER_RECORDER

#include <cstring>

namespace {

using h5mote::Status;
using logger::FlightCsv;
using logger::Line;

logger::Recorder recorder;
FlightCsv csv;

struct Options {
    const char* csv = nullptr;
    logger::StorageOptions storage;
    logger::RecorderOptions recorder;
    std::uint64_t rows = ~std::uint64_t{0};
    std::uint64_t flush_rows = logger::kImuChunk;
    bool acks = false;
};
Options options;
logger::ImuRow row;
std::uint64_t count = 0;  // rows of this run

// Functions that print are not inlined: their text buffers must not take up stack while the library's functions run.
#define LOGGER_APART [[gnu::noinline]]

constexpr int kUsage = 2;

LOGGER_APART int usage() noexcept {
    Line{Line::To::errors} << "usage: logger --csv FILE " << logger::kStorageUsage << " [--rows N] [--flush-rows N]"
                           << (logger::Recorder::kCanCompress ? " [--compress]" : "")
                           << (logger::Recorder::kCanScale ? " [--scale]" : "") << " [--acks]";
    return kUsage;
}

bool parse(int argc, char** argv) noexcept {
    for (int i = 1; i < argc; ++i) {
        const char* const name = argv[i];
        if (std::strcmp(name, "--compress") == 0) {
            options.recorder.compress = true;
        } else if (logger::Recorder::kCanScale && std::strcmp(name, "--scale") == 0) {
            options.recorder.scale = true;
        } else if (std::strcmp(name, "--acks") == 0) {
            options.acks = true;
        } else if (std::strcmp(name, "--format") == 0) {
            options.storage.format = options.recorder.format = true;
        } else if (++i == argc) {
            return false;
        } else if (std::strcmp(name, "--csv") == 0) {
            options.csv = argv[i];
        } else if (std::strcmp(name, "--out") == 0) {
            options.storage.out = argv[i];
        } else if (std::strcmp(name, "--rows") == 0) {
            if (!logger::parse_unsigned(argv[i], options.rows)) {
                return false;
            }
        } else if (std::strcmp(name, "--flush-rows") != 0 || !logger::parse_unsigned(argv[i], options.flush_rows) ||
                   options.flush_rows == 0) {
            return false;
        }
    }
    return options.csv != nullptr && logger::storage_accepts(options.storage);
}

LOGGER_APART void acknowledge() noexcept { Line{} << "flushed " << recorder.rows(); }

LOGGER_APART void complain(const char* what) noexcept { Line{Line::To::errors} << options.csv << ": " << what; }

LOGGER_APART void complain_about_row() noexcept {
    Line{Line::To::errors} << options.csv << ":" << csv.line() << ": not a row";
}

// Templates, so that a recorder that does not know its file need not have what these print of it.
template <typename Recorder>
void report_rows(const Recorder& file) noexcept {
    Line line;
    line << "rows " << count;
    if constexpr (Recorder::kKnowsFile) {
        line << ", in the file " << file.rows();
    }
}

template <typename Recorder>
void report_file(const Recorder& file) noexcept {
    if constexpr (Recorder::kKnowsFile) {
        Line{} << "file " << file.file_size() << " bytes";
    }
}

LOGGER_APART void report_use(const char* what, std::size_t used, std::size_t size) noexcept {
    Line{} << what << used << " of " << size << " bytes";
}

LOGGER_APART void report(Status status) noexcept {
    report_rows(recorder);
    const logger::MemoryUse memory = recorder.memory();
    report_use("peak RAM ", memory.peak, memory.size);
    const logger::StackUse stack = logger::stack_use();
    if (stack.size != 0) {
        report_use("stack ", stack.used, stack.size);
    } else {
        Line{} << "stack not measured";
    }
    report_file(recorder);
    logger::report_storage();
    Line{} << "status " << to_string(status);
}

Status flush() noexcept {
    H5MOTE_TRY(recorder.flush());
    if (options.acks) {
        acknowledge();
    }
    return Status::ok;
}

// Appends the rows of the CSV file.
Status record() noexcept {
    std::uint64_t unflushed = 0;
    while (count < options.rows) {
        const FlightCsv::Outcome outcome = csv.next(row);
        if (outcome == FlightCsv::Outcome::end) {
            break;
        }
        if (outcome == FlightCsv::Outcome::malformed) {
            complain_about_row();
            return Status::invalid_argument;
        }
        if (outcome == FlightCsv::Outcome::io_error) {
            complain("cannot read");
            return Status::io_error;
        }
        h5mote_count_begin();
        Status status = recorder.add(row);
        if (status == Status::ok) {
            ++count;
            if (++unflushed == options.flush_rows) {
                unflushed = 0;
                status = flush();
            }
        }
        h5mote_count_end();
        H5MOTE_TRY(status);
    }
    return unflushed == 0 ? Status::ok : flush();
}

Status record_to(logger::Recorder::Storage& storage) noexcept {
    Status status = recorder.open(storage, options.recorder);
    if (status == Status::ok) {
        status = record();
    }
    // Close the file after an error, too: the rows that were flushed stay in it.
    const Status closed = recorder.close();
    return status == Status::ok ? closed : status;
}

Status run() noexcept {
    const FlightCsv::Outcome outcome = csv.open(options.csv);
    if (outcome == FlightCsv::Outcome::io_error) {
        complain("cannot read");
        return Status::io_error;
    }
    if (outcome != FlightCsv::Outcome::row) {
        complain("a column is missing in the first line");
        return Status::invalid_argument;
    }
    logger::Recorder::Storage* storage = nullptr;
    Status status = logger::open_storage(options.storage, storage);
    if (status == Status::ok) {
        status = record_to(*storage);
    }
    const Status closed = logger::close_storage(options.storage);
    return status == Status::ok ? closed : status;
}

}  // namespace

int main(int argc, char** argv) {
    if (!parse(argc, argv) || (options.recorder.compress && !logger::Recorder::kCanCompress)) {
        return usage();
    }
    const Status status = run();
    if (status != Status::ok) {
        recorder.print_errors();
    }
    report(status);
    return status == Status::ok ? 0 : 1;
}
