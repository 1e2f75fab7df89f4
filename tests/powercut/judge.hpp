// Judges whether a History allows what was found in a file. Shared by the readers with h5mote and with libhdf5.
#pragma once

#include "history.hpp"

namespace h5mote_test {

inline std::string show(const State& state) {
    return state.generation == 0 ? "nothing"
                                 : std::to_string(state.generation) + ":" + std::to_string(state.least) +
                                       (state.most != state.least ? "-" + std::to_string(state.most) : "");
}

inline std::string show(const Item& item) {
    std::string text;
    for (const State& state : item.states) {
        text += (text.empty() ? "" : " or ") + show(state);
    }
    return text;
}

/// Returns what is wrong with the items of a file; empty when all is well. `state_of(key, item, state, why)` finds the
/// state of an item in the file, and returns false, with a reason, when the item is in none of its states. The states
/// that were found go to `found`.
template <typename StateOf>
std::string judge(const History::Interval& allowed, Found& found, const StateOf& state_of) {
    std::string bad;
    for (const auto& [key, item] : allowed.items) {
        std::string why;
        State state;
        if (!state_of(key, item, state, why)) {
            bad += key + ": " + why + ", not " + show(item) + "; ";
        } else if (!item.allows(state)) {
            bad += key + ": " + show(state) + ", not " + show(item) + "; ";
        }
        found[key] = state;
    }
    for (const auto& keys : allowed.moves) {
        std::size_t there = 0;
        for (const std::string& key : keys) {
            there += found[key].generation != 0 ? 1 : 0;
        }
        if (there == 0 || (there > 1 && keys[0].find('@') != std::string::npos)) {
            bad += keys[0] + " is there " + std::to_string(there) + " times on its way to " + keys.back() + "; ";
        }
    }
    return bad;
}

}  // namespace h5mote_test
