#include "space_map.hpp"

namespace h5mote {
namespace {

// The most extents that are remembered. There is a limit because each released extent is compared with all of them.
constexpr std::size_t kMostExtents = 1024;

}  // namespace

bool SpaceMap::overlaps(const FreeExtent& extent) const noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
        if (extents_[i].address < extent.address + extent.size &&
            extent.address < extents_[i].address + extents_[i].size) {
            return true;
        }
    }
    return false;
}

// Each merge may make another one possible.
void SpaceMap::absorb(FreeExtent& extent) noexcept {
    for (std::size_t i = 0; i < count_;) {
        const FreeExtent each = extents_[i];
        if (each.pending == extent.pending &&
            (each.address + each.size == extent.address || extent.address + extent.size == each.address)) {
            extent.address = each.address < extent.address ? each.address : extent.address;
            extent.size += each.size;
            erase(i);
            i = 0;
        } else {
            ++i;
        }
    }
}

void SpaceMap::insert(const FreeExtent& extent) noexcept {
    std::size_t at = count_;
    if (count_ < room_ || grow()) {
        ++count_;
    } else {
        at = smallest();
        if (extents_[at].size >= extent.size) {
            return;
        }
    }
    extents_[at] = extent;
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
    while (count_ > H5MOTE_FREE_EXTENTS) {
        erase(smallest());
    }
    reclaim();
    return many;
}

}  // namespace h5mote
