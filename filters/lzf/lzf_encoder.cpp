// The encoder: repetitions are looked for at the newest position at which three bytes with the same hash were seen.
// Positions are kept modulo 65,536 in a table of 2 KiB; what is found there is compared with the input, so that it may
// as well be stale.
#include <h5mote/filters/lzf.hpp>

#include "cursor.hpp"

namespace h5mote {
namespace {

constexpr std::size_t kMostLiterals = 32;
constexpr std::size_t kMostDistance = 8192;
constexpr std::size_t kLeastLength = 3;
constexpr std::size_t kMostLength = 264;
constexpr unsigned kHashBits = 10;
static_assert((sizeof(std::uint16_t) << kHashBits) == LzfFilter::kEncodeScratch);

class Encoder {
public:
    Encoder(ConstBytes in, Bytes out, std::uint16_t* table) noexcept : in_(in), out_(out), table_(table) {
        std::memset(table, 0, LzfFilter::kEncodeScratch);
    }

    /// False when the output is full.
    bool run(std::size_t& size) noexcept;

private:
    void remember(std::size_t at) noexcept { slot(at) = static_cast<std::uint16_t>(at); }
    std::uint16_t& slot(std::size_t at) noexcept;
    std::size_t length_of_match(std::size_t at, std::size_t distance) const noexcept;
    bool literals(std::size_t from, std::size_t to) noexcept;
    bool repetition(std::size_t length, std::size_t distance) noexcept;

    const ConstBytes in_;
    const Bytes out_;
    std::uint16_t* const table_;
    std::size_t to_ = 0;  // bytes written
};

// Of three bytes; there are as many at `at`.
std::uint16_t& Encoder::slot(std::size_t at) noexcept {
    const auto byte = [this, at](std::size_t i) { return static_cast<std::uint32_t>(in_[at + i]); };
    const std::uint32_t key = byte(0) << 16 | byte(1) << 8 | byte(2);
    return table_[key * 0x9e3779b1U >> (32 - kHashBits)];
}

std::size_t Encoder::length_of_match(std::size_t at, std::size_t distance) const noexcept {
    const std::size_t left = in_.size() - at;
    const std::size_t most = left < kMostLength ? left : kMostLength;
    std::size_t length = 0;
    while (length < most && in_[at + length] == in_[at + length - distance]) {
        ++length;
    }
    return length;
}

bool Encoder::literals(std::size_t from, std::size_t to) noexcept {
    while (from < to) {
        const std::size_t count = to - from < kMostLiterals ? to - from : kMostLiterals;
        if (count >= out_.size() - to_) {
            return false;
        }
        out_[to_++] = static_cast<std::byte>(count - 1);
        std::memcpy(out_.data() + to_, in_.data() + from, count);
        to_ += count;
        from += count;
    }
    return true;
}

bool Encoder::repetition(std::size_t length, std::size_t distance) noexcept {
    const std::size_t above = length - 2;
    const std::size_t back = distance - 1;
    if (out_.size() - to_ < (above < 7 ? 2U : 3U)) {
        return false;
    }
    out_[to_++] = static_cast<std::byte>((above < 7 ? above : 7) << 5 | back >> 8);
    if (above >= 7) {
        out_[to_++] = static_cast<std::byte>(above - 7);
    }
    out_[to_++] = static_cast<std::byte>(back);
    return true;
}

bool Encoder::run(std::size_t& size) noexcept {
    std::size_t done = 0;  // what lies before it is written
    std::size_t at = 0;
    while (in_.size() - at >= kLeastLength) {
        std::uint16_t& place = slot(at);
        const std::size_t distance = (at - place) & 0xffff;
        place = static_cast<std::uint16_t>(at);
        const bool possible = distance != 0 && distance <= at && distance <= kMostDistance;
        const std::size_t length = possible ? length_of_match(at, distance) : 0;
        if (length < kLeastLength) {
            ++at;
            continue;
        }
        if (!literals(done, at) || !repetition(length, distance)) {
            return false;
        }
        // Positions within a repetition are remembered, too, as far as three bytes begin there.
        for (done = at + length; ++at < done;) {
            if (in_.size() - at >= kLeastLength) {
                remember(at);
            }
        }
    }
    const bool fits = literals(done, in_.size());
    size = to_;
    return fits;
}

}  // namespace

Status LzfFilter::can_apply(const FilterSpec& /*spec*/, const FilterTarget& /*target*/) const noexcept {
    return Status::ok;
}

Status LzfFilter::set_local(FilterSpec& spec, const FilterTarget& target) const noexcept {
    spec.value_count = 3;
    spec.encoded = nullptr;
    spec.values[0] = 4;      // of h5py's filter
    spec.values[1] = 0x105;  // of LibLZF
    spec.values[2] = target.chunk_bytes;
    return Status::ok;
}

std::size_t LzfFilter::scratch_need(bool encode, std::size_t /*size*/) const noexcept {
    return encode ? kEncodeScratch : 0;
}

std::size_t LzfFilter::encoded_limit(const FilterSpec& spec, std::size_t size) const noexcept {
    if (spec.optional) {
        return size == 0 ? 0 : size - 1;
    }
    const std::size_t extra = (size + kMostLiterals - 1) / kMostLiterals;
    return size > SIZE_MAX - kMostLiterals - extra ? SIZE_MAX : size + extra;
}

Status LzfFilter::encode(const FilterSpec& /*spec*/, ConstBytes in, Bytes out, std::size_t& size,
                         Bytes scratch) const noexcept {
    if (scratch.size() < kEncodeScratch || reinterpret_cast<std::uintptr_t>(scratch.data()) % alignof(std::uint16_t)) {
        return Status::over_budget;
    }
    // An empty chunk has no code. libhdf5 takes an empty result for a failure.
    Encoder encoder(in, out, reinterpret_cast<std::uint16_t*>(scratch.data()));
    return encoder.run(size) ? Status::ok : Status::no_space;
}

}  // namespace h5mote
