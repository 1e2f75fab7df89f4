#include <h5mote/status.hpp>

namespace h5mote {

Status RingTrail::add(std::uint32_t where) noexcept { return add_small(where, 0, 0); }

Status RingTrail::add_small(std::uint32_t where, std::uint32_t detail, std::uint32_t value) noexcept {
    return add(where, detail, value);
}

Status RingTrail::add_value(std::uint32_t where, std::uint64_t value) noexcept { return add(where, 0, value); }

Status RingTrail::add(std::uint32_t where, std::uint32_t detail, std::uint64_t value) noexcept {
    entries_[next_] = {where, detail, value};
    if (size_ < kCapacity) {
        ++size_;
    }
    next_ = static_cast<std::uint8_t>(next_ + 1 == kCapacity ? 0 : next_ + 1);
    return static_cast<Status>(where & 0x1fU);
}

ErrorRecord RingTrail::newest(std::size_t i) const noexcept {
    if (i >= size_) {
        return {};
    }
    // next_ is one past the newest, and i + 1 is at most the length of the ring.
    const std::size_t back = i + 1;
    const Entry& entry = entries_[next_ >= back ? next_ - back : next_ + kCapacity - back];
    ErrorRecord record = error_record(entry.where);
    record.detail = entry.detail;
    record.value = entry.value;
    return record;
}

}  // namespace h5mote
