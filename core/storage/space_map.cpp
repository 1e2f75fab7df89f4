#include "space_map.hpp"

#include "checked.hpp"

namespace h5mote {
namespace {

// The most extents that are remembered in memory. There is a limit because each released extent is compared with all of
// them.
constexpr std::size_t kMostExtents = 1024;

constexpr std::uint8_t kForEver = 0xff;

// Whether two extents that meet at `border` become one in a file with pages. A page in the middle of which whole pages
// end or begin belongs to one large block: all that is free in it goes with them.
bool may_join(SpaceKind a, SpaceKind b, Address border, Address page) noexcept {
    const bool pages = a == SpaceKind::pages && b == SpaceKind::pages;
    return pages || ((a == b || a == SpaceKind::pages || b == SpaceKind::pages) && remainder_of(border, page) != 0);
}

}  // namespace

FreeExtent SpaceMap::get_spilled(std::size_t i) noexcept {
    FreeExtent extent{0, 0, kForEver, SpaceKind::metadata};
    if (!overflow_->read(i, extent)) {
        spilled_ = 0;
        complete_ = false;
        return {0, 0, kForEver, SpaceKind::metadata};
    }
    return extent;
}

void SpaceMap::set(std::size_t i, const FreeExtent& extent) noexcept {
    if (i < count_) {
        extents_[i] = extent;
    } else if (!overflow_->write(i - count_, extent)) {
        spilled_ = 0;
        complete_ = false;
    }
}

// The last extent takes the number of the erased one. Extents that the overflow keeps come back into memory so.
void SpaceMap::erase(std::size_t i) noexcept {
    if (spilled_ == 0) {
        extents_[i] = extents_[--count_];
        return;
    }
    const FreeExtent last = get(count() - 1);
    if (spilled_ != 0) {
        --spilled_;
        if (i < count()) {
            set(i, last);
        }
    } else if (i < count_) {
        extents_[i] = extents_[--count_];
    }
}

bool SpaceMap::overlaps(const FreeExtent& extent) noexcept {
    for (std::size_t i = 0; i < count(); ++i) {
        const FreeExtent each = get(i);
        if (each.address < extent.address + extent.size && extent.address < each.address + each.size) {
            return true;
        }
    }
    return false;
}

// Neighbours in the map would be one extent, so that the new one has at most one on each side, whichever is found
// first.
void SpaceMap::absorb(FreeExtent& extent, [[maybe_unused]] Address page) noexcept {
    for (std::size_t i = 0; i < count();) {
        const FreeExtent each = get(i);
        const bool before = each.address + each.size == extent.address;
        bool joins = each.pending == extent.pending && (before || extent.address + extent.size == each.address);
        SpaceKind kind = each.size > extent.size ? each.kind : extent.kind;
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            if (joins && page != 0) {
                joins = may_join(each.kind, extent.kind, before ? extent.address : each.address, page);
                kind = each.kind == SpaceKind::pages ? each.kind : extent.kind;
            }
        }
        if (joins) {
            extent.kind = kind;
            extent.address = before ? each.address : extent.address;
            extent.size += each.size;
            erase(i);
        } else {
            ++i;
        }
    }
}

// Making room changes the map, and how many extents the overflow keeps.
bool SpaceMap::spill(const FreeExtent& extent) noexcept {
    if (overflow_ == nullptr || !overflow_->reserve(spilled_ + 1) || !overflow_->write(spilled_, extent)) {
        return false;
    }
    ++spilled_;
    return true;
}

// The extent leaves memory first: the overflow may allocate its own space from what is there.
bool SpaceMap::spill_smallest() noexcept {
    const std::size_t least = smallest();
    const FreeExtent extent = extents_[least];
    extents_[least] = extents_[--count_];
    const bool spilled = spill(extent);
    if (!spilled && count_ < room_) {
        extents_[count_++] = extent;
    } else if (!spilled) {
        complete_ = false;
    }
    return spilled;
}

void SpaceMap::insert(const FreeExtent& extent) noexcept {
    // One place is left for what the overflow releases while it makes room for itself and takes nothing.
    const std::size_t room = overflow_ == nullptr ? room_ : room_ - 1;
    if (spilled_ == 0 && (count_ < room || grow())) {
        extents_[count_++] = extent;
    } else if (spill(extent)) {
        // What took the place that is left goes into the overflow as well, now that this has room.
        while (count_ > room && spill_smallest()) {
        }
    } else {
        const std::size_t at = count_ < room_ ? count_ : smallest();
        if (at == count_) {
            // What the overflow keeps is numbered from count_ on, so that the new extent becomes number count_.
            extents_[count_++] = extent;
            return;
        }
        complete_ = false;
        if (extents_[at].size < extent.size) {
            extents_[at] = extent;
        }
    }
}

std::size_t SpaceMap::smallest() const noexcept {
    std::size_t smallest = 0;
    for (std::size_t i = 1; i < count_; ++i) {
        smallest = extents_[i].size < extents_[smallest].size ? i : smallest;
    }
    return smallest;
}

void SpaceMap::use(FreeExtent* extents, std::size_t room) noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
        extents[i] = extents_[i];
    }
    if (extents_ != few_) {
        context_.release(MemoryKind::file, extents_, room_ * sizeof(FreeExtent));
    }
    extents_ = extents;
    room_ = room;
}

bool SpaceMap::grow() noexcept {
    const std::size_t room = 2 * room_;
    void* const memory =
        room > kMostExtents ? nullptr : context_.allocate_spare(MemoryKind::file, room * sizeof(FreeExtent));
    if (memory != nullptr) {
        use(static_cast<FreeExtent*>(memory), room);
    }
    return memory != nullptr;
}

void SpaceMap::reclaim() noexcept {
    if (extents_ != few_ && count_ <= H5MOTE_FREE_EXTENTS) {
        use(few_, H5MOTE_FREE_EXTENTS);
    }
}

bool SpaceMap::reclaim_used() noexcept {
    const bool many = extents_ != few_;
    const std::size_t few = overflow_ == nullptr ? H5MOTE_FREE_EXTENTS : H5MOTE_FREE_EXTENTS - 1;
    while (many && count_ > few) {
        if (overflow_ == nullptr) {
            complete_ = false;
            extents_[smallest()] = extents_[count_ - 1];
            --count_;
        } else if (!spill_smallest()) {
            return false;
        }
    }
    reclaim();
    return many;
}

}  // namespace h5mote
