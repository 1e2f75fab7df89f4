// What a chunk table that was never filled leaves alone.
#include "chunk_table.hpp"
#include "storage_bench.hpp"

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

using namespace h5mote;
using namespace h5mote_test;

namespace {

// Leaves `value` wherever functions that are called next have variables that they do not set.
[[gnu::noinline]] std::uint64_t fill_stack(std::uint64_t value) noexcept {
    volatile std::uint64_t words[512];
    for (volatile std::uint64_t& each : words) {
        each = value;
    }
    return words[7];
}

}  // namespace

// A dataset that gets its index with the first chunk is taken back: nothing else is given up with it, whatever lies in
// the memory of the index that was not opened.
TEST(ChunkTable, AnIndexThatIsNotThereIsNotGivenUp) {
    Bench bench;
    FileState file(bench.library, bench.driver);
    FileAccess access;
    access.metadata_cache = 2048;
    ASSERT_EQ(file.create(access, FileCreate()), Status::ok);
    Address address = 0;
    {
        Pinned block;
        ASSERT_EQ(file.create_block(Usage::object_header, 100, 100, block), Status::ok);
        address = block->address();
    }
    LayoutMessage layout;
    layout.version = 4;
    layout.layout_class = Layout::chunked;
    layout.index = ChunkIndex::extensible_array;
    ChunkTableShape shape;
    shape.chunk_bytes = 8;
    shape.rank = 1;
    ASSERT_EQ(fill_stack(address), address);
    ChunkTable::discard_fresh(file, layout, shape);
    EXPECT_TRUE(file.cache.find(address));
    file.abandon();
}

#endif
