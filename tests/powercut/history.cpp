#include "history.hpp"

#include <algorithm>

namespace h5mote_test {

void History::make(const std::string& key, Kind kind, const std::string& target) {
    Item& item = items_[key];
    if (item.states.empty()) {
        item.states.push_back({});
    }
    item.kind = kind;
    item.target = target;
    item.states.push_back({++item.made, 0, 0});
}

void History::link(const std::string& key, const std::string& target) {
    const Item& of = items_[target];
    const State state = of.states.back();
    Item& item = items_[key];
    if (item.states.empty()) {
        item.states.push_back({});
    }
    item.kind = of.kind;
    item.target = target;
    item.states.push_back(state);
}

void History::append(const std::string& key) {
    for (auto& [name, item] : items_) {
        State& state = item.states.back();
        if (name == key || (item.target == key && item.kind != Kind::soft_link && state.generation != 0)) {
            ++state.most;
        }
    }
}

void History::give(const std::string& key) {
    Item& item = items_[key];
    if (item.states.empty()) {
        item.kind = Kind::attribute;
        item.states.push_back({});
    }
    item.states.push_back({1, item.given, item.given});
    ++item.given;
}

void History::move(const std::string& from, const std::string& to) {
    Item moved = items_[from];
    if (moved.kind == Kind::attribute && moved.values.empty()) {
        moved.values = from;
    }
    moved.states = {{}, moved.states.back()};
    items_[to] = moved;
    items_[from].states.push_back({});
    for (auto& keys : moves_) {
        if (keys.back() == from) {
            keys.push_back(to);
            return;
        }
    }
    moves_.push_back({from, to});
}

void History::cut(const std::string& key, std::uint64_t rows) {
    for (auto& [name, item] : items_) {
        const unsigned generation = item.states.back().generation;
        if (name == key || (item.target == key && item.kind != Kind::soft_link && generation != 0)) {
            item.states.push_back({generation, rows, rows});
        }
    }
}

void History::remove_all(const std::string& path) {
    for (auto& [key, item] : items_) {
        if (key == path || key.compare(0, path.size() + 1, path + "/") == 0 ||
            key.compare(0, path.size() + 1, path + "@") == 0) {
            item.states.push_back({});
        }
    }
}

void History::acknowledge(std::size_t operations) {
    finish();
    for (auto& [key, item] : items_) {
        State last = item.states.back();
        last.least = last.most;
        item.states = {last};
    }
    Interval next;
    next.operations = operations;
    next.created = true;
    next.items = items_;
    moves_.clear();
    intervals_.push_back(next);
}

std::size_t History::acknowledged_after(std::size_t at, std::size_t more, std::size_t last) const {
    for (const Interval& each : intervals_) {
        if (each.operations > at && more-- == 0) {
            return each.operations;
        }
    }
    return last;
}

const History::Interval& History::at(std::size_t operations) const {
    const auto after = std::upper_bound(intervals_.begin() + 1, intervals_.end(), operations,
                                        [](std::size_t count, const Interval& i) { return count < i.operations; });
    return *(after - 1);
}

}  // namespace h5mote_test
