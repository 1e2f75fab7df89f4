// Records what a workload does to a file, and so knows what may be found in the file after a cut: each item (a group,
// log, attribute or link) in any state that it has been in since the last acknowledgement before the cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace h5mote_test {

enum class Kind : std::uint8_t { group, imu, health, attribute, soft_link };

/// One state of an item. `generation` counts how often an item of this name was created; 0: it is not there. A log has
/// `least` to `most` rows; an attribute has the value number `least`, counted from 0.
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
    std::vector<State> states;  ///< the states that may be found; the last one is the newest
    std::string target;         ///< of a soft link, its target; of a second name of a log, the first name
    unsigned made = 0;          ///< how often it was created
    std::uint64_t given = 0;    ///< how many values an attribute was given
    std::string values = {};    ///< of an attribute that was renamed: the key whose values it has

    bool allows(const State& found) const noexcept {
        for (const State& state : states) {
            if (state.allows(found)) {
                return true;
            }
        }
        return false;
    }
};

/// Items and the states that were found, by path; attributes by path@name.
using Items = std::map<std::string, Item>;
using Found = std::map<std::string, State>;

class History {
public:
    /// What may be found after a cut between one acknowledgement and the next.
    struct Interval {
        std::size_t operations = 0;  ///< operations of the storage when the interval began
        bool created = false;        ///< the creation of the file was acknowledged
        Items items;
        /// Keys of items that were renamed, each with the keys it had before: under one of them the item must be found,
        /// an attribute under no more than one.
        std::vector<std::vector<std::string>> moves = {};
    };

    History() = default;
    /// Begins with what may be found there.
    explicit History(const Interval& begin) : items_(begin.items) {
        intervals_[0] = begin;
        intervals_[0].operations = 0;
    }

    /// The newest state of an item, nullptr when it is not there.
    State* now(const std::string& key) {
        const auto found = items_.find(key);
        return found == items_.end() || found->second.states.back().generation == 0 ? nullptr
                                                                                    : &found->second.states.back();
    }
    /// An item is created, for the first time or anew.
    void make(const std::string& key, Kind kind, const std::string& target = "");
    /// The log `target` gets one more name, by a hard link.
    void link(const std::string& key, const std::string& target);
    /// An attribute gets its next value; no value is ever used again.
    void give(const std::string& key);
    std::uint64_t given(const std::string& key) const noexcept {
        const auto found = items_.find(key);
        return found == items_.end() ? 0 : found->second.given;
    }
    /// How often the item was created.
    unsigned made(const std::string& key) const noexcept {
        const auto found = items_.find(key);
        return found == items_.end() ? 0 : found->second.made;
    }
    /// The key whose values an attribute has.
    std::string values_of(const std::string& key) const {
        const auto found = items_.find(key);
        return found == items_.end() || found->second.values.empty() ? key : found->second.values;
    }
    /// An item gets another key, under which there was none before.
    void move(const std::string& from, const std::string& to);
    /// A log loses its rows from that number on, under all its names.
    void cut(const std::string& key, std::uint64_t rows);
    /// A log gets one more row, under all its names.
    void append(const std::string& key);
    void remove(const std::string& key) { items_[key].states.push_back({}); }
    /// Removes an item with its attributes and all items below it.
    void remove_all(const std::string& path);

    /// A creation, flush or close returned ok when so many operations of the storage were done: from now on every item
    /// is found in its newest state or a later one.
    void acknowledge(std::size_t operations);
    /// Call after the last change: completes the last interval.
    void finish() {
        intervals_.back().items = items_;
        intervals_.back().moves = moves_;
    }

    /// What may be found after a cut when so many operations were done.
    const Interval& at(std::size_t operations) const;
    /// How many operations were done at the acknowledgement that follows `at` and `more` others after it, or `last` if
    /// there are fewer.
    std::size_t acknowledged_after(std::size_t at, std::size_t more, std::size_t last) const;
    std::size_t acknowledgements() const noexcept { return intervals_.size() - 1; }
    /// Of the history of a resume(): operations at the first flush of new rows; the largest number if there was none.
    std::size_t resumed() const noexcept {
        const std::size_t first = intervals_[0].created ? 2 : 3;
        return first < intervals_.size() ? intervals_[first].operations : ~std::size_t{0};
    }

private:
    Items items_;
    std::vector<std::vector<std::string>> moves_;
    std::vector<Interval> intervals_ = std::vector<Interval>(1);
};

}  // namespace h5mote_test
