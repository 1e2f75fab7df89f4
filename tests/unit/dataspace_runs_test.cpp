// Selections as runs of elements, and runs paired with a selection in memory, against a model of single elements.
#include "selection_runs.hpp"

#include "dataspace_model.hpp"
#include "test.hpp"

namespace {

using namespace h5mote;
using namespace h5mote_test;

TEST(SelectionRuns, MatchTheModel) {
    Random random(1);
    std::size_t cases = 0;
    for (std::size_t rank = 1; rank <= kModelRank; ++rank) {
        for (int i = 0; i < 1500; ++i, ++cases) {
            Case c;
            c.random_extent(random, rank);
            c.random_selection(random);
            const Model model(c);
            const Dataspace space = c.space();
            SelectionRuns runs;
            ASSERT_EQ(runs.reset(c.selection(), space), Status::ok);
            ASSERT_EQ(runs.element_count(), model.selected());
            SelectionRun run{};
            std::uint64_t packed = 0;
            std::uint64_t last = 0;
            while (runs.next(run)) {
                ASSERT_EQ(run.packed, packed);
                ASSERT_GT(run.length, 0U);
                ASSERT_TRUE(packed == 0 || run.offset >= last);
                ASSERT_LE(run.offset + run.length, model.size());
                for (std::uint64_t k = 0; k < run.length; ++k) {
                    ASSERT_EQ(model.packed(static_cast<std::size_t>(run.offset + k)), packed + k);
                }
                packed += run.length;
                last = run.offset + run.length;
            }
            ASSERT_EQ(packed, model.selected());
            ASSERT_FALSE(runs.next(run));
        }
    }
    EXPECT_EQ(cases, 1500 * kModelRank);
}

TEST(SelectionRuns, SeekGoesToAnyElement) {
    Random random(2);
    for (std::size_t rank = 1; rank <= kModelRank; ++rank) {
        for (int i = 0; i < 400; ++i) {
            Case c;
            c.random_extent(random, rank);
            c.random_selection(random);
            const Model model(c);
            const Dataspace space = c.space();
            SelectionRuns runs;
            ASSERT_EQ(runs.reset(c.selection(), space), Status::ok);
            SelectionRun run{};
            for (int k = 0; k < 8; ++k) {
                const std::uint64_t to = random.below(static_cast<std::uint32_t>(model.selected()) + 2);
                runs.seek(to);
                if (to >= model.selected()) {
                    ASSERT_FALSE(runs.next(run));
                    continue;
                }
                std::uint64_t at = to;
                while (runs.next(run)) {
                    ASSERT_EQ(run.packed, at);
                    ASSERT_EQ(model.packed(static_cast<std::size_t>(run.offset)), at);
                    at += run.length;
                }
                ASSERT_EQ(at, model.selected());
            }
        }
    }
}

std::size_t run_count(const Selection& selection, const Dataspace& space) {
    SelectionRuns runs;
    EXPECT_EQ(runs.reset(selection, space), Status::ok);
    std::size_t count = 0;
    for (SelectionRun run{}; runs.next(run);) {
        ++count;
    }
    return count;
}

TEST(SelectionRuns, WhatIsContiguousIsOneRun) {
    const Dataspace line = Dataspace::simple({100});
    EXPECT_EQ(run_count(Selection::all(), line), 1U);
    EXPECT_EQ(run_count(Selection::hyperslab({5}, {20}), line), 1U);
    EXPECT_EQ(run_count(Selection::hyperslab({5}, {4}, {3}, {3}), line), 1U);
    EXPECT_EQ(run_count(Selection::hyperslab({5}, {4}, {4}, {3}), line), 4U);
#if H5MOTE_MAX_RANK >= 3
    const Dataspace cube = Dataspace::simple({4, 5, 6});
    EXPECT_EQ(run_count(Selection::all(), cube), 1U);
    EXPECT_EQ(run_count(Selection::hyperslab({1, 0, 0}, {2, 5, 6}), cube), 1U);
    EXPECT_EQ(run_count(Selection::hyperslab({1, 2, 0}, {1, 2, 6}), cube), 1U);
    EXPECT_EQ(run_count(Selection::hyperslab({1, 2, 0}, {3, 2, 6}), cube), 3U);
    EXPECT_EQ(run_count(Selection::hyperslab({1, 2, 1}, {3, 2, 5}), cube), 6U);
    EXPECT_EQ(run_count(Selection::hyperslab({0, 0, 0}, {2, 5, 3}, {2, 1, 2}, {1, 1, 2}), cube), 2U);
#endif
}

TEST(SelectionRuns, ScalarNullAndNothing) {
    EXPECT_EQ(run_count(Selection::all(), Dataspace::scalar()), 1U);
    EXPECT_EQ(run_count(Selection::none(), Dataspace::scalar()), 0U);
    EXPECT_EQ(run_count(Selection::all(), Dataspace::null()), 0U);
    EXPECT_EQ(run_count(Selection::none(), Dataspace::simple({7})), 0U);
    EXPECT_EQ(run_count(Selection::all(), Dataspace::simple({0})), 0U);
    const Dataspace scalar;
    SelectionRuns runs;
    ASSERT_EQ(runs.reset(Selection::all(), scalar), Status::ok);
    SelectionRun run{};
    for (std::uint64_t to : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0}}) {
        runs.seek(to);
        EXPECT_EQ(runs.next(run), to == 0);
        EXPECT_TRUE(run.offset == 0 && run.packed == 0 && run.length == 1);
    }
    SelectionRuns unused;
    EXPECT_FALSE(unused.next(run));
}

#if H5MOTE_MAX_RANK >= 32
TEST(SelectionRuns, Rank32) {
    std::uint64_t dims[32];
    std::uint64_t start[32] = {};
    std::uint64_t count[32];
    for (std::size_t d = 0; d < 32; ++d) {
        dims[d] = d % 3 == 0 ? 2 : 1;
        count[d] = dims[d];
    }
    count[30] = 1;
    start[30] = 1;
    const Dataspace space = Dataspace::simple(dims);
    SelectionRuns runs;
    ASSERT_EQ(runs.reset(Selection::hyperslab(start, count), space), Status::ok);
    EXPECT_EQ(runs.element_count(), 1024U);
    std::uint64_t seen = 0;
    for (SelectionRun run{}; runs.next(run); ++seen) {
        ASSERT_EQ(run.offset, 2 * seen + 1);
        ASSERT_EQ(run.packed, seen);
        ASSERT_EQ(run.length, 1U);
    }
    EXPECT_EQ(seen, 1024U);
}
#endif

#if H5MOTE_MAX_RANK >= 2
TEST(SelectionRuns, AnExtentWhoseOffsetsDoNotFitIsRefused) {
    const std::uint64_t half = std::uint64_t{1} << 32;
    const Dataspace huge = Dataspace::simple({half, half});
    SelectionRuns runs;
    const std::uint64_t start[] = {half - 1, half - 2};
    const std::uint64_t count[] = {1, 1};
    const Selection corner = Selection::hyperslab(start, count);
    EXPECT_EQ(runs.reset(corner, huge), Status::overflow);
    const Dataspace large = Dataspace::simple({half, half - 1});
    ASSERT_EQ(runs.reset(corner, large), Status::ok);
    SelectionRun run{};
    ASSERT_TRUE(runs.next(run));
    EXPECT_EQ(run.offset, half * (half - 1) - 1);
}
#endif

// Pairs each run of one selection with as many elements of a memory selection: in order, then from random elements on.
void pair_all(const Case& file, const Case& memory, Random& random) {
    const Model file_model(file);
    const Model memory_model(memory);
    const Dataspace file_space = file.space();
    const Dataspace memory_space = memory.space();
    SelectionRuns runs;
    PairedRuns pairs;
    ASSERT_EQ(runs.reset(file.selection(), file_space), Status::ok);
    const Status fits = pairs.reset(memory.selection(), memory_space, runs.element_count());
    ASSERT_EQ(fits == Status::ok, file_model.selected() == memory_model.selected());
    if (fits != Status::ok) {
        return;
    }
    std::size_t done = 0;
    PairedRun piece{};
    for (SelectionRun run{}; runs.next(run);) {
        pairs.take(run);
        while (pairs.next(piece)) {
            for (std::uint64_t k = 0; k < piece.length; ++k, ++done) {
                const auto packed = file_model.packed(static_cast<std::size_t>(piece.file + k));
                ASSERT_TRUE(packed != kNotSelected);
                ASSERT_EQ(memory_model.packed(static_cast<std::size_t>(piece.memory + k)), packed);
            }
        }
    }
    ASSERT_EQ(done, file_model.selected());
    // The same with take_next(), which joins single elements into pieces of equal steps.
    ASSERT_EQ(runs.reset(file.selection(), file_space), Status::ok);
    std::uint64_t before = 0;
    for (done = 0; pairs.take_next(runs);) {
        while (pairs.next(piece)) {
            for (std::uint64_t k = 0; k < piece.length; ++k, ++done) {
                const std::uint64_t at = piece.file + k * piece.step;
                ASSERT_TRUE(done == 0 || at > before);
                ASSERT_EQ(memory_model.packed(static_cast<std::size_t>(piece.memory + k)), done);
                ASSERT_EQ(file_model.packed(static_cast<std::size_t>(at)), done);
                before = at;
            }
        }
    }
    ASSERT_EQ(done, file_model.selected());
    for (int i = 0; i < 4 && done > 0; ++i) {
        const std::uint64_t from = random.below(static_cast<std::uint32_t>(done));
        runs.seek(from);
        SelectionRun run{};
        ASSERT_TRUE(runs.next(run));
        pairs.take(run);
        ASSERT_TRUE(pairs.next(piece));
        ASSERT_EQ(piece.file, run.offset);
        ASSERT_EQ(memory_model.packed(static_cast<std::size_t>(piece.memory)), from);
    }
}

TEST(PairedRuns, MatchTheModel) {
    Random random(3);
    std::size_t paired = 0;
    for (int i = 0; i < 6000; ++i) {
        Case file;
        file.random_extent(random, 1 + random.below(kModelRank));
        file.random_selection(random);
        const std::size_t selected = Model(file).selected();
        Case memory;
        memory.random_extent(random, 1 + random.below(kModelRank));
        memory.random_selection(random);
        if (random.below(2) == 0 || Model(memory).selected() != selected) {
            // Two random selections rarely have equally many elements: take a strided line, which can have any number.
            memory.rank = 1;
            memory.whole = false;
            memory.start[0] = random.below(3);
            memory.block[0] = 1;
            memory.stride[0] = 1 + random.below(2);
            memory.count[0] = selected;
            memory.dims[0] = memory.start[0] + (selected + 1) * memory.stride[0];
        }
        if (memory.dims[0] > kModelElements && memory.rank == 1) {
            continue;
        }
        ++paired;
        pair_all(file, memory, random);
    }
    EXPECT_GT(paired, 4000U);
}

TEST(PairedRuns, SingleElementsOfARowAreOnePiece) {
    const Dataspace space = Dataspace::simple({4, 100});
    SelectionRuns runs;
    PairedRuns pairs;
    PairedRun piece{};
    const std::uint64_t start[] = {1, 5};
    const std::uint64_t count[] = {2, 30};
    const std::uint64_t stride[] = {2, 3};
    ASSERT_EQ(runs.reset(Selection::hyperslab(start, count, stride), space), Status::ok);
    for (const std::uint64_t row : {1U, 3U}) {
        ASSERT_TRUE(pairs.take_next(runs));
        ASSERT_TRUE(pairs.next(piece));
        EXPECT_EQ(piece.file, row * 100 + 5);
        EXPECT_EQ(piece.memory, row / 2 * 30);
        EXPECT_EQ(piece.length, 30U);
        EXPECT_EQ(piece.step, 3U);
        EXPECT_FALSE(pairs.next(piece));
    }
    EXPECT_FALSE(pairs.take_next(runs));
}

TEST(PairedRuns, APackedBufferKeepsRunsWhole) {
    PairedRuns pairs;
    PairedRun piece{};
    EXPECT_FALSE(pairs.next(piece));
    pairs.take({100, 7, 20});
    ASSERT_TRUE(pairs.next(piece));
    EXPECT_EQ(piece.file, 100U);
    EXPECT_EQ(piece.memory, 7U);
    EXPECT_EQ(piece.length, 20U);
    EXPECT_FALSE(pairs.next(piece));
}

}  // namespace
