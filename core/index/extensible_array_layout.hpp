// H5EA - where the statistics of an extensible array stand in its header, and how its super blocks are laid out.
// Specification VII.E.
#pragma once

#include <cstddef>
#include <cstdint>

namespace h5mote {

// The fields of the header's statistics, counted from kStatsOffset on; each has sizeof_size bytes. Super blocks and
// data blocks have two fields each: their number, then their bytes.
inline constexpr std::size_t kSuperBlockStats = 0;
inline constexpr std::size_t kDataBlockStats = 2;
inline constexpr std::size_t kHighestSet = 4;
inline constexpr std::size_t kRealized = 5;
inline constexpr std::size_t kStatsOffset = 12;

// The number of data blocks of super block u, and of all super blocks before it. Each data block of super block u has
// 2^length_shift(u) times as many elements as the shortest data blocks of the array.
constexpr std::uint32_t data_blocks(unsigned u) noexcept { return 1U << (u / 2); }
constexpr std::uint32_t data_blocks_before(unsigned u) noexcept {
    return u % 2 == 0 ? 2 * (data_blocks(u) - 1) : 3 * data_blocks(u) - 2;
}
constexpr unsigned length_shift(unsigned u) noexcept { return (u + 1) / 2; }

}  // namespace h5mote
