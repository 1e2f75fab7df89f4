// Fuzzes a FlashRecorder's chip: `h5mote extract` makes files of whatever it holds, and the recorder opens it, appends,
// sets, flushes and closes. Neither reads or programs anything that is not there, and what is refused stays as it is.
#include "recorded_chips.hpp"
#include "repair.hpp"

#include "../../examples/cli/flash_recording.hpp"

#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

namespace {

using namespace h5mote;
using namespace h5mote_test;
using cli::FlashRecording;

constexpr std::size_t kLargestFile = std::size_t{1} << 18;

// Corrects the checksums of heads, of the settings behind them, and of frames, as far as they follow each other.
bool repair_block(Bytes block, std::uint32_t settings, std::uint32_t granule) noexcept {
    bool any = false;
    const auto mend = [&](std::size_t at, std::size_t size, std::uint32_t seed) {
        if (at + size + 4 <= block.size() &&
            load_le<std::uint32_t>(block.data() + at + size) != lookup3({block.data() + at, size}, seed)) {
            store_le(block.data() + at + size, lookup3({block.data() + at, size}, seed));
            any = true;
        }
    };
    constexpr std::size_t kSummed = sizeof(RecordingHead) - 4;
    if (block.size() < 512 || load_le<std::uint32_t>(block.data()) != RecordingHead::kMagic) {
        return false;
    }
    mend(0, kSummed, 0);
    const auto sequence = load_le<std::uint32_t>(block.data() + offsetof(RecordingHead, sequence));
    if (settings != 0) {
        mend(sizeof(RecordingHead), settings, sequence);
    }
    std::size_t at = sizeof(RecordingHead) + (settings == 0 ? 0 : settings + 4);
    for (at = (at + granule - 1) / granule * granule; at + RecordingFrame::kSmallest <= block.size();) {
        const std::size_t size = load_le<std::uint16_t>(block.data() + at);
        if (block[at + 3] != std::byte{RecordingFrame::kMark} || size < RecordingFrame::kSmallest) {
            break;
        }
        mend(at, size - RecordingFrame::kChecksum, sequence);
        at += (size + granule - 1) / granule * granule;
    }
    return any;
}

void extract(FuzzedDevice& device, bool join) noexcept {
    FlashRecording recording;
    if (!recording.read(device)) {
        return;
    }
    MallocAllocator storage;
    {
        GrowingMemoryDriver driver(storage, kLargestFile);
        (void)write_recording(recording, {join}, driver);
    }
    if (storage.blocks() != 0) {
        h5mote_fuzz::fail();
    }
}

// Appends, sets and flushes a little, as the seed says.
void record(AnyFlashRecorder& recorder, std::uint32_t seed) {
    const AnyFlashRecorder::Facts& facts = recorder.facts();
    const Blob bytes(256, std::byte{0x5a});
    for (unsigned round = 0; round < 3; ++round) {
        for (std::size_t i = 0; i < facts.rows.size(); ++i) {
            for (std::uint32_t rows = seed >> (round + i) & 31; rows > 0; --rows) {
                (void)recorder.append(i, bytes.data());
            }
        }
        if (!facts.settings.empty() && (seed >> round & 1) != 0) {
            (void)recorder.set(0, bytes.data());
        }
        (void)recorder.base().flush();
    }
    seed % 3 == 0 ? recorder.base().abandon() : (void)recorder.base().close();
}

}  // namespace

bool h5mote_fuzz::play(Bytes input, bool repair) noexcept {
    if (input.empty()) {
        return false;
    }
    const FuzzedChip& chip = kFuzzedChips[static_cast<std::size_t>(input[0]) % std::size(kFuzzedChips)];
    static std::unique_ptr<AnyFlashRecorder> recorders[std::size(kFuzzedChips)];
    std::unique_ptr<AnyFlashRecorder>& recorder = recorders[&chip - kFuzzedChips];
    if (!recorder) {
        recorder = chip.make();
    }
    const Bytes contents(input.data() + 1, input.size() - 1);
    FuzzedDevice device(chip.geometry, contents);
    const Blob before = device.contents();
    bool has_head = false;
    for (std::size_t at = 0; at < before.size(); at += chip.geometry.block_size) {
        FlashGeometry geometry;
        has_head = has_head || FlashRecording::identify({before.data() + at, chip.geometry.block_size}, geometry);
    }
    const std::uint32_t seed = lookup3(contents);
    extract(device, seed % 2 == 0);
    device.reads = 0;
    const Status status = recorder->open(device);
    const std::size_t granules = static_cast<std::size_t>(chip.geometry.capacity()) / 4;
    const bool is_begun = device.changes != 0;
    if (device.reads > 3 * granules || recorder->base().is_open() != (status == Status::ok) ||
        (is_begun && status != Status::ok) || (!is_begun && device.contents() != before)) {
        fail();
    }
    if (status == Status::ok) {
        record(*recorder, seed);
        // What was begun on a chip without a recording is sound.
        FlashRecording recording;
        if (is_begun && !has_head && !(recording.read(device) && recording.damages().empty())) {
            fail();
        }
        extract(device, seed % 2 != 0);
    }
    if (device.is_misused) {
        fail();
    }
    bool repaired = false;
    for (std::size_t at = 0; repair && at + chip.geometry.block_size <= contents.size();
         at += chip.geometry.block_size) {
        repaired = repair_block({contents.data() + at, chip.geometry.block_size},
                                static_cast<std::uint32_t>(recorder->facts().values.size()),
                                std::max(chip.geometry.program_unit, 4U)) ||
                   repaired;
    }
    return repaired;
}

void h5mote_fuzz::repair_superblock(Bytes /*input*/) noexcept {}
