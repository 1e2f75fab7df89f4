// RegionDriver: a part of a storage as a storage of its own. Its capabilities, and which calls it passes on.
#include <h5mote/vfd/memory.hpp>
#include <h5mote/vfd/region.hpp>

#include "driver_bytes.hpp"
#include "forwarding_driver.hpp"
#include "test.hpp"

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr Usage kRaw = Usage::raw_data;
std::byte work[512];

TEST(Region, ShowsAPart) {
    static std::byte bytes[256];
    MemoryDriver storage{bytes};
    RegionDriver front{storage, 0, 100};
    RegionDriver rest{storage, 100};
    EXPECT_EQ(length(front), 0U);
    EXPECT_EQ(length(rest), 0U);
    EXPECT_FALSE(front.same_storage(rest));
    EXPECT_FALSE(front.same_storage(storage));
    EXPECT_FALSE(front.capabilities().extends_with_zeros);
    EXPECT_TRUE(rest.capabilities().extends_with_zeros);
    EXPECT_EQ(fill(rest, 10, 1, 10), Status::ok);
    EXPECT_EQ(length(rest), 20U);
    EXPECT_EQ(length(front), 100U);
    EXPECT_TRUE(holds(storage, 110, 120, 1));
    EXPECT_EQ(fill(front, 95, 2, 6), Status::no_space);
    EXPECT_EQ(fill(front, ~std::uint64_t{0}, 2, 6), Status::no_space);
    EXPECT_EQ(fill(front, 95, 2, 5), Status::ok);
    EXPECT_EQ(front.read(kRaw, 95, Bytes(work, 6)), Status::io_error);
    EXPECT_EQ(front.truncate(101), Status::no_space);
    EXPECT_EQ(front.truncate(50), Status::ok);
    EXPECT_EQ(length(front), 50U);
    EXPECT_EQ(length(storage), 120U);
    EXPECT_EQ(rest.truncate(5), Status::ok);
    EXPECT_EQ(length(rest), 5U);
    EXPECT_EQ(length(storage), 105U);
    EXPECT_EQ(rest.truncate(157), Status::no_space);
    EXPECT_EQ(fill(rest, ~std::uint64_t{0} - 50, 1, 1), Status::no_space);
}

// Records the calls to a storage other than reads and writes.
class Asked final : public ForwardingDriver {
public:
    Asked(Driver& inner, bool commits) noexcept : ForwardingDriver(inner), commits_(commits) {}
    Capabilities capabilities() const noexcept override {
        Capabilities result = ForwardingDriver::capabilities();
        result.sync_is_commit = commits_;
        return result;
    }
    Status release(Usage /*usage*/, std::uint64_t address, std::uint64_t size) noexcept override {
        released_from = address;
        released_size = size;
        return Status::ok;
    }
    Status keep_room(std::uint32_t ranges, std::uint64_t bytes) noexcept override {
        kept_ranges = ranges;
        kept_bytes = bytes;
        return bytes > 1000 ? Status::no_space : Status::ok;
    }
    Status discard() noexcept override {
        ++discards;
        return Status::ok;
    }
    std::int32_t last_error() const noexcept override { return 7; }

    std::uint64_t released_from = 0;
    std::uint64_t released_size = 0;
    std::uint32_t kept_ranges = 0;
    std::uint64_t kept_bytes = 0;
    unsigned discards = 0;

private:
    bool commits_;
};

TEST(Region, PassesOnWhatIsTrueOfIt) {
    static std::byte bytes[256];
    MemoryDriver memory{bytes};
    Asked storage{memory, true};
    RegionDriver region{storage, 100, 100};
    ASSERT_EQ(fill(region, 0, 1, 80), Status::ok);
    EXPECT_TRUE(region.capabilities().sync_is_commit);
    EXPECT_EQ(region.keep_room(3, 300), Status::ok);
    EXPECT_EQ(storage.kept_ranges, 3U);
    EXPECT_EQ(storage.kept_bytes, 300U);
    EXPECT_EQ(region.keep_room(3, 1001), Status::no_space);
    EXPECT_EQ(region.discard(), Status::ok);
    EXPECT_EQ(storage.discards, 1U);
    EXPECT_EQ(region.last_error(), 7);
    EXPECT_EQ(region.release(kRaw, 10, 20), Status::ok);
    EXPECT_EQ(storage.released_from, 110U);
    EXPECT_EQ(storage.released_size, 20U);
    // A region must not release bytes behind its end.
    EXPECT_EQ(region.release(kRaw, 70, 4096), Status::ok);
    EXPECT_EQ(storage.released_from, 170U);
    EXPECT_EQ(storage.released_size, 10U);
    EXPECT_EQ(region.release(kRaw, 80, 4096), Status::ok);
    EXPECT_EQ(region.release(kRaw, ~std::uint64_t{0} - 50, 4096), Status::ok);
    EXPECT_EQ(storage.released_from, 170U);
}

// A sync that commits would commit the writes of all regions: there a writer excludes them. Otherwise any may write.
TEST(Region, OneWriterWhereASyncCommits) {
    static std::byte bytes[256];
    MemoryDriver memory{bytes};
    for (const bool commits : {false, true}) {
        Asked storage{memory, commits};
        RegionDriver front{storage, 0, 100};
        RegionDriver rest{storage, 100};
        const Status second = commits ? Status::busy : Status::ok;
        ASSERT_EQ(front.lock(true), Status::ok);
        EXPECT_EQ(rest.lock(true), second);
        EXPECT_EQ(rest.unlock(), Status::ok);
        EXPECT_EQ(rest.lock(false), second);
        EXPECT_EQ(rest.unlock(), Status::ok);
        EXPECT_EQ(front.unlock(), Status::ok);
        ASSERT_EQ(front.lock(false), Status::ok);
        EXPECT_EQ(rest.lock(false), Status::ok);
        EXPECT_EQ(rest.unlock(), Status::ok);
        EXPECT_EQ(front.unlock(), Status::ok);
        EXPECT_EQ(storage.lock(true), Status::ok);
        EXPECT_EQ(storage.unlock(), Status::ok);
    }
}

}  // namespace
