// H5D chunk - how chunks divide an extent, and their numbers in the indexes that count them.
#pragma once

#include "checked.hpp"

#include <h5mote/dataspace.hpp>

#include <cstddef>
#include <cstdint>

namespace h5mote {

/// Whether a dataset of `size` elements now and `most` at most in a dimension may be created with chunks of `chunk`
/// elements there, as H5Dcreate has it: not 0, and not more than a limited maximum unless the dimension is empty.
constexpr bool chunk_fits(std::uint64_t size, std::uint64_t most, std::uint64_t chunk) noexcept {
    return chunk != 0 && (size == 0 || chunk <= most);
}

/// Number of chunks of `chunk` elements, not 0, that `size` elements need.
inline std::uint64_t chunks_along(std::uint64_t size, std::uint64_t chunk) noexcept { return divide_up(size, chunk); }

/// Number of the chunk at `scaled` (coordinates divided by the chunk dimensions) in an implicit, fixed array or
/// extensible array index: row-major over the *maximum* dimensions, the unlimited one counted slowest wherever it
/// stands, so that growth renumbers nothing. Format specification, VII.A to VII.D; H5D_earray. `rank` numbers each;
/// chunk dimensions as for chunks_along(). Modulo 2^64. With several unlimited dimensions, where indexes go by
/// coordinates, growth renumbers nothing either, but chunks share their number with others.
std::uint64_t chunk_number(unsigned rank, const std::uint64_t* max_dims, const std::uint64_t* chunk,
                           const std::uint64_t* scaled) noexcept;
/// The reverse: the coordinates of the chunk with that number, where at most one dimension is unlimited.
void chunk_place(unsigned rank, const std::uint64_t* max_dims, const std::uint64_t* chunk, std::uint64_t number,
                 std::uint64_t* scaled) noexcept;

}  // namespace h5mote
