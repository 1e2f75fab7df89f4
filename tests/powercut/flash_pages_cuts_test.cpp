// Power cuts of the flash driver alone, without HDF5 on it. Each transaction writes a part of the pages anew, so many
// that the blocks that were freed last are soon used again. Every operation is cut, and another transaction follows.
#include "flash_cuts.hpp"

#include <gtest/gtest.h>

#include <algorithm>

using namespace h5mote;
using namespace h5mote_test;

namespace {

constexpr Usage kRaw = Usage::raw_data;

class PagesSweep {
public:
    PagesSweep(Tally& tally, const FlashCutOptions& options, std::uint32_t kept, std::uint32_t changed)
        : tally_(tally),
          page_(options.format.page_size),
          kept_(kept),
          changed_(changed),
          base_(options),
          trial_(options),
          before_(options) {}

    /// False when so much data does not fit on the chip, or a call fails.
    bool run() {
        if (base_.format() != Status::ok || !fill()) {
            return false;
        }
        before_.chip.copy_from(base_.chip);
        base_.recorder.operations.clear();
        const std::uint32_t blocks = base_.chip.geometry().blocks;
        const std::uint32_t rounds = 3 * blocks / (changed_ * page_ / base_.chip.geometry().block_size + 1) + 2;
        acknowledged_ = {{0, 0}};
        for (std::uint32_t round = 1; round < rounds; ++round) {
            const Status status = transaction(base_, round);
            if (status == Status::ok) {
                acknowledged_.push_back({base_.recorder.operations.size(), round});
            } else if (status != Status::no_space || base_.mount(round) != Status::ok ||
                       base_.driver().sync() != Status::ok) {
                // A transaction that does not fit is no failure: mounting again gives it up and frees its room.
                return false;
            }
        }
        if (!base_.violation().empty()) {
            tally_.lost(base_.violation());
        }
        const std::vector<FlashOperation> operations = base_.recorder.operations;
        base_.chip.copy_from(before_.chip);
        cut_operations(
            base_, trial_, operations, [this] { return tally_.enough(); },
            [&](std::size_t done, FlashCut how, const char* what, std::size_t number) {
                check(trial_, done, how, what, number);
            });
        return true;
    }

private:
    // A round of changes that a sync had acknowledged after so many operations.
    struct Acknowledged {
        std::size_t operations;
        std::uint32_t round;
    };

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
        for (std::uint32_t page = 0; page < kept_ + changed_; ++page) {
            if (write(base_, 0, page, 1) != Status::ok || base_.driver().sync() != Status::ok) {
                return false;
            }
        }
        return true;
    }

    Status transaction(FlashMachine& machine, std::uint32_t round) {
        H5MOTE_TRY(write(machine, round, kept_, changed_));
        return machine.driver().sync();
    }

    // Finds the `round` that wrote the changed pages, `least` or `most`: it must be the same for all of them.
    std::string look(FlashMachine& machine, std::uint64_t seed, std::uint32_t least, std::uint32_t most,
                     std::uint32_t& round) {
        if (const Status status = machine.mount(seed); status != Status::ok) {
            return std::string("mount: ") + to_string(status);
        }
        std::vector<std::byte> bytes(page_);
        for (std::uint32_t page = 0; page < kept_ + changed_; ++page) {
            if (machine.driver().read(kRaw, std::uint64_t{page} * page_, {bytes.data(), bytes.size()}) != Status::ok) {
                return "page " + std::to_string(page) + " cannot be read";
            }
            if (page == kept_) {
                round = bytes[0] == value(page, least) ? least : most;
            }
            const std::byte wanted = value(page, page < kept_ ? 0 : round);
            if (static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), wanted)) != bytes.size()) {
                return "page " + std::to_string(page) + " is not of round " + std::to_string(round);
            }
        }
        return "";
    }

    void check(FlashMachine& machine, std::size_t done, FlashCut how, const char* what, std::size_t number) {
        while (last_ + 1 < acknowledged_.size() && acknowledged_[last_ + 1].operations <= done) {
            ++last_;
        }
        const std::uint32_t least = acknowledged_[last_].round;
        const std::uint32_t most = acknowledged_[std::min(last_ + 1, acknowledged_.size() - 1)].round;
        const std::uint64_t hash = hash_of(machine, changed_, done, how, number);
        if (!tally_.is_new(hash)) {
            return;
        }
        tally_.cut(true);
        std::uint32_t found = 0;
        std::string bad = look(machine, hash, least, most, found);
        if (bad.empty()) {
            // A second mount may find the other of the two rounds; only after a sync must all mounts find the same.
            bad = look(machine, hash + 1, least, most, found);
        }
        if (bad.empty()) {
            machine.recorder.operations.clear();
            // The cut may have left less room than before, so that such a large transaction does not fit any more.
            const Status status = transaction(machine, found + 1);
            const std::uint32_t next = status == Status::ok ? found + 1 : found;
            bad = status == Status::ok || status == Status::no_space ? look(machine, hash + 2, next, next, found)
                                                                     : std::string("next: ") + to_string(status);
            bad += machine.violation();
        }
        if (!bad.empty()) {
            tally_.lost(std::to_string(changed_) + " pages, cut in operation " + std::to_string(done) + ", " + what +
                        " " + std::to_string(number) + ": " + bad);
        }
    }

    Tally& tally_;
    std::uint32_t page_;
    std::uint32_t kept_;
    std::uint32_t changed_;
    std::vector<Acknowledged> acknowledged_;
    std::size_t last_ = 0;  // the entry of acknowledged_ that was the last before the cut
    FlashMachine base_;
    FlashMachine trial_;
    FlashMachine before_;
};

}  // namespace

TEST(PowerCut, LargeTransactions) {
    FlashCutOptions options;
    options.geometry = {112, 1024, 256, 4, 0xff};
    options.format = {256, 25};
    options.changes = 64;
    Tally tally("flash-pages");
    for (const std::uint32_t changed : {50U, 40U}) {
        if (!tally.enough()) {
            EXPECT_TRUE(PagesSweep(tally, options, 80, changed).run()) << changed;
        }
    }
    tally.report(38500);
}
