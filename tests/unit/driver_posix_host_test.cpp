// Properties of files that only an operating system has: large files, locks, devices, permissions.
#include <h5mote/vfd/posix.hpp>

#include "system_faults.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/file.h>
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
using namespace h5mote_test;
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

const std::byte kFour[4] = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};

// After a failed sync the system drops the data that it could not write, and reports success the next time.
TEST_F(PosixDriverHost, AFailedSyncIsNotForgotten) {
    PosixDriver driver;
    ASSERT_EQ(open(driver, Mode::create), Status::ok);
    ASSERT_EQ(driver.write(kRaw, 0, kFour), Status::ok);
    system_fault = {Call::sync, EIO};
    EXPECT_EQ(driver.sync(), Status::io_error);
    EXPECT_EQ(driver.sync(), Status::io_error);
    EXPECT_EQ(driver.close(), Status::ok);
    ASSERT_EQ(open(driver, Mode::read_write), Status::ok);
    EXPECT_EQ(driver.sync(), Status::ok);
}

// Otherwise the library would write what it holds of one file into another.
TEST_F(PosixDriverHost, StaysWithTheFileWhileItIsInUse) {
    PosixDriver driver;
    ASSERT_EQ(open(driver, Mode::create), Status::ok);
    ASSERT_EQ(driver.write(kRaw, 0, kFour), Status::ok);
    ASSERT_EQ(driver.lock(true), Status::ok);
    EXPECT_EQ(driver.open(alias().c_str(), Mode::create), Status::busy);
    EXPECT_EQ(open(driver, Mode::truncate), Status::busy);
    EXPECT_EQ(driver.close(), Status::busy);
    std::byte back[4] = {};
    EXPECT_EQ(driver.read(kRaw, 0, back), Status::ok);
    EXPECT_EQ(back[3], std::byte{4});
    EXPECT_NE(::access(alias().c_str(), F_OK), 0);
    {
        PosixDriver other;
        ASSERT_EQ(open(other, Mode::read_write), Status::ok);
        EXPECT_EQ(other.lock(true), Status::busy);
    }
    EXPECT_EQ(driver.unlock(), Status::ok);
    EXPECT_EQ(driver.open(alias().c_str(), Mode::create), Status::ok);
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

// The system writes a part of the bytes before it runs out of space: the driver removes this part again.
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
    EXPECT_EQ(two.unlock(), Status::ok);
    EXPECT_EQ(one.lock(true), Status::busy);  // it holds a shared lock itself
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

// When another process extends the file, end_of_file() returns the new size.
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

// System calls that a signal interrupted are repeated.
TEST_F(PosixDriverHost, InterruptedCallsAreMadeAgain) {
    for (const Call call : {Call::open, Call::lock, Call::read, Call::write, Call::length, Call::sync, Call::close}) {
        (void)std::remove(path().c_str());
        PosixDriver driver;
        system_fault = {call, EINTR, call == Call::close ? 1U : 3U};
        std::byte back[4] = {};
        EXPECT_EQ(open(driver, Mode::create), Status::ok);
        EXPECT_EQ(driver.lock(true), Status::ok);
        EXPECT_EQ(driver.write(kRaw, 0, kFour), Status::ok);
        EXPECT_EQ(driver.truncate(8), Status::ok);
        EXPECT_EQ(driver.read(kRaw, 0, back), Status::ok);
        EXPECT_EQ(back[3], std::byte{4});
        EXPECT_EQ(driver.sync(), Status::ok);
        EXPECT_EQ(driver.unlock(), Status::ok);
        EXPECT_EQ(driver.close(), Status::ok);
#if H5MOTE_TEST_SYSTEM_CALLS
        EXPECT_EQ(system_fault.times, 0U) << static_cast<unsigned>(call);
#endif
        system_fault = {};
    }
}

#if H5MOTE_TEST_SYSTEM_CALLS

struct Refusal {
    Call call;
    int error;
    Mode mode;
    Status expected;
    unsigned after = 0;
};

TEST_F(PosixDriverHost, OpeningTellsWhatTheSystemSays) {
    static constexpr Refusal kRefusals[] = {
        {Call::open, ENOENT, Mode::read_only, Status::not_found},
        {Call::open, ENOTDIR, Mode::read_write, Status::not_found},
        {Call::open, EISDIR, Mode::read_write, Status::invalid_argument},
        {Call::open, EACCES, Mode::read_only, Status::io_error},
        {Call::open, EACCES, Mode::read_write, Status::read_only},
        {Call::open, EPERM, Mode::truncate, Status::read_only},
        {Call::open, EROFS, Mode::open_or_create, Status::read_only},
        {Call::open, ETXTBSY, Mode::read_write, Status::read_only},
        {Call::open, EMFILE, Mode::read_write, Status::io_error},
        {Call::open, EEXIST, Mode::create, Status::already_exists},
        {Call::open, ENOSPC, Mode::create, Status::no_space},
        {Call::open, EDQUOT, Mode::create, Status::no_space},
        {Call::status, EIO, Mode::read_only, Status::io_error},
        {Call::seek, EIO, Mode::read_write, Status::io_error},
        {Call::lock, EWOULDBLOCK, Mode::truncate, Status::busy},
        {Call::lock, EIO, Mode::truncate, Status::io_error},
        {Call::lock, ENOLCK, Mode::truncate, Status::ok},
        {Call::length, EIO, Mode::truncate, Status::io_error},
        // Creating a file also syncs the directory that has its name.
        {Call::directory_sync, EIO, Mode::create, Status::io_error},
        {Call::directory_sync, EINVAL, Mode::create, Status::ok},
        {Call::open, EACCES, Mode::create, Status::ok, 1},
    };
    for (const Refusal& each : kRefusals) {
        SCOPED_TRACE(std::to_string(static_cast<unsigned>(each.call)) + ", error " + std::to_string(each.error));
        (void)std::remove(path().c_str());
        PosixDriver driver;
        if (each.mode != Mode::create) {
            ASSERT_EQ(open(driver, Mode::create), Status::ok);
            ASSERT_EQ(driver.write(kRaw, 0, kFour), Status::ok);
            ASSERT_EQ(driver.close(), Status::ok);
        }
        system_fault = {each.call, each.error, 1, each.after};
        EXPECT_EQ(open(driver, each.mode), each.expected);
        EXPECT_EQ(system_fault.times, 0U);
        EXPECT_EQ(driver.is_open(), each.expected == Status::ok);
        if (each.call == Call::open && each.expected != Status::ok) {
            EXPECT_EQ(driver.last_error(), each.error);
        }
        EXPECT_EQ(driver.close(), Status::ok);
        if (each.mode != Mode::create && each.expected != Status::ok) {
            ASSERT_EQ(open(driver, Mode::read_only), Status::ok);
            std::byte back[4] = {};
            EXPECT_EQ(driver.read(kRaw, 0, back), Status::ok);
        }
    }
}

TEST_F(PosixDriverHost, OpenFilesTellWhatTheSystemSays) {
    PosixDriver driver;
    ASSERT_EQ(open(driver, Mode::create), Status::ok);
    ASSERT_EQ(driver.write(kRaw, 0, kFour), Status::ok);
    std::byte back[4] = {};
    std::uint64_t size = 0;
    system_fault = {Call::read, EIO};
    EXPECT_EQ(driver.read(kRaw, 0, back), Status::io_error);
    EXPECT_EQ(driver.last_error(), EIO);
    static constexpr std::pair<int, Status> kWrites[] = {
        {EIO, Status::io_error}, {ENOSPC, Status::no_space}, {EFBIG, Status::no_space}, {0, Status::no_space}};
    for (const auto& [error, expected] : kWrites) {
        system_fault = {Call::write, error};
        EXPECT_EQ(driver.write(kRaw, 4, kFour), expected) << error;
        EXPECT_EQ(driver.end_of_file(size), Status::ok);
        EXPECT_EQ(size, 4U);
    }
    system_fault = {Call::seek, EIO};
    EXPECT_EQ(driver.end_of_file(size), Status::io_error);
    system_fault = {Call::seek, EIO};
    EXPECT_EQ(driver.truncate(2), Status::io_error);
    system_fault = {Call::length, EIO};
    EXPECT_EQ(driver.truncate(2), Status::io_error);
    static constexpr std::pair<int, Status> kLocks[] = {{EWOULDBLOCK, Status::busy},
                                                        {EBADF, Status::io_error},
                                                        {ENOSYS, Status::ok},
                                                        {ENOLCK, Status::ok},
                                                        {EOPNOTSUPP, Status::ok}};
    for (const auto& [error, expected] : kLocks) {
        system_fault = {Call::lock, error};
        EXPECT_EQ(driver.lock(true), expected) << error;
        EXPECT_EQ(driver.unlock(), Status::ok);
    }
    PosixDriver same;
    ASSERT_EQ(open(same, Mode::read_only), Status::ok);
    system_fault = {Call::status, EIO};
    EXPECT_FALSE(driver.same_storage(same));
    EXPECT_TRUE(driver.same_storage(same));
    // A file counts as closed even if closing it failed.
    system_fault = {Call::close, EIO};
    EXPECT_EQ(driver.close(), Status::io_error);
    EXPECT_FALSE(driver.is_open());
    ASSERT_EQ(same.open(path().c_str(), Mode::read_write), Status::ok);
    system_fault = {Call::close, EIO};
    EXPECT_EQ(same.open(path().c_str(), Mode::read_write), Status::io_error);
    EXPECT_FALSE(same.is_open());
}

// If the system cannot set the length of a file, the driver extends it by writing zeros.
TEST_F(PosixDriverHost, LengthCannotBeSet) {
    PosixDriver driver;
    ASSERT_EQ(open(driver, Mode::create), Status::ok);
    ASSERT_EQ(driver.write(kRaw, 0, kFour), Status::ok);
    system_fault = {Call::length, ENOSYS};
    EXPECT_EQ(driver.truncate(2), Status::unsupported);
    system_fault = {Call::length, ENOSYS};
    EXPECT_EQ(driver.truncate(300), Status::ok);
    std::byte back[300] = {};
    ASSERT_EQ(driver.read(kRaw, 0, back), Status::ok);
    EXPECT_EQ(back[3], std::byte{4});
    for (std::size_t i = 4; i < sizeof back; ++i) {
        ASSERT_EQ(back[i], std::byte{0});
    }
    system_fault = {Call::length, ENOSYS};
    EXPECT_EQ(driver.truncate(300), Status::ok);
    EXPECT_EQ(system_fault.times, 1U);  // the length is right already: no call is made
    system_fault = {};
}

#endif

}  // namespace

using h5mote_test::Call;
using h5mote_test::system_fails;

// These functions replace those of the C library in this program.
extern "C" {

int fdatasync(int fd) { return system_fails(Call::sync) ? -1 : static_cast<int>(::syscall(SYS_fdatasync, fd)); }

#if H5MOTE_TEST_SYSTEM_CALLS

int open64(const char* path, int flags, ...) {
    return system_fails(Call::open) ? -1 : static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, 0666));
}

int fstat64(int fd, struct stat64* about) {
    return system_fails(Call::status) ? -1 : ::fstatat64(fd, "", about, AT_EMPTY_PATH);
}

int flock(int fd, int operation) {
    const bool fails = operation != LOCK_UN && system_fails(Call::lock);
    return fails ? -1 : static_cast<int>(::syscall(SYS_flock, fd, operation));
}

off64_t lseek64(int fd, off64_t offset, int from) {
    return system_fails(Call::seek) ? -1 : static_cast<off64_t>(::syscall(SYS_lseek, fd, offset, from));
}

ssize_t pread64(int fd, void* to, size_t size, off64_t offset) {
    return system_fails(Call::read) ? -1 : static_cast<ssize_t>(::syscall(SYS_pread64, fd, to, size, offset));
}

ssize_t pwrite64(int fd, const void* from, size_t size, off64_t offset) {
    if (system_fails(Call::write)) {
        return errno == 0 ? 0 : -1;
    }
    return static_cast<ssize_t>(::syscall(SYS_pwrite64, fd, from, size, offset));
}

int ftruncate64(int fd, off64_t size) {
    return system_fails(Call::length) ? -1 : static_cast<int>(::syscall(SYS_ftruncate, fd, size));
}

int fsync(int fd) { return system_fails(Call::directory_sync) ? -1 : static_cast<int>(::syscall(SYS_fsync, fd)); }

int close(int fd) {
    // Close the file in any case, as the system does even when close() fails.
    const auto result = static_cast<int>(::syscall(SYS_close, fd));
    return system_fails(Call::close) ? -1 : result;
}

#endif
}
