// Counts and reports power cuts and losses, for files and for flash.
#pragma once

#include "random.hpp"
#include "verify.hpp"

#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

namespace h5mote_test {

/// Counts the power cuts and losses of one sweep, and prints the first losses.
class Tally {
public:
    explicit Tally(std::string name) : name_(std::move(name)) {}

    const std::string& name() const noexcept { return name_; }
    /// Whether a cut is to be judged: false when an equal image after the same acknowledgement (both are in the hash)
    /// was judged already, or when H5MOTE_POWERCUT_ONE_IN leaves it out.
    bool is_new(std::uint64_t hash);
    /// Counts a cut: `first` for one of the workload itself, else one of a recovery.
    void cut(bool first) noexcept {
        ++cuts_;
        recovered_ += first ? 0 : 1;
    }
    /// Whether the recovery after this cut is cut as well. That is so for one in `one_in` cuts (0: for none), for all
    /// of them in a long run, and for none in a build that leaves out a rule.
    static bool cuts_recovery(std::uint64_t hash, std::size_t one_in) noexcept;
    /// Counts a cut of the workload whose recovery is cut at every point.
    void recovery() noexcept { ++recoveries_; }
    void lost(const std::string& what);
    std::size_t cuts() const noexcept { return cuts_; }
    std::size_t losses() const noexcept { return lost_; }
    /// In a build that leaves out a rule: whether enough losses were seen, so that the sweep may end.
    bool enough() const noexcept;
    /// Prints `NAME: N cuts, M lost`, and expects at least `floor` cuts (unless H5MOTE_POWERCUT_ONE_IN is set) and no
    /// loss. A build that leaves out a rule only prints.
    void check(std::size_t floor) const;
    /// Adds what another sweep has counted.
    void add(const Tally& other) noexcept;
    /// Writes the figures, unless this build leaves out a rule.
    void write() const;
    /// check(), and write().
    void report(std::size_t floor) const {
        check(floor);
        write();
    }

private:
    std::string name_;
    std::unordered_set<std::uint64_t> seen_;
    std::size_t cuts_ = 0;
    std::size_t recovered_ = 0;
    std::size_t recoveries_ = 0;
    std::size_t lost_ = 0;
};

/// The last of several flushes that was complete after so many operations. Number 0 of `covered` stands for none; each
/// has the number of `operations` after which it was complete.
template <typename Covered>
std::size_t flushes_before(const std::vector<Covered>& covered, std::size_t operations) {
    std::size_t after = 0;
    while (after + 1 < covered.size() && covered[after + 1].operations <= operations) {
        ++after;
    }
    return after;
}

/// The flush after that one, or the last one.
template <typename Covered>
const Covered& next_flush(const std::vector<Covered>& covered, std::size_t after) {
    return covered[after + 1 < covered.size() ? after + 1 : after];
}

/// How many of the steps that were `flushed` were complete after so many operations.
template <typename Step>
std::size_t count_flushes(const std::vector<Step>& steps, std::size_t operations) {
    std::size_t flushes = 0;
    for (const Step& step : steps) {
        flushes += step.flushed && step.operations <= operations ? 1 : 0;
    }
    return flushes;
}

/// H5MOTE_LONG is set: random choices are made more often, and every recovery is cut.
bool long_run();
/// H5MOTE_EXPECT_LOSSES is set: one rule was left out of this build.
bool expects_losses();

}  // namespace h5mote_test
