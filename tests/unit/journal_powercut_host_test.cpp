// Cuts the power at every point of a journal's work on its home and log: unsynced writes are lost, torn and reordered,
// in each storage independently, and again during the recovery. The file must have the state of the last sync() that
// returned ok or of one that had begun, and must keep the state that was found.
#include <h5mote/vfd/journal.hpp>
#include <h5mote/vfd/memory.hpp>
#include <h5mote/vfd/region.hpp>

#include "recording_driver.hpp"
#include "sweep.hpp"
#include "test.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;
using Image = RecordingDriver::Image;

constexpr std::size_t kRoom = 16 * 1024;
constexpr std::size_t kLists = 2;

struct Step {
    bool log;
    DriverOperation operation;
};

// Records the operations on home and log in one sequence.
class Noting final : public ForwardingDriver {
public:
    Noting(Driver& inner, bool log, std::vector<Step>& steps) : ForwardingDriver(inner), log_(log), steps_(steps) {}

    Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept override {
        steps_.push_back({log_, {DriverOperation::Kind::write, usage, address, {from.begin(), from.end()}}});
        return inner().write(usage, address, from);
    }
    Status truncate(std::uint64_t size) noexcept override {
        steps_.push_back({log_, {DriverOperation::Kind::truncate, Usage::raw_data, size, {}}});
        return inner().truncate(size);
    }
    Status sync() noexcept override {
        steps_.push_back({log_, {}});
        return inner().sync();
    }

private:
    bool log_;
    std::vector<Step>& steps_;
};

// A home and a log with given bytes and a journal over them. With `regions`, both are regions of one storage.
struct Machine {
    Image home_bytes;
    Image log_bytes;
    MemoryDriver home;
    MemoryDriver log;
    std::vector<Step> steps;
    Noting noting_home{home, false, steps};
    Noting noting_log{log, true, steps};
    RegionDriver log_region{noting_home, 0, kRoom / 2};
    RegionDriver home_region{noting_home, kRoom / 2, kRoom / 2};
    alignas(8) std::byte work[256 + 4 * kLists];
    JournalDriver journal;
    JournalOptions options;

    Machine(const Image& home_image, const Image& log_image, bool regions)
        : home_bytes(padded(home_image)),
          log_bytes(padded(log_image)),
          home({home_bytes.data(), kRoom}, home_image.size()),
          log({log_bytes.data(), kRoom}, log_image.size()),
          journal(regions ? static_cast<Driver&>(home_region) : noting_home,
                  regions ? static_cast<Driver&>(log_region) : noting_log, work) {
        options.home_has_end = !regions;
        options.checkpoint = 900;
        options.lists = kLists;
    }

    static Image padded(Image image) {
        image.resize(kRoom);
        return image;
    }
    Image home_image() const { return {home.contents().begin(), home.contents().end()}; }
    Image log_image() const { return {log.contents().begin(), log.contents().end()}; }

    // Returns the file as it is read through the journal.
    Image contents() {
        std::uint64_t size = 0;
        Image image;
        if (journal.end_of_file(size) == Status::ok) {
            image.resize(static_cast<std::size_t>(size));
            // Read in pieces of varying length.
            for (std::size_t at = 0; at < image.size();) {
                const std::size_t count = std::min<std::size_t>(image.size() - at, 1 + at * 7 % 1300);
                if (journal.read(Usage::raw_data, at, {image.data() + at, count}) != Status::ok) {
                    return Image(1, std::byte{0xee});
                }
                at += count;
            }
        }
        return image;
    }
};

struct Random {
    std::mt19937 engine;
    std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(engine); }
};

// Returns the bytes of one storage after a power cut behind `count` steps: everything up to its last sync and, of the
// later operations, all (choice 0), none (1), or some in any order and torn.
Image after_cut(const Image& initial, const std::vector<Step>& steps, std::size_t count, bool log, bool syncs,
                std::size_t choice, Random& random) {
    std::vector<const DriverOperation*> loose;
    Image image = initial;
    for (std::size_t i = 0; i < count; ++i) {
        if (steps[i].log == log) {
            if (steps[i].operation.kind == DriverOperation::Kind::sync) {
                if (!syncs) {
                    continue;
                }
                for (const DriverOperation* each : loose) {
                    RecordingDriver::apply(image, *each);
                }
                loose.clear();
            } else {
                loose.push_back(&steps[i].operation);
            }
        }
    }
    if (choice > 1) {
        std::shuffle(loose.begin(), loose.end(), random.engine);
    }
    for (const DriverOperation* each : loose) {
        if (choice == 0 || (choice > 1 && random.below(3) != 0)) {
            const bool torn = choice > 1 && random.below(4) == 0;
            RecordingDriver::apply(image, *each, torn ? random.below(each->bytes.size() + 1) : RecordingDriver::kWhole);
        }
    }
    return image;
}

struct Sync {
    std::size_t begun;  // number of steps before and after the sync
    std::size_t done;
    Image contents;
};

struct Sweep {
    Random random;
    bool regions = false;  // home and log are regions of a card, which has no length of its own and no zeros behind it
    bool home_syncs = true;  // false: syncs of the home are ignored, which the sweep must notice
    bool log_syncs = true;
    std::size_t cuts = 0;
    std::size_t lost = 0;

    // Makes random writes and truncations, compares with a model after each of them, and sometimes syncs.
    void work(Machine& machine, Image& model, std::vector<Sync>& syncs, int operations) {
        for (int i = 0; i < operations; ++i) {
            const std::size_t kind = random.below(12);
            if (kind < 8) {
                const std::size_t size = 1 + random.below(random.below(4) == 0 ? 900 : 60);
                const std::size_t gap = regions ? 1 : 100;
                const std::size_t address = random.below(3) != 0 ? model.size() : random.below(model.size() + gap);
                Image bytes(size);
                std::generate(bytes.begin(), bytes.end(), [&] { return std::byte(random.below(256)); });
                ASSERT_EQ(machine.journal.write(Usage::raw_data, address, {bytes.data(), size}), Status::ok);
                model.resize(std::max(model.size(), address + size));
                std::copy(bytes.begin(), bytes.end(), model.begin() + static_cast<std::ptrdiff_t>(address));
            } else if (kind == 8) {
                const std::size_t size =
                    regions || random.below(2) == 0 ? random.below(model.size() + 1) : model.size() + 50;
                ASSERT_EQ(machine.journal.truncate(size), Status::ok);
                model.resize(size);
            } else {
                const std::size_t begun = machine.steps.size();
                ASSERT_EQ(machine.journal.sync(), Status::ok);
                syncs.push_back({begun, machine.steps.size(), model});
            }
            if (model.size() > 6000) {
                ASSERT_EQ(machine.journal.truncate(500), Status::ok);
                model.resize(500);
            }
            ASSERT_EQ(machine.contents(), model);
        }
    }

    // Recovers from a cut: the file must have one of the states [first, last], and keep it.
    void recover(const Image& home, const Image& log, const std::vector<Sync>& syncs, std::size_t first,
                 std::size_t last, bool again) {
        Machine machine(home, log, regions);
        ++cuts;
        if (machine.journal.open(machine.options) != Status::ok) {
            ++lost;
            return;
        }
        const Image found = machine.contents();
        bool known = false;
        for (std::size_t i = first; i <= last && !known; ++i) {
            known = syncs[i].contents == found;
        }
        lost += known ? 0 : 1;
        if (!known || !again) {
            return;
        }
        // A read-only journal shows the same state and writes nothing.
        Machine reader(home, log, regions);
        reader.options.read_only = true;
        ++cuts;
        lost += reader.journal.open(reader.options) == Status::ok && reader.contents() == found ? 0 : 1;
        lost += reader.steps.empty() ? 0 : 1;
        // Cut the power again, during the recovery and in the first transactions after it.
        std::vector<Sync> later{{0, 0, found}};
        Image model = found;
        work(machine, model, later, 3);
        for (std::size_t count = 0; count <= machine.steps.size(); ++count) {
            std::size_t from = 0;
            std::size_t to = 0;
            bounds(later, count, from, to);
            const std::size_t choice = random.below(6);
            recover(after_cut(home, machine.steps, count, false, home_syncs, choice, random),
                    after_cut(log, machine.steps, count, true, log_syncs, choice, random), later, from, to, false);
        }
    }

    static void bounds(const std::vector<Sync>& syncs, std::size_t count, std::size_t& first, std::size_t& last) {
        for (std::size_t i = 0; i < syncs.size(); ++i) {
            first = syncs[i].done <= count ? i : first;
            last = syncs[i].begun <= count ? i : last;
        }
    }

    void run(unsigned seed) {
        random.engine.seed(seed);
        Image model(regions ? 0 : seed % 3 * 700, std::byte{7});
        const Image home = regions ? Image(kRoom) : model;
        Machine machine(home, {}, regions);
        ASSERT_EQ(machine.journal.open(machine.options), Status::ok);
        std::vector<Sync> syncs{{0, 0, model}};
        work(machine, model, syncs, 40);
        for (std::size_t count = 0; count <= machine.steps.size(); ++count) {
            std::size_t first = 0;
            std::size_t last = 0;
            bounds(syncs, count, first, last);
            for (std::size_t choice = 0; choice < 8; ++choice) {
                recover(after_cut(home, machine.steps, count, false, home_syncs, choice, random),
                        after_cut({}, machine.steps, count, true, log_syncs, choice, random), syncs, first, last,
                        choice < 4);
            }
        }
    }
};

TEST(JournalPowerCut, EveryPoint) {
    Sweep sweep;
    for (std::size_t seed = 1; seed <= 24; seed += sweep_step()) {
        sweep.regions = seed % 4 == 0;
        sweep.run(static_cast<unsigned>(seed));
    }
    std::printf("%zu cuts, %zu lost\n", sweep.cuts, sweep.lost);
    if (std::getenv("H5MOTE_EXPECT_LOSSES") != nullptr) {
        // This build leaves out one of the journal's rules, so that the sweep must find losses.
        EXPECT_GT(sweep.lost, 0U);
        return;
    }
    EXPECT_EQ(sweep.lost, 0U);
    EXPECT_GE(sweep.cuts, 60000U / sweep_step());
}

// The sweep is able to notice losses: it does if the syncs of either storage are ignored.
TEST(JournalPowerCut, EverySyncIsNeeded) {
    for (const bool home : {false, true}) {
        Sweep sweep;
        sweep.home_syncs = home;
        sweep.log_syncs = !home;
        sweep.run(1);
        std::printf("without syncs of the %s: %zu cuts, %zu lost\n", home ? "log" : "home", sweep.cuts, sweep.lost);
        EXPECT_GT(sweep.lost, 100U);
    }
}

}  // namespace
