#include "chunk_grid.hpp"

namespace h5mote {

std::uint64_t chunk_number(unsigned rank, const std::uint64_t* max_dims, const std::uint64_t* chunk,
                           const std::uint64_t* scaled) noexcept {
    std::uint64_t index = 0;
    std::uint64_t slowest = 0;
    std::uint64_t below = 1;
    for (unsigned i = 0; i < rank; ++i) {
        if (max_dims[i] == kUnlimited) {
            slowest += scaled[i];
        } else {
            const std::uint64_t chunks = chunks_along(max_dims[i], chunk[i]);
            index = index * chunks + scaled[i];
            below *= chunks;
        }
    }
    return slowest * below + index;
}

void chunk_place(unsigned rank, const std::uint64_t* max_dims, const std::uint64_t* chunk, std::uint64_t number,
                 std::uint64_t* scaled) noexcept {
    unsigned slowest = rank;
    for (unsigned i = rank; i-- > 0;) {
        if (max_dims[i] == kUnlimited) {
            slowest = i;
            continue;
        }
        const std::uint64_t chunks = chunks_along(max_dims[i], chunk[i]);
        scaled[i] = 0;
        number = chunks == 0 ? 0 : divide(number, chunks, scaled[i]);
    }
    if (slowest < rank) {
        scaled[slowest] = number;
    }
}

}  // namespace h5mote
