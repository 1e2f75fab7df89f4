#include "card.hpp"

#include "../powercut/random.hpp"

#include <algorithm>

namespace h5mote_test {

using h5mote::Bytes;
using h5mote::ConstBytes;
using h5mote::Status;
using h5mote::Usage;

// Like a card that was in use before, it holds something everywhere but in its first sector.
Card::Card(std::uint64_t size, Power& power) : bytes_(static_cast<std::size_t>(size), std::byte{0xa5}), power_(power) {
    std::fill_n(bytes_.begin(), kSector, std::byte{0});
    synced_ = bytes_;
}

void Card::restart(bool lossy, std::uint64_t seed) {
    Random random(seed);
    for (const Pending& each : pending_) {
        if (!lossy || random.one_in(2)) {
            std::copy_n(each.bytes.begin(), kSector, synced_.begin() + static_cast<std::ptrdiff_t>(each.at));
        }
    }
    pending_.clear();
    bytes_ = synced_;
    end_ = bytes_.size();
}

h5mote::Capabilities Card::capabilities() const noexcept {
    h5mote::Capabilities capabilities;
    capabilities.atomic_unit = kSector;
    capabilities.extends_with_zeros = false;
    return capabilities;
}

Status Card::read(Usage, std::uint64_t address, Bytes to) noexcept {
    if (!power_.on() || address > end_ || to.size() > end_ - address) {
        return Status::io_error;
    }
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(address), to.size(), to.data());
    return Status::ok;
}

Status Card::write(Usage, std::uint64_t address, ConstBytes from) noexcept {
    if (!power_.spend()) {
        return Status::io_error;
    }
    if (address > bytes_.size() || from.size() > bytes_.size() - address) {
        return Status::no_space;
    }
    const auto begin = static_cast<std::size_t>(address);
    std::copy_n(from.data(), from.size(), bytes_.begin() + static_cast<std::ptrdiff_t>(begin));
    for (std::size_t at = begin / kSector * kSector; at < begin + from.size(); at += kSector) {
        Pending pending{at, {}};
        std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at), kSector, pending.bytes.begin());
        pending_.push_back(pending);
    }
    end_ = std::max<std::uint64_t>(end_, begin + from.size());
    return Status::ok;
}

Status Card::sync() noexcept {
    if (!power_.spend()) {
        return Status::io_error;
    }
    for (const Pending& each : pending_) {
        std::copy_n(each.bytes.begin(), kSector, synced_.begin() + static_cast<std::ptrdiff_t>(each.at));
    }
    pending_.clear();
    return Status::ok;
}

Status Card::end_of_file(std::uint64_t& size) noexcept {
    size = end_;
    return power_.on() ? Status::ok : Status::io_error;
}

Status Card::truncate(std::uint64_t size) noexcept {
    if (!power_.spend()) {
        return Status::io_error;
    }
    if (size > bytes_.size()) {
        return Status::no_space;
    }
    end_ = size;
    return Status::ok;
}

}  // namespace h5mote_test
