// Measures what single calls cost on raw flash: rows of 64 bytes through a FlashDriver, on a simulated NOR chip of 1
// MiB with blocks of 4 KiB, in the profile `logger`.
//
//   reference_latency append PERIOD CHUNK FILE   the markers of toolchains/count-insns enclose each append(); flush()
//                                                after every PERIOD rows, chunks of CHUNK rows, up to 16
//   reference_latency flush PERIOD CHUNK FILE    the markers enclose each flush()
//
// Three files are created one after the other, with a mount after each, so that the index grows, the map is written,
// blocks are collected, and the log wraps around the chip. Instructions of the simulator are not counted. FILE gets a
// Call for each interval between the markers, in order. The program fails when a call takes more operations than
// FlashDriver::worst_case() had predicted before it.
#include "flash_simulator.hpp"
#include "measure.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/vfd/flash.hpp>

extern "C" {
__attribute__((naked, noinline)) inline void h5mote_count_pause() { __asm__ volatile("bx lr"); }
__attribute__((naked, noinline)) inline void h5mote_count_resume() { __asm__ volatile("bx lr"); }
}

namespace {

using h5mote::Bytes;
using h5mote::ConstBytes;
using h5mote::Status;

struct Sample {
    std::uint32_t t_ms;
    std::uint32_t values[15];
};
static_assert(sizeof(Sample) == 64);
H5MOTE_COMPOUND(Sample, t_ms, values)

constexpr std::uint32_t kRows = 11264;  // rows of a file, which fill 98 % of what the chip can hold
constexpr std::uint32_t kMostChunkRows = 16;
constexpr std::uint32_t kRounds = 3;
// The most that one append or flush gives to the driver: arguments of FlashDriver::worst_case().
constexpr std::uint32_t kMostWrites = 8;
constexpr std::uint32_t kMostBytes = 2048;

/// What a call took, and the most that was predicted for it. measure_latency.py reads this.
struct Call {
    std::uint32_t programs, programmed, reads, read, erases;
    std::uint32_t most_programs, most_programmed, most_reads, most_erases;
    std::uint32_t writes, written;
};

/// Passes calls on to the simulator, and pauses the count of instructions meanwhile.
class Chip final : public h5mote::FlashDevice {
public:
    explicit Chip(h5mote_test::FlashSimulator& simulator) noexcept : simulator_(simulator) {}
    h5mote::FlashGeometry geometry() const noexcept override { return simulator_.geometry(); }
    Status read(std::uint32_t block, std::uint32_t offset, Bytes to) noexcept override {
        h5mote_count_pause();
        const Status status = simulator_.read(block, offset, to);
        h5mote_count_resume();
        return status;
    }
    Status program(std::uint32_t block, std::uint32_t offset, ConstBytes from) noexcept override {
        h5mote_count_pause();
        const Status status = simulator_.program(block, offset, from);
        h5mote_count_resume();
        return status;
    }
    Status erase(std::uint32_t block) noexcept override {
        h5mote_count_pause();
        const Status status = simulator_.erase(block);
        h5mote_count_resume();
        return status;
    }

private:
    h5mote_test::FlashSimulator& simulator_;
};

/// Passes calls on to the flash driver, and counts writes, bytes and syncs.
class Flash final : public h5mote::Driver {
public:
    explicit Flash(h5mote::FlashDriver& inner) noexcept : inner_(inner) {}
    h5mote::Capabilities capabilities() const noexcept override { return inner_.capabilities(); }
    Status read(h5mote::Usage usage, std::uint64_t address, Bytes to) noexcept override {
        return inner_.read(usage, address, to);
    }
    Status write(h5mote::Usage usage, std::uint64_t address, ConstBytes from) noexcept override {
        ++writes;
        written += static_cast<std::uint32_t>(from.size());
        return inner_.write(usage, address, from);
    }
    Status sync() noexcept override {
        ++syncs;
        return inner_.sync();
    }
    Status end_of_file(std::uint64_t& size) noexcept override { return inner_.end_of_file(size); }
    Status truncate(std::uint64_t size) noexcept override {
        ++writes;
        return inner_.truncate(size);
    }
    Status release(h5mote::Usage usage, std::uint64_t address, std::uint64_t size) noexcept override {
        ++writes;
        return inner_.release(usage, address, size);
    }
    Status keep_room(std::uint32_t ranges, std::uint64_t bytes) noexcept override {
        return inner_.keep_room(ranges, bytes);
    }

    std::uint32_t writes = 0;
    std::uint32_t written = 0;
    std::uint32_t syncs = 0;

private:
    h5mote::FlashDriver& inner_;
};

constexpr h5mote_test::FlashSimulatorOptions kChip{{256, 4096, 256, 1, 0xff}};
alignas(8) std::byte storage[h5mote_test::FlashSimulator::required_memory(kChip.geometry)];
alignas(8) std::byte work[h5mote::FlashDriver::required_memory(kChip.geometry)];
alignas(8) std::byte memory[8 * 1024];
Call calls[kRows * kRounds];
std::uint32_t call_count = 0;

h5mote::Arena arena{memory};
h5mote::NullPort port;
h5mote::Library library{arena, port};
h5mote_test::FlashSimulator simulator{kChip, storage};
Chip chip{simulator};
h5mote::FlashDriver driver{chip, work};
Flash flash{driver};

std::uint32_t small(std::uint64_t value) noexcept { return static_cast<std::uint32_t>(value); }

// Whether the call took no more than was predicted.
bool within(const Call& call) noexcept {
    return call.programs <= call.most_programs && call.programmed <= call.most_programmed &&
           call.reads <= call.most_reads && call.erases <= call.most_erases && call.writes <= kMostWrites &&
           call.written <= kMostBytes && flash.syncs <= 1;
}

void print(const Call& call) noexcept {
    const auto* const numbers = reinterpret_cast<const std::uint32_t*>(&call);
    for (std::size_t i = 0; i < sizeof call / 4; ++i) {
        measure::print("call", numbers[i]);
    }
    measure::print("syncs", flash.syncs);
}

template <typename Do>
Status measured(Do&& call_it) noexcept {
    simulator.reset_counts();
    flash.writes = flash.written = flash.syncs = 0;
    const h5mote::FlashCost most = driver.worst_case(kMostWrites, kMostBytes);
    h5mote_count_begin();
    const Status status = call_it();
    h5mote_count_end();
    const h5mote_test::FlashCounts& counts = simulator.counts();
    Call& call = calls[call_count++];
    call = {small(counts.programs), small(counts.bytes_programmed),
            small(counts.reads),    small(counts.bytes_read),
            small(counts.erases),   small(most.programs),
            small(most.programmed), small(most.reads),
            small(most.erases),     flash.writes,
            flash.written};
    if (status == Status::ok && (!within(call) || counts.violations != 0)) {
        print(call);
        return Status::over_budget;
    }
    return status;
}

void make_row(std::uint32_t i, Sample& row) noexcept {
    row.t_ms = 4 * i;
    for (std::uint32_t k = 0; k < 15; ++k) {
        row.values[k] = i * 0x9e3779b9U + k;
    }
}

std::uint32_t number(const char* text) noexcept {
    std::uint32_t value = 0;
    for (; *text != '\0'; ++text) {
        value = value * 10 + static_cast<std::uint32_t>(*text - '0');
    }
    return value;
}

Status log(bool appends, std::uint32_t period, std::uint32_t chunk_rows) {
    h5mote::FileAccess access;
    access.metadata_cache = 2048;
    access.chunk_cache = chunk_rows * sizeof(Sample);
    auto file = h5mote::File::create(library, flash, access);
    H5MOTE_TRY(file.status());
    h5mote::DatasetCreate layout;
    layout.chunk = {chunk_rows};
    auto rows = file->root().create_dataset<Sample>("log", layout);
    H5MOTE_TRY(rows.status());
    H5MOTE_TRY(file->flush());
    for (std::uint32_t i = 0; i < kRows; ++i) {
        Sample row;
        make_row(i, row);
        H5MOTE_TRY(appends ? measured([&] { return rows->append(row); }) : rows->append(row));
        if ((i + 1) % period == 0) {
            H5MOTE_TRY(appends ? file->flush() : measured([&] { return file->flush(); }));
        }
    }
    if (rows->size() != kRows) {
        return Status::corrupt_file;
    }
    return file->close();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 5) {
        return 2;
    }
    const bool appends = measure::same(argv[1], "append");
    const std::uint32_t period = number(argv[2]);
    const std::uint32_t chunk_rows = number(argv[3]);
    Status status =
        period == 0 || chunk_rows == 0 || chunk_rows > kMostChunkRows ? Status::invalid_argument : driver.format();
    for (std::uint32_t round = 0; round < kRounds && status == Status::ok; ++round) {
        status = log(appends, period, chunk_rows);
        if (status == Status::ok) {
            status = driver.mount();
        }
    }
    std::uint32_t erases = 0;
    for (std::uint32_t block = 0; block < kChip.geometry.blocks; ++block) {
        erases += simulator.erases(block);
    }
    measure::print("erases", erases);
    measure::print("status", static_cast<std::uint32_t>(status));
    const auto* const saved = reinterpret_cast<const std::byte*>(calls);
    return status == Status::ok && measure::save(argv[4], {saved, call_count * sizeof(Call)}) ? 0 : 1;
}
