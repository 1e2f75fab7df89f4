// How much memory a firmware has to reserve for h5mote, computed at compile time.
#pragma once

#include <h5mote/arena.hpp>
#include <h5mote/config.hpp>
#include <h5mote/file_access.hpp>

#include <cstddef>
#include <cstdint>

namespace h5mote {

/// The most that a program does at one time, with one open file.
struct Limits {
    FileAccess access;  ///< as passed to File::open_or_create
    std::uint32_t open_datasets = 1;
    std::uint32_t max_rank = 1;  ///< largest rank of an open dataset
    std::uint32_t filters = 0;   ///< most filters of an open dataset
    /// Bytes of work memory. For a largest filtered chunk of n bytes, shuffle and deflate take 3168 + 2 n to write, and
    /// 2176 + n if chunks are only read. Without filters 0, or for conversion, fill values and short pieces in place
    /// 512, or one element if that is larger.
    std::size_t filter_work = 0;
    std::uint32_t chunk_buffers = 1;  ///< chunks that fit in access.chunk_cache at once
    /// Partial reads and writes (not append) need memory for their iterators while they run.
    bool partial_io = false;
    /// The library has formats::free_space, as one that is given no list has in every build that writes and reads all
    /// formats.
    bool free_space = H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0;
};

/// Upper bounds for the sizes of the library's objects, checked when the library is compiled
/// (core/runtime/footprint.cpp).
namespace footprint {
inline constexpr bool kWide = sizeof(void*) > 4;
inline constexpr bool kLarge = H5MOTE_LARGE_FILES != 0;
inline constexpr std::size_t kFile =
    (kWide    ? 448
     : kLarge ? 320
              : 252) +
    (kLarge ? 24 : 12) * std::size_t{H5MOTE_FREE_EXTENTS} + (H5MOTE_PARTIAL_IO != 0 ? 32 : 4) * sizeof(void*) +
    (H5MOTE_ALL_FORMATS != 0 ? 744 : 0) + (H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0 ? (kLarge ? 264 : 132) : 0);
inline constexpr std::size_t kDataset = kWide                     ? 344
                                        : kLarge                  ? 296
                                        : H5MOTE_ALL_FORMATS != 0 ? 200
                                        : H5MOTE_FILTERS != 0     ? 176
                                                                  : 168;
inline constexpr std::size_t kFilterEntry = 56;
inline constexpr std::size_t kChunkSlot = kWide ? 72 : kLarge ? 56 : 48;
inline constexpr std::size_t kTransfer = (H5MOTE_ALL_FORMATS != 0 ? 1712 : 1600) + 44 * std::size_t{H5MOTE_MAX_RANK};
inline constexpr std::size_t kFreeSpace = kWide ? 576 : kLarge ? 544 : 320;
inline constexpr std::size_t kBucket = sizeof(void*);
}  // namespace footprint

/// Bytes of an Arena with which everything within `limits` succeeds, unless its memory is fragmented: where chunks of
/// different sizes, or datasets of different ranks, come and go in one session, the largest of these once more makes up
/// for the holes that they leave. Conversion between datatypes and soft links take more while they are used.
constexpr std::size_t required_memory(const Limits& limits) noexcept {
    const std::size_t dataset =
        footprint::kDataset + limits.max_rank * 3 * 8 + limits.filters * footprint::kFilterEntry;
    // Where chunks are found by coordinates, the cache has those of each chunk.
    const std::size_t coordinates = H5MOTE_ALL_FORMATS != 0 ? limits.max_rank * std::size_t{8} : 0;
    // The cache charges its budget for the bookkeeping of a 32-bit machine, and the arena may round up every cached
    // block, of which each has at least 48 bytes. `rounding` is what both take beyond the budget.
    const std::size_t rounding =
        (limits.access.metadata_cache / 48 + 1) * (kArenaGranule - 1 + (footprint::kWide ? 16 : 0));
    return arena_block_size(footprint::kFile) +
           arena_block_size(limits.access.metadata_cache + rounding +
                            (limits.access.metadata_cache / 64 + 4) * footprint::kBucket) +
           limits.open_datasets * arena_block_size(dataset) + arena_block_size(limits.access.chunk_cache) +
           limits.chunk_buffers * arena_block_size(footprint::kChunkSlot + coordinates) +
           arena_block_size(limits.filter_work) +
           (limits.filters == 0 ? 0 : arena_block_size(limits.filters * footprint::kFilterEntry)) +
           (limits.partial_io ? arena_block_size(footprint::kTransfer) : 0) +
           (limits.free_space ? arena_block_size(footprint::kFreeSpace) : 0);
}

}  // namespace h5mote
