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

}  // namespace h5mote
