// Files in which the oldest log is deleted for each new one, closed and opened again after each, stop growing, also
// where small free sections are not recorded, and where metadata and raw data lie in different pages.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

#include "test.hpp"

#include <h5mote/check.hpp>
#include <h5mote/filters/deflate.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <algorithm>
#include <string>

using namespace h5mote;

namespace {

constexpr std::uint32_t kRows = 1200;
constexpr unsigned kLogs = 3;

class Silent final : public CheckReporter {
public:
    void problem(const Problem& problem) noexcept override { problems += problem.note ? 0 : 1; }
    unsigned problems = 0;
};

struct Sizes {
    std::uint64_t open = 0;    ///< the most bytes of the file before it was closed ...
    std::uint64_t closed = 0;  ///< ... and after that
    std::uint64_t used = 0;    ///< the most bytes that something in the file used
};

class Rotation {
public:
    Rotation(const FileCreate& create, bool reclaims) : create_(create) { access_.reclaim = reclaims; }

    /// One session: one log more, and one less.
    void turn(Sizes& sizes) {
        auto file = File::open_or_create(library_, storage_, access_, create_);
        ASSERT_EQ(file.status(), Status::ok);
        Group root = file->root();
        if (made_ >= kLogs) {
            ASSERT_EQ(root.unlink("log" + std::to_string(made_ - kLogs)), Status::ok);
        }
        DatasetCreate layout;
        layout.chunk = {32};
        layout.filters = {filters::deflate};
        {
            auto log = root.create_dataset<std::uint32_t>("log" + std::to_string(made_), layout);
            ASSERT_EQ(log.status(), Status::ok);
            for (std::uint32_t row = 0; row < kRows + made_ % 7 * 40; ++row) {
                ASSERT_EQ(log->append((row * 2654435761U) >> (made_ % 20)), Status::ok);
                ASSERT_EQ(row % 200 == 0 ? file->flush() : Status::ok, Status::ok);
            }
            ASSERT_EQ(log->close(), Status::ok);
        }
        ++made_;
        ASSERT_EQ(file->flush(), Status::ok);
        Silent silent;
        CheckSummary summary;
        ASSERT_EQ(check_file(*file, {}, silent, &summary), Status::ok);
        ASSERT_EQ(silent.problems, 0U);
        sizes.used = std::max<std::uint64_t>(sizes.used, summary.used);
        sizes.open = std::max(sizes.open, size());
        ASSERT_EQ(file->close(), Status::ok);
        sizes.closed = std::max(sizes.closed, size());
    }

    Sizes turns(unsigned count) {
        Sizes sizes;
        for (unsigned i = 0; i < count && !::testing::Test::HasFatalFailure(); ++i) {
            turn(sizes);
        }
        return sizes;
    }

private:
    std::uint64_t size() {
        std::uint64_t bytes = 0;
        EXPECT_EQ(storage_.end_of_file(bytes), Status::ok);
        return bytes;
    }

    FileCreate create_;
    FileAccess access_;
    MallocAllocator memory_;
    GrowingMemoryDriver storage_{memory_};
    NullPort port_;
    const Filter* filters_[1] = {&deflate_filter};
    Library library_{memory_, port_, filters_, formats::all};
    unsigned made_ = 0;
};

FileCreate with_pages(std::uint64_t page, bool persist, std::uint64_t threshold) {
    FileCreate create;
    create.file_space = page == 0 ? SpaceStrategy::managers : SpaceStrategy::pages;
    create.page_size = page == 0 ? create.page_size : page;
    create.persist_free_space = persist;
    create.free_space_threshold = threshold;
    return create;
}

// What many turns need at most is no more than what fewer turns need, and some pages beyond the content.
void expect_bounded(const FileCreate& create, std::uint64_t spare) {
    Rotation rotation(create, true);
    const Sizes first = rotation.turns(60);
    const Sizes all = rotation.turns(300);
    EXPECT_LE(all.closed, first.closed + 2 * create.page_size);
    EXPECT_LE(all.closed, all.used * 6 / 5 + spare);
}

}  // namespace

// Sections below the threshold are found by the next opening with FileAccess::reclaim.
TEST(FreeSpaceGrowth, EndsWithAThreshold) {
    for (const std::uint64_t threshold : {64U, 512U}) {
        SCOPED_TRACE(threshold);
        expect_bounded(with_pages(0, true, threshold), 8192);
        expect_bounded(with_pages(8192, true, threshold), 6 * 8192);
    }
}

// What is found counts as space for raw data, so that in large pages the metadata of each log takes some of its own.
TEST(FreeSpaceGrowth, EndsWithoutARecord) {
    for (const std::uint64_t page : {512U, 8192U, 65536U}) {
        SCOPED_TRACE(page);
        expect_bounded(with_pages(page, false, 1), 14 * page);
    }
}

// The record takes the pages that its bytes need, whatever it has to tell.
TEST(FreeSpaceGrowth, TheRecordTakesFewPages) {
    for (const std::uint64_t page : {4096U, 16384U, 65536U}) {
        SCOPED_TRACE(page);
        Rotation rotation(with_pages(page, true, 1), false);
        const Sizes sizes = rotation.turns(40);
        EXPECT_LE(sizes.closed, sizes.open + 2 * page);
    }
}

#endif
