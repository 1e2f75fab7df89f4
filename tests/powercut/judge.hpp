// Whether what was found in a file is what a History allows; the same whoever has read it.
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

/// `state_of(key, item, state, why)` finds the state that an item is in: false, with a reason, when it is in none. What
/// it says goes to `found`. Empty when all is well, else what is wrong.
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
    return bad;
}

}  // namespace h5mote_test
