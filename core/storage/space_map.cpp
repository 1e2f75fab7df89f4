#include "space_map.hpp"

namespace h5mote {
namespace {

// The most extents that are remembered in memory. There is a limit because each released extent is compared with all of
// them.
constexpr std::size_t kMostExtents = 1024;

constexpr std::uint8_t kForEver = 0xff;

bool same_page(const FreeExtent& a, const FreeExtent& b, Address page) noexcept {
    return a.kind == b.kind && (a.kind == SpaceKind::pages || a.address / page == b.address / page);
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

// An extent has at most two neighbours, and each merge brings at most one new one to each side.
void SpaceMap::absorb(FreeExtent& extent, Address page) noexcept {
    for (std::size_t i = 0; i < count();) {
        const FreeExtent each = get(i);
        if (each.pending == extent.pending && (page == 0 || same_page(each, extent, page)) &&
            (each.address + each.size == extent.address || extent.address + extent.size == each.address)) {
            extent.kind = each.size > extent.size ? each.kind : extent.kind;
            extent.address = each.address < extent.address ? each.address : extent.address;
            extent.size += each.size;
            erase(i);
            i = 0;
        } else {
            ++i;
        }
    }
}

// Takes a copy, because what the overflow does to make room may move the extents in memory. Extents that this adds to
// the map find places there, which are freed again afterwards.
bool SpaceMap::spill(FreeExtent extent) noexcept {
    if (overflow_ == nullptr || spilling_) {
        return false;
    }
    spilling_ = true;
    const bool room = overflow_->make_room(spilled_ + 1 + kSpare);
    spilling_ = false;
    if (!room || !overflow_->write(spilled_, extent)) {
        return false;
    }
    ++spilled_;
    for (std::size_t left = kSpare; left > 0 && count_ + kSpare > room_; --left) {
        if (!overflow_->write(spilled_, extents_[count_ - 1])) {
            break;
        }
        --count_;
        ++spilled_;
    }
    return true;
}

void SpaceMap::insert(const FreeExtent& extent) noexcept {
    if (spilled_ == 0 && (count_ + spare() < room_ || grow())) {
        extents_[count_++] = extent;
    } else if (!spill(extent)) {
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
    if (extents_ != few_ && count_ + spare() <= H5MOTE_FREE_EXTENTS) {
        use(few_, H5MOTE_FREE_EXTENTS);
    }
}

bool SpaceMap::reclaim_used() noexcept {
    const bool many = extents_ != few_;
    while (many && count_ + spare() > H5MOTE_FREE_EXTENTS) {
        // Take the extent out first: spill() may change the numbers of the others.
        const std::size_t least = smallest();
        const FreeExtent extent = extents_[least];
        extents_[least] = extents_[--count_];
        if (overflow_ == nullptr) {
            complete_ = false;
        } else if (!spill(extent)) {
            extents_[count_++] = extent;
            return false;
        }
    }
    reclaim();
    return many;
}

}  // namespace h5mote
