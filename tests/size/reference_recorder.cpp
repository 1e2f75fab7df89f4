// Measures what a recorder costs: the reference workload (reference.hpp), recorded into the file of a blueprint. It is
// built in these ways; the figures are differences of images:
//   (nothing)                  one dataset: open, append, flush
//   H5MOTE_REFERENCE_WHOLE     two datasets more, in groups, a setting, and close
//   H5MOTE_REFERENCE_EMPTY     without a recorder
//
// clang-format off
//   reference_recorder rows [FILE]      prints the deepest stack of two sessions
//   reference_recorder append1 [FILE]   1000 appends of one row between the markers of toolchains/count-insns
//   reference_recorder flush [FILE]     1000 flushes of one row each between the markers, without the driver
// clang-format on
//
// FILE, a file of the host, gets a copy of the HDF5 file.
#include "measure.hpp"
#include "reference.hpp"

#include <h5mote/port/stack.hpp>
#include <h5mote/recorder.hpp>

extern "C" {
__attribute__((naked, noinline)) inline void h5mote_count_pause() { __asm__ volatile("bx lr"); }
__attribute__((naked, noinline)) inline void h5mote_count_resume() { __asm__ volatile("bx lr"); }
}

namespace {

using h5mote::Status;
using reference::kRows;
namespace blueprint = h5mote::blueprint;

// The program's own storage, which is the same in all images. Its code is the program's.
class Storage final : public h5mote::Driver {
public:
    h5mote::Capabilities capabilities() const noexcept override {
        h5mote::Capabilities capabilities;
        capabilities.atomic_unit = 512;
        return capabilities;
    }
    Status read(h5mote::Usage /*usage*/, std::uint64_t address, h5mote::Bytes to) noexcept override {
        h5mote_count_pause();
        for (std::size_t i = 0; i < to.size(); ++i) {
            to[i] = bytes_[address + i];
        }
        h5mote_count_resume();
        return Status::ok;
    }
    Status write(h5mote::Usage /*usage*/, std::uint64_t address, h5mote::ConstBytes from) noexcept override {
        h5mote_count_pause();
        const Status status = truncate(address + from.size() > size_ ? address + from.size() : size_);
        for (std::size_t i = 0; i < from.size() && status == Status::ok; ++i) {
            bytes_[address + i] = from[i];
        }
        h5mote_count_resume();
        return status;
    }
    Status sync() noexcept override { return Status::ok; }
    Status end_of_file(std::uint64_t& size) noexcept override {
        size = size_;
        return Status::ok;
    }
    Status truncate(std::uint64_t size) noexcept override {
        if (size > sizeof bytes_) {
            return Status::no_space;
        }
        size_ = static_cast<std::size_t>(size);
        return Status::ok;
    }
    h5mote::ConstBytes contents() const noexcept { return {bytes_, size_}; }
    void clear() noexcept { size_ = 0; }

private:
    std::byte bytes_[40 * 1024];
    std::size_t size_ = 0;
};

Storage storage;
reference::Sample rows[kRows];

constexpr blueprint::FileOptions kOptions{4, false};
#ifdef H5MOTE_REFERENCE_WHOLE
struct Health {
    std::uint32_t free_bytes;
    std::uint32_t rows;
};
H5MOTE_COMPOUND(Health, free_bytes, rows)

constexpr auto kFile = blueprint::file(
    kOptions, blueprint::attribute("device", "reference"), blueprint::setting<std::uint32_t>("serial"),
    blueprint::dataset<reference::Sample>("imu", reference::kChunkRows, blueprint::attribute("units", "ms, raw, degC"),
                                          blueprint::attribute("rate_hz", std::uint32_t{250})),
    blueprint::group("state", blueprint::dataset<Health>("health", 32),
                     blueprint::dataset<std::uint64_t>("events", 16)));
#elif defined(H5MOTE_REFERENCE_FILTERS)
constexpr auto kFile =
    blueprint::file(kOptions, blueprint::dataset<reference::Sample>(reference::kPath, reference::kChunkRows,
                                                                    blueprint::shuffle(), blueprint::deflate()));
#else
constexpr auto kFile =
    blueprint::file(kOptions, blueprint::dataset<reference::Sample>(reference::kPath, reference::kChunkRows));
#endif

#ifdef H5MOTE_REFERENCE_EMPTY

Status part(std::uint32_t begin, std::uint32_t end) {
    h5mote::Driver* driver = &storage;
    __asm__ volatile("" : "+r"(driver));
    H5MOTE_TRY(driver->lock(true));
    std::uint64_t size = 0;
    (void)driver->capabilities();
    H5MOTE_TRY(driver->end_of_file(size));
    H5MOTE_TRY(driver->truncate(size));
    for (std::uint32_t i = begin; i < end; ++i) {
        H5MOTE_TRY(driver->write(h5mote::Usage::raw_data, 16 * i, {reinterpret_cast<std::byte*>(rows + i), 16}));
    }
    std::byte byte;
    H5MOTE_TRY(driver->read(h5mote::Usage::raw_data, 0, {&byte, 1}));
    H5MOTE_TRY(driver->sync());
    (void)driver->discard();
    return driver->unlock();
}
Status count(bool /*flush*/) { return part(0, kRows); }
void print_sizes() {}

#else

h5mote::Recorder<kFile> recorder;
constexpr std::size_t kImu = blueprint::dataset_number<kFile>("imu");

#ifdef H5MOTE_REFERENCE_WHOLE
constexpr std::size_t kHealth = blueprint::dataset_number<kFile>("state/health");
constexpr std::size_t kEvents = blueprint::dataset_number<kFile>("state/events");
Status append_others(std::uint32_t i) {
    H5MOTE_TRY(recorder.append<kHealth>({i, i}));
    return recorder.append<kEvents>(i);
}
Status begin_session() { return recorder.set<blueprint::setting_number<kFile>("", "serial")>(7); }
Status end_session() { return recorder.close(); }
#else
Status append_others(std::uint32_t /*i*/) { return Status::ok; }
Status begin_session() { return Status::ok; }
Status end_session() {
    const Status status = recorder.flush();
    recorder.abandon();
    return status;
}
#endif

Status part(std::uint32_t begin, std::uint32_t end) {
    H5MOTE_TRY(recorder.open(storage));
    H5MOTE_TRY(begin_session());
    if (recorder.rows<kImu>() != begin) {
        return Status::corrupt_file;
    }
    for (std::uint32_t i = begin; i < end; ++i) {
        H5MOTE_TRY(recorder.append<kImu>(rows[i]));
        if ((i + 1) % 100 == 0) {
            H5MOTE_TRY(append_others(i));
            H5MOTE_TRY(recorder.flush());
        }
    }
    return end_session();
}

// Between the markers, all rows are appended, and full chunks are written; or each row is appended and flushed, and the
// flushes are between the markers.
Status count(bool flush) {
    H5MOTE_TRY(recorder.open(storage));
    Status status = Status::ok;
    if (flush) {
        for (std::uint32_t i = 0; i < kRows && status == Status::ok; ++i) {
            status = recorder.append<kImu>(rows[i]);
            if (status == Status::ok && i % reference::kChunkRows != 0) {
                h5mote_count_begin();
                status = recorder.flush();
                h5mote_count_end();
            }
        }
    } else {
        h5mote_count_begin();
        for (std::uint32_t i = 0; i < kRows && status == Status::ok; ++i) {
            status = recorder.append<kImu>(rows[i]);
        }
        h5mote_count_end();
    }
    H5MOTE_TRY(status);
    return end_session();
}

void print_sizes() {
    measure::print("object", sizeof recorder);
    measure::print("chunk", reference::kChunkBytes);
}

#endif

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
    } else if (measure::same(what, "append1") || measure::same(what, "flush")) {
        status = count(measure::same(what, "flush"));
    }
    print_sizes();
    measure::print("filesize", static_cast<std::uint32_t>(storage.contents().size()));
    if (argc > 2 && !measure::save(argv[2], storage.contents())) {
        status = Status::io_error;
    }
    if (status != Status::ok) {
        measure::print("status", static_cast<std::uint32_t>(status));
    }
    return status == Status::ok ? 0 : 1;
}
