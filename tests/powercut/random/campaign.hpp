// Random power cuts: workloads of a seed, cut at random, compared, gone on from and cut again.
#pragma once

#include "player.hpp"

#include <unordered_set>

namespace h5mote_test {

enum class Medium : std::uint8_t { file, journal, nor, nand };
const char* name_of(Medium medium);

/// One workload, and what was found wrong with it.
struct Trial {
    Medium medium = Medium::file;
    std::uint64_t seed = 0;
    std::size_t cuts = 0;  ///< to be drawn, about
    Plan plan;
    std::size_t goes_on = 12;  ///< steps after a cut, at most
    bool tells = false;        ///< keeps a line for each call

    std::string failure;  ///< the first thing that was wrong; empty: nothing
    std::vector<std::string> told;
    std::size_t done = 0;         ///< different cuts
    std::size_t in_recovery = 0;  ///< of these, in what went on after a cut
};

/// The plan that belongs to a seed.
Plan plan_of(Medium medium, std::uint64_t seed);
void run_disks(Trial& trial);
void run_flash(Trial& trial);
inline void run(Trial& trial) {
    trial.medium == Medium::file || trial.medium == Medium::journal ? run_disks(trial) : run_flash(trial);
}

/// What the media have in common: one trial's account.
class Cutter {
public:
    Cutter(Trial& trial, std::uint64_t seed) : trial_(trial), random_(seed) {}

    /// The workload itself: on the storage as it is. False when it went wrong without any cut.
    bool play(Storage& storage, Ledger& ledger);
    /// Judges what a cut left behind. False when it is wrong, or was seen before.
    bool judge(Storage& storage, const Allowed& allowed, std::uint64_t hash, const std::string& where, World& found);
    /// Goes on from there with another random workload, and judges what that leaves. False when it is wrong.
    bool go_on(Storage& storage, World& world, Ledger& ledger, const std::string& where);
    /// The same without a workload: what was acknowledged last must be there, after switching off and on.
    bool judge_end(Storage& storage, const Ledger& ledger, const std::string& where);
    void fail(const std::string& what);
    bool failed() const { return !trial_.failure.empty(); }
    Random& random() { return random_; }
    bool goes_on() { return random_.one_in(4); }
    bool cuts_recovery() { return random_.one_in(4); }
    bool recovering = false;

private:
    Trial& trial_;
    Random random_;
    std::unordered_set<std::uint64_t> seen_;
};

}  // namespace h5mote_test
