// Rows that could not be stored when a dataset's last handle ended: a destructor cannot report it, so flush() and
// close() of the file do.
#include "failing_driver.hpp"
#include "storage_bench.hpp"

#if H5MOTE_WRITE

using namespace h5mote;
using namespace h5mote_test;

namespace {

// A bench whose storage refuses writes on demand.
class Rows {
public:
    Rows() noexcept : failing_(bench.driver) {}

    // Makes a log and flushes it, then appends a row whose only handle ends while the storage refuses writes.
    Status begin() noexcept {
        auto made = File::create(bench.library, failing_, bench.access);
        H5MOTE_TRY(made.status());
        file = static_cast<File&&>(*made);
        DatasetCreate create;
        create.chunk = {8};
        H5MOTE_TRY(file.root().create_dataset<std::int32_t>("log", create).status());
        H5MOTE_TRY(file.flush());
        refuse_writes(true);
        auto log = file.root().open_dataset<std::int32_t>("log");
        H5MOTE_TRY(log.status());
        return log->append(5);
    }
    void refuse_writes(bool refuse) noexcept {
        failing_.arm(refuse ? DriverFault{1, true, Status::no_space, kWriteCall} : DriverFault{});
    }
    std::uint64_t rows() noexcept { return file.root().open_dataset("log")->size(); }
    // Returns the number of rows in the storage, once the file is closed.
    std::uint64_t stored_rows() noexcept {
        EXPECT_TRUE(bench.empty());
        EXPECT_EQ(bench.open(), Status::ok);
        const std::uint64_t count = bench.file.root().open_dataset("log")->size();
        EXPECT_EQ(bench.file.close(), Status::ok);
        return count;
    }

    Bench bench;
    File file;

private:
    FailingDriver failing_;
};

}  // namespace

TEST(UnstoredRows, FlushTellsAndTriesAgain) {
    Rows test;
    ASSERT_EQ(test.begin(), Status::ok);
    EXPECT_EQ(test.file.flush(), Status::no_space);
    EXPECT_EQ(test.file.flush(), Status::no_space);
    EXPECT_EQ(test.rows(), 1U);  // opening the dataset again finds the row
    test.refuse_writes(false);
    EXPECT_EQ(test.file.flush(), Status::ok);
    EXPECT_EQ(test.file.close(), Status::ok);
    EXPECT_EQ(test.stored_rows(), 1U);
}

TEST(UnstoredRows, CloseTells) {
    Rows test;
    ASSERT_EQ(test.begin(), Status::ok);
    EXPECT_EQ(test.file.close(), Status::no_space);
    test.refuse_writes(false);
    EXPECT_EQ(test.stored_rows(), 0U);
}

TEST(UnstoredRows, GoWithTheirDataset) {
    Rows test;
    ASSERT_EQ(test.begin(), Status::ok);
    EXPECT_EQ(test.file.flush(), Status::no_space);
    test.refuse_writes(false);
    EXPECT_EQ(test.file.root().unlink("log"), Status::ok);
    EXPECT_EQ(test.file.flush(), Status::ok);
    EXPECT_FALSE(test.file.root().exists("log"));
    EXPECT_EQ(test.file.close(), Status::ok);
    EXPECT_TRUE(test.bench.empty());
}

#if H5MOTE_PARTIAL_IO

// A chunk for which the chunk cache has no room is filled in the storage before the first row is written there. If this
// is refused, rows that were never written must still read as the fill value.
TEST(UnstoredRows, AChunkThatCannotBeFilledIsNotThere) {
    constexpr std::uint64_t kUnwritten = 13;
    bool refused = true;
    for (unsigned k = 1; refused; ++k) {
        Bench bench;
        FailingDriver failing(bench.driver);
        auto file = File::create(bench.library, failing, bench.access);
        ASSERT_EQ(file.status(), Status::ok);
        DatasetCreate create;
        create.chunk = {200};
        const FileFill fill(9);
        create.fill = fill.view();
        auto log = file->root().create_dataset<std::int32_t>("log", create);
        ASSERT_EQ(log.status(), Status::ok);
        ASSERT_EQ(log->set_extent({kUnwritten}), Status::ok);
        ASSERT_EQ(file->flush(), Status::ok);
        failing.arm({k, true, Status::no_space, kWriteCall});
        const Status status = log->append(5);
        refused = status != Status::ok;
        ASSERT_TRUE(!refused || status == Status::no_space);
        failing.disarm();
        EXPECT_EQ(log->close(), Status::ok);
        EXPECT_EQ(file->close(), Status::ok);
        ASSERT_EQ(bench.open(), Status::ok);
        auto again = bench.file.root().open_dataset<std::int32_t>("log");
        ASSERT_EQ(again->size(), kUnwritten + (refused ? 0 : 1));
        std::int32_t rows[kUnwritten] = {};
        EXPECT_EQ(again->read(Selection::hyperslab({0}, {kUnwritten}), Span<std::int32_t>(rows)), Status::ok);
        for (const std::int32_t row : rows) {
            EXPECT_EQ(row, 9);
        }
        EXPECT_EQ(again->close(), Status::ok);
        EXPECT_EQ(bench.file.close(), Status::ok);
        EXPECT_TRUE(bench.empty());
    }
}

#endif

#endif
