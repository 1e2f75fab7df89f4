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

    Status create() noexcept {
        auto made = File::create(bench.library, failing_, bench.access);
        file = static_cast<File&&>(*made);
        return made.status();
    }
    Status make_log() noexcept {
        DatasetCreate create;
        create.chunk = {8};
        H5MOTE_TRY(file.root().create_dataset<std::int32_t>("log", create).status());
        return file.flush();
    }
    // Appends a row and lets the destructor end the only handle.
    Status append(std::int32_t value) noexcept {
        auto log = file.root().open_dataset<std::int32_t>("log");
        H5MOTE_TRY(log.status());
        return log->append(value);
    }
    void refuse_writes(bool refuse) noexcept {
        failing_.arm(refuse ? DriverFault{1, true, Status::no_space, kWriteCall} : DriverFault{});
    }
    std::uint64_t rows() noexcept { return file.root().open_dataset("log")->size(); }

    Bench bench;
    File file;

private:
    FailingDriver failing_;
};

}  // namespace

TEST(UnstoredRows, FlushTellsAndTriesAgain) {
    Rows test;
    ASSERT_EQ(test.create(), Status::ok);
    ASSERT_EQ(test.make_log(), Status::ok);
    test.refuse_writes(true);
    ASSERT_EQ(test.append(5), Status::ok);
    EXPECT_EQ(test.file.flush(), Status::no_space);
    EXPECT_EQ(test.file.flush(), Status::no_space);
    EXPECT_EQ(test.rows(), 1U);  // whoever opens the dataset finds them
    test.refuse_writes(false);
    EXPECT_EQ(test.file.flush(), Status::ok);
    EXPECT_EQ(test.file.close(), Status::ok);
    EXPECT_TRUE(test.bench.empty());
    ASSERT_EQ(test.bench.open(), Status::ok);
    EXPECT_EQ(test.bench.file.root().open_dataset("log")->size(), 1U);
    EXPECT_EQ(test.bench.file.close(), Status::ok);
}

TEST(UnstoredRows, CloseTells) {
    Rows test;
    ASSERT_EQ(test.create(), Status::ok);
    ASSERT_EQ(test.make_log(), Status::ok);
    test.refuse_writes(true);
    ASSERT_EQ(test.append(5), Status::ok);
    EXPECT_EQ(test.file.close(), Status::no_space);
    test.refuse_writes(false);
    EXPECT_TRUE(test.bench.empty());
    ASSERT_EQ(test.bench.open(), Status::ok);
    EXPECT_EQ(test.bench.file.root().open_dataset("log")->size(), 0U);
    EXPECT_EQ(test.bench.file.close(), Status::ok);
}

TEST(UnstoredRows, GoWithTheirDataset) {
    Rows test;
    ASSERT_EQ(test.create(), Status::ok);
    ASSERT_EQ(test.make_log(), Status::ok);
    test.refuse_writes(true);
    ASSERT_EQ(test.append(5), Status::ok);
    EXPECT_EQ(test.file.flush(), Status::no_space);
    test.refuse_writes(false);
    EXPECT_EQ(test.file.root().unlink("log"), Status::ok);
    EXPECT_EQ(test.file.flush(), Status::ok);
    EXPECT_FALSE(test.file.root().exists("log"));
    EXPECT_EQ(test.file.close(), Status::ok);
    EXPECT_TRUE(test.bench.empty());
}

#endif
