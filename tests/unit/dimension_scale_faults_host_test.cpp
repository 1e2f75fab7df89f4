// Dimension scales are set, attached, detached and labelled while memory or the storage fails: afterwards both objects
// are as before, and the same call then succeeds. After a power cut at any instant a scale is attached or it is not,
// and all other scales are where they were.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

#include <h5mote/dimension_scale.hpp>

#include "promising_driver.hpp"
#include "recording_driver.hpp"
#include "sweep.hpp"
#include "world.hpp"

#include <functional>
#include <iterator>
#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

enum Name : std::size_t { kData, kOld, kTime, kPlace, kTable, kBare, kCount };
constexpr const char* kNames[kCount] = {"data", "old", "time", "place", "table", "bare"};

// The list of a scale as libhdf5 writes it: the number of the dimension has a sign.
void write_list_of_libhdf5(Dataset& scale, std::size_t count) {
    static constexpr auto kOurs = make_compound<16>(member("dataset", 0, make_reference(ReferenceType::object1)),
                                                    member("dimension", 8, make_integer(4, false)));
    static constexpr auto kTheirs = make_compound<16>(member("dataset", 0, make_reference(ReferenceType::object1)),
                                                      member("dimension", 8, make_integer(4, true)));
    std::vector<std::byte> entries(16 * count);
    const std::uint64_t entry_count = count;
    EXPECT_EQ(scale.read_attribute("REFERENCE_LIST", kOurs.view(), {entries.data(), entries.size()}), Status::ok);
    EXPECT_EQ(scale.replace_attribute("REFERENCE_LIST", kTheirs.view(), Dataspace::simple({entry_count}),
                                      {entries.data(), entries.size()}),
              Status::ok);
}

// A file in memory, its datasets, and everything that can fail.
struct Bench {
    explicit Bench(const std::vector<std::byte>& image, bool commits = false)
        : assigned(storage.assign({image.data(), image.size()})), promising(storage, promised(commits)) {
        library.set_free_list_limits({0, 0});
        access.metadata_cache = 8192;
    }
    static Capabilities promised(bool commits) {
        Capabilities result = with_unit(512);
        result.sync_is_commit = commits;
        return result;
    }
    void open() {
        EXPECT_EQ(assigned, Status::ok);
        auto opened = File::open(library, driver, access);
        ASSERT_EQ(opened.status(), Status::ok);
        file = static_cast<File&&>(*opened);
        for (std::size_t i = 0; i < kCount; ++i) {
            auto dataset = file.root().open_dataset(kNames[i]);
            ASSERT_EQ(dataset.status(), Status::ok);
            all[i] = static_cast<Dataset&&>(*dataset);
        }
    }
    // "time" is the scale of both dimensions of "data", and "place" of the first one of "old". The others are no
    // scales, but "table" has a class.
    void make(bool as_libhdf5) {
        auto made = File::create(library, driver, access);
        ASSERT_EQ(made.status(), Status::ok);
        file = static_cast<File&&>(*made);
        for (std::size_t i = 0; i < kCount; ++i) {
            auto dataset = file.root().create_dataset(kNames[i], kNumber.view(), Dataspace::simple({4, 4}));
            ASSERT_EQ(dataset.status(), Status::ok);
            all[i] = static_cast<Dataset&&>(*dataset);
        }
        EXPECT_EQ(DimensionScales::set(all[kTime], "t"), Status::ok);
        EXPECT_EQ(DimensionScales::attach(all[kData], 0, all[kTime]), Status::ok);
        EXPECT_EQ(DimensionScales::attach(all[kData], 1, all[kTime]), Status::ok);
        EXPECT_EQ(DimensionScales::attach(all[kOld], 0, all[kPlace]), Status::ok);
        EXPECT_EQ(DimensionScales::set_label(all[kData], 0, "first"), Status::ok);
        EXPECT_EQ(all[kTable].write_attribute("CLASS", "TABLE"), Status::ok);
        if (as_libhdf5) {
            write_list_of_libhdf5(all[kTime], 2);
            write_list_of_libhdf5(all[kPlace], 1);
        }
        close();
    }
    void close() {
        for (Dataset& each : all) {
            EXPECT_EQ(each.close(), Status::ok);
        }
        EXPECT_EQ(file.close(), Status::ok);
    }
    std::vector<std::byte> image() const { return {storage.contents().begin(), storage.contents().end()}; }

    MallocAllocator memory;
    RefusingAllocator refusing{memory};
    MallocAllocator bytes;
    GrowingMemoryDriver storage{bytes};
    Status assigned;
    PromisingDriver promising;
    RecordingDriver recorder{promising};
    FailingDriver driver{recorder};
    NullPort port;
    Library library{refusing, port};
    FileAccess access;
    File file;
    Dataset all[kCount];
};

const std::vector<std::byte>& start(bool as_libhdf5) {
    static const auto make = [](bool theirs) {
        Bench bench({});
        bench.make(theirs);
        return bench.image();
    };
    static const std::vector<std::byte> images[] = {make(false), make(true)};
    return images[as_libhdf5 ? 1 : 0];
}

// Which scale is attached where, and the labels.
std::string attachments(const Dataset* all) {
    std::string text;
    for (const std::size_t data : {kData, kOld, kTable}) {
        for (const unsigned dimension : {0U, 1U}) {
            for (std::size_t scale = kTime; scale < kCount; ++scale) {
                bool is = false;
                EXPECT_EQ(DimensionScales::is_attached(all[data], dimension, all[scale], is), Status::ok);
                text += is ? std::string(kNames[data]) + " " + kNames[scale] + " " : std::string("- ");
            }
            char label[16];
            std::size_t length = 0;
            EXPECT_EQ(DimensionScales::label(all[data], dimension, label, length), Status::ok);
            text += std::string(label, length) + " ";
        }
    }
    return text;
}

// That, and what each of the datasets and lists says by itself.
std::string state(const Dataset* all) {
    std::string text = attachments(all);
    for (std::size_t i = 0; i < kCount; ++i) {
        const Dataset& data = all[i];
        char class_or_name[64];
        std::size_t length = 0;
        Status status = data.read_attribute("CLASS", class_or_name, length);
        text += status == Status::ok ? std::string(class_or_name, length) + " " : to_string(status);
        EXPECT_EQ(DimensionScales::name(data, class_or_name, length), Status::ok);
        text += std::string(class_or_name, length) + " ";
        for (const unsigned dimension : {0U, 1U}) {
            std::uint32_t count = 0;
            EXPECT_EQ(DimensionScales::count(data, dimension, count), Status::ok);
            text += std::to_string(count) + " ";
        }
        AttributeInfo info;
        std::uint64_t count = 0;
        status = data.attribute_info("REFERENCE_LIST", info);
        EXPECT_TRUE(status == Status::not_found || info.space.element_count(count) == Status::ok);
        text += std::to_string(count) + "; ";
    }
    return text;
}

using Change = std::function<Status(Dataset*)>;

struct Step {
    const char* name;
    Change change;
};

const Step kSteps[] = {
    {"set", [](Dataset* all) { return DimensionScales::set(all[kBare], "a name of some length"); }},
    {"set another class", [](Dataset* all) { return DimensionScales::set(all[kTable], "name"); }},
    {"rename", [](Dataset* all) { return DimensionScales::set(all[kTime], "a longer name"); }},
    {"attach", [](Dataset* all) { return DimensionScales::attach(all[kOld], 1, all[kTime]); }},
    {"attach a second", [](Dataset* all) { return DimensionScales::attach(all[kData], 1, all[kPlace]); }},
    {"attach the first", [](Dataset* all) { return DimensionScales::attach(all[kTable], 1, all[kPlace]); }},
    {"attach what is no scale", [](Dataset* all) { return DimensionScales::attach(all[kOld], 0, all[kBare]); }},
    {"attach another class", [](Dataset* all) { return DimensionScales::attach(all[kOld], 0, all[kTable]); }},
    {"detach", [](Dataset* all) { return DimensionScales::detach(all[kData], 0, all[kTime]); }},
    {"detach the last", [](Dataset* all) { return DimensionScales::detach(all[kOld], 0, all[kPlace]); }},
    {"label", [](Dataset* all) { return DimensionScales::set_label(all[kData], 1, "second"); }},
    {"label another", [](Dataset* all) { return DimensionScales::set_label(all[kData], 0, "the first"); }},
    {"label the first", [](Dataset* all) { return DimensionScales::set_label(all[kOld], 0, "old"); }},
};

// What the file has before the steps and after one of them.
struct States {
    std::string before;
    std::string attached;
    std::string after;
};

States states(const Step& step, bool as_libhdf5) {
    Bench bench(start(as_libhdf5));
    bench.open();
    States result{state(bench.all), attachments(bench.all), {}};
    EXPECT_EQ(step.change(bench.all), Status::ok);
    result.after = state(bench.all);
    EXPECT_NE(result.before, result.after);
    bench.close();
    return result;
}

// false: nothing failed.
bool point(const Step& step, const States& wanted, bool as_libhdf5, bool commits, const FaultKind& kind,
           std::uint64_t k) {
    Bench bench(start(as_libhdf5), commits);
    bench.open();
    bench.library.garbage_collect();
    arm(bench.refusing, bench.driver, kind, k);
    const Status status = step.change(bench.all);
    const bool failed = disarm(bench.refusing, bench.driver);
    EXPECT_TRUE(failed || status == Status::ok);
    if (status == Status::ok) {
        EXPECT_EQ(state(bench.all), wanted.after);
    } else {
        // Where everything fails, what was done cannot be undone: a scale may have an entry too many, or one too few.
        if (!kind.persistent) {
            EXPECT_EQ(state(bench.all), wanted.before);
        } else if (std::string_view(step.name).substr(0, 6) != "detach") {
            EXPECT_EQ(attachments(bench.all), wanted.attached);
        }
        EXPECT_EQ(step.change(bench.all), Status::ok);
        EXPECT_EQ(state(bench.all), wanted.after);
    }
    EXPECT_EQ(bench.file.flush(), Status::ok);
    EXPECT_TRUE(findings_in(bench.file).none());
    bench.close();
    Bench again(bench.image());
    again.open();
    EXPECT_EQ(state(again.all), wanted.after);
    again.close();
    EXPECT_EQ(bench.memory.blocks(), 0U);
    return failed;
}

TEST(DimensionScaleFaults, EveryCallFails) {
    std::uint64_t points = 0;
    for (const Step& step : kSteps) {
        for (const unsigned bits : {0U, 1U, 2U, 3U}) {
            const States wanted = states(step, (bits & 1) != 0);
            for (const FaultKind& kind : kFaultKinds) {
                for (std::uint64_t k = 1;; k += sweep_step(), ++points) {
                    SCOPED_TRACE(std::string(step.name) + " " + std::to_string(bits) + " " + kind.name + " " +
                                 std::to_string(k));
                    if (!point(step, wanted, (bits & 1) != 0, (bits & 2) != 0, kind, k)) {
                        break;
                    }
                    ASSERT_FALSE(testing::Test::HasFailure());
                }
            }
        }
    }
    std::printf("%llu points\n", static_cast<unsigned long long>(points));
    EXPECT_GT(points, 1000U / sweep_step());
}

// A dataset with scales cannot be one, also if it cannot be read whether it has any.
TEST(DimensionScaleFaults, WhatIsRefusedIsRefusedAfterAnError) {
    const Step steps[] = {
        {"set", [](Dataset* all) { return DimensionScales::set(all[kData], "name"); }},
        {"attach", [](Dataset* all) { return DimensionScales::attach(all[kTable], 0, all[kData]); }},
    };
    std::uint64_t points = 0;
    for (const Step& step : steps) {
        for (const FaultKind& kind : kFaultKinds) {
            bool failed = true;
            for (std::uint64_t k = 1; failed; ++k) {
                SCOPED_TRACE(std::string(step.name) + " " + kind.name + " " + std::to_string(k));
                Bench bench(start(false));
                bench.access.metadata_cache = 2048;
                bench.open();
                const std::string before = state(bench.all);
                EXPECT_FALSE(bench.file.root().exists("nothing"));  // needs the cache
                bench.library.garbage_collect();
                arm(bench.refusing, bench.driver, kind, k);
                const Status status = step.change(bench.all);
                failed = disarm(bench.refusing, bench.driver);
                points += failed ? 1 : 0;
                EXPECT_TRUE(status == Status::invalid_argument ||
                            (failed && (status == Status::io_error || status == Status::out_of_memory)))
                    << to_string(status);
                EXPECT_EQ(state(bench.all), before);
                bench.close();
                ASSERT_FALSE(testing::Test::HasFailure());
            }
        }
    }
    std::printf("%llu points\n", static_cast<unsigned long long>(points));
    EXPECT_GT(points, 4U);
}

// After a cut between any two writes a scale is attached or it is not, all others are where they were, and the same
// call completes what the cut has left of it.
TEST(DimensionScaleFaults, ThePowerFailsBetweenWrites) {
    std::size_t cuts = 0;
    for (const Step& step : kSteps) {
        for (const bool as_libhdf5 : {false, true}) {
            const States wanted = states(step, as_libhdf5);
            Bench bench(start(as_libhdf5));
            bench.open();
            EXPECT_EQ(step.change(bench.all), Status::ok);
            const std::string attached = attachments(bench.all);
            bench.close();
            for (std::size_t i = 0; i <= bench.recorder.operations().size(); ++i) {
                SCOPED_TRACE(std::string(step.name) + " " + std::to_string(i));
                Bench cut(bench.recorder.image(i));
                cut.open();
                const std::string now = attachments(cut.all);
                EXPECT_TRUE(now == wanted.attached || now == attached) << now;
                EXPECT_TRUE(findings_in(cut.file).none());
                const Status status = step.change(cut.all);
                EXPECT_TRUE(status == Status::ok || (status == Status::not_found && state(cut.all) == wanted.after));
                EXPECT_EQ(state(cut.all), wanted.after);
                EXPECT_TRUE(findings_in(cut.file).none());
                cut.close();
                ++cuts;
                ASSERT_FALSE(testing::Test::HasFailure());
            }
        }
    }
    std::printf("%zu cuts\n", cuts);
    EXPECT_GT(cuts, 100U);
}

}  // namespace

#endif
