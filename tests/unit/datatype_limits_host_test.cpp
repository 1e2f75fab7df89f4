// Datatypes at the limits of conversion, native types and the builder: what exceeds them is refused by name, and what
// is just within is right.
#include <h5mote/arena.hpp>
#include <h5mote/compound.hpp>
#include <h5mote/type_builder.hpp>
#include <h5mote/variable_length.hpp>

#include <cfloat>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "conversion.hpp"
#include "cursor.hpp"
#include "datatype_message.hpp"
#include "datatype_vectors.hpp"
#include "number.hpp"
#include "test.hpp"

#if H5MOTE_CONVERSION && H5MOTE_ALL_FORMATS

using namespace h5mote;
using namespace h5mote_test;

namespace {

constexpr auto kI16 = make_integer(2, true);
constexpr auto kI32 = make_integer(4, true);
constexpr auto kComplex = hex("5b0100000800000011201f000400000000002000170800177f000000");
constexpr auto kComplexBig = hex("5b0100000800000011211f000400000000002000170800177f000000");

struct Bench {
    alignas(8) std::byte memory[8192];
    Arena arena{Bytes{memory, sizeof memory}};
    NullPort port;
    Context context{arena, port, {}};
};

class NoSource final : public VariableSource {
public:
    Status size(ConstBytes /*heap_id*/, std::uint64_t& bytes) noexcept override {
        bytes = 0;
        return Status::ok;
    }
    Status read(ConstBytes /*heap_id*/, std::uint64_t /*offset*/, Bytes /*to*/) noexcept override {
        return Status::corrupt_file;
    }
};

// A stored sequence as in a file with addresses of 4 bytes, so that its size differs from any type in memory.
template <std::size_t N, unsigned D>
constexpr auto stored_sequence(const EncodedType<N, D>& base) {
    auto type = make_variable_length(base);
    type.bytes[4] = std::byte{12};
    return type;
}

}  // namespace

TEST(DatatypeLimits, EnumerationsBecomeNumbersByValue) {
    constexpr auto kIn = hex("fffd0005");
    Bench bench;
    Conversion conversion;
    ASSERT_EQ(conversion.prepare(bench.context, DatatypeView(kEnumBig.view()), kI32), Status::ok);
    std::byte integers[8];
    EXPECT_EQ(conversion.run(2, kIn.bytes, 2, integers, 4), Status::ok);
    EXPECT_EQ(std::memcmp(integers, hex("fdffffff05000000").bytes, 8), 0);
    static constexpr auto kF32 = make_float(4);
    ASSERT_EQ(conversion.prepare(bench.context, DatatypeView(kEnumBig.view()), kF32), Status::ok);
    EXPECT_EQ(conversion.run(2, kIn.bytes, 2, integers, 4), Status::ok);
    EXPECT_EQ(std::memcmp(integers, hex("000040c00000a040").bytes, 8), 0);
    // Numbers do not become enumerations: nothing says which name a number has.
    EXPECT_EQ(conversion.prepare(bench.context, kI32, DatatypeView(kEnumBig.view())), Status::type_mismatch);
    EXPECT_EQ(conversion.prepare(bench.context, DatatypeView(kEnumBig.view()), DatatypeView(kBitfield8.view())),
              Status::type_mismatch);
}

// Numbers whose fields lie outside the value, and formats that libhdf5 does not convert either.
TEST(DatatypeLimits, NumbersThatAreNotConverted) {
    struct Change {
        std::size_t at;
        unsigned to;
    };
    const Change floats[] = {
        {0, 0x12},                     // class time
        {1, 0x10},                     // normalization: the first bit of the mantissa is always set
        {1, 0x41},                     // VAX order of 2 bytes
        {2, 16},                       // the sign lies behind the number
        {4, 65},                       // 65 bytes
        {8, 1},                        // bit offset 1 with 16 bits
        {10, 0},                       // no significant bits
        {12, 12},                      // exponent
        {13, 0},   {13, 63}, {14, 7},  // mantissa
        {15, 0},
    };
    Bench bench;
    for (const Change& change : floats) {
        auto bytes = kFloat16;
        bytes.bytes[0] = std::byte{0x31};  // the message version that has VAX numbers
        bytes.bytes[change.at] = static_cast<std::byte>(change.to);
        const DatatypeView type(bytes.view());
        Conversion conversion;
        const bool number = type.type_class() == TypeClass::floating;
        for (const bool back : {false, true}) {
            SCOPED_TRACE(std::to_string(change.at) + (back ? " as the target" : ""));
            EXPECT_EQ(
                back ? conversion.prepare(bench.context, kI32, type) : conversion.prepare(bench.context, type, kI32),
                number ? Status::unsupported : Status::type_mismatch);
            NumberFormat format;
            EXPECT_FALSE(format.assign(type));
        }
    }
    Conversion conversion;
    EXPECT_EQ(conversion.prepare(bench.context, {}, kI32), Status::invalid_argument);
    EXPECT_EQ(conversion.prepare(bench.context, kI32, {}), Status::invalid_argument);
    static constexpr auto kBits = make_bitfield(2);
    EXPECT_EQ(conversion.prepare(bench.context, kBits, kI32), Status::type_mismatch);
    EXPECT_EQ(conversion.prepare(bench.context, kI32, kBits), Status::type_mismatch);
    conversion.reset();
    EXPECT_EQ(bench.arena.usage().now, 0U);
}

// Numbers around the smallest normal number of float and double are rounded as the compiler rounds them.
#if LDBL_MANT_DIG == 64 && defined(__x86_64__)
template <typename T>
void expect_small_numbers(const EncodedType<20>& type) {
    Bench bench;
    Conversion conversion;
    const DatatypeView extended(kLongDouble.view());
    ASSERT_EQ(conversion.prepare(bench.context, extended, type), Status::ok);
    std::mt19937_64 random(7);
    for (unsigned i = 0; i < 4000; ++i) {
        const int exponent = std::numeric_limits<T>::min_exponent - 1 + static_cast<int>(random() % 4) - 2;
        const std::uint64_t low = random() >> (random() % 64);
        const long double whole = static_cast<long double>(~std::uint64_t{0} - (i % 2 == 0 ? low : 0) % 4096) -
                                  (i % 3 == 0 ? static_cast<long double>(low) : 0);
        const long double value = std::ldexp(whole, exponent - 64);
        std::byte in[16] = {};
        std::memcpy(in, &value, 10);
        T out = 0;
        ASSERT_EQ(conversion.run(1, in, 16, reinterpret_cast<std::byte*>(&out), sizeof out), Status::ok);
        ASSERT_EQ(out, static_cast<T>(value)) << i;
    }
}

TEST(DatatypeLimits, RoundedUpToTheSmallestNormalNumber) {
    expect_small_numbers<float>(make_float(4));
    expect_small_numbers<double>(make_float(8));
    // A number just below the smallest normal one, by half of the last bit: rounded up to it.
    Bench bench;
    Conversion conversion;
    static constexpr auto kF32 = make_float(4);
    ASSERT_EQ(conversion.prepare(bench.context, DatatypeView(kLongDouble.view()), kF32), Status::ok);
    constexpr auto kBelow = hex("ffffffffffffffff803f000000000000");
    std::byte out[4];
    ASSERT_EQ(conversion.run(1, kBelow.bytes, 16, out, 4), Status::ok);
    EXPECT_EQ(std::memcmp(out, hex("00008000").bytes, 4), 0);
}
#endif

// A format of 80 bits that stores the first bit of the mantissa, so that numbers may be unnormalized.
TEST(DatatypeLimits, NumbersWithoutAnImpliedBit) {
    auto type = kLongDouble;
    type.bytes[1] |= std::byte{1};  // big-endian
    Bench bench;
    Conversion conversion;
    ASSERT_EQ(conversion.prepare(bench.context, DatatypeView(type.view()), kI32), Status::ok);
    constexpr auto kIn =
        hex("00000000000040098000000000000000"    // 1024
            "00000000000040090000000000000000"    // nothing times 1024
            "0000000000003ffe8000000000000000"    // one half
            "00000000000040090000000000000001"    // 1024 times next to nothing
            "000000000000c00a4000000000000000");  // -2048 times one half
    std::int32_t out[5] = {1, 1, 1, 1, 1};
    ASSERT_EQ(conversion.run(5, kIn.bytes, 16, reinterpret_cast<std::byte*>(out), 4), Status::ok);
    for (const std::int32_t& each : out) {
        const std::int32_t expected[] = {1024, 0, 0, 0, -1024};
        EXPECT_EQ(load_le<std::uint32_t>(reinterpret_cast<const std::byte*>(&each)),
                  static_cast<std::uint32_t>(expected[&each - out]));
    }
}

TEST(DatatypeLimits, ComplexNumbers) {
    Bench bench;
    Conversion conversion;
    const DatatypeView little(kComplex.view());
    const DatatypeView big(kComplexBig.view());
    EXPECT_FALSE(equal(little, big));
    auto flagged = kComplex;
    flagged.bytes[2] = std::byte{1};
    EXPECT_FALSE(equal(little, DatatypeView(flagged.view())));
    EXPECT_TRUE(contains_class(little, TypeClass::floating));
    ASSERT_EQ(conversion.prepare(bench.context, big, little), Status::ok);
    std::byte out[8];
    ASSERT_EQ(conversion.run(1, hex("3f80000040000000").bytes, 8, out, 8), Status::ok);
    EXPECT_EQ(std::memcmp(out, hex("0000803f00000040").bytes, 8), 0);
    // The native type has both parts in the machine's order.
    std::byte buffer[64];
    DatatypeView native;
    for (const DatatypeView stored : {little, big}) {
        ASSERT_EQ(native_type(stored, buffer, native), Status::ok);
        EXPECT_EQ(native.encoded_length(), native_type_length(stored));
        EXPECT_TRUE(equal(native, kNativeOrder == ByteOrder::big ? big : little));
    }
}

TEST(DatatypeLimits, NativeTypesThatAreTooLarge) {
    std::byte buffer[200];
    DatatypeView native;
    EXPECT_EQ(native_type({}, buffer, native), Status::invalid_argument);
    // A 24-bit number takes 32 bits in memory, so that an array that fits into a file may be too large for memory.
    static constexpr auto kNumber = make_integer(3, true);
    for (const std::uint32_t count : {0x3fffffffU, 0x40000000U, 0x55555555U}) {
        TypeBuilder array(buffer);
        ASSERT_EQ(array.array(kNumber, {&count, 1}), Status::ok);
        std::byte to[64];
        EXPECT_EQ(native_type(array.type(), to, native), count == 0x3fffffffU ? Status::ok : Status::overflow);
        std::byte outer_bytes[100];
        TypeBuilder outer(outer_bytes);
        ASSERT_EQ(outer.compound(0xffffffffU), Status::ok);
        ASSERT_EQ(outer.member("a", 0, array.type()), Status::ok);
        EXPECT_EQ(native_type(outer.type(), to, native), count == 0x3fffffffU ? Status::ok : Status::overflow);
    }
}

// A sequence of elements of 4 GiB: the buffer for converting one of them would be larger than any memory.
TEST(DatatypeLimits, SequencesOfHugeElements) {
    static constexpr auto kFrom = stored_sequence(make_opaque(0xffffffffU, ""));
    static constexpr auto kTo = make_variable_length(make_opaque(0xffffffffU, ""));
    Bench bench;
    NoSource source;
    Conversion conversion;
    EXPECT_EQ(conversion.prepare(bench.context, kFrom, kTo, {FileValues::Side::from, 4, &source}),
              Status::out_of_memory);
    EXPECT_EQ(bench.arena.usage().now, 0U);
}

// reclaim() accepts only types in memory's form, so that it never takes stored bytes for pointers, however deep.
TEST(DatatypeLimits, ReclaimRefusesTheFormOfTheFile) {
    static constexpr auto kStored = stored_sequence(kI16);
    static constexpr auto kMemory = make_variable_length(kI16);
    static constexpr auto kInArray = make_array(kStored, 2U);
    static constexpr auto kInCompound = make_compound<64>(member("a", 0, kMemory), member("b", 32, kStored));
    static constexpr auto kInSequence = make_variable_length(kStored);
    Bench bench;
    std::byte value[128];
    std::memset(value, 0x5a, sizeof value);
    for (const DatatypeView type :
         {kStored.view(), kInArray.view(), kInCompound.view(), kInSequence.view(), DatatypeView()}) {
        EXPECT_EQ(reclaim(bench.context, type, 1, sizeof value, value), Status::invalid_argument);
    }
    EXPECT_EQ(reclaim(bench.context, kMemory, 1, sizeof(VariableLength) - 1, value), Status::invalid_argument);
    for (const std::byte each : value) {
        EXPECT_EQ(each, std::byte{0x5a});
    }
}

TEST(DatatypeLimits, BuilderRefusals) {
    static constexpr auto kWide = make_integer(9, false);
    auto moved = make_integer(2, false);
    moved.bytes[8] = std::byte{1};
    moved.bytes[10] = std::byte{15};
    std::byte memory[400];
    TypeBuilder type(memory);
    EXPECT_EQ(type.bitfield(0), Status::invalid_argument);
    EXPECT_EQ(type.bitfield(65), Status::invalid_argument);
    EXPECT_EQ(type.opaque(0, "tag"), Status::invalid_argument);
    EXPECT_EQ(type.opaque(1, std::string(249, 't')), Status::invalid_argument);
    EXPECT_EQ(type.array({}, {}), Status::invalid_argument);
    const std::vector<std::uint32_t> ones(33, 1);
    EXPECT_EQ(type.array(kI16, {ones.data(), 33}), Status::invalid_argument);
    EXPECT_EQ(type.enumeration(kWide), Status::type_mismatch);
    EXPECT_EQ(type.enumeration(moved), Status::type_mismatch);
    EXPECT_TRUE(type.type().empty());
    if (sizeof(std::size_t) > 4) {
        EXPECT_EQ(type.string(static_cast<std::size_t>(std::uint64_t{1} << 32)), Status::invalid_argument);
        EXPECT_EQ(type.opaque(static_cast<std::size_t>(std::uint64_t{1} << 32), "tag"), Status::invalid_argument);
    }
    EXPECT_EQ(type.opaque(1, std::string(248, 't')), Status::ok);
    EXPECT_EQ(type.type().tag(), std::string(248, 't'));
    EXPECT_EQ(type.array(kI16, {ones.data(), 32}), Status::ok);
    EXPECT_EQ(type.bitfield(64), Status::ok);
}

// A buffer that is too small by any number of bytes is refused, and the type in it stays.
TEST(DatatypeLimits, BuilderBuffers) {
    const std::uint32_t three[] = {3};
    for (std::size_t size = 0; size < 60; ++size) {
        std::vector<std::byte> memory(size);
        TypeBuilder type({memory.data(), size});
        EXPECT_EQ(type.integer(2, true), size < 12 ? Status::over_budget : Status::ok);
        EXPECT_EQ(type.array(kI16, three), size < 25 ? Status::over_budget : Status::ok);
        EXPECT_EQ(type.opaque(3, "nine char"), size < 24 ? Status::over_budget : Status::ok);
        EXPECT_EQ(type.compound(4), size < 8 ? Status::over_budget : Status::ok);
        EXPECT_EQ(type.enumeration(kI16), size < 20 ? Status::over_budget : Status::ok);
        const Status added = size < 20 ? Status::over_budget : type.enumerator("one", 1);
        EXPECT_EQ(added, size < 26 ? Status::over_budget : Status::ok);
        EXPECT_TRUE(size < 26 || type.type().member_count() == 1U);
        EXPECT_TRUE(size >= 26 || size < 20 || type.type().empty());
    }
}

// Compounds of version 1 around each other, each with one member that is an array of one element. In the native type
// such an array is a type of its own.
TEST(NativeType, IsNestedNoDeeperThanTheLimit) {
    std::vector<std::byte> type = {
        std::byte{0x10}, std::byte{8}, {}, {}, std::byte{4}, {}, {}, {}, {}, {}, std::byte{32}, {}};
    unsigned refused = 0;
    for (unsigned level = 1; level < H5MOTE_MAX_TYPE_DEPTH; ++level) {
        std::vector<std::byte> outer(8 + 40);
        outer[0] = std::byte{0x16};
        outer[1] = std::byte{1};
        outer[4] = std::byte{4};
        outer[8] = std::byte{'m'};
        outer[20] = std::byte{1};  // dimensions of the member
        outer[32] = std::byte{1};  // elements
        outer.insert(outer.end(), type.begin(), type.end());
        type = outer;
        std::size_t length = 0;
        Feature feature = Feature::none;
        ASSERT_EQ(validate_datatype({type.data(), type.size()}, length, feature), Status::ok);
        const DatatypeView stored({type.data(), type.size()});
        std::vector<std::byte> bytes(native_type_length(stored));
        DatatypeView native;
        const Status status = native_type(stored, {bytes.data(), bytes.size()}, native);
        EXPECT_EQ(status, 2 * level <= H5MOTE_MAX_TYPE_DEPTH ? Status::ok : Status::unsupported);
        refused += status == Status::ok ? 0 : 1;
    }
    EXPECT_NE(refused, 0U);
}

#endif
