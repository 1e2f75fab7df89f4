// A logger that is never closed: its power fails after any flush, and it continues with what the storage has.
#include "storage_bench.hpp"

using namespace h5mote;
using namespace h5mote_test;

namespace {

std::byte survived[sizeof bench_storage / 2];

struct Row {
    std::uint32_t t;
    float value;
    static Row at(std::uint64_t i) noexcept { return {static_cast<std::uint32_t>(i), static_cast<float>(i) / 4}; }
};
H5MOTE_COMPOUND(Row, t, value)

bool intact(TypedDataset<Row>& log, std::uint64_t size) noexcept {
    bool same = log.size() == size;
#if H5MOTE_PARTIAL_IO
    for (std::uint64_t i = 0; same && i < size; ++i) {
        Row row{};
        same = log.read(Selection::hyperslab({i}, {1}), Span<Row>(&row, 1)) == Status::ok && row.t == i &&
               row.value == static_cast<float>(i) / 4;
    }
#endif
    return same;
}

}  // namespace

TEST(Reopen, GoesOnFromTheLastFlush) {
    for (const bool filtered : {false, true}) {
        if (filtered && H5MOTE_FILTERS == 0) {
            continue;
        }
        DatasetCreate create;
        create.chunk = {3};
#if H5MOTE_FILTERS
        if (filtered) {
            create.filters = {filters::shuffle, filters::fletcher32};
        }
#endif
        std::size_t size = 0;
        std::uint64_t flushed = 0;
        Numbers numbers(11);
        for (unsigned session = 0; session < 30; ++session) {
            Bench bench(sizeof survived);
            bench.access.chunk_cache = 24;
            ASSERT_EQ(bench.driver.write(Usage::raw_data, 0, {survived, size}), Status::ok);
            FileCreate properties;
            properties.sizeof_addr = filtered ? 8 : 4;
            auto file = File::open_or_create(bench.library, bench.driver, bench.access, properties);
            ASSERT_EQ(file.status(), Status::ok);
            auto log = file->root().open_or_create_dataset<Row>("log", create);
            ASSERT_EQ(log.status(), Status::ok);
            ASSERT_TRUE(intact(*log, flushed));
            std::uint32_t sessions = 0;
            const Status status = file->root().read_attribute("sessions", sessions);
            EXPECT_EQ(status, session == 0 ? Status::not_found : Status::ok);
            EXPECT_EQ(sessions, session);
            ASSERT_EQ(file->root().write_attribute("sessions", session + 1), Status::ok);
            std::uint64_t rows = flushed;
            for (unsigned steps = 1 + numbers.below(12); steps > 0; --steps) {
                ASSERT_EQ(log->append(Row::at(rows++)), Status::ok);
                if (steps == 1 || numbers.below(3) == 0) {
                    ASSERT_EQ(file->flush(), Status::ok);
                    flushed = rows;
                    size = bench.driver.contents().size();
                    std::memcpy(survived, bench.driver.contents().data(), size);
                }
            }
            // Everything written from here on is lost.
            ASSERT_EQ(log->append(Row::at(rows)), Status::ok);
            EXPECT_EQ(log->close(), Status::ok);
            EXPECT_EQ(file->close(), Status::ok);
            EXPECT_TRUE(bench.empty());
        }
        EXPECT_GT(flushed, 100U);
    }
}

#if H5MOTE_PARTIAL_IO
// Rows that were written, but not flushed when the power failed, are in space that the dataset will use again. When it
// is extended, they must not appear in place of the fill value.
TEST(Reopen, LostRowsDoNotComeBackAsFillValues) {
    for (const bool filtered : {false, true}) {
        for (const std::size_t cache : {std::size_t{32}, std::size_t{200}, std::size_t{8}}) {
            if (filtered && (cache == 8 || H5MOTE_FILTERS == 0)) {
                continue;
            }
            DatasetCreate create;
            create.chunk = {4};
#if H5MOTE_FILTERS
            if (filtered) {
                create.filters = {filters::shuffle};
            }
#endif
            std::size_t size = 0;
            {
                Bench bench(sizeof survived);
                bench.access.chunk_cache = cache;
                ASSERT_EQ(bench.create(), Status::ok);
                auto log = bench.file.root().create_dataset<Row>("log", create);
                ASSERT_EQ(log.status(), Status::ok);
                for (unsigned i = 0; i < 21; ++i) {
                    ASSERT_EQ(log->append(Row{~0U, 9}), Status::ok);
                }
                ASSERT_EQ(bench.file.flush(), Status::ok);
                std::byte* const header = bench_storage + static_cast<std::size_t>(log->address());
                std::byte before[400];
                std::memcpy(before, header, sizeof before);
                for (unsigned i = 0; i < 15; ++i) {
                    ASSERT_EQ(log->append(Row{~0U, 9}), Status::ok);
                }
                ASSERT_EQ(bench.file.flush(), Status::ok);
                size = bench.driver.contents().size();
                std::memcpy(survived, bench_storage, size);
                // Restore the header, as if the new dimension had not been written.
                std::memcpy(survived + static_cast<std::size_t>(log->address()), before, 250);
            }
            Bench bench;
            bench.access.chunk_cache = cache;
            ASSERT_EQ(bench.driver.write(Usage::raw_data, 0, {survived, size}), Status::ok);
            ASSERT_EQ(bench.open(), Status::ok);
            auto log = bench.file.root().open_dataset<Row>("log");
            ASSERT_EQ(log.status(), Status::ok);
            ASSERT_EQ(log->size(), 21U);
            ASSERT_EQ(log->set_extent({60}), Status::ok);
            for (std::uint64_t i = 21; i < 60; ++i) {
                Row row{1, 1};
                ASSERT_EQ(log->read(Selection::hyperslab({i}, {1}), Span<Row>(&row, 1)), Status::ok);
                EXPECT_EQ(row.t, 0U);
            }
        }
    }
}
#endif
