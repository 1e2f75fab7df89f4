// H5Znbit - the walk through the elements of a chunk that encoder and decoder share.
//
// Layout: the bits of all elements one after the other, from the highest bit of each byte. A number has its precision
// bits, the highest first, whatever its byte order. Other types are copied whole, without being aligned to bytes.
//
// Client data: number of values | 1 if nothing is packed | elements of the chunk | type. A type is its class, then
//   1 number    size | order (0 little-endian, 1 big-endian) | precision | offset
//   2 array     size | type of an element
//   3 compound  size | number of members | of each: offset | type
//   4 other     size
#pragma once

#include <h5mote/filter.hpp>

#include "checked.hpp"

namespace h5mote::nbit {

enum Class : std::uint32_t { kNumber = 1, kArray = 2, kCompound = 3, kOther = 4 };

enum Value : std::size_t { kCount = 0, kUnpacked = 1, kElements = 2, kType = 3, kTypeSize = 4 };

/// `Side` moves bits between the packed stream and the chunk: move(at, low, width) those of byte `at` of the chunk from
/// bit `low` on. It says with ok() whether the stream was long enough, and with kEncodes which way they go.
template <typename Side>
class Walk {
public:
    Walk(const FilterSpec& spec, Side& side) noexcept : spec_(spec), side_(side) {}

    /// Walks through a chunk of `size` bytes, all of whose elements it has. False: the client data make no sense, the
    /// stream is too short or, when encoding, would not hold all members.
    bool run(std::size_t size) noexcept {
        next_ = kTypeSize;
        return elements(spec_.value(kType), 0, spec_.value(kElements), size, H5MOTE_MAX_TYPE_DEPTH);
    }

private:
    std::uint32_t take() noexcept { return spec_.value(next_++); }
    void go_to(std::size_t value) noexcept {
        next_ = value;
        astray_ = false;
    }

    bool elements(std::uint32_t type, std::size_t at, std::size_t count, std::size_t room, unsigned depth) noexcept;
    bool numbers(std::size_t at, std::size_t count, std::uint32_t size) noexcept;
    bool array(std::size_t at, std::uint32_t size, unsigned depth) noexcept;
    bool compound(std::size_t at, std::uint32_t size, unsigned depth) noexcept;

    const FilterSpec& spec_;
    Side& side_;
    std::size_t next_ = 0;
    bool astray_ = false;  // the next value is not the one that describes what follows
};

// `count` elements of a type whose class is `type` and whose description continues at the next value, at `at`, where
// `room` bytes are theirs. `depth` more types may be nested in it. Every level has at most as many elements as bytes,
// so that the work is bounded by the chunk and the depth.
template <typename Side>
bool Walk<Side>::elements(std::uint32_t type, std::size_t at, std::size_t count, std::size_t room,
                          unsigned depth) noexcept {
    const std::uint32_t size = take();
    if (size == 0 || count > room / size) {
        return false;
    }
    if (type == kNumber) {
        return numbers(at, count, size);
    }
    if (type == kOther) {
        for (std::size_t i = 0; i < count * size; ++i) {
            side_.move(at + i, 0, 8);
        }
        return side_.ok();
    }
    const std::size_t begin = next_;
    bool sound = depth > 0 && (type == kArray || type == kCompound);
    for (; sound && count > 0; --count, at += size) {
        go_to(begin);
        sound = type == kArray ? array(at, size, depth - 1) : compound(at, size, depth - 1);
    }
    return sound;
}

template <typename Side>
bool Walk<Side>::numbers(std::size_t at, std::size_t count, std::uint32_t size) noexcept {
    const std::uint32_t order = take();
    const std::uint64_t precision = take();
    const std::uint64_t offset = take();
    const std::uint64_t end = offset + precision;
    if (order > 1 || end > std::uint64_t{size} * 8) {
        return false;
    }
    // Bytes of the number that hold its bits, counted from the lowest.
    const auto lowest = static_cast<std::size_t>(offset / 8);
    const auto above = static_cast<std::size_t>((end + 7) / 8);
    const unsigned first_bits = end % 8 != 0 ? static_cast<unsigned>(end % 8) : 8;
    const unsigned shift = offset % 8;
    for (; count > 0; --count, at += size) {
        unsigned width = first_bits;
        for (std::size_t i = above; precision > 0 && i-- > lowest; width = 8) {
            const unsigned low = i == lowest ? shift : 0;
            side_.move(at + (order == 0 ? i : size - 1 - i), low, width - low);
        }
    }
    return side_.ok();
}

template <typename Side>
bool Walk<Side>::array(std::size_t at, std::uint32_t size, unsigned depth) noexcept {
    const std::uint32_t type = take();
    const std::size_t begin = next_;
    const std::uint32_t element = spec_.value(begin);
    if (element == 0 || !elements(type, at, size / element, size, depth)) {
        return false;
    }
    if (type == kArray || type == kCompound) {
        // As libhdf5 packs it: what follows an array of such elements is read from the values that describe the
        // element.
        next_ = begin;
        astray_ = true;
    }
    return true;
}

template <typename Side>
bool Walk<Side>::compound(std::size_t at, std::uint32_t size, unsigned depth) noexcept {
    std::uint32_t used = 0;
    for (std::uint32_t members = take(); members > 0; --members) {
        if (Side::kEncodes && astray_) {
            return false;
        }
        const std::uint32_t offset = take();
        const std::uint32_t type = take();
        const std::uint32_t member = spec_.value(next_);
        if (!checked_add(used, member, used) || used > size || offset > size || member > size - offset ||
            !elements(type, at + offset, 1, member, depth)) {
            return false;
        }
    }
    return true;
}

}  // namespace h5mote::nbit
