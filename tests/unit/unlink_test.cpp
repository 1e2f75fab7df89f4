// Links are removed, and objects with their last link; their space is used again.
#include "failing_driver.hpp"
#include "sound.hpp"
#include "storage_bench.hpp"

#include <h5mote/check.hpp>

using namespace h5mote;
using namespace h5mote_test;

namespace {

struct Row {
    std::uint32_t t;
    std::uint32_t u;
    static Row at(std::uint32_t i) noexcept { return {i, i * 2654435761U}; }
};
H5MOTE_COMPOUND(Row, t, u)

DatasetCreate rows(std::uint32_t chunk) noexcept {
    DatasetCreate create;
    create.chunk = {chunk};
    create.reserve = 64;
    return create;
}

Status make_log(Group group, const char* name, std::uint32_t count, const DatasetCreate& create) noexcept {
    auto log = group.create_dataset<Row>(name, create);
    H5MOTE_TRY(log.status());
    for (std::uint32_t i = 0; i < count; ++i) {
        H5MOTE_TRY(log->append(Row::at(i)));
    }
    return log->close();
}

bool intact(Group group, const char* name, [[maybe_unused]] std::uint32_t count) noexcept {
    auto log = group.open_dataset<Row>(name);
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

// Returns the number of problems that check_file() finds; 1000 if it fails or finds more notes than allowed.
unsigned problems(File& file, unsigned notes = 0) noexcept {
    const Findings findings = findings_in(file, 2048);
    return findings.status != Status::ok || findings.notes > notes ? 1000 : findings.problems;
}

}  // namespace

TEST(Unlink, OnlyThatLinkGoes) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    Group root = bench.file.root();
    ASSERT_EQ(make_log(bench.file.root(), "one", 20, rows(4)), Status::ok);
    ASSERT_EQ(make_log(bench.file.root(), "two", 30, rows(4)), Status::ok);
    ASSERT_EQ(root.create_soft_link("soft", "/two"), Status::ok);
    ASSERT_EQ(root.create_soft_link("nowhere", "/three"), Status::ok);
    ASSERT_EQ(root.create_group("group").status(), Status::ok);
    ASSERT_EQ(root.create_soft_link("group/up", "/"), Status::ok);

    EXPECT_EQ(root.unlink("three"), Status::not_found);
    EXPECT_EQ(root.unlink("group/up/three"), Status::not_found);
    EXPECT_EQ(root.unlink("one/two"), Status::not_found);
    EXPECT_EQ(root.unlink("/"), Status::invalid_argument);
    EXPECT_EQ(root.unlink(""), Status::invalid_argument);
    EXPECT_EQ(Group().unlink("one"), Status::invalid_handle);

    // A soft link at the end of the path is removed itself; those before are followed.
    EXPECT_EQ(root.unlink("nowhere"), Status::ok);
    EXPECT_EQ(root.unlink("group/up/soft"), Status::ok);
    EXPECT_FALSE(root.exists("soft"));
    EXPECT_TRUE(root.exists("two"));
    EXPECT_EQ(root.unlink("one"), Status::ok);
    EXPECT_EQ(root.unlink("one"), Status::not_found);
    EXPECT_EQ(root.open_group("group")->unlink("/group/up"), Status::ok);
    EXPECT_EQ(root.unlink("group"), Status::ok);
    std::uint32_t links = 0;
    EXPECT_EQ(root.link_count(links), Status::ok);
    EXPECT_EQ(links, 1U);
    EXPECT_EQ(problems(bench.file), 0U);
    root.close();
    ASSERT_EQ(bench.reopen(), Status::ok);
    EXPECT_TRUE(intact(bench.file.root(), "two", 30));
    EXPECT_FALSE(bench.file.root().exists("one"));
    EXPECT_EQ(problems(bench.file), 0U);
    ASSERT_EQ(bench.file.close(), Status::ok);
    EXPECT_TRUE(bench.empty());
}

TEST(Unlink, AnObjectGoesWithItsLastLink) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    Group root = bench.file.root();
    ASSERT_EQ(make_log(bench.file.root(), "one", 20, rows(4)), Status::ok);
    {
        auto one = root.open_dataset<Row>("one");
        ASSERT_EQ(one.status(), Status::ok);
        ASSERT_EQ(root.create_hard_link("two", *one), Status::ok);
        // If another hard link remains, the object may be open.
        ASSERT_EQ(root.unlink("one"), Status::ok);
        EXPECT_EQ(one->append(Row::at(20)), Status::ok);
        EXPECT_EQ(root.unlink("two"), Status::busy);
        ASSERT_EQ(root.create_hard_link("three", *one), Status::ok);
        ASSERT_EQ(root.unlink("two"), Status::ok);
        EXPECT_EQ(root.unlink("three"), Status::busy);
    }
    EXPECT_EQ(problems(bench.file), 0U);
    root.close();
    ASSERT_EQ(bench.reopen(), Status::ok);
    EXPECT_TRUE(intact(bench.file.root(), "three", 21));
    EXPECT_EQ(problems(bench.file), 0U);
    ASSERT_EQ(bench.file.root().unlink("three"), Status::ok);
    std::uint32_t links = 1;
    EXPECT_EQ(bench.file.root().link_count(links), Status::ok);
    EXPECT_EQ(links, 0U);
    ASSERT_EQ(bench.reopen(), Status::ok);
    EXPECT_EQ(problems(bench.file), 0U);
    ASSERT_EQ(bench.file.close(), Status::ok);
    EXPECT_TRUE(bench.empty());
}

TEST(Unlink, AGroupGoesOnceItIsEmpty) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    Group root = bench.file.root();
    ASSERT_EQ(root.create_group("a").status(), Status::ok);
    ASSERT_EQ(root.create_group("a/b").status(), Status::ok);
    ASSERT_EQ(root.create_soft_link("a/b/c", "/nowhere"), Status::ok);
    EXPECT_EQ(root.unlink("a"), Status::busy);
    EXPECT_EQ(root.unlink("a/b"), Status::busy);
    EXPECT_EQ(root.unlink("a/b/c"), Status::ok);
    EXPECT_EQ(root.unlink("a/b"), Status::ok);
    EXPECT_EQ(root.unlink("a"), Status::ok);
    // The root group is kept by the file itself, whatever its reference count is.
    ASSERT_EQ(root.create_hard_link("again", root), Status::ok);
    EXPECT_EQ(root.unlink("again"), Status::ok);
    root.close();
    ASSERT_EQ(bench.reopen(), Status::ok);
    EXPECT_EQ(problems(bench.file), 0U);
    ASSERT_EQ(bench.file.close(), Status::ok);
    EXPECT_TRUE(bench.empty());
}

TEST(Unlink, AllSpaceIsUsedAgain) {
    DatasetCreate cases[5] = {rows(1), rows(1), rows(16), rows(1), rows(16)};
    cases[0].reserve = 0;
#if H5MOTE_FILTERS
    cases[3].filters = {filters::shuffle, filters::fletcher32};
    cases[4].filters = {filters::shuffle, filters::deflate};
#endif
    for (const DatasetCreate& create : cases) {
        Bench bench;
        ASSERT_EQ(bench.create(), Status::ok);
        std::uint64_t empty = 0;
        ASSERT_EQ(bench.reopen(), Status::ok);
        ASSERT_EQ(bench.driver.end_of_file(empty), Status::ok);
        std::uint64_t most = 0;
        for (std::uint32_t round = 0; round < 12; ++round) {
            Group root = bench.file.root();
            // Names of several lengths, so that the freed messages differ in size.
            const char* const name = round % 3 == 0 ? "log" : round % 3 == 1 ? "another log" : "x";
            ASSERT_EQ(make_log(bench.file.root(), name, 300, create), Status::ok);
            {
                auto log = root.open_dataset<Row>(name);
                ASSERT_EQ(log.status(), Status::ok);
                for (const char* attribute : {"first", "second", "third", "fourth"}) {
                    ASSERT_EQ(log->write_attribute(attribute, round), Status::ok);
                }
            }
            ASSERT_EQ(bench.file.flush(), Status::ok);
            EXPECT_TRUE(intact(bench.file.root(), name, 300));
            EXPECT_EQ(problems(bench.file), 0U);
            std::uint64_t size = 0;
            ASSERT_EQ(bench.driver.end_of_file(size), Status::ok);
            EXPECT_TRUE(round == 0 || size <= most + 512);
            most = size > most ? size : most;
            ASSERT_EQ(root.unlink(name), Status::ok);
            ASSERT_EQ(bench.file.flush(), Status::ok);
            EXPECT_EQ(problems(bench.file), 0U);
        }
        // Only the growth of the root group's header remains of all that was created.
        std::uint64_t size = 0;
        ASSERT_EQ(bench.reopen(), Status::ok);
        ASSERT_EQ(bench.driver.end_of_file(size), Status::ok);
        EXPECT_LE(size, empty + 160);
        EXPECT_GT(most, empty + 300 * sizeof(Row) / 2);
        ASSERT_EQ(bench.file.close(), Status::ok);
        EXPECT_TRUE(bench.empty());
    }
}

#if H5MOTE_PARTIAL_IO && H5MOTE_FIXED_CHUNKS
TEST(Unlink, EveryLayoutGoes) {
    for (unsigned kind = 0; kind < 10; ++kind) {
        const bool reopened = kind >= 5;
        const unsigned layout = kind % 5;
        Bench bench;
        ASSERT_EQ(bench.create(), Status::ok);
        std::uint64_t empty = 0;
        ASSERT_EQ(bench.reopen(), Status::ok);
        ASSERT_EQ(bench.driver.end_of_file(empty), Status::ok);
        DatasetCreate create;
        create.layout = layout == 0 ? Layout::compact : layout == 1 ? Layout::contiguous : Layout::chunked;
        if (layout > 0) {
            create.allocation = AllocationTime::early;
        }
        if (layout > 1) {
            // A fixed array in one block, in pages, and with filtered chunks.
            create.chunk = {layout == 3 ? 1U : 7U, 3};
        }
        if (layout == 4) {
            create.filters = {filters::shuffle, filters::fletcher32};
        }
        bench.access.metadata_cache = 4096;
        ASSERT_EQ(bench.reopen(), Status::ok);
        {
            const std::uint64_t dims[] = {layout == 3 ? 1500U : 200U, 3};
            auto data =
                bench.file.root().create_dataset("data", datatype_of<std::uint16_t>(), Dataspace::simple(dims), create);
            ASSERT_EQ(data.status(), Status::ok);
        }
        ASSERT_EQ(bench.file.flush(), Status::ok);
        EXPECT_EQ(problems(bench.file), 0U);
        std::uint64_t size = 0;
        ASSERT_EQ(bench.driver.end_of_file(size), Status::ok);
        EXPECT_GT(size, empty + 1200);
        if (reopened) {
            ASSERT_EQ(bench.reopen(), Status::ok);
        }
        ASSERT_EQ(bench.file.root().unlink("data"), Status::ok);
        EXPECT_EQ(problems(bench.file), 0U);
        ASSERT_EQ(bench.reopen(), Status::ok);
        ASSERT_EQ(bench.driver.end_of_file(size), Status::ok);
        // Gaps between blocks, which keep them within sectors, are known only to the session that left them.
        EXPECT_LE(size, reopened ? empty + 512 : empty);
        EXPECT_EQ(problems(bench.file), 0U);
        ASSERT_EQ(bench.file.close(), Status::ok);
        EXPECT_TRUE(bench.empty());
    }
}
#endif

// Each call of the driver fails once: afterwards the link is there with its object, or both are gone.
TEST(Unlink, FaultsLeaveASoundFile) {
    unsigned points = 0;
    for (std::uint64_t at = 1;; ++at) {
        Bench bench;
        FailingDriver failing(bench.driver);
        auto file = File::create(bench.library, failing, bench.access);
        ASSERT_EQ(file.status(), Status::ok);
        ASSERT_EQ(make_log(file->root(), "one", 100, rows(1)), Status::ok);
        ASSERT_EQ(make_log(file->root(), "two", 20, rows(4)), Status::ok);
        ASSERT_EQ(file->root().create_hard_link("also", *file->root().open_dataset<Row>("two")), Status::ok);
        ASSERT_EQ(file->flush(), Status::ok);
        DriverFault fault;
        fault.at = at;
        failing.arm(fault);
        Group root = file->root();
        const Status one = root.unlink("one");
        const Status two = root.unlink("two");
        const Status flushed = file->flush();
        const bool failed = failing.failures() != 0;
        failing.disarm();
        if (flushed == Status::ok) {
            EXPECT_EQ(root.exists("one"), one != Status::ok);
            EXPECT_TRUE(two == Status::ok ? !root.exists("two") : true);
        }
        root.close();
        (void)file->close();
        ASSERT_EQ(bench.open(), Status::ok);
        EXPECT_EQ(problems(bench.file, 1), 0U);
        EXPECT_TRUE(intact(bench.file.root(), "also", 20));
        EXPECT_TRUE(!bench.file.root().exists("one") || intact(bench.file.root(), "one", 100));
        ASSERT_EQ(bench.file.close(), Status::ok);
        EXPECT_TRUE(bench.empty());
        if (!failed) {
            EXPECT_EQ(one, Status::ok);
            EXPECT_EQ(two, Status::ok);
            break;
        }
        ++points;
    }
    EXPECT_GT(points, 10U);
}

#if H5MOTE_ALL_FORMATS
TEST(Unlink, NotUnderAMount) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    ASSERT_EQ(bench.file.root().create_group("point").status(), Status::ok);
    static std::byte other_storage[2048];
    MemoryDriver other{other_storage};
    auto mounted = File::create(bench.library, other, bench.access);
    ASSERT_EQ(mounted.status(), Status::ok);
    ASSERT_EQ(bench.file.root().mount("point", *mounted), Status::ok);
    EXPECT_EQ(bench.file.root().unlink("point"), Status::busy);
    ASSERT_EQ(bench.file.root().unmount("point"), Status::ok);
    EXPECT_EQ(bench.file.root().unlink("point"), Status::ok);
    ASSERT_EQ(mounted->close(), Status::ok);
    ASSERT_EQ(bench.file.close(), Status::ok);
    EXPECT_TRUE(bench.empty());
}
#endif

// Wherever the storage ends, the append that does not fit returns no_space, earlier rows are safe, and appending
// continues after an object was removed.
TEST(Unlink, MakesRoomOnAFullStorage) {
    for (std::size_t capacity = 2600; capacity < 12000; capacity += 433) {
        for (const std::uint32_t chunk : {1U, 8U}) {
            Bench bench(capacity);
            ASSERT_EQ(bench.create(), Status::ok);
            ASSERT_EQ(make_log(bench.file.root(), "old", 100, rows(chunk)), Status::ok);
            ASSERT_EQ(bench.file.flush(), Status::ok);
            std::uint32_t count = 0;
            {
                auto log = bench.file.root().create_dataset<Row>("log", rows(chunk));
                if (log.status() == Status::no_space) {
                    continue;
                }
                ASSERT_EQ(log.status(), Status::ok);
                Status status = Status::ok;
                while (status == Status::ok) {
                    status = log->append(Row::at(count));
                    count += status == Status::ok ? 1 : 0;
                    if (count % 5 == 0) {
                        ASSERT_EQ(bench.file.flush(), Status::ok);
                    }
                }
                EXPECT_EQ(status, Status::no_space);
                EXPECT_EQ(log->append(Row::at(count)), Status::no_space);
                ASSERT_EQ(bench.file.flush(), Status::ok);
                ASSERT_EQ(log->close(), Status::ok);
            }
            EXPECT_TRUE(intact(bench.file.root(), "log", count));
            ASSERT_EQ(bench.reopen(), Status::ok);
            EXPECT_TRUE(intact(bench.file.root(), "log", count));
            EXPECT_TRUE(intact(bench.file.root(), "old", 100));
            ASSERT_EQ(bench.file.root().unlink("old"), Status::ok);
            ASSERT_EQ(bench.file.flush(), Status::ok);
            EXPECT_EQ(problems(bench.file), 0U);
            {
                auto log = bench.file.root().open_dataset<Row>("log");
                ASSERT_EQ(log.status(), Status::ok);
                // Most of the freed space can be used; some of it goes into the index, and small pieces are lost.
                const std::uint32_t before = count;
                while (log->append(Row::at(count)) == Status::ok) {
                    ++count;
                    if (count % 7 == 0) {
                        ASSERT_EQ(bench.file.flush(), Status::ok);
                    }
                }
                ASSERT_EQ(bench.file.flush(), Status::ok);
                EXPECT_GE(count, before + 40);
            }
            ASSERT_EQ(bench.reopen(), Status::ok);
            EXPECT_TRUE(intact(bench.file.root(), "log", count));
            EXPECT_EQ(problems(bench.file), 0U);
            ASSERT_EQ(bench.file.close(), Status::ok);
            EXPECT_TRUE(bench.empty());
        }
    }
}
