// Files with metadata blocks larger than the metadata cache, which are read in pieces, are walked and checked while
// each read of the driver fails in turn: the fault is reported, and all memory is given back.
#ifdef H5MOTE_TEST_HDF5

#include <h5mote/h5mote.hpp>

#if H5MOTE_ALL_FORMATS

#include "../reading/all_filters.hpp"
#include "failing_driver.hpp"
#include "hdf5_files.hpp"
#include "sound.hpp"
#include "sweep.hpp"
#include "walker.hpp"

#include <h5mote/check.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <cstdio>

using namespace h5mote;
using namespace h5mote_test;

namespace {

std::byte buffer[1024];

// Makes files with nodes, heaps and tables of several kilobytes each.
std::vector<MadeFile> files_of_large_blocks() {
    using Format = Hdf5Maker::Format;
    std::vector<MadeFile> files;
    const auto add = [&](const char* name, Hdf5Maker& maker) { files.push_back({name, maker.finish()}); };
    {
        Hdf5Maker maker(Format::oldest);
        H5Pset_istore_k(maker.properties(), 32);
        H5Pset_sym_k(maker.properties(), 40, 40);
        MadeDataset{{20, 5}, {H5S_UNLIMITED, H5S_UNLIMITED}, {1, 1}}.make(maker.file());
        for (char c = 'a'; c < 'k'; ++c) {
            const Hdf5Id group(
                H5Gcreate2(maker.file(), std::string(150, c).c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
        }
        H5Lcreate_soft(std::string(700, 'a').c_str(), maker.file(), std::string(600, 's').c_str(), H5P_DEFAULT,
                       H5P_DEFAULT);
        make_attribute(maker.file(), "numbers", 300);
        add("old format", maker);
    }
    {
        Hdf5Maker maker(Format::newest);
        MadeDataset{{300}, {300}, {1}, true}.make(maker.file());
        add("fixed array", maker);
    }
    {
        Hdf5Maker maker(Format::newest);
        MadeDataset{{66000}, {H5S_UNLIMITED}, {1}, true, false, 65990, 6}.make(maker.file());
        add("extensible array", maker);
    }
    {
        Hdf5Maker maker(Format::newest);
        MadeDataset{{12, 12}, {H5S_UNLIMITED, H5S_UNLIMITED}, {1, 1}, true}.make(maker.file());
        add("B-tree 2", maker);
    }
    {
        Hdf5Maker maker(Format::newest);
        make_group(maker.file(), "dense", 40, 30);
        const Hdf5Id group(H5Gopen2(maker.file(), "dense", H5P_DEFAULT), H5Gclose);
        for (char c = 'a'; c < 'g'; ++c) {
            const std::string name(900, c);
            make_attribute(group, name, 600);
            H5Lcreate_soft(name.c_str(), group, name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
        }
        add("dense", maker);
    }
    {
        Hdf5Maker maker(Format::newest);
        make_group(maker.file(), "compact", 3, 0);
        const Hdf5Id group(H5Gopen2(maker.file(), "compact", H5P_DEFAULT), H5Gclose);
        make_attribute(group, "large", 500);
        make_attribute(group, "also", 400);
        make_strings(maker.file(), "s", H5D_COMPACT);
        add("compact", maker);
    }
    return files;
}

// Counts errors, and what could not be checked for want of memory.
class Counter final : public CheckReporter {
public:
    void problem(const Problem& problem) noexcept override {
        errors += !problem.note || problem.kind == ProblemKind::too_large ? 1U : 0U;
        mistaken += problem.kind != ProblemKind::unreadable ? 1U : 0U;
    }
    unsigned errors = 0;
    unsigned mistaken = 0;  ///< problems other than "unreadable"
};

struct Outcome {
    Status opened = Status::ok;
    WalkResult walk;
    std::uint64_t failures = 0;
    std::uint64_t reads = 0;
    bool clean = true;

    bool told() const noexcept { return opened != Status::ok || walk.errors != 0; }
};

// Runs check_file() and translates its findings into the result of a walk.
Status check(Library& library, Driver& driver, const FileAccess& access, WalkResult& result) {
    auto file = File::open(library, driver, access);
    H5MOTE_TRY(file.status());
    Counter counter;
    CheckOptions options;
    options.memory = 4096;
    CheckSummary summary;
    const Status checked = check_file(*file, options, counter, &summary);
    result.errors = counter.errors + (checked != Status::ok ? 1U : 0U);
    result.first_error = checked != Status::ok   ? checked
                         : counter.mistaken != 0 ? Status::corrupt_file
                         : counter.errors != 0   ? Status::io_error
                                                 : Status::ok;
    result.digest = static_cast<std::uint32_t>(summary.objects + 31 * summary.used + 961 * summary.notes);
    return file->close();
}

Outcome run(const MadeFile& made, bool checking, const DriverFault& fault) {
    Outcome outcome;
    MallocAllocator memory;
    MemoryDriver storage = MemoryDriver::reading({made.image.data(), made.image.size()});
    FailingDriver driver(storage);
    {
        NullPort port;
        Library library(memory, port, kAllFilters);
        driver.arm(fault);
        FileAccess access;
        access.read_only = true;
        access.metadata_cache = 1024;
        access.chunk_cache = 64;
        WalkLimits limits;
        limits.elements = 20;
        outcome.opened = checking ? check(library, driver, access, outcome.walk)
                                  : walk_file(library, driver, access, buffer, limits, outcome.walk);
    }
    outcome.failures = driver.failures();
    outcome.reads = driver.calls();
    outcome.clean = memory.blocks() == 0;
    return outcome;
}

void fail_each_read(const MadeFile& made, bool checking, unsigned& points) {
    constexpr std::uint64_t kMostPoints = 700;
    DriverFault fault;
    fault.calls = kReadCall;
    const Outcome sound = run(made, checking, fault);
    ASSERT_EQ(sound.opened, Status::ok);
    ASSERT_EQ(sound.walk.errors, 0U) << to_string(sound.walk.first_error);
    const std::uint64_t step = sound.reads / kMostPoints + 1;
    for (fault.at = 1; fault.at <= sound.reads; fault.at += step * sweep_step()) {
        const Outcome outcome = run(made, checking, fault);
        SCOPED_TRACE("read " + std::to_string(fault.at));
        ASSERT_EQ(outcome.failures, 1U);
        EXPECT_TRUE(outcome.clean);
        EXPECT_TRUE(outcome.told() || outcome.walk.digest == sound.walk.digest);
        // What cannot be read must not be reported as damaged.
        const Status why = outcome.opened != Status::ok ? outcome.opened : outcome.walk.first_error;
        EXPECT_TRUE(why == Status::ok || why == Status::io_error) << to_string(why);
        ++points;
    }
}

}  // namespace

TEST(ReadingFaults, BlocksLargerThanTheCache) {
    unsigned points = 0;
    for (const MadeFile& made : files_of_large_blocks()) {
        for (const bool checking : {false, true}) {
            SCOPED_TRACE(made.name + (checking ? ", check" : ", walk"));
            fail_each_read(made, checking, points);
        }
    }
    std::printf("%u points\n", points);
    EXPECT_GT(points, 2000U / sweep_step());
}

#endif
#endif
