// H5D - how a chunk of a dataset is named, in the chunk cache and in the chunk indexes.
#pragma once

#include <h5mote/address.hpp>
#include <h5mote/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace h5mote {

/// The number that a chunk has in its dataset (chunk_number()). It is as wide as addresses are: an index that goes by
/// numbers takes file space for each of them.
using ChunkNumber = Address;

/// The coordinates of a chunk: those of its first element divided by the chunk dimensions, one for each dimension.
class ChunkCoordinates {
public:
    constexpr ChunkCoordinates(const std::uint64_t* scaled, std::size_t bytes) noexcept
        : scaled_(scaled), bytes_(bytes) {}
    constexpr const std::uint64_t* scaled() const noexcept { return scaled_; }
    /// Bytes of those that belong to the name of the chunk: of none or of all.
    constexpr std::size_t bytes() const noexcept { return bytes_; }
    /// Whether those that belong to the name are the same at `others`.
    bool match(const void* others) const noexcept { return bytes_ == 0 || std::memcmp(others, scaled_, bytes_) == 0; }
    /// Copies those that belong to the name.
    void copy(void* to) const noexcept {
        if (bytes_ != 0) {
            std::memcpy(to, scaled_, bytes_);
        }
    }

private:
    const std::uint64_t* scaled_;
    std::size_t bytes_;
};

/// Takes its place in builds without H5MOTE_ALL_FORMATS, where each number names one chunk.
class NoChunkCoordinates {
public:
    constexpr NoChunkCoordinates(const std::uint64_t* /*scaled*/, std::size_t /*bytes*/) noexcept {}
    static constexpr const std::uint64_t* scaled() noexcept { return nullptr; }
    static constexpr std::size_t bytes() noexcept { return 0; }
    static bool match(const void* /*others*/) noexcept { return true; }
    static void copy(void* /*to*/) noexcept {}
};

/// Names a chunk, in a way that growth of its dataset leaves valid. Arrays go by the number. B-trees go by the
/// coordinates: with several unlimited dimensions a number belongs to several chunks, and only tells most of them
/// apart. The coordinates are borrowed.
struct ChunkKey : std::conditional_t<H5MOTE_ALL_FORMATS != 0, ChunkCoordinates, NoChunkCoordinates> {
    using Coordinates = std::conditional_t<H5MOTE_ALL_FORMATS != 0, ChunkCoordinates, NoChunkCoordinates>;

    /// `bytes`: of the coordinates that belong to the name, 0 where the number is enough.
    constexpr ChunkKey(ChunkNumber of_chunk, const std::uint64_t* scaled = nullptr, std::size_t bytes = 0) noexcept
        : Coordinates(scaled, bytes), number(of_chunk) {}

    ChunkNumber number;
};

}  // namespace h5mote
