// What only an operating system has: large files, locks, devices, permissions.
#include <h5mote/vfd/posix.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string>

namespace {

using namespace h5mote;
using Mode = PosixDriver::Mode;

constexpr Usage kRaw = Usage::raw_data;

class PosixDriverHost : public testing::Test {
protected:
    ~PosixDriverHost() override {
        (void)std::remove(path().c_str());
        (void)std::remove(alias().c_str());
    }
    std::string path() const {
        return testing::TempDir() + "h5mote_" + std::to_string(::getpid()) + "_" +
               testing::UnitTest::GetInstance()->current_test_info()->name() + ".tmp";
    }
    std::string alias() const { return path() + ".link"; }

    Status open(PosixDriver& driver, Mode mode) const { return driver.open(path().c_str(), mode); }
};

// Of the system, as long as it does not fail.
bool system_fails_to_sync = false;

const std::byte kFour[4] = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};

// After a sync that failed the system has forgotten what it could not write, and says ok the next time.
TEST_F(PosixDriverHost, AFailedSyncIsNotForgotten) {
    PosixDriver driver;
    ASSERT_EQ(open(driver, Mode::create), Status::ok);
    ASSERT_EQ(driver.write(kRaw, 0, kFour), Status::ok);
    system_fails_to_sync = true;
    EXPECT_EQ(driver.sync(), Status::io_error);
    system_fails_to_sync = false;
    EXPECT_EQ(driver.sync(), Status::io_error);
    EXPECT_EQ(driver.close(), Status::ok);
    ASSERT_EQ(open(driver, Mode::read_write), Status::ok);
    EXPECT_EQ(driver.sync(), Status::ok);
}

TEST_F(PosixDriverHost, BeyondTwoAndFourGigabytes) {
    PosixDriver driver;
    ASSERT_EQ(open(driver, Mode::create), Status::ok);
    for (const std::uint64_t address : {(std::uint64_t{1} << 31) - 2, (std::uint64_t{1} << 32) - 2}) {
        ASSERT_EQ(driver.write(kRaw, address, kFour), Status::ok);
        std::byte back[4] = {};
        EXPECT_EQ(driver.read(kRaw, address, back), Status::ok);
        EXPECT_EQ(back[3], std::byte{4});
        std::uint64_t size = 0;
        EXPECT_EQ(driver.end_of_file(size), Status::ok);
        EXPECT_EQ(size, address + 4);
    }
    EXPECT_EQ(driver.truncate(0), Status::ok);
}

TEST_F(PosixDriverHost, FullDevice) {
    if (::access("/dev/full", W_OK) != 0) {
        GTEST_SKIP();
    }
    PosixDriver driver;
    ASSERT_EQ(driver.open("/dev/full", Mode::read_write), Status::ok);
    EXPECT_EQ(driver.write(kRaw, 0, kFour), Status::no_space);
    EXPECT_EQ(driver.write(kRaw, 100, kFour), Status::no_space);
}

// The system takes a part of the bytes before it finds that there is no room: the driver takes them back.
TEST_F(PosixDriverHost, NoSpaceWritesNothing) {
    PosixDriver driver;
    ASSERT_EQ(open(driver, Mode::create), Status::ok);
    const std::string bytes(600, 'x');
    const ConstBytes many = as_bytes(Span<const char>(bytes.data(), bytes.size()));
    ASSERT_EQ(driver.write(kRaw, 0, many), Status::ok);

    const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit old_limit{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old_limit), 0);
    rlimit limit = old_limit;
    limit.rlim_cur = 1000;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    const Status appended = driver.write(kRaw, 600, many);
    const Status grown = driver.truncate(2000);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old_limit), 0);
    (void)std::signal(SIGXFSZ, old_handler);

    EXPECT_EQ(appended, Status::no_space);
    EXPECT_EQ(grown, Status::no_space);
    struct stat about {};
    ASSERT_EQ(::stat(path().c_str(), &about), 0);
    EXPECT_EQ(about.st_size, 600);
    EXPECT_EQ(driver.write(kRaw, 600, many), Status::ok);
}

TEST_F(PosixDriverHost, LocksExcludeAndShare) {
    PosixDriver one, two;
    ASSERT_EQ(open(one, Mode::create), Status::ok);
    ASSERT_EQ(open(two, Mode::read_only), Status::ok);
    EXPECT_EQ(one.lock(true), Status::ok);
    EXPECT_EQ(two.lock(false), Status::busy);
    EXPECT_EQ(one.unlock(), Status::ok);
    EXPECT_EQ(two.lock(false), Status::ok);
    EXPECT_EQ(one.lock(false), Status::ok);
    EXPECT_EQ(one.lock(true), Status::busy);
    EXPECT_EQ(two.close(), Status::ok);
    EXPECT_EQ(one.lock(true), Status::busy);  // it reads itself
    EXPECT_EQ(one.unlock(), Status::ok);
    EXPECT_EQ(one.lock(true), Status::ok);
    EXPECT_EQ(one.lock(false), Status::busy);
}

TEST_F(PosixDriverHost, SameStorageByAnyName) {
    PosixDriver one, two, other;
    ASSERT_EQ(open(one, Mode::create), Status::ok);
    ASSERT_EQ(::link(path().c_str(), alias().c_str()), 0);
    ASSERT_EQ(two.open(alias().c_str(), Mode::read_only), Status::ok);
    ASSERT_EQ(other.open("/dev/null", Mode::read_only), Status::ok);
    EXPECT_TRUE(one.same_storage(two));
    EXPECT_FALSE(one.same_storage(other));
    const PosixDriver closed_one, closed_two;
    EXPECT_FALSE(closed_one.same_storage(closed_two));
}

TEST_F(PosixDriverHost, DestructorClosesAndUnlocks) {
    int next = ::open("/dev/null", O_RDONLY);
    ASSERT_GE(next, 0);
    ::close(next);
    {
        PosixDriver driver;
        ASSERT_EQ(open(driver, Mode::create), Status::ok);
        ASSERT_EQ(driver.lock(true), Status::ok);
        EXPECT_NE(::fcntl(next, F_GETFD), -1);
    }
    EXPECT_EQ(::fcntl(next, F_GETFD), -1);
    PosixDriver again;
    ASSERT_EQ(open(again, Mode::read_write), Status::ok);
    EXPECT_EQ(again.lock(true), Status::ok);
}

TEST_F(PosixDriverHost, WhatIsNoFile) {
    PosixDriver driver;
    EXPECT_EQ(driver.open("/", Mode::read_only), Status::invalid_argument);
    EXPECT_EQ(driver.open("/", Mode::read_write), Status::invalid_argument);
    EXPECT_EQ(driver.open("/dev/null/file", Mode::read_only), Status::not_found);
    EXPECT_EQ(driver.open("", Mode::read_only), Status::not_found);
    EXPECT_FALSE(driver.is_open());
}

TEST_F(PosixDriverHost, FileWithoutPermissionToWrite) {
    PosixDriver driver;
    ASSERT_EQ(open(driver, Mode::create), Status::ok);
    ASSERT_EQ(::chmod(path().c_str(), 0444), 0);
    if (::geteuid() == 0) {
        GTEST_SKIP() << "root may write everything";
    }
    EXPECT_EQ(open(driver, Mode::read_write), Status::read_only);
    EXPECT_EQ(open(driver, Mode::truncate), Status::read_only);
    EXPECT_EQ(open(driver, Mode::read_only), Status::ok);
}

// Growth by another process is seen.
TEST_F(PosixDriverHost, EndOfFileIsAskedAnew) {
    PosixDriver writer, reader;
    ASSERT_EQ(open(writer, Mode::create), Status::ok);
    ASSERT_EQ(open(reader, Mode::read_only), Status::ok);
    ASSERT_EQ(writer.write(kRaw, 0, kFour), Status::ok);
    std::uint64_t size = 0;
    EXPECT_EQ(reader.end_of_file(size), Status::ok);
    EXPECT_EQ(size, 4U);
    std::byte back[4];
    EXPECT_EQ(reader.read(kRaw, 0, back), Status::ok);
}

}  // namespace

// Takes the place of the system's in this program.
extern "C" int fdatasync(int fd) {
    if (system_fails_to_sync) {
        errno = EIO;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_fdatasync, fd));
}
