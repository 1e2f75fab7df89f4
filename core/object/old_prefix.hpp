// The two fields that count in the prefix of a version 1 object header: its messages and the hard links to the object.
#pragma once

#include "header.hpp"

namespace h5mote {

/// Brings the number of messages in the prefix of a version 1 header up to date, after messages were added, moved or
/// removed. No reader needs that number, so that an error or a power cut may leave the old one.
H5MOTE_STEP void count_messages(FileState& file, Address header, Phase phase) noexcept;

/// Adds `change`, which is -1, 0 or 1, to the number of hard links in the prefix of a version 1 header, and returns the
/// new number in `count`. Other headers: nothing is done, and `old` is false. overflow, corrupt_file: as next_count().
H5MOTE_STEP Status change_old_count(FileState& file, Address header, int change, std::uint32_t& count,
                                    bool& old) noexcept;

/// Adds `change`, 1 or -1, to a number of hard links. overflow, corrupt_file: there is no such number.
Status next_count(Context& context, Address header, int change, std::uint32_t& count) noexcept;

/// When the new number is written: one more before the new link, one less after the link is gone.
constexpr Phase phase_of_count(int change) noexcept { return change > 0 ? Phase::index : Phase::object; }

}  // namespace h5mote
