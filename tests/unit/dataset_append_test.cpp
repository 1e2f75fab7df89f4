// Appending: through every level of the chunk index, with room for one chunk only, and continued after each way to
// stop.
#include "counting_driver.hpp"
#include "storage_bench.hpp"

using namespace h5mote;
using namespace h5mote_test;

namespace {

struct Row {
    std::uint32_t t;
    std::int16_t a[2];

    static Row at(std::uint64_t i) noexcept {
        return {static_cast<std::uint32_t>(i * 7), {static_cast<std::int16_t>(i % 9000), -3}};
    }
    bool operator==(const Row& other) const noexcept {
        return t == other.t && a[0] == other.a[0] && a[1] == other.a[1];
    }
};
H5MOTE_COMPOUND(Row, t, a)

DatasetCreate rows(std::uint32_t chunk, bool filtered = false) noexcept {
    DatasetCreate create;
    create.chunk = {chunk};
#if H5MOTE_FILTERS
    if (filtered) {
        create.filters = {filters::shuffle, filters::deflate, filters::fletcher32};
    }
#else
    (void)filtered;
#endif
    return create;
}

// Whether the dataset has `size` rows and they are what was appended.
bool intact(TypedDataset<Row>& log, std::uint64_t size) noexcept {
    if (log.size() != size) {
        return false;
    }
#if H5MOTE_PARTIAL_IO
    Row part[16];
    for (std::uint64_t at = 0; at < size; at += 16) {
        const std::uint64_t count = size - at < 16 ? size - at : 16;
        if (log.read(Selection::hyperslab({at}, {count}), Span<Row>(part, static_cast<std::size_t>(count))) !=
            Status::ok) {
            return false;
        }
        for (std::uint64_t i = 0; i < count; ++i) {
            if (!(part[i] == Row::at(at + i))) {
                return false;
            }
        }
    }
#endif
    return true;
}

}  // namespace

TEST(DatasetAppend, ThroughAllLevelsOfTheIndex) {
    struct Case {
        std::uint32_t chunk;
        bool filtered;
        std::uint8_t sizeof_addr;
        std::uint32_t reserve;
        unsigned rows;
    };
    // With one row a chunk: 16 chunks in the index block, 48 in its data blocks, then super blocks; pages from 128 on.
    constexpr Case kCases[] = {
        {1, false, 8, 65536, 600},  {1, false, 4, 0, 700}, {2, false, 4, 64, 900},
        {5, false, 8, 65536, 1000}, {1, true, 4, 0, 150},  {2, true, 8, 0, 330},
    };
    for (const Case& each : kCases) {
        if (each.filtered && H5MOTE_FILTERS == 0) {
            continue;
        }
        Bench bench;
        bench.access.chunk_cache = each.chunk * sizeof(Row);
        FileCreate properties;
        properties.sizeof_addr = each.sizeof_addr;
        ASSERT_EQ(bench.create(properties), Status::ok);
        DatasetCreate create = rows(each.chunk, each.filtered);
        create.reserve = each.reserve;
        {
            auto log = bench.file.root().create_dataset<Row>("log", create);
            ASSERT_TRUE(bool(log));
            for (unsigned i = 0; i < each.rows; ++i) {
                ASSERT_EQ(log->append(Row::at(i)), Status::ok);
                if (i % 37 == 36) {
                    ASSERT_EQ(bench.file.flush(), Status::ok);
                }
            }
            EXPECT_TRUE(intact(*log, each.rows));
        }
        ASSERT_EQ(bench.reopen(), Status::ok);
        auto log = bench.file.root().open_dataset<Row>("log");
        ASSERT_TRUE(bool(log));
        EXPECT_TRUE(intact(*log, each.rows));
        EXPECT_EQ(log->close(), Status::ok);
        EXPECT_EQ(bench.file.close(), Status::ok);
        EXPECT_TRUE(bench.empty());
    }
}

TEST(DatasetAppend, TwoLogsTakeTurnsInRoomForOneChunk) {
    for (const bool filtered : {false, true}) {
        if (filtered && H5MOTE_FILTERS == 0) {
            continue;
        }
        Bench bench;
        bench.access.chunk_cache = 8 * sizeof(Row);
        ASSERT_EQ(bench.create(), Status::ok);
        auto first = bench.file.root().create_dataset<Row>("first", rows(8, filtered));
        auto second = bench.file.root().create_dataset<Row>("second", rows(4, filtered));
        ASSERT_TRUE(first && second);
        for (unsigned i = 0; i < 150; ++i) {
            ASSERT_EQ(first->append(Row::at(i)), Status::ok);
            ASSERT_EQ(second->append(Row::at(i)), Status::ok);
            if (i % 11 == 0) {
                ASSERT_EQ(bench.file.flush(), Status::ok);
            }
        }
        EXPECT_TRUE(intact(*first, 150));
        EXPECT_TRUE(intact(*second, 150));
        ASSERT_EQ(first->close(), Status::ok);
        ASSERT_EQ(second->close(), Status::ok);
        ASSERT_EQ(bench.reopen(), Status::ok);
        EXPECT_TRUE(intact(*bench.file.root().open_dataset<Row>("first"), 150));
        EXPECT_TRUE(intact(*bench.file.root().open_dataset<Row>("second"), 150));
    }
}

TEST(DatasetAppend, ManyRecordsInOneCall) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    auto log = bench.file.root().create_dataset<Row>("log", rows(10));
    ASSERT_TRUE(bool(log));
    Row block[64];
    std::uint64_t done = 0;
    for (const unsigned count : {1U, 9U, 10U, 11U, 0U, 64U, 37U, 2U, 63U}) {
        for (unsigned i = 0; i < count; ++i) {
            block[i] = Row::at(done + i);
        }
        ASSERT_EQ(log->append(Span<const Row>(block, count)), Status::ok);
        done += count;
        EXPECT_EQ(log->size(), done);
    }
    EXPECT_TRUE(intact(*log, done));
}

#if H5MOTE_PARTIAL_IO
TEST(DatasetAppend, ChunksLargerThanTheCacheAreWrittenInPlace) {
    Bench bench;
    bench.access.chunk_cache = 64;
    ASSERT_EQ(bench.create(), Status::ok);
    auto log = bench.file.root().create_dataset<Row>("log", rows(100));
    ASSERT_TRUE(bool(log));
    for (unsigned i = 0; i < 350; ++i) {
        ASSERT_EQ(log->append(Row::at(i)), Status::ok);
        if (i % 50 == 7) {
            ASSERT_EQ(bench.file.flush(), Status::ok);
        }
    }
    EXPECT_TRUE(intact(*log, 350));
    ASSERT_EQ(log->close(), Status::ok);
    bench.access.chunk_cache = 2000;
    ASSERT_EQ(bench.reopen(), Status::ok);
    log = bench.file.root().open_dataset<Row>("log");
    EXPECT_TRUE(intact(*log, 350));
    ASSERT_EQ(log->append(Row::at(350)), Status::ok);
    EXPECT_TRUE(intact(*log, 351));
}
#endif

#if H5MOTE_FILTERS
TEST(DatasetAppend, AFilteredChunkLargerThanTheCacheIsOverBudget) {
    Bench bench;
    bench.access.chunk_cache = 64;
    ASSERT_EQ(bench.create(), Status::ok);
    EXPECT_EQ(bench.file.root().create_dataset<Row>("log", rows(9, true)).status(), Status::over_budget);
#if H5MOTE_ERROR_TRAIL > 0
    EXPECT_EQ(bench.library.trail().newest().value, 72U);
#endif
    EXPECT_FALSE(bench.file.root().exists("log"));
    EXPECT_TRUE(bool(bench.file.root().create_dataset<Row>("log", rows(8, true))));
    bench.access.chunk_cache = 63;
    ASSERT_EQ(bench.reopen(), Status::ok);
#if H5MOTE_ALL_FORMATS
    // Everything can be asked of the dataset, but its elements cannot be read.
    auto log = bench.file.root().open_dataset<Row>("log");
    ASSERT_TRUE(bool(log));
    EXPECT_EQ(log->append(Row::at(0)), Status::over_budget);
#else
    EXPECT_EQ(bench.file.root().open_dataset("log").status(), Status::over_budget);
#endif
}
#endif

TEST(DatasetAppend, TwoHandlesAreOneDataset) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    auto first = bench.file.root().create_dataset<Row>("log", rows(4));
    auto second = bench.file.root().open_dataset<Row>("log");
    ASSERT_TRUE(first && second);
    for (unsigned i = 0; i < 30; ++i) {
        ASSERT_EQ((i % 3 == 0 ? first : second)->append(Row::at(i)), Status::ok);
        EXPECT_EQ(first->size(), i + 1);
        EXPECT_EQ(second->size(), i + 1);
    }
    EXPECT_EQ(first->close(), Status::ok);
    EXPECT_EQ(second->append(Row::at(30)), Status::ok);
    EXPECT_TRUE(intact(*second, 31));
    EXPECT_EQ(second->close(), Status::ok);
    EXPECT_TRUE(intact(*bench.file.root().open_dataset<Row>("log"), 31));
}

TEST(DatasetAppend, AFullStorageIsToldByTheAppendThatDoesNotFit) {
    for (const std::size_t capacity : {std::size_t{3000}, std::size_t{4097}, std::size_t{6000}}) {
        Bench bench(capacity);
        bench.access.chunk_cache = 4 * sizeof(Row);
        ASSERT_EQ(bench.create(), Status::ok);
        auto log = bench.file.root().create_dataset<Row>("log", rows(4));
        ASSERT_TRUE(bool(log));
        unsigned i = 0;
        Status status = Status::ok;
        for (; i < 2000; ++i) {
            status = log->append(Row::at(i));
            if (status != Status::ok) {
                break;
            }
        }
        EXPECT_EQ(status, Status::no_space);
        EXPECT_GT(i, 100U);
        EXPECT_EQ(log->size(), i);
        EXPECT_EQ(log->append(Row::at(i)), Status::no_space);
        // All rows before are safe: they can be flushed and read.
        EXPECT_EQ(bench.file.flush(), Status::ok);
        EXPECT_TRUE(intact(*log, i));
        EXPECT_EQ(log->close(), Status::ok);
        EXPECT_EQ(bench.file.close(), Status::ok);
        EXPECT_TRUE(bench.empty());
        ASSERT_EQ(bench.open(), Status::ok);
        EXPECT_TRUE(intact(*bench.file.root().open_dataset<Row>("log"), i));
    }
}

#if H5MOTE_FIXED_CHUNKS
TEST(DatasetAppend, EndsAtTheLargestExtent) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    auto log = bench.file.root().create_dataset<Row>("log", rows(8), Dataspace::simple({0}, {21}));
    ASSERT_TRUE(bool(log));
    for (unsigned i = 0; i < 21; ++i) {
        ASSERT_EQ(log->append(Row::at(i)), Status::ok);
    }
    EXPECT_EQ(log->append(Row::at(21)), Status::invalid_argument);
    EXPECT_EQ(log->append(Row::at(21)), Status::invalid_argument);
    EXPECT_TRUE(intact(*log, 21));
    EXPECT_EQ(log->close(), Status::ok);
    ASSERT_EQ(bench.reopen(), Status::ok);
    EXPECT_TRUE(intact(*bench.file.root().open_dataset<Row>("log"), 21));
}
#endif

#if H5MOTE_FIXED_CHUNKS
// When the last possible chunk is in use, no further chunk is allocated ahead.
TEST(DatasetAppend, GrowsToTheLastChunkOfAFixedArray) {
    for (const std::uint64_t size : {std::uint64_t{17}, std::uint64_t{20}}) {
        Bench bench;
        ASSERT_EQ(bench.create(), Status::ok);
        auto log = bench.file.root().create_dataset<Row>("log", rows(10), Dataspace::simple({16}, {20}));
        ASSERT_TRUE(bool(log));
        ASSERT_EQ(bench.file.flush(), Status::ok);
        ASSERT_EQ(log->set_extent({size}), Status::ok);
        EXPECT_EQ(bench.file.flush(), Status::ok);
        for (std::uint64_t i = size; i < 20; ++i) {
            ASSERT_EQ(log->append(Row::at(i)), Status::ok);
            EXPECT_EQ(bench.file.flush(), Status::ok);
        }
        EXPECT_EQ(log->close(), Status::ok);
        ASSERT_EQ(bench.reopen(), Status::ok);
        EXPECT_EQ(bench.file.root().open_dataset<Row>("log")->size(), 20U);
    }
}
#endif

#if H5MOTE_PARTIAL_IO
TEST(DatasetAppend, RefusesOtherShapes) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    Group root = bench.file.root();
    const std::int32_t value = 1;
    DatasetCreate create;
    create.chunk = {2, 2};
    auto matrix = root.create_dataset<std::int32_t>("matrix", create, Dataspace::simple({0, 4}, {kUnlimited, 4}));
    auto fixed = root.create_dataset<std::int32_t>("fixed", {}, Dataspace::simple({4}));
    auto scalar = root.create_dataset<std::int32_t>("scalar", {}, Dataspace::scalar());
    ASSERT_TRUE(matrix && fixed && scalar);
    EXPECT_EQ(matrix->append(value), Status::invalid_argument);
    EXPECT_EQ(fixed->append(value), Status::invalid_argument);
    EXPECT_EQ(scalar->append(value), Status::invalid_argument);
    EXPECT_EQ(scalar->size(), 1U);
}
#endif

#if H5MOTE_CONVERSION
TEST(DatasetAppend, ConvertsRecords) {
    struct Other {
        double t;
        std::int32_t a[2];
    };
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    static constexpr auto kOther = make_compound<16>(member("a", 8, make_array(make_integer(4, true), 2U)),
                                                     member("t", 0, make_integer(8, false, ByteOrder::big)));
    auto log = bench.file.root().create_dataset<Row>("log", rows(4));
    auto same = bench.file.root().open_dataset("log");
    ASSERT_TRUE(log && same);
    ASSERT_EQ(same->set_memory_type(kOther), Status::ok);
    for (unsigned i = 0; i < 11; ++i) {
        unsigned char record[16] = {};
        record[7] = static_cast<unsigned char>(i * 7);
        record[8] = static_cast<unsigned char>(i);
        std::memset(record + 12, 0xff, 4);
        record[12] = 0xfd;
        ASSERT_EQ(same->append_records(record, 1), Status::ok);
    }
    EXPECT_TRUE(intact(*log, 11));
    EXPECT_EQ(bench.file.root().open_dataset<FixedString<4>>("log").status(), Status::type_mismatch);
    EXPECT_EQ(same->close(), Status::ok);
    EXPECT_EQ(log->close(), Status::ok);
    EXPECT_EQ(bench.file.close(), Status::ok);
    EXPECT_TRUE(bench.empty());
}
#endif

namespace {

// Promises that all writes between two syncs appear at once.
class CommittingDriver final : public ForwardingDriver {
public:
    CommittingDriver(Driver& inner, bool commits) noexcept : ForwardingDriver(inner), commits_(commits) {}
    Capabilities capabilities() const noexcept override {
        Capabilities result = ForwardingDriver::capabilities();
        result.sync_is_commit = commits_;
        return result;
    }

private:
    bool commits_;
};

}  // namespace

// From the second flush with rows on, a flush takes two syncs (one on a storage that commits), however the index grows:
// a logger can afford to flush often.
TEST(DatasetAppend, AFlushTakesTwoSyncs) {
    struct Case {
        std::uint32_t chunk;
        std::uint32_t rows;  // between two flushes
        std::uint32_t reserve;
        bool commits;
    };
    constexpr Case kCases[] = {
        {1, 1, 65536, false},  {1, 1, 0, false}, {1, 3, 64, false},    {1, 16, 65536, false},
        {4, 1, 65536, false},  {4, 4, 0, false}, {3, 7, 65536, false}, {16, 1, 65536, false},
        {2, 16, 65536, false}, {1, 1, 0, true},  {1, 16, 64, true},    {16, 1, 65536, true},
    };
    for (const Case& each : kCases) {
        Bench bench;
        CommittingDriver committing(bench.driver, each.commits);
        CountingDriver driver(committing);
        auto file = File::create(bench.library, driver, bench.access);
        ASSERT_EQ(file.status(), Status::ok);
        DatasetCreate create = rows(each.chunk);
        create.reserve = each.reserve;
        auto log = file->root().create_dataset<Row>("log", create);
        ASSERT_EQ(log.status(), Status::ok);
        ASSERT_EQ(file->flush(), Status::ok);
        std::uint64_t most = 0;
        std::uint64_t size = 0;
        for (unsigned flush = 0; size < 600; ++flush) {
            for (std::uint32_t i = 0; i < each.rows; ++i) {
                ASSERT_EQ(log->append(Row::at(size++)), Status::ok);
            }
            const std::uint64_t before = driver.syncs();
            ASSERT_EQ(file->flush(), Status::ok);
            const std::uint64_t syncs = driver.syncs() - before;
            most = syncs > most && flush > 0 ? syncs : most;
        }
        EXPECT_EQ(most, each.commits ? 1U : 2U);
        EXPECT_TRUE(intact(*log, size));
        ASSERT_EQ(log->close(), Status::ok);
        ASSERT_EQ(file->close(), Status::ok);
        EXPECT_TRUE(bench.empty());
    }
}

#if H5MOTE_FIXED_CHUNKS && H5MOTE_PARTIAL_IO
// A flush allocates the next chunk ahead and leaves it unfilled. When set_extent() makes it part of the dataset, its
// elements must read as the fill value.
TEST(DatasetAppend, AChunkHeldInAdvanceGrowsIntoFillValues) {
    Bench bench;
    auto file = File::create(bench.library, bench.driver, bench.access);
    ASSERT_EQ(file.status(), Status::ok);
    constexpr std::uint32_t kFill = 77;
    const FileFill fill(kFill);
    DatasetCreate create;
    create.chunk = {8};
    create.fill = fill.view();
    create.reserve = 0;
    auto log = file->root().create_dataset<std::uint32_t>("log", create, Dataspace::simple({0}, {100}));
    ASSERT_EQ(log.status(), Status::ok);
    ASSERT_EQ(log->set_extent({3}), Status::ok);
    for (std::uint32_t i = 3; i < 16; ++i) {
        ASSERT_EQ(log->append(i), Status::ok);
    }
    ASSERT_EQ(file->flush(), Status::ok);
    ASSERT_EQ(log->set_extent({20}), Status::ok);
    ASSERT_EQ(log->append(20), Status::ok);
    ASSERT_EQ(file->flush(), Status::ok);
    std::uint32_t seen[21] = {};
    ASSERT_EQ(log->read(Selection::all(), Span<std::uint32_t>(seen)), Status::ok);
    for (std::uint32_t i = 0; i < 21; ++i) {
        EXPECT_EQ(seen[i], i < 3 || (i >= 16 && i < 20) ? kFill : i);
    }
    ASSERT_EQ(log->close(), Status::ok);
    ASSERT_EQ(file->close(), Status::ok);
    EXPECT_TRUE(bench.empty());
}
#endif
