// Logs fill a storage, and the oldest are deleted, one after the other: in groups of few links and of many, whose links
// are in dense storage.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

#include "flash_simulator.hpp"
#include "sound.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/flash.hpp>
#include <h5mote/vfd/journal.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr auto kNumber = make_integer(4, true);
constexpr std::int32_t kValues[64] = {5};

constexpr std::size_t kCapacity = 64000;

struct Plan {
    unsigned logs;
    unsigned rows;   // of a chunk
    unsigned every;  // chunks, flush
};

class Rotation {
public:
    Rotation(Library& library, Driver& driver, std::size_t capacity, const Plan& plan)
        : library_(library), driver_(driver), capacity_(static_cast<unsigned>(capacity)), plan_(plan) {}

    void run() {
        auto made = File::create(library_, driver_, access());
        ASSERT_EQ(made.status(), Status::ok);
        file_ = static_cast<File&&>(*made);
        const unsigned share = capacity_ / plan_.logs / (plan_.rows * 4) / 3;
        while (!fill(share)) {
        }
        ASSERT_GE(next_ - first_, plan_.logs);
        for (unsigned round = 0; round < 200; ++round) {
            SCOPED_TRACE(round);
            if (round % 16 == 15) {
                ASSERT_EQ(file_.close(), Status::ok);
                auto opened = File::open(library_, driver_, access());
                ASSERT_EQ(opened.status(), Status::ok);
                file_ = static_cast<File&&>(*opened);
            }
            ASSERT_EQ(file_.root().unlink(name_of(first_++)), Status::ok);
            ASSERT_EQ(file_.flush(), Status::ok);
            ASSERT_EQ(file_.flush(), Status::ok);
            while (!fill(share)) {
            }
            // A log that finds little room has few rows, and what it leaves may be too little for another one.
            ASSERT_GE(next_ - first_, plan_.logs / 2);
        }
        EXPECT_TRUE(findings_in(file_).none());
        ASSERT_EQ(file_.close(), Status::ok);
    }

private:
    static FileAccess access() {
        FileAccess access;
        access.metadata_cache = 4096;
        access.chunk_cache = 4096;
        return access;
    }
    static std::string name_of(unsigned log) { return "log" + std::to_string(log); }

    // Makes a log and appends to it until it has `most` chunks, or the storage is full. Returns whether it is.
    bool fill(unsigned most) {
        DatasetCreate create;
        create.chunk = {plan_.rows};
        create.reserve = 0;
        auto data = file_.root().create_dataset(name_of(next_), kNumber, Dataspace::unlimited(), create);
        Status status = data.status();
        if (status != Status::ok) {
            EXPECT_EQ(status, Status::no_space);
            return true;
        }
        ++next_;
        for (unsigned i = 0; i < most && status == Status::ok; ++i) {
            status = data->append_records(kValues, plan_.rows);
            EXPECT_TRUE(i % plan_.every != plan_.every - 1 || file_.flush() == Status::ok);
        }
        EXPECT_TRUE(status == Status::ok || status == Status::no_space);
        EXPECT_EQ(data->close(), Status::ok);
        EXPECT_EQ(file_.flush(), Status::ok);
        return status == Status::no_space;
    }

    Library& library_;
    Driver& driver_;
    unsigned capacity_;
    Plan plan_;
    File file_;
    unsigned first_ = 0;
    unsigned next_ = 0;
};

class FullStorage : public ::testing::TestWithParam<Plan> {
protected:
    MallocAllocator heap_;
    NullPort port_;
    Library library_{heap_, port_, {}, formats::all};
};

TEST_P(FullStorage, RotatesOnAFile) {
    GrowingMemoryDriver storage(heap_, kCapacity);
    Rotation(library_, storage, kCapacity, GetParam()).run();
}

TEST_P(FullStorage, RotatesThroughAJournal) {
    GrowingMemoryDriver home(heap_, kCapacity);
    GrowingMemoryDriver log(heap_);
    JournalOptions options;
    options.limit = 1 << 20;
    std::vector<std::uint64_t> memory(JournalDriver::required_memory(768, options) / 8 + 1);
    JournalDriver journal(home, log, {reinterpret_cast<std::byte*>(memory.data()), memory.size() * 8});
    ASSERT_EQ(journal.open(options), Status::ok);
    Rotation(library_, journal, kCapacity, GetParam()).run();
}

TEST_P(FullStorage, RotatesOnAChip) {
    FlashSimulatorOptions options;
    options.geometry = {32, 4096, 256, 4, 0xff};
    std::vector<std::uint64_t> chip_memory(FlashSimulator::required_memory(options.geometry) / 8 + 1);
    FlashSimulator chip(options, {reinterpret_cast<std::byte*>(chip_memory.data()), chip_memory.size() * 8});
    FlashFormat format;
    format.page_size = 256;
    const FlashOptions mount;
    std::vector<std::uint64_t> memory(FlashDriver::required_memory(options.geometry, format, mount) / 8 + 1);
    FlashDriver driver(chip, {reinterpret_cast<std::byte*>(memory.data()), memory.size() * 8});
    ASSERT_EQ(driver.format(format, mount), Status::ok);
    Rotation(library_, driver, static_cast<std::size_t>(driver.usage().capacity), GetParam()).run();
}

INSTANTIATE_TEST_SUITE_P(Plans, FullStorage,
                         ::testing::Values(Plan{5, 8, 20}, Plan{9, 8, 7}, Plan{12, 8, 20}, Plan{12, 64, 3},
                                           Plan{20, 16, 50}, Plan{10, 33, 1}));

}  // namespace

#endif
