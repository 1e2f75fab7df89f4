// The free space that a file records when it is closed is used again when it is opened next.
#include "checksum.hpp"
#include "failing_driver.hpp"
#include "sound.hpp"
#include "storage_bench.hpp"

#include <h5mote/formats.hpp>

using namespace h5mote;
using namespace h5mote_test;

namespace {

struct Row {
    std::uint32_t t;
    std::uint32_t u;
    static Row at(std::uint32_t i) noexcept { return {i, i * 2654435761U}; }
};
H5MOTE_COMPOUND(Row, t, u)

constexpr Formats kFormats = [] {
    Formats list = formats::standard;
    list.free_space = &formats::free_space;
    return list;
}();

FileCreate persistent() noexcept {
    FileCreate create;
    create.persist_free_space = true;
    return create;
}

struct RecordBench {
    explicit RecordBench(std::size_t capacity = sizeof bench_storage) noexcept
        : arena({bench_memory, sizeof bench_memory}),
          library(arena, port, {}, kFormats),
          driver(Bytes{bench_storage, capacity}) {
        library.set_free_list_limits(kBenchLists);
        access.metadata_cache = 2048;
        access.chunk_cache = 512;
    }
    Status create(const FileCreate& properties) noexcept {
        auto made = File::create(library, driver, access, properties);
        file = static_cast<File&&>(*made);
        return made.status();
    }
    Status open() noexcept {
        auto opened = File::open(library, driver, access);
        file = static_cast<File&&>(*opened);
        return opened.status();
    }
    Status make_log(const char* name, std::uint32_t count) noexcept {
        DatasetCreate create;
        create.chunk = {8};
        create.reserve = 64;
        auto log = file.root().create_dataset<Row>(name, create);
        H5MOTE_TRY(log.status());
        for (std::uint32_t i = 0; i < count; ++i) {
            H5MOTE_TRY(log->append(Row::at(i)));
        }
        return log->close();
    }
    bool intact(const char* name, [[maybe_unused]] std::uint32_t count) noexcept {
        auto log = file.root().open_dataset<Row>(name);
        bool same = log.status() == Status::ok && log->size() == count;
#if H5MOTE_PARTIAL_IO
        for (std::uint32_t i = 0; same && i < count; ++i) {
            Row row{};
            same = log->read(Selection::hyperslab({i}, {1}), Span<Row>(&row, 1)) == Status::ok && row.t == i &&
                   row.u == Row::at(i).u;
        }
#endif
        return same;
    }
    std::uint64_t size() noexcept {
        std::uint64_t end = 0;
        return driver.end_of_file(end) == Status::ok ? end : 0;
    }

    Arena arena;
    NullPort port;
    Library library;
    MemoryDriver driver;
    FileAccess access;
    File file;
};

}  // namespace

TEST(FreeSpaceRecord, IsUsedAgainByTheNextOpening) {
    for (const std::uint8_t sizeof_addr : {std::uint8_t{4}, std::uint8_t{8}}) {
        RecordBench bench;
        FileCreate create = persistent();
        create.sizeof_addr = sizeof_addr;
        ASSERT_EQ(bench.create(create), Status::ok);
        ASSERT_EQ(bench.make_log("first", 100), Status::ok);
        ASSERT_EQ(bench.make_log("kept", 50), Status::ok);
        ASSERT_EQ(bench.file.close(), Status::ok);
        ASSERT_EQ(bench.open(), Status::ok);
        ASSERT_EQ(bench.file.root().unlink("first"), Status::ok);
        ASSERT_EQ(bench.file.close(), Status::ok);
        // The record of the session before is used again only after the first flush. A log has 800 bytes.
        const std::uint64_t most = bench.size() + 200;
        std::uint64_t full = 0;
        for (unsigned session = 0; session < 8; ++session) {
            ASSERT_EQ(bench.open(), Status::ok);
            ASSERT_EQ(bench.make_log("next", 100), Status::ok);
            ASSERT_EQ(bench.file.close(), Status::ok);
            EXPECT_LE(bench.size(), most);
            full = session < 2 ? bench.size() : full;
            EXPECT_EQ(bench.size(), full);
            ASSERT_EQ(bench.open(), Status::ok);
            EXPECT_TRUE(bench.intact("next", 100));
            EXPECT_TRUE(bench.intact("kept", 50));
            EXPECT_TRUE(findings_in(bench.file, 2048).none());
            ASSERT_EQ(bench.file.root().unlink("next"), Status::ok);
            ASSERT_EQ(bench.file.close(), Status::ok);
            EXPECT_LE(bench.size(), most);
        }
        EXPECT_EQ(bench.arena.usage().now, 0U);
    }
}

// A storage that is full to its end has room for the record in the free space itself.
TEST(FreeSpaceRecord, FitsIntoAFullStorage) {
    std::size_t full = 0;
    unsigned tried = 0;
    for (std::size_t more = 0; more < 400; more += 8) {
        RecordBench bench(full == 0 ? sizeof bench_storage : full + more);
        ASSERT_EQ(bench.create(persistent()), Status::ok);
        ASSERT_EQ(bench.make_log("first", 100), Status::ok);
        ASSERT_EQ(bench.make_log("kept", 50), Status::ok);
        ASSERT_EQ(bench.file.close(), Status::ok);
        if (full == 0) {
            full = static_cast<std::size_t>(bench.size());
            continue;
        }
        ASSERT_EQ(bench.open(), Status::ok);
        ASSERT_EQ(bench.file.root().unlink("first"), Status::ok);
        ASSERT_EQ(bench.file.close(), Status::ok);
        ASSERT_EQ(bench.open(), Status::ok);
        EXPECT_TRUE(bench.intact("kept", 50));
        EXPECT_EQ(bench.make_log("next", 60), Status::ok);
        ASSERT_EQ(bench.file.close(), Status::ok);
        ASSERT_EQ(bench.open(), Status::ok);
        EXPECT_TRUE(bench.intact("next", 60));
        EXPECT_TRUE(findings_in(bench.file, 2048).none());
        ASSERT_EQ(bench.file.close(), Status::ok);
        ++tried;
    }
    EXPECT_EQ(tried, 49U);
}

TEST(FreeSpaceRecord, StaysWhenNothingChanges) {
    RecordBench bench;
    ASSERT_EQ(bench.create(persistent()), Status::ok);
    ASSERT_EQ(bench.make_log("first", 100), Status::ok);
    ASSERT_EQ(bench.make_log("kept", 50), Status::ok);
    ASSERT_EQ(bench.file.root().unlink("first"), Status::ok);
    ASSERT_EQ(bench.file.close(), Status::ok);
    const std::uint32_t before = lookup3({bench_storage, static_cast<std::size_t>(bench.size())});
    ASSERT_EQ(bench.open(), Status::ok);
    EXPECT_TRUE(bench.intact("kept", 50));
    ASSERT_EQ(bench.file.close(), Status::ok);
    EXPECT_EQ(lookup3({bench_storage, static_cast<std::size_t>(bench.size())}), before);
}

TEST(FreeSpaceRecord, ArgumentsAreChecked) {
    RecordBench bench;
    FileCreate create = persistent();
    create.file_space = SpaceStrategy::aggregation;
    EXPECT_EQ(bench.create(create), Status::invalid_argument);
    create.file_space = static_cast<SpaceStrategy>(4);
    EXPECT_EQ(bench.create(create), Status::invalid_argument);
    for (const std::uint64_t page : {std::uint64_t{511}, (std::uint64_t{1} << 30) + 1}) {
        create = persistent();
        create.page_size = page;
        EXPECT_EQ(bench.create(create), Status::invalid_argument);
    }
    for (const SpaceStrategy strategy : {SpaceStrategy::pages, SpaceStrategy::aggregation, SpaceStrategy::none}) {
        create = FileCreate{};
        create.file_space = strategy;
        EXPECT_EQ(bench.create(create), H5MOTE_ALL_FORMATS != 0 ? Status::ok : Status::unsupported);
        EXPECT_EQ(bench.file.close(), H5MOTE_ALL_FORMATS != 0 ? Status::ok : Status::invalid_handle);
    }
    EXPECT_EQ(bench.arena.usage().now, 0U);
}
