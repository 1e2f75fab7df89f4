// Random power cuts: random workloads are cut at random points, what is left is compared with a model, and another
// workload goes on from there and is cut again.
#pragma once

#include "player.hpp"

#include <unordered_set>

namespace h5mote_test {

enum class Medium : std::uint8_t { file, journal, nor, nand };
const char* name_of(Medium medium);

/// One random workload with its cuts, and what was wrong.
struct Trial {
    Medium medium = Medium::file;
    std::uint64_t seed = 0;
    std::size_t cuts = 0;  ///< about how many cuts are drawn
    Plan plan;
    std::size_t goes_on = 12;  ///< steps of the workload after a cut, at most
    bool tells = false;        ///< a line for each call is kept in `told`

    std::string failure;  ///< the first thing that was wrong; empty: nothing
    std::vector<std::string> told;
    std::size_t done = 0;         ///< different cuts so far
    std::size_t in_recovery = 0;  ///< of these, cuts of a workload that went on after a cut
};

/// The plan that belongs to a seed.
Plan plan_of(Medium medium, std::uint64_t seed);
void run_disks(Trial& trial);
void run_flash(Trial& trial);
inline void run(Trial& trial) {
    trial.medium == Medium::file || trial.medium == Medium::journal ? run_disks(trial) : run_flash(trial);
}

/// The part of a trial that is the same on all media: playing, judging and counting.
class Cutter {
public:
    Cutter(Trial& trial, std::uint64_t seed) : trial_(trial), random_(seed) {}

    /// Plays the trial's plan on the storage. False when something went wrong without any cut.
    bool play(Storage& storage, Ledger& ledger);
    /// Judges what a cut left behind. False when it is wrong, or when an equal state (by `hash`) was judged before.
    bool judge(Storage& storage, const Allowed& allowed, std::uint64_t hash, const std::string& where, World& found);
    /// Plays another random workload on what a cut left behind, and judges the result. False when it is wrong.
    bool go_on(Storage& storage, World& world, Ledger& ledger, const std::string& where);
    /// Judges the storage after switching off and on: what was acknowledged last must be there.
    bool judge_end(Storage& storage, const Ledger& ledger, const std::string& where);
    void fail(const std::string& what);
    bool failed() const { return !trial_.failure.empty(); }
    Random& random() { return random_; }
    bool goes_on() { return random_.one_in(4); }
    bool cuts_recovery() { return random_.one_in(4); }
    bool recovering = false;

private:
    void tell_what_followed(bool of_interest);
    std::vector<std::string> followed_;  // the calls after the last first cut
    Trial& trial_;
    Random random_;
    std::unordered_set<std::uint64_t> seen_;
};

}  // namespace h5mote_test
