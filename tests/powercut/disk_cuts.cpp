#include "disk_cuts.hpp"

#include "faulty_disk.hpp"
#include "workload_allocator.hpp"

#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace h5mote_test {

using namespace h5mote;

namespace {

// A machine with disks in memory and the drivers mounted on them. It records what reaches the disks.
class Machine {
public:
    Machine(const DiskOptions& options, const Disks& begin) : options_(options) {
        for (unsigned i = 0; i < options.count; ++i) {
            memory_.push_back(std::make_unique<GrowingMemoryDriver>(allocator_, options.limit));
            EXPECT_EQ(memory_[i]->assign({begin[i].data(), begin[i].size()}), Status::ok);
            sectored_.push_back(std::make_unique<Sectored>(*memory_[i], options.sector));
            recorders_.push_back(std::make_unique<DiskRecorder>(*sectored_[i], i, operations));
        }
    }
    /// Mounts the disks anew, as after switching on.
    std::string mount() {
        std::vector<Driver*> disks;
        for (unsigned i = 0; i < options_.count; ++i) {
            disks.push_back(recorders_[i].get());
        }
        mounted_ = {};
        mounted_ = options_.mount(disks);
        return mounted_.failure;
    }
    Driver& driver() { return *mounted_.driver; }
    ConstBytes contents() const { return memory_[0]->contents(); }

    std::vector<DiskOperation> operations;

private:
    const DiskOptions& options_;
    MallocAllocator allocator_;
    std::vector<std::unique_ptr<GrowingMemoryDriver>> memory_;
    std::vector<std::unique_ptr<Sectored>> sectored_;
    std::vector<std::unique_ptr<DiskRecorder>> recorders_;
    Mounted mounted_;
};

class Sweep {
public:
    Sweep(const std::string& name, const DiskOptions& options) : options_(options), tally(name) {}

    // Records what a scenario does. `fault`: the write, sync or truncation that fails, counted from 1; 0: none. False
    // if the scenario ended before that call.
    bool play(const Scenario& scenario, std::uint64_t fault = 0) {
        Machine machine(options_, Disks(options_.count));
        const std::string failure = machine.mount();
        if (!failure.empty()) {
            tally.lost("mounting nothing: " + failure);
            return false;
        }
        FaultyDisk driver(machine.driver(), fault, machine.operations);
        history_ = History();
        fault_ = fault;
        WorkloadAllocator allocator;
        NullPort port;
        Library library{allocator, port, all_filters()};
        allocator.prepare(library);
        Scene scene{library, driver, history_, [&machine] { return machine.operations.size(); }};
        scene.repeat_calls = fault != 0;
        scenario(scene);
        history_.finish();
        // A close() that fails is not repeated, nor is a call that the driver's failure reached twice.
        EXPECT_TRUE(scene.failure.empty() || driver.failed) << tally.name() << ": " << scene.failure;
        operations_ = std::move(machine.operations);
        from_ = fault == 0 ? 0 : driver.failed_at;
        // There are some three cuts for each operation.
        const std::size_t recoveries = options_.recoveries * (long_run() ? 10 : 1);
        recover_every_ = std::max<std::size_t>(3 * operations_.size() / recoveries, 1);
        if (driver.failed) {
            operations_.resize(history_.acknowledged_after(from_, 1, operations_.size()));
        }
        return fault == 0 || driver.failed;
    }

    void run() {
        DiskStates states(Disks(options_.count), operations_,
                          [&](const Disks& disks, std::size_t operations, const char* what, std::size_t number) {
                              check(disks, history_, operations, what, number, true);
                          });
        states.sector = options_.sector;
        states.from = from_;
        states.random_subsets = options_.random_subsets * (long_run() ? 5 : 1);
        states.enough = [&] { return tally.enough(); };
        states.run();
        keep_samples();
    }

private:
    void lost(std::size_t operations, const char* what, std::size_t number, const std::string& why) {
        tally.lost((fault_ == 0 ? "" : "call " + std::to_string(fault_) + " fails, ") + "cut after " +
                   std::to_string(operations) + ", " + what + " " + std::to_string(number) + ": " + why);
    }

    // Judges what one cut left behind, and logs on from there. `first`: a cut of the workload, not of a recovery.
    void check(const Disks& disks, const History& history, std::size_t operations, const char* what, std::size_t number,
               bool first) {
        const History::Interval& allowed = history.at(operations);
        std::uint64_t hash = first ? allowed.operations + 1 : recovery_ * 0x100000001U;
        hash += first ? fault_ * 0x100000000U : allowed.operations;
        for (const Image& image : disks) {
            hash = hash_of({image.data(), image.size()}, hash);
        }
        if (!tally.is_new(hash)) {
            return;
        }
        tally.cut(first);
        Machine machine(options_, disks);
        Found found;
        std::string bad;
        if (options_.libhdf5 && allowed.created && !only_read_) {
            Found by_libhdf5;
            bad = compare_by_libhdf5(machine.contents(), allowed, by_libhdf5);
        }
        bad += machine.mount();
        if (bad.empty()) {
            bad = find_problems(machine.driver()) + compare(machine.driver(), allowed, found);
        }
        if (!bad.empty()) {
            lost(operations, what, number, (first ? "" : "in the recovery: ") + bad);
            return;
        }
        if (bad.empty() && options_.reclaim && found["/"].generation != 0) {
            Machine other(options_, disks);
            bad = other.mount();
            bad += bad.empty() ? reclaim_all(other.driver()) : "";
            if (bad.empty()) {
                Found kept;
                bad = other.mount() + compare(other.driver(), allowed_exactly(allowed, found), kept);
            }
            if (!bad.empty()) {
                lost(operations, what, number, (first ? "" : "in the recovery: ") + bad);
                return;
            }
        }
        if (only_read_) {
            return;
        }
        History next(History::Interval{0, found["/"].generation != 0, only(allowed.items, found)});
        bad = resume(
            machine.driver(), next, [&machine] { return machine.operations.size(); }, options_.limit != ~std::size_t{0},
            options_.reclaim && hash / 4 % 2 == 0);
        next.finish();
        if (bad.empty()) {
            // As after switching off and on: only the disks keep what they hold.
            bad = machine.mount();
        }
        if (bad.empty()) {
            Found last;
            bad = compare(machine.driver(), next.at(machine.operations.size()), last) + find_problems(machine.driver());
        }
        if (!bad.empty()) {
            lost(operations, what, number, (first ? "afterwards: " : "after the recovery: ") + bad);
            return;
        }
        const bool whole = hash / 64 % recover_every_ == 0;
        if (first && fault_ == 0 && (whole || tally.cuts_recovery(hash, options_.recovery_of))) {
            cut_recovery(disks, machine.operations, next, whole);
        }
    }

    // What may be found after a session that changed nothing: what was found before it.
    static History::Interval allowed_exactly(const History::Interval& allowed, const Found& found) {
        return {allowed.operations, true, only(allowed.items, found)};
    }

    // Cuts the recovery itself: as a rule up to its first flush of new rows, and what these cuts leave is only read. If
    // `whole`, up to the close, and after each cut logging goes on.
    void cut_recovery(const Disks& disks, std::vector<DiskOperation>& operations, const History& next, bool whole) {
        ++recovery_;
        tally.recovery();
        only_read_ = !whole;
        if (!whole) {
            operations.resize(std::min(operations.size(), next.resumed()));
        }
        DiskStates states(disks, operations,
                          [&](const Disks& twice, std::size_t done, const char* how, std::size_t which) {
                              check(twice, next, done, how, which, false);
                          });
        states.all_subsets = 4;
        states.sector = options_.sector;
        states.random_subsets = whole ? 4 : 0;
        states.enough = [&] { return tally.enough(); };
        states.run();
        only_read_ = false;
    }

    // Writes samples as files for check_samples.py: images to which all writes up to some operation have arrived.
    void keep_samples() {
        const char* const folder = std::getenv("H5MOTE_POWERCUT_SAMPLES");
        if (folder == nullptr || options_.samples == 0 || fault_ != 0 || expects_losses()) {
            return;
        }
        const std::size_t every = std::max<std::size_t>(operations_.size() / options_.samples, 1);
        Image image;
        for (std::size_t i = 0; i < operations_.size(); ++i) {
            RecordingDriver::apply(image, operations_[i].operation);
            const History::Interval& allowed = history_.at(i + 1);
            if (i % every == every - 1 && allowed.created) {
                keep(image, allowed, std::string(folder) + "/" + tally.name() + "-" + std::to_string(i + 1));
            }
        }
    }

    void keep(const Image& image, const History::Interval& allowed, const std::string& path) {
        FILE* file = std::fopen((path + ".h5").c_str(), "wb");
        ASSERT_NE(file, nullptr);
        EXPECT_EQ(std::fwrite(image.data(), 1, image.size(), file), image.size());
        EXPECT_EQ(std::fclose(file), 0);
        file = std::fopen((path + ".expect").c_str(), "w");
        ASSERT_NE(file, nullptr);
        for (const auto& [key, item] : allowed.items) {
            std::uint64_t least = item.states.front().least;  // rows; a log that is cut has fewer afterwards
            bool may_be_missing = false;
            for (const State& state : item.states) {
                may_be_missing = may_be_missing || state.generation != 1;
                least = std::min(least, state.least);
            }
            if (may_be_missing) {
                continue;
            }
            if (item.kind == Kind::group) {
                std::fprintf(file, "group\t%s\n", key.c_str());
            } else if (item.kind == Kind::attribute) {
                std::fprintf(file, "value\t%s", key.c_str());
                const std::string& values = item.values.empty() ? key : item.values;
                for (const State& state : item.states) {
                    std::fprintf(file, "\t%d", attribute_value(values, state.least));
                }
                std::fprintf(file, "\n");
            } else if (item.kind != Kind::soft_link) {
                std::fprintf(file, "%s\t%s\t%llu\n", item.kind == Kind::imu ? "imu" : "health", key.c_str(),
                             static_cast<unsigned long long>(least));
            }
        }
        EXPECT_EQ(std::fclose(file), 0);
    }

    const DiskOptions& options_;
    History history_;
    std::vector<DiskOperation> operations_;
    std::uint64_t fault_ = 0;  // the call that fails
    std::size_t from_ = 0;     // cuts before so many operations are not tried
    std::uint64_t recovery_ = 0;
    bool only_read_ = false;  // what a cut leaves is compared, but no logging goes on from there
    std::size_t recover_every_ = 1;

public:
    Tally tally;
};

}  // namespace

void cut_disks(const std::string& name, const Scenario& scenario, std::size_t floor, const DiskOptions& options) {
    Sweep sweep(name, options);
    if (sweep.play(scenario)) {
        sweep.run();
    }
    sweep.tally.report(floor);
}

void cut_disks_after_faults(const std::string& name, const Scenario& scenario, std::size_t floor,
                            const DiskOptions& options) {
    Sweep sweep(name, options);
    for (std::uint64_t call = 1; !sweep.tally.enough() && sweep.play(scenario, call); ++call) {
        sweep.run();
    }
    sweep.tally.report(floor);
}

}  // namespace h5mote_test
