// The decoder; packing.hpp has the layout.
#include <h5mote/filters/scaleoffset.hpp>

#include "bit_reader.hpp"
#include "byte_order.hpp"
#include "packing.hpp"

namespace h5mote {
namespace {

using namespace scaleoffset;

// A packed chunk, as the client data and its header describe it.
struct PackedChunk : Packing {
    /// Reads the chunk's header; false if it is damaged.
    bool open_chunk(ConstBytes in) noexcept;
    std::uint64_t unpack(std::uint64_t packed) const noexcept;

    std::uint32_t bits = 0;       // of a packed number
    std::uint64_t fill_bits = 0;  // packed value that stands for the fill value
    std::uint64_t minimum = 0;
    Real power;
    double double_power = 1;  // the same number, where the processor can divide by it
    float single_power = 1;   // the power, rounded once more
};

bool PackedChunk::open_chunk(ConstBytes in) noexcept {
    Reader header(in);
    bits = header.u32();
    const unsigned width = header.u8();
    minimum = header.uint(width < 8 ? width : 8);
    // When the first of the 32-bit floating-point numbers of a chunk is a NaN, libhdf5 takes 64 bits for necessary and
    // then stores none at all. It reads such a chunk as fill values, or as that NaN if there is no fill value, which is
    // just what packed numbers of 0 bits give.
    bits = floating && element == 4 && bits == 64 ? 0 : bits;
    if (!header.ok() || bits > element * 8) {
        return false;
    }
    fill_bits = bits == 0 ? 0 : ~std::uint64_t{0} >> (64 - bits);
    if (floating) {
        power = power_of_ten(scale);
        std::byte bytes[4];
        store_real(bytes, power, sizeof bytes, false, MostReal::nearest);
        const auto single = static_cast<std::uint32_t>(load_uint(bytes, sizeof bytes));
        std::memcpy(&single_power, &single, sizeof single_power);
        if constexpr (kHasDoubles) {
            std::byte wide[8];
            store_real(wide, power, sizeof wide, false, MostReal::nearest);
            const std::uint64_t number = load_uint(wide, sizeof wide);
            std::memcpy(&double_power, &number, sizeof double_power);
        }
    }
    return true;
}

// Single precision: many small machines have instructions for that.
std::uint64_t unscaled_single(std::uint32_t packed, std::uint64_t minimum, float power) noexcept {
    auto bits = static_cast<std::uint32_t>(minimum);
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    value = static_cast<float>(static_cast<std::int32_t>(packed)) / power + value;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

std::uint64_t unscaled_double(std::uint64_t packed, std::uint64_t minimum, const PackedChunk& packing) noexcept {
    if constexpr (kHasDoubles) {
        double value = 0;
        std::memcpy(&value, &minimum, sizeof value);
        value = static_cast<double>(static_cast<std::int64_t>(packed)) / packing.double_power + value;
        std::memcpy(&minimum, &value, sizeof value);
        return minimum;
    }
    std::byte bytes[8];
    store_uint(bytes, sizeof bytes, minimum);
    const Real value =
        sum(quotient(real_of(static_cast<std::int64_t>(packed)), packing.power), load_real(bytes, sizeof bytes, false));
    store_real(bytes, value, sizeof bytes, false, MostReal::nearest);
    return load_uint(bytes, sizeof bytes);
}

std::uint64_t PackedChunk::unpack(std::uint64_t packed) const noexcept {
    if (has_fill && packed == fill_bits) {
        return fill;
    }
    if (!floating) {
        return packed + minimum;
    }
    return element == 4 ? unscaled_single(static_cast<std::uint32_t>(packed), minimum, single_power)
                        : unscaled_double(packed, minimum, *this);
}

void copy(ConstBytes from, std::byte* to) noexcept {
    if (!from.empty()) {
        std::memcpy(to, from.data(), from.size());
    }
}

}  // namespace

FilterId ScaleoffsetDecoder::id() const noexcept { return FilterId::scaleoffset; }

std::size_t ScaleoffsetDecoder::encoded_limit(const FilterSpec& /*spec*/, std::size_t size) const noexcept {
    return size > SIZE_MAX - kHeader - 1 ? SIZE_MAX : size + kHeader + 1;
}

Status ScaleoffsetDecoder::decode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                                  Bytes /*scratch*/) const noexcept {
    PackedChunk packing;
    H5MOTE_TRY(packing.open(spec));
    const bool as_is = packing.as_is();
    const std::uint32_t element = packing.element;
    const std::uint64_t total = as_is ? in.size() : std::uint64_t{spec.value(kElements)} * element;
    if (total > out.size() || (!as_is && !packing.open_chunk(in))) {
        return Status::corrupt_file;
    }
    size = static_cast<std::size_t>(total);
    if (as_is) {
        copy(in, out.data());
        return Status::ok;
    }
    const bool unpacked = packing.bits == element * 8;
    const ConstBytes packed = in.size() < kHeader ? ConstBytes{} : in.subspan(kHeader);
    if (unpacked && packed.size() < size) {
        return Status::corrupt_file;
    }
    BitReader reader(packed);
    for (std::size_t at = 0; at < size; at += element) {
        const std::uint64_t value =
            unpacked ? load_uint(packed.data() + at, element) : packing.unpack(reader.wide(packing.bits));
        store_ordered(out.data() + at, value, element, packing.big_endian);
    }
    return reader.ok() ? Status::ok : Status::corrupt_file;
}

}  // namespace h5mote
