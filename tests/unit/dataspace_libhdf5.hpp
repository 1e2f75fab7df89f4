// One selection built in h5mote and in libhdf5, and comparisons of the elements, blocks and runs that both give.
#pragma once

#include "chunked_runs.hpp"
#include "dataspace_model.hpp"
#include "selected_elements.hpp"
#include "selection_codec.hpp"
#include "selection_runs.hpp"
#include "test.hpp"

#include <h5mote/port/malloc.hpp>
#include <h5mote/selection_set.hpp>

#include <hdf5.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace h5mote_test {

using namespace h5mote;

static_assert(sizeof(hsize_t) == sizeof(std::uint64_t));
inline const hsize_t* hsizes(const Numbers& numbers) { return reinterpret_cast<const hsize_t*>(numbers.data()); }
inline hsize_t* hsizes(Numbers& numbers) { return reinterpret_cast<hsize_t*>(numbers.data()); }
inline Span<const std::uint64_t> view(const Numbers& numbers) { return {numbers.data(), numbers.size()}; }

// One hyperslab: start, stride, count and block of each dimension.
struct Slab {
    Numbers start, stride, count, block;
    Hyperslab view() const {
        return {h5mote_test::view(start), h5mote_test::view(stride), h5mote_test::view(count),
                h5mote_test::view(block)};
    }
};

// The same selection built in h5mote (`ours`) and in libhdf5 (`theirs`), for comparing the two.
struct Both {
    Both(Context& context, const Numbers& sizes) : dims(sizes), ours(context) {
        space = Dataspace::simple(view(dims));
        theirs = H5Screate_simple(static_cast<int>(dims.size()), hsizes(dims), nullptr);
    }
    Both(const Both&) = delete;
    Both& operator=(const Both&) = delete;
    ~Both() { H5Sclose(theirs); }

    void select(SelectionOp op, const Slab& slab) {
        ASSERT_EQ(ours.select_hyperslab(op, slab.view(), space), Status::ok);
        ASSERT_GE(H5Sselect_hyperslab(theirs, static_cast<H5S_seloper_t>(op), hsizes(slab.start), hsizes(slab.stride),
                                      hsizes(slab.count), hsizes(slab.block)),
                  0);
    }
    void points(const Numbers& coordinates) {
        const auto rank = static_cast<unsigned>(dims.size());
        ASSERT_EQ(ours.select_points(rank, view(coordinates)), Status::ok);
        ASSERT_GE(H5Sselect_elements(theirs, H5S_SELECT_SET, coordinates.size() / rank, hsizes(coordinates)), 0);
    }

    Numbers dims;
    Dataspace space;
    SelectionSet ours;
    hid_t theirs = -1;
};

inline Numbers random_dims(Random& random, std::size_t rank) {
    const std::uint32_t largest[] = {60, 14, 7, 5};
    Numbers dims;
    for (std::size_t d = 0; d < rank; ++d) {
        dims.push_back(1 + random.below(largest[rank - 1]));
    }
    return dims;
}

inline Slab random_slab(Random& random, const Numbers& dims) {
    Slab slab;
    for (const std::uint64_t dim : dims) {
        const auto size = static_cast<std::uint32_t>(dim);
        const std::uint32_t kind = random.below(5);
        const std::uint64_t start = kind == 0 ? 0 : random.below(size);
        const auto room = static_cast<std::uint32_t>(size - start);
        const std::uint64_t block = kind == 0 ? room : 1 + random.below(kind == 1 ? 1 : room);
        const std::uint64_t stride = block + (kind == 2 ? 0 : random.below(4));
        slab.start.push_back(start);
        slab.stride.push_back(stride);
        slab.block.push_back(block);
        slab.count.push_back(1 + random.below(static_cast<std::uint32_t>((room - block) / stride + 1)));
    }
    return slab;
}

inline Numbers random_points(Random& random, const Numbers& dims, std::size_t count) {
    Numbers points;
    for (std::size_t i = 0; i < count; ++i) {
        for (const std::uint64_t dim : dims) {
            points.push_back(random.below(static_cast<std::uint32_t>(dim)));
        }
    }
    return points;
}

inline herr_t note_element(void*, hid_t, unsigned rank, const hsize_t* point, void* data) {
    auto& state = *static_cast<std::pair<const Numbers*, Numbers>*>(data);
    std::uint64_t offset = 0;
    for (unsigned d = 0; d < rank; ++d) {
        offset = offset * (*state.first)[d] + point[d];
    }
    state.second.push_back(offset);
    return 0;
}

inline Numbers elements_of_libhdf5(const Both& both) {
    std::size_t size = 1;
    for (const std::uint64_t dim : both.dims) {
        size *= dim;
    }
    std::vector<char> buffer(size);
    std::pair<const Numbers*, Numbers> state{&both.dims, {}};
    if (H5Sget_select_npoints(both.theirs) > 0) {
        EXPECT_GE(H5Diterate(buffer.data(), H5T_NATIVE_CHAR, both.theirs, note_element, &state), 0);
    }
    return state.second;
}

inline Numbers blocks_of(const Selection& selection, const Dataspace& space) {
    const std::size_t rank = space.rank();
    Numbers blocks;
    SelectionBlocks walk;
    EXPECT_EQ(walk.reset(selection, space), Status::ok);
    std::uint64_t count = 0;
    EXPECT_EQ(walk.count(count), Status::ok);
    Numbers low(rank);
    Numbers high(rank);
    while (walk.next(low.data(), high.data())) {
        blocks.insert(blocks.end(), low.begin(), low.end());
        blocks.insert(blocks.end(), high.begin(), high.end());
    }
    EXPECT_EQ(blocks.size(), count * 2 * rank);
    return blocks;
}

// libhdf5 1.10 misstates start and count of a regular hyperslab after a block was added (or, xor) in front of a larger
// one: they describe more or fewer elements than are selected. Such a selection is no reference to compare with.
inline bool libhdf5_is_confused(const Both& both) {
    const std::size_t rank = both.dims.size();
    if (H5Sget_select_type(both.theirs) != H5S_SEL_HYPERSLABS || H5Sis_regular_hyperslab(both.theirs) <= 0) {
        return false;
    }
    Numbers start(rank), stride(rank), count(rank), block(rank), low(rank), high(rank);
    H5Sget_regular_hyperslab(both.theirs, hsizes(start), hsizes(stride), hsizes(count), hsizes(block));
    H5Sget_select_bounds(both.theirs, hsizes(low), hsizes(high));
    std::uint64_t elements = 1;
    bool bounded = true;
    for (std::size_t d = 0; d < rank; ++d) {
        elements *= count[d] * block[d];
        bounded = bounded && high[d] == start[d] + (count[d] - 1) * stride[d] + block[d] - 1;
    }
    return !bounded || elements != static_cast<std::uint64_t>(H5Sget_select_npoints(both.theirs));
}

// Walks the selection chunk by chunk: each element must come once, numbered by its place among the selected elements.
inline void compare_chunks(const Both& both, const Numbers& elements, Random& random, bool sorted) {
    const std::size_t rank = both.dims.size();
    Numbers chunk;
    for (const std::uint64_t dim : both.dims) {
        chunk.push_back(1 + random.below(static_cast<std::uint32_t>(dim) + 2));
    }
    ChunkedRuns runs;
    ASSERT_EQ(runs.reset(both.ours, both.space, view(chunk)), Status::ok);
    Numbers keys(both.ours.view().point_count());
    if (sorted) {
        runs.sort_points(keys.data());
    }
    std::vector<bool> seen(elements.size());
    std::vector<Numbers> chunks;
    std::size_t count = 0;
    while (runs.next_chunk()) {
        const Numbers scaled(runs.scaled().begin(), runs.scaled().end());
        if (both.ours.type() == SelectionType::hyperslabs || sorted) {
            ASSERT_TRUE(chunks.empty() || chunks.back() < scaled);
        }
        chunks.push_back(scaled);
        ASSERT_FALSE(runs.covers_chunk() && both.ours.type() == SelectionType::points);
        const bool give_up = random.below(20) == 0;
        std::uint64_t last = 0;
        std::size_t in_chunk = 0;
        for (SelectionRun run{}; runs.next(run);) {
            for (std::uint64_t k = 0; k < run.length; ++k, ++in_chunk) {
                std::uint64_t rest = run.offset + k;
                std::uint64_t offset = 0;
                Numbers at(rank);
                for (std::size_t d = rank; d-- > 0; rest /= chunk[d]) {
                    at[d] = scaled[d] * chunk[d] + rest % chunk[d];
                }
                for (std::size_t d = 0; d < rank; ++d) {
                    offset = offset * both.dims[d] + at[d];
                }
                ASSERT_EQ(elements[run.packed + k], offset);
                ASSERT_FALSE(seen[run.packed + k]);
                ASSERT_TRUE(in_chunk == 0 || run.packed + k > last);
                last = run.packed + k;
                seen[run.packed + k] = true;
            }
            if (give_up) {
                break;
            }
        }
        ASSERT_GT(in_chunk, 0U);
        count += in_chunk;
        if (give_up) {
            return;
        }
    }
    ASSERT_EQ(count, elements.size());
}

inline void compare(const Both& both, Random& random, bool with_blocks = true) {
    const std::size_t rank = both.dims.size();
    const Selection ours = both.ours;
    if (both.ours.type() == SelectionType::hyperslabs && with_blocks) {
        // Ask libhdf5 for the blocks before iterating: H5Diterate adds the selection's offset to them for good.
        ASSERT_EQ(both.ours.is_regular(), H5Sis_regular_hyperslab(both.theirs) > 0);
        const Numbers blocks = blocks_of(ours, both.space);
        const auto count = static_cast<hsize_t>(H5Sget_select_hyper_nblocks(both.theirs));
        Numbers blocks_theirs(count * 2 * rank);
        ASSERT_GE(H5Sget_select_hyper_blocklist(both.theirs, 0, count, hsizes(blocks_theirs)), 0);
        ASSERT_EQ(blocks, blocks_theirs);
    }
    const Numbers elements = elements_of_runs(ours, both.space);
    ASSERT_EQ(static_cast<int>(both.ours.type()), static_cast<int>(H5Sget_select_type(both.theirs)));
    ASSERT_EQ(elements.size(), static_cast<std::size_t>(H5Sget_select_npoints(both.theirs)));
    ASSERT_EQ(elements, elements_of_libhdf5(both));
    ASSERT_EQ(ours.validate(both.space) == Status::ok, H5Sselect_valid(both.theirs) > 0);
    if (both.ours.type() == SelectionType::none) {
        return;
    }
    Numbers low(rank), high(rank), low_theirs(rank), high_theirs(rank);
    ASSERT_EQ(ours.bounds(both.space, low.data(), high.data()), Status::ok);
    ASSERT_GE(H5Sget_select_bounds(both.theirs, hsizes(low_theirs), hsizes(high_theirs)), 0);
    ASSERT_EQ(low, low_theirs);
    ASSERT_EQ(high, high_theirs);
    compare_chunks(both, elements, random, false);
    if (both.ours.type() != SelectionType::hyperslabs) {
        compare_chunks(both, elements, random, true);
        return;
    }
    for (int i = 0; i < 4; ++i) {
        SelectionRuns runs;
        ASSERT_EQ(runs.reset(ours, both.space), Status::ok);
        const std::uint64_t to = random.below(static_cast<std::uint32_t>(elements.size()) + 1);
        runs.seek(to);
        SelectionRun run{};
        ASSERT_EQ(runs.next(run), to < elements.size());
        if (to < elements.size()) {
            ASSERT_EQ(run.packed, to);
            ASSERT_EQ(run.offset, elements[to]);
        }
    }
}

using Buffer = std::vector<std::byte>;

// Returns the selection as H5Sencode() stores it: three bytes in, the length of the extent and the extent come first.
inline Buffer encoded_by_libhdf5(hid_t space) {
    std::size_t size = 0;
    EXPECT_GE(H5Sencode(space, nullptr, &size), 0);
    Buffer all(size);
    EXPECT_GE(H5Sencode(space, all.data(), &size), 0);
    const std::size_t extent = load_le<std::uint32_t>(all.data() + 3);
    return Buffer(all.begin() + static_cast<std::ptrdiff_t>(7 + extent), all.end());
}

inline Buffer encoded_by_us(const Selection& selection, const Dataspace& space) {
    Writer counting;
    EXPECT_EQ(encode_selection(counting, selection, space), Status::ok);
    Buffer bytes(counting.written());
    Writer writer({bytes.data(), bytes.size()});
    EXPECT_EQ(encode_selection(writer, selection, space), Status::ok);
    EXPECT_TRUE(writer.ok());
    return bytes;
}

class SelectionsOfLibhdf5 : public ::testing::Test {
protected:
    MallocAllocator allocator;
    NullPort port;
    Context context{allocator, port, {}};
};

}  // namespace h5mote_test
