#include "spilling.hpp"

namespace h5mote {
namespace {

constexpr std::uint8_t kForEver = 0xff;

}  // namespace

FreeExtent Spilling::get(SpaceMap& map, std::size_t i) noexcept {
    FreeExtent extent{0, 0, kForEver, SpaceKind::metadata};
    if (!read(i, extent)) {
        map.spilled_ = 0;
        map.complete_ = false;
        return {0, 0, kForEver, SpaceKind::metadata};
    }
    return extent;
}

void Spilling::set(SpaceMap& map, std::size_t i, const FreeExtent& extent) noexcept {
    if (!write(i, extent)) {
        map.spilled_ = 0;
        map.complete_ = false;
    }
}

// Extents of the table come back into memory so.
void Spilling::erase(SpaceMap& map, std::size_t i) noexcept {
    const FreeExtent last = map.get(map.count() - 1);
    const bool kept = map.spilled_ != 0;  // get() may have found that the storage failed
    map.spilled_ -= kept ? 1 : 0;
    if (i < map.count_) {
        map.take_out(i);
        if (kept) {
            map.put_in(last);
        }
    } else if (i < map.count()) {
        map.set(i, last);
    }
}

// Making room changes the map, and how many extents the table has.
bool Spilling::add(SpaceMap& map, const FreeExtent& extent) noexcept {
    if (!reserve(map.spilled_ + 1) || !write(map.spilled_, extent)) {
        return false;
    }
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
