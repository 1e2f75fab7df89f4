// Measures what a FlashRecorder costs: the reference workload (reference.hpp), recorded on a flash chip. It is built in
// these ways; the figures are differences of images:
//   (nothing)                  one dataset: open, append, flush
//   H5MOTE_REFERENCE_WHOLE     two datasets more, in groups, a setting, and close
//   H5MOTE_REFERENCE_EMPTY     without a recorder
//
//   reference_flash_recorder rows       prints the deepest stack of two sessions
//   reference_flash_recorder append1    1000 appends of one row between the markers of toolchains/count-insns
//   reference_flash_recorder flush      1000 flushes of one row each between the markers, without the chip
#include "measure.hpp"
#include "reference.hpp"

#include <h5mote/flash_recorder.hpp>
#include <h5mote/port/stack.hpp>

extern "C" {
__attribute__((naked, noinline)) inline void h5mote_count_pause() { __asm__ volatile("bx lr"); }
__attribute__((naked, noinline)) inline void h5mote_count_resume() { __asm__ volatile("bx lr"); }
}

namespace {

using h5mote::Status;
using reference::kRows;
namespace blueprint = h5mote::blueprint;

// The program's own chip, which is the same in all images. Its code is the program's.
class Chip final : public h5mote::FlashDevice {
public:
    static constexpr h5mote::FlashGeometry kGeometry{10, 4096, 4096, 4, 0};
    h5mote::FlashGeometry geometry() const noexcept override { return kGeometry; }
    Status read(std::uint32_t block, std::uint32_t offset, h5mote::Bytes to) noexcept override {
        h5mote_count_pause();
        for (std::size_t i = 0; i < to.size(); ++i) {
            to[i] = bytes_[block * 4096 + offset + i];
        }
        h5mote_count_resume();
        return Status::ok;
    }
    Status program(std::uint32_t block, std::uint32_t offset, h5mote::ConstBytes from) noexcept override {
        h5mote_count_pause();
        for (std::size_t i = 0; i < from.size(); ++i) {
            bytes_[block * 4096 + offset + i] = from[i];
        }
        h5mote_count_resume();
        return Status::ok;
    }
    Status erase(std::uint32_t block) noexcept override {
        h5mote_count_pause();
        for (std::size_t i = 0; i < 4096; ++i) {
            bytes_[block * 4096 + i] = std::byte{0};
        }
        h5mote_count_resume();
        return Status::ok;
    }

private:
    std::byte bytes_[kGeometry.capacity()];
};

Chip chip;
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
#else
constexpr auto kFile =
    blueprint::file(kOptions, blueprint::dataset<reference::Sample>(reference::kPath, reference::kChunkRows));
#endif
constexpr std::uint32_t kWindow = 512;

#ifdef H5MOTE_REFERENCE_EMPTY

Status part(std::uint32_t begin, std::uint32_t end) {
    h5mote::FlashDevice* device = &chip;
    __asm__ volatile("" : "+r"(device));
    bool bad = false;
    H5MOTE_TRY(device->is_bad(0, bad));
    H5MOTE_TRY(device->mark_bad(0));
    H5MOTE_TRY(device->erase(device->geometry().blocks - 1));
    for (std::uint32_t i = begin; i < end; ++i) {
        H5MOTE_TRY(device->program(0, 0, {reinterpret_cast<std::byte*>(rows + i), 16}));
    }
    std::byte byte;
    return device->read(0, 0, {&byte, 1});
}
Status count(bool /*flush*/) { return part(0, kRows); }
void print_sizes() {}

#else

h5mote::FlashRecorder<kFile, kWindow> recorder;
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
    H5MOTE_TRY(recorder.open(chip));
    H5MOTE_TRY(begin_session());
    for (std::uint32_t i = begin; i < end; ++i) {
        H5MOTE_TRY(recorder.append<kImu>(rows[i]));
        if ((i + 1) % 100 == 0) {
            H5MOTE_TRY(append_others(i));
            H5MOTE_TRY(recorder.flush());
        }
    }
    return end_session();
}

// Between the markers, all rows are appended, and full frames are written; or each row is appended and flushed, and the
// flushes are between the markers.
Status count(bool flush) {
    H5MOTE_TRY(recorder.open(chip));
    Status status = Status::ok;
    if (flush) {
        for (std::uint32_t i = 0; i < kRows && status == Status::ok; ++i) {
            status = recorder.append<kImu>(rows[i]);
            if (status == Status::ok) {
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
    measure::print("window", kWindow);
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
    if (status != Status::ok) {
        measure::print("status", static_cast<std::uint32_t>(status));
    }
    return status == Status::ok ? 0 : 1;
}
