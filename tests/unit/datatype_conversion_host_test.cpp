// Conversions against the compiler's own arithmetic, over many values; random damage to messages.
#include <gtest/gtest.h>

#include <h5mote/arena.hpp>
#include <h5mote/encoded_type.hpp>
#include <h5mote/variable_length.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "conversion.hpp"
#include "conversion_plan.hpp"
#include "cursor.hpp"
#include "datatype_message.hpp"
#include "datatype_vectors.hpp"
#include "machine_number.hpp"

namespace {

using h5mote::ByteOrder;
using h5mote::Conversion;
using h5mote::DatatypeView;
using h5mote::EncodedType;
using h5mote::Status;

struct Bench {
    alignas(8) std::array<std::byte, 1 << 20> memory;
    h5mote::Arena arena{h5mote::Bytes{memory.data(), memory.size()}};
    h5mote::NullPort port;
    h5mote::Context context{arena, port, {}};
};

// An integer between -2^63 and 2^64, as the machine's own types hold it.
struct Number {
    bool negative = false;
    std::int64_t below = 0;   // if negative
    std::uint64_t above = 0;  // if not
    bool operator==(const Number& other) const {
        return negative == other.negative && (negative ? below == other.below : above == other.above);
    }
};

Number decode(const std::byte* at, unsigned size, bool is_signed, ByteOrder order) {
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < size; ++i) {
        bits = bits << 8 | static_cast<unsigned>(at[order == ByteOrder::big ? i : size - 1 - i]);
    }
    if (is_signed && (bits >> (8 * size - 1) & 1U) != 0) {
        for (unsigned i = size; i < 8; ++i) {
            bits |= std::uint64_t{0xff} << (8 * i);
        }
        return {true, static_cast<std::int64_t>(bits), 0};
    }
    return {false, 0, bits};
}

Number clamp(const Number& value, unsigned size, bool is_signed) {
    std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    std::int64_t least = std::numeric_limits<std::int64_t>::min();
    if (size < 8) {
        most = (std::uint64_t{1} << (8 * size)) - 1;
        least = -(std::int64_t{1} << (8 * size - 1));
    }
    if (is_signed) {
        most /= 2;
    }
    if (value.negative) {
        return is_signed ? Number{true, std::max(value.below, least), 0} : Number{};
    }
    return {false, 0, std::min(value.above, most)};
}

unsigned draw(std::mt19937& random, unsigned limit) { return static_cast<unsigned>(random()) % limit; }

TEST(DatatypeConversionModel, EveryPairOfIntegerTypes) {
    std::mt19937_64 random(1);
    auto bench = std::make_unique<Bench>();
    unsigned pairs = 0;
    for (unsigned code = 0; code < 32 * 32; ++code) {
        const unsigned from_size = code % 8 + 1;
        const unsigned to_size = code / 8 % 8 + 1;
        const bool from_signed = (code / 64 & 1) != 0;
        const bool to_signed = (code / 128 & 1) != 0;
        const ByteOrder from_order = (code / 256 & 1) != 0 ? ByteOrder::big : ByteOrder::little;
        const ByteOrder to_order = (code / 512 & 1) != 0 ? ByteOrder::big : ByteOrder::little;
        if (from_size == to_size && from_order != to_order) {
            continue;  // as in libhdf5, nothing but the order of bytes changes
        }
        const EncodedType<12> from = h5mote::make_integer(from_size, from_signed, from_order);
        const EncodedType<12> to = h5mote::make_integer(to_size, to_signed, to_order);
        Conversion conversion;
        ASSERT_EQ(conversion.prepare(bench->context, from, to), Status::ok);
        constexpr unsigned kCount = 300;
        std::vector<std::byte> in(kCount * from_size);
        std::vector<std::byte> out(kCount * to_size);
        for (unsigned i = 0; i < kCount; ++i) {
            // Include values of few bits, and values near the ends of the ranges.
            const unsigned bits = static_cast<unsigned>(random() % 65);
            std::uint64_t value = bits == 64 ? random() : (std::uint64_t{1} << bits) + random() % 5 - 2;
            value = random() % 2 == 0 ? value : ~value;
            for (unsigned k = 0; k < from_size; ++k) {
                in[i * from_size + k] = static_cast<std::byte>(value >> (8 * k));
            }
        }
        ASSERT_EQ(conversion.run(kCount, in.data(), from_size, out.data(), to_size), Status::ok);
        for (unsigned i = 0; i < kCount; ++i) {
            const Number value = decode(&in[i * from_size], from_size, from_signed, from_order);
            const Number result = decode(&out[i * to_size], to_size, to_signed, to_order);
            ASSERT_TRUE(result == clamp(value, to_size, to_signed)) << code << " " << i;
        }
        ++pairs;
    }
    EXPECT_EQ(pairs, 960U);
}

bool is_nan(std::uint32_t bits) { return (bits & 0x7fffffffU) > 0x7f800000U; }

TEST(DatatypeConversionModel, WideningIsTheCompilers) {
    for (std::uint64_t wide = 0; wide <= 0xffffffffU; wide += 977) {
        const auto bits = static_cast<std::uint32_t>(wide);
        if (is_nan(bits)) {
            continue;  // C++ leaves open what a conversion makes of a NaN
        }
        float value;
        std::memcpy(&value, &bits, sizeof(value));
        const double expected = value;
        std::uint64_t expected_bits;
        std::memcpy(&expected_bits, &expected, sizeof(expected));
        ASSERT_EQ(h5mote::widen_float(bits), expected_bits) << bits;
        ASSERT_EQ(h5mote::narrow_float(expected_bits), bits);
    }
}

TEST(DatatypeConversionModel, NarrowingIsTheCompilers) {
    std::mt19937_64 random(2);
    const auto compare = [](std::uint64_t bits) {
        double value;
        std::memcpy(&value, &bits, sizeof(value));
        if (value != value) {
            return true;
        }
        std::uint32_t expected_bits;
        // As in libhdf5, a double beyond the range of float becomes infinite, however near it is.
        constexpr double kMost = std::numeric_limits<float>::max();
        constexpr float kInfinity = std::numeric_limits<float>::infinity();
        const float expected = value > kMost ? kInfinity : value < -kMost ? -kInfinity : static_cast<float>(value);
        std::memcpy(&expected_bits, &expected, sizeof(expected));
        return h5mote::narrow_float(bits) == expected_bits;
    };
    for (unsigned i = 0; i < 2000000; ++i) {
        std::uint64_t bits = random();
        if (i % 2 == 0) {
            // Exponents around those of a float, and mantissas that end in few bits, so that ties occur.
            const std::uint64_t exponent = 860 + random() % 310;
            const std::uint64_t mantissa = random() & ~((std::uint64_t{1} << (random() % 53)) - 1);
            bits = (bits & std::uint64_t{1} << 63) | exponent << 52 | (mantissa & ((std::uint64_t{1} << 52) - 1));
        }
        ASSERT_TRUE(compare(bits)) << std::hex << bits;
    }
}

TEST(DatatypeConversionModel, TheFastWayBetweenFloatsIsTheOther) {
    std::mt19937_64 random(5);
    h5mote::ConversionStep step;
    step.flags = h5mote::ConversionStep::from_float | h5mote::ConversionStep::to_float;
    for (unsigned i = 0; i < 1000000; ++i) {
        std::uint64_t bits = random();
        if (i % 2 == 0) {
            bits = (bits & 0x800fffffffffffffU) | (860 + random() % 310) << 52;
        }
        std::byte in[8];
        std::byte out[8];
        h5mote::store_le(in, bits);
        step.from_size = 8;
        step.to_size = 4;
        h5mote::convert_machine_number(step, in, out);
        ASSERT_EQ(h5mote::load_le<std::uint32_t>(out), h5mote::narrow_float(bits)) << std::hex << bits;
        const auto single = static_cast<std::uint32_t>(bits >> 20);
        h5mote::store_le(in, single);
        step.from_size = 4;
        step.to_size = 8;
        h5mote::convert_machine_number(step, in, out);
        ASSERT_EQ(h5mote::load_le<std::uint64_t>(out), h5mote::widen_float(single)) << std::hex << single;
    }
}

// Decodes a string by its padding, independently of the library's code.
std::string text_of(const std::byte* at, std::size_t size, unsigned padding) {
    std::string text(reinterpret_cast<const char*>(at), size);
    if (padding == 2) {
        const std::size_t last = text.find_last_not_of(' ');
        return last == std::string::npos ? std::string() : text.substr(0, last + 1);
    }
    return text.substr(0, text.find('\0'));
}

TEST(DatatypeConversionModel, Strings) {
    std::mt19937 random(3);
    auto bench = std::make_unique<Bench>();
    for (unsigned i = 0; i < 20000; ++i) {
        const unsigned from_size = draw(random, 9) + 1;
        const unsigned to_size = draw(random, 9) + 1;
        const unsigned from_padding = draw(random, 3);
        const unsigned to_padding = draw(random, 3);
        const auto from = h5mote::make_string(from_size, static_cast<h5mote::StringPadding>(from_padding));
        const auto to = h5mote::make_string(to_size, static_cast<h5mote::StringPadding>(to_padding));
        std::vector<std::byte> in(from_size);
        std::vector<std::byte> out(to_size);
        for (std::byte& c : in) {
            c = static_cast<std::byte>("ab \0"[draw(random, 4)]);
        }
        Conversion conversion;
        ASSERT_EQ(conversion.prepare(bench->context, from, to), Status::ok);
        ASSERT_EQ(conversion.run(1, in.data(), from_size, out.data(), to_size), Status::ok);
        if (from_size == to_size && from_padding == to_padding) {
            ASSERT_EQ(in, out);
            continue;
        }
        std::string expected = text_of(in.data(), from_size, from_padding).substr(0, to_size);
        expected.resize(to_size, to_padding == 2 ? ' ' : '\0');
        if (to_padding == 0) {
            expected.back() = '\0';
        }
        ASSERT_EQ(std::memcmp(out.data(), expected.data(), to_size), 0);
    }
}

// Damages several bytes of a message: a type that still is valid can be compared with and converted to any other.
TEST(DatatypeConversionModel, DamagedTypesConvertOrAreRefused) {
    std::mt19937 random(4);
    auto bench = std::make_unique<Bench>();
    const h5mote::ConstBytes seeds[] = {h5mote_test::kSample.view(),       h5mote_test::kNested.view(),
                                        h5mote_test::kMixed.view(),        h5mote_test::kVersion1.view(),
                                        h5mote_test::kVersion2.view(),     h5mote_test::kEnumBig.view(),
                                        h5mote_test::kVersion1Enum.view(), h5mote_test::kArray2Of3.view()};
    unsigned valid = 0;
    unsigned converted = 0;
    for (unsigned i = 0; i < 300000; ++i) {
        const h5mote::ConstBytes seed = seeds[random() % std::size(seeds)];
        std::vector<std::byte> damaged(seed.begin(), seed.end());
        for (unsigned k = draw(random, 3) + 1; k > 0; --k) {
            damaged[random() % damaged.size()] =
                static_cast<std::byte>(draw(random, 2) == 0 ? draw(random, 256) : draw(random, 8));
        }
        damaged.shrink_to_fit();
        std::size_t length = 0;
        h5mote::Feature feature = h5mote::Feature::none;
        if (h5mote::validate_datatype({damaged.data(), damaged.size()}, length, feature) != Status::ok) {
            continue;
        }
        ++valid;
        const DatatypeView type{{damaged.data(), length}};
        const DatatypeView other{seed};
        ASSERT_EQ(h5mote::equal(type, other), h5mote::equal(other, type));
        if (type.size() > 100000) {
            continue;
        }
        for (const bool to_damaged : {false, true}) {
            const DatatypeView from = to_damaged ? other : type;
            const DatatypeView to = to_damaged ? type : other;
            Conversion conversion;
            if (conversion.prepare(bench->context, from, to) == Status::ok) {
                std::vector<std::byte> in(2 * std::size_t{from.size()});
                std::vector<std::byte> out(2 * std::size_t{to.size()});
                ASSERT_EQ(conversion.run(2, in.data(), from.size(), out.data(), to.size()), Status::ok);
                ++converted;
            }
        }
        ASSERT_EQ(bench->arena.usage().now, 0U);
    }
    EXPECT_GE(valid, h5mote_test::kAllTypes ? 30000U : 15000U);
    EXPECT_GE(converted, h5mote_test::kAllTypes ? 20000U : 10000U);
}

// A heap with arbitrary answers: wrong sizes, meaningless bytes, errors.
class WildHeap final : public h5mote::VariableSource {
public:
    explicit WildHeap(std::mt19937& random) : random_(random) {}
    Status size(h5mote::ConstBytes /*heap_id*/, std::uint64_t& bytes) noexcept override {
        bytes = draw(random_, 20) == 0 ? draw(random_, 20) : 2000;
        return draw(random_, 200) == 0 ? Status::io_error : Status::ok;
    }
    Status read(h5mote::ConstBytes /*heap_id*/, std::uint64_t /*offset*/, h5mote::Bytes to) noexcept override {
        for (std::byte& byte : to) {
            byte = static_cast<std::byte>(draw(random_, 16) == 0 ? draw(random_, draw(random_, 8) == 0 ? 256 : 4) : 0);
        }
        return draw(random_, 200) == 0 ? Status::corrupt_file : Status::ok;
    }

private:
    std::mt19937& random_;
};

// Whatever type and values a file has, they are converted to the native type or refused, and all memory is given back.
TEST(DatatypeConversionModel, AnyTypeAndAnyValueOfAFile) {
    std::mt19937 random(6);
    auto bench = std::make_unique<Bench>();
    WildHeap heap(random);
    // A compound with a sequence of { variable-length string, float, array of sequences of int16, enumeration }.
    static constexpr auto kString = [] {
        auto type = h5mote::make_variable_string();
        type.bytes[4] = std::byte{16};
        return type;
    }();
    static constexpr auto kNumbers = [] {
        auto type = h5mote::make_variable_length(h5mote::make_integer(2, true, ByteOrder::big));
        type.bytes[4] = std::byte{16};
        return type;
    }();
    static constexpr auto kState =
        h5mote::make_enum<std::int16_t>(ByteOrder::big, h5mote::enumerator("on", 1), h5mote::enumerator("off", 0));
    static constexpr auto kInner = h5mote::make_compound<58>(
        h5mote::member("name", 0, kString), h5mote::member("a", 16, h5mote::make_float(8, ByteOrder::big)),
        h5mote::member("many", 24, h5mote::make_array(kNumbers, 2U)), h5mote::member("state", 56, kState));
    static constexpr auto kList = [] {
        auto type = h5mote::make_variable_length(kInner);
        type.bytes[0] = std::byte{0x39};
        type.bytes[4] = std::byte{16};
        return type;
    }();
    static constexpr auto kFile = h5mote::make_compound<20>(h5mote::member("list", 0, kList),
                                                            h5mote::member("n", 16, h5mote::make_integer(4, true)));
    unsigned read = 0;
    unsigned failed = 0;
    for (unsigned i = 0; i < 60000; ++i) {
        std::vector<std::byte> message(kFile.bytes, kFile.bytes + kFile.kLength);
        for (unsigned k = draw(random, 3); k > 0; --k) {
            message[random() % message.size()] =
                static_cast<std::byte>(draw(random, 2) == 0 ? draw(random, 256) : draw(random, 8));
        }
        std::size_t length = 0;
        h5mote::Feature feature = h5mote::Feature::none;
        if (h5mote::validate_datatype({message.data(), message.size()}, length, feature) != Status::ok) {
            continue;
        }
        const DatatypeView from{{message.data(), length}};
        std::vector<std::byte> buffer(h5mote::native_type_length(from));
        DatatypeView to;
        const Status status = h5mote::native_type(from, {buffer.data(), buffer.size()}, to);
        if (status != Status::ok || from.size() > 10000 || to.size() > 10000) {
            continue;
        }
        Conversion conversion;
        if (conversion.prepare(bench->context, from, to, {h5mote::FileValues::Side::from, 8, &heap}) != Status::ok) {
            continue;
        }
        std::vector<std::byte> in(2 * std::size_t{from.size()});
        (void)heap.read({}, 0, {in.data(), in.size()});
        std::vector<std::byte> out(2 * std::size_t{to.size()});
        if (conversion.run(2, in.data(), from.size(), out.data(), to.size()) == Status::ok) {
            ++read;
            ASSERT_EQ(h5mote::reclaim(bench->context, to, 2, to.size(), out.data()), Status::ok);
        } else {
            ++failed;
        }
        conversion.reset();
        ASSERT_EQ(bench->arena.usage().now, 0U);
    }
    if (h5mote_test::kAllTypes) {
        EXPECT_GE(read, 3000U);
        EXPECT_GE(failed, 1500U);
        const h5mote::MemoryReport report = bench->context.memory_report();
        EXPECT_GE(report.kinds[static_cast<std::size_t>(h5mote::MemoryKind::value)].peak, 1000U);
    }
}

}  // namespace
