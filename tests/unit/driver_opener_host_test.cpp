// Where the names of other files are looked for: prefixes, directories, links; and files of several parts.
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/posix_files.hpp>
#include <h5mote/vfd/posix_opener.hpp>

#include "system_faults.hpp"
#include "test_allocators.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

using namespace h5mote;
using namespace h5mote_test;

const std::string kSignature = "\211HDF\r\n\032\n";
constexpr const char* kVariables[] = {"HDF5_EXT_PREFIX", "HDF5_VDS_PREFIX", "HDF5_EXTFILE_PREFIX"};

/// A directory of each test's own, which is the working directory during the test.
class Files : public testing::Test {
protected:
    void SetUp() override {
        directory = testing::TempDir() + "h5mote_opener_XXXXXX";
        ASSERT_NE(::mkdtemp(directory.data()), nullptr);
        char before[4096];
        ASSERT_NE(::getcwd(before, sizeof before), nullptr);
        start = before;
        ASSERT_EQ(::chdir(directory.c_str()), 0);
        for (const char* variable : kVariables) {
            ::unsetenv(variable);
        }
    }
    void TearDown() override {
        ASSERT_EQ(::chdir(start.c_str()), 0);
        ASSERT_EQ(std::system(("rm -rf " + directory).c_str()), 0);
        for (const char* variable : kVariables) {
            ::unsetenv(variable);
        }
    }
    static void put(const std::string& path, const std::string& text) {
        std::FILE* file = std::fopen(path.c_str(), "wb");
        ASSERT_NE(file, nullptr) << path;
        ASSERT_EQ(std::fwrite(text.data(), 1, text.size(), file), text.size());
        ASSERT_EQ(std::fclose(file), 0);
    }
    /// Makes a file that begins with the HDF5 signature, followed by its own path.
    static void make(const std::string& path) {
        const std::size_t slash = path.rfind('/');
        if (slash != std::string::npos) {
            (void)::mkdir(path.substr(0, slash).c_str(), 0777);
        }
        put(path, kSignature + path);
    }
    static std::string text(Driver& driver, std::size_t skip) {
        std::uint64_t end = 0;
        EXPECT_EQ(driver.end_of_file(end), Status::ok);
        std::string bytes(static_cast<std::size_t>(end), ' ');
        EXPECT_EQ(driver.read(Usage::raw_data, 0, {reinterpret_cast<std::byte*>(bytes.data()), bytes.size()}),
                  Status::ok);
        return bytes.substr(skip);
    }
    /// Opens `name` as the file `main` refers to it. Returns the path of the file that was found, or the status.
    std::string find(const char* main, const char* name, OpenPurpose purpose, const PosixPrefixes& prefixes = {}) {
        PosixFile file;
        EXPECT_EQ(file.open(main), Status::ok);
        std::string found;
        {
            PosixOpener opener(allocator, file.driver(), main, prefixes);
            Driver* driver = nullptr;
            const Status status = opener.open(file.driver(), name, purpose, driver);
            found = status == Status::ok ? text(*driver, kSignature.size()) : to_string(status);
        }
        EXPECT_EQ(allocator.usage().now, 0U);
        return found;
    }

    MallocAllocator allocator;
    std::string directory;
    std::string start;
};

using OpenerHost = Files;
using PosixFileHost = Files;

TEST_F(OpenerHost, ExternalLinkOrder) {
    constexpr OpenPurpose kLink = OpenPurpose::external_link;
    make("real/main.h5");
    (void)::mkdir("sub", 0777);
    ASSERT_EQ(::symlink("../real/main.h5", "sub/main.h5"), 0);
    // Files are made from the last place that is searched to the first: each must be found instead of those before it.
    EXPECT_EQ(find("sub/main.h5", "x.h5", kLink), "not_found");
    make("real/x.h5");
    EXPECT_EQ(find("sub/main.h5", "x.h5", kLink), "real/x.h5");
    make("x.h5");
    EXPECT_EQ(find("sub/main.h5", "x.h5", kLink), "x.h5");
    make("sub/x.h5");
    EXPECT_EQ(find("sub/main.h5", "x.h5", kLink), "sub/x.h5");
    make("prefix/x.h5");
    PosixPrefixes prefixes;
    prefixes.external_link = "prefix";
    EXPECT_EQ(find("sub/main.h5", "x.h5", kLink, prefixes), "prefix/x.h5");
    ::setenv("HDF5_EXT_PREFIX", "nowhere::listed/:also", 1);
    make("also/x.h5");
    EXPECT_EQ(find("sub/main.h5", "x.h5", kLink, prefixes), "also/x.h5");
    make("listed/x.h5");
    EXPECT_EQ(find("sub/main.h5", "x.h5", kLink, prefixes), "listed/x.h5");
    // A file that is not HDF5 is passed over.
    put("listed/x.h5", "something else");
    EXPECT_EQ(find("sub/main.h5", "x.h5", kLink, prefixes), "also/x.h5");
    // An absolute name is taken as it is; if there is no such file, its last component is looked for.
    make("elsewhere/x.h5");
    EXPECT_EQ(find("sub/main.h5", (directory + "/elsewhere/x.h5").c_str(), kLink, prefixes), "elsewhere/x.h5");
    EXPECT_EQ(find("sub/main.h5", "/no/such/x.h5", kLink, prefixes), "also/x.h5");
    EXPECT_EQ(find("sub/main.h5", "", kLink, prefixes), "not_found");
    EXPECT_EQ(find("sub/main.h5", "/", kLink, prefixes), "not_found");
    EXPECT_EQ(find("sub/main.h5", std::string(5000, 'x').c_str(), kLink, prefixes), "not_found");
}

TEST_F(OpenerHost, VirtualSources) {
    constexpr OpenPurpose kVirtual = OpenPurpose::virtual_source;
    make("sub/main.h5");
    make("x.h5");
    EXPECT_EQ(find("sub/main.h5", "x.h5", kVirtual), "x.h5");
    make("sub/x.h5");
    EXPECT_EQ(find("sub/main.h5", "x.h5", kVirtual), "sub/x.h5");
    make("sub/deep/x.h5");
    PosixPrefixes prefixes;
    prefixes.virtual_source = "${ORIGIN}/deep";
    EXPECT_EQ(find("sub/main.h5", "x.h5", kVirtual, prefixes), "sub/deep/x.h5");
    ::setenv("HDF5_EXT_PREFIX", "listed", 1);
    make("listed/x.h5");
    EXPECT_EQ(find("sub/main.h5", "x.h5", kVirtual), "sub/x.h5");
    ::setenv("HDF5_VDS_PREFIX", "listed", 1);
    EXPECT_EQ(find("sub/main.h5", "x.h5", kVirtual, prefixes), "listed/x.h5");
    ::setenv("HDF5_VDS_PREFIX", "${ORIGIN}/deep", 1);
    EXPECT_EQ(find("sub/main.h5", "x.h5", kVirtual), "sub/deep/x.h5");
}

TEST_F(OpenerHost, ExternalData) {
    constexpr OpenPurpose kData = OpenPurpose::external_data;
    const std::string eight = "12345678";
    make("sub/main.h5");
    put("sub/raw", eight + "beside");
    EXPECT_EQ(find("sub/main.h5", "raw", kData), "not_found");
    put("raw", eight + "working directory");
    EXPECT_EQ(find("sub/main.h5", "raw", kData), "working directory");
    PosixPrefixes prefixes;
    prefixes.external_data = "${ORIGIN}";
    EXPECT_EQ(find("sub/main.h5", "raw", kData, prefixes), "beside");
    prefixes.external_data = ".";
    EXPECT_EQ(find("sub/main.h5", "raw", kData, prefixes), "working directory");
    (void)::mkdir("data", 0777);
    put("data/raw", eight + "data");
    ::setenv("HDF5_EXTFILE_PREFIX", "data/", 1);
    EXPECT_EQ(find("sub/main.h5", "raw", kData, prefixes), "data");
    EXPECT_EQ(find("sub/main.h5", (directory + "/raw").c_str(), kData, prefixes), "working directory");
    EXPECT_EQ(find("sub/main.h5", "none", kData, prefixes), "not_found");
}

// A file is opened once, whichever names it has; names in it are relative to its own directory.
TEST_F(OpenerHost, OpenedAgain) {
    make("main.h5");
    make("sub/a.h5");
    make("sub/b.h5");
    ASSERT_EQ(::symlink("a.h5", "sub/alias.h5"), 0);
    PosixDriver main;
    ASSERT_EQ(main.open("main.h5", PosixDriver::Mode::read_only), Status::ok);
    PosixOpener opener(allocator, main, "main.h5");
    Driver* a = nullptr;
    Driver* b = nullptr;
    Driver* again = nullptr;
    Driver* back = nullptr;
    constexpr OpenPurpose kLink = OpenPurpose::external_link;
    ASSERT_EQ(opener.open(main, "sub/a.h5", kLink, a), Status::ok);
    EXPECT_EQ(opener.path_of(*a), "sub/a.h5");
    EXPECT_EQ(opener.open(main, "b.h5", kLink, b), Status::not_found);
    ASSERT_EQ(opener.open(*a, "b.h5", kLink, b), Status::ok);
    ASSERT_EQ(opener.open(*b, "alias.h5", kLink, again), Status::ok);
    EXPECT_EQ(again, a);
    ASSERT_EQ(opener.open(*b, "../main.h5", kLink, back), Status::ok);
    EXPECT_EQ(back, &main);
    opener.close(*back);
    EXPECT_TRUE(main.is_open());
    opener.close(*a);
    EXPECT_EQ(text(*a, kSignature.size()), "sub/a.h5");
    opener.close(*again);
    opener.close(*b);
    EXPECT_EQ(allocator.usage().now, 0U);
}

TEST_F(OpenerHost, NamesThatAreNoFiles) {
    make("main.h5");
    (void)::mkdir("folder", 0777);
    ASSERT_EQ(::mkfifo("pipe", 0666), 0);
    const std::string zero("main.h5\0x", 9);
    PosixDriver main;
    ASSERT_EQ(main.open("main.h5", PosixDriver::Mode::read_only), Status::ok);
    PosixOpener opener(allocator, main, "main.h5");
    Driver* driver = nullptr;
    for (const OpenPurpose purpose : {OpenPurpose::external_link, OpenPurpose::external_data}) {
        EXPECT_EQ(opener.open(main, "folder", purpose, driver), Status::not_found);
        EXPECT_EQ(opener.open(main, "pipe", purpose, driver), Status::not_found);
        EXPECT_EQ(opener.open(main, zero, purpose, driver), Status::not_found);
    }
    EXPECT_EQ(driver, nullptr);
    EXPECT_EQ(allocator.usage().now, 0U);
}

#if H5MOTE_TEST_SYSTEM_CALLS

// If a system call fails, open() finds the file nevertheless or returns an error. A file that could not be examined
// must not count as missing, because another file would be shown in its place.
TEST_F(OpenerHost, FailedCallsAreTold) {
    make("real/main.h5");
    (void)::mkdir("sub", 0777);
    ASSERT_EQ(::symlink("../real/main.h5", "sub/main.h5"), 0);
    make("real/x.h5");
    make("prefix/y.h5");
    put("prefix/raw", "12345678data");
    PosixPrefixes prefixes;
    prefixes.external_link = prefixes.virtual_source = prefixes.external_data = "prefix";
    struct Find {
        const char* name;
        OpenPurpose purpose;
    };
    PosixDriver main;
    ASSERT_EQ(main.open("sub/main.h5", PosixDriver::Mode::read_only), Status::ok);
    unsigned told = 0;
    for (const Find& find : {Find{"x.h5", OpenPurpose::external_link}, Find{"x.h5", OpenPurpose::virtual_source},
                             Find{"y.h5", OpenPurpose::external_link}, Find{"raw", OpenPurpose::external_data}}) {
        for (const Call call : {Call::open, Call::status, Call::seek, Call::read}) {
            for (const int error : {EIO, EMFILE}) {
                for (unsigned after = 0;; ++after) {
                    PosixOpener opener(allocator, main, "sub/main.h5", prefixes);
                    Driver* driver = nullptr;
                    system_fault = {call, error, 1, after};
                    const Status status = opener.open(main, find.name, find.purpose, driver);
                    const bool failed = system_fault.times == 0;
                    system_fault = {};
                    EXPECT_EQ(driver == nullptr, status != Status::ok);
                    if (status != Status::ok) {
                        EXPECT_TRUE(failed);
                        EXPECT_EQ(status, error == EIO ? Status::io_error : Status::busy)
                            << find.name << " call " << static_cast<unsigned>(call) << " after " << after;
                        ++told;
                    }
                    ASSERT_EQ(opener.open(main, find.name, find.purpose, driver), Status::ok);
                    if (!failed) {
                        break;
                    }
                }
            }
        }
    }
    EXPECT_GT(told, 20U);
    EXPECT_EQ(allocator.usage().now, 0U);
}

#endif

TEST_F(OpenerHost, EachAllocationFails) {
    make("real/main.h5");
    (void)::mkdir("sub", 0777);
    ASSERT_EQ(::symlink("../real/main.h5", "sub/main.h5"), 0);
    make("real/x.h5");
    PosixDriver main;
    ASSERT_EQ(main.open("sub/main.h5", PosixDriver::Mode::read_only), Status::ok);
    unsigned refused = 0;
    for (std::uint64_t at = 1;; ++at) {
        FailingAllocator failing(allocator);
        PosixOpener opener(failing, main, "sub/main.h5");
        Driver* driver = nullptr;
        failing.arm(at, false);
        const Status status = opener.open(main, "x.h5", OpenPurpose::external_link, driver);
        const bool failed = failing.failures() != 0;
        failing.disarm();
        EXPECT_EQ(status, failed ? Status::out_of_memory : Status::ok) << at;
        EXPECT_EQ(driver == nullptr, failed);
        if (!failed) {
            break;
        }
        ++refused;
    }
    EXPECT_GT(refused, 3U);
    EXPECT_EQ(allocator.usage().now, 0U);
}

TEST_F(PosixFileHost, Family) {
    const std::string whole = kSignature + "abcdefghijklmnopqrstuvwxyz";
    for (std::size_t i = 0; i * 2 < whole.size(); ++i) {
        char name[32];
        (void)std::snprintf(name, sizeof name, "100%%f%03zu.h5", i);
        put(name, whole.substr(i * 2, 2));
    }
    PosixFile file;
    ASSERT_EQ(file.open("100%%f%03d.h5"), Status::ok);
    EXPECT_EQ(file.kind(), PosixFile::Kind::family);
    EXPECT_EQ(text(file.driver(), 8), whole.substr(8));
    EXPECT_EQ(text(file.driver(), 8), whole.substr(8));
    EXPECT_EQ(file.open("100%%f%04d.h5"), Status::not_found);
    EXPECT_EQ(file.open("100%%f000.h5", PosixFile::Kind::family), Status::invalid_argument);
    for (const char* pattern : {"%s", "%", "%0", "%d%d", "%99999999999d", "%21d", "%ld", "%5"}) {
        EXPECT_EQ(file.open(pattern, PosixFile::Kind::family), Status::invalid_argument) << pattern;
        EXPECT_EQ(file.kind(), PosixFile::Kind::any);
    }
}

TEST_F(PosixFileHost, SplitAndMulti) {
    make("f-m.h5");
    PosixFile file;
    EXPECT_EQ(file.open("f"), Status::not_found);
    put("f-r.h5", "raw");
    ASSERT_EQ(file.open("f"), Status::ok);
    EXPECT_EQ(file.kind(), PosixFile::Kind::split);
    std::byte byte[1];
    EXPECT_EQ(file.driver().read(Usage::raw_data, 0x7fffffffffffffff + std::uint64_t{1}, byte), Status::ok);
    EXPECT_EQ(byte[0], static_cast<std::byte>('a'));
    make("g-s.h5");
    for (const char* name : {"g-b.h5", "g-r.h5", "g-g.h5", "g-l.h5", "g-o.h5"}) {
        put(name, "");
    }
    ASSERT_EQ(file.open("g"), Status::ok);
    EXPECT_EQ(file.kind(), PosixFile::Kind::multi);
    EXPECT_EQ(text(file.driver(), 0).substr(8), "g-s.h5");
    put("f", "not the file");
    EXPECT_EQ(file.open("f", PosixFile::Kind::single), Status::ok);
    EXPECT_EQ(file.open("f"), Status::ok);
    EXPECT_EQ(file.kind(), PosixFile::Kind::split);
    EXPECT_EQ(file.open("f-r.h5"), Status::not_hdf5);
}

#if H5MOTE_TEST_SYSTEM_CALLS

// A file with a part that cannot be examined must count neither as missing nor as a file of another kind.
TEST_F(PosixFileHost, FailedCallsAreTold) {
    make("single.h5");
    put("family000.h5", kSignature.substr(0, 4));
    put("family001.h5", kSignature.substr(4));
    make("f-m.h5");
    put("f-r.h5", "raw");
    put("f", "not the file");
    unsigned told = 0;
    for (const char* name : {"single.h5", "family%03d.h5", "f"}) {
        PosixFile expected;
        ASSERT_EQ(expected.open(name), Status::ok);
        for (const Call call : {Call::open, Call::status, Call::seek, Call::read}) {
            for (unsigned after = 0;; ++after) {
                PosixFile file;
                system_fault = {call, EIO, 1, after};
                const Status status = file.open(name);
                const bool failed = system_fault.times == 0;
                system_fault = {};
                if (status == Status::ok) {
                    EXPECT_EQ(file.kind(), expected.kind());
                } else {
                    EXPECT_EQ(status, Status::io_error)
                        << name << " call " << static_cast<unsigned>(call) << " after " << after;
                    ++told;
                }
                ASSERT_EQ(file.open(name), Status::ok);
                if (!failed) {
                    break;
                }
            }
        }
    }
    EXPECT_GT(told, 8U);
}

#endif

// Names of parts come from files: a hostile one must not act as a format string.
TEST_F(PosixFileHost, NamesOfParts) {
    put("whole-x.h5", "x");
    PosixParts parts;
    parts.set_path("whole");
    Driver* driver = nullptr;
    EXPECT_EQ(parts.open(0, "%s-x.h5", driver), Status::ok);
    EXPECT_EQ(parts.open(1, "whole-x.h5", driver), Status::ok);
    for (const char* name : {"%s%s", "%n", "%", "%s%", "%d-x.h5"}) {
        EXPECT_EQ(parts.open(2, name, driver), Status::invalid_argument) << name;
    }
    EXPECT_EQ(parts.open(6, "%s-x.h5", driver), Status::invalid_argument);
    EXPECT_EQ(parts.open(2, std::string(5000, 'x'), driver), Status::invalid_argument);
}

}  // namespace
