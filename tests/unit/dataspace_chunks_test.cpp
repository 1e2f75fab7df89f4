// Selections of chunked extents, against a model of single elements; how chunks are numbered.
#include "chunk_grid.hpp"
#include "chunked_runs.hpp"

#include "dataspace_model.hpp"
#include "test.hpp"

namespace {

using namespace h5mote;
using namespace h5mote_test;

// Returns the element of the extent that is at `offset` in the chunk at `scaled`, or `outside` if there is none.
std::size_t element_at(const Case& c, const std::uint64_t* chunk, Span<const std::uint64_t> scaled,
                       std::uint64_t offset, std::size_t outside) {
    std::uint64_t coordinate[kModelRank] = {};
    for (std::size_t d = c.rank; d-- > 0;) {
        coordinate[d] = scaled[d] * chunk[d] + offset % chunk[d];
        offset /= chunk[d];
    }
    std::size_t element = 0;
    for (std::size_t d = 0; d < c.rank; ++d) {
        if (coordinate[d] >= c.dims[d]) {
            return outside;
        }
        element = element * static_cast<std::size_t>(c.dims[d]) + static_cast<std::size_t>(coordinate[d]);
    }
    return offset == 0 ? element : outside;
}

bool chunk_is_covered(const Case& c, const Model& model, const std::uint64_t* chunk, Span<const std::uint64_t> scaled,
                      std::uint64_t chunk_elements) {
    for (std::uint64_t i = 0; i < chunk_elements; ++i) {
        const std::size_t element = element_at(c, chunk, scaled, i, model.size());
        if (element < model.size() && model.packed(element) == kNotSelected) {
            return false;
        }
    }
    return true;
}

void check(const Case& c, const std::uint64_t* chunk) {
    static bool seen[kModelElements];
    for (bool& flag : seen) {
        flag = false;
    }
    const Model model(c);
    const Dataspace space = c.space();
    std::uint64_t chunk_elements = 0;
    std::uint64_t chunks = 1;
    for (std::size_t d = 0; d < c.rank; ++d) {
        chunks *= (c.dims[d] + chunk[d] - 1) / chunk[d];
    }
    ASSERT_EQ(chunk_element_count(space, c.view(chunk), chunk_elements), Status::ok);
    ChunkedRuns runs;
    ASSERT_EQ(runs.reset(c.selection(), space, c.view(chunk)), Status::ok);
    ASSERT_EQ(runs.element_count(), model.selected());
    std::size_t elements = 0;
    std::uint64_t next_index = 0;
    SelectionRun run{};
    while (runs.next_chunk()) {
        const std::uint64_t index =
            chunk_number(static_cast<unsigned>(c.rank), space.max_dims().data(), chunk, runs.scaled().data());
        ASSERT_TRUE(index >= next_index && index < chunks);
        next_index = index + 1;
        ASSERT_EQ(runs.covers_chunk(), chunk_is_covered(c, model, chunk, runs.scaled(), chunk_elements));
        std::size_t in_chunk = 0;
        while (runs.next(run)) {
            ASSERT_GT(run.length, 0U);
            for (std::uint64_t k = 0; k < run.length; ++k, ++in_chunk) {
                const std::size_t element = element_at(c, chunk, runs.scaled(), run.offset + k, model.size());
                ASSERT_LT(element, model.size());
                ASSERT_EQ(model.packed(element), run.packed + k);
                ASSERT_FALSE(seen[element]);
                seen[element] = true;
            }
        }
        ASSERT_GT(in_chunk, 0U);
        elements += in_chunk;
    }
    ASSERT_EQ(elements, model.selected());
    ASSERT_FALSE(runs.next_chunk());
}

TEST(ChunkedRuns, MatchTheModel) {
    Random random(4);
    std::size_t cases = 0;
    for (std::size_t rank = 1; rank <= kModelRank; ++rank) {
        for (int i = 0; i < 1500; ++i, ++cases) {
            Case c;
            c.random_extent(random, rank);
            c.random_selection(random);
            std::uint64_t chunk[kModelRank] = {};
            for (std::size_t d = 0; d < rank; ++d) {
                chunk[d] = 1 + random.below(static_cast<std::uint32_t>(c.dims[d]) + 2);
            }
            check(c, chunk);
        }
    }
    EXPECT_EQ(cases, 1500 * kModelRank);
}

TEST(ChunkedRuns, AWholeChunkIsOneRun) {
    const Dataspace line = Dataspace::simple({100});
    const std::uint64_t sixteen[] = {16};
    ChunkedRuns runs;
    ASSERT_EQ(runs.reset(Selection::all(), line, sixteen), Status::ok);
    SelectionRun run{};
    for (std::uint64_t i = 0; i < 7; ++i) {
        ASSERT_TRUE(runs.next_chunk());
        EXPECT_EQ(runs.scaled()[0], i);
        EXPECT_TRUE(runs.covers_chunk());
        ASSERT_TRUE(runs.next(run));
        EXPECT_EQ(run.offset, 0U);
        EXPECT_EQ(run.packed, 16 * i);
        EXPECT_EQ(run.length, i == 6 ? 4U : 16U);
        EXPECT_FALSE(runs.next(run));
    }
    EXPECT_FALSE(runs.next_chunk());
}

TEST(ChunkedRuns, ChunksBetweenBlocksAreNotVisited) {
    const Dataspace line = Dataspace::simple({1000000});
    const std::uint64_t ten[] = {10};
    const std::uint64_t start[] = {5};
    const std::uint64_t count[] = {3};
    const std::uint64_t stride[] = {400000};
    ChunkedRuns runs;
    ASSERT_EQ(runs.reset(Selection::hyperslab(start, count, stride, ten), line, ten), Status::ok);
    const std::uint64_t expected[] = {0, 1, 40000, 40001, 80000, 80001};
    for (const std::uint64_t chunk : expected) {
        ASSERT_TRUE(runs.next_chunk());
        EXPECT_EQ(runs.scaled()[0], chunk);
        EXPECT_FALSE(runs.covers_chunk());
    }
    EXPECT_FALSE(runs.next_chunk());
}

TEST(ChunkedRuns, FarCornerOfAHugeExtent) {
    // Where the rank allows, the extent has more elements than 64 bits can count: chunks are found nevertheless.
    const std::uint64_t most = kUnlimited - 1;
#if H5MOTE_MAX_RANK >= 2
    const Dataspace space = Dataspace::simple({most, most});
    const std::uint64_t chunk[] = {16, 7};
    const std::uint64_t start[] = {most - 1, most - 1};
    const std::uint64_t count[] = {1, 1};
#else
    const Dataspace space = Dataspace::simple({most});
    const std::uint64_t chunk[] = {16};
    const std::uint64_t start[] = {most - 1};
    const std::uint64_t count[] = {1};
#endif
    ChunkedRuns runs;
    ASSERT_EQ(runs.reset(Selection::hyperslab(start, count), space, chunk), Status::ok);
    ASSERT_TRUE(runs.next_chunk());
    EXPECT_EQ(runs.scaled()[0], (most - 1) / 16);
    SelectionRun run{};
    ASSERT_TRUE(runs.next(run));
    EXPECT_EQ(run.packed, 0U);
    EXPECT_EQ(run.length, 1U);
#if H5MOTE_MAX_RANK >= 2
    EXPECT_EQ(run.offset, (most - 1) % 16 * 7 + (most - 1) % 7);
    EXPECT_EQ(runs.reset(Selection::all(), space, chunk), Status::overflow);
    std::uint64_t number = 0;
    const std::uint64_t wide[] = {most, 2};
    EXPECT_EQ(chunk_element_count(space, wide, number), Status::overflow);
#endif
    EXPECT_FALSE(runs.next(run));
    EXPECT_FALSE(runs.next_chunk());
}

TEST(ChunkedRuns, ChunkDimensionsAreChecked) {
    const Dataspace line = Dataspace::unlimited(5);
    const std::uint64_t zero[] = {0};
    const std::uint64_t two_ranks[] = {1, 1};
    ChunkedRuns runs;
    EXPECT_EQ(runs.reset(Selection::all(), line, zero), Status::invalid_argument);
    EXPECT_EQ(runs.reset(Selection::all(), line, two_ranks), Status::invalid_argument);
    EXPECT_EQ(runs.reset(Selection::all(), Dataspace::scalar(), {}), Status::invalid_argument);
    EXPECT_FALSE(chunk_fits(5, kUnlimited, 0));
    EXPECT_TRUE(chunk_fits(5, kUnlimited, 8));
    EXPECT_FALSE(chunk_fits(5, 5, 8));
    EXPECT_FALSE(chunk_fits(5, 7, 8));
    EXPECT_TRUE(chunk_fits(5, 8, 8));
    EXPECT_TRUE(chunk_fits(0, 5, 8));
}

TEST(ChunkedRuns, AnEmptyExtentHasNoChunks) {
    const Dataspace line = Dataspace::unlimited();
    const std::uint64_t eight[] = {8};
    ChunkedRuns runs;
    ASSERT_EQ(runs.reset(Selection::all(), line, eight), Status::ok);
    EXPECT_FALSE(runs.next_chunk());
    SelectionRun run{};
    EXPECT_FALSE(runs.next(run));
}

#if H5MOTE_MAX_RANK >= 3
TEST(ChunkNumber, TheUnlimitedDimensionCountsSlowest) {
    const std::uint64_t chunk[] = {2, 5, 3};
    const std::uint64_t scaled[] = {1, 7, 2};
    const std::uint64_t endless[] = {4, kUnlimited, 9};
    // There are 2 chunks along the first dimension and 3 along the last one.
    EXPECT_EQ(chunk_number(3, endless, chunk, scaled), (7U * 2 + 1) * 3 + 2);
    const std::uint64_t limited[] = {5, 50, 9};
    EXPECT_EQ(chunk_number(3, limited, chunk, scaled), (1U * 10 + 7) * 3 + 2);
}

// The chunk cache and the B-trees name such chunks by their coordinates too.
TEST(ChunkNumber, SeveralUnlimitedDimensionsShareNumbers) {
    const std::uint64_t chunk[] = {2, 5, 3};
    const std::uint64_t most[] = {kUnlimited, kUnlimited, 9};
    const std::uint64_t one[] = {1, 7, 2}, other[] = {7, 1, 2}, below[] = {7, 1, 1};
    EXPECT_EQ(chunk_number(3, most, chunk, one), (1U + 7) * 3 + 2);
    EXPECT_EQ(chunk_number(3, most, chunk, other), (1U + 7) * 3 + 2);
    EXPECT_EQ(chunk_number(3, most, chunk, below), (1U + 7) * 3 + 1);
}
#endif

#if H5MOTE_MAX_RANK >= 32
TEST(ChunkedRuns, Rank32) {
    std::uint64_t dims[32];
    std::uint64_t chunk[32];
    for (std::size_t d = 0; d < 32; ++d) {
        dims[d] = d % 4 == 0 ? 3 : 1;
        chunk[d] = d % 8 == 0 ? 2 : 1;
    }
    const Dataspace space = Dataspace::simple(dims);
    ChunkedRuns runs;
    ASSERT_EQ(runs.reset(Selection::all(), space, chunk), Status::ok);
    std::uint64_t chunks = 0;
    std::uint64_t elements = 0;
    while (runs.next_chunk()) {
        ++chunks;
        for (SelectionRun run{}; runs.next(run);) {
            elements += run.length;
        }
    }
    EXPECT_EQ(chunks, 2U * 2 * 2 * 2 * 3 * 3 * 3 * 3);
    EXPECT_EQ(elements, 6561U);
}
#endif

}  // namespace
