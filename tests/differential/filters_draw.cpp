#include "filters_draw.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace differential {

using namespace h5mote;

namespace {

std::uint64_t load(const std::byte* at, std::size_t size, bool big) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
        value = value << 8 | static_cast<std::uint64_t>(at[big ? i : size - 1 - i]);
    }
    return value;
}

void store(std::byte* to, std::uint64_t value, std::size_t size, bool big) {
    for (std::size_t i = 0; i < size; ++i, value >>= 8) {
        to[big ? size - 1 - i : i] = static_cast<std::byte>(value);
    }
}

void store_float(std::byte* to, double number, std::size_t size, bool big) {
    std::uint64_t bits = 0;
    if (size == 4) {
        const auto narrow = static_cast<float>(number);
        std::memcpy(&bits, &narrow, sizeof narrow);
    } else {
        std::memcpy(&bits, &number, sizeof number);
    }
    store(to, bits, size, big);
}

// One element of a number type, of a range that `style` says.
void draw_number(Random& random, const Draw& draw, unsigned style, std::uint64_t base, std::byte* to) {
    const DatatypeView type = draw.type.view();
    const bool big = type.order() == ByteOrder::big;
    const std::size_t size = type.size();
    if (type.type_class() == TypeClass::floating) {
        constexpr double kBig[] = {std::numeric_limits<double>::infinity(),
                                   -std::numeric_limits<double>::infinity(),
                                   std::numeric_limits<double>::quiet_NaN(),
                                   3e38,
                                   -3e38,
                                   2147483648.0,
                                   -0.0,
                                   1e300};
        double number = static_cast<double>(random.below(20000)) / 100 - static_cast<double>(base % 100);
        if (style == 1) {
            number = static_cast<double>(base % 1000) / 8;
        } else if (style == 2 && random.one_in(4)) {
            number = kBig[random.below(8)];
        } else if (style == 3) {
            number = static_cast<double>(static_cast<std::int64_t>(random.next())) /
                     std::pow(2.0, static_cast<double>(random.below(64)));
        } else if (style == 4) {
            number = static_cast<double>(random.below(5));
        }
        store_float(to, number, size, big);
        return;
    }
    std::uint64_t number = random.next();
    if (style == 1) {
        number = base;
    } else if (style == 2) {
        number = random.pick<std::uint64_t>({0, ~std::uint64_t{0}, std::uint64_t{1} << 63, ~std::uint64_t{0} >> 1, 1});
        number >>= 64 - type.precision();
    } else if (style == 3) {
        number = base + random.below(std::uint64_t{1} << random.below(20));
    } else if (style == 4) {
        number = base + random.small(9);
    }
    number &= ~std::uint64_t{0} >> (64 - type.precision());
    store(to, number << type.bit_offset(), size, big);
}

// Clears the bits of a value that are no part of its numbers, which n-bit does not store.
void clear_padding(DatatypeView type, std::byte* at) {
    const std::size_t size = type.size();
    const TypeClass type_class = type.type_class();
    if (type_class == TypeClass::integer && size <= 8) {
        const bool big = type.order() == ByteOrder::big;
        const std::uint64_t mask = ~std::uint64_t{0} >> (64 - type.precision()) << type.bit_offset();
        store(at, load(at, size, big) & mask, size, big);
    } else if (type_class == TypeClass::array) {
        for (std::size_t i = 0; i < size; i += type.base().size()) {
            clear_padding(type.base(), at + i);
        }
    } else if (type_class == TypeClass::compound) {
        CompoundMembers members(type);
        CompoundMember member;
        while (members.next(member)) {
            clear_padding(member.type, at + member.offset);
        }
    }
}

Blob draw_any(Random& random, const Draw& draw, std::size_t count) {
    Blob values = random_values(random, draw.type.id(), count);
    for (std::size_t i = 0; i < count; ++i) {
        clear_padding(draw.type.view(), values.data() + i * draw.type.size());
    }
    return values;
}

Type draw_type(Random& random, Kind kind) {
    if (kind == Kind::floats) {
        return Type(
            DIFFERENTIAL_ID(H5Tcopy(random.pick({H5T_IEEE_F32LE, H5T_IEEE_F64LE, H5T_IEEE_F32BE, H5T_IEEE_F64BE}))));
    }
    TypeChoice choice;
    choice.depth = kind == Kind::nbit || random.one_in(4) ? static_cast<unsigned>(random.below(4)) : 0;
    for (;;) {
        Type type(random_type(random, choice));
        if (kind == Kind::nbit || random.one_in(5) || type.view().type_class() == TypeClass::integer ||
            (kind == Kind::szip && type.view().type_class() == TypeClass::floating)) {
            return type;
        }
    }
}

FilterSpec draw_spec(Random& random, Draw& draw) {
    switch (draw.kind) {
        case Kind::nbit:
            return filters::nbit;
        case Kind::integers:
            return filters::scaleoffset_integer(
                random.one_in(3) ? static_cast<std::uint32_t>(random.between(1, draw.type.size() * 8)) : 0);
        case Kind::floats:
            draw.digits = static_cast<int>(random.below(8)) - 2;
            return filters::scaleoffset_float(draw.digits);
        default:
            return filters::szip(random.pick({filters::SzipCoding::entropy, filters::SzipCoding::nearest_neighbour}),
                                 static_cast<std::uint32_t>(2 * random.between(1, 16)));
    }
}

}  // namespace

double number_at(const Draw& draw, const Blob& values, std::size_t i) {
    const bool big = draw.type.view().order() == ByteOrder::big;
    const std::size_t size = draw.type.size();
    const std::uint64_t bits = load(values.data() + i * size, size, big);
    if (size == 4) {
        const auto narrow = static_cast<std::uint32_t>(bits);
        float number = 0;
        std::memcpy(&number, &narrow, sizeof number);
        return static_cast<double>(number);
    }
    double number = 0;
    std::memcpy(&number, &bits, sizeof number);
    return number;
}

void draw_values(Random& random, Draw& draw) {
    const TypeClass type_class = draw.type.view().type_class();
    if (type_class != TypeClass::integer && type_class != TypeClass::floating && type_class != TypeClass::bitfield) {
        draw.values = draw_any(random, draw, draw.elements());
        return;
    }
    const std::size_t size = draw.type.size();
    draw.values.resize(draw.elements() * size);
    unsigned style = 0;
    std::uint64_t base = 0;
    for (std::size_t i = 0; i < draw.elements(); ++i) {
        if (i == 0 || random.one_in(40)) {
            style = static_cast<unsigned>(random.below(6));
            base = random.next() >> random.below(60);
        }
        std::byte* const to = draw.values.data() + i * size;
        if ((style == 5 || random.one_in(9)) && !draw.fill.empty()) {
            std::memcpy(to, draw.fill.data(), size);
        } else {
            draw_number(random, draw, style, base, to);
        }
        if (type_class == TypeClass::floating) {
            const double number = std::fabs(number_at(draw, draw.values, i));
            draw.largest = number > draw.largest && number < 1e30 ? number : draw.largest;
        }
    }
}

Draw draw_dataset(Random& random) {
    Draw draw;
    draw.kind = random.pick({Kind::nbit, Kind::integers, Kind::floats, Kind::szip});
    draw.type = draw_type(random, draw.kind);
    const std::uint64_t rank = random.pick<std::uint64_t>({1, 1, 2, 3});
    for (std::uint64_t i = 0; i < rank; ++i) {
        draw.dims.push_back(1 + random.below(rank == 1 ? 600 : rank == 2 ? 30 : 10));
        draw.chunk.push_back(1 + random.below(draw.dims.back() + 3));
    }
    limit_chunk(draw.chunk, draw.type.size());
    draw.spec = draw_spec(random, draw);
    draw.mandatory = random.one_in(4);
    draw.spec.optional = !draw.mandatory;
    draw.undefined = random.one_in(4);
    if (!draw.undefined && random.one_in(2)) {
        const TypeClass type_class = draw.type.view().type_class();
        if (type_class == TypeClass::integer || type_class == TypeClass::floating) {
            draw.fill.resize(draw.type.size());
            draw_number(random, draw, static_cast<unsigned>(random.below(5)), random.next(), draw.fill.data());
        } else {
            draw.fill = draw_any(random, draw, 1);
        }
    }
    draw_values(random, draw);
    return draw;
}

}  // namespace differential
