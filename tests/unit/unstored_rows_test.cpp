// Rows that a dataset's last handle could not store: nobody is told by a destructor, so the file tells.
#include "failing_driver.hpp"
#include "storage_bench.hpp"

#if H5MOTE_WRITE

using namespace h5mote;
using namespace h5mote_test;

namespace {

// A storage that refuses writes while it is told to.
class Rows {
public:
    Rows() noexcept : failing_(bench.driver) {}

    // A log that was flushed, and a row whose only handle ends while the storage refuses writes.
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
    // What the storage holds once the file is closed.
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
    EXPECT_EQ(test.rows(), 1U);  // whoever opens the dataset finds them
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

#endif
