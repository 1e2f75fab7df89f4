// Chips that fail for a while and then work again. The session goes on after the errors: what sync() made durable
// stays, no page that the file does not have is kept, and a chip that has room can be written again.
#include "flash_outage.hpp"
#include "sweep.hpp"
#include "test.hpp"

#include <h5mote/vfd/flash.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr Usage kRaw = Usage::raw_data;
constexpr FlashGeometry kNor{128, 4096, 256, 1, 0xff};
constexpr unsigned kWrites = FlashOutage::kPrograms | FlashOutage::kErases;
constexpr unsigned kAll = kWrites | FlashOutage::kReads;

using Content = std::vector<std::byte>;

FlashSimulatorOptions with(const FlashGeometry& geometry) {
    FlashSimulatorOptions options;
    options.geometry = geometry;
    return options;
}

Content bytes_of(unsigned seed, std::size_t size) {
    Content bytes(size);
    for (std::size_t i = 0; i < size; ++i) {
        bytes[i] = static_cast<std::byte>(i * 7 + seed);
    }
    return bytes;
}

class Rig {
public:
    explicit Rig(const FlashSimulatorOptions& chip, const FlashFormat& format = {}, const FlashOptions& options = {},
                 const std::vector<std::uint32_t>& bad = {})
        : options_(options),
          chip_memory_(FlashSimulator::required_memory(chip.geometry) / 8 + 1),
          work_(FlashDriver::required_memory(chip.geometry, format, options) / 8 + 1),
          simulator(chip, bytes(chip_memory_)),
          device(simulator),
          driver(device, bytes(work_)) {
        for (const std::uint32_t block : bad) {
            simulator.set_bad(block);
        }
        EXPECT_EQ(driver.format(format, options), Status::ok);
    }

    Status write(std::uint64_t address, const Content& from) {
        return driver.write(kRaw, address, {from.data(), from.size()});
    }
    Status mount() { return driver.mount(options_); }
    std::uint64_t size() {
        std::uint64_t size = 0;
        EXPECT_EQ(driver.end_of_file(size), Status::ok);
        return size;
    }
    Status read(Content& all) {
        std::uint64_t size = 0;
        H5MOTE_TRY(driver.end_of_file(size));
        all.resize(static_cast<std::size_t>(size));
        return driver.read(kRaw, 0, {all.data(), all.size()});
    }

private:
    static Bytes bytes(std::vector<std::uint64_t>& memory) {
        return {reinterpret_cast<std::byte*>(memory.data()), memory.size() * 8};
    }

    FlashOptions options_;
    std::vector<std::uint64_t> chip_memory_, work_;

public:
    FlashSimulator simulator;
    FlashOutage device;
    FlashDriver driver;
};

// So many programs fail that no block gets a header in the first call. The header that comes later must name a block
// that has one as the block before it, or a mount does not find the way to the last commit.
TEST(FlashOutage, HeadersThatFailed) {
    for (unsigned failing = 1; failing <= 40; ++failing) {
        Rig rig(with(kNor));
        const Content kept = bytes_of(1, 5000);
        const Content more = bytes_of(2, 300);
        ASSERT_EQ(rig.write(0, kept), Status::ok);
        ASSERT_EQ(rig.driver.sync(), Status::ok);
        rig.device.fail(FlashOutage::kPrograms, failing);
        for (unsigned tries = 0; !rig.device.is_over() && tries < 40; ++tries) {
            (void)rig.write(6000, more);
        }
        ASSERT_TRUE(rig.device.is_over());
        ASSERT_EQ(rig.write(6000, more), Status::ok) << failing;
        // The power fails before the next sync.
        ASSERT_EQ(rig.mount(), Status::ok) << failing;
        Content found;
        ASSERT_EQ(rig.read(found), Status::ok) << failing;
        ASSERT_EQ(found, kept) << failing;
        ASSERT_EQ(rig.simulator.violation(), FlashViolation::none);
    }
}

// The map needs another level, and the node that is to become its root cannot be written. The root stays what it was.
TEST(FlashOutage, AMapThatCouldNotGrow) {
    const Content kept = bytes_of(1, 8192);
    const Content more = bytes_of(2, 300);
    unsigned refused = 0;
    for (const unsigned calls : {unsigned{FlashOutage::kPrograms}, kWrites}) {
        for (unsigned failing = 1; failing <= 120; ++failing) {
            Rig rig(with(kNor));
            ASSERT_EQ(rig.write(0, kept), Status::ok);
            ASSERT_EQ(rig.driver.sync(), Status::ok);
            ASSERT_EQ(rig.mount(), Status::ok);
            ASSERT_EQ(rig.write(0, bytes_of(1, 100)), Status::ok);
            ASSERT_EQ(rig.driver.sync(), Status::ok);
            rig.device.fail(calls, failing);
            const Status first = rig.write(8192, more);
            rig.device.end();
            if (first == Status::ok) {
                continue;
            }
            ++refused;
            ASSERT_EQ(first, Status::io_error);
            ASSERT_EQ(rig.write(8192, more), Status::ok) << failing;
            ASSERT_EQ(rig.driver.sync(), Status::ok) << failing;
            ASSERT_EQ(rig.mount(), Status::ok) << failing;
            Content expected = kept;
            expected.insert(expected.end(), more.begin(), more.end());
            Content found;
            ASSERT_EQ(rig.read(found), Status::ok) << failing;
            ASSERT_EQ(found, expected) << failing;
        }
    }
    EXPECT_GT(refused, 50U);
}

// A write that begins behind the end of the file fails on its way. What it wrote belongs to the file, or is gone: when
// the file grows again, all behind its end is zero, and when it is emptied, no page stays mapped.
TEST(FlashOutage, AWriteBehindTheEndThatFails) {
    const Content kept = bytes_of(1, 600);
    const Content more = bytes_of(2, 40000);
    unsigned halfway = 0;
    for (std::uint64_t after = 0;; after += 5) {
        Rig rig(with(kNor));
        ASSERT_EQ(rig.write(0, kept), Status::ok);
        ASSERT_EQ(rig.driver.sync(), Status::ok);
        rig.device.fail(FlashOutage::kPrograms, 1000, after);
        const Status status = rig.write(1024, more);
        rig.device.end();
        if (status == Status::ok) {
            break;
        }
        ASSERT_EQ(status, Status::io_error);
        const auto end = static_cast<std::size_t>(rig.size());
        ASSERT_LE(end, 41024U);
        halfway += end > 1024 ? 1 : 0;
        ASSERT_EQ(rig.driver.truncate(50000), Status::ok);
        Content found;
        ASSERT_EQ(rig.read(found), Status::ok);
        ASSERT_EQ(found.size(), 50000U);
        for (std::size_t i = 0; i < found.size(); ++i) {
            const bool of_write = i >= 1024 && i < end;
            const std::byte expected = i < 600 ? kept[i] : of_write ? more[i - 1024] : std::byte{0};
            ASSERT_EQ(found[i], expected) << "byte " << i << ", " << after << " programs, end of file " << end;
        }
        ASSERT_EQ(rig.driver.truncate(0), Status::ok);
        ASSERT_EQ(rig.driver.sync(), Status::ok);
        ASSERT_EQ(rig.mount(), Status::ok);
        ASSERT_EQ(rig.driver.usage().live, 0U) << after;
    }
    EXPECT_GT(halfway, 20U);
}

// A small chip fails, for a moment or through many calls. Its free blocks are still free afterwards.
TEST(FlashOutage, SmallChipsAreNotUsedUp) {
    constexpr FlashOptions kOptions{8, false};
    const Content data = bytes_of(1, 3000);
    FlashGeometry geometry{8, 4096, 256, 1, 0xff};
    const std::uint32_t fewest = FlashDriver::fewest_blocks(geometry, {}, kOptions);
    for (geometry.blocks = fewest; geometry.blocks < fewest + 4; ++geometry.blocks) {
        Rig used(with(geometry), {}, kOptions);
        if (used.driver.usage().capacity < 6000) {
            continue;
        }
        for (unsigned i = 0; i < 60; ++i) {
            ASSERT_EQ(used.write(i % 7 * 300, data), Status::ok);
            ASSERT_EQ(used.driver.sync(), Status::ok);
        }
        for (const unsigned calls : {unsigned{FlashOutage::kPrograms}, unsigned{FlashOutage::kErases}, kWrites}) {
            for (const unsigned tries : {1U, 3U, 10U}) {
                for (unsigned failing = 1; failing <= 60; ++failing) {
                    SCOPED_TRACE(::testing::Message() << geometry.blocks << " blocks, calls " << calls << ", " << tries
                                                      << " tries, failing " << failing);
                    Rig rig(with(geometry), {}, kOptions);
                    rig.simulator.copy_from(used.simulator);
                    ASSERT_EQ(rig.mount(), Status::ok);
                    rig.device.fail(calls, failing);
                    for (unsigned i = 0; i < tries; ++i) {
                        // A chip that fails is not full.
                        const Status written = rig.write(0, data);
                        ASSERT_TRUE(written == Status::ok || written == Status::io_error) << to_string(written);
                        (void)rig.driver.sync();
                    }
                    rig.device.end();
                    ASSERT_EQ(rig.mount(), Status::ok);
                    for (unsigned i = 0; i < 4; ++i) {
                        ASSERT_EQ(rig.write(0, data), Status::ok);
                        ASSERT_EQ(rig.driver.sync(), Status::ok);
                    }
                }
            }
        }
    }
}

// What a file may hold: bytes that a failed call was to change may be anything.
struct Model {
    Content bytes;
    std::vector<bool> is_any;

    void resize(std::uint64_t size) {
        bytes.resize(static_cast<std::size_t>(size));
        is_any.resize(static_cast<std::size_t>(size));
    }
    void set(std::uint64_t address, const Content& from) {
        resize(std::max<std::uint64_t>(bytes.size(), address + from.size()));
        const auto at = static_cast<std::ptrdiff_t>(address);
        std::copy(from.begin(), from.end(), bytes.begin() + at);
        std::fill_n(is_any.begin() + at, from.size(), false);
    }
    void doubt(std::uint64_t address, std::uint64_t size) {
        for (std::uint64_t i = address; i < address + size && i < bytes.size(); ++i) {
            is_any[static_cast<std::size_t>(i)] = true;
        }
    }
    bool allows(const Content& found) const {
        if (found.size() != bytes.size()) {
            return false;
        }
        for (std::size_t i = 0; i < found.size(); ++i) {
            if (!is_any[i] && found[i] != bytes[i]) {
                return false;
            }
        }
        return true;
    }
};

struct Kind {
    FlashSimulatorOptions chip;
    FlashFormat format;
    FlashOptions options;
    std::vector<std::uint32_t> bad;  // blocks that are bad from the factory
};

// Random calls during which the chip fails for a while again and again. After an error the session goes on.
class Play {
public:
    Play(const Kind& kind, unsigned seed)
        : kind_(kind), random_(seed), rig_(kind.chip, kind.format, kind.options, kind.bad), capacity_(capacity()) {}

    /// Returns what was wrong; empty: nothing.
    std::string run(unsigned steps) {
        for (unsigned i = 0; i < steps && wrong_.empty(); ++i) {
            trouble();
            step();
            if (!rig_.simulator.powered() || !rig_.driver.mounted()) {
                mount();
            }
            if (rig_.simulator.violation() != FlashViolation::none) {
                wrong("the driver broke a rule of the chip");
            }
        }
        end_all();
        if (wrong_.empty()) {
            write_again();
        }
        return wrong_;
    }
    std::uint64_t failures() const { return rig_.device.failures(); }
    unsigned cuts() const { return cuts_; }

private:
    std::uint32_t below(std::uint64_t count) { return count == 0 ? 0 : static_cast<std::uint32_t>(random_() % count); }
    bool one_in(std::uint32_t count) { return below(count) == 0; }
    void wrong(const std::string& what) { wrong_ = wrong_.empty() ? what : wrong_; }
    std::uint64_t capacity() const { return rig_.driver.usage().capacity; }
    bool works() const { return rig_.device.is_over() && rig_.simulator.powered(); }

    void trouble() {
        static constexpr unsigned kCalls[] = {FlashOutage::kPrograms, FlashOutage::kErases, FlashOutage::kReads,
                                              kWrites, kAll};
        static constexpr FlashCut kCuts[] = {FlashCut::not_begun, FlashCut::torn, FlashCut::partly, FlashCut::unstable};
        if (one_in(12) && rig_.device.is_over()) {
            const std::uint32_t after = below(one_in(2) ? 4 : 60);
            const std::uint32_t count = 1 + below(one_in(2) ? 3 : one_in(2) ? 30 : 400);
            rig_.device.fail(kCalls[below(5)], count, after, one_in(2));
        }
        if (one_in(20)) {
            rig_.simulator.weaken(below(kind_.chip.geometry.blocks), below(kind_.chip.geometry.block_size));
        }
        if (one_in(15)) {
            rig_.simulator.cut_after(1 + below(one_in(2) ? 6 : 60), kCuts[below(4)], random_(), below(40));
        }
    }

    void step() {
        const std::uint32_t what = below(100);
        if (what < 55) {
            write();
        } else if (what < 75) {
            sync();
        } else if (what < 80) {
            truncate(below(one_in(2) ? now_.bytes.size() + 1 : capacity_ * 9 / 10));
        } else if (what < 84) {
            const std::uint32_t at = below(now_.bytes.size() + 1);
            const std::uint32_t size = below(2000);
            judge("release", rig_.driver.release(kRaw, at, size));
            now_.doubt(at, size);
        } else if (what < 88) {
            const Status status = rig_.driver.discard();
            judge("discard", status);
            if (status == Status::ok) {
                works() ? find_state() : mount();
            }
        } else if (what < 91) {
            check();
        } else if (what < 94) {
            const Status status = rig_.driver.keep_room(1 + below(5), below(3000));
            judge("keep_room", status);
            if (status == Status::ok && one_in(2)) {
                judge("keep_room for nothing", rig_.driver.keep_room(0, 0));
            }
        } else {
            mount();
        }
    }

    // An outage may make any call fail, and some calls after it; a full chip may refuse one.
    void judge(const char* call, Status status) {
        if (status != Status::ok && status != Status::io_error && status != Status::no_space) {
            wrong(std::string(call) + ": " + to_string(status));
        }
    }
    void write() {
        const std::uint32_t size = 1 + below(one_in(3) ? 1500 : one_in(2) ? 300 : 40);
        const std::uint64_t limit = capacity_ * 9 / 10;
        const bool appends = one_in(3) && now_.bytes.size() + size < limit;
        const std::uint64_t at = appends ? now_.bytes.size() : below(limit);
        const Content data = bytes_of(static_cast<unsigned>(random_()), size);
        const Status status = rig_.write(at, data);
        judge("write", status);
        if (status == Status::ok) {
            now_.set(at, data);
            return;
        }
        std::uint64_t end = now_.bytes.size();
        if (rig_.driver.mounted()) {
            judge("end_of_file", rig_.driver.end_of_file(end));
        }
        now_.resize(end);
        now_.doubt(at, size);
    }
    void sync() {
        const Status status = rig_.driver.sync();
        judge("sync", status);
        if (status == Status::ok) {
            kept_ = now_;
            perhaps_.clear();
        } else {
            perhaps_.push_back(now_);  // its commit may be complete
        }
    }
    void truncate(std::uint64_t size) {
        const Status status = rig_.driver.truncate(size);
        judge("truncate", status);
        if (status == Status::ok) {
            now_.resize(size);
        } else if (size < now_.bytes.size()) {
            now_.doubt(size, now_.bytes.size() - size);
        }
    }

    void end_all() {
        rig_.device.end();
        rig_.simulator.cut_after(0, FlashCut::torn, 0);
        cuts_ += rig_.simulator.powered() ? 0 : 1;
        if (!rig_.simulator.powered() || !rig_.driver.mounted()) {
            mount();
        }
    }
    void mount() {
        rig_.device.end();
        rig_.simulator.cut_after(0, FlashCut::torn, 0);
        cuts_ += rig_.simulator.powered() ? 0 : 1;
        rig_.simulator.power_on(random_());
        const Status status = rig_.mount();
        if (status != Status::ok) {
            wrong(std::string("mount: ") + to_string(status));
            return;
        }
        find_state();
    }
    // The file is as the last sync() left it, or one that failed since.
    void find_state() {
        Content found;
        const Status status = rig_.read(found);
        const auto allows = [&](const Model& model) { return model.allows(found); };
        if (status != Status::ok) {
            wrong(std::string("read after a mount: ") + to_string(status));
        } else if (!allows(kept_) && std::none_of(perhaps_.begin(), perhaps_.end(), allows)) {
            wrong("a mount found another state than that of a sync");
        }
        now_.bytes = std::move(found);
        now_.is_any.assign(now_.bytes.size(), false);
    }
    void check() {
        if (!works() || !rig_.driver.mounted()) {
            return;
        }
        Content found;
        const Status status = rig_.read(found);
        if (rig_.driver.mounted() && (status != Status::ok || !now_.allows(found))) {
            wrong(std::string("what was written is not what is read: ") + to_string(status));
        }
    }

    // The second try of a call must do: the first one may clean up.
    template <typename Call>
    void must(const char* what, const Call& call) {
        Status status = call();
        if (status != Status::ok) {
            status = call();
        }
        if (status != Status::ok) {
            wrong(std::string("the chip works, but ") + what + ": " + to_string(status));
        }
    }
    // The chip works again: it can be emptied, nothing is left, and half of it can be filled.
    void write_again() {
        must("sync", [&] { return rig_.driver.sync(); });
        must("keep_room", [&] { return rig_.driver.keep_room(0, 0); });
        check();
        must("truncate", [&] {
            const Status status = rig_.driver.truncate(0);
            return status == Status::no_space && rig_.driver.sync() == Status::ok ? rig_.driver.truncate(0) : status;
        });
        must("sync", [&] { return rig_.driver.sync(); });
        if (wrong_.empty() && rig_.driver.usage().live != 0) {
            wrong("an empty file has live bytes");
        }
        const Content data = bytes_of(7, 256);
        for (std::uint64_t at = 0; at + 256 < capacity_ / 2 && wrong_.empty(); at += 256) {
            Status status = rig_.write(at, data);
            for (unsigned i = 0; i < 3 && status == Status::no_space; ++i) {
                must("sync", [&] { return rig_.driver.sync(); });
                status = rig_.write(at, data);
            }
            if (status != Status::ok) {
                wrong(std::string("the chip has room, but write: ") + to_string(status));
            }
        }
        must("sync", [&] { return rig_.driver.sync(); });
    }

    const Kind kind_;
    std::minstd_rand random_;
    Rig rig_;
    const std::uint64_t capacity_;
    Model now_, kept_;
    std::vector<Model> perhaps_;
    unsigned cuts_ = 0;
    std::string wrong_;
};

Kind any_kind(unsigned seed) {
    static constexpr std::uint32_t kUnits[] = {1, 4, 8, 32, 256, 512};
    std::minstd_rand random(seed + 1);
    const auto below = [&](std::uint32_t count) { return static_cast<std::uint32_t>(random() % count); };
    Kind kind{};
    FlashGeometry& chip = kind.chip.geometry;
    chip.program_unit = kUnits[below(6)];
    chip.block_size = std::max<std::uint32_t>(512, 4 * chip.program_unit) << below(4);
    chip.page_size = std::max<std::uint32_t>(chip.program_unit, 256);
    chip.erased_value = below(4) == 0 ? 0 : 0xff;
    kind.chip.blank_is_unreadable = chip.program_unit >= 8 && below(2) == 0;
    kind.format.page_size = std::min(128U << below(5), chip.block_size);
    kind.format.reserve = static_cast<std::uint8_t>(5 + below(20));
    kind.options.changes = static_cast<std::uint16_t>(8 + below(20));
    chip.blocks = FlashDriver::fewest_blocks(chip, kind.format, kind.options) + below(below(2) == 0 ? 3 : 60);
    for (std::uint32_t count = below(3); count > 0; --count) {
        kind.bad.push_back(chip.blocks++ * (below(7) + 1) / 8);
    }
    return kind;
}

TEST(FlashOutage, TheSessionGoesOn) {
    std::uint64_t failures = 0;
    unsigned cuts = 0;
    for (unsigned seed = 1; seed <= 400; seed += static_cast<unsigned>(sweep_step())) {
        const Kind kind = any_kind(seed);
        Play play(kind, seed);
        const FlashGeometry& chip = kind.chip.geometry;
        EXPECT_EQ(play.run(300), "") << "seed " << seed << ": " << chip.blocks << " blocks of " << chip.block_size
                                     << ", unit " << chip.program_unit << ", page " << kind.format.page_size
                                     << ", reserve " << unsigned{kind.format.reserve} << ", changes "
                                     << kind.options.changes;
        failures += play.failures();
        cuts += play.cuts();
    }
    EXPECT_GT(failures, 30000U / sweep_step());
    EXPECT_GT(cuts, 1000U / sweep_step());
}

}  // namespace
