#include "used_runs.hpp"

namespace h5mote {

UsedRuns::~UsedRuns() { context_.release(MemoryKind::other, runs_, capacity_ * sizeof(ByteRun)); }

Status UsedRuns::reserve(std::size_t bytes) noexcept {
    const std::size_t capacity = bytes / sizeof(ByteRun) < 4 ? 4 : bytes / sizeof(ByteRun);
    runs_ = static_cast<ByteRun*>(context_.allocate(MemoryKind::other, capacity * sizeof(ByteRun)));
    capacity_ = runs_ == nullptr ? 0 : capacity;
    return runs_ == nullptr ? Status::out_of_memory : Status::ok;
}

void UsedRuns::begin(Address size) noexcept {
    size_ = end_ = size;
    from_ = 0;
    begin_part();
}

void UsedRuns::begin_part() noexcept {
    bytes_ = 0;
    count_ = 0;
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        shared_ = 0;
    }
}

bool UsedRuns::advance() noexcept {
    if (end_ == size_) {
        return false;
    }
    from_ = end_;
    end_ = size_;
    begin_part();
    return true;
}

bool UsedRuns::add(Address address, Address size, bool shared) noexcept {
    ByteRun run{address, address + size};
    if (!shared) {
        if (size > size_ - bytes_) {
            return false;
        }
        bytes_ += size;
        // Both ends of the part are places where a used block begins.
        if ((run.address < from_ && run.end > from_) || (run.address < end_ && run.end > end_)) {
            return false;
        }
    } else {
        shared_ += size;
    }
    run.address = run.address < from_ ? from_ : run.address;
    run.end = run.end > end_ ? end_ : run.end;
    if (run.address >= run.end) {
        return true;
    }
    // The runs from `at` to `behind` touch the new one. Most blocks are added in the order of their addresses, so the
    // search begins at the end.
    std::size_t behind = count_;
    while (behind != 0 && runs_[behind - 1].address > run.end) {
        --behind;
    }
    std::size_t at = behind;
    for (; at != 0 && runs_[at - 1].end >= run.address; --at) {
        const ByteRun& other = runs_[at - 1];
        if (!shared && other.address < run.end && run.address < other.end) {
            return false;
        }
        run.address = other.address < run.address ? other.address : run.address;
        run.end = other.end > run.end ? other.end : run.end;
    }
    if (at == behind && count_ == capacity_) {
        // The highest run, which may be the new one, is left to the next walk.
        if (at == count_) {
            end_ = run.address;
            return true;
        }
        end_ = runs_[--count_].address;
    }
    const std::size_t kept = count_ - behind;
    if (at == behind) {
        for (std::size_t i = count_; i > at; --i) {
            runs_[i] = runs_[i - 1];
        }
    } else {
        for (std::size_t i = 0; i < kept; ++i) {
            runs_[at + 1 + i] = runs_[behind + i];
        }
    }
    runs_[at] = run;
    count_ = at + 1 + kept;
    return true;
}

}  // namespace h5mote
