// Selections that are stored, and sets that own their numbers: combined, encoded, damaged, without memory.
#include "chunked_runs.hpp"
#include "dataspace_model.hpp"
#include "selection_codec.hpp"
#include "selection_runs.hpp"
#include "test.hpp"
#include "test_allocators.hpp"

#include <h5mote/arena.hpp>
#include <h5mote/selection_set.hpp>

#include <type_traits>

namespace {

using namespace h5mote;
using namespace h5mote_test;

#if H5MOTE_MAX_RANK >= 2

alignas(16) std::byte memory[8192];

struct SelectionMemory {
    Arena arena{memory};
    NullPort port;
    Context context{arena, port, {}};
};

constexpr std::size_t kRows = 9;
constexpr std::size_t kColumns = 11;

// A model of a selection: one flag for each element.
struct Bits {
    bool set[kRows * kColumns] = {};
};

Bits bits_of(const Selection& selection, const Dataspace& space) {
    Bits bits;
    SelectionRuns runs;
    EXPECT_EQ(runs.reset(selection, space), Status::ok);
    std::uint64_t end = 0;
    for (SelectionRun run{}; runs.next(run);) {
        EXPECT_TRUE(run.packed == 0 || run.offset >= end);
        end = run.offset + run.length;
        for (std::uint64_t i = run.offset; i < end; ++i) {
            bits.set[i] = true;
        }
    }
    return bits;
}

bool combined(SelectionOp op, bool a, bool b) {
    switch (op) {
        case SelectionOp::or_:
            return a || b;
        case SelectionOp::and_:
            return a && b;
        case SelectionOp::xor_:
            return a != b;
        case SelectionOp::not_b:
            return a && !b;
        case SelectionOp::not_a:
            return b && !a;
        default:
            return b;
    }
}

TEST(SelectionSet, CombinationsMatchTheModel) {
    Random random(31);
    const Dataspace space = Dataspace::simple({kRows, kColumns});
    SelectionMemory m;
    const std::size_t before = m.arena.usage().now;
    for (int i = 0; i < 400; ++i) {
        SelectionSet set(m.context);
        Bits model = bits_of(Selection::all(), space);
        for (int step = 0; step < 6; ++step) {
            Case c;
            c.rank = 2;
            c.dims[0] = kRows;
            c.dims[1] = kColumns;
            c.random_selection(random);
            const auto op = static_cast<SelectionOp>(random.below(6));
            const Bits other = bits_of(c.selection(), space);
            ASSERT_EQ(set.combine(op, c.selection(), space), Status::ok);
            std::size_t count = 0;
            for (std::size_t at = 0; at < kRows * kColumns; ++at) {
                model.set[at] = combined(op, model.set[at], other.set[at]);
                count += model.set[at] ? 1 : 0;
            }
            const Bits ours = bits_of(set, space);
            std::uint64_t elements = 0;
            ASSERT_EQ(set.view().element_count(space, elements), Status::ok);
            ASSERT_EQ(elements, count);
            for (std::size_t at = 0; at < kRows * kColumns; ++at) {
                ASSERT_EQ(ours.set[at], model.set[at]);
            }
        }
    }
    EXPECT_EQ(m.arena.usage().now, before);
}

TEST(SelectionSet, WhatIsRegularBecomesRegular) {
    const Dataspace space = Dataspace::simple({8, 8});
    SelectionMemory m;
    SelectionSet set(m.context);
    EXPECT_EQ(set.select_hyperslab(SelectionOp::set, {}, space), Status::invalid_argument);
    const std::uint64_t start[] = {1, 2}, again[] = {1, 5}, one[] = {1, 1}, block[] = {3, 2};
    ASSERT_EQ(set.select_hyperslab(SelectionOp::set, {start, {}, one, block}, space), Status::ok);
    ASSERT_EQ(set.select_hyperslab(SelectionOp::or_, {again, {}, one, block}, space), Status::ok);
    ASSERT_TRUE(set.is_regular());
    const Hyperslab slab = set.view().hyperslab();
    EXPECT_TRUE(slab.start[1] == 2 && slab.stride[1] == 3 && slab.count[1] == 2 && slab.block[1] == 2);
    EXPECT_TRUE(slab.start[0] == 1 && slab.count[0] == 1 && slab.block[0] == 3);
    const std::uint64_t corner[] = {0, 0};
    ASSERT_EQ(set.select_hyperslab(SelectionOp::or_, {corner, {}, one, {}}, space), Status::ok);
    EXPECT_FALSE(set.is_regular());
    ASSERT_EQ(set.select_hyperslab(SelectionOp::not_b, {corner, {}, one, {}}, space), Status::ok);
    EXPECT_TRUE(set.is_regular());
    SelectionSet moved(std::move(set));
    EXPECT_TRUE(moved.is_regular());
    EXPECT_EQ(moved.combine(SelectionOp::not_b, Selection::all(), space), Status::ok);
    EXPECT_TRUE(moved.type() == SelectionType::none);
}

TEST(SelectionSet, WhatIsNotDefinedIsRefused) {
    const Dataspace space = Dataspace::simple({8, 8});
    SelectionMemory m;
    SelectionSet set(m.context);
    const std::uint64_t points[] = {1, 2, 7, 7, 1, 2};
    const std::uint64_t start[] = {1, 1}, count[] = {kUnlimited, 2}, stride[] = {2, 2},
                        both[] = {kUnlimited, kUnlimited};
    const std::uint64_t far[] = {kUnlimited - 1, 0}, two[] = {2, 2};
    EXPECT_EQ(set.select_points(2, {points, 5}), Status::invalid_argument);
    EXPECT_EQ(set.select_points(0, {points, 6}), Status::invalid_argument);
    ASSERT_EQ(set.select_points(2, {points, 4}), Status::ok);
    ASSERT_EQ(set.add_points(2, {points, 6}, true), Status::ok);
    EXPECT_EQ(set.view().point_count(), 5U);
    EXPECT_EQ(set.view().point_list()[6], 1U);
    EXPECT_EQ(set.select_hyperslab(SelectionOp::or_, {start, stride, two, {}}, space), Status::invalid_argument);
    EXPECT_EQ(set.select_hyperslab(SelectionOp::set, {start, stride, both, {}}, space), Status::invalid_argument);
    EXPECT_EQ(set.select_hyperslab(SelectionOp::set, {far, stride, two, {}}, space), Status::invalid_argument);
    EXPECT_EQ(set.select_hyperslab(SelectionOp::set, {start, {}, two, two}, space), Status::invalid_argument);
    EXPECT_EQ(set.view().point_count(), 5U);
    ASSERT_EQ(set.select_hyperslab(SelectionOp::set, {start, stride, count, {}}, space), Status::ok);
    EXPECT_EQ(set.unlimited_dimension(), 0);
    EXPECT_EQ(set.select_hyperslab(SelectionOp::or_, {start, stride, two, {}}, space), Status::invalid_argument);
    EXPECT_EQ(set.unlimited_dimension(), 0);
    EXPECT_EQ(set.view().validate(space), Status::invalid_argument);
    ASSERT_EQ(set.clip_unlimited(6), Status::ok);
    std::uint64_t elements = 0;
    EXPECT_EQ(set.view().element_count(space, elements), Status::ok);
    EXPECT_EQ(elements, 6U);  // rows 1, 3, 5
}

// ---- encoded -----------------------------------------------------------------------------------------------------

// A selection encoded in version 3: hyperslabs of two blocks, coordinates of two bytes.
const unsigned char kBlocks3[] = {2, 0, 0, 0, 3, 0, 0, 0, 0, 2, 2, 0, 0, 0, 2, 0,  //
                                  1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0};
// Version 3: a regular hyperslab, unlimited in the second dimension.
const unsigned char kRegular3[] = {2, 0, 0, 0, 3, 0, 0, 0, 1, 2, 2, 0, 0,    0,  //
                                   1, 0, 2, 0, 3, 0, 1, 0, 0, 0, 4, 0, 0xff, 0xff, 2, 0};
// Version 2: two points with coordinates of 8 bytes.
const unsigned char kPoints2[] = {1, 0, 0, 0, 2, 0, 0, 0, 8, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0,  //
                                  9, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0};
// Version 1: three blocks that overlap and touch.
const unsigned char kBlocks1[] = {2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0,  //
                                  2, 0, 0, 0, 5, 0, 0, 0, 4, 0, 0, 0, 7,  0, 0, 0, 8, 0, 0, 0, 8, 0, 0, 0};
const unsigned char kAll[] = {3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};

template <std::size_t N>
ConstBytes bytes(const unsigned char (&array)[N]) {
    return {reinterpret_cast<const std::byte*>(array), N};
}

TEST(SelectionCodec, EveryVersionIsRead) {
    SelectionMemory m;
    SelectionSet set(m.context);
    std::size_t consumed = 0;
    std::uint64_t low[2], high[2];
    const Dataspace space = Dataspace::simple({9, 9});
    ASSERT_EQ(decode_selection(m.context, bytes(kBlocks3), 2, set, consumed), Status::ok);
    EXPECT_EQ(consumed, sizeof kBlocks3);
    SelectionBlocks blocks;
    ASSERT_EQ(blocks.reset(set, space), Status::ok);
    ASSERT_TRUE(blocks.next(low, high));
    EXPECT_TRUE(low[0] == 1 && low[1] == 2 && high[0] == 3 && high[1] == 4);
    ASSERT_TRUE(blocks.next(low, high));
    EXPECT_TRUE(low[0] == 5 && low[1] == 6 && high[0] == 7 && high[1] == 8);
    EXPECT_FALSE(blocks.next(low, high));

    ASSERT_EQ(decode_selection(m.context, bytes(kRegular3), 0, set, consumed), Status::ok);
    EXPECT_EQ(set.unlimited_dimension(), 1);
    EXPECT_EQ(set.view().hyperslab().count[0], 3U);
    EXPECT_EQ(set.view().hyperslab().block[1], 2U);

    ASSERT_EQ(decode_selection(m.context, bytes(kPoints2), 1, set, consumed), Status::ok);
    EXPECT_EQ(set.view().point_count(), 2U);
    EXPECT_EQ(set.view().point_list()[0], (std::uint64_t{1} << 32) + 9);
    EXPECT_EQ(set.view().point_list()[1], 4U);

    ASSERT_EQ(decode_selection(m.context, bytes(kBlocks1), 1, set, consumed), Status::ok);
    ASSERT_TRUE(set.is_regular());
    EXPECT_EQ(set.view().hyperslab().start[0], 2U);
    EXPECT_EQ(set.view().hyperslab().block[0], 7U);

    ASSERT_EQ(decode_selection(m.context, bytes(kAll), 7, set, consumed), Status::ok);
    EXPECT_TRUE(set.type() == SelectionType::all);
    EXPECT_EQ(consumed, sizeof kAll);
}

// Every bit is flipped and the encoding is cut off everywhere: decoding returns a status and reads no further.
template <std::size_t N>
std::size_t damage(const unsigned char (&good)[N]) {
    SelectionMemory m;
    SelectionSet set(m.context);
    std::byte copy[N];
    std::size_t refused = 0;
    std::size_t consumed = 0;
    for (std::size_t i = 0; i < N; ++i) {
        EXPECT_EQ(decode_selection(m.context, bytes(good).first(i), 0, set, consumed), Status::corrupt_file);
        for (unsigned bit = 0; bit < 8; ++bit) {
            for (std::size_t k = 0; k < N; ++k) {
                copy[k] = static_cast<std::byte>(good[k]);
            }
            copy[i] ^= static_cast<std::byte>(1U << bit);
            const Status status = decode_selection(m.context, {copy, N}, 0, set, consumed);
            refused += status == Status::ok ? 0 : 1;
            EXPECT_TRUE(status != Status::ok || consumed <= N);
        }
    }
    return refused;
}

TEST(SelectionCodec, DamageIsRefusedOrHarmless) {
    std::size_t refused = damage(kBlocks3) + damage(kRegular3);
    refused += damage(kPoints2) + damage(kBlocks1) + damage(kAll);
    EXPECT_GT(refused, 500U);
}

TEST(SelectionCodec, WithoutMemoryNothingChanges) {
    SelectionMemory m;
    const std::size_t before = m.arena.usage().now;
    FailingAllocator failing(m.arena);
    Context context{failing, m.port, {}};
    const Dataspace space = Dataspace::simple({9, 9});
    const std::uint64_t start[] = {0, 3}, two[] = {2, 2}, stride[] = {4, 3};
    bool done = false;
    unsigned points = 0;
    for (unsigned k = 1; !done; ++k, ++points) {
        SelectionSet set(context);
        failing.disarm();
        ASSERT_EQ(set.select_hyperslab(SelectionOp::set, {start, {}, two, {}}, space), Status::ok);
        failing.arm(k, true);
        std::size_t consumed = 0;
        Status status = decode_selection(context, bytes(kBlocks3), 2, set, consumed);
        if (status == Status::ok) {
            status = set.select_hyperslab(SelectionOp::xor_, {start, stride, two, {}}, space);
            const Selection now = set;
            std::uint64_t elements = 0;
            ASSERT_EQ(now.element_count(space, elements), Status::ok);
            ASSERT_EQ(elements, status == Status::ok ? 22U : 18U);
        } else {
            ASSERT_TRUE(set.is_regular());
        }
        ASSERT_TRUE(status == Status::ok || status == Status::out_of_memory);
        done = status == Status::ok;
        failing.disarm();
    }
    EXPECT_GT(points, 15U);
    EXPECT_EQ(m.arena.usage().now, before);
}

// A Selection refers to the numbers of the hyperslab that it was made from. What would leave it dangling must not
// compile.
static_assert(!std::is_constructible_v<Selection, OwnHyperslab<2>>);
static_assert(!std::is_constructible_v<Selection, const OwnHyperslab<2>>);
static_assert(!std::is_convertible_v<OwnHyperslab<2>, Selection>);
static_assert(!std::is_assignable_v<Selection&, OwnHyperslab<2>>);
static_assert(!std::is_copy_constructible_v<OwnHyperslab<2>> && !std::is_move_constructible_v<OwnHyperslab<2>>);
static_assert(!std::is_assignable_v<OwnHyperslab<2>&, OwnHyperslab<2>>);
static_assert(std::is_constructible_v<Selection, const OwnHyperslab<2>&>);

TEST(Selection, NumbersWrittenInPlaceAreKept) {
    const auto kept = Selection::hyperslab({1, 2}, {2, 2}, {3, 1});
    const Selection& bound = Selection::hyperslab({0, 0}, {1, 1}, {1, 1}, {2, 3});
    std::uint64_t over_the_stack[32];
    for (std::uint64_t& each : over_the_stack) {
        each = 99;
    }
    EXPECT_EQ(over_the_stack[31], 99U);
    const Dataspace space = Dataspace::simple({6, 5});
    std::uint64_t count = 0;
    EXPECT_EQ(kept.element_count(space, count), Status::ok);
    EXPECT_EQ(count, 4U);
    std::uint64_t low[2];
    std::uint64_t high[2];
    EXPECT_EQ(kept.bounds(space, low, high), Status::ok);
    EXPECT_EQ(low[0], 1U);
    EXPECT_EQ(low[1], 2U);
    EXPECT_EQ(high[0], 4U);
    EXPECT_EQ(high[1], 3U);
    EXPECT_EQ(bound.element_count(space, count), Status::ok);
    EXPECT_EQ(count, 6U);
    const std::int64_t offset[] = {1, 1};
    const Selection moved = kept.moved_by(offset);
    EXPECT_EQ(moved.bounds(space, low, high), Status::ok);
    EXPECT_EQ(high[0], 5U);
}

#endif

}  // namespace
