// H5FD - the rules that keep what was flushed at every power cut, in one place, so that tests can leave one of them
// out.
#pragma once

#include <h5mote/config.hpp>
#include <h5mote/flash_recorder.hpp>

#include "checksum.hpp"
#include "cursor.hpp"

namespace h5mote {

enum class RecordingRule : std::uint8_t {
    none,
    erase_first,    // a block is erased before use, whatever it looks like
    checksum_head,  // a block belongs to the log only if its head's checksum fits
    checksum,       // a frame counts only if its checksum does
    leave_block,    // after open() nothing is added to the block where the log ended: a program there may have been cut
    copy_last,      // the last frame that open() found is written again, for its program may have been cut
    skip_rest,      // a new block says where the log ended in the block before: what follows there never comes back
    recipe_first,   // frames of a new segment count only together with the blueprint
    rows_first      // a blueprint counts only together with frames of its segment
};
// A build for tests leaves one of them out. Each program in tests/powercut that is built without a rule must see
// losses.
constexpr bool keep(RecordingRule rule) noexcept { return rule != RecordingRule::H5MOTE_TEST_OMIT; }

// Between the byte order of the log and that of this machine.
inline void turn(RecordingHead& head) noexcept {
    if constexpr (kNativeOrder == ByteOrder::big) {
        auto* const bytes = reinterpret_cast<std::byte*>(&head);
        for (std::size_t i = 0; i < sizeof head; i += 4) {
            const auto word = load_le<std::uint32_t>(bytes + i);
            std::memcpy(bytes + i, &word, sizeof word);
        }
    }
}

// Bytes of the head that its checksum covers.
inline constexpr std::size_t kRecordingHeadSummed = sizeof(RecordingHead) - 4;

// `unit` is a power of two.
constexpr std::uint32_t round_up(std::uint32_t value, std::uint32_t unit) noexcept {
    return (value + unit - 1) & ~(unit - 1);
}

}  // namespace h5mote
