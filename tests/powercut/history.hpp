// What a workload did to a file, and what may therefore be found in it after a cut: between two acknowledgements any
// state that a thing has been in since the first of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace h5mote_test {

enum class Kind : std::uint8_t { group, imu, health, attribute, soft_link };

/// Of one thing under one name. `generation` counts how often it was made anew, 0: it is not there. A log has `least`
/// to `most` rows; an attribute the value it was given for the `least`-th time.
struct State {
    unsigned generation = 0;
    std::uint64_t least = 0;
    std::uint64_t most = 0;

    bool allows(const State& found) const noexcept {
        return generation == found.generation && least <= found.least && found.least <= most;
    }
};

struct Item {
    Kind kind = Kind::group;
    std::vector<State> states;  ///< in any of these, the last is what it should become
    std::string target;         ///< of a soft link; of one more name for a log, the first
    unsigned made = 0;          ///< how often
    std::uint64_t given = 0;    ///< how many values, of an attribute

    bool allows(const State& found) const noexcept {
        for (const State& state : states) {
            if (state.allows(found)) {
                return true;
            }
        }
        return false;
    }
};

/// By path, attributes by path@name.
using Items = std::map<std::string, Item>;
using Found = std::map<std::string, State>;

class History {
public:
    struct Interval {
        std::size_t operations = 0;  ///< at the acknowledgement that began it
        bool created = false;
        Items items;
    };

    History() = default;
    /// Goes on from there.
    explicit History(const Interval& begin) : items_(begin.items) {
        intervals_[0] = begin;
        intervals_[0].operations = 0;
    }

    /// Nullptr when it is not there, or was never.
    State* now(const std::string& key) {
        const auto found = items_.find(key);
        return found == items_.end() || found->second.states.back().generation == 0 ? nullptr
                                                                                    : &found->second.states.back();
    }
    /// It is made: for the first time, or anew.
    void make(const std::string& key, Kind kind, const std::string& target = "");
    /// One more name for a log.
    void link(const std::string& key, const std::string& target);
    /// The next value of an attribute, none of which ever comes back.
    void give(const std::string& key);
    std::uint64_t given(const std::string& key) const noexcept {
        const auto found = items_.find(key);
        return found == items_.end() ? 0 : found->second.given;
    }
    /// How often it was made.
    unsigned made(const std::string& key) const noexcept {
        const auto found = items_.find(key);
        return found == items_.end() ? 0 : found->second.made;
    }
    /// A row more, under all names of the log.
    void append(const std::string& key);
    void remove(const std::string& key) { items_[key].states.push_back({}); }
    /// With all that lies below it.
    void remove_all(const std::string& path);

    /// A creation, flush or close returned ok when that many operations were done.
    void acknowledge(std::size_t operations);
    /// After the last of all calls.
    void finish() { intervals_.back().items = items_; }

    /// What may be there when that many operations are done and no more.
    const Interval& at(std::size_t operations) const;
    std::size_t acknowledgements() const noexcept { return intervals_.size() - 1; }
    /// Operations at the first acknowledgement of rows by resume(); all there are without one.
    std::size_t resumed() const noexcept {
        const std::size_t first = intervals_[0].created ? 2 : 3;
        return first < intervals_.size() ? intervals_[first].operations : ~std::size_t{0};
    }

private:
    Items items_;
    std::vector<Interval> intervals_ = std::vector<Interval>(1);
};

}  // namespace h5mote_test
