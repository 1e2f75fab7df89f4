#include "multi_format.hpp"

#include "cursor.hpp"

#include <cstring>

namespace h5mote {

PartOrder order_of(const std::uint8_t (&map)[kMostParts]) noexcept {
    PartOrder order{};
    unsigned seen = 0;
    for (const std::uint8_t part : map) {
        if ((seen >> part & 1) == 0) {
            seen |= 1U << part;
            order.parts[order.count++] = part;
        }
    }
    return order;
}

bool decode(ConstBytes info, MultiLayout& layout, std::uint64_t (&sizes)[kMostParts]) noexcept {
    Reader reader(info);
    for (unsigned usage = 0; usage < kMostParts; ++usage) {
        const unsigned stored = reader.u8();
        const unsigned part = stored == 0 ? usage : stored - 1;
        if (part >= kMostParts) {
            return false;
        }
        layout.map[usage] = static_cast<std::uint8_t>(part);
    }
    reader.skip(2);
    const PartOrder order = order_of(layout.map);
    for (unsigned i = 0; i < order.count; ++i) {
        layout.parts[order.parts[i]].start = reader.u64();
        sizes[order.parts[i]] = reader.u64();
    }
    for (unsigned i = 0; i < order.count; ++i) {
        std::string_view& name = layout.parts[order.parts[i]].name;
        const ConstBytes rest = reader.bytes(reader.remaining());
        name = {reinterpret_cast<const char*>(rest.data()), rest.size()};
        const std::size_t length = name.find('\0');
        if (length == std::string_view::npos) {
            return false;
        }
        name = {name.data(), length};
        const std::size_t padded = (length + 8) & ~std::size_t{7};
        reader = Reader(padded < rest.size() ? rest.subspan(padded) : ConstBytes{});
    }
    return true;
}

// As with libhdf5, the map is of zeros where each usage has a part of its own.
std::size_t encode(const MultiLayout& layout, Bytes to) noexcept {
    const PartOrder order = order_of(layout.map);
    std::size_t size = 8 + std::size_t{16} * order.count;
    for (unsigned i = 0; i < order.count; ++i) {
        size += (layout.parts[order.parts[i]].name.size() + 8) & ~std::size_t{7};
    }
    if (size > to.size()) {
        return 0;
    }
    std::memset(to.data(), 0, size);
    for (unsigned usage = 0; usage < kMostParts && order.count != kMostParts; ++usage) {
        to.data()[usage] = static_cast<std::byte>(layout.map[usage] + 1U);
    }
    std::size_t at = 8 + std::size_t{16} * order.count;
    for (unsigned i = 0; i < order.count; ++i) {
        const MultiLayout::Part& part = layout.parts[order.parts[i]];
        store_le<std::uint64_t>(to.data() + size_place(i) - 8, part.start);
        std::memcpy(to.data() + at, part.name.data(), part.name.size());
        at += (part.name.size() + 8) & ~std::size_t{7};
    }
    return size;
}

}  // namespace h5mote
