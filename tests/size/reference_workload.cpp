// Measures RAM, stack and instructions of the reference workload (reference.hpp) in the profile `logger`.
//
// clang-format off
//   reference_workload rows [FILE]      prints peaks of arena and stack, from creating the file to closing it once more
//   reference_workload append1 [FILE]   1000 appends of one row between the markers of toolchains/count-insns
//   reference_workload append64 [FILE]  the same rows, 64 at a time
// clang-format on
//
// FILE, a file of the host, gets a copy of the HDF5 file.
#include "measure.hpp"
#include "reference.hpp"

#include <h5mote/port/stack.hpp>
#include <h5mote/vfd/memory.hpp>

namespace {

using h5mote::Status;
using reference::kRows;

alignas(8) std::byte memory[8 * 1024];
std::byte storage[24 * 1024];
reference::Sample rows[kRows];

h5mote::Arena arena{memory};
h5mote::NullPort port;
h5mote::Library library{arena, port};
h5mote::MemoryDriver driver{storage};

Status part(std::uint32_t begin, std::uint32_t end) {
    auto file = h5mote::File::open_or_create(library, driver, reference::kAccess, reference::file_create(4));
    H5MOTE_TRY(file.status());
    auto log = file->root().open_or_create_dataset<reference::Sample>(reference::kPath, reference::kLayout);
    H5MOTE_TRY(log.status());
    if (log->size() != begin) {
        return Status::corrupt_file;
    }
    for (std::uint32_t i = begin; i < end; ++i) {
        H5MOTE_TRY(log->append(rows[i]));
        if ((i + 1) % 100 == 0) {
            H5MOTE_TRY(file->flush());
        }
    }
    return file->close();
}

// Between the markers, all rows are appended, and full chunks are written. Creating and closing the file is not
// counted.
Status count(std::uint32_t at_once) {
    auto file = h5mote::File::create(library, driver, reference::kAccess, reference::file_create(4));
    H5MOTE_TRY(file.status());
    auto log = file->root().create_dataset<reference::Sample>(reference::kPath, reference::kLayout);
    H5MOTE_TRY(log.status());
    H5MOTE_TRY(file->flush());
    Status status = Status::ok;
    h5mote_count_begin();
    if (at_once == 1) {
        for (std::uint32_t i = 0; i < kRows && status == Status::ok; ++i) {
            status = log->append(rows[i]);
        }
    } else {
        for (std::uint32_t i = 0; i < kRows && status == Status::ok; i += at_once) {
            status = log->append({rows + i, kRows - i < at_once ? kRows - i : at_once});
        }
    }
    h5mote_count_end();
    H5MOTE_TRY(status);
    return log->size() == kRows ? file->close() : Status::corrupt_file;
}

}  // namespace

int main(int argc, char** argv) {
    const char* const what = argc > 1 ? argv[1] : "";
    for (std::uint32_t i = 0; i < kRows; ++i) {
        reference::make_row(i, rows[i]);
    }
    Status status = Status::invalid_argument;
    if (measure::same(what, "rows")) {
        h5mote::paint_stack();
        const void* const here = h5mote::stack_pointer();
        status = part(0, kRows / 2);
        if (status == Status::ok) {
            status = part(kRows / 2, kRows);
        }
        measure::print("stack", static_cast<std::uint32_t>(h5mote::painted_stack_used(here)));
    } else if (measure::same(what, "append1") || measure::same(what, "append64")) {
        status = count(measure::same(what, "append1") ? 1 : 64);
    }
    measure::print("arena", static_cast<std::uint32_t>(arena.usage().peak));
    measure::print("left", static_cast<std::uint32_t>(arena.usage().now));
    measure::print("objects", sizeof arena + sizeof port + sizeof library + sizeof driver);
    measure::print("chunk", reference::kChunkBytes);
    measure::print("filesize", static_cast<std::uint32_t>(driver.contents().size()));
    if (argc > 2 && !measure::save(argv[2], driver.contents())) {
        status = Status::io_error;
    }
    if (status != Status::ok) {
        measure::print("status", static_cast<std::uint32_t>(status));
    }
    return status == Status::ok ? 0 : 1;
}
