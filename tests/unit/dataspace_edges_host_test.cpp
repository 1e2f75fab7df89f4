// Selections and extents at the limits of 64-bit coordinates, and selections of nothing.
#include "chunked_runs.hpp"
#include "selected_elements.hpp"
#include "selection_codec.hpp"
#include "selection_project.hpp"
#include "test.hpp"
#include "unlimited.hpp"

#include <h5mote/context.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/selection_set.hpp>

#include <vector>

#if H5MOTE_MAX_RANK >= 3

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr std::uint64_t kBig = std::uint64_t{1} << 40;
constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;

struct Rig {
    MallocAllocator heap;
    NullPort port;
    Context context{heap, port, {}};
};

// ---- chunk by chunk ----------------------------------------------------------------------------------------------

// A negative offset may be larger than the distance from a chunk's end to the end of all coordinates.
TEST(SelectionEdges, IrregularAndMovedToTheBeginning) {
    Rig rig;
    const Dataspace space = Dataspace::simple({kUnlimited - 1});
    const std::uint64_t blocks[] = {kHalf + 1, kHalf + 1, kHalf + 3, kHalf + 3, kHalf + 6, kHalf + 6};
    const std::int64_t back[] = {INT64_MIN};
    SelectionSet set(rig.context);
    ASSERT_EQ(set.select_blocks(1, blocks), Status::ok);
    ASSERT_EQ(set.set_offset(back), Status::ok);
    for (const std::uint64_t chunk : {std::uint64_t{2}, kHalf - 1, kHalf + 10}) {
        ChunkedRuns runs;
        ASSERT_EQ(runs.reset(set, space, {&chunk, 1}), Status::ok);
        Numbers elements;
        unsigned chunks = 0;
        while (runs.next_chunk() && ++chunks < 10) {
            for (SelectionRun run{}; runs.next(run);) {
                EXPECT_EQ(run.length, 1U);
                elements.push_back(runs.scaled()[0] * chunk + run.offset);
            }
        }
        EXPECT_EQ(elements, (Numbers{1, 3, 6})) << chunk;
        EXPECT_EQ(chunks, chunk == 2 ? 3U : 1U);
    }
}

// If a chunk is left before all its runs were taken, the rest of its points is skipped.
TEST(SelectionEdges, ChunksOfPointsLeftEarly) {
    const Dataspace space = Dataspace::simple({100});
    const std::uint64_t points[] = {1, 2, 3, 50, 51, 9};
    const std::uint64_t chunk = 10;
    ChunkedRuns runs;
    ASSERT_EQ(runs.reset(Selection::points(1, points), space, {&chunk, 1}), Status::ok);
    Numbers chunks;
    for (SelectionRun run{}; runs.next_chunk();) {
        EXPECT_TRUE(runs.next(run));
        chunks.push_back(runs.scaled()[0]);
    }
    EXPECT_EQ(chunks, (Numbers{0, 5, 0}));
}

// If the chunk numbers do not fit into 64 bits, points are not sorted by chunk but come in their own order.
TEST(SelectionEdges, PointsOfMoreChunksThan64BitsCount) {
    const std::uint64_t points[] = {kBig, kBig, 1, 1, kBig, kBig + 1};
    const std::uint64_t one[] = {1, 1};
    std::uint64_t keys[3];
    for (const std::uint64_t size : {2 * kBig, std::uint64_t{1} << 62}) {
        const Dataspace space = Dataspace::simple({size, 2 * kBig});
        ChunkedRuns runs;
        ASSERT_EQ(runs.reset(Selection::points(2, points), space, one), Status::ok);
        runs.sort_points(keys);
        std::vector<Numbers> seen;
        while (runs.next_chunk()) {
            seen.push_back({runs.scaled()[0], runs.scaled()[1]});
        }
        EXPECT_EQ(seen, (std::vector<Numbers>{{kBig, kBig}, {1, 1}, {kBig, kBig + 1}}));
    }
}

// As above, but only the last sum or product in computing the chunk number does not fit.
TEST(SelectionEdges, PointsWhoseKeysDoNotFit) {
    constexpr std::uint64_t kThird = 5726623061;  // (2^34 - 1) / 3
    const std::uint64_t one[] = {1, 1};
    struct Sizes {
        std::uint64_t dims[2], points[6];
    };
    const Sizes all[] = {{{kHalf / 2, 2}, {kHalf / 2 - 1, 1, 0, 0, kHalf / 2 - 1, 0}},
                         {{kBig, std::uint64_t{3} << 30}, {kThird, std::uint64_t{1} << 31, 0, 0, kThird, 0}}};
    for (const Sizes& each : all) {
        std::uint64_t keys[3];
        ChunkedRuns runs;
        const Dataspace space = Dataspace::simple(Span<const std::uint64_t>(each.dims));
        ASSERT_EQ(runs.reset(Selection::points(2, each.points), space, one), Status::ok);
        runs.sort_points(keys);
        for (unsigned i = 0; i < 3; ++i) {
            ASSERT_TRUE(runs.next_chunk());
            EXPECT_EQ(runs.scaled()[0], each.points[2 * i]);
            EXPECT_EQ(runs.scaled()[1], each.points[2 * i + 1]);
        }
        EXPECT_FALSE(runs.next_chunk());
    }
}

TEST(SelectionEdges, NothingBehindTheLastElement) {
    Rig rig;
    const Dataspace space = Dataspace::simple({20});
    const std::uint64_t blocks[] = {1, 2, 5, 5, 9, 12};
    SelectionSet set(rig.context);
    ASSERT_EQ(set.select_blocks(1, blocks), Status::ok);
    SelectionRuns runs;
    SelectionRun run{};
    ASSERT_EQ(runs.reset(set, space), Status::ok);
    runs.seek(6);
    EXPECT_TRUE(runs.next(run));
    EXPECT_EQ(run.offset, 12U);
    runs.seek(7);
    EXPECT_FALSE(runs.next(run));
    EXPECT_EQ(runs.reset(set, Dataspace::simple({12})), Status::invalid_argument);
}

// ---- extents -----------------------------------------------------------------------------------------------------

TEST(SelectionEdges, ExtentsAreComparedWhole) {
    const std::uint64_t many[33] = {}, grown[] = {3, 7};
    const Dataspace all[] = {Dataspace::scalar(),
                             Dataspace::null(),
                             Dataspace::simple({3, 4}),
                             Dataspace::simple({3, 5}),
                             Dataspace::simple({4, 4}),
                             Dataspace::simple({3}),
                             Dataspace::simple({3, 4}, {3, kUnlimited}),
                             Dataspace::simple({3, 4}, {5, 4}),
                             Dataspace::simple({3, 4}, {2, 4}),
                             Dataspace::simple({many, 33})};
    for (const Dataspace& a : all) {
        for (const Dataspace& b : all) {
            EXPECT_EQ(a == b, &a == &b) << &a - all << " " << &b - all;
        }
        Dataspace changed = a;
        const bool can = &a == all + 6;
        EXPECT_EQ(changed.set_extent(grown), can ? Status::ok : Status::invalid_argument) << &a - all;
        EXPECT_EQ(changed == a, !can);
    }
    std::uint64_t count = 0;
    EXPECT_EQ(Dataspace::simple({kBig, kBig, 2}).element_count(count), Status::overflow);
    EXPECT_EQ(Dataspace::simple({kBig, kBig, 0}).element_count(count), Status::ok);
    EXPECT_EQ(count, 0U);
    const std::uint64_t chunk[] = {kBig, kBig, 2}, none[] = {kBig, 0, 2};
    EXPECT_EQ(chunk_element_count(Dataspace::simple({1, 1, 1}), chunk, count), Status::overflow);
    EXPECT_EQ(chunk_element_count(Dataspace::simple({1, 1, 1}), none, count), Status::invalid_argument);
    EXPECT_EQ(chunk_element_count(Dataspace::scalar(), {}, count), Status::invalid_argument);
    EXPECT_EQ(chunk_element_count(Dataspace::simple({3, 4}), {chunk, 1}, count), Status::invalid_argument);
    EXPECT_EQ(chunk_element_count(Dataspace::simple({3, 4}, {2, 4}), {chunk, 2}, count), Status::invalid_argument);
}

// ---- moved selections --------------------------------------------------------------------------------------------

// Whether an offset leaves the extent is decided alike for irregular hyperslabs, regular ones and points.
TEST(SelectionEdges, OffsetsStayInTheExtent) {
    Rig rig;
    const Dataspace space = Dataspace::simple({20, 20});
    const std::uint64_t blocks[] = {5, 5, 6, 6, 8, 9, 9, 9}, points[] = {5, 5, 9, 9};
    SelectionSet irregular(rig.context);
    ASSERT_EQ(irregular.select_blocks(2, blocks), Status::ok);
    const auto regular = Selection::hyperslab({5, 5}, {2, 2}, {4, 4});
    for (const Selection& each :
         {irregular.view(), static_cast<const Selection&>(regular), Selection::points(2, points)}) {
        for (const std::int64_t by : {std::int64_t{-6}, std::int64_t{-5}, std::int64_t{0}, std::int64_t{10},
                                      std::int64_t{11}, INT64_MAX, INT64_MIN}) {
            const bool inside = by >= -5 && by <= 10;
            for (const bool first : {false, true}) {
                const std::int64_t offset[] = {first ? by : 0, first ? 0 : by}, single[] = {by};
                const Selection moved = each.moved_by(offset);
                EXPECT_EQ(moved.validate(space), inside ? Status::ok : Status::invalid_argument) << by;
                EXPECT_EQ(each.moved_by(single).validate(space), Status::invalid_argument);
                std::uint64_t low[2] = {};
                std::uint64_t high[2] = {};
                EXPECT_EQ(moved.bounds(space, low, high), inside ? Status::ok : Status::invalid_argument);
                if (inside) {
                    const auto begin = static_cast<std::uint64_t>(5 + by);
                    EXPECT_EQ(low[first ? 0 : 1], begin);
                    EXPECT_EQ(low[first ? 1 : 0], 5U);
                    EXPECT_EQ(high[first ? 0 : 1], begin + 4);
                    EXPECT_EQ(high[first ? 1 : 0], 9U);
                }
            }
        }
    }
    // Adding the offset to the first block fits into 64 bits, to the last block not.
    const std::uint64_t far[] = {kHalf, 0, kHalf, 0, kHalf + 9, 2, kHalf + 9, 2};
    const std::int64_t most[] = {INT64_MAX - 4, 0};
    SelectionSet high(rig.context);
    ASSERT_EQ(high.select_blocks(2, far), Status::ok);
    EXPECT_EQ(high.view().validate(Dataspace::simple({kUnlimited - 1, 5})), Status::ok);
    EXPECT_EQ(high.view().moved_by(most).validate(Dataspace::simple({kUnlimited - 1, 5})), Status::invalid_argument);
    ASSERT_EQ(irregular.set_offset({}), Status::ok);
    const std::int64_t offset[] = {1, 2};
    ASSERT_EQ(irregular.set_offset(offset), Status::ok);
    EXPECT_EQ(irregular.view().offset(1), 2U);
    ASSERT_EQ(irregular.set_offset({}), Status::ok);
    EXPECT_EQ(irregular.view().offset(1), 0U);
    SelectionSet& same = irregular;
    irregular = std::move(same);
    EXPECT_EQ(elements_of_runs(irregular, space).size(), 6U);
}

// A selection of any kind can be moved up to the largest coordinate and not beyond.
TEST(SelectionEdges, AdjustedUpToTheLastCoordinate) {
    Rig rig;
    const std::uint64_t blocks[] = {5, 5, 6, 6, 8, 8}, points[] = {5, 8};
    const std::uint64_t start[] = {5}, count[] = {2}, stride[] = {3}, endless[] = {kUnlimited};
    for (unsigned kind = 0; kind < 4; ++kind) {
        for (const std::int64_t by : {INT64_MIN, std::int64_t{5}, std::int64_t{6}}) {
            SelectionSet set(rig.context);
            const Dataspace space = Dataspace::simple({20});
            ASSERT_EQ(kind == 0   ? set.select_blocks(1, blocks)
                      : kind == 1 ? set.select_points(1, points)
                                  : set.select_hyperslab(SelectionOp::set,
                                                         {start, stride, kind == 2 ? count : endless, {}}, space),
                      Status::ok);
            const std::int64_t once[] = {by};
            EXPECT_EQ(set.adjust(once), by == 6 ? Status::invalid_argument : Status::ok) << kind;
            if (by == INT64_MIN) {
                // The selection begins at 2^63 + 5 now: it can be moved on until its last coordinate is the largest
                // one.
                const std::int64_t most[] = {-(INT64_MAX - 9)}, more[] = {-(INT64_MAX - 8)};
                EXPECT_EQ(set.adjust(more), kind == 3 ? Status::ok : Status::invalid_argument) << kind;
                EXPECT_EQ(kind == 3 ? Status::ok : set.adjust(most), Status::ok) << kind;
            }
        }
    }
}

// ---- what a hyperslab may be -------------------------------------------------------------------------------------

TEST(SelectionEdges, HyperslabsThatAreNone) {
    Rig rig;
    struct Numbers4 {
        std::uint64_t start, stride, count, block;
        bool fits, empty;
    };
    const Numbers4 all[] = {
        {3, 0, 1, 4, true, false},
        {3, 0, 0, 4, true, true},
        {3, 0, 2, 4, false, false},
        {3, 0, 2, 0, false, true},
        {3, 4, 2, 0, true, true},
        {3, 3, 2, 4, false, false},
        {3, 1, kUnlimited, kUnlimited, false, false},
        {3, 1, 2, kUnlimited, false, false},
        {3, 1, 1, kUnlimited, true, false},
        {kUnlimited, 1, 1, kUnlimited, false, false},
        {kUnlimited, 4, kUnlimited, 4, false, false},
        {kUnlimited - 1, 1, 1, 1, false, false},
        {kUnlimited - 2, 1, 1, 1, true, false},
        {0, kHalf, 3, 1, false, false},
        {0, kHalf, 2, kHalf, false, false},
        {0, kHalf, 2, kHalf - 2, true, false},
        {2, kHalf, 2, kHalf - 2, false, false},
    };
    for (const Numbers4& each : all) {
        SelectionSet set(rig.context);
        const Hyperslab slab{{&each.start, 1}, {&each.stride, 1}, {&each.count, 1}, {&each.block, 1}};
        EXPECT_EQ(set.select_hyperslab(SelectionOp::set, slab, Dataspace::simple({1})),
                  each.fits ? Status::ok : Status::invalid_argument)
            << &each - all;
        EXPECT_TRUE(set.type() == (!each.fits   ? SelectionType::all
                                   : each.empty ? SelectionType::none
                                                : SelectionType::hyperslabs))
            << &each - all;
        // Selection calls need a finite block and a stride.
        const bool limited = each.fits && each.block != kUnlimited && each.stride != 0;
        const Selection selection = slab;
        std::uint64_t count = 0;
        EXPECT_EQ(selection.element_count(Dataspace::simple({kUnlimited - 1}), count),
                  limited ? Status::ok : Status::invalid_argument)
            << &each - all;
        EXPECT_EQ(count, limited && !each.empty ? each.count * each.block : 0U) << &each - all;
        EXPECT_EQ(selection.validate(Dataspace::simple({kUnlimited - 1})),
                  limited ? Status::ok : Status::invalid_argument)
            << &each - all;
    }
    // Lists of different lengths do not describe one hyperslab.
    const std::uint64_t two[] = {1, 1};
    const Span<const std::uint64_t> one(two, 1);
    for (const Hyperslab& slab : {Hyperslab{two, {}, one, {}}, Hyperslab{two, one, two, {}},
                                  Hyperslab{two, two, two, one}, Hyperslab{one, one, one, one}, Hyperslab{}}) {
        EXPECT_EQ(Selection(slab).validate(Dataspace::simple({4, 4})), Status::invalid_argument);
    }
    EXPECT_EQ(Selection(Hyperslab{}).validate(Dataspace::scalar()), Status::invalid_argument);
}

TEST(SelectionEdges, PointsOfWhichThereAreNone) {
    Rig rig;
    const Dataspace space = Dataspace::simple({4, 4});
    SelectionSet set(rig.context);
    SelectionSet other(rig.context);
    SelectionSet none(rig.context);
    none.select_none();
    ASSERT_EQ(set.select_points(2, {}), Status::ok);
    std::uint64_t count = 1;
    EXPECT_EQ(set.view().element_count(space, count), Status::ok);
    EXPECT_EQ(count, 0U);
    std::uint64_t low[2];
    std::uint64_t high[2];
    EXPECT_EQ(set.view().bounds(space, low, high), Status::not_found);
    ASSERT_EQ(other.combine(SelectionOp::set, set, space), Status::ok);
    EXPECT_TRUE(other.type() == SelectionType::points);
    // A list of no blocks selects nothing, and can be combined with any selection.
    ASSERT_EQ(other.select_blocks(2, {}), Status::ok);
    EXPECT_TRUE(other.type() == SelectionType::none);
    const auto slab = Selection::hyperslab({1, 1}, {2, 2});
    ASSERT_EQ(other.combine(SelectionOp::set, slab, space), Status::ok);
    ASSERT_EQ(other.combine(SelectionOp::or_, set, space), Status::ok);
    EXPECT_EQ(elements_of_runs(other, space), (Numbers{5, 6, 9, 10}));
    ASSERT_EQ(other.combine(SelectionOp::and_, set, space), Status::ok);
    EXPECT_TRUE(other.type() == SelectionType::none);
    // An intersection with no points projects to nothing, and no points have the same shape as `none`.
    ASSERT_EQ(project_intersection(slab, space, slab, space, set, other), Status::ok);
    EXPECT_TRUE(other.type() == SelectionType::none);
    bool same = false;
    EXPECT_EQ(select_shape_same(rig.context, set, space, none, space, same), Status::ok);
    EXPECT_TRUE(same);
    bool intersects = true;
    EXPECT_EQ(select_intersect_block(none, space, low, low, intersects), Status::ok);
    EXPECT_FALSE(intersects);
    EXPECT_EQ(select_intersect_block(set, space, low, low, intersects), Status::ok);
    EXPECT_FALSE(intersects);
    EXPECT_EQ(select_intersect_block(Selection::all(), Dataspace::null(), low, low, intersects), Status::ok);
    EXPECT_FALSE(intersects);
    EXPECT_EQ(select_intersect_block(Selection::all(), Dataspace::scalar(), low, low, intersects), Status::ok);
    EXPECT_TRUE(intersects);
}

// ---- blocks and shapes -------------------------------------------------------------------------------------------

std::vector<Numbers> blocks_of(const Selection& selection, const Dataspace& space, bool merged) {
    std::vector<Numbers> all;
    SelectionBlocks blocks;
    EXPECT_EQ(blocks.reset(selection, space, merged), Status::ok);
    std::uint64_t count = 0;
    EXPECT_EQ(blocks.count(count), Status::ok);
    std::uint64_t low[3];
    std::uint64_t high[3];
    while (blocks.next(low, high)) {
        Numbers block(low, low + space.rank());
        block.insert(block.end(), high, high + space.rank());
        all.push_back(block);
    }
    EXPECT_EQ(all.size(), count);
    EXPECT_FALSE(blocks.next(low, high));
    EXPECT_EQ(blocks.count(count), Status::ok);
    EXPECT_EQ(all.size(), count);
    return all;
}

TEST(SelectionEdges, BlocksAreTold) {
    const Dataspace space = Dataspace::simple({10, 10});
    const std::int64_t offset[] = {2, 1};
    for (const bool merged : {false, true}) {
        using Blocks = std::vector<Numbers>;
        EXPECT_EQ(blocks_of(Selection::all(), space, merged), (Blocks{{0, 0, 9, 9}}));
        EXPECT_EQ(blocks_of(Selection::all(), Dataspace::scalar(), merged), (Blocks{{}}));
        EXPECT_EQ(blocks_of(Selection::all(), Dataspace::null(), merged), Blocks());
        EXPECT_EQ(blocks_of(Selection::none(), space, merged), Blocks());
        const auto rows = Selection::hyperslab({1, 1}, {2, 1});
        EXPECT_EQ(blocks_of(rows, space, merged),
                  merged ? (Blocks{{1, 1, 2, 1}}) : (Blocks{{1, 1, 1, 1}, {2, 1, 2, 1}}));
        const auto blocks = Selection::hyperslab({1, 1}, {2, 1}, {3, 1}, {3, 1});
        EXPECT_EQ(blocks_of(blocks.moved_by(offset), space, merged),
                  merged ? (Blocks{{1, 1, 6, 1}}) : (Blocks{{1, 1, 3, 1}, {4, 1, 6, 1}}));
    }
}

// Selections of equally many elements in other arrangements have different shapes.
TEST(SelectionEdges, ShapesThatDiffer) {
    Rig rig;
    const Dataspace space = Dataspace::simple({10, 10});
    const Dataspace small = Dataspace::simple({3});
    const std::uint64_t wide[] = {0, 0, 0, 1, 2, 0, 2, 0, 5, 5, 5, 5}, narrow[] = {0, 0, 0, 0, 2, 0, 2, 1, 5, 5, 5, 5};
    const std::uint64_t single[] = {0, 0, 0, 0, 2, 1, 2, 1, 4, 4, 4, 4, 7, 7, 7, 7};
    SelectionSet sets[] = {SelectionSet(rig.context), SelectionSet(rig.context), SelectionSet(rig.context)};
    ASSERT_EQ(sets[0].select_blocks(2, wide), Status::ok);
    ASSERT_EQ(sets[1].select_blocks(2, narrow), Status::ok);
    ASSERT_EQ(sets[2].select_blocks(2, single), Status::ok);
    bool same = false;
    for (const SelectionSet& a : sets) {
        for (const SelectionSet& b : sets) {
            EXPECT_EQ(select_shape_same(rig.context, a, space, b, space, same), Status::ok);
            EXPECT_EQ(same, &a == &b);
        }
        EXPECT_EQ(select_shape_same(rig.context, a, space, a, small, same), Status::invalid_argument);
        EXPECT_EQ(select_shape_same(rig.context, a, small, a, space, same), Status::invalid_argument);
    }
    const auto standing = Selection::hyperslab({0, 0}, {6, 1}), lying = Selection::hyperslab({0, 0}, {1, 6});
    const auto apart = Selection::hyperslab({0, 0}, {3, 2}, {2, 1});
    const auto further = Selection::hyperslab({1, 1}, {3, 2}, {3, 1});
    const Selection* const regular[] = {&standing, &lying, &apart, &further};
    for (const Selection* a : regular) {
        for (const Selection* b : regular) {
            EXPECT_EQ(select_shape_same(rig.context, *a, space, *b, space, same), Status::ok);
            EXPECT_EQ(same, a == b);
        }
        const std::uint64_t low[] = {9, 9}, first[] = {0, 0}, end[] = {kUnlimited, kUnlimited};
        EXPECT_EQ(select_intersect_block(*a, space, low, end, same), Status::ok);
        EXPECT_FALSE(same);
        EXPECT_EQ(select_intersect_block(*a, space, first, end, same), Status::ok);
        EXPECT_TRUE(same);
    }
    const auto one = Selection::hyperslab({2, 2}, {1, 1});
    EXPECT_EQ(select_shape_same(rig.context, one, space, Selection::all(), Dataspace::scalar(), same), Status::ok);
    EXPECT_TRUE(same);
    EXPECT_EQ(select_shape_same(rig.context, Selection::all(), Dataspace::scalar(), one, space, same), Status::ok);
    EXPECT_TRUE(same);
}

// ---- more than 64 bits hold --------------------------------------------------------------------------------------

TEST(SelectionEdges, ProjectionsOfExtentsThatAreTooLarge) {
    Rig rig;
    const Dataspace large = Dataspace::simple({kBig, kBig});
    const Dataspace space = Dataspace::simple({10, 10});
    const auto slab = Selection::hyperslab({1, 1}, {2, 2});
    const auto empty = Selection::hyperslab({1, 1}, {0, 2});
    SelectionSet made(rig.context);
    const std::uint64_t points[] = {1, 1, 1, 2, 2, 1, 2, 2};
    for (const Selection& from : {static_cast<const Selection&>(slab), Selection::points(2, points)}) {
        EXPECT_EQ(project_intersection(from, large, slab, space, slab, made), Status::overflow);
        EXPECT_EQ(project_intersection(from, space, slab, large, slab, made), Status::overflow);
        EXPECT_EQ(project_intersection(from, space, slab, space, empty, made), Status::ok);
        EXPECT_TRUE(made.type() == SelectionType::none);
        made.select_all();
    }
    // Selections whose first element has no 64-bit number in the extent cannot be projected.
    Dataspace projected;
    std::uint64_t offset = 0;
    const auto far = Selection::hyperslab({kBig - 1, kBig - 1, 1}, {1, 1, 2});
    for (const std::uint64_t width : {std::uint64_t{4}, kBig}) {
        EXPECT_EQ(project_rank(far, Dataspace::simple({kBig, kBig, width}), 1, made, projected, offset),
                  Status::overflow);
        EXPECT_TRUE(made.type() == SelectionType::all);
    }
    const auto edge = Selection::hyperslab({kUnlimited - 2, 2}, {1, 1});
    EXPECT_EQ(project_rank(edge, Dataspace::simple({kUnlimited - 1, 3}), 1, made, projected, offset), Status::overflow);
    const auto wide = Selection::hyperslab({1, 1}, {2, 2});
    EXPECT_EQ(project_rank(wide, space, 1, made, projected, offset), Status::invalid_argument);
    EXPECT_EQ(project_rank(wide, space, 33, made, projected, offset), Status::invalid_argument);
}

TEST(SelectionEdges, MoreBlocksThan64BitsCount) {
    Rig rig;
    const Dataspace space = Dataspace::simple({kUnlimited - 1, kUnlimited - 1});
    const std::uint64_t zero[] = {0, 0}, one[] = {1, 1}, two[] = {2, 2}, many[] = {kHalf - 1, kHalf - 1};
    SelectionSet set(rig.context);
    ASSERT_EQ(set.select_hyperslab(SelectionOp::set, {zero, two, many, {}}, space), Status::ok);
    EXPECT_EQ(set.select_hyperslab(SelectionOp::xor_, {one, {}, one, {}}, space), Status::out_of_memory);
    EXPECT_TRUE(set.view().is_regular());
    // The extent that an unlimited selection needs for a given number of slices, up to the largest possible one.
    const std::uint64_t start = 3, stride = kHalf, endless = kUnlimited, block = 4;
    ASSERT_EQ(set.select_hyperslab(SelectionOp::set, {{&start, 1}, {&stride, 1}, {&endless, 1}, {&block, 1}}, space),
              Status::ok);
    EXPECT_EQ(clip_extent(set, 4, false), 7U);
    EXPECT_EQ(clip_extent(set, 4, true), kHalf + 3);
    EXPECT_EQ(clip_extent(set, 8, false), kHalf + 7);
    EXPECT_EQ(clip_extent(set, 8, true), kUnlimited);
    EXPECT_EQ(clip_extent(set, 9, false), kUnlimited);
    const std::uint64_t last = kHalf - 3;
    ASSERT_EQ(set.select_hyperslab(SelectionOp::set, {{&last, 1}, {&stride, 1}, {&endless, 1}, {&block, 1}}, space),
              Status::ok);
    EXPECT_EQ(clip_extent(set, 5, false), kUnlimited - 1);
    EXPECT_EQ(clip_extent(set, 6, false), kUnlimited);
}

// ---- as files store them -----------------------------------------------------------------------------------------

TEST(SelectionEdges, EncodedWhenEmptyOrWithoutItsNumbers) {
    Rig rig;
    const Dataspace space = Dataspace::simple({kUnlimited - 1});
    SelectionSet back(rig.context);
    std::byte buffer[100];
    const auto around = [&](const Selection& selection) {
        Writer writer{Bytes(buffer)};
        EXPECT_EQ(encode_selection(writer, selection, space), Status::ok);
        std::size_t consumed = 0;
        EXPECT_EQ(decode_selection(rig.context, {buffer, writer.written()}, 0, back, consumed), Status::ok);
        EXPECT_EQ(consumed, writer.written());
    };
    around(Selection::hyperslab({5}, {0}));
    EXPECT_TRUE(back.type() == SelectionType::none);
    around(Selection::points(1, {}));
    EXPECT_TRUE(back.type() == SelectionType::points);
    EXPECT_EQ(back.view().point_count(), 0U);
    const auto far = Selection::hyperslab({kBig}, {3});
    around(far);
    EXPECT_EQ(elements_of_runs(back, space), (Numbers{kBig, kBig + 1, kBig + 2}));
    // A regular hyperslab of so many blocks that they could not be listed.
    around(Selection::hyperslab({0}, {kBig}, {2}));
    std::uint64_t count = 0;
    EXPECT_EQ(back.view().element_count(space, count), Status::ok);
    EXPECT_EQ(count, kBig);
    // More elements than 64 bits can count.
    const Dataspace square = Dataspace::simple({kUnlimited - 1, kUnlimited - 1});
    const auto many = Selection::hyperslab({0, 0}, {kBig, kBig}, {2, 2});
    Writer writer{Bytes(buffer)};
    EXPECT_EQ(encode_selection(writer, many, square), Status::ok);
    std::size_t length = 0;
    EXPECT_EQ(decode_selection(rig.context, {buffer, writer.written()}, 2, back, length), Status::ok);
    EXPECT_EQ(back.view().hyperslab().count[1], kBig);
    // Here `all` selects more elements than 64 bits can count, so it cannot be combined.
    SelectionSet all(rig.context);
    const auto single = Selection::hyperslab({1, 1}, {1, 1});
    EXPECT_EQ(all.combine(SelectionOp::not_b, single, Dataspace::simple({kBig, kBig})), Status::overflow);
    EXPECT_TRUE(all.type() == SelectionType::all);
    // The largest coordinate can be encoded and decoded; a larger one in the file is refused.
    const std::uint64_t edge[] = {kUnlimited - 2};
    around(Selection::points(1, edge));
    std::size_t consumed = 0;
    std::byte* const at = buffer + 4 + 4 + 1 + 4 + 8;
    ASSERT_EQ(at[0], std::byte{0xfd});
    at[0] = std::byte{0xff};
    back.select_none();
    EXPECT_EQ(decode_selection(rig.context, {buffer, sizeof buffer}, 0, back, consumed), Status::corrupt_file);
    EXPECT_TRUE(back.type() == SelectionType::none);
}

}  // namespace

#endif
