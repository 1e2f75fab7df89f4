#include <h5mote/vfd/memory.hpp>

#include "failing_driver.hpp"
#include "recording_driver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;
using Image = RecordingDriver::Image;
using Kind = DriverOperation::Kind;

Status write_filled(Driver& driver, std::uint64_t address, unsigned char value, std::size_t count) {
    const Image bytes(count, std::byte{value});
    return driver.write(Usage::raw_data, address, {bytes.data(), bytes.size()});
}

Image image_of(const MemoryDriver& driver) {
    const ConstBytes bytes = driver.contents();
    return {bytes.begin(), bytes.end()};
}

TEST(RecordingDriver, ReplaysEveryPrefix) {
    std::vector<std::byte> memory(4096);
    MemoryDriver inner{{memory.data(), memory.size()}};
    ASSERT_EQ(write_filled(inner, 0, 9, 50), Status::ok);
    RecordingDriver driver{inner};
    std::vector<Image> truth{image_of(inner)};
    const auto step = [&](Status status) {
        ASSERT_EQ(status, Status::ok);
        truth.push_back(image_of(inner));
    };
    step(write_filled(driver, 10, 1, 20));
    step(driver.sync());
    step(write_filled(driver, 100, 2, 1000));
    step(driver.truncate(500));
    step(driver.truncate(700));
    step(driver.sync());
    step(write_filled(driver, 690, 3, 20));
    ASSERT_EQ(driver.operations().size(), 7U);
    EXPECT_EQ(driver.initial(), truth[0]);
    for (std::size_t i = 0; i < truth.size(); ++i) {
        EXPECT_EQ(driver.image(i), truth[i]) << i;
        EXPECT_EQ(driver.image_torn(i, 0), truth[i]) << i;
    }
    EXPECT_EQ(driver.image(100), truth.back());
    EXPECT_EQ(driver.operations()[3].kind, Kind::truncate);
    EXPECT_EQ(driver.operations()[2].usage, Usage::raw_data);
    EXPECT_EQ(driver.synced(0), 0U);
    EXPECT_EQ(driver.synced(1), 0U);
    EXPECT_EQ(driver.synced(2), 2U);
    EXPECT_EQ(driver.synced(5), 2U);
    EXPECT_EQ(driver.synced(100), 6U);
}

TEST(RecordingDriver, TearsAtBytesAndSectors) {
    std::vector<std::byte> memory(4096);
    MemoryDriver inner{{memory.data(), memory.size()}};
    RecordingDriver driver{inner};
    ASSERT_EQ(write_filled(driver, 500, 1, 1100), Status::ok);
    ASSERT_EQ(write_filled(driver, 512, 2, 512), Status::ok);
    ASSERT_EQ(driver.sync(), Status::ok);
    EXPECT_EQ(driver.tears(0, 512), (std::vector<std::size_t>{12, 524, 1036}));
    EXPECT_TRUE(driver.tears(1, 512).empty());
    EXPECT_TRUE(driver.tears(2, 1).empty());
    EXPECT_TRUE(driver.tears(3, 1).empty());
    EXPECT_EQ(driver.tears(1, 1).size(), 511U);

    const Image torn = driver.image_torn(0, 12);
    EXPECT_EQ(torn.size(), 512U);
    const Image overwritten = driver.image_torn(1, 100);
    EXPECT_EQ(overwritten.size(), 1600U);
    EXPECT_EQ(std::count(overwritten.begin(), overwritten.end(), std::byte{2}), 100);
    EXPECT_EQ(overwritten[611], std::byte{2});
    EXPECT_EQ(overwritten[612], std::byte{1});
}

TEST(RecordingDriver, KeepsOnlyWhatSucceeded) {
    std::vector<std::byte> memory(100);
    MemoryDriver inner{{memory.data(), memory.size()}};
    FailingDriver failing{inner};
    RecordingDriver driver{failing};
    EXPECT_EQ(write_filled(driver, 90, 1, 20), Status::no_space);
    DriverFault fault;
    fault.at = 1;
    fault.persistent = true;
    failing.arm(fault);
    EXPECT_EQ(driver.sync(), Status::io_error);
    EXPECT_EQ(driver.truncate(5), Status::io_error);
    EXPECT_TRUE(driver.operations().empty());
}

TEST(RecordingDriver, AppliesInAnyOrder) {
    std::vector<std::byte> memory(100);
    MemoryDriver inner{{memory.data(), memory.size()}};
    RecordingDriver driver{inner};
    ASSERT_EQ(write_filled(driver, 0, 1, 10), Status::ok);
    ASSERT_EQ(write_filled(driver, 5, 2, 10), Status::ok);
    Image image = driver.initial();
    RecordingDriver::apply(image, driver.operations()[1]);
    RecordingDriver::apply(image, driver.operations()[0]);
    EXPECT_EQ(image.size(), 15U);
    EXPECT_EQ(image[9], std::byte{1});
    EXPECT_EQ(image[10], std::byte{2});
}

}  // namespace
