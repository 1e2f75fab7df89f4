#include "dataset_data.hpp"

namespace h5mote::cli {

// Reads one box: the largest one of at most `count` elements that begins at element `first` and whose elements follow
// each other in row-major order.
Status DatasetData::read(std::uint64_t first, std::uint64_t& count, std::byte* buffer) {
    const std::uint64_t size = type.size();
    const std::size_t rank = space.rank();
    if (rank == 0) {
        count = 1;
        return dataset_.read_stored(Selection::all(), Bytes(buffer, static_cast<std::size_t>(size)));
    }
    std::uint64_t start[H5MOTE_MAX_RANK];
    std::uint64_t extent[H5MOTE_MAX_RANK];
    const Span<const std::uint64_t> dims = space.dims();
    std::uint64_t rest = first;
    for (std::size_t i = rank; i-- > 0;) {
        start[i] = rest % dims[i];
        rest /= dims[i];
        extent[i] = 1;
    }
    std::uint64_t elements = 1;
    std::size_t d = rank - 1;
    while (d > 0 && start[d] == 0 && elements * dims[d] <= count) {
        extent[d] = dims[d];
        elements *= dims[d];
        --d;
    }
    const std::uint64_t room = count / elements;
    const std::uint64_t left = dims[d] - start[d];
    extent[d] = left < room ? left : room;
    count = elements * extent[d];
    return dataset_.read_stored(Selection::hyperslab({start, rank}, {extent, rank}),
                                Bytes(buffer, static_cast<std::size_t>(count * size)));
}

// Reads elements along the last dimension of the slab: as many whole blocks as `count` allows, or a part of one block.
Status DatasetData::read_slab(const Subset& slab, std::uint64_t first, std::uint64_t& count, std::byte* buffer) {
    const std::size_t rank = space.rank();
    if (rank == 0 || slab.start.size() < rank) {
        return Status::invalid_argument;
    }
    std::uint64_t start[H5MOTE_MAX_RANK];
    std::uint64_t blocks[H5MOTE_MAX_RANK];
    std::uint64_t stride[H5MOTE_MAX_RANK];
    std::uint64_t block[H5MOTE_MAX_RANK];
    std::uint64_t rest = first;
    for (std::size_t i = rank; i-- > 0;) {
        const std::uint64_t in_dimension = slab.count[i] * slab.block[i];
        const std::uint64_t at = rest % in_dimension;
        rest /= in_dimension;
        start[i] = slab.start[i] + at / slab.block[i] * slab.stride[i] + at % slab.block[i];
        blocks[i] = 1;
        stride[i] = 1;
        block[i] = 1;
        if (i + 1 < rank) {
            continue;
        }
        const std::uint64_t within = at % slab.block[i];
        const std::uint64_t blocks_left = slab.count[i] - at / slab.block[i];
        if (within == 0 && slab.block[i] <= count) {
            blocks[i] = count / slab.block[i] < blocks_left ? count / slab.block[i] : blocks_left;
            block[i] = slab.block[i];
            stride[i] = blocks[i] == 1 ? slab.block[i] : slab.stride[i];
        } else {
            const std::uint64_t left = slab.block[i] - within;
            block[i] = left < count ? left : count;
            stride[i] = block[i];
        }
        count = blocks[i] * block[i];
    }
    return dataset_.read_stored(Selection::hyperslab({start, rank}, {blocks, rank}, {stride, rank}, {block, rank}),
                                Bytes(buffer, static_cast<std::size_t>(count * type.size())));
}

}  // namespace h5mote::cli
