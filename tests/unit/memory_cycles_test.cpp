// An arena of exactly required_memory(limits) bytes suffices for ever: files are opened, written, closed and reopened,
// ten thousand times, with everything open at once that the limits allow.
#include "memory_cycles.hpp"

#include <cstdio>

using namespace h5mote;
using namespace h5mote_test;

namespace {

// After so many cycles the file is created anew: that of the logger, and the rich one.
constexpr unsigned kCyclesOfALog = 50;
constexpr unsigned kCyclesOfAGrid = 2;
// After so many cycles the sizes of chunks and caches change.
constexpr unsigned kCyclesOfAShape = 20;

struct Row {
    std::uint32_t t;
    std::int16_t accel[3];
    std::uint16_t flags;
    static Row at(std::uint32_t i) noexcept { return {i, {1, 2, 3}, static_cast<std::uint16_t>(i * 7)}; }
};
H5MOTE_COMPOUND(Row, t, accel, flags)

constexpr Limits log_limits() noexcept {
    Limits limits;
    limits.access.metadata_cache = 2048;
    limits.access.chunk_cache = 16 * sizeof(Row) + 32 * 8;
    limits.open_datasets = 2;
    limits.chunk_buffers = 2;
    return limits;
}

template <typename Memory>
void go_round(Memory& memory, const FileAccess& access, unsigned cycles_of_one_file,
              Status (&work)(Library&, Driver&, const FileAccess&, unsigned)) {
    MemoryDriver driver(Bytes{bench_storage, sizeof bench_storage});
    for (unsigned cycle = 0; cycle < kCycles; ++cycle) {
        if (cycle % cycles_of_one_file == 0) {
            ASSERT_EQ(driver.truncate(0), Status::ok);
        }
        ASSERT_EQ(work(memory.library, driver, access, cycle), Status::ok);
        ASSERT_EQ(memory.arena.usage().now, 0U);
        ASSERT_TRUE(memory.arena.check());
    }
}

#if H5MOTE_WRITE

// One session of a logger: appends to one log and to a second one beside it, and sometimes rewrites an attribute.
Status session(Library& library, Driver& driver, const FileAccess& access, unsigned cycle) noexcept {
    auto file = File::open_or_create(library, driver, access);
    H5MOTE_TRY(file.status());
    Group root = file->root();
    DatasetCreate layout;
    layout.chunk = {16};
    layout.reserve = 1024;
    auto log = root.open_or_create_dataset<Row>("log", layout);
    H5MOTE_TRY(log.status());
    layout.chunk = {32};
    auto events = root.open_or_create_dataset<std::uint64_t>("events", layout);
    H5MOTE_TRY(events.status());
    for (unsigned i = 0; i < 5 + cycle % 9; ++i) {
        H5MOTE_TRY(log->append(Row::at(static_cast<std::uint32_t>(log->size()))));
        if (i % 4 == 0) {
            H5MOTE_TRY(events->append(std::uint64_t{cycle}));
        }
    }
    H5MOTE_TRY(root.write_attribute("cycle", cycle));
    H5MOTE_TRY(file->flush());
    return file->close();
}

#endif

}  // namespace

#if H5MOTE_WRITE

// A Library that is given no list has formats::free_space in most builds, and every file of such a Library an object of
// it.
TEST(MemoryCycles, CountsWhatALibraryHasByDefault) {
    Limits without;
    without.free_space = false;
    Formats standard = formats::standard;
    const bool by_default = standard.free_space != nullptr;
    EXPECT_EQ(required_memory(Limits{}) - required_memory(without),
              by_default ? arena_block_size(footprint::kFreeSpace) : 0U);
}

TEST(MemoryCycles, ALogger) {
    constexpr Limits kLimits = log_limits();
    static Exact<required_memory(kLimits)> exact;
    go_round(exact, kLimits.access, kCyclesOfALog, session);
}

#endif

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS

namespace {

// The sizes of one program's chunks and caches.
struct Shape {
    Limits limits;
    std::uint32_t log_chunk;  // rows
    std::uint32_t grid_chunk[2];
    std::uint32_t width;  // columns of the grid
    bool deflate;
};

Shape shape_of(Numbers& numbers) noexcept {
    Shape shape{};
    shape.log_chunk = 1 + numbers.below(64);
    shape.grid_chunk[0] = 1 + numbers.below(8);
    shape.grid_chunk[1] = 4 + numbers.below(29);
    shape.width = 32;
    shape.deflate = numbers.below(2) != 0;
    const std::size_t log_bytes = shape.log_chunk * sizeof(Row);
    const std::size_t grid_bytes = std::size_t{shape.grid_chunk[0]} * shape.grid_chunk[1] * sizeof(float);
    const std::size_t larger = log_bytes > grid_bytes ? log_bytes : grid_bytes;
    const std::size_t smaller = log_bytes < grid_bytes ? log_bytes : grid_bytes;
    Limits& limits = shape.limits;
    limits.access.metadata_cache = 2048 + 512 * numbers.below(9);
    limits.access.chunk_cache = larger + numbers.below(static_cast<std::uint32_t>(3 * larger));
    limits.open_datasets = 3;
    limits.max_rank = 2;
    limits.filters = 2;
    limits.filter_work = (shape.deflate ? 3168 : 512) + 2 * grid_bytes;
    limits.chunk_buffers = static_cast<std::uint32_t>(limits.access.chunk_cache / (smaller < 64 ? 64 : smaller)) + 1;
    limits.partial_io = true;
    return shape;
}

// Groups, attributes of several sizes, an unfiltered log and a filtered grid, read back in parts.
Status rich_session(Library& library, Driver& driver, const Shape& shape, unsigned cycle) noexcept {
    auto file = File::open_or_create(library, driver, shape.limits.access);
    H5MOTE_TRY(file.status());
    Group root = file->root();
    auto group = root.open_or_create_group("group");
    H5MOTE_TRY(group.status());
    H5MOTE_TRY(group->write_attribute("note", "a text of some length, so that its message is not small"));
    H5MOTE_TRY(root.write_attribute("cycle", cycle));
    DatasetCreate layout;
    layout.chunk = {shape.log_chunk};
    layout.reserve = 1024;
    auto log = group->open_or_create_dataset<Row>("log", layout);
    H5MOTE_TRY(log.status());
    DatasetCreate grid_layout;
    grid_layout.chunk = {shape.grid_chunk[0], shape.grid_chunk[1]};
    grid_layout.filters = {filters::shuffle, filters::deflate};
    if (!shape.deflate) {
        grid_layout.filters = {filters::shuffle, filters::fletcher32};
    }
    auto grid = group->open_or_create_dataset<float>("grid", grid_layout,
                                                     Dataspace::simple({0, shape.width}, {kUnlimited, shape.width}));
    H5MOTE_TRY(grid.status());
    static float line[256];
    for (unsigned i = 0; i < 256; ++i) {
        line[i] = static_cast<float>((cycle + i) % 50);
    }
    for (unsigned i = 0; i < 3; ++i) {
        H5MOTE_TRY(log->append(Row::at(static_cast<std::uint32_t>(log->size()))));
        const std::uint64_t rows = grid->size();
        H5MOTE_TRY(grid->set_extent({rows + 1, shape.width}));
        H5MOTE_TRY(
            grid->write(Selection::hyperslab({rows, 0}, {1, shape.width}), Span<const float>(line, shape.width)));
    }
    H5MOTE_TRY(file->flush());
    float back[16];
    const std::uint64_t row = cycle * 5U % grid->size();
    H5MOTE_TRY(grid->read(Selection::hyperslab({row, 8}, {1, 16}), Span<float>(back)));
    Row found{};
    const std::uint64_t at = cycle * 3U % log->size();
    H5MOTE_TRY(log->read(Selection::hyperslab({at}, {1}), Span<Row>(&found, 1)));
    if (found.t != at) {
        return Status::corrupt_file;
    }
    return file->close();
}

// Runs sessions of one shape in an arena of the memory that it requires. Returns false when one failed.
bool go_round(const Shape& shape, Bytes memory, unsigned cycles) {
    const std::size_t size = required_memory(shape.limits) + kBenchPlans;
    MemoryDriver driver(Bytes{bench_storage, sizeof bench_storage});
    bool good = size <= memory.size();
    for (unsigned cycle = 0; good && cycle < cycles; ++cycle) {
        good = cycle % kCyclesOfAGrid != 0 || driver.truncate(0) == Status::ok;
        Arena arena(memory.first(size));
        NullPort port;
        Library library(arena, port, bench_filters());
        library.set_free_list_limits(kBenchLists);
        const Status status = rich_session(library, driver, shape, cycle);
        EXPECT_EQ(status, Status::ok);
        EXPECT_EQ(arena.usage().now, 0U);
        good = good && status == Status::ok && arena.usage().now == 0;
#ifndef H5MOTE_BARE_TESTS
        if (!good) {
            std::printf("cycle %u: %s, %u bytes, at most %u used; log %u, grid %u x %u, caches %u and %u\n", cycle,
                        to_string(status), static_cast<unsigned>(size), static_cast<unsigned>(arena.usage().peak),
                        static_cast<unsigned>(shape.log_chunk), static_cast<unsigned>(shape.grid_chunk[0]),
                        static_cast<unsigned>(shape.grid_chunk[1]),
                        static_cast<unsigned>(shape.limits.access.metadata_cache),
                        static_cast<unsigned>(shape.limits.access.chunk_cache));
        }
#endif
    }
    return good;
}

}  // namespace

TEST(MemoryCycles, GroupsAttributesAndPartialReads) {
    Numbers numbers(5);
    for (unsigned cycle = 0; cycle < kCycles; cycle += kCyclesOfAShape) {
        Shape shape = shape_of(numbers);
        while (required_memory(shape.limits) + kBenchPlans > sizeof bench_memory) {
            shape = shape_of(numbers);
        }
        ASSERT_TRUE(go_round(shape, bench_memory, kCyclesOfAShape));
    }
}

#ifndef H5MOTE_BARE_TESTS
// Compressing needs more work memory than expanding, and asks for it when the chunks that were read fill the arena.
TEST(MemoryCycles, CompressingAfterReading) {
    Shape shape{};
    shape.log_chunk = 130;
    shape.grid_chunk[0] = 4;
    shape.grid_chunk[1] = shape.width = 256;
    shape.deflate = true;
    shape.limits.access.metadata_cache = 4096;
    shape.limits.access.chunk_cache = 16384;
    shape.limits.open_datasets = 2;
    shape.limits.max_rank = 2;
    shape.limits.filters = 2;
    shape.limits.filter_work = 3168 + 2 * 4096;
    shape.limits.chunk_buffers = 5;
    shape.limits.partial_io = true;
    alignas(8) static std::byte memory[41 * 1024 + kBenchPlans];
    EXPECT_TRUE(go_round(shape, memory, 30));
}
#endif

#endif
