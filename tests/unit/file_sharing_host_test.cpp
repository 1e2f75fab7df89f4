// One file of the operating system opened several times: by two drivers, two Libraries, two processes.
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/posix.hpp>
#include <h5mote/vfd/region.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <string>

using namespace h5mote;
using Mode = PosixDriver::Mode;

namespace {

class FileSharingHost : public testing::Test {
protected:
    void TearDown() override {
        EXPECT_EQ(allocator_.blocks(), 0U);
        ::unlink(path_.c_str());
    }
    Status make() {
        PosixDriver driver;
        const Status status = driver.open(path(), Mode::truncate);
        return status != Status::ok ? status : File::create(library_, driver)->close();
    }
    const char* path() const { return path_.c_str(); }
    // Opens the file in another process and returns that process's status.
    Status elsewhere(bool read_only) {
        const pid_t child = ::fork();
        if (child == 0) {
            MallocAllocator allocator;
            NullPort port;
            Library library(allocator, port);
            PosixDriver driver;
            FileAccess access;
            access.read_only = read_only;
            Status status = driver.open(path(), read_only ? Mode::read_only : Mode::read_write);
            if (status == Status::ok) {
                status = File::open(library, driver, access).status();
            }
            ::_exit(static_cast<int>(status));
        }
        int result = 0;
        EXPECT_EQ(::waitpid(child, &result, 0), child);
        EXPECT_TRUE(WIFEXITED(result));
        return static_cast<Status>(WEXITSTATUS(result));
    }

    std::string path_ = "h5mote_sharing_" + std::to_string(::getpid()) + ".h5";
    MallocAllocator allocator_;
    NullPort port_;
    Library library_{allocator_, port_};
};

}  // namespace

TEST_F(FileSharingHost, TwoDriversOfOneFileAreOneOpenFile) {
    ASSERT_EQ(make(), Status::ok);
    PosixDriver one, two;
    ASSERT_EQ(one.open(path(), Mode::read_write), Status::ok);
    ASSERT_EQ(two.open(path(), Mode::read_write), Status::ok);
    auto first = File::open(library_, one);
    auto second = File::open(library_, two);
    ASSERT_EQ(first.status(), Status::ok);
    ASSERT_EQ(second.status(), Status::ok);
    DatasetCreate create;
    create.chunk = {64};
    auto a = first->root().create_dataset<std::int32_t>("a", create);
    auto b = second->root().create_dataset<std::int32_t>("b", create);
    ASSERT_EQ(a.status(), Status::ok);
    ASSERT_EQ(b.status(), Status::ok);
    for (std::int32_t i = 0; i < 1000; ++i) {
        ASSERT_EQ(a->append(i), Status::ok);
        ASSERT_EQ(b->append(-i), Status::ok);
    }
    EXPECT_EQ(second->close(), Status::ok);
    EXPECT_EQ(two.close(), Status::ok);
    EXPECT_EQ(a->append(1000), Status::ok);
    EXPECT_EQ(first->close(), Status::ok);
    auto again = File::open(library_, one);
    ASSERT_EQ(again.status(), Status::ok);
    auto read = again->root().open_dataset<std::int32_t>("b");
    ASSERT_EQ(read.status(), Status::ok);
    EXPECT_EQ(read->size(), 1000U);
    EXPECT_EQ(again->root().open_dataset("a")->size(), 1001U);
#if H5MOTE_PARTIAL_IO
    std::int32_t values[1000];
    ASSERT_EQ(read->read(Selection::all(), Span<std::int32_t>(values, 1000)), Status::ok);
    EXPECT_EQ(values[999], -999);
#endif
}

TEST_F(FileSharingHost, AnotherLibraryIsKeptOut) {
    ASSERT_EQ(make(), Status::ok);
    Library other(allocator_, port_);
    PosixDriver one, two;
    ASSERT_EQ(one.open(path(), Mode::read_write), Status::ok);
    ASSERT_EQ(two.open(path(), Mode::read_write), Status::ok);
    {
        auto file = File::open(library_, one);
        ASSERT_EQ(file.status(), Status::ok);
        EXPECT_EQ(File::open(other, two).status(), Status::busy);
        EXPECT_EQ(File::open(other, one).status(), Status::busy);
        EXPECT_EQ(File::create(other, two).status(), Status::busy);
        // Not even a driver that truncates empties a file that is open.
        PosixDriver emptying;
        EXPECT_EQ(emptying.open(path(), Mode::truncate), Status::busy);
        EXPECT_FALSE(emptying.is_open());
        EXPECT_EQ(file->root().create_group("still").status(), Status::ok);
        EXPECT_EQ(file->close(), Status::ok);
    }
    auto file = File::open(other, two);
    ASSERT_EQ(file.status(), Status::ok);
    EXPECT_TRUE(file->root().exists("still"));
}

TEST_F(FileSharingHost, AnotherProcessIsKeptOutAndReadersShare) {
    ASSERT_EQ(make(), Status::ok);
    PosixDriver driver;
    ASSERT_EQ(driver.open(path(), Mode::read_write), Status::ok);
    {
        auto file = File::open(library_, driver);
        ASSERT_EQ(file.status(), Status::ok);
        EXPECT_EQ(elsewhere(false), Status::busy);
        EXPECT_EQ(elsewhere(true), Status::busy);
    }
    EXPECT_EQ(elsewhere(false), Status::ok);
    FileAccess reading;
    reading.read_only = true;
    auto file = File::open(library_, driver, reading);
    ASSERT_EQ(file.status(), Status::ok);
    EXPECT_EQ(elsewhere(true), Status::ok);
    EXPECT_EQ(elsewhere(false), Status::busy);
    EXPECT_EQ(file->close(), Status::ok);
    // With file_locking off, a file can be opened although the storage is locked.
    ASSERT_EQ(driver.lock(true), Status::ok);
    FileAccess careless;
    careless.file_locking = false;
    EXPECT_EQ(File::open(library_, driver, careless).status(), Status::ok);
}

TEST_F(FileSharingHost, RegionsShareTheirStorageWithEachOtherOnly) {
    PosixDriver disk, whole;
    ASSERT_EQ(disk.open(path(), Mode::truncate), Status::ok);
    ASSERT_EQ(whole.open(path(), Mode::read_write), Status::ok);
    RegionDriver left(disk, 0, 65536), right(disk, 65536, 65536);
    auto one = File::create(library_, left);
    auto two = File::create(library_, right);
    EXPECT_EQ(one.status(), Status::ok);
    EXPECT_EQ(two.status(), Status::ok);
    EXPECT_EQ(whole.lock(true), Status::busy);
    EXPECT_EQ(one->close(), Status::ok);
    EXPECT_EQ(whole.lock(true), Status::busy);
    EXPECT_EQ(two->close(), Status::ok);
    EXPECT_EQ(whole.lock(true), Status::ok);
}
