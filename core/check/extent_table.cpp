#include "extent_table.hpp"

#if H5MOTE_ALL_FORMATS

namespace h5mote {
namespace {

bool before(const CheckExtent& a, const CheckExtent& b) noexcept {
    return a.address != b.address ? a.address < b.address : a.size != b.size ? a.size < b.size : a.object < b.object;
}

void swap(CheckExtent& a, CheckExtent& b) noexcept {
    const CheckExtent c = a;
    a = b;
    b = c;
}

void sift(CheckExtent* heap, std::size_t at, std::size_t count) noexcept {
    for (std::size_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && before(heap[child], heap[child + 1])) {
            ++child;
        }
        if (!before(heap[at], heap[child])) {
            return;
        }
        swap(heap[at], heap[child]);
        at = child;
    }
}

bool same_shared(const CheckExtent& a, const CheckExtent& b) noexcept {
    return a.shared && b.shared && a.address == b.address && a.size == b.size && a.part == b.part;
}

}  // namespace

ExtentTable::~ExtentTable() { context_.release(MemoryKind::other, extents_, capacity_ * sizeof(CheckExtent)); }

Status ExtentTable::reserve(std::size_t bytes) noexcept {
    const std::size_t capacity = bytes / sizeof(CheckExtent) < 4 ? 4 : bytes / sizeof(CheckExtent);
    extents_ = static_cast<CheckExtent*>(context_.allocate(MemoryKind::other, capacity * sizeof(CheckExtent)));
    capacity_ = extents_ == nullptr ? 0 : capacity;
    return extents_ == nullptr ? Status::out_of_memory : Status::ok;
}

// Sorts the blocks, and keeps one of each shared block. A heap sort takes no more memory and has no slow worst case.
void ExtentTable::sort() noexcept {
    for (std::size_t i = count_ / 2; i-- > 0;) {
        sift(extents_, i, count_);
    }
    for (std::size_t i = count_; i-- > 1;) {
        swap(extents_[0], extents_[i]);
        sift(extents_, 0, i);
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count_; ++i) {
        if (kept == 0 || !same_shared(extents_[kept - 1], extents_[i])) {
            extents_[kept++] = extents_[i];
        }
    }
    count_ = kept;
}

// Drops the blocks of the upper half. The next walk begins at an address, so blocks with the same address must all stay
// or all go. If all have the same address, which only a damaged file brings about, one of them is forgotten.
void ExtentTable::shrink() noexcept {
    sort();
    if (count_ < capacity_) {
        return;
    }
    std::size_t keep = count_ / 2;
    while (keep > 0 && extents_[keep - 1].address == extents_[count_ / 2].address) {
        --keep;
    }
    if (keep == 0) {
        for (keep = count_ / 2; keep < count_ && extents_[keep].address == extents_[0].address;) {
            ++keep;
        }
    }
    if (keep == count_) {
        --count_;
        return;
    }
    end_ = extents_[keep].address;
    count_ = keep;
}

void ExtentTable::add(const CheckExtent& extent) noexcept {
    if (extent.size == 0 || extent.address < from_ || extent.address >= end_) {
        return;
    }
    if (count_ == capacity_) {
        shrink();
        if (extent.address >= end_) {
            return;
        }
    }
    extents_[count_++] = extent;
}

void ExtentTable::finish() noexcept { sort(); }

bool ExtentTable::advance() noexcept {
    from_ = end_;
    end_ = kUndefinedAddress;
    count_ = 0;
    return from_ != kUndefinedAddress;
}

}  // namespace h5mote

#endif
