// Behaviour on hosts and on boards alike; for a board the file is on the machine that runs the emulator.
#include <h5mote/vfd/posix.hpp>

#include "test.hpp"

#include <cstdio>
#include <cstring>

namespace {

using namespace h5mote;
using Mode = PosixDriver::Mode;

constexpr Usage kRaw = Usage::raw_data;
constexpr std::uint64_t kMost = ~std::uint64_t{0};
constexpr const char* kPath = "h5mote_driver_posix_test.tmp";

struct Removed {
    Removed() noexcept { (void)std::remove(kPath); }
    ~Removed() { (void)std::remove(kPath); }
};

Status write_filled(Driver& driver, std::uint64_t address, unsigned char value, std::size_t count) noexcept {
    std::byte bytes[200];
    std::memset(bytes, value, sizeof bytes);
    return driver.write(kRaw, address, {bytes, count});
}

bool holds(Driver& driver, std::uint64_t address, unsigned char value, std::size_t count) noexcept {
    std::byte bytes[200];
    if (driver.read(kRaw, address, {bytes, count}) != Status::ok) {
        return false;
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (bytes[i] != std::byte{value}) {
            return false;
        }
    }
    return true;
}

std::uint64_t length(Driver& driver) noexcept {
    std::uint64_t size = 0;
    return driver.end_of_file(size) == Status::ok ? size : kMost;
}

TEST(PosixDriver, ClosedOneRefusesEverything) {
    PosixDriver driver;
    std::byte bytes[1] = {};
    std::uint64_t size = 0;
    EXPECT_FALSE(driver.is_open());
    EXPECT_EQ(driver.read(kRaw, 0, Bytes(bytes)), Status::invalid_handle);
    EXPECT_EQ(driver.write(kRaw, 0, Bytes(bytes)), Status::invalid_handle);
    EXPECT_EQ(driver.sync(), Status::invalid_handle);
    EXPECT_EQ(driver.end_of_file(size), Status::invalid_handle);
    EXPECT_EQ(driver.truncate(0), Status::invalid_handle);
    EXPECT_EQ(driver.lock(true), Status::invalid_handle);
    EXPECT_EQ(driver.unlock(), Status::ok);  // there is no lock to give back
    EXPECT_EQ(driver.close(), Status::ok);
}

TEST(PosixDriver, Modes) {
    const Removed removed;
    PosixDriver driver;
    EXPECT_EQ(driver.open(kPath, Mode::read_only), Status::not_found);
    EXPECT_EQ(driver.open(kPath, Mode::read_write), Status::not_found);
    EXPECT_FALSE(driver.is_open());

    EXPECT_EQ(driver.open(kPath, Mode::create), Status::ok);
    EXPECT_TRUE(driver.is_open());
    EXPECT_EQ(write_filled(driver, 0, 1, 100), Status::ok);
    EXPECT_EQ(driver.close(), Status::ok);

    EXPECT_EQ(driver.open(kPath, Mode::create), Status::already_exists);
    EXPECT_FALSE(driver.is_open());
    EXPECT_EQ(driver.open(kPath, Mode::open_or_create), Status::ok);
    EXPECT_EQ(length(driver), 100U);
    // Opening again closes the file that was open.
    EXPECT_EQ(driver.open(kPath, Mode::read_write), Status::ok);
    EXPECT_EQ(length(driver), 100U);
    EXPECT_EQ(write_filled(driver, 50, 2, 100), Status::ok);
    EXPECT_EQ(driver.open(kPath, Mode::read_only), Status::ok);
    EXPECT_TRUE(holds(driver, 0, 1, 50));
    EXPECT_TRUE(holds(driver, 50, 2, 100));
    EXPECT_EQ(driver.open(kPath, Mode::truncate), Status::ok);
    EXPECT_EQ(length(driver), 0U);
    EXPECT_EQ(driver.close(), Status::ok);

    EXPECT_EQ(std::remove(kPath), 0);
    EXPECT_EQ(driver.open(kPath, Mode::truncate), Status::ok);
    EXPECT_EQ(driver.close(), Status::ok);
    EXPECT_EQ(std::remove(kPath), 0);
    EXPECT_EQ(driver.open(kPath, Mode::open_or_create), Status::ok);
    EXPECT_EQ(length(driver), 0U);
    EXPECT_EQ(driver.open("no_such_folder/file", Mode::open_or_create), Status::not_found);
}

TEST(PosixDriver, ReadOnlyIsRefusedBeforeTheSystemSeesIt) {
    const Removed removed;
    PosixDriver driver;
    ASSERT_EQ(driver.open(kPath, Mode::create), Status::ok);
    EXPECT_TRUE(driver.capabilities().writable);
    EXPECT_EQ(driver.capabilities().atomic_unit, 512U);
    ASSERT_EQ(write_filled(driver, 0, 3, 10), Status::ok);
    ASSERT_EQ(driver.open(kPath, Mode::read_only), Status::ok);
    EXPECT_FALSE(driver.capabilities().writable);
    EXPECT_EQ(write_filled(driver, 0, 4, 10), Status::read_only);
    EXPECT_EQ(driver.truncate(0), Status::read_only);
    EXPECT_TRUE(holds(driver, 0, 3, 10));
    EXPECT_EQ(driver.sync(), Status::ok);
}

TEST(PosixDriver, ReadsNothingPastTheEnd) {
    const Removed removed;
    PosixDriver driver;
    ASSERT_EQ(driver.open(kPath, Mode::create), Status::ok);
    ASSERT_EQ(write_filled(driver, 0, 5, 100), Status::ok);
    std::byte bytes[8];
    EXPECT_EQ(driver.read(kRaw, 92, Bytes(bytes)), Status::ok);
    EXPECT_EQ(driver.read(kRaw, 93, Bytes(bytes)), Status::io_error);
    EXPECT_EQ(driver.read(kRaw, 1000, Bytes(bytes)), Status::io_error);
    EXPECT_EQ(driver.read(kRaw, kMost - 2, Bytes(bytes)), Status::io_error);
    EXPECT_EQ(driver.read(kRaw, 0, Bytes(bytes, 0)), Status::ok);
    EXPECT_EQ(write_filled(driver, kMost - 2, 5, 8), Status::no_space);
    EXPECT_EQ(driver.truncate(kMost), Status::no_space);
    EXPECT_EQ(length(driver), 100U);
}

TEST(PosixDriver, GapsAndGrowthAreZero) {
    const Removed removed;
    PosixDriver driver;
    ASSERT_EQ(driver.open(kPath, Mode::create), Status::ok);
    EXPECT_EQ(write_filled(driver, 150, 6, 10), Status::ok);
    EXPECT_TRUE(holds(driver, 0, 0, 150));
    EXPECT_TRUE(holds(driver, 150, 6, 10));
    EXPECT_EQ(driver.truncate(300), Status::ok);
    EXPECT_EQ(length(driver), 300U);
    EXPECT_TRUE(holds(driver, 160, 0, 140));
    EXPECT_EQ(driver.truncate(300), Status::ok);
    EXPECT_EQ(write_filled(driver, 400, 6, 0), Status::ok);
    EXPECT_EQ(length(driver), 300U);
    EXPECT_EQ(driver.sync(), Status::ok);
}

// Shrinking works, or is refused by name and changes nothing.
TEST(PosixDriver, Shrinking) {
    const Removed removed;
    PosixDriver driver;
    ASSERT_EQ(driver.open(kPath, Mode::create), Status::ok);
    ASSERT_EQ(write_filled(driver, 0, 7, 100), Status::ok);
    const Status status = driver.truncate(30);
    if (status == Status::unsupported) {
        EXPECT_EQ(length(driver), 100U);
        EXPECT_TRUE(holds(driver, 0, 7, 100));
        return;
    }
    EXPECT_EQ(status, Status::ok);
    EXPECT_EQ(length(driver), 30U);
    EXPECT_EQ(driver.truncate(60), Status::ok);
    EXPECT_TRUE(holds(driver, 0, 7, 30));
    EXPECT_TRUE(holds(driver, 30, 0, 30));
}

}  // namespace
