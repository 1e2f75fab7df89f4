// The flash driver against a model, over chips of many kinds: random changes, mounts, power cuts within any program or
// erase operation, also during the recovery from a cut.
#include <h5mote/vfd/flash.hpp>

#include "flash_simulator.hpp"
#include "sweep.hpp"
#include "test.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <random>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr Usage kRaw = Usage::raw_data;
using Content = std::vector<unsigned char>;

struct Kind {
    FlashGeometry geometry;
    FlashFormat format;
    std::uint16_t changes;
    bool blank_is_unreadable;
};

struct Chip {
    explicit Chip(const Kind& kind)
        : memory(FlashSimulator::required_memory(kind.geometry) / 8 + 1), simulator(options(kind), bytes()) {}
    static FlashSimulatorOptions options(const Kind& kind) {
        FlashSimulatorOptions result;
        result.geometry = kind.geometry;
        result.blank_is_unreadable = kind.blank_is_unreadable;
        return result;
    }
    Bytes bytes() { return {reinterpret_cast<std::byte*>(memory.data()), memory.size() * 8}; }
    std::vector<std::uint64_t> memory;
    FlashSimulator simulator;
};

class Play {
public:
    Play(const Kind& kind, std::uint64_t seed) : kind_(kind), chip_(kind), random_(seed) {
        chip_.simulator.scramble(seed);
        options_.changes = kind.changes;
        work_.resize(FlashDriver::required_memory(kind.geometry, kind.format, options_) / 8 + 1);
        fresh_driver();
    }

    // Makes random changes. With `cuts` the power fails now and then; returns how often it did.
    unsigned run(unsigned steps, bool cuts, bool failures = false) {
        EXPECT_NE(driver_->mount(options_), Status::ok);
        EXPECT_EQ(driver_->format(kind_.format, options_), Status::ok);
        limit_ = driver_->usage().capacity;
        unsigned count = 0;
        for (unsigned i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
            if (cuts && pick(20) == 0) {
                static constexpr FlashCut kCuts[] = {FlashCut::not_begun, FlashCut::torn, FlashCut::partly,
                                                     FlashCut::unstable};
                chip_.simulator.cut_after(1 + pick(pick(2) == 0 ? 6 : 60), kCuts[pick(4)], random_(), pick(40));
            }
            // Stop when the chip is worn out and may have no room for the changes.
            if (failures && driver_->usage().blocks_bad > kind_.geometry.blocks / 6) {
                break;
            }
            if (failures && pick(25) == 0) {
                chip_.simulator.fail_operation(1 + pick(30));
            }
            change();
            if (!chip_.simulator.powered()) {
                ++count;
                recover();
            } else if (pick(40) == 0) {
                remount();
            }
            ASSERT_none();
        }
        chip_.simulator.cut_after(0, FlashCut::torn, 0);
        return count;
    }

    FlashSimulator& simulator() { return chip_.simulator; }
    unsigned no_space() const { return no_space_; }
    unsigned syncs() const { return syncs_; }
    FlashDriver& driver() { return *driver_; }

private:
    std::uint32_t pick(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }

    void ASSERT_none() {
        EXPECT_EQ(static_cast<int>(chip_.simulator.violation()), 0)
            << "block " << chip_.simulator.violation_block() << " offset " << chip_.simulator.violation_offset();
    }

    void fresh_driver() {
        driver_ = std::make_unique<FlashDriver>(chip_.simulator,
                                                Bytes(reinterpret_cast<std::byte*>(work_.data()), work_.size() * 8));
    }

    void change() {
        const std::uint32_t what = pick(100);
        Status status = Status::ok;
        if (what < 60) {
            const std::uint64_t limit = limit_ * 9 / 10;
            static const std::uint32_t kSizes[] = {1, 4, 24, 64, 64, 300, 1024, 3000};
            const std::uint32_t size = 1 + pick(kSizes[pick(8)]);
            std::uint64_t address = now_.size();
            if (pick(3) != 0 || address + size > limit) {
                address = pick(2) == 0 ? pick(static_cast<std::uint32_t>(std::min<std::uint64_t>(limit, 600)))
                                       : pick(static_cast<std::uint32_t>(limit));
            }
            Content bytes(size);
            for (auto& each : bytes) {
                each = static_cast<unsigned char>(random_());
            }
            status = driver_->write(kRaw, address, {reinterpret_cast<std::byte*>(bytes.data()), size});
            if (status == Status::ok) {
                now_.resize(std::max(now_.size(), static_cast<std::size_t>(address) + size));
                std::copy(bytes.begin(), bytes.end(), now_.begin() + static_cast<std::ptrdiff_t>(address));
            } else if (status == Status::no_space) {
                ++no_space_;
                sync();
                return;
            }
        } else if (what < 85) {
            sync();
            return;
        } else if (what < 90 && !now_.empty()) {
            check_some();
            return;
        } else if (what < 94 && !now_.empty()) {
            const std::uint32_t address = pick(static_cast<std::uint32_t>(now_.size()));
            const std::uint32_t size = pick(pick(2) == 0 ? 2000 : static_cast<std::uint32_t>(now_.size()));
            status = driver_->release(kRaw, address, size);
            if (status == Status::ok) {
                const std::size_t page = kind_.format.page_size;
                const std::size_t end = std::min<std::size_t>(now_.size(), address + size) / page * page;
                for (std::size_t i = (address + page - 1) / page * page; i < end; ++i) {
                    now_[i] = 0;
                }
            }
        } else if (what < 96 && !now_.empty()) {
            const std::uint32_t size =
                pick(2) == 0
                    ? pick(static_cast<std::uint32_t>(now_.size()))
                    : static_cast<std::uint32_t>(
                          now_.size() - pick(static_cast<std::uint32_t>(std::min<std::size_t>(now_.size(), 700))));
            status = driver_->truncate(size);
            if (status == Status::ok) {
                now_.resize(size);
            }
        }
        if (status != Status::ok && chip_.simulator.powered()) {
            ADD_FAILURE() << "what " << what << " status " << to_string(status);
        }
    }

    void sync() {
        ++syncs_;
        const Status status = driver_->sync();
        if (status == Status::ok) {
            kept_ = now_;
            perhaps_.clear();
        } else if (chip_.simulator.powered()) {
            ADD_FAILURE() << "sync " << to_string(status);
        } else {
            perhaps_.push_back(now_);  // the commit may have been completed before the cut
        }
    }

    Content content() {
        std::uint64_t size = 0;
        EXPECT_EQ(driver_->end_of_file(size), Status::ok);
        Content bytes(static_cast<std::size_t>(size));
        EXPECT_EQ(driver_->read(kRaw, 0, {reinterpret_cast<std::byte*>(bytes.data()), bytes.size()}), Status::ok);
        return bytes;
    }

    void check_some() {
        const std::uint32_t address = pick(static_cast<std::uint32_t>(now_.size()));
        const std::uint32_t size = pick(static_cast<std::uint32_t>(now_.size()) - address);
        Content bytes(size);
        const Status status = driver_->read(kRaw, address, {reinterpret_cast<std::byte*>(bytes.data()), size});
        if (chip_.simulator.powered()) {
            EXPECT_EQ(status, Status::ok);
            EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), now_.begin() + address));
        }
    }

    // Mounts again without a power cut: changes since the last sync are lost.
    void remount() {
        fresh_driver();
        const std::uint64_t before = chip_.simulator.operations();
        ASSERT_EQ(driver_->mount(options_), Status::ok);
        EXPECT_EQ(chip_.simulator.operations(), before);
        now_ = content();
        EXPECT_TRUE(expected());
        check_live();
    }

    void check_live() {
        const std::size_t page = kind_.format.page_size;
        std::uint64_t live = driver_->usage().live;
        EXPECT_LE(live, (now_.size() + page - 1) / page * page);
    }

    // After a cut within a sync, its changes may or may not be there, until the next sync succeeds.
    void recover() {
        for (unsigned mounts = 1 + pick(3); mounts > 0; --mounts) {
            chip_.simulator.power_on(random_());
            fresh_driver();
            const Status status = driver_->mount(options_);
            ASSERT_EQ(status, Status::ok)
                << to_string(status) << " finding " << static_cast<int>(driver_->usage().finding);
            now_ = content();
            ASSERT_TRUE(expected());
        }
    }

    bool expected() const {
        return now_ == kept_ || std::find(perhaps_.begin(), perhaps_.end(), now_) != perhaps_.end();
    }

    const Kind kind_;
    Chip chip_;
    std::mt19937_64 random_;
    std::vector<std::uint64_t> work_;
    std::unique_ptr<FlashDriver> driver_;
    FlashOptions options_;
    Content now_, kept_;
    std::vector<Content> perhaps_;
    std::uint64_t limit_ = 0;
    unsigned no_space_ = 0;
    unsigned syncs_ = 0;
};

const Kind kKinds[] = {
    {{32, 1024, 256, 1, 0xff}, {128, 12}, 16, false},       // on-chip flash, small blocks
    {{32, 1024, 1024, 4, 0x00}, {256, 20}, 8, false},       //
    {{32, 4096, 256, 1, 0xff}, {512, 12}, 32, false},       // SPI NOR
    {{64, 2048, 256, 4, 0xff}, {512, 12}, 64, false},       //
    {{24, 4096, 256, 8, 0xff}, {256, 12}, 32, true},        // with an ECC over 8 bytes
    {{24, 8192, 256, 256, 0xff}, {512, 12}, 32, false},     // programs whole pages
    {{24, 16384, 2048, 2048, 0xff}, {1024, 12}, 32, true},  // NAND
    {{40, 4096, 512, 32, 0x00}, {4096, 30}, 16, false},     //
};

TEST(FlashDriver, KeepsWhatWasWritten) {
    for (const Kind& kind : kKinds) {
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            Play play(kind, seed);
            play.run(3000, false);
            if (::testing::Test::HasFailure()) {
                FAIL() << "unit " << kind.geometry.program_unit << " seed " << seed;
            }
            EXPECT_LE(play.no_space(), play.syncs() / 4);
        }
    }
}

TEST(FlashDriver, LivesWithBadBlocks) {
    for (const Kind& kind : kKinds) {
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            for (const bool cuts : {false, true}) {
                Play play(kind, seed);
                play.simulator().set_bad(0);
                play.simulator().set_bad(static_cast<std::uint32_t>(5 + seed));
                play.simulator().fail_block(3, 20);
                play.run(1500, cuts, true);
                if (::testing::Test::HasFailure()) {
                    FAIL() << "unit " << kind.geometry.program_unit << " seed " << seed << " cuts " << cuts;
                }
            }
        }
    }
}

// Groups of writes anywhere on a full device, with mounts in between: no group costs more than worst_case() predicts.
TEST(FlashDriver, StaysWithinTheWorstCase) {
    for (const Kind& kind : kKinds) {
        Chip chip(kind);
        const FlashOptions options{kind.changes, false};
        std::vector<std::uint64_t> work(FlashDriver::required_memory(kind.geometry, kind.format, options) / 8 + 1);
        const Bytes memory(reinterpret_cast<std::byte*>(work.data()), work.size() * 8);
        FlashDriver driver(chip.simulator, memory);
        ASSERT_EQ(driver.format(kind.format, options), Status::ok);
        const auto end = static_cast<std::uint32_t>(driver.usage().capacity);
        std::mt19937_64 random(7);
        std::byte bytes[700] = {};
        const std::uint32_t largest = end / 64 < sizeof bytes ? end / 64 : sizeof bytes;
        double most[4] = {};
        const auto share = [](std::uint64_t seen, std::uint64_t bound) {
            return static_cast<double>(seen) / static_cast<double>(bound);
        };
        unsigned refused = 0;
        for (unsigned group = 0; group < 3000; ++group) {
            std::uint32_t sizes[3];
            const auto writes = static_cast<std::uint32_t>(1 + random() % 3);
            std::uint32_t total = 0;
            for (std::uint32_t i = 0; i < writes; ++i) {
                sizes[i] = 1 + static_cast<std::uint32_t>(random() % (random() % 2 == 0 ? 60 : largest));
                total += sizes[i];
            }
            if (group % 100 == 99) {
                ASSERT_EQ(driver.mount(options), Status::ok);
            }
            const FlashCost cost = driver.worst_case(writes, total);
            const FlashCounts before = chip.simulator.counts();
            for (std::uint32_t i = 0; i < writes; ++i) {
                const Status status =
                    driver.write(kRaw, static_cast<std::uint32_t>(random()) % (end - sizes[i]), {bytes, sizes[i]});
                refused += status == Status::no_space ? 1 : 0;
                ASSERT_TRUE(status == Status::ok || status == Status::no_space);
            }
            ASSERT_EQ(driver.sync(), Status::ok);
            const FlashCounts after = chip.simulator.counts();
            EXPECT_LE(after.bytes_programmed - before.bytes_programmed, cost.programmed);
            EXPECT_LE(after.programs - before.programs, cost.programs);
            EXPECT_LE(after.erases - before.erases, cost.erases);
            EXPECT_LE(after.reads - before.reads, cost.reads);
            const double shares[] = {share(after.bytes_programmed - before.bytes_programmed, cost.programmed),
                                     share(after.programs - before.programs, cost.programs),
                                     share(after.erases - before.erases, cost.erases),
                                     share(after.reads - before.reads, cost.reads)};
            for (unsigned i = 0; i < 4; ++i) {
                most[i] = shares[i] > most[i] ? shares[i] : most[i];
            }
        }
        std::printf("unit %u: at most %.3f of the bytes, %.3f of the programs, %.3f of the erases, %.5f of the reads\n",
                    kind.geometry.program_unit, most[0], most[1], most[2], most[3]);
        // The predicted costs must not be arbitrarily large either.
        EXPECT_GT(most[0], 0.005) << "unit " << kind.geometry.program_unit;
        EXPECT_LE(refused, 600U) << "unit " << kind.geometry.program_unit;
        ASSERT_FALSE(::testing::Test::HasFailure());
    }
}

// Room for FlashUsage::transaction bytes can be kept whatever the device holds and went through, and the difference to
// what is free is never more than the documented reserve.
TEST(FlashDriver, TransactionsTakeWhatIsFree) {
    for (const Kind& kind : kKinds) {
        Chip chip(kind);
        const FlashOptions options{kind.changes, false};
        std::vector<std::uint64_t> work(FlashDriver::required_memory(kind.geometry, kind.format, options) / 8 + 1);
        const Bytes memory(reinterpret_cast<std::byte*>(work.data()), work.size() * 8);
        FlashDriver driver(chip.simulator, memory);
        ASSERT_EQ(driver.format(kind.format, options), Status::ok);
        const std::uint32_t page = kind.format.page_size;
        const auto pages = static_cast<std::uint32_t>(driver.usage().capacity / page);
        const std::vector<std::byte> bytes(page, std::byte{1});
        std::mt19937_64 random(7);
        for (unsigned tenths = 1; tenths <= 10; ++tenths) {
            for (std::uint32_t n = 0; n < pages; ++n) {
                const std::uint64_t at = random() % (std::uint64_t{pages} * tenths / 10) * page;
                Status status = driver.write(kRaw, at, {bytes.data(), page});
                if (status == Status::no_space) {
                    ASSERT_EQ(driver.sync(), Status::ok);
                    status = driver.write(kRaw, at, {bytes.data(), page});
                }
                ASSERT_EQ(status, Status::ok);
                if (random() % 3 == 0) {
                    ASSERT_EQ(driver.sync(), Status::ok);
                }
                if (random() % 40 == 0) {
                    ASSERT_EQ(driver.mount(options), Status::ok);
                }
            }
            ASSERT_EQ(driver.sync(), Status::ok);
            const FlashUsage usage = driver.usage();
            EXPECT_GE(usage.transaction + std::uint64_t{8} * page, (usage.capacity - usage.live) * 7 / 8)
                << "unit " << kind.geometry.program_unit << ", " << tenths << " tenths";
            EXPECT_EQ(driver.keep_room(usage.transaction == 0 ? 0 : 1, usage.transaction), Status::ok)
                << "unit " << kind.geometry.program_unit << ", " << tenths << " tenths";
            EXPECT_EQ(driver.keep_room(0, 0), Status::ok);
        }
    }
}

TEST(FlashDriver, LosesNothingToPowerCuts) {
    unsigned cuts = 0;
    for (const Kind& kind : kKinds) {
        for (std::uint64_t seed = 1; seed <= 10; seed += sweep_step()) {
            Play play(kind, seed);
            cuts += play.run(2000, true);
            if (::testing::Test::HasFailure()) {
                FAIL() << "unit " << kind.geometry.program_unit << " seed " << seed;
            }
        }
    }
    std::printf("%u cuts\n", cuts);
    EXPECT_GT(cuts, 4000U / sweep_step());
}

}  // namespace
