// rotation_check ROTATIONS: logs that rotate on a board's storage, with an arena of 8 KiB. Three logs fill 80 % of a
// part of the storage; each gets a session of its own, and every third session is ended by a power cut at another call
// of the driver. All rows of all logs are read back after each.
#include "rotation_part.hpp"

#include "forwarding_driver.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/port/semihosting.hpp>

#include <cstdlib>

namespace {

using h5mote::Status;
using h5mote::semihosting::print;

struct Row {
    std::uint32_t log;
    std::uint32_t number;
    std::uint32_t values[2];
};
H5MOTE_COMPOUND(Row, log, number, values)

constexpr std::uint32_t kChunk = 16;
alignas(8) std::byte memory[8 * 1024];

Row row_of(std::uint32_t log, std::uint32_t number) { return {log, number, {number * 2654435761U, ~number}}; }

const char* name_of(std::uint32_t log) {
    constexpr const char* kNames[] = {"log0", "log1", "log2", "log3"};
    return kNames[log % 4];
}

// A storage whose calls fail from some call on.
class Switched final : public h5mote_test::ForwardingDriver {
public:
    Switched(h5mote::Driver& inner, std::uint32_t calls) noexcept : ForwardingDriver(inner), left_(calls) {}

    bool failed() const noexcept { return left_ == 0; }
    Status read(h5mote::Usage usage, std::uint64_t address, h5mote::Bytes to) noexcept override {
        return failed() ? Status::io_error : ForwardingDriver::read(usage, address, to);
    }
    Status write(h5mote::Usage usage, std::uint64_t address, h5mote::ConstBytes from) noexcept override {
        return spend() ? ForwardingDriver::write(usage, address, from) : Status::io_error;
    }
    Status sync() noexcept override { return spend() ? ForwardingDriver::sync() : Status::io_error; }
    Status truncate(std::uint64_t size) noexcept override {
        return spend() ? ForwardingDriver::truncate(size) : Status::io_error;
    }

private:
    bool spend() noexcept {
        left_ -= left_ != 0 ? 1U : 0U;
        return !failed();
    }

    std::uint32_t left_;
};

// Whether the log has just these rows.
Status verify(h5mote::Group& root, std::uint32_t log, std::uint32_t rows) {
    auto dataset = root.open_dataset<Row>(name_of(log));
    H5MOTE_TRY(dataset.status());
    if (dataset->size() != rows) {
        return Status::not_found;
    }
    for (std::uint32_t at = 0; at < rows; at += kChunk) {
        Row found[kChunk];
        const std::uint32_t count = rows - at < kChunk ? rows - at : kChunk;
        H5MOTE_TRY(dataset->read(h5mote::Selection::hyperslab({at}, {count}), h5mote::Span<Row>(found, count)));
        for (std::uint32_t i = 0; i < count; ++i) {
            const Row expected = row_of(log, at + i);
            if (found[i].log != log || found[i].number != at + i || found[i].values[0] != expected.values[0]) {
                return Status::corrupt_file;
            }
        }
    }
    return Status::ok;
}

Status fill_log(h5mote::File& file, std::uint32_t log, std::uint32_t rows) {
    h5mote::DatasetCreate layout;
    layout.chunk = {kChunk};
    auto dataset = file.root().open_or_create_dataset<Row>(name_of(log), layout);
    H5MOTE_TRY(dataset.status());
    for (auto i = static_cast<std::uint32_t>(dataset->size()); i < rows; ++i) {
        H5MOTE_TRY(dataset->append(row_of(log, i)));
        H5MOTE_TRY(i % 64 == 63 ? file.flush() : Status::ok);
    }
    return dataset->close();
}

// Deletes the oldest log, fills log `number` with what is missing and reads all logs. `end`: bytes of the file.
Status rotate(h5mote::Driver& storage, std::uint32_t number, std::uint32_t rows, std::uint64_t& end) {
    h5mote::Arena arena{memory};
    h5mote::NullPort port;
    h5mote::Library library{arena, port, {}, h5mote::formats::rotating};
    h5mote::FileAccess access;
    access.chunk_cache = kChunk * sizeof(Row);
    access.reclaim = true;
    h5mote::FileCreate create;
    create.persist_free_space = true;
    auto file = h5mote::File::open_or_create(library, storage, access, create);
    H5MOTE_TRY(file.status());
    auto root = file->root();
    if (root.exists(name_of(number + 1))) {
        H5MOTE_TRY(root.unlink(name_of(number + 1)));
        H5MOTE_TRY(file->flush());
    }
    H5MOTE_TRY(fill_log(*file, number, rows));
    H5MOTE_TRY(file->flush());
    for (std::uint32_t log = number < 2 ? 0 : number - 2; log <= number; ++log) {
        H5MOTE_TRY(verify(root, log, rows));
    }
    h5mote::FileInfo info;
    H5MOTE_TRY(file->info(info));
    end = info.end_of_address;
    return file->close();
}

void say(const char* what, std::uint64_t number) {
    print(what);
    print(" ");
    print(number);
    print("\n");
}

Status run(std::uint32_t rotations) {
    std::uint64_t capacity = 0;
    h5mote::Driver* storage = nullptr;
    H5MOTE_TRY(board::make_part(capacity));
    // A chunk of 256 bytes needs an address in its index; each log has headers and blocks of the index besides.
    const auto rows = static_cast<std::uint32_t>((capacity * 80 / 100 - 6144) / 3 / 17);
    std::uint32_t cuts = 0;
    std::uint64_t end = 0;
    for (std::uint32_t number = 0; number < rotations;) {
        // Some cuts come while the file is opened, others anywhere up to the end of the session.
        const bool cut = number % 3 == 2 && cuts <= number / 3;
        H5MOTE_TRY(board::start_part(storage));
        Switched switched(*storage, cut ? 1 + cuts * 37 % 120 : ~0U);
        const Status status = rotate(switched, number, rows, end);
        if (switched.failed()) {
            ++cuts;
        } else if (status != Status::ok) {
            say("rotation", number);
            return status;
        } else {
            ++number;
        }
    }
    say("capacity", capacity);
    say("rows of a log", rows);
    say("power cuts", cuts);
    say("bytes of the file", end);
    // On flash, addresses may lie beyond the capacity: pages that are free take no room.
    return cuts >= rotations / 6 && end <= capacity + capacity / 4 ? Status::ok : Status::over_budget;
}

}  // namespace

int main(int argc, char** argv) {
    const Status status = run(argc > 1 ? static_cast<std::uint32_t>(std::atoi(argv[1])) : 12);
    print(h5mote::to_string(status));
    print("\n");
    return static_cast<int>(status);
}
