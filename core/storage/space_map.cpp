#include "space_map.hpp"

#include "checked.hpp"

namespace h5mote {
namespace {

// The most extents that are remembered in memory. There is a limit because each allocation looks at all of them: that
// takes a large machine about a nanosecond each, a small one thirty. To read them from the file, as is done with all
// others, takes many times as long.
constexpr std::size_t kMostExtents = sizeof(std::size_t) > 4 ? 65536 : 1024;

// Whether two extents that meet at `border` become one in a file with pages. A page in the middle of which whole pages
// end or begin belongs to one large block: all that is free in it goes with them.
bool may_join(SpaceKind a, SpaceKind b, Address border, Address page) noexcept {
    const bool pages = a == SpaceKind::pages && b == SpaceKind::pages;
    return pages || ((a == b || a == SpaceKind::pages || b == SpaceKind::pages) && remainder_of(border, page) != 0);
}

}  // namespace

FreeExtent SpaceMap::get_spilled(std::size_t i) noexcept { return overflow_->get(*this, i); }

void SpaceMap::set(std::size_t i, const FreeExtent& extent) noexcept {
    if (i < count_) {
        extents_[i] = extent;
        hints().note(i, extent.size, extent.pending != 0);
    } else {
        overflow_->set(*this, i - count_, extent);
    }
}

// No two extents have a byte in common, so that their ends are in the order of their addresses.
std::size_t SpaceMap::first_ending_at(Address address) const noexcept {
    std::size_t low = 0;
    for (std::size_t high = count_; low < high;) {
        const std::size_t middle = low + (high - low) / 2;
        if (extents_[middle].address + extents_[middle].size < address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void SpaceMap::put_in(const FreeExtent& extent) noexcept {
    const std::size_t at = first_ending_at(extent.address + extent.size);
    for (std::size_t i = count_++; i > at; --i) {
        extents_[i] = extents_[i - 1];
    }
    extents_[at] = extent;
    note_moved(at);
}

void SpaceMap::take_out(std::size_t at) noexcept {
    std::size_t i = at;
    for (--count_; i < count_; ++i) {
        extents_[i] = extents_[i + 1];
    }
    note_moved(at);
}

// Of the extents that moved by one place, those at the ends of runs are in another run now.
void SpaceMap::note_ends(std::size_t from) noexcept {
    if (!hints().valid()) {
        return;
    }
    const auto note_at = [&](std::size_t i) {
        if (i >= from && i < count_) {
            hints().note(i, extents_[i].size, extents_[i].pending != 0);
        }
    };
    note_at(from);
    for (std::size_t begin = from / Hints::kRun * Hints::kRun; begin < count_; begin += Hints::kRun) {
        note_at(begin);
        note_at(begin + Hints::kRun - 1);
    }
}

std::size_t SpaceMap::find_pending(std::size_t from) noexcept {
    std::size_t i = from;
    while (hints().valid() && i < count_ && extents_[i].pending == 0) {
        const std::size_t run = i / Hints::kRun;
        const std::size_t next = (run + 1) * Hints::kRun;
        const std::size_t end = next < count_ ? next : count_;
        if (!hints().may_be_pending(run)) {
            i = end;
            continue;
        }
        const bool whole = i % Hints::kRun == 0;
        while (i < end && extents_[i].pending == 0) {
            ++i;
        }
        if (whole && i == end) {
            hints().clear_pending(run);
        }
    }
    while (i < count_ && extents_[i].pending == 0) {
        ++i;
    }
    return i;
}

void SpaceMap::erase(std::size_t i) noexcept {
    if (spilled_ == 0) {
        take_out(i);
    } else {
        overflow_->erase(*this, i);
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

// Neighbours in the map would be one extent, so that the new one has at most one on each side. Both are found before
// either is taken out, because that changes the numbers.
bool SpaceMap::absorb(FreeExtent& extent, [[maybe_unused]] Address page) noexcept {
    const Address end = extent.address + extent.size;
    std::size_t joined[2];
    unsigned joins = 0;
    FreeExtent whole = extent;
    for (std::size_t i = first_ending_at(extent.address); i < count(); ++i) {
        const FreeExtent each = get(i);
        const Address each_end = each.address + each.size;
        if (each.address > end || each_end < extent.address) {
            // Those in memory that follow lie even farther behind.
            i = i < count_ ? count_ - 1 : i;
            continue;
        }
        if (each.address < end && extent.address < each_end) {
            return false;
        }
        const bool before = each_end == extent.address;
        if (each.pending != extent.pending || joins == 2) {
            continue;
        }
        SpaceKind kind = each.size > whole.size ? each.kind : whole.kind;
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            if (page != 0) {
                if (!may_join(each.kind, extent.kind, before ? extent.address : each.address, page)) {
                    continue;
                }
                kind = each.kind == SpaceKind::pages ? each.kind : whole.kind;
            }
        }
        whole.kind = kind;
        whole.address = before ? each.address : whole.address;
        whole.size += each.size;
        joined[joins++] = i;
    }
    extent = whole;
    for (; joins > 0; --joins) {
        // Erasing one may change the number of the other. The storage of what is not in memory may have failed, which
        // leaves fewer.
        const std::size_t other = joined[0];
        const bool moves = joins == 2 && other < count_;
        const Address address = moves ? extents_[other].address : 0;
        if (joined[joins - 1] < count()) {
            erase(joined[joins - 1]);
        }
        joined[0] = moves ? first_ending_at(address + 1) : other;
    }
    return true;
}

void SpaceMap::insert(const FreeExtent& extent) noexcept {
    if (spilled_ == 0 && (count_ < room_in_memory(room_) || grow())) {
        put_in(extent);
    } else if (overflow_ == nullptr || !overflow_->insert(*this, extent)) {
        const std::size_t at = count_ < room_ ? count_ : smallest();
        if (at == count_) {
            // What the overflow keeps is numbered from count_ on, so that the new extent becomes number count_.
            put_in(extent);
            return;
        }
        complete_ = false;
        if (extents_[at].size < extent.size) {
            take_out(at);
            put_in(extent);
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
        context_.release(MemoryKind::file, extents_, bytes_of(room_));
    }
    extents_ = extents;
    room_ = room;
    if (hints().valid()) {
        hints().start(room);
        for (std::size_t i = 0; i < count_; ++i) {
            hints().note(i, extents_[i].size, extents_[i].pending != 0);
        }
    }
}

bool SpaceMap::grow() noexcept {
    const std::size_t room = 2 * room_;
    void* const memory = room > kMostExtents ? nullptr : context_.allocate_spare(MemoryKind::file, bytes_of(room));
    if (memory != nullptr) {
        use(static_cast<FreeExtent*>(memory), room);
    }
    return memory != nullptr;
}

void SpaceMap::reclaim() noexcept {
    if (extents_ != few_ && count_ <= kFew) {
        use(few_, kFew);
    }
}

bool SpaceMap::reclaim_used() noexcept {
    const bool many = extents_ != few_;
    while (many && count_ > room_in_memory(kFew)) {
        if (overflow_ == nullptr) {
            complete_ = false;
            take_out(smallest());
        } else if (!overflow_->take_smallest(*this)) {
            return false;
        }
    }
    reclaim();
    return many;
}

}  // namespace h5mote
