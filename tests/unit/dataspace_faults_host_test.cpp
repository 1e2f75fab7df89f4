// A SelectionSet keeps its selection when a call on it fails, whichever memory is missing, and the call succeeds once
// there is memory. Refused arguments, and combinations with empty and unlimited selections.
#include "axis.hpp"
#include "dataspace_model.hpp"
#include "selected_elements.hpp"
#include "selection_codec.hpp"
#include "selection_project.hpp"
#include "selection_runs.hpp"
#include "test.hpp"
#include "test_allocators.hpp"
#include "unlimited.hpp"

#include <h5mote/port/malloc.hpp>
#include <h5mote/selection_set.hpp>

#include <functional>
#include <vector>

#if H5MOTE_MAX_RANK >= 3

namespace {

using namespace h5mote;
using namespace h5mote_test;

Span<const std::uint64_t> span(const Numbers& numbers) { return {numbers.data(), numbers.size()}; }

void append(Numbers& to, Span<const std::uint64_t> from) {
    for (const std::uint64_t each : from) {
        to.push_back(each);
    }
}

// Everything that can be asked of a selection, as numbers that can be compared.
Numbers described(const Selection& selection) {
    Numbers all{static_cast<std::uint64_t>(selection.type()), selection.rank(), selection.spans() != nullptr ? 1U : 0U};
    for (const std::int64_t each : selection.offset()) {
        all.push_back(static_cast<std::uint64_t>(each));
    }
    append(all, selection.point_list());
    if (selection.type() != SelectionType::hyperslabs) {
        return all;
    }
    if (selection.spans() == nullptr) {
        const Hyperslab& slab = selection.hyperslab();
        for (const Span<const std::uint64_t> part : {slab.start, slab.stride, slab.count, slab.block}) {
            append(all, part);
        }
        return all;
    }
    const Dataspace space = Dataspace::simple(span(Numbers(selection.rank(), kUnlimited - 1)));
    SelectionBlocks blocks;
    EXPECT_EQ(blocks.reset(selection.moved_by({}), space), Status::ok);
    Numbers low(selection.rank());
    Numbers high(selection.rank());
    while (blocks.next(low.data(), high.data())) {
        append(all, span(low));
        append(all, span(high));
    }
    std::uint64_t count = 0;
    EXPECT_EQ(selection.moved_by({}).element_count(space, count), Status::ok);
    all.push_back(count);
    return all;
}

struct Rig {
    MallocAllocator heap;
    TrackingAllocator tracking{heap};
    FailingAllocator failing{tracking};
    NullPort port;
    Context context{failing, port, {}};
};

using Start = std::function<void(SelectionSet&)>;
using Change = std::function<Status(SelectionSet&)>;

// Fails each allocation of `change` in turn, alone and with all that follow. Returns the number of allocations.
std::uint64_t sweep(Rig& rig, const Start& start, const Change& change) {
    Numbers expected;
    Status outcome = Status::ok;
    std::uint64_t allocations = 0;
    {
        SelectionSet set(rig.context);
        start(set);
        const Numbers before = described(set);
        rig.failing.arm(0, false);
        outcome = change(set);
        allocations = rig.failing.calls();
        expected = described(set);
        EXPECT_TRUE(outcome == Status::ok || expected == before);
    }
    for (std::uint64_t k = 1; k <= allocations; ++k) {
        for (const bool persistent : {false, true}) {
            SelectionSet set(rig.context);
            start(set);
            const Numbers before = described(set);
            rig.failing.arm(k, persistent);
            const Status status = change(set);
            rig.failing.disarm();
            // The context asks once more after a refused allocation, so a single failure may go unnoticed.
            EXPECT_TRUE(status == Status::out_of_memory || (!persistent && status == outcome)) << k;
            if (status == Status::out_of_memory) {
                EXPECT_EQ(described(set), before) << k;
                EXPECT_EQ(change(set), outcome) << k;
            }
            EXPECT_EQ(described(set), expected) << k;
        }
    }
    EXPECT_EQ(rig.tracking.blocks(), 0U);
    EXPECT_EQ(rig.tracking.errors(), 0U);
    return allocations;
}

const Numbers kDims{9, 11};

Numbers random_numbers(Random& random, std::size_t count) {
    Numbers numbers;
    for (std::size_t i = 0; i < count; ++i) {
        numbers.push_back(random.below(static_cast<std::uint32_t>(kDims[i % 2])));
    }
    return numbers;
}

Case random_case(Random& random) {
    Case made;
    made.rank = 2;
    made.dims[0] = kDims[0];
    made.dims[1] = kDims[1];
    do {
        made.random_selection(random);
    } while (made.whole);
    return made;
}

const std::uint64_t kStart[] = {1, 2}, kStride[] = {3, 4}, kEndless[] = {2, kUnlimited}, kBlock[] = {2, 3};
const Hyperslab kNoEnd{kStart, kStride, kEndless, kBlock};
const std::int64_t kOffset[] = {1, -1};

// Selections of every kind, with and without an offset.
std::vector<Start> starts(Random& random, const Dataspace& space) {
    const Numbers points = random_numbers(random, 10);
    const Case a = random_case(random);
    const Case b = random_case(random);
    std::vector<Start> all;
    all.emplace_back([](SelectionSet& set) { set.select_all(); });
    all.emplace_back([](SelectionSet& set) { set.select_none(); });
    all.emplace_back([points](SelectionSet& set) { ASSERT_EQ(set.select_points(2, span(points)), Status::ok); });
    all.emplace_back(
        [space](SelectionSet& set) { ASSERT_EQ(set.select_hyperslab(SelectionOp::set, kNoEnd, space), Status::ok); });
    all.emplace_back(
        [a, space](SelectionSet& set) { ASSERT_EQ(set.combine(SelectionOp::set, a.selection(), space), Status::ok); });
    all.emplace_back([a, b, space](SelectionSet& set) {
        ASSERT_EQ(set.combine(SelectionOp::set, a.selection(), space), Status::ok);
        ASSERT_EQ(set.combine(SelectionOp::xor_, b.selection(), space), Status::ok);
    });
    const std::size_t kinds = all.size();
    for (std::size_t i = 0; i < kinds; ++i) {
        const Start plain = all[i];
        all.emplace_back([plain](SelectionSet& set) {
            plain(set);
            ASSERT_EQ(set.rank() == 0 ? Status::ok : set.set_offset(kOffset), Status::ok);
        });
    }
    return all;
}

std::vector<Change> changes(Random& random, const Dataspace& space, Context& context) {
    const Case c = random_case(random);
    const Numbers points = random_numbers(random, 6);
    Numbers corners = random_numbers(random, 20);
    for (std::size_t i = 0; i < corners.size(); i += 4) {
        corners[i + 2] += corners[i];
        corners[i + 3] += corners[i + 1];
    }
    std::vector<Change> all;
    for (unsigned op = 0; op < 6; ++op) {
        const auto how = static_cast<SelectionOp>(op);
        all.emplace_back([=](SelectionSet& set) { return set.combine(how, c.selection(), space); });
        all.emplace_back([=](SelectionSet& set) { return set.combine(how, Selection::all(), space); });
        all.emplace_back([=](SelectionSet& set) { return set.select_hyperslab(how, kNoEnd, space); });
        all.emplace_back(
            [=](SelectionSet& set) { return set.combine(how, Selection::points(2, span(points)), space); });
    }
    all.emplace_back([=](SelectionSet& set) { return set.select_points(2, span(points)); });
    all.emplace_back([=](SelectionSet& set) { return set.add_points(2, span(points)); });
    all.emplace_back([=](SelectionSet& set) { return set.add_points(2, span(points), true); });
    all.emplace_back([=](SelectionSet& set) { return set.select_blocks(2, span(corners)); });
    all.emplace_back([=](SelectionSet& set) { return set.set_offset(kOffset); });
    all.emplace_back([=](SelectionSet& set) { return set.adjust(kOffset); });
    for (const std::uint64_t size : {0, 3, 4, 16, 17}) {
        all.emplace_back([=](SelectionSet& set) { return set.clip_unlimited(size); });
    }
    // Decodes the set's own encoding into it, as large as the set may be.
    all.emplace_back([&context, space](SelectionSet& set) {
        std::byte buffer[4096];
        Writer writer(Bytes{buffer, sizeof buffer});
        std::size_t consumed = 0;
        const Status encoded = encode_selection(writer, set.view(), space);
        return encoded == Status::ok && writer.ok()
                   ? decode_selection(context, {buffer, writer.written()}, 0, set, consumed)
                   : encoded;
    });
    // Projections of a regular hyperslab, and of the set's own selection.
    for (const bool own : {false, true}) {
        for (const unsigned rank : {1U, 2U, 3U}) {
            all.emplace_back([=](SelectionSet& set) {
                Dataspace projected;
                std::uint64_t offset = 0;
                return project_rank(own ? set.view() : c.selection(), space, rank, set, projected, offset);
            });
        }
        all.emplace_back([=](SelectionSet& set) {
            const Selection source = own ? set.view() : c.selection();
            return project_intersection(source, space, source, space, Selection::points(2, span(points)), set);
        });
    }
    return all;
}

TEST(SelectionFaults, EveryChangeWithoutMemory) {
    Random random(5);
    Rig rig;
    const Dataspace space = Dataspace::simple(span(kDims));
    std::uint64_t allocations = 0;
    for (int round = 0; round < 6; ++round) {
        for (const Start& start : starts(random, space)) {
            for (const Change& change : changes(random, space, rig.context)) {
                allocations += sweep(rig, start, change);
                ASSERT_FALSE(::testing::Test::HasFailure());
            }
        }
    }
    EXPECT_GT(allocations, 5000U);
}

// A query that fails for want of memory gives the right answer once there is memory.
TEST(SelectionFaults, LookingWithoutMemory) {
    Random random(6);
    Rig rig;
    const Dataspace space = Dataspace::simple(span(kDims));
    const Dataspace deeper = Dataspace::simple({1, 9, 11});
    unsigned refused = 0;
    for (const Start& start : starts(random, space)) {
        SelectionSet set(rig.context);
        start(set);
        if (set.view().moved_by({}).validate(space) != Status::ok) {
            continue;
        }
        const Selection selection = set.view().moved_by({});
        SelectionSet raised(rig.context);
        Dataspace raised_space;
        std::uint64_t offset = 0;
        ASSERT_EQ(project_rank(selection, space, 3, raised, raised_space, offset), Status::ok);
        for (std::uint64_t k = 1;; ++k) {
            bool same = false;
            rig.failing.arm(k, true);
            const Status status = select_shape_same(rig.context, selection, space, raised, deeper, same);
            const bool failed = rig.failing.failures() != 0;
            rig.failing.disarm();
            EXPECT_EQ(status, failed ? Status::out_of_memory : Status::ok);
            refused += failed ? 1 : 0;
            if (!failed) {
                EXPECT_TRUE(same);
                break;
            }
        }
    }
    EXPECT_GT(refused, 1U);
    EXPECT_EQ(rig.tracking.blocks(), 0U);
}

// ---- nothing and no end ------------------------------------------------------------------------------------------

// In an extent without elements `all` selects nothing and must combine as `none` does.
TEST(SelectionFaults, AllOfNothingIsNone) {
    Rig rig;
    const Dataspace empty = Dataspace::simple({0, 11}, {kUnlimited, kUnlimited});
    const std::uint64_t two[] = {2, 2};
    for (const Hyperslab& slab : {kNoEnd, Hyperslab{kStart, kStride, two, {}}}) {
        for (const SelectionOp op : {SelectionOp::xor_, SelectionOp::not_b}) {
            SelectionSet all(rig.context);
            SelectionSet none(rig.context);
            none.select_none();
            ASSERT_EQ(none.select_hyperslab(op, slab, empty), Status::ok);
            ASSERT_EQ(all.select_hyperslab(op, slab, empty), Status::ok);
            EXPECT_EQ(described(all), described(none)) << static_cast<int>(op);
        }
        for (unsigned op = 1; op < 6; ++op) {
            SelectionSet with_all(rig.context);
            SelectionSet with_none(rig.context);
            for (SelectionSet* set : {&with_all, &with_none}) {
                ASSERT_EQ(set->select_hyperslab(SelectionOp::set, slab, empty), Status::ok);
            }
            const auto how = static_cast<SelectionOp>(op);
            ASSERT_EQ(with_all.combine(how, Selection::all(), empty), Status::ok);
            ASSERT_EQ(with_none.combine(how, Selection::none(), empty), Status::ok);
            EXPECT_EQ(described(with_all), described(with_none)) << op;
        }
    }
    EXPECT_EQ(rig.tracking.blocks(), 0U);
}

TEST(SelectionFaults, WhereAllIsCombinedTheExtentHasToBeValid) {
    Rig rig;
    const Dataspace wrong = Dataspace::simple({4, kUnlimited});
    const std::uint64_t two[] = {2, 2};
    const Hyperslab slab{kStart, kStride, two, {}};
    SelectionSet set(rig.context);
    EXPECT_EQ(set.select_hyperslab(SelectionOp::xor_, slab, wrong), Status::invalid_argument);
    EXPECT_EQ(set.select_hyperslab(SelectionOp::not_b, slab, Dataspace::scalar()), Status::invalid_argument);
    EXPECT_TRUE(set.type() == SelectionType::all);
    ASSERT_EQ(set.select_hyperslab(SelectionOp::set, slab, wrong), Status::ok);
    const Numbers before = described(set);
    EXPECT_EQ(set.combine(SelectionOp::and_, Selection::all(), wrong), Status::invalid_argument);
    EXPECT_EQ(described(set), before);
}

// ---- what is refused ---------------------------------------------------------------------------------------------

TEST(SelectionFaults, RefusedArgumentsChangeNothing) {
    Random random(7);
    Rig rig;
    const Dataspace space = Dataspace::simple(span(kDims));
    const std::uint64_t zero[] = {0, 0}, one[] = {1, 1}, two[] = {2, 2}, three[] = {3, 3, 3}, far[] = {kUnlimited, 1};
    const std::uint64_t huge[] = {kUnlimited / 2, 2}, backwards[] = {4, 4, 3, 5}, beyond[] = {0, 0, 1, kUnlimited};
    const std::uint64_t three_by[] = {3, 3}, both[] = {kUnlimited, kUnlimited}, many[66] = {};
    const std::int64_t single[] = {1}, most[] = {INT64_MAX, 0}, least[] = {INT64_MIN, 0}, triple[] = {0, 0, 0};
    struct Refused {
        const char* what;
        Change change;
    };
    const auto slab = [&](const Hyperslab& wrong) {
        return [wrong, &space](SelectionSet& set) { return set.select_hyperslab(SelectionOp::set, wrong, space); };
    };
    const Refused all[] = {
        {"counts of another rank", slab({one, {}, three, {}})},
        {"strides of another rank", slab({one, three, two, {}})},
        {"blocks of another rank", slab({one, {}, two, three})},
        {"no dimension", slab({})},
        {"more dimensions than there are", slab({{many, 33}, {}, {many, 33}, {}})},
        {"stride 0", slab({one, zero, two, {}})},
        {"blocks that overlap", slab({one, one, two, two})},
        {"a start at the end of all coordinates", slab({far, {}, one, {}})},
        {"a last block beyond all coordinates", slab({one, huge, three, {}})},
        {"counts times strides", slab({one, three_by, huge, {}})},
        {"two dimensions without end", slab({one, two, both, {}})},
        {"count and block without end", slab({one, two, kEndless, {both, 2}})},
        {"points of no rank", [&](SelectionSet& set) { return set.select_points(0, two); }},
        {"points of too high a rank",
         [&](SelectionSet& set) {
             return set.select_points(33, {many, 66});
         }},
        {"half a point", [&](SelectionSet& set) { return set.select_points(2, three); }},
        {"half a block", [&](SelectionSet& set) { return set.select_blocks(2, three); }},
        {"blocks of no rank", [&](SelectionSet& set) { return set.select_blocks(0, backwards); }},
        {"blocks of too high a rank",
         [&](SelectionSet& set) {
             return set.select_blocks(33, {many, 66});
         }},
        {"a block that ends before it begins", [&](SelectionSet& set) { return set.select_blocks(2, backwards); }},
        {"a block beyond all coordinates", [&](SelectionSet& set) { return set.select_blocks(2, beyond); }},
        {"an offset of another rank", [&](SelectionSet& set) { return set.set_offset(triple); }},
    };
    const Refused of_elements[] = {
        {"a move of another rank", [&](SelectionSet& set) { return set.adjust(single); }},
        {"a move below 0", [&](SelectionSet& set) { return set.adjust(most); }},
    };
    for (const Start& start : starts(random, space)) {
        SelectionSet set(rig.context);
        start(set);
        const Numbers before = described(set);
        for (const Refused& each : all) {
            EXPECT_EQ(each.change(set), Status::invalid_argument) << each.what;
            EXPECT_EQ(described(set), before) << each.what;
        }
        for (const Refused& each : of_elements) {
            EXPECT_EQ(each.change(set), set.rank() == 0 ? Status::ok : Status::invalid_argument) << each.what;
            EXPECT_EQ(described(set), before) << each.what;
        }
        // There is room for one such move towards larger coordinates, not for two.
        if (set.rank() != 0) {
            EXPECT_EQ(set.adjust(least), Status::ok);
            const Numbers moved = described(set);
            EXPECT_EQ(set.adjust(least), Status::invalid_argument);
            EXPECT_EQ(described(set), moved);
            EXPECT_EQ(set.adjust(most), Status::ok);
        }
        EXPECT_EQ(set.unlimited_dimension() >= 0 ? set.clip_unlimited(kUnlimited) : Status::invalid_argument,
                  Status::invalid_argument);
    }
    EXPECT_EQ(rig.tracking.blocks(), 0U);
}

TEST(SelectionFaults, MoreElementsThan64BitsHold) {
    Rig rig;
    const std::uint64_t big = std::uint64_t{1} << 40;
    const Dataspace space = Dataspace::simple({big, big});
    const std::uint64_t zero[] = {0, 0}, one[] = {1, 1}, block[] = {big, big};
    SelectionSet set(rig.context);
    ASSERT_EQ(set.select_hyperslab(SelectionOp::set, {zero, {}, one, block}, space), Status::ok);
    const Numbers before = described(set);
    std::uint64_t count = 0;
    EXPECT_EQ(set.view().element_count(space, count), Status::overflow);
    EXPECT_EQ(set.select_hyperslab(SelectionOp::not_b, {zero, {}, one, {}}, space), Status::overflow);
    EXPECT_EQ(described(set), before);
    bool same = false;
    EXPECT_EQ(select_shape_same(rig.context, set, space, set, space, same), Status::overflow);
    // More blocks than a program can hold in memory, and than 64 bits can count.
    const std::uint64_t two[] = {2, 2}, half[] = {big / 2, big / 2};
    ASSERT_EQ(set.select_hyperslab(SelectionOp::set, {zero, two, half, {}}, space), Status::ok);
    const Numbers regular = described(set);
    EXPECT_EQ(set.select_hyperslab(SelectionOp::xor_, {one, {}, one, {}}, space), Status::out_of_memory);
    EXPECT_EQ(described(set), regular);
    SelectionBlocks blocks;
    ASSERT_EQ(blocks.reset(set, space), Status::ok);
    EXPECT_EQ(blocks.count(count), Status::overflow);
    // After a reset() that failed, an iteration gives no blocks, whatever it gave before.
    EXPECT_EQ(blocks.reset(set, Dataspace::simple({4, 4})), Status::invalid_argument);
    std::uint64_t low[2];
    std::uint64_t high[2];
    EXPECT_FALSE(blocks.next(low, high));
    EXPECT_EQ(blocks.count(count), Status::ok);
    EXPECT_EQ(count, 0U);
}

// ---- offsets -----------------------------------------------------------------------------------------------------

// A projection selects elements at the places to which the offset has moved the source.
TEST(SelectionFaults, ProjectionsKeepOffsets) {
    Random random(8);
    Rig rig;
    const Dataspace space = Dataspace::simple({1, 12, 14});
    const std::int64_t offset[] = {0, 2, 3};
    const std::int64_t old[] = {1, 1};
    unsigned moved = 0;
    for (int i = 0; i < 40; ++i) {
        for (const Start& start : starts(random, Dataspace::simple(span(kDims)))) {
            SelectionSet flat(rig.context);
            SelectionSet set(rig.context);
            SelectionSet projected(rig.context);
            Dataspace other;
            std::uint64_t from = 0;
            start(flat);
            if (project_rank(flat.view().moved_by({}), Dataspace::simple(span(kDims)), 3, set, other, from) !=
                    Status::ok ||
                set.rank() == 0) {
                continue;
            }
            ASSERT_EQ(set.set_offset(offset), Status::ok);
            const Numbers expected = elements_of_runs(set, space);
            // An offset that the result had before must not apply to the projection.
            ASSERT_EQ(projected.select_points(2, {kStart, 2}), Status::ok);
            ASSERT_EQ(projected.set_offset(old), Status::ok);
            ASSERT_EQ(project_rank(set, space, 2, projected, other, from), Status::ok);
            EXPECT_EQ(elements_of_runs(projected, other), expected);
            EXPECT_EQ(from, 0U);
            ASSERT_EQ(project_intersection(set, space, set, space, Selection::all(), projected), Status::ok);
            EXPECT_EQ(elements_of_runs(projected, space), expected);
            ASSERT_EQ(project_intersection(set, space, set, space, set, projected), Status::ok);
            if (set.type() == SelectionType::points) {
                EXPECT_EQ(elements_of_runs(projected, space), expected);
            }
            EXPECT_EQ(elements_of_runs(projected, space).size(), expected.size());
            ++moved;
        }
    }
    EXPECT_GT(moved, 100U);
}

// Coordinates that exceed 64 bits must not wrap round and intersect with the first ones.
TEST(SelectionFaults, BlocksFarAwayDoNotIntersect) {
    Rig rig;
    const Dataspace space = Dataspace::simple({40, 40});
    const std::uint64_t start[] = {20, 20}, one[] = {1, 1}, block[] = {4, 4}, next[] = {25, 26};
    SelectionSet set(rig.context);
    ASSERT_EQ(set.select_hyperslab(SelectionOp::set, {start, {}, one, block}, space), Status::ok);
    ASSERT_EQ(set.select_hyperslab(SelectionOp::or_, {next, {}, one, {}}, space), Status::ok);
    for (const std::int64_t by : {-20, 0, 7}) {
        const std::int64_t offset[] = {by, by};
        const auto moved = static_cast<std::uint64_t>(20 + by);
        ASSERT_EQ(set.set_offset(offset), Status::ok);
        bool intersects = true;
        for (const std::uint64_t at : {kUnlimited, kUnlimited - 3, kUnlimited - 7, std::uint64_t{39}}) {
            const std::uint64_t far[] = {at, moved};
            EXPECT_EQ(select_intersect_block(set, space, far, far, intersects), Status::ok);
            EXPECT_FALSE(intersects) << at << " " << by;
        }
        const std::uint64_t here[] = {moved, moved}, first[] = {0, 0}, all[] = {kUnlimited, kUnlimited};
        EXPECT_EQ(select_intersect_block(set, space, here, here, intersects), Status::ok);
        EXPECT_TRUE(intersects);
        EXPECT_EQ(select_intersect_block(set, space, first, all, intersects), Status::ok);
        EXPECT_TRUE(intersects);
    }
}

// ---- encoded -----------------------------------------------------------------------------------------------------

// For every size of the largest coordinate, encoding and decoding gives the same selection, and a buffer that is too
// small is noticed.
TEST(SelectionFaults, EncodedAndBack) {
    Rig rig;
    const std::uint64_t largest[] = {0xff, 0xffff, 0x10000, 0xffffffff, 0x100000000, kUnlimited - 4};
    for (const std::uint64_t end : largest) {
        const Dataspace space = Dataspace::simple({end + 1, 8});
        const std::uint64_t start[] = {end - 20, 1}, one[] = {1, 1}, block[] = {2, 3}, next[] = {end - 10, 2};
        const std::uint64_t stride[] = {6, 4}, two[] = {3, 2}, endless[] = {kUnlimited, 2};
        const std::uint64_t points[] = {end, 7, 0, 0, end - 1, 3};
        SelectionSet sets[6] = {SelectionSet(rig.context), SelectionSet(rig.context), SelectionSet(rig.context),
                                SelectionSet(rig.context), SelectionSet(rig.context), SelectionSet(rig.context)};
        ASSERT_EQ(sets[0].select_hyperslab(SelectionOp::set, {start, stride, two, block}, space), Status::ok);
        ASSERT_EQ(sets[1].select_hyperslab(SelectionOp::set, {start, {}, one, block}, space), Status::ok);
        ASSERT_EQ(sets[1].select_hyperslab(SelectionOp::or_, {next, {}, one, block}, space), Status::ok);
        ASSERT_EQ(sets[2].select_points(2, points), Status::ok);
        ASSERT_EQ(sets[3].select_hyperslab(SelectionOp::set, {start, stride, endless, block}, space), Status::ok);
        sets[4].select_none();
        for (const SelectionSet& set : sets) {
            std::byte buffer[400];
            Writer counter;
            ASSERT_EQ(encode_selection(counter, set, space), Status::ok);
            const std::size_t size = counter.written();
            ASSERT_LE(size, sizeof buffer);
            for (const std::size_t room : {size, size - 1, std::size_t{0}}) {
                Writer writer(Bytes{buffer, room});
                ASSERT_EQ(encode_selection(writer, set, space), Status::ok);
                EXPECT_EQ(writer.ok(), room == size);
            }
            Writer writer(Bytes{buffer, size});
            ASSERT_EQ(encode_selection(writer, set, space), Status::ok);
            for (std::size_t length = 0; length <= size; ++length) {
                SelectionSet back(rig.context);
                std::size_t consumed = 0;
                const Status status = decode_selection(rig.context, {buffer, length}, 0, back, consumed);
                EXPECT_EQ(status, length == size ? Status::ok : Status::corrupt_file) << end << " " << length;
                if (length == size) {
                    EXPECT_EQ(consumed, size);
                    EXPECT_TRUE(back.type() == set.type());
                    EXPECT_EQ(back.unlimited_dimension(), set.unlimited_dimension());
                    bool same = set.unlimited_dimension() >= 0 || set.type() == SelectionType::all;
                    EXPECT_TRUE(same || select_shape_same(rig.context, back, space, set, space, same) == Status::ok);
                    EXPECT_TRUE(same);
                    EXPECT_TRUE(set.type() != SelectionType::points || described(back) == described(set));
                }
            }
        }
        Writer writer;
        EXPECT_EQ(encode_selection(writer, sets[1], Dataspace::simple({end - 10, 8})), Status::invalid_argument);
        EXPECT_EQ(encode_selection(writer, sets[2], Dataspace::simple({end + 1})), Status::invalid_argument);
    }
    EXPECT_EQ(rig.tracking.blocks(), 0U);
}

// An unlimited selection ends with the largest 64-bit coordinate.
TEST(SelectionFaults, UnlimitedToTheEndOfAllCoordinates) {
    Rig rig;
    const Dataspace space = Dataspace::simple({1});
    struct Endless {
        std::uint64_t start, stride, count, block;
    };
    const Endless all[] = {{3, 5, kUnlimited, 2}, {3, 1, 1, kUnlimited}, {3, 2, kUnlimited, 2}};
    for (const Endless& each : all) {
        SelectionSet set(rig.context);
        const Hyperslab slab{{&each.start, 1}, {&each.stride, 1}, {&each.count, 1}, {&each.block, 1}};
        ASSERT_EQ(set.select_hyperslab(SelectionOp::set, slab, space), Status::ok);
        EXPECT_EQ(slice_elements(set), 1U);
        EXPECT_EQ(slices_below(set, 3), 0U);
        EXPECT_EQ(clip_extent(set, 0, false), 0U);
        EXPECT_EQ(clip_extent(set, 0, true), 3U);
        for (const std::uint64_t size : {std::uint64_t{4}, std::uint64_t{5}, std::uint64_t{1000}, kUnlimited - 1}) {
            // The slices below a size need no larger extent than that size.
            const std::uint64_t slices = slices_below(set, size);
            EXPECT_LE(clip_extent(set, slices, false), size);
            EXPECT_EQ(slices_below(set, clip_extent(set, slices, false)), slices);
        }
        EXPECT_EQ(clip_extent(set, kUnlimited - 1, false), kUnlimited);
        EXPECT_EQ(clip_extent(set, kUnlimited - 1, true), kUnlimited);
        SelectionSet block(rig.context);
        const bool blocks = each.count == kUnlimited;
        EXPECT_EQ(unlimited_block(set, 1, block), blocks ? Status::ok : Status::invalid_argument);
        EXPECT_EQ(unlimited_block(set, kUnlimited / 2, block), blocks ? Status::overflow : Status::invalid_argument);
        EXPECT_EQ(unlimited_block(set, (kUnlimited - 4) / each.stride, block),
                  blocks ? Status::overflow : Status::invalid_argument);
        EXPECT_TRUE(block.type() == (blocks ? SelectionType::hyperslabs : SelectionType::all));
        if (blocks) {
            EXPECT_EQ(block.view().hyperslab().start[0], 3 + each.stride);
            bool partial = true;
            EXPECT_EQ(first_incomplete_block(set, 3, partial), 0U);
            EXPECT_FALSE(partial);
            EXPECT_EQ(first_incomplete_block(set, 4, partial), 0U);
            EXPECT_TRUE(partial);
            EXPECT_EQ(first_incomplete_block(set, 5, partial), 1U);
            EXPECT_FALSE(partial);
        }
    }
    SelectionSet limited(rig.context);
    EXPECT_EQ(unlimited_block(limited, 0, limited), Status::invalid_argument);
}

}  // namespace

#endif
