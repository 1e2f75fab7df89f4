#include "failing_driver.hpp"
#include "storage_bench.hpp"
#include "test_allocators.hpp"

#include <h5mote/check.hpp>

using namespace h5mote;
using namespace h5mote_test;

#if H5MOTE_ALL_FORMATS

namespace {

class Counter final : public CheckReporter {
public:
    void problem(const Problem& problem) noexcept override {
        count += problem.note ? 0 : 1;
        last = problem;
    }

    unsigned count = 0;
    Problem last;
};

struct Row {
    std::uint32_t time;
    std::uint16_t value;
};

H5MOTE_COMPOUND(Row, time, value)

Status fill(File& file) {
    Group root = file.root();
    auto group = root.create_group("flight");
    if (!group) {
        return group.status();
    }
    H5MOTE_TRY(group->write_attribute("pilot", "nobody"));
    DatasetCreate create;
    create.chunk = {8};
    for (const char* name : {"one", "two", "three"}) {
        auto log = group->create_dataset<Row>(name, create);
        if (!log) {
            return log.status();
        }
        for (std::uint32_t i = 0; i < 60; ++i) {
            H5MOTE_TRY(log->append(Row{i, static_cast<std::uint16_t>(2 * i)}));
        }
        H5MOTE_TRY(log->close());
    }
    return file.flush();
}

}  // namespace

TEST(Check, WhatWeWriteIsSound) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    ASSERT_EQ(fill(bench.file), Status::ok);
    CheckOptions options;
    options.memory = 2048;
    Counter counter;
    CheckSummary summary;
    // Sound both while the file is being written and afterwards.
    ASSERT_EQ(check_file(bench.file, options, counter, &summary), Status::ok);
    EXPECT_EQ(counter.count, 0U);
    EXPECT_EQ(summary.objects, 5U);
    bench.access.read_only = true;
    ASSERT_EQ(bench.reopen(), Status::ok);
    ASSERT_EQ(check_file(bench.file, options, counter, &summary), Status::ok);
    EXPECT_EQ(counter.count, 0U);
    // The same check in so little memory that it has to walk the file many times.
    CheckSummary small;
    options.memory = 320;
    ASSERT_EQ(check_file(bench.file, options, counter, &small), Status::ok);
    EXPECT_EQ(counter.count, 0U);
    EXPECT_GT(small.walks, 5U);
    EXPECT_EQ(small.used, summary.used);
    EXPECT_EQ(small.unused, summary.unused);
    ASSERT_EQ(bench.file.close(), Status::ok);
    EXPECT_TRUE(bench.empty());
}

TEST(Check, MoreObjectsThanMemory) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h", "i"}) {
        ASSERT_TRUE(bool(bench.file.root().create_group(name)));
    }
    CheckOptions options;
    options.memory = 300;
    Counter counter;
    EXPECT_EQ(check_file(bench.file, options, counter), Status::over_budget);
    options.memory = 600;
    EXPECT_EQ(check_file(bench.file, options, counter), Status::ok);
    EXPECT_EQ(counter.count, 0U);
    ASSERT_EQ(bench.file.close(), Status::ok);
    EXPECT_EQ(check_file(bench.file, options, counter), Status::invalid_handle);
    EXPECT_TRUE(bench.empty());
}

TEST(Check, EveryByteOfMetadataCounts) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    ASSERT_EQ(fill(bench.file), Status::ok);
    const Address group = bench.file.root().open_group("flight")->address();
    bench.access.read_only = true;
    bench.access.allow_truncated = true;
    ASSERT_EQ(bench.file.close(), Status::ok);
    CheckOptions options;
    options.memory = 2048;
    // Flip a bit in every byte of the group's header: all of them are covered by its checksum.
    for (Address at = group; at < group + 40; ++at) {
        bench_storage[at] ^= std::byte{0x20};
        Counter counter;
        ASSERT_EQ(bench.open(), Status::ok);
        EXPECT_EQ(check_file(bench.file, options, counter), Status::ok);
        EXPECT_EQ(counter.count, 1U);
        EXPECT_EQ(counter.last.object, group);
        ASSERT_EQ(bench.file.close(), Status::ok);
        bench_storage[at] ^= std::byte{0x20};
    }
    EXPECT_TRUE(bench.empty());
}

TEST(Check, UnreadablePlacesAreReported) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    ASSERT_EQ(fill(bench.file), Status::ok);
    ASSERT_EQ(bench.file.close(), Status::ok);
    FailingDriver failing(bench.driver);
    bench.access.read_only = true;
    CheckOptions options;
    options.memory = 2048;
    unsigned points = 0;
    for (std::uint64_t at = 1;; ++at) {
        auto file = File::open(bench.library, failing, bench.access);
        ASSERT_TRUE(bool(file));
        DriverFault fault;
        fault.at = at;
        fault.calls = kReadCall;
        failing.arm(fault);
        Counter counter;
        EXPECT_EQ(check_file(*file, options, counter), Status::ok);
        const bool failed = failing.failures() != 0;
        failing.disarm();
        EXPECT_EQ(counter.count != 0, failed);
        if (failed) {
            EXPECT_TRUE(counter.last.kind == ProblemKind::unreadable);
        }
        ASSERT_EQ(file->close(), Status::ok);
        if (!failed) {
            break;
        }
        ++points;
    }
    EXPECT_GT(points, 5U);
    EXPECT_TRUE(bench.empty());
}

TEST(Check, EveryAllocationMayFail) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    ASSERT_EQ(fill(bench.file), Status::ok);
    ASSERT_EQ(bench.file.close(), Status::ok);
    FailingAllocator failing(bench.arena);
    Library library(failing, bench.port, bench_filters());
    library.set_free_list_limits({0, 0});  // so that every allocation can fail
    bench.access.read_only = true;
    CheckOptions options;
    options.memory = 2048;
    unsigned points = 0;
    for (std::uint64_t at = 1;; ++at) {
        failing.disarm();
        auto file = File::open(library, bench.driver, bench.access);
        ASSERT_TRUE(bool(file));
        failing.arm(at, true);
        Counter counter;
        const Status status = check_file(*file, options, counter);
        const bool failed = failing.failures() != 0;
        failing.disarm();
        EXPECT_EQ(counter.count, 0U);
        EXPECT_EQ(status == Status::ok, !failed);
        ASSERT_EQ(file->close(), Status::ok);
        if (!failed) {
            break;
        }
        EXPECT_EQ(status, Status::out_of_memory);
        ++points;
    }
    EXPECT_GT(points, 3U);
    EXPECT_TRUE(bench.empty());
}

#endif
