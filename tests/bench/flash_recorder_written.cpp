// Measures the bytes that a FlashRecorder programs for every byte that is recorded, with the heads of blocks and the
// blueprint, and the programs of a flush. Wear, reads of open(), and the bytes of a ring that are there in the end.
//
//   flash_recorder_written   writes $H5MOTE_REPORT_DIR/figures.d/flash_recorder_written.tsv
//
// Records of 64 bytes, a flush after every 1, 16 or 64 records, on a simulated NOR flash of 1 MiB (blocks of 4 KiB,
// pages of 256 bytes, a program unit of one byte or of four) that refuses operations whose result a real chip leaves
// undefined. Without a ring until 6144 records stand there; with one of 8 segments until 100 times the chip was
// programmed.
#include "flash_recording.hpp"
#include "flash_simulator.hpp"
#include "measured_log.hpp"

#include <h5mote/flash_recorder.hpp>

#include <algorithm>

namespace {

using namespace measured;
namespace blueprint = h5mote::blueprint;

constexpr std::uint32_t kRows = 6144;
constexpr blueprint::FileOptions kSmall{4, false};
constexpr auto kLog = blueprint::file(kSmall, blueprint::dataset<Record>("log", 64));
constexpr auto kRing = blueprint::file(kSmall, blueprint::ring<Record, 8>("log", 64));

struct Device {
    explicit Device(std::uint32_t unit)
        : memory(h5mote_test::FlashSimulator::required_memory(geometry(unit)) / 8 + 1),
          chip(options(unit), {reinterpret_cast<std::byte*>(memory.data()), memory.size() * 8}) {}

    static h5mote::FlashGeometry geometry(std::uint32_t unit) { return {256, 4096, 256, unit, 0xff}; }
    static h5mote_test::FlashSimulatorOptions options(std::uint32_t unit) {
        h5mote_test::FlashSimulatorOptions result;
        result.geometry = geometry(unit);
        return result;
    }

    std::vector<std::uint64_t> memory;
    h5mote_test::FlashSimulator chip;
};

// Reads the log and compares all records in it; the last one is number `rows` - 1. Returns how many there are.
std::uint32_t verify(h5mote::FlashDevice& chip, std::uint32_t rows) {
    h5mote::cli::FlashRecording recording;
    expect(recording.read(chip) && recording.damages().empty(), "the log cannot be read");
    std::vector<Record> found;
    for (const auto& each : recording.rows()) {
        for (std::size_t at = 0; at < each.bytes.size(); at += sizeof(Record)) {
            found.emplace_back();
            std::memcpy(&found.back(), each.bytes.data() + at, sizeof(Record));
        }
    }
    const auto first = rows - static_cast<std::uint32_t>(found.size());
    for (std::uint32_t i = 0; i < found.size(); ++i) {
        const Record expected = record(first + i);
        expect(std::memcmp(&found[i], &expected, sizeof expected) == 0, "another record");
    }
    return static_cast<std::uint32_t>(found.size());
}

template <typename Recorder>
void append(Recorder& recorder, std::uint32_t first, std::uint32_t rows, std::uint32_t flush_rows) {
    for (std::uint32_t i = first; i < first + rows; ++i) {
        check(recorder.template append<0>(record(i)), "append");
        if ((i + 1) % flush_rows == 0) {
            check(recorder.flush(), "flush");
        }
    }
}

double programmed(const Device& device, std::uint32_t rows) {
    return static_cast<double>(device.chip.counts().bytes_programmed) / (double{sizeof(Record)} * rows);
}

void measure_log(std::uint32_t unit, std::uint32_t flush_rows, const char* budget) {
    Device device(unit);
    static h5mote::FlashRecorder<kLog> recorder;
    check(recorder.open(device.chip), "open");
    append(recorder, 0, kRows, flush_rows);
    check(recorder.close(), "close");
    expect(verify(device.chip, kRows) == kRows, "records are missing");
    expect(device.chip.counts().violations == 0, "the chip refused something");
    const std::string suffix = (unit == 1 ? ".unit1." : ".") + std::to_string(flush_rows);
    figure("written.recorder.flash" + suffix, decimal(programmed(device, kRows), 4), "bytes/byte", budget);
    figure("programs.recorder.flash" + suffix,
           decimal(static_cast<double>(device.chip.counts().programs) * flush_rows / kRows, 3), "programs/flush", "");
    const std::uint64_t reads = device.chip.counts().reads;
    const std::uint64_t bytes = device.chip.counts().bytes_read;
    check(recorder.open(device.chip), "open");
    check(recorder.close(), "close");
    if (flush_rows == 1 && unit == 4) {
        figure("syncs.recorder.flash", "1", "commit records of a flush", "1");
        figure("reads.recorder.flash.open", std::to_string(device.chip.counts().reads - reads), "reads of open()", "");
        figure("bytes.recorder.flash.open", std::to_string(device.chip.counts().bytes_read - bytes), "bytes", "");
    }
}

void measure_ring(std::uint32_t flush_rows) {
    Device device(4);
    static h5mote::FlashRecorder<kRing> recorder;
    check(recorder.open(device.chip), "open");
    std::uint32_t rows = 0;
    while (device.chip.counts().bytes_programmed < 100 * Device::geometry(4).capacity()) {
        append(recorder, rows, 1024, flush_rows);
        rows += 1024;
    }
    check(recorder.close(), "close");
    const std::uint32_t found = verify(device.chip, rows);
    expect(device.chip.counts().violations == 0, "the chip refused something");
    std::uint32_t least = ~0U;
    std::uint32_t most = 0;
    for (std::uint32_t i = 0; i < 256; ++i) {
        least = std::min(least, device.chip.erases(i));
        most = std::max(most, device.chip.erases(i));
    }
    const std::string suffix = "." + std::to_string(flush_rows);
    figure("written.recorder.flash.ring" + suffix, decimal(programmed(device, rows), 4), "bytes/byte", "");
    figure("wear.recorder.flash.ring" + suffix, std::to_string(most - least), "erases, most - least", "1");
    figure("kept.recorder.flash.ring" + suffix,
           decimal(double{sizeof(Record)} * found / static_cast<double>(Device::geometry(4).capacity()), 3),
           "bytes of records in the end, of the chip's", "");
}

void measure() {
    for (const std::uint32_t unit : {1U, 4U}) {
        measure_log(unit, 1, "1.5");
        measure_log(unit, 16, "1.1");
        measure_log(unit, 64, "1.05");
    }
    measure_ring(1);
    measure_ring(64);
}

}  // namespace

int main() { return measured::report("flash_recorder_written", measure); }
