// Comparing shapes, moving, unlimited selections and projections, against libhdf5 and a model of single elements.
#ifdef H5MOTE_TEST_HDF5

#include "dataspace_libhdf5.hpp"
#include "selection_project.hpp"
#include "unlimited.hpp"

namespace {

using namespace h5mote;
using namespace h5mote_test;

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
        // The same selection moved, in an extent of as many dimensions or more.
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

TEST_F(SelectionsOfLibhdf5, Unlimited) {
    Random random(16);
    std::size_t cut = 0;
    for (int i = 0; i < 3000; ++i) {
        Both both(context, random_dims(random, 1 + random.below(3)));
        Slab endless = random_slab(random, both.dims);
        const std::size_t d = random.below(static_cast<std::uint32_t>(both.dims.size()));
        const bool block = random.below(4) == 0;
        (block ? endless.block : endless.count)[d] = kUnlimited;
        endless.count[d] = block ? 1 : kUnlimited;
        if (!block) {
            endless.block[d] = 1 + random.below(4);
            endless.stride[d] = endless.block[d] + random.below(3);
        }
        both.select(SelectionOp::set, endless);
        ASSERT_EQ(both.ours.unlimited_dimension(), static_cast<int>(d));
        ASSERT_NE(both.ours.view().validate(both.space), Status::ok);
        const Buffer theirs = encoded_by_libhdf5(both.theirs);
        ASSERT_EQ(theirs, encoded_by_us(both.ours, both.space));
        SelectionSet read(context);
        std::size_t consumed = 0;
        ASSERT_EQ(decode_selection(context, {theirs.data(), theirs.size()}, 0, read, consumed), Status::ok);
        ASSERT_EQ(theirs, encoded_by_us(read, both.space));
        // The elements below `size`: clip_unlimited() must select what libhdf5 selects by intersecting with a block.
        const std::uint64_t size = 1 + random.below(static_cast<std::uint32_t>(both.dims[d]));
        Slab below;
        below.start.assign(both.dims.size(), 0);
        below.stride.assign(both.dims.size(), 1);
        below.count.assign(both.dims.size(), 1);
        below.block = both.dims;
        below.block[d] = size;
        const std::uint64_t slices = slices_below(both.ours, size);
        const std::uint64_t slice = slice_elements(both.ours);
        const SelectionSet endless_set = std::move(both.ours);
        ASSERT_EQ(read.clip_unlimited(size), Status::ok);
        ASSERT_EQ(both.ours.combine(SelectionOp::set, endless_set, both.space), Status::ok);
        both.select(SelectionOp::and_, below);
        compare(both, random);
        ASSERT_FALSE(HasFatalFailure()) << i;
        const Numbers elements = elements_of_runs(read, both.space);
        ASSERT_EQ(elements, elements_of_runs(both.ours, both.space));
        ASSERT_EQ(elements.size(), slices * slice);
        cut += read.type() == SelectionType::hyperslabs && !read.is_regular() ? 1 : 0;
        // The smallest and the largest extent that contain just these slices.
        if (slices != 0) {
            const std::uint64_t least = clip_extent(endless_set, slices, false);
            const std::uint64_t most = clip_extent(endless_set, slices, true);
            ASSERT_TRUE(least <= size && slices_below(endless_set, least) == slices);
            ASSERT_EQ(slices_below(endless_set, least - 1), slices - 1);
            ASSERT_TRUE(most >= least && slices_below(endless_set, most) == slices);
            ASSERT_EQ(slices_below(endless_set, most + 1), slices + 1);
        }
        if (!block) {
            bool partial = false;
            const std::uint64_t index = first_incomplete_block(endless_set, size, partial);
            const std::uint64_t start = endless.start[d] + index * endless.stride[d];
            ASSERT_EQ(partial, start < size);
            ASSERT_GT(start + endless.block[d], size);
            ASSERT_TRUE(index == 0 || start - endless.stride[d] + endless.block[d] <= size);
            SelectionSet one(context);
            ASSERT_EQ(unlimited_block(endless_set, index, one), Status::ok);
            ASSERT_EQ(one.view().hyperslab().start[d], start);
            ASSERT_EQ(one.unlimited_dimension(), -1);
        }
    }
    EXPECT_GT(cut, 100U);
}

TEST_F(SelectionsOfLibhdf5, ProjectedIntersections) {
    Random random(17);
    std::size_t projected = 0;
    for (int i = 0; i < 6000; ++i) {
        Both source(context, random_dims(random, 1 + random.below(3)));
        Both intersect(context, source.dims);
        Both target(context, random_dims(random, 1 + random.below(3)));
        source.select(SelectionOp::set, random_slab(random, source.dims));
        target.select(SelectionOp::set, random_slab(random, target.dims));
        if (random.below(2) == 0) {
            source.select(SelectionOp::xor_, random_slab(random, source.dims));
        }
        if (random.below(2) == 0) {
            target.select(SelectionOp::or_, random_slab(random, target.dims));
        }
        const auto count = static_cast<std::size_t>(H5Sget_select_npoints(source.theirs));
        if (count == 0 || libhdf5_is_confused(source) || libhdf5_is_confused(target)) {
            continue;
        }
        if (random.below(6) == 0) {
            target.points(random_points(random, target.dims, count));
        } else if (static_cast<std::size_t>(H5Sget_select_npoints(target.theirs)) != count) {
            // The selections must have equally many elements: take a line of single elements in an extent that has
            // room.
            Slab line;
            line.start = {0};
            line.stride = {2};
            line.count = {count};
            line.block = {1};
            target.dims = {2 * count};
            target.space = Dataspace::simple(view(target.dims));
            H5Sclose(target.theirs);
            target.theirs = H5Screate_simple(1, hsizes(target.dims), nullptr);
            target.select(SelectionOp::set, line);
        }
        if (random.below(5) == 0) {
            intersect.points(random_points(random, intersect.dims, 1 + random.below(20)));
        } else {
            intersect.select(SelectionOp::set, random_slab(random, intersect.dims));
            intersect.select(SelectionOp::xor_, random_slab(random, intersect.dims));
        }
        if (libhdf5_is_confused(intersect) || intersect.ours.type() == SelectionType::none) {
            continue;
        }
        SelectionSet ours(context);
        ASSERT_EQ(project_intersection(source.ours, source.space, target.ours, target.space, intersect.ours, ours),
                  Status::ok);
        const Numbers elements = elements_of_runs(ours, target.space);
        // Compare with a model: libhdf5 1.10 loses elements when the intersection consists of points, and writes
        // outside its memory.
        const Numbers from = elements_of_runs(source.ours, source.space);
        const Numbers to = elements_of_runs(target.ours, target.space);
        const Numbers with = elements_of_runs(intersect.ours, intersect.space);
        Numbers expected;
        for (std::size_t k = 0; k < from.size(); ++k) {
            if (std::find(with.begin(), with.end(), from[k]) != with.end()) {
                expected.push_back(to[k]);
            }
        }
        ASSERT_EQ(elements, expected) << i;
        projected += elements.empty() ? 0 : 1;
    }
    EXPECT_GT(projected, 1500U);
}

TEST_F(SelectionsOfLibhdf5, ProjectedRanks) {
    Random random(18);
    for (int i = 0; i < 3000; ++i) {
        Both both(context, random_dims(random, 2 + random.below(2)));
        const auto rank = static_cast<unsigned>(both.dims.size());
        const std::uint64_t at = random.below(static_cast<std::uint32_t>(both.dims[0]));
        // Select a single coordinate in the first dimension.
        Slab slab = random_slab(random, both.dims);
        slab.start[0] = at;
        slab.count[0] = slab.block[0] = 1;
        both.select(SelectionOp::set, slab);
        if (random.below(2) == 0) {
            slab = random_slab(random, both.dims);
            slab.start[0] = at;
            slab.count[0] = slab.block[0] = 1;
            both.select(SelectionOp::xor_, slab);
        }
        if (random.below(5) == 0) {
            Numbers points = random_points(random, both.dims, 7);
            for (std::size_t p = 0; p < points.size(); p += rank) {
                points[p] = at;
            }
            both.points(points);
        }
        const Numbers before = elements_of_runs(both.ours, both.space);
        for (const unsigned to : {rank - 1, rank + 1, rank + 3}) {
            SelectionSet other(context);
            Dataspace space;
            std::uint64_t offset = 0;
            ASSERT_EQ(project_rank(both.ours, both.space, to, other, space, offset), Status::ok);
            ASSERT_EQ(space.rank(), to);
            Numbers after = elements_of_runs(other, space);
            for (std::uint64_t& element : after) {
                element += offset;
            }
            ASSERT_EQ(after, before);
            bool same = false;
            ASSERT_EQ(select_shape_same(context, other, space, both.ours, both.space, same), Status::ok);
            ASSERT_TRUE(same);
            ASSERT_EQ(other.is_regular(), both.ours.is_regular());
        }
    }
}

TEST_F(SelectionsOfLibhdf5, ProjectionsThatAreRefused) {
    const Dataspace space = Dataspace::simple({4, 6});
    const Dataspace wrong = Dataspace::simple({4, kUnlimited});
    const std::uint64_t start[] = {1, 1}, two[] = {2, 2}, three[] = {2, 3}, one[] = {1, 1};
    const Hyperslab four{start, {}, two, {}};
    const Hyperslab six{start, {}, three, {}};
    const Hyperslab row{start, {}, one, three};
    SelectionSet kept(context);
    ASSERT_EQ(kept.select_points(2, start), Status::ok);
    Dataspace other;
    std::uint64_t offset = 0;
    // A dimension with several selected coordinates cannot be dropped, and no rank exceeds the maximum.
    EXPECT_EQ(project_rank(four, space, 1, kept, other, offset), Status::invalid_argument);
    EXPECT_EQ(project_rank(row, space, 1, kept, other, offset), Status::invalid_argument);
    EXPECT_EQ(project_rank(Selection::all(), space, 0, kept, other, offset), Status::invalid_argument);
    EXPECT_EQ(project_rank(four, space, H5MOTE_MAX_RANK + 1, kept, other, offset), Status::invalid_argument);
    EXPECT_EQ(project_rank(four, wrong, 3, kept, other, offset), Status::invalid_argument);
    EXPECT_EQ(project_rank(four, Dataspace::simple({4}), 3, kept, other, offset), Status::invalid_argument);
    // Both sides must have equally many elements, all within their extents.
    EXPECT_EQ(project_intersection(four, space, six, space, four, kept), Status::invalid_argument);
    EXPECT_EQ(project_intersection(four, wrong, four, space, four, kept), Status::invalid_argument);
    EXPECT_EQ(project_intersection(four, space, four, wrong, four, kept), Status::invalid_argument);
    EXPECT_EQ(project_intersection(four, space, four, space, Selection::points(1, start), kept),
              Status::invalid_argument);
    EXPECT_TRUE(kept.type() == SelectionType::points && kept.view().point_count() == 1);

    // An empty selection projects to an empty one, one element to a scalar and back.
    EXPECT_EQ(project_rank(Selection::none(), space, 1, kept, other, offset), Status::ok);
    EXPECT_TRUE(kept.type() == SelectionType::none && other.rank() == 1);
    const Hyperslab element{start, {}, one, {}};
    EXPECT_EQ(project_rank(element, space, 0, kept, other, offset), Status::ok);
    EXPECT_TRUE(kept.type() == SelectionType::all && other.rank() == 0);
    EXPECT_EQ(offset, 7U);
    for (const bool inside : {true, false}) {
        const std::uint64_t at[] = {inside ? 1U : 2U, 1U};
        EXPECT_EQ(
            project_intersection(element, space, Selection::all(), Dataspace::scalar(), Selection::points(2, at), kept),
            Status::ok);
        EXPECT_TRUE(kept.type() == (inside ? SelectionType::all : SelectionType::none));
    }
    EXPECT_EQ(project_intersection(four, space, four, space, Selection::none(), kept), Status::ok);
    EXPECT_TRUE(kept.type() == SelectionType::none);
}

}  // namespace

#endif
