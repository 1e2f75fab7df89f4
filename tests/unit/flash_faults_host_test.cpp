// Faults of the chip must not make the flash driver lose data: reads that fail, programs that fail one after the other.
// And a file must mount with the options that it was written with.
#include "flash_chip.hpp"
#include "test.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr Usage kRaw = Usage::raw_data;

class Rig : public FlashChip {
public:
    using FlashChip::FlashChip;

    std::vector<std::byte> content() {
        std::uint64_t size = 0;
        EXPECT_EQ(driver.end_of_file(size), Status::ok);
        std::vector<std::byte> all(static_cast<std::size_t>(size));
        EXPECT_EQ(driver.read(kRaw, 0, {all.data(), all.size()}), Status::ok);
        return all;
    }
};

TEST(FlashFaults, MemoryMustBeAligned) {
    constexpr FlashGeometry kChip{20, 1024, 256, 4, 0xff};
    Rig rig(kChip, {}, {});
    ASSERT_EQ(rig.driver.format(), Status::ok);
    std::vector<std::uint64_t> work(FlashDriver::required_memory(kChip) / 8 + 2);
    FlashDriver crooked(rig.simulator, {reinterpret_cast<std::byte*>(work.data()) + 1, work.size() * 8 - 1});
    EXPECT_EQ(crooked.mount(), Status::invalid_argument);
    EXPECT_EQ(crooked.format(), Status::invalid_argument);
}

// While the map gains a level and as many changes as the options allow are pending, these options still suffice.
TEST(FlashFaults, MountsWithTheOptionsThatWrote) {
    constexpr FlashFormat kFormat{128, 12};
    constexpr FlashOptions kOptions{16, false};
    unsigned mounts = 0;
    for (unsigned seed = 1; seed <= 40; ++seed) {
        std::minstd_rand random(seed);
        Rig rig({64, 4096, 256, 1, 0xff}, kFormat, kOptions);
        Rig again({64, 4096, 256, 1, 0xff}, kFormat, kOptions);
        ASSERT_EQ(rig.driver.format(kFormat, kOptions), Status::ok);
        std::uint32_t pages = 0;
        while (pages < 300) {
            for (auto n = static_cast<std::uint32_t>(random() % 20); n > 0; --n) {
                const std::uint32_t page =
                    random() % 2 == 0 ? pages++ : static_cast<std::uint32_t>(random() % (pages + 1));
                ASSERT_EQ(rig.fill(std::uint64_t{page} * 128, 128, page), Status::ok);
            }
            ASSERT_EQ(rig.driver.sync(), Status::ok);
            again.simulator.copy_from(rig.simulator);
            ASSERT_EQ(again.driver.mount(kOptions), Status::ok) << "seed " << seed << ", " << pages << " pages";
            ++mounts;
        }
    }
    EXPECT_GT(mounts, 1000U);
}

// If any single read fails during a mount, the mount fails. It does not fall back to an older state.
TEST(FlashFaults, MountTellsOfEachReadThatFailed) {
    Rig rig({32, 4096, 256, 1, 0xff}, {}, {});
    ASSERT_EQ(rig.driver.format(), Status::ok);
    for (unsigned i = 0; i < 70; ++i) {
        ASSERT_EQ(rig.fill(std::uint64_t{i % 9} * 512, 64, i), Status::ok);
        ASSERT_EQ(rig.fill(4608, 64, i), Status::ok);
        ASSERT_EQ(rig.driver.sync(), Status::ok);
    }
    const std::vector<std::byte> expected = rig.content();
    unsigned told = 0;
    for (std::uint64_t read = 1;; ++read) {
        rig.simulator.fail_read(read);
        const Status status = rig.driver.mount();
        rig.simulator.fail_read(0);
        if (status == Status::ok) {
            break;
        }
        EXPECT_EQ(status, Status::io_error) << "read " << read;
        EXPECT_FALSE(rig.driver.mounted());
        ++told;
    }
    EXPECT_GT(told, 100U);
    EXPECT_EQ(rig.content(), expected);
}

// If a read fails while blocks are freed, the pages that could not be read must not count as dead.
TEST(FlashFaults, NoReadThatFailsLosesAnything) {
    constexpr FlashGeometry kChip{24, 1024, 256, 4, 0xff};
    constexpr FlashFormat kFormat{128, 12};
    constexpr FlashOptions kOptions{8, false};
    Rig rig(kChip, kFormat, kOptions);
    Rig full(kChip, kFormat, kOptions);
    ASSERT_EQ(full.driver.format(kFormat, kOptions), Status::ok);
    const std::uint64_t end = full.driver.usage().capacity;
    for (unsigned i = 0; i < 600; ++i) {
        ASSERT_EQ(full.fill((i * 7 * 64) % (end - 64), 64, i), Status::ok);
        ASSERT_EQ(full.driver.sync(), Status::ok);
    }
    const std::vector<std::byte> before = full.content();
    unsigned failed = 0;
    for (std::uint64_t read = 1;; ++read) {
        rig.simulator.copy_from(full.simulator);
        ASSERT_EQ(rig.driver.mount(kOptions), Status::ok);
        std::vector<std::byte> now = before;
        const std::uint64_t reads = rig.simulator.counts().reads;
        rig.simulator.fail_read(read);
        for (unsigned i = 0; i < 24; ++i) {
            const std::size_t at = i * 192;
            if (rig.fill(at, 40, i + 100) == Status::ok) {
                std::memset(now.data() + at, static_cast<int>(i + 100), 40);
            }
            for (Status status = rig.driver.sync(); status != Status::ok; status = rig.driver.sync()) {
                ASSERT_EQ(status, Status::io_error);
            }
        }
        const bool last = rig.simulator.counts().reads < reads + read;
        rig.simulator.fail_read(0);
        ASSERT_EQ(rig.content(), now) << "read " << read;
        ASSERT_EQ(rig.driver.mount(kOptions), Status::ok);
        ASSERT_EQ(rig.content(), now) << "read " << read;
        if (last) {
            break;
        }
        ++failed;
    }
    EXPECT_GT(failed, 600U);
}

// Two adjacent blocks wear out, each at any of its programs: while the data of the first is rewritten, the second fails
// too.
TEST(FlashFaults, TwoProgramsFailOneAfterTheOther) {
    constexpr FlashGeometry kChip{32, 4096, 256, 256, 0xff};
    constexpr FlashFormat kFormat{256, 12};
    for (std::uint32_t first = 3; first < 18; ++first) {
        for (std::uint32_t second = 2; second < 8; ++second) {
            Rig rig(kChip, kFormat, {});
            ASSERT_EQ(rig.driver.format(kFormat), Status::ok);
            rig.simulator.fail_block(1, first);
            rig.simulator.fail_block(2, second);
            std::vector<std::byte> expected(8192);
            for (unsigned i = 0; i < 90; ++i) {
                const std::size_t at = (i * 1237) % 8000;
                ASSERT_EQ(rig.fill(at, 50, i + 1), Status::ok) << first << " " << second << " " << i;
                std::memset(expected.data() + at, static_cast<int>(i + 1), 50);
                if (i % 11 == 10) {
                    ASSERT_EQ(rig.driver.sync(), Status::ok) << first << " " << second << " " << i;
                }
            }
            ASSERT_EQ(rig.driver.truncate(8192), Status::ok);
            ASSERT_EQ(rig.driver.sync(), Status::ok);
            ASSERT_EQ(rig.content(), expected);
            ASSERT_EQ(rig.driver.mount(), Status::ok);
            ASSERT_EQ(rig.content(), expected) << first << " " << second;
            ASSERT_EQ(rig.simulator.violation(), FlashViolation::none);
        }
    }
}

// Changes of every kind. A failed one is repeated, because a chip that fails once works the next time.
class Changes {
public:
    Changes(Rig& rig, std::vector<std::byte> now) : now_(std::move(now)), rig_(rig) {}

    void run() {
        truncate(now_.size() * 3 / 4 + 37);
        release(256, 1024);
        fill(256, 1024, 11);
        ASSERT_EQ(again([&] { return rig_.driver.keep_room(1, 300); }), Status::ok);
        sync();
        fill(2000, 700, 12);
        fill(now_.size() - 50, 300, 13);
        truncate(now_.size() - 90);
        truncate(now_.size() + 1000);
        sync();
        release(512, 512);
        truncate(300);
        fill(5000, 100, 14);
        std::memset(now_.data() + 300, 0, 4700);
        sync();
    }
    const std::vector<std::byte>& now() const { return now_; }
    unsigned failures() const { return failures_; }

private:
    template <typename Change>
    Status again(Change change) {
        Status status = change();
        for (unsigned tries = 0; status == Status::io_error && tries < 3; ++tries) {
            ++failures_;
            status = change();
        }
        return status;
    }
    void fill(std::size_t at, std::size_t size, unsigned value) {
        ASSERT_EQ(again([&] { return rig_.fill(at, size, value); }), Status::ok);
        now_.resize(std::max(now_.size(), at + size));
        std::memset(now_.data() + at, static_cast<int>(value), size);
    }
    void truncate(std::size_t size) {
        ASSERT_EQ(again([&] { return rig_.driver.truncate(size); }), Status::ok);
        now_.resize(size);
    }
    void release(std::size_t at, std::size_t size) {
        ASSERT_EQ(again([&] { return rig_.driver.release(kRaw, at, size); }), Status::ok);
    }
    void sync() {
        ASSERT_EQ(again([&] { return rig_.driver.sync(); }), Status::ok);
    }

    std::vector<std::byte> now_;
    Rig& rig_;
    unsigned failures_ = 0;
};

// Any single read, program or erase fails while pages are written, truncated and released. After a second try the same
// pages are there, and the usage counts are as if nothing had failed.
TEST(FlashFaults, WhatFailedOnceIsDoneTheSecondTime) {
    struct Chip {
        FlashGeometry geometry;
        FlashFormat format;
    };
    for (const Chip& chip : {Chip{{48, 1024, 256, 4, 0xff}, {128, 12}}, Chip{{64, 1024, 256, 64, 0xff}, {256, 12}}}) {
        constexpr FlashOptions kOptions{8, false};
        Rig full(chip.geometry, chip.format, kOptions);
        ASSERT_EQ(full.driver.format(chip.format, kOptions), Status::ok);
        for (unsigned i = 0; i < 300; ++i) {
            ASSERT_EQ(full.fill((i * 7 * 64) % 6016, 64, i), Status::ok);
            ASSERT_EQ(full.driver.sync(), Status::ok);
        }
        const std::vector<std::byte> before = full.content();
        for (const bool of_reads : {true, false}) {
            Rig expected(chip.geometry, chip.format, kOptions);
            unsigned failed = 0;
            for (std::uint64_t at = 0;; ++at) {
                SCOPED_TRACE(::testing::Message() << (of_reads ? "read " : "program or erase ") << at);
                Rig rig(chip.geometry, chip.format, kOptions);
                Rig& now = at == 0 ? expected : rig;
                now.simulator.copy_from(full.simulator);
                ASSERT_EQ(now.driver.mount(kOptions), Status::ok);
                const auto done = [&] { return of_reads ? now.simulator.counts().reads : now.simulator.operations(); };
                const std::uint64_t start = done();
                of_reads ? now.simulator.fail_read(at) : now.simulator.fail_operation(at);
                Changes changes(now, before);
                changes.run();
                const bool last = at != 0 && done() < start + at;
                now.simulator.fail_read(0);
                now.simulator.fail_operation(0);
                EXPECT_EQ(now.content(), changes.now());
                EXPECT_EQ(now.driver.usage().live, expected.driver.usage().live);
                ASSERT_EQ(now.driver.mount(kOptions), Status::ok);
                EXPECT_EQ(now.content(), changes.now());
                EXPECT_EQ(now.driver.usage().live, expected.driver.usage().live);
                EXPECT_EQ(now.simulator.violation(), FlashViolation::none);
                failed += changes.failures();
                if (last) {
                    EXPECT_GT(at, 30U);
                    break;
                }
                ASSERT_FALSE(::testing::Test::HasFatalFailure());
            }
            EXPECT_TRUE(failed > 0 || !of_reads);
        }
    }
}

}  // namespace
