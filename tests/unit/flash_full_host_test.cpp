// Logs fill a flash chip: flush() makes durable whatever append() accepted, the append that does not fit returns
// no_space, and removing objects makes room again.
#include <h5mote/filters/deflate.hpp>
#include <h5mote/filters/fletcher32.hpp>
#include <h5mote/filters/shuffle.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/flash.hpp>

#include "flash_simulator.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#if H5MOTE_FILTER_DEFLATE

namespace {

using namespace h5mote;
using namespace h5mote_test;

struct Row {
    std::uint32_t index;
    std::uint32_t values[7];
};
H5MOTE_COMPOUND(Row, index, values)

Row row_at(unsigned log, std::uint32_t index) {
    Row row{index, {}};
    for (std::uint32_t i = 0; i < 7; ++i) {
        row.values[i] = (index * 7 + i + log) * 0x9e3779b9U;
    }
    return row;
}

struct Case {
    FlashGeometry geometry;
    FlashFormat format;
    std::uint16_t changes;
    bool filtered;
    unsigned logs;
    unsigned flush_rows;
};

std::string name(unsigned log) { return "log" + std::to_string(log); }

class Filling {
public:
    explicit Filling(const Case& what)
        : what_(what),
          chip_memory_(FlashSimulator::required_memory(what.geometry) / 8 + 1),
          chip_(options(what), {reinterpret_cast<std::byte*>(chip_memory_.data()), chip_memory_.size() * 8}) {
        mount_.changes = what.changes;
        work_.resize(FlashDriver::required_memory(what.geometry, what.format, mount_) / 8 + 1);
        rows_.resize(what.logs);
        begin();
    }

    void run() {
        ASSERT_EQ(driver_->format(what_.format, mount_), Status::ok);
        open();
        auto ballast = file_.root().create_dataset<Row>("ballast", layout());
        ASSERT_EQ(ballast.status(), Status::ok);
        // Fill a third of the chip.
        while (driver_->usage().live < driver_->usage().capacity / 3) {
            ASSERT_EQ(ballast->append(row_at(9, 0)), Status::ok);
            ASSERT_EQ(file_.flush(), Status::ok);
        }
        ASSERT_EQ(ballast->close(), Status::ok);
        fill();
        if (::testing::Test::HasFatalFailure()) {
            return;
        }
        // A full chip either has room for another group or reports that it has none.
        const Status made = file_.root().create_group("late").status();
        EXPECT_TRUE(made == Status::ok || made == Status::no_space);
        EXPECT_EQ(file_.flush(), Status::ok);
        reopen();
        EXPECT_EQ(file_.root().unlink("ballast"), Status::ok);
        EXPECT_EQ(file_.flush(), Status::ok);
        const std::uint32_t before = total();
        const std::uint64_t live = driver_->usage().live;
        fill();
        if (::testing::Test::HasFatalFailure()) {
            return;
        }
        EXPECT_GT(driver_->usage().live, live);
        EXPECT_GT(total(), before + 16);
        reopen();
        EXPECT_EQ(chip_.violation(), FlashViolation::none);
        std::printf("%u rows, %llu of %llu bytes live\n", total(),
                    static_cast<unsigned long long>(driver_->usage().live),
                    static_cast<unsigned long long>(driver_->usage().capacity));
    }

private:
    static FlashSimulatorOptions options(const Case& what) {
        FlashSimulatorOptions result;
        result.geometry = what.geometry;
        return result;
    }
    DatasetCreate layout() const {
        DatasetCreate create;
        create.chunk = {8};
        if (what_.filtered) {
            create.filters = {filters::shuffle, filters::deflate, filters::fletcher32};
        }
        return create;
    }
    void begin() {
        driver_ =
            std::make_unique<FlashDriver>(chip_, Bytes(reinterpret_cast<std::byte*>(work_.data()), work_.size() * 8));
    }
    std::uint32_t total() const {
        std::uint32_t sum = 0;
        for (const std::uint32_t each : rows_) {
            sum += each;
        }
        return sum;
    }

    // Appends rows until one does not fit even right after a flush.
    void fill() {
        bool flushed = false;
        for (std::uint32_t i = 0;; ++i) {
            const unsigned log = i % what_.logs;
            const Status status = logs_[log].append(row_at(log, rows_[log]));
            if (status == Status::ok) {
                ++rows_[log];
            } else {
                ASSERT_EQ(status, Status::no_space) << "row " << total();
            }
            if (status != Status::ok || total() % what_.flush_rows == 0) {
                ASSERT_EQ(file_.flush(), Status::ok) << "row " << total();
            }
            if (status != Status::ok && flushed) {
                return;
            }
            flushed = status != Status::ok;
        }
    }

    void open() {
        FileAccess access;
        access.metadata_cache = 4096;
        access.chunk_cache = 4096;
        auto file = File::open_or_create(library_, *driver_, access);
        ASSERT_EQ(file.status(), Status::ok);
        file_ = static_cast<File&&>(*file);
        logs_.clear();
        for (unsigned i = 0; i < what_.logs; ++i) {
            auto log = file_.root().open_or_create_dataset<Row>(name(i), layout());
            ASSERT_EQ(log.status(), Status::ok);
            logs_.push_back(static_cast<TypedDataset<Row>&&>(*log));
        }
        ASSERT_EQ(file_.flush(), Status::ok);
    }

    // Opens the file as after a reset: exactly the rows that were flushed are there.
    void reopen() {
        std::vector<std::uint64_t> copy_memory(chip_memory_.size());
        FlashSimulator copy(options(what_), {reinterpret_cast<std::byte*>(copy_memory.data()), copy_memory.size() * 8});
        copy.copy_from(chip_);
        EXPECT_EQ(file_.close(), Status::ok);
        logs_.clear();
        file_ = File();
        chip_.copy_from(copy);
        begin();
        ASSERT_EQ(driver_->mount(mount_), Status::ok);
        open();
        for (unsigned i = 0; i < what_.logs; ++i) {
            ASSERT_EQ(logs_[i].size(), rows_[i]);
#if H5MOTE_PARTIAL_IO
            std::vector<Row> found(rows_[i]);
            ASSERT_EQ(logs_[i].read(Selection::all(), Span<Row>(found.data(), found.size())), Status::ok);
            for (std::uint32_t n = 0; n < rows_[i]; ++n) {
                const Row row = row_at(i, n);
                ASSERT_EQ(std::memcmp(&row, &found[n], sizeof row), 0);
            }
#endif
        }
    }

    const Case what_;
    std::vector<std::uint64_t> chip_memory_, work_;
    FlashSimulator chip_;
    FlashOptions mount_;
    std::unique_ptr<FlashDriver> driver_;
    MallocAllocator allocator_;
    NullPort port_;
    const Filter* filters_[3] = {&shuffle_filter, &deflate_filter, &fletcher32_filter};
    Library library_{allocator_, port_, filters_};
    File file_;
    std::vector<TypedDataset<Row>> logs_;
    std::vector<std::uint32_t> rows_;
};

constexpr FlashGeometry kSmall{48, 1024, 256, 4, 0xff};
constexpr FlashGeometry kSpi{32, 4096, 256, 1, 0xff};
constexpr FlashGeometry kPages{40, 4096, 256, 256, 0x00};

TEST(FlashFull, AppendTells) {
    for (const FlashGeometry& geometry : {kSmall, kSpi, kPages}) {
        const bool small = geometry.block_size == 1024;
        const FlashFormat format{small ? 128U : 512U, static_cast<std::uint8_t>(small ? 25 : 12)};
        const std::uint16_t changes = small ? 8 : 32;
        // The logger profile has no filters.
        for (const bool filtered : {false, H5MOTE_FILTERS != 0}) {
            for (const unsigned logs : {1U, 2U}) {
                for (const unsigned flush_rows : {1U, 5U, 100000U}) {
                    Filling filling({geometry, format, changes, filtered, logs, flush_rows});
                    filling.run();
                    if (::testing::Test::HasFailure()) {
                        FAIL() << geometry.blocks << " blocks, unit " << geometry.program_unit << ", filtered "
                               << filtered << ", logs " << logs << ", flush after " << flush_rows;
                    }
                }
            }
        }
    }
}

}  // namespace

#endif
