// Selections combined at random, against libhdf5: the same elements in the same order, blocks, bounds, shapes.
#ifdef H5MOTE_TEST_HDF5

#include "chunked_runs.hpp"
#include "dataspace_model.hpp"
#include "selection_codec.hpp"
#include "selection_runs.hpp"
#include "test.hpp"

#include <h5mote/port/malloc.hpp>
#include <h5mote/selection_set.hpp>

#include <hdf5.h>

#include <algorithm>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;
using Numbers = std::vector<std::uint64_t>;

static_assert(sizeof(hsize_t) == sizeof(std::uint64_t));
const hsize_t* hsizes(const Numbers& numbers) { return reinterpret_cast<const hsize_t*>(numbers.data()); }
hsize_t* hsizes(Numbers& numbers) { return reinterpret_cast<hsize_t*>(numbers.data()); }
Span<const std::uint64_t> view(const Numbers& numbers) { return {numbers.data(), numbers.size()}; }

// The numbers of one hyperslab.
struct Slab {
    Numbers start, stride, count, block;
    Hyperslab view() const { return {::view(start), ::view(stride), ::view(count), ::view(block)}; }
};

// The same selection on both sides.
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

Numbers random_dims(Random& random, std::size_t rank) {
    const std::uint32_t largest[] = {60, 14, 7, 5};
    Numbers dims;
    for (std::size_t d = 0; d < rank; ++d) {
        dims.push_back(1 + random.below(largest[rank - 1]));
    }
    return dims;
}

Slab random_slab(Random& random, const Numbers& dims) {
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

Numbers random_points(Random& random, const Numbers& dims, std::size_t count) {
    Numbers points;
    for (std::size_t i = 0; i < count; ++i) {
        for (const std::uint64_t dim : dims) {
            points.push_back(random.below(static_cast<std::uint32_t>(dim)));
        }
    }
    return points;
}

// Offsets of the elements in the extent, in the order of the selection.
Numbers elements_of_runs(const Selection& selection, const Dataspace& space) {
    Numbers elements;
    SelectionRuns runs;
    EXPECT_EQ(runs.reset(selection, space), Status::ok);
    for (SelectionRun run{}; runs.next(run);) {
        EXPECT_EQ(run.packed, elements.size());
        for (std::uint64_t i = 0; i < run.length; ++i) {
            elements.push_back(run.offset + i);
        }
    }
    EXPECT_EQ(runs.element_count(), elements.size());
    return elements;
}

herr_t note_element(void*, hid_t, unsigned rank, const hsize_t* point, void* data) {
    auto& state = *static_cast<std::pair<const Numbers*, Numbers>*>(data);
    std::uint64_t offset = 0;
    for (unsigned d = 0; d < rank; ++d) {
        offset = offset * (*state.first)[d] + point[d];
    }
    state.second.push_back(offset);
    return 0;
}

Numbers elements_of_libhdf5(const Both& both) {
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

Numbers blocks_of(const Selection& selection, const Dataspace& space) {
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

// libhdf5 1.10 gets the numbers of a regular hyperslab wrong when a block is added (or, xor) in front of a larger one:
// they then tell more or fewer elements than are selected.
bool libhdf5_is_confused(const Both& both) {
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

// Each element once, chunk by chunk, under its right number.
void compare_chunks(const Both& both, const Numbers& elements, Random& random, bool sorted) {
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

void compare(const Both& both, Random& random) {
    const std::size_t rank = both.dims.size();
    const Selection ours = both.ours;
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
    ASSERT_EQ(both.ours.is_regular(), H5Sis_regular_hyperslab(both.theirs) > 0);
    const Numbers blocks = blocks_of(ours, both.space);
    const auto count = static_cast<hsize_t>(H5Sget_select_hyper_nblocks(both.theirs));
    Numbers blocks_theirs(count * 2 * rank);
    ASSERT_GE(H5Sget_select_hyper_blocklist(both.theirs, 0, count, hsizes(blocks_theirs)), 0);
    ASSERT_EQ(blocks, blocks_theirs);
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

class SelectionsOfLibhdf5 : public ::testing::Test {
protected:
    MallocAllocator allocator;
    NullPort port;
    Context context{allocator, port, {}};
};

TEST_F(SelectionsOfLibhdf5, CombinedHyperslabs) {
    Random random(11);
    std::size_t irregular = 0;
    std::size_t confused = 0;
    for (int i = 0; i < 6000; ++i) {
        Both both(context, random_dims(random, 1 + random.below(4)));
        both.select(SelectionOp::set, random_slab(random, both.dims));
        compare(both, random);
        const std::uint32_t steps = 1 + random.below(6);
        for (std::uint32_t step = 0; step < steps && !HasFatalFailure(); ++step) {
            both.select(static_cast<SelectionOp>(random.below(6)), random_slab(random, both.dims));
            if (libhdf5_is_confused(both)) {
                ++confused;
                break;
            }
            compare(both, random);
            irregular += both.ours.type() == SelectionType::hyperslabs && !both.ours.is_regular() ? 1 : 0;
        }
        ASSERT_FALSE(HasFatalFailure()) << "case " << i;
    }
    EXPECT_GT(irregular, 4000U);
    EXPECT_LT(confused, 200U);
}

TEST_F(SelectionsOfLibhdf5, Points) {
    Random random(12);
    for (int i = 0; i < 1000; ++i) {
        Both both(context, random_dims(random, 1 + random.below(4)));
        both.points(random_points(random, both.dims, 1 + random.below(40)));
        compare(both, random);
        ASSERT_FALSE(HasFatalFailure()) << "case " << i;
    }
}

using Buffer = std::vector<std::byte>;

// The selection of a dataspace as libhdf5 encodes it: behind three bytes, the length of the extent and the extent.
Buffer encoded_by_libhdf5(hid_t space) {
    std::size_t size = 0;
    EXPECT_GE(H5Sencode(space, nullptr, &size), 0);
    Buffer all(size);
    EXPECT_GE(H5Sencode(space, all.data(), &size), 0);
    const std::size_t extent = load_le<std::uint32_t>(all.data() + 3);
    return Buffer(all.begin() + static_cast<std::ptrdiff_t>(7 + extent), all.end());
}

Buffer encoded_by_us(const Selection& selection, const Dataspace& space) {
    Writer counting;
    EXPECT_EQ(encode_selection(counting, selection, space), Status::ok);
    Buffer bytes(counting.written());
    Writer writer({bytes.data(), bytes.size()});
    EXPECT_EQ(encode_selection(writer, selection, space), Status::ok);
    EXPECT_TRUE(writer.ok());
    return bytes;
}

TEST_F(SelectionsOfLibhdf5, Encoded) {
    Random random(13);
    for (int i = 0; i < 4000; ++i) {
        Both both(context, random_dims(random, 1 + random.below(4)));
        const bool points = random.below(8) == 0;
        if (points) {
            both.points(random_points(random, both.dims, 1 + random.below(20)));
        } else {
            both.select(SelectionOp::set, random_slab(random, both.dims));
            for (std::uint32_t step = random.below(4); step > 0; --step) {
                both.select(static_cast<SelectionOp>(random.below(6)), random_slab(random, both.dims));
            }
        }
        if (random.below(50) == 0) {
            both.ours.select_all();
            H5Sselect_all(both.theirs);
        }
        if (libhdf5_is_confused(both)) {
            continue;
        }
        const Buffer theirs = encoded_by_libhdf5(both.theirs);
        ASSERT_EQ(theirs, encoded_by_us(both.ours, both.space)) << i;
        SelectionSet read(context);
        std::size_t consumed = 0;
        const auto rank = static_cast<unsigned>(both.dims.size());
        Buffer longer = theirs;
        longer.resize(theirs.size() + 5);
        ASSERT_EQ(decode_selection(context, {longer.data(), longer.size()}, rank, read, consumed), Status::ok);
        ASSERT_EQ(consumed, theirs.size());
        ASSERT_EQ(elements_of_runs(read, both.space), elements_of_runs(both.ours, both.space));
        if (read.type() == SelectionType::hyperslabs) {
            std::uint64_t low[4], high[4];
            SelectionBlocks merged;
            ASSERT_EQ(merged.reset(both.ours, both.space, true), Status::ok);
            Numbers blocks;
            while (merged.next(low, high)) {
                blocks.insert(blocks.end(), low, low + rank);
                blocks.insert(blocks.end(), high, high + rank);
            }
            ASSERT_EQ(blocks_of(read, both.space), blocks);
        }
        // Nothing shorter is a selection, and what fails changes nothing.
        for (std::size_t size = 0; size < theirs.size(); size += 1 + theirs.size() / 50) {
            ASSERT_NE(decode_selection(context, {theirs.data(), size}, rank, read, consumed), Status::ok);
        }
        ASSERT_EQ(decode_selection(context, {theirs.data(), theirs.size()}, 5, read, consumed) == Status::ok,
                  read.rank() == 0);
        ASSERT_EQ(elements_of_runs(read, both.space), elements_of_runs(both.ours, both.space));
    }
}

TEST_F(SelectionsOfLibhdf5, Shapes) {
    Random random(14);
    std::size_t same_shapes = 0;
    for (int i = 0; i < 6000; ++i) {
        const std::size_t rank = 1 + random.below(3);
        Both a(context, random_dims(random, rank));
        Both b(context, random_dims(random, rank));
        const std::uint32_t kind = random.below(4);
        if (kind == 0) {
            a.points(random_points(random, a.dims, 1 + random.below(3)));
            b.points(random_points(random, b.dims, 1 + random.below(3)));
        } else {
            a.select(SelectionOp::set, random_slab(random, a.dims));
            b.select(SelectionOp::set, random_slab(random, b.dims));
        }
        if (kind == 2) {
            a.select(SelectionOp::xor_, random_slab(random, a.dims));
        }
        // The same selection elsewhere, in an extent of as many dimensions or of more.
        Numbers dims = a.dims;
        const std::size_t more = random.below(3);
        dims.insert(dims.begin(), more, 3);
        for (std::uint64_t& dim : dims) {
            dim += 5;
        }
        Both c(context, dims);
        const Numbers blocks = blocks_of(a.ours, a.space);
        bool first = true;
        Numbers points;
        for (std::size_t at = 0; at < blocks.size(); at += 2 * rank, first = false) {
            Slab slab;
            slab.start.assign(more, 2);
            slab.block.assign(more, 1);
            for (std::size_t d = 0; d < rank; ++d) {
                slab.start.push_back(blocks[at + d] + d + 1);
                slab.block.push_back(blocks[at + rank + d] - blocks[at + d] + 1);
            }
            points.insert(points.end(), slab.start.begin(), slab.start.end());
            slab.stride.assign(more + rank, 1);
            slab.count.assign(more + rank, 1);
            if (kind != 0) {
                c.select(first ? SelectionOp::set : SelectionOp::or_, slab);
            }
        }
        if (kind == 0) {
            c.points(points);
        }
        if (a.ours.type() == SelectionType::none || libhdf5_is_confused(a) || libhdf5_is_confused(c)) {
            continue;
        }
        const Both* const all[] = {&a, &b, &c};
        for (const Both* x : all) {
            for (const Both* y : all) {
                bool same = false;
                ASSERT_EQ(select_shape_same(context, x->ours, x->space, y->ours, y->space, same), Status::ok);
                ASSERT_EQ(same, H5Sselect_shape_same(x->theirs, y->theirs) > 0) << i;
                same_shapes += same ? 1 : 0;
            }
        }
        Numbers low(rank);
        Numbers high(rank);
        for (std::size_t d = 0; d < rank; ++d) {
            low[d] = random.below(static_cast<std::uint32_t>(a.dims[d]));
            high[d] = low[d] + random.below(4);
        }
        bool intersects = false;
        ASSERT_EQ(select_intersect_block(a.ours, a.space, low.data(), high.data(), intersects), Status::ok);
        ASSERT_EQ(intersects, H5Sselect_intersect_block(a.theirs, hsizes(low), hsizes(high)) > 0) << i;
    }
    EXPECT_GT(same_shapes, 20000U);
}

}  // namespace

#endif
