// Power cuts of the flash driver alone, without HDF5 on it. Each transaction writes a part of the pages anew, so many
// that the blocks that were freed last are soon used again. Every operation is cut, and another transaction follows: it
// must fit, whatever the cut left.
#include "flash_cuts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace h5mote;
using namespace h5mote_test;

namespace {

constexpr Usage kRaw = Usage::raw_data;

// What the driver knows of a transaction when it begins.
enum class Room : std::uint8_t {
    retried,   // nothing: if it is refused, it is tried once more
    kept,      // its size: keep_room() says so
    recovered  // nothing: transactions follow until one is refused; those that were not must fit after a cut, too
};

struct Plan {
    std::uint32_t kept;        // pages that are written once
    std::uint32_t changed;     // pages that each transaction writes anew
    bool uncommitted = false;  // only commits are cut; then a session writes as much as fits, and is killed
    // Of so many cuts that left an unstable commit, the recovery is cut, and its recovery; or, with Room::recovered,
    // the recovery of so many cuts near the end of the last transaction that fits.
    unsigned deep = 0;
    Room room = Room::retried;
    std::uint32_t free_blocks = ~0U;  // most that are free when the sweep begins
};

class PagesSweep {
public:
    PagesSweep(Tally& tally, const FlashCutOptions& options, const Plan& plan)
        : tally_(tally),
          page_(options.format.page_size),
          plan_(plan),
          base_(options),
          trial_(options),
          before_(options),
          again_(options),
          trial_again_(options),
          third_(options),
          trial_third_(options) {}

    /// False when so much data does not fit on the chip, or a call fails.
    bool run() {
        if (base_.format() != Status::ok || !fill()) {
            return false;
        }
        before_.chip.copy_from(base_.chip);
        base_.recorder.operations.clear();
        acknowledged_ = {{0, 0}};
        // Until the log has gone round three times, or once with transactions that take all room.
        const std::size_t times = plan_.room == Room::retried ? 3 : 1;
        std::size_t erases = 0;
        for (std::uint32_t round = 1; erases < times * base_.chip.geometry().blocks; ++round) {
            const Status status = transaction(base_, round);
            if (status == Status::no_space && plan_.room == Room::recovered && round > 1) {
                break;
            }
            if (status != Status::ok) {
                return false;
            }
            fitted_ = round;
            acknowledged_.push_back({base_.recorder.operations.size(), round});
            erases = static_cast<std::size_t>(
                std::count_if(base_.recorder.operations.begin(), base_.recorder.operations.end(),
                              [](const FlashOperation& operation) { return operation.erase; }));
        }
        if (!base_.violation().empty()) {
            tally_.lost(base_.violation());
        }
        const std::vector<FlashOperation> operations = base_.recorder.operations;
        std::size_t last_commit = acknowledged_[acknowledged_.size() - 2].operations;
        while (!is_commit(operations[last_commit])) {
            ++last_commit;
        }
        base_.chip.copy_from(before_.chip);
        cut_operations(
            base_, trial_, operations, [this] { return tally_.enough(); },
            [&](std::size_t done, FlashCut how, const char* what, std::size_t number) {
                const bool commits = is_commit(operations[done]);
                if (commits || !plan_.uncommitted) {
                    const bool late = done < last_commit && done + 6 > last_commit;
                    check(done, how, what, number,
                          plan_.room == Room::recovered ? late : commits && how == FlashCut::unstable);
                }
            });
        return true;
    }

private:
    using Rounds = std::set<std::uint32_t>;
    // A round of changes that a sync had acknowledged after so many operations.
    struct Acknowledged {
        std::size_t operations;
        std::uint32_t round;
    };

    static bool is_commit(const FlashOperation& operation) {
        return !operation.erase && (operation.bytes[0] & std::byte{7}) == std::byte{6};
    }

    static std::byte value(std::uint32_t page, std::uint32_t round) {
        return static_cast<std::byte>(page * 7 + round * 31 + 1);
    }

    Status write(FlashMachine& machine, std::uint32_t round, std::uint32_t first, std::uint32_t count) {
        std::vector<std::byte> bytes(page_);
        for (std::uint32_t page = first; page < first + count; ++page) {
            std::fill(bytes.begin(), bytes.end(), value(page, round));
            H5MOTE_TRY(machine.driver().write(kRaw, std::uint64_t{page} * page_, {bytes.data(), bytes.size()}));
        }
        return Status::ok;
    }

    bool fill() {
        for (std::uint32_t page = 0; page < plan_.kept + plan_.changed; ++page) {
            if (write(base_, 0, page, 1) != Status::ok || base_.driver().sync() != Status::ok) {
                return false;
            }
        }
        while (base_.usage().blocks_free > plan_.free_blocks) {
            if (write(base_, 0, 0, 1) != Status::ok || base_.driver().sync() != Status::ok) {
                return false;
            }
        }
        return true;
    }

    // A transaction of which the driver did not know how large it would be may be refused once. The next one finds all
    // the room that there is.
    Status transaction(FlashMachine& machine, std::uint32_t round) {
        if (plan_.room == Room::kept) {
            H5MOTE_TRY(machine.driver().keep_room(1, std::uint64_t{plan_.changed} * page_));
            H5MOTE_TRY(machine.driver().keep_room(0, 0));
        }
        Status status = write(machine, round, plan_.kept, plan_.changed);
        const bool again =
            plan_.room == Room::retried || (plan_.room == Room::recovered && &machine != &base_ && round > fitted_);
        if (status == Status::no_space && again) {
            H5MOTE_TRY(machine.driver().discard());
            status = write(machine, round, plan_.kept, plan_.changed);
        }
        H5MOTE_TRY(status);
        return machine.driver().sync();
    }

    // Mounts, and finds the round that wrote the changed pages, one of `rounds`: it must be the same for all of them.
    std::string look(FlashMachine& machine, std::uint64_t seed, const Rounds& rounds, std::uint32_t& round) {
        if (const Status status = machine.mount(seed); status != Status::ok) {
            return std::string("mount: ") + to_string(status);
        }
        std::vector<std::byte> bytes(page_);
        for (std::uint32_t page = 0; page < plan_.kept + plan_.changed; ++page) {
            if (machine.driver().read(kRaw, std::uint64_t{page} * page_, {bytes.data(), bytes.size()}) != Status::ok) {
                return "page " + std::to_string(page) + " cannot be read";
            }
            if (page == plan_.kept) {
                const auto found = std::find_if(rounds.begin(), rounds.end(),
                                                [&](std::uint32_t each) { return bytes[0] == value(page, each); });
                round = found == rounds.end() ? *rounds.begin() : *found;
            }
            const std::byte wanted = value(page, page < plan_.kept ? 0 : round);
            if (static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), wanted)) != bytes.size()) {
                return "page " + std::to_string(page) + " is not of round " + std::to_string(round);
            }
        }
        return "";
    }

    void check(std::size_t done, FlashCut how, const char* what, std::size_t number, bool deep) {
        while (last_ + 1 < acknowledged_.size() && acknowledged_[last_ + 1].operations <= done) {
            ++last_;
        }
        const Rounds rounds{acknowledged_[last_].round,
                            acknowledged_[std::min(last_ + 1, acknowledged_.size() - 1)].round};
        const std::uint64_t hash = hash_of(trial_, plan_.changed, done, how, number);
        if (!tally_.is_new(hash)) {
            return;
        }
        tally_.cut(true);
        deep = deep && deep_ < plan_.deep;
        if (deep) {
            ++deep_;
            again_.chip.copy_from(trial_.chip);
        }
        std::uint32_t found = 0;
        std::string bad = look(trial_, hash, rounds, found);
        if (bad.empty()) {
            // A second mount may find the other of the two rounds; only after a sync must all mounts find the same.
            bad = look(trial_, hash + 1, rounds, found);
        }
        if (bad.empty() && plan_.uncommitted) {
            bad = use_all_room(hash, how == FlashCut::unstable ? 12 : 1, rounds, found);
        }
        if (bad.empty()) {
            bad = go_on(trial_, hash + 2, found + 1);
        }
        if (!bad.empty()) {
            lost(done, what, number, bad);
        } else if (deep && plan_.room == Room::recovered) {
            cut_recovery(hash, {found}, again_, trial_again_, [&](std::uint64_t seed, const Rounds& left) {
                std::uint32_t round = 0;
                std::string again = look(trial_again_, seed, left, round);
                again = again.empty() ? go_on(trial_again_, seed + 1, round + 1) : again;
                if (!again.empty()) {
                    lost(done, what, number, "cut once more: " + again);
                }
            });
        } else if (deep) {
            cut_recovery(hash, rounds, again_, trial_again_, [&](std::uint64_t seed, const Rounds& left) {
                third_.chip.copy_from(trial_again_.chip);
                cut_recovery(seed, left, third_, trial_third_, [&](std::uint64_t last, const Rounds& allowed) {
                    std::uint32_t round = 0;
                    for (unsigned n = 0; n < 8 && bad.empty(); ++n) {
                        bad = look(trial_third_, last + n, allowed, round);
                    }
                    bad = bad.empty() ? go_on(trial_third_, last + 8, *allowed.rbegin() + 1) : bad;
                    if (!bad.empty()) {
                        lost(done, what, number, "cut twice more: " + bad);
                    }
                    bad.clear();
                });
            });
        }
    }

    // A session writes as much as fits, and is killed. It begins with the newer of the rounds, if that is found within
    // so many mounts, and what it found may not be found by the mounts after it. Another one commits, then does the
    // same.
    std::string use_all_room(std::uint64_t seed, unsigned mounts, const Rounds& rounds, std::uint32_t& found) {
        std::string bad;
        for (unsigned n = 2; n < mounts && bad.empty() && found != *rounds.rbegin(); ++n) {
            bad = look(trial_, seed + n, rounds, found);
        }
        fill_up();
        for (unsigned n = 0; n < mounts && bad.empty(); ++n) {
            bad = look(trial_, seed + 20 + n, rounds, found);
        }
        if (bad.empty()) {
            bad = go_on(trial_, seed + 40, ++found);
        }
        if (bad.empty() && transaction(trial_, ++found) == Status::ok) {
            fill_up();
            bad = look(trial_, seed + 41, {found}, found);
        }
        return bad;
    }

    void fill_up() {
        for (unsigned n = 0; n < 20 && write(trial_, 7, plan_.kept, plan_.changed) == Status::ok; ++n) {
        }
    }

    // Does another transaction, and looks for it.
    std::string go_on(FlashMachine& machine, std::uint64_t seed, std::uint32_t round) {
        machine.recorder.operations.clear();
        const Status status = transaction(machine, round);
        if (status == Status::no_space && expects_losses() && plan_.room == Room::retried) {
            return "";
        }
        const std::string bad = status == Status::ok ? look(machine, seed, {round}, round)
                                                     : std::string("next transaction: ") + to_string(status);
        return bad + machine.violation();
    }

    // Makes every cut within the recovery of `from`, a mount and a transaction, and calls `then` for what it left on
    // `trial`, with the rounds that may be found there.
    template <typename Then>
    void cut_recovery(std::uint64_t seed, const Rounds& rounds, FlashMachine& from, FlashMachine& trial, Then&& then) {
        trial.chip.copy_from(from.chip);
        trial.recorder.operations.clear();
        const std::uint32_t next = *rounds.rbegin() + 1;
        if (trial.mount(seed) != Status::ok || transaction(trial, next) != Status::ok) {
            lost(0, "recovery", 0, "fails");
            return;
        }
        const std::vector<FlashOperation> operations = trial.recorder.operations;
        Rounds allowed = rounds;
        allowed.insert(next);
        from.chip.power_on(seed);
        cut_operations(
            from, trial, operations, [this] { return tally_.enough(); },
            [&](std::size_t done, FlashCut how, const char*, std::size_t number) {
                const std::uint64_t hash = hash_of(trial, seed, done, how, number);
                if (tally_.is_new(hash)) {
                    tally_.cut(false);
                    then(hash, allowed);
                }
            });
    }

    void lost(std::size_t done, const char* what, std::size_t number, const std::string& bad) {
        tally_.lost(std::to_string(plan_.changed) + " pages, cut in operation " + std::to_string(done) + ", " + what +
                    " " + std::to_string(number) + ": " + bad);
    }

    Tally& tally_;
    std::uint32_t page_;
    Plan plan_;
    std::vector<Acknowledged> acknowledged_;
    std::uint32_t fitted_ = 0;  // the last round that was not refused
    std::size_t last_ = 0;      // the entry of acknowledged_ that was the last before the cut
    unsigned deep_ = 0;
    FlashMachine base_, trial_, before_, again_, trial_again_, third_, trial_third_;
};

// The smallest chip of such blocks that works.
FlashCutOptions smallest(std::uint32_t block_size, std::uint32_t page, std::uint32_t unit, const FlashFormat& format) {
    FlashCutOptions options;
    options.changes = 8;
    options.format = format;
    options.geometry = {0, block_size, page, unit, 0xff};
    options.geometry.blocks = FlashDriver::fewest_blocks(options.geometry, format, {options.changes, false});
    options.blank_is_unreadable = unit >= 8;
    options.programs_per_page = page == unit ? 1 : 0;
    return options;
}

std::uint32_t pages_of(const FlashCutOptions& options) {
    FlashMachine machine(options);
    EXPECT_EQ(machine.format(), Status::ok);
    return static_cast<std::uint32_t>(machine.usage().capacity / options.format.page_size);
}

// Sweeps a full chip that is as small as possible, and checks that one block fewer is refused.
void sweep_smallest(Tally& tally, const FlashCutOptions& options) {
    const std::uint32_t pages = pages_of(options);
    for (const std::uint32_t changed : {1U, (pages + 1) / 2}) {
        if (!tally.enough()) {
            EXPECT_TRUE(PagesSweep(tally, options, {pages - changed, changed}).run())
                << options.geometry.blocks << " blocks, " << changed << " of " << pages << " pages";
        }
    }
    FlashCutOptions less = options;
    --less.geometry.blocks;
    FlashMachine machine(less);
    EXPECT_EQ(machine.format(), Status::no_space);
    EXPECT_EQ(machine.usage().programs + machine.usage().erased_blocks, 0U);
}

// Sweeps transactions on a chip that holds `live` pages: of as many pages as FlashUsage::transaction says or, where the
// driver is not told, an eighth less.
void sweep_transactions(Tally& tally, const FlashCutOptions& options, Room room, std::uint32_t live) {
    FlashMachine machine(options);
    ASSERT_EQ(machine.format(), Status::ok);
    const std::uint32_t page_size = options.format.page_size;
    const auto pages = static_cast<std::uint32_t>(machine.usage().capacity / page_size);
    const std::vector<std::byte> bytes(page_size, std::byte{1});
    for (std::uint32_t page = 0; page < live; ++page) {
        ASSERT_EQ(machine.driver().write(kRaw, std::uint64_t{page} * page_size, {bytes.data(), page_size}), Status::ok);
        ASSERT_EQ(machine.driver().sync(), Status::ok);
    }
    const auto most = static_cast<std::uint32_t>(machine.usage().transaction / page_size);
    EXPECT_GE(most + 8, (pages - live) * 7 / 8);
    const std::uint32_t changed = std::min(room == Room::kept ? most : most * 7 / 8, live);
    std::printf("%u of %u pages: transactions of %u pages\n", live, pages, changed);
    Plan plan{live - changed, changed, false, 0, room};
    if (room == Room::recovered) {
        plan.deep = 4;
        plan.free_blocks = changed * page_size / options.geometry.block_size * 5 / 4 + 30;
    }
    EXPECT_TRUE(PagesSweep(tally, options, plan).run()) << live;
}

FlashCutOptions large() {
    FlashCutOptions options;
    options.geometry = {112, 1024, 256, 4, 0xff};
    options.format = {256, 25};
    options.changes = 64;
    return options;
}

}  // namespace

TEST(PowerCut, SmallestNor) {
    Tally tally("flash-smallest-nor");
    sweep_smallest(tally, smallest(1024, 256, 1, {128, 12}));
    sweep_smallest(tally, smallest(1024, 256, 4, {256, 25}));
    sweep_smallest(tally, smallest(4096, 256, 1, {512, 12}));
    tally.report(46000);
}

TEST(PowerCut, SmallestNand) {
    Tally tally("flash-smallest-nand");
    sweep_smallest(tally, smallest(8192, 2048, 2048, {512, 12}));
    sweep_smallest(tally, smallest(16384, 2048, 2048, {2048, 25}));
    sweep_smallest(tally, smallest(4096, 256, 256, {512, 12}));
    tally.report(17400);
}

// Of the sessions after a cut, the first uses all the room and commits nothing. What it found may not be found again.
// The next one commits, and then uses all the room.
TEST(PowerCut, Uncommitted) {
    FlashCutOptions options;
    options.geometry = {112, 1024, 256, 4, 0xff};
    options.format = {256, 12};
    options.changes = 8;
    Tally tally("flash-uncommitted");
    EXPECT_TRUE(PagesSweep(tally, options, {8, 60, true}).run());
    tally.report(3000);
}

// A commit that reads differently each time, and a recovery that is cut twice.
TEST(PowerCut, Thrice) {
    const FlashCutOptions options = smallest(1024, 256, 4, {256, 12});
    const std::uint32_t pages = pages_of(options);
    Tally tally("flash-thrice");
    EXPECT_TRUE(PagesSweep(tally, options, {pages - pages / 2, pages / 2, false, 4}).run());
    tally.report(22500);
}

TEST(PowerCut, LargeTransactions) {
    const FlashCutOptions options = large();
    Tally tally("flash-pages");
    for (const std::uint32_t changed : {50U, 40U}) {
        if (!tally.enough()) {
            EXPECT_TRUE(PagesSweep(tally, options, {80, changed}).run()) << changed;
        }
    }
    tally.report(86000);
}

TEST(PowerCut, KeptRoom) {
    Tally tally("flash-kept-room");
    const std::uint32_t pages = pages_of(large());
    sweep_transactions(tally, large(), Room::kept, pages / 2);
    sweep_transactions(tally, large(), Room::kept, pages - 8);
    sweep_transactions(tally, smallest(4096, 256, 1, {512, 12}), Room::kept, 2);
    tally.report(35000);
}

TEST(PowerCut, RecoveredRoom) {
    Tally tally("flash-recovered-room");
    FlashCutOptions options = large();
    options.format.reserve = 6;
    const std::uint32_t pages = pages_of(options);
    for (const std::uint32_t live : {pages / 2, pages * 5 / 8}) {
        if (!tally.enough()) {
            sweep_transactions(tally, options, Room::recovered, live);
        }
    }
    tally.report(20000);
}
