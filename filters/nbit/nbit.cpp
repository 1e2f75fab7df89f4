// Layout: the bits of all elements one after the other, from the highest bit of each byte. A number has its precision
// bits, the highest first, whatever its byte order. Other types are copied whole, without being aligned to bytes.
//
// Client data: number of values | 1 if nothing is packed | elements of the chunk | type. A type is its class, then
//   1 number    size | order (0 little-endian, 1 big-endian) | precision | offset
//   2 array     size | type of an element
//   3 compound  size | number of members | of each: offset | type
//   4 other     size
#include <h5mote/filters/nbit.hpp>

#include "bit_reader.hpp"
#include "checked.hpp"

#include <cstring>

namespace h5mote {
namespace {

enum Class : std::uint32_t { kNumber = 1, kArray = 2, kCompound = 3, kOther = 4 };

enum Value : std::size_t { kCount = 0, kUnpacked = 1, kElements = 2, kType = 3, kTypeSize = 4 };

class Unpacker {
public:
    Unpacker(const FilterSpec& spec, ConstBytes in, std::byte* out) noexcept : spec_(spec), bits_(in), out_(out) {}

    /// Unpacks `count` elements of a type whose class is `type` and whose description continues at the next value, to
    /// `out` + `at`, where `room` bytes are theirs. `depth` more types may be nested in it.
    bool elements(std::uint32_t type, std::size_t at, std::size_t count, std::size_t room, unsigned depth) noexcept;
    void go_to(std::size_t value) noexcept { next_ = value; }

private:
    std::uint32_t take() noexcept { return spec_.value(next_++); }
    bool numbers(std::size_t at, std::size_t count, std::uint32_t size) noexcept;
    bool array(std::size_t at, std::uint32_t size, unsigned depth) noexcept;
    bool compound(std::size_t at, std::uint32_t size, unsigned depth) noexcept;

    const FilterSpec& spec_;
    BitReader bits_;
    std::byte* out_;
    std::size_t next_ = 0;
};

// Every level has at most as many elements as bytes, so that the work is bounded by the chunk and the depth.
bool Unpacker::elements(std::uint32_t type, std::size_t at, std::size_t count, std::size_t room,
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
            out_[at + i] = static_cast<std::byte>(bits_.bits(8));
        }
        return bits_.ok();
    }
    const std::size_t begin = next_;
    bool sound = depth > 0 && (type == kArray || type == kCompound);
    for (; sound && count > 0; --count, at += size) {
        next_ = begin;
        sound = type == kArray ? array(at, size, depth - 1) : compound(at, size, depth - 1);
    }
    return sound;
}

bool Unpacker::numbers(std::size_t at, std::size_t count, std::uint32_t size) noexcept {
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
            const std::uint32_t bits = bits_.bits(width - low) << low;
            out_[at + (order == 0 ? i : size - 1 - i)] = static_cast<std::byte>(bits);
        }
    }
    return bits_.ok();
}

bool Unpacker::array(std::size_t at, std::uint32_t size, unsigned depth) noexcept {
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
    }
    return true;
}

bool Unpacker::compound(std::size_t at, std::uint32_t size, unsigned depth) noexcept {
    std::uint32_t used = 0;
    for (std::uint32_t members = take(); members > 0; --members) {
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

}  // namespace

FilterId NbitFilter::id() const noexcept { return FilterId::nbit; }

Status NbitFilter::decode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                          Bytes /*scratch*/) const noexcept {
    if (spec.value_count == 0 || spec.value(kCount) != spec.value_count) {
        return Status::corrupt_file;
    }
    if (spec.value(kUnpacked) != 0) {
        if (in.size() > out.size()) {
            return Status::corrupt_file;
        }
        size = in.size();
        if (size != 0) {
            std::memcpy(out.data(), in.data(), size);
        }
        return Status::ok;
    }
    const std::uint64_t total = std::uint64_t{spec.value(kElements)} * spec.value(kTypeSize);
    if (total > out.size()) {
        return Status::corrupt_file;
    }
    size = static_cast<std::size_t>(total);
    if (size != 0) {
        std::memset(out.data(), 0, size);
    }
    Unpacker unpacker(spec, in, out.data());
    unpacker.go_to(kTypeSize);
    return unpacker.elements(spec.value(kType), 0, spec.value(kElements), size, H5MOTE_MAX_TYPE_DEPTH)
               ? Status::ok
               : Status::corrupt_file;
}

}  // namespace h5mote
