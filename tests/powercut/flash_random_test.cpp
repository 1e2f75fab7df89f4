// Random calls of the flash driver alone, on chips of random geometry, compared with a model of what was committed.
// What goes wrong on a chip is chosen at random, too: blocks that are bad from the start or become so, programs, erases
// and reads that fail, bits that read differently each time, power cuts in any operation and again in the recovery.
// H5MOTE_RANDOM_SEED chooses the first chip.
#include <h5mote/vfd/flash.hpp>

#include "flash_simulator.hpp"
#include "random_play.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <memory>

using namespace h5mote;
using namespace h5mote_test;

namespace {

struct Kind {
    FlashSimulatorOptions chip;
    FlashFormat format;
    FlashOptions mount;
    bool faulty;  // blocks, programs, erases and reads fail
    bool cuts;
};

Kind any_kind(Chance& random) {
    static constexpr std::uint32_t kUnits[] = {1, 4, 8, 32, 256, 512, 2048};
    Kind kind;
    FlashGeometry& chip = kind.chip.geometry;
    chip.program_unit = random.of(kUnits);
    const std::uint32_t least = chip.program_unit < 128 ? 512 : 4 * chip.program_unit;
    chip.block_size = least << random.below(5);
    while (chip.block_size > 32768 && chip.block_size > least) {
        chip.block_size /= 2;
    }
    chip.page_size = std::max(chip.program_unit, std::min<std::uint32_t>(256, chip.block_size));
    chip.blocks = 24 + random.below(60);
    chip.erased_value = random.one_in(4) ? 0 : 0xff;
    kind.chip.programs_per_page = chip.page_size == chip.program_unit ? 1 : 0;
    kind.chip.blank_is_unreadable = chip.program_unit >= 8 && random.one_in(2);
    kind.chip.keeps_marks = !random.one_in(8);
    do {
        kind.format.page_size = 128U << random.below(6);
    } while (kind.format.page_size > chip.block_size);
    kind.format.reserve = static_cast<std::uint8_t>(5 + random.below(random.one_in(2) ? 20 : 46));
    kind.mount.changes = static_cast<std::uint16_t>(8 + random.below(random.one_in(2) ? 8 : 60));
    kind.faulty = random.one_in(2);
    kind.cuts = !random.one_in(4);
    return kind;
}

class Play {
public:
    Play(std::uint64_t seed, Totals& totals)
        : random_(seed),
          totals_(totals),
          kind_(any_kind(random_)),
          chip_memory_(FlashSimulator::required_memory(kind_.chip.geometry) / 8 + 1),
          work_(FlashDriver::required_memory(kind_.chip.geometry, kind_.format, kind_.mount) / 8 + 1),
          chip_(kind_.chip, bytes(chip_memory_)) {
        begin();
    }

    /// Returns what was wrong; empty: nothing.
    std::string run(unsigned steps) {
        const std::uint32_t blocks = kind_.chip.geometry.blocks;
        if (kind_.faulty || random_.one_in(3)) {
            for (std::uint32_t n = random_.below(blocks / 10); n > 0; --n) {
                chip_.set_bad(random_.below(blocks));
            }
        }
        if (const Status status = driver_->format(kind_.format, kind_.mount); status != Status::ok) {
            return status == Status::no_space ? "" : std::string("format: ") + to_string(status);
        }
        capacity_ = driver_->usage().capacity;
        bad_at_first_ = driver_->usage().blocks_bad;
        ++totals_.machines;
        for (unsigned i = 0; i < steps && wrong_.empty() && !worn_out(); ++i) {
            trouble();
            step();
            after();
            if (chip_.violation() != FlashViolation::none) {
                wrong("the driver broke a rule of the chip");
            }
        }
        if (wrong_.empty()) {
            quiet();
            drain();
        }
        if (wrong_.empty() && !worn_out()) {
            spread();
        }
        return wrong_.empty() ? "" : wrong_ + describe();
    }

private:
    static Bytes bytes(std::vector<std::uint64_t>& memory) {
        return {reinterpret_cast<std::byte*>(memory.data()), memory.size() * 8};
    }
    void begin() { driver_ = std::make_unique<FlashDriver>(chip_, bytes(work_)); }
    void wrong(const std::string& what) { wrong_ = wrong_.empty() ? what : wrong_; }
    std::string describe() const {
        const FlashGeometry& chip = kind_.chip.geometry;
        const FlashUsage usage = driver_->usage();
        char text[300];
        std::snprintf(
            text, sizeof text,
            " [%u blocks of %u, unit %u, page %u, reserve %u, changes %u, bad %u, free %u, live %llu of %llu]",
            chip.blocks, chip.block_size, chip.program_unit, kind_.format.page_size, kind_.format.reserve,
            kind_.mount.changes, usage.blocks_bad, usage.blocks_free, static_cast<unsigned long long>(usage.live),
            static_cast<unsigned long long>(usage.capacity));
        return text;
    }
    /// Whether so many blocks became bad that the chip may lack the room that it was formatted for.
    bool worn_out() const { return driver_->mounted() && driver_->usage().blocks_bad > bad_at_first_ + 2; }

    void trouble() {
        const std::uint32_t blocks = kind_.chip.geometry.blocks;
        if (kind_.cuts && random_.one_in(15)) {
            static constexpr FlashCut kCuts[] = {FlashCut::not_begun, FlashCut::torn, FlashCut::partly,
                                                 FlashCut::unstable};
            chip_.cut_after(1 + random_.below(random_.one_in(2) ? 6 : 60), random_.of(kCuts), random_.next(),
                            random_.below(40));
        }
        if (kind_.faulty && random_.one_in(60)) {
            chip_.fail_operation(1 + random_.below(30));
            troubled_ = true;
        }
        if (kind_.faulty && random_.one_in(300)) {
            chip_.fail_block(random_.below(blocks), 1 + random_.below(10));
            troubled_ = true;
        }
        if (kind_.faulty && random_.one_in(25)) {
            chip_.fail_read(1 + random_.below(random_.one_in(2) ? 30 : 600));
            unanswered_ = true;
        }
        if (random_.one_in(40)) {
            chip_.weaken(random_.below(blocks), random_.below(kind_.chip.geometry.block_size));
        }
    }
    void quiet() {
        chip_.cut_after(0, FlashCut::torn, 0);
        chip_.fail_operation(0);
        chip_.fail_read(0);
        unanswered_ = false;
        if (!chip_.powered()) {
            after();
        }
    }

    void step() {
        const std::uint32_t what = random_.below(100);
        if (what < 45) {
            write_any();
        } else if (what < 60) {
            kept();
        } else if (what < 80) {
            sync();
        } else if (what < 84 && !now_.empty()) {
            const std::uint32_t at = random_.below(now_.size());
            give(at, random_.below(random_.one_in(2) ? 2000 : now_.size()));
        } else if (what < 86 && !now_.empty()) {
            cut(random_.below(now_.size()));
        } else if (what < 88) {
            fill();
        } else if (what < 90) {
            check_now();
        } else if (what < 96) {
            mount();  // a session that ends without a sync
        } else {
            killed_sessions();
        }
    }

    // If the power failed, switches it on again; it may soon fail once more.
    void after() {
        while (!chip_.powered() && wrong_.empty()) {
            ++totals_.cuts;
            chip_.power_on(random_.next());
            mount();
            if (kind_.cuts && random_.one_in(3)) {
                chip_.cut_after(1 + random_.below(4), FlashCut::unstable, random_.next(), random_.below(40));
                write_any();
                sync();
            }
        }
    }
    /// Whether the test itself caused this error, by a power cut or a read that fails.
    bool excused(Status status) {
        if (!chip_.powered()) {
            return true;
        }
        if (status == Status::io_error && unanswered_) {
            unanswered_ = false;
            chip_.fail_read(0);
            return true;
        }
        return false;
    }

    Status write(Usage usage, std::uint64_t address, std::uint32_t size) {
        std::vector<unsigned char> data(size);
        for (unsigned char& each : data) {
            each = static_cast<unsigned char>(random_.next());
        }
        const Status status = driver_->write(usage, address, {reinterpret_cast<std::byte*>(data.data()), size});
        ++totals_.calls;
        if (status == Status::ok) {
            now_.resize(std::max<std::size_t>(now_.size(), static_cast<std::size_t>(address) + size));
            std::copy(data.begin(), data.end(), now_.begin() + static_cast<std::ptrdiff_t>(address));
        } else if (status != Status::no_space) {
            excused(status) ? mount() : wrong(std::string("write: ") + to_string(status));
        }
        return status;
    }
    std::uint64_t place_for(std::uint32_t size) {
        const std::uint64_t limit = capacity_ * 9 / 10;
        if (random_.one_in(3) && now_.size() + size < limit) {
            return now_.size();
        }
        return random_.below(
            static_cast<std::uint32_t>(random_.one_in(2) ? std::min<std::uint64_t>(limit, 600) : limit));
    }
    void write_any() {
        static constexpr std::uint32_t kSizes[] = {1, 4, 24, 64, 64, 300, 1024, 3000};
        const std::uint32_t size = 1 + random_.below(random_.of(kSizes));
        if (write(random_.one_in(2) ? Usage::raw_data : Usage::btree, place_for(size), size) == Status::no_space) {
            ++totals_.refused;
            sync();
        }
    }

    // Uses keep_room() as the library does when chunks enter its cache: room is reserved for one range after the other.
    // Then all of them must fit when they are written, and so must changes of the index that points to them.
    void kept() {
        std::vector<std::uint32_t> sizes;
        std::uint64_t total = 0;
        for (std::uint32_t n = random_.below(30); n > 0; --n) {
            const std::uint32_t size = 8 + random_.below(500);
            const Status status = driver_->keep_room(static_cast<std::uint32_t>(sizes.size()) + 1, total + size);
            if (status != Status::ok) {
                if (status != Status::no_space && !excused(status)) {
                    wrong(std::string("keep_room: ") + to_string(status));
                }
                if (status != Status::no_space) {
                    mount();
                    return;
                }
                break;
            }
            sizes.push_back(size);
            total += size;
        }
        const std::uint64_t mounts = mounts_;
        const bool appends = random_.one_in(3);
        for (std::uint32_t left = static_cast<std::uint32_t>(sizes.size()); left > 0; --left) {
            const std::uint32_t size = sizes[left - 1];
            total -= size;
            const std::uint64_t at = appends && now_.size() + size < capacity_ ? now_.size() : place_for(size);
            if (driver_->keep_room(left - 1, total) != Status::ok && !excused(Status::io_error)) {
                wrong("keep_room for less");
            }
            must_fit(write(random_.one_in(3) ? Usage::btree : Usage::raw_data, at, size), "what room was kept for");
            if (mounts != mounts_ || !wrong_.empty()) {
                return;
            }
            if (random_.one_in(2)) {
                // The change lies within one page, as an index keeps what changes at once within one sector.
                const std::uint32_t page = kind_.format.page_size;
                const std::uint32_t change = 1 + random_.below(std::min(page, 192U));
                const std::uint64_t place = place_for(change) / page * page;
                // Only pages that were written before are changed, since an index has its pages already: a new page may
                // not fit on a full chip.
                if (place + page <= now_.size() && std::any_of(now_.begin() + static_cast<std::ptrdiff_t>(place),
                                                               now_.begin() + static_cast<std::ptrdiff_t>(place + page),
                                                               [](unsigned char each) { return each != 0; })) {
                    must_fit(write(Usage::btree, place + random_.below(page - change + 1), change),
                             "what points to that");
                }
            }
            if (mounts != mounts_ || !wrong_.empty()) {
                return;
            }
        }
        totals_.kept += sizes.size();
        sync();
    }
    void must_fit(Status status, const char* what) {
        // Blocks that became bad since keep_room() may have taken the room.
        if (status == Status::no_space && !troubled_) {
            wrong(std::string(what) + " does not fit");
        }
    }

    void sync() {
        const bool was_troubled = troubled_;
        for (unsigned tries = 0; tries < 4; ++tries) {
            const Status status = driver_->sync();
            ++totals_.calls;
            if (status == Status::ok) {
                kept_ = now_;
                perhaps_.clear();
                troubled_ = was_troubled && kind_.faulty && random_.one_in(2) ? troubled_ : false;
                return;
            }
            perhaps_.push_back(now_);  // although sync() failed, its commit may be complete
            if (!chip_.powered()) {
                return;
            }
            if (!excused(status)) {
                wrong(std::string("sync: ") + to_string(status));
                return;
            }
        }
        wrong("sync fails again and again");
    }

    void give(std::uint32_t address, std::uint32_t size) {
        const Status status = driver_->release(Usage::raw_data, address, size);
        if (status == Status::ok) {
            const std::size_t page = kind_.format.page_size;
            const std::size_t end = std::min<std::size_t>(now_.size(), std::size_t{address} + size) / page * page;
            for (std::size_t i = (address + page - 1) / page * page; i < end; ++i) {
                now_[i] = 0;
            }
        } else {
            excused(status) ? mount() : wrong(std::string("release: ") + to_string(status));
        }
    }
    void cut(std::uint32_t size) {
        const Status status = driver_->truncate(size);
        if (status == Status::ok) {
            now_.resize(size);
        } else {
            excused(status) ? mount() : wrong(std::string("truncate: ") + to_string(status));
        }
    }

    // Fills the chip: data on a full chip can still be changed, released and cut off.
    void fill() {
        const std::uint64_t mounts = mounts_;
        for (unsigned refused = 0; refused < 3 && mounts == mounts_ && wrong_.empty();) {
            const std::uint32_t size = 1 + random_.below(400);
            const std::uint64_t at = now_.size() + size < capacity_
                                         ? now_.size()
                                         : random_.below(static_cast<std::uint32_t>(capacity_) - size);
            const Status status = write(Usage::raw_data, at, size);
            if (status == Status::no_space || random_.one_in(40)) {
                refused += status == Status::no_space || now_.size() + 400 >= capacity_ ? 1 : 0;
                sync();
            }
        }
        if (mounts != mounts_ || !wrong_.empty()) {
            return;
        }
        if (random_.one_in(2)) {
            mount();
        }
        change_something("a full chip takes no change");
        if (random_.one_in(2) && !now_.empty()) {
            give(0, static_cast<std::uint32_t>(now_.size() / 4));
            sync();
            change_something("a chip of which a quarter was released takes no change");
        }
        if (random_.one_in(3) && !now_.empty()) {
            cut(random_.below(now_.size() / 4 + 1));
            sync();
        }
    }
    void change_something(const char* what) {
        if (now_.size() < 40 || !wrong_.empty()) {
            return;
        }
        for (unsigned tries = 0; tries < 3; ++tries) {
            const std::uint64_t mounts = mounts_;
            const Status status = write(Usage::btree, random_.below(now_.size() - 20), 20);
            if (mounts == mounts_) {
                sync();
            }
            if (status != Status::no_space || mounts != mounts_ || !chip_.powered()) {
                return;
            }
        }
        if (!worn_out() && !troubled_) {
            wrong(what);
        }
    }
    // At the end of the run: whatever happened, the chip can be emptied and filled anew.
    void drain() {
        if (!driver_->mounted() || worn_out()) {
            return;
        }
        sync();
        cut(0);
        sync();
        troubled_ = false;
        for (std::uint64_t at = 0; at + 256 < capacity_ / 2 && wrong_.empty(); at += 256) {
            Status status = write(Usage::raw_data, at, 256);
            for (unsigned tries = 0; tries < 3 && status == Status::no_space; ++tries) {
                sync();
                status = write(Usage::raw_data, at, 256);
            }
            if (status == Status::no_space && !worn_out()) {
                wrong("a chip that was emptied has no room for half of what fits");
            }
        }
        sync();
        check_now();
    }

    void killed_sessions() {
        for (std::uint32_t n = random_.below(12); n > 0 && wrong_.empty() && chip_.powered(); --n) {
            for (std::uint32_t writes = 1 + random_.below(4); writes > 0 && chip_.powered(); --writes) {
                write_any();
            }
            if (chip_.powered()) {
                mount();
            }
        }
    }

    void mount() {
        ++mounts_;
        if (!chip_.powered()) {
            return;
        }
        begin();
        ++totals_.calls;
        const std::uint64_t before = chip_.operations();
        Status status = driver_->mount(kind_.mount);
        if (status != Status::ok && excused(status)) {
            status = driver_->mount(kind_.mount);
        }
        if (status != Status::ok) {
            wrong(std::string("mount: ") + to_string(status));
            return;
        }
        if (chip_.operations() != before) {
            wrong("a mount wrote");
        }
        now_ = content();
        if (now_ != kept_ && std::find(perhaps_.begin(), perhaps_.end(), now_) == perhaps_.end()) {
            wrong("a mount found another state than the last commit");
        }
    }
    std::vector<unsigned char> content() {
        std::uint64_t size = 0;
        std::vector<unsigned char> all;
        if (driver_->end_of_file(size) != Status::ok || size > (std::uint64_t{1} << 24)) {
            wrong("end_of_file");
            return all;
        }
        all.resize(static_cast<std::size_t>(size));
        const Bytes to(reinterpret_cast<std::byte*>(all.data()), all.size());
        Status status = driver_->read(Usage::raw_data, 0, to);
        if (status != Status::ok && chip_.powered() && excused(status)) {
            status = driver_->read(Usage::raw_data, 0, to);
        }
        if (status != Status::ok) {
            wrong(std::string("read: ") + to_string(status));
        }
        return all;
    }
    void check_now() {
        if (chip_.powered() && content() != now_) {
            wrong("what was written is not what is read");
        }
    }

    // Checks that wear is even: no block, such as the one at which killed sessions end, was erased far more often than
    // the mean.
    void spread() {
        const FlashGeometry& chip = kind_.chip.geometry;
        std::uint64_t sum = 0;
        std::uint32_t most = 0;
        std::uint32_t good = 0;
        for (std::uint32_t block = 0; block < chip.blocks; ++block) {
            bool bad = false;
            if (chip_.is_bad(block, bad) == Status::ok && !bad) {
                sum += chip_.erases(block);
                most = std::max(most, chip_.erases(block));
                ++good;
            }
        }
        if (!kind_.faulty && most > 3 * (sum / good) + 12) {
            wrong("one block was erased " + std::to_string(most) + " times, the mean is " + std::to_string(sum / good));
        }
    }

    Chance random_;
    Totals& totals_;
    const Kind kind_;
    std::vector<std::uint64_t> chip_memory_, work_;
    FlashSimulator chip_;
    std::unique_ptr<FlashDriver> driver_;
    std::vector<unsigned char> now_, kept_;
    std::vector<std::vector<unsigned char>> perhaps_;
    std::uint64_t capacity_ = 0;
    std::uint64_t mounts_ = 0;
    std::uint32_t bad_at_first_ = 0;
    bool troubled_ = false;    // programs, erases or blocks were made to fail since the last sync
    bool unanswered_ = false;  // a read was made to fail, and its error was not seen yet
    std::string wrong_;
};

}  // namespace

TEST(PowerCut, RandomFlash) {
    play_at_random(
        "flash", [](std::uint64_t seed, Totals& totals) { return Play(seed, totals).run(400); }, 250, 3000);
}
