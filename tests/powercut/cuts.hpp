// Counting and reporting, the same for files and flash.
#pragma once

#include "random.hpp"
#include "verify.hpp"

#include <functional>
#include <string>
#include <unordered_set>

namespace h5mote_test {

/// A storage on which the power fails: counted, and the first losses printed.
class Tally {
public:
    explicit Tally(std::string name) : name_(std::move(name)) {}

    const std::string& name() const noexcept { return name_; }
    /// False when this image was looked at already after the same acknowledgement.
    bool is_new(std::uint64_t hash);
    /// One cut more, of the workload itself or of a recovery.
    void cut(bool first) noexcept {
        ++cuts_;
        recovered_ += first ? 0 : 1;
    }
    /// Whether the recovery of a cut is cut as well: of one in so many, of all in a long run, in a build that must lose
    /// something of none.
    static bool cuts_recovery(std::uint64_t hash, std::size_t one_in) noexcept;
    /// A cut of the workload whose recovery is cut at every point.
    void recovery() noexcept { ++recoveries_; }
    void lost(const std::string& what);
    std::size_t cuts() const noexcept { return cuts_; }
    std::size_t losses() const noexcept { return lost_; }
    /// Enough losses were seen to prove the point of a build that must have some.
    bool enough() const noexcept;
    /// Prints `NAME: N cuts, M lost`, writes the figure, and expects at least `floor` cuts and no loss; in a build that
    /// leaves out a rule, nothing.
    void report(std::size_t floor) const;

private:
    std::string name_;
    std::unordered_set<std::uint64_t> seen_;
    std::size_t cuts_ = 0;
    std::size_t recovered_ = 0;
    std::size_t recoveries_ = 0;
    std::size_t lost_ = 0;
};

/// H5MOTE_LONG is set: more of everything that is drawn by lot.
bool long_run();
/// H5MOTE_EXPECT_LOSSES is set: one rule was left out of this build.
bool expects_losses();

}  // namespace h5mote_test
