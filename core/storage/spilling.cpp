#include "spilling.hpp"

namespace h5mote {
namespace {

constexpr std::uint8_t kForEver = 0xff;

}  // namespace

void Spilling::lose(SpaceMap& map) noexcept {
    map.spilled_ = 0;
    map.complete_ = false;
    empty_ = kNone;
}

FreeExtent Spilling::get(SpaceMap& map, std::size_t i) noexcept {
    FreeExtent extent{0, 0, kForEver, SpaceKind::metadata};
    if (!read(entry_of(map, i), extent)) {
        lose(map);
    }
    return extent;
}

void Spilling::set(SpaceMap& map, std::size_t i, const FreeExtent& extent) noexcept {
    if (!write(entry_of(map, i), extent)) {
        lose(map);
    }
}

// Extents of the table come back into memory so. The number of the last extent of the table is the only other one that
// may change.
void Spilling::erase(SpaceMap& map, std::size_t i) noexcept {
    if (i < map.count_) {
        const FreeExtent last = get(map, empty_ == kNone ? map.spilled_ - 1 : empty_);
        map.take_out(i);
        if (map.spilled_ != 0) {  // get() may have found that the storage failed
            remove_last(map);
            map.put_in(last);
        }
    } else {
        const std::size_t erased = i - map.count_;
        const std::size_t filled = empty_;
        if (filled != kNone && filled != erased) {
            const FreeExtent last = get(map, filled);
            empty_ = kNone;
            set(map, filled, last);
        }
        empty_ = erased;
        remove_last(map);
    }
}

// Takes away the last entry, which the table needs no more.
void Spilling::remove_last(SpaceMap& map) noexcept {
    map.spilled_ -= map.spilled_ != 0 ? 1 : 0;
    empty_ = empty_ < map.spilled_ ? empty_ : kNone;
}

// Making room changes the map, and how many extents the table has.
bool Spilling::add(SpaceMap& map, const FreeExtent& extent) noexcept {
    if (!reserve(map.spilled_ + 1) || !write(empty_ == kNone ? map.spilled_ : empty_, extent)) {
        return false;
    }
    empty_ = kNone;
    ++map.spilled_;
    return true;
}

bool Spilling::insert(SpaceMap& map, const FreeExtent& extent) noexcept {
    const std::size_t room = map.room_in_memory(map.room_);
    if (!add(map, extent)) {
        return false;
    }
    // What took the place that is left in memory goes into the table as well, now that this has room.
    while (map.count_ > room && take_smallest(map)) {
    }
    return true;
}

// The extent leaves memory first: the table may allocate its own space from what is there.
bool Spilling::take_smallest(SpaceMap& map) noexcept {
    const std::size_t least = map.smallest();
    const FreeExtent extent = map.extents_[least];
    map.take_out(least);
    const bool added = add(map, extent);
    if (!added && map.count_ < map.room_) {
        map.put_in(extent);
    } else if (!added) {
        map.complete_ = false;
    }
    return added;
}

}  // namespace h5mote
