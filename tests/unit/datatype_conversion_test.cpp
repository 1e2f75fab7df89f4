// Conversion of values: tables of libhdf5's results, the plans that are prepared, and what happens without memory.
#include <h5mote/arena.hpp>
#include <h5mote/compound.hpp>

#include <cstring>

#include "conversion.hpp"
#include "conversion_plan.hpp"
#include "datatype_vectors.hpp"
#include "test.hpp"

using h5mote::ByteOrder;
using h5mote::CharacterSet;
using h5mote::Context;
using h5mote::Conversion;
using h5mote::DatatypeView;
using h5mote::make_array;
using h5mote::make_bitfield;
using h5mote::make_compound;
using h5mote::make_enum;
using h5mote::make_float;
using h5mote::make_integer;
using h5mote::make_opaque;
using h5mote::make_string;
using h5mote::member;
using h5mote::MemoryKind;
using h5mote::Status;
using h5mote::StringPadding;
using h5mote_test::hex;

namespace {

constexpr ByteOrder kLittle = ByteOrder::little;
constexpr ByteOrder kBig = ByteOrder::big;

// A context over little memory, in which conversions are prepared.
struct Bench {
    alignas(8) std::byte memory[1024];
    h5mote::Arena arena{h5mote::Bytes{memory, sizeof(memory)}};
    h5mote::NullPort port;
    Context context{arena, port, {}};

    std::size_t in_use() { return context.memory_report().kinds[static_cast<std::size_t>(MemoryKind::type)].now; }
};

// Whether converting one value gives the expected one. Values are in hexadecimal, at odd addresses, guarded behind.
template <std::size_t N, std::size_t M>
bool converts(DatatypeView from, DatatypeView to, const h5mote_test::Message<N>& source,
              const h5mote_test::Message<M>& expected) {
    Bench bench;
    Conversion conversion;
    if (from.size() != N / 2 || to.size() != M / 2 || conversion.prepare(bench.context, from, to) != Status::ok) {
        return false;
    }
    std::byte in[N / 2 + 1];
    std::byte out[M / 2 + 2];
    std::memcpy(in + 1, source.bytes, N / 2);
    std::memset(out, 0x5a, sizeof(out));
    (void)conversion.run(1, in + 1, N / 2, out + 1, M / 2);
    return std::memcmp(out + 1, expected.bytes, M / 2) == 0 && out[0] == std::byte{0x5a} &&
           out[M / 2 + 1] == std::byte{0x5a};
}

Status prepares(DatatypeView from, DatatypeView to, std::uint64_t* trail_value = nullptr) {
    Bench bench;
    Conversion conversion;
    const Status status = conversion.prepare(bench.context, from, to);
    if (trail_value != nullptr) {
        *trail_value = bench.context.trail().newest().value;
    }
    return status;
}

constexpr auto kI8 = make_integer(1, true);
constexpr auto kU8 = make_integer(1, false);
constexpr auto kI16 = make_integer(2, true);
constexpr auto kI16Big = make_integer(2, true, kBig);
constexpr auto kU16 = make_integer(2, false);
constexpr auto kU24Big = make_integer(3, false, kBig);
constexpr auto kI32 = make_integer(4, true);
constexpr auto kU32Big = make_integer(4, false, kBig);
constexpr auto kI64 = make_integer(8, true);
constexpr auto kU64 = make_integer(8, false);
constexpr auto kF32 = make_float(4);
constexpr auto kF32Big = make_float(4, kBig);
constexpr auto kF64 = make_float(8);
constexpr auto kF64Big = make_float(8, kBig);

TEST(DatatypeConversion, IntegersWidenNarrowAndClamp) {
    EXPECT_TRUE(converts(kI16, kI32, hex("feff"), hex("feffffff")));
    EXPECT_TRUE(converts(kU16, kI32, hex("feff"), hex("feff0000")));
    EXPECT_TRUE(converts(kI32, kI16, hex("ff7f0000"), hex("ff7f")));
    EXPECT_TRUE(converts(kI32, kI16, hex("00800000"), hex("ff7f")));
    EXPECT_TRUE(converts(kI32, kI16, hex("0080ffff"), hex("0080")));
    EXPECT_TRUE(converts(kI32, kI16, hex("ff7fffff"), hex("0080")));
    EXPECT_TRUE(converts(kI8, kU64, hex("ff"), hex("0000000000000000")));
    EXPECT_TRUE(converts(kI8, kU64, hex("7f"), hex("7f00000000000000")));
    EXPECT_TRUE(converts(kI8, kU8, hex("80"), hex("00")));
    EXPECT_TRUE(converts(kU8, kI8, hex("80"), hex("7f")));
    EXPECT_TRUE(converts(kU64, kI64, hex("ffffffffffffffff"), hex("ffffffffffffff7f")));
    EXPECT_TRUE(converts(kI64, kU64, hex("ffffffffffffffff"), hex("0000000000000000")));
    EXPECT_TRUE(converts(kI64, kI8, hex("0000000000000080"), hex("80")));
    EXPECT_TRUE(converts(kU64, kU16, hex("0000010000000000"), hex("ffff")));
    EXPECT_TRUE(converts(kI16Big, kI16, hex("0102"), hex("0201")));
    EXPECT_TRUE(converts(kI16Big, kU32Big, hex("8000"), hex("00000000")));
    EXPECT_TRUE(converts(kI32, kU24Big, hex("03020100"), hex("010203")));
    EXPECT_TRUE(converts(kI32, kU24Big, hex("00000001"), hex("ffffff")));
    EXPECT_TRUE(converts(kU24Big, kI64, hex("800000"), hex("0000800000000000")));
}

TEST(DatatypeConversion, FloatsOfBothSizesAndOrders) {
    EXPECT_TRUE(converts(kF32, kF64, hex("0000803f"), hex("000000000000f03f")));     // 1
    EXPECT_TRUE(converts(kF32Big, kF64, hex("bf800000"), hex("000000000000f0bf")));  // -1
    EXPECT_TRUE(converts(kF32, kF64, hex("01000000"), hex("000000000000a036")));     // 2^-149
    EXPECT_TRUE(converts(kF32, kF64, hex("ffff7f00"), hex("000000c0ffff0f38")));     // largest denormal
    EXPECT_TRUE(converts(kF32, kF64, hex("00000080"), hex("0000000000000080")));     // -0
    EXPECT_TRUE(converts(kF32, kF64Big, hex("000080ff"), hex("fff0000000000000")));  // -infinity
    EXPECT_TRUE(converts(kF32, kF64, hex("0100c07f"), hex("000000200000f87f")));     // NaN with payload
    EXPECT_TRUE(converts(kF32, kF64, hex("0100807f"), hex("000000200000f87f")));     // made quiet
    EXPECT_TRUE(converts(kF64, kF32, hex("182d4454fb210940"), hex("db0f4940")));     // pi
    EXPECT_TRUE(converts(kF64Big, kF32Big, hex("400921fb54442d18"), hex("40490fdb")));
    EXPECT_TRUE(converts(kF64, kF32, hex("000000100000f03f"), hex("0000803f")));  // tie, down to even
    EXPECT_TRUE(converts(kF64, kF32, hex("000000300000f03f"), hex("0200803f")));  // tie, up to even
    EXPECT_TRUE(converts(kF64, kF32, hex("010000100000f03f"), hex("0100803f")));  // just above a tie
    EXPECT_TRUE(converts(kF64, kF32, hex("000000e0ffffef47"), hex("ffff7f7f")));  // largest
    EXPECT_TRUE(converts(kF64, kF32, hex("ffffffefffffef47"), hex("0000807f")));  // more than the largest
    EXPECT_TRUE(converts(kF64, kF32, hex("000000f0ffffef47"), hex("0000807f")));  // rounds to infinity
    EXPECT_TRUE(converts(kF64, kF32, hex("000000000000f07f"), hex("0000807f")));
    EXPECT_TRUE(converts(kF64, kF32, hex("000000000000a036"), hex("01000000")));  // 2^-149
    EXPECT_TRUE(converts(kF64, kF32, hex("0000000000009036"), hex("00000000")));  // half of that: tie, to even
    EXPECT_TRUE(converts(kF64, kF32, hex("0100000000009036"), hex("01000000")));
    EXPECT_TRUE(converts(kF64, kF32, hex("ffffffffffff8f36"), hex("00000000")));
    EXPECT_TRUE(converts(kF64, kF32, hex("ffffffffffff0f38"), hex("00008000")));  // rounds to the least normal
    EXPECT_TRUE(converts(kF64, kF32, hex("0100000000000080"), hex("00000080")));  // -denormal of 64 bits
    EXPECT_TRUE(converts(kF64, kF32, hex("000000200000f8ff"), hex("0100c0ff")));  // NaN with payload
    EXPECT_TRUE(converts(kF64, kF32, hex("010000000000f07f"), hex("0000c07f")));  // payload too low
}

TEST(DatatypeConversion, StringsAsLibhdf5) {
    constexpr auto kNull3 = make_string(3);
    constexpr auto kNull5 = make_string(5);
    constexpr auto kTerm3 = make_string(3, StringPadding::null_terminated);
    constexpr auto kTerm5 = make_string(5, StringPadding::null_terminated);
    constexpr auto kSpace3 = make_string(3, StringPadding::space_padded);
    constexpr auto kSpace5 = make_string(5, StringPadding::space_padded);
    static constexpr decltype(kNull3) types[] = {kNull3, kNull5, kTerm3, kTerm5, kSpace3, kSpace5};
    EXPECT_TRUE(converts(types[1], types[0], hex("6162636465"), hex("616263")));
    EXPECT_TRUE(converts(types[1], types[2], hex("6162636465"), hex("616200")));
    EXPECT_TRUE(converts(types[1], types[3], hex("6162636465"), hex("6162636400")));
    EXPECT_TRUE(converts(types[0], types[1], hex("616263"), hex("6162630000")));
    EXPECT_TRUE(converts(types[0], types[5], hex("610000"), hex("6120202020")));
    EXPECT_TRUE(converts(types[5], types[1], hex("6120622020"), hex("6120620000")));
    EXPECT_TRUE(converts(types[5], types[2], hex("6120626320"), hex("612000")));
    EXPECT_TRUE(converts(types[4], types[5], hex("202020"), hex("2020202020")));
    EXPECT_TRUE(converts(types[3], types[4], hex("6100626364"), hex("612020")));
    EXPECT_TRUE(converts(types[5], types[4], hex("6162636420"), hex("616263")));
    static constexpr auto kUtf8 = make_string(5, StringPadding::null_padded, CharacterSet::utf8);
    EXPECT_TRUE(prepares(types[0], kUtf8) == Status::type_mismatch);
}

TEST(DatatypeConversion, EnumerationsByName) {
    static constexpr auto kFrom =
        make_enum<std::int8_t>(kLittle, h5mote::enumerator("off", 0), h5mote::enumerator("on", 7));
    static constexpr auto kTo = make_enum<std::uint32_t>(
        kBig, h5mote::enumerator("on", 1), h5mote::enumerator("broken", 2), h5mote::enumerator("off", 0x80000000U));
    EXPECT_TRUE(converts(kFrom, kTo, hex("07"), hex("00000001")));
    EXPECT_TRUE(converts(kFrom, kTo, hex("00"), hex("80000000")));
    EXPECT_TRUE(converts(kFrom, kTo, hex("05"), hex("ffffffff")));
    // "broken" has no counterpart in the other type.
    EXPECT_TRUE(prepares(kTo, kFrom) == Status::type_mismatch);
    EXPECT_TRUE(converts(DatatypeView{h5mote_test::kVersion1Enum.view()}, DatatypeView{h5mote_test::kEnumBig.view()},
                         hex("1234"), hex("1234")));  // the same type: any value is copied
}

TEST(DatatypeConversion, BytesInOtherOrder) {
    static constexpr auto kBits = make_bitfield(4);
    static constexpr auto kBits2 = make_bitfield(2);
    EXPECT_TRUE(converts(kBits, DatatypeView{h5mote_test::kBitfield32Big.view()}, hex("01020304"), hex("04030201")));
    EXPECT_TRUE(converts(kBits, kBits2, hex("01020304"), hex("0102")));
    EXPECT_TRUE(converts(kBits2, kBits, hex("0102"), hex("01020000")));
    static constexpr auto kHalfBig = hex("11210f0002000000000010000a05000a0f000000");
    EXPECT_TRUE(
        converts(DatatypeView{h5mote_test::kFloat16.view()}, DatatypeView{kHalfBig.view()}, hex("0102"), hex("0201")));
    // If only order and sign of two integer types differ, the bytes are reordered and nothing is clamped, as in
    // libhdf5.
    EXPECT_TRUE(converts(kI16Big, kU16, hex("fffe"), hex("feff")));
    // A number with 12 significant bits in 16, beginning at bit 4.
    static constexpr auto kTwelve = hex("100000000200000004000c00");
    EXPECT_TRUE(converts(DatatypeView{kTwelve.view()}, kU16, hex("3412"), hex("2301")));
    EXPECT_TRUE(converts(kU16, DatatypeView{kTwelve.view()}, hex("2301"), hex("3012")));
    EXPECT_TRUE(converts(kU16, DatatypeView{kTwelve.view()}, hex("0010"), hex("f0ff")));
    EXPECT_TRUE(converts(DatatypeView{kTwelve.view()}, DatatypeView{kTwelve.view()}, hex("0102"), hex("0102")));
}

TEST(DatatypeConversion, WhatDoesNotConvert) {
    static constexpr auto kTagged = make_opaque(3, "abc");
    static constexpr auto kUntagged = make_opaque(3, "");
    static constexpr auto kThree = make_array(kI16, 3U);
    static constexpr auto kOneByThree = make_array(kI16, 1U, 3U);
    static constexpr auto kFour = make_array(kI16, 4U);
    static constexpr auto kBits2 = make_bitfield(2);
    static constexpr auto kText = make_string(2);
    static constexpr auto kLarge = make_integer(65, false);
    EXPECT_TRUE(prepares(kI16, kText) == Status::type_mismatch);
    EXPECT_TRUE(prepares(kI16, kBits2) == Status::type_mismatch);
    EXPECT_TRUE(prepares(kBits2, kI16) == Status::type_mismatch);
    EXPECT_TRUE(prepares(kLarge, kI16) == Status::unsupported);
    EXPECT_TRUE(prepares(kTagged, kUntagged) == Status::type_mismatch);
    EXPECT_TRUE(prepares(kThree, kFour) == Status::type_mismatch);
    EXPECT_TRUE(prepares(kThree, kOneByThree) == Status::type_mismatch);
    EXPECT_TRUE(prepares(kThree, kI16) == Status::type_mismatch);
    EXPECT_TRUE(prepares({}, kI16) == Status::invalid_argument);
    std::uint64_t feature = 0;
    const DatatypeView sequence{h5mote_test::kVariableInt32.view()};
    EXPECT_TRUE(prepares(sequence, sequence, &feature) == Status::unsupported);
#if H5MOTE_ERROR_TRAIL > 0
    EXPECT_EQ(feature, static_cast<std::uint64_t>(h5mote::Feature::datatype_class));
#endif
    const DatatypeView reference{h5mote_test::kReference.view()};
    EXPECT_TRUE(prepares(reference, reference) == Status::ok);
    EXPECT_TRUE(prepares(reference, kI64) == Status::type_mismatch);
    const DatatypeView time{h5mote_test::kTime.view()};
    EXPECT_TRUE(prepares(time, time) == Status::ok);
}

TEST(DatatypeConversion, ArraysByElement) {
    static constexpr auto kFrom = make_array(make_array(kI16Big, 2U), 2U);
    static constexpr auto kTo = make_array(make_array(kI32, 2U), 2U);
    EXPECT_TRUE(converts(kFrom, kTo, hex("0001fffe7fff8000"), hex("01000000feffffffff7f00000080ffff")));
    static constexpr auto kComplex = hex("5b0100000800000011201f000400000000002000170800177f000000");
    static constexpr auto kComplexBig = hex("5b0100000800000011211f000400000000002000170800177f000000");
    EXPECT_TRUE(converts(DatatypeView{kComplex.view()}, DatatypeView{kComplexBig.view()}, hex("0102030405060708"),
                         hex("0403020108070605")));
}

TEST(DatatypeConversion, CompoundsByName) {
    static constexpr auto kFrom = make_compound<8>(member("a", 0, kI16), member("gone", 2, kU8), member("b", 4, kF32));
    static constexpr auto kTo =
        make_compound<12>(member("b", 0, kF64Big), member("new", 8, kU8), member("a", 10, kI16Big));
    // Members without a source and gaps keep the target's bytes, here the guard value 5a.
    EXPECT_TRUE(converts(kFrom, kTo, hex("0102eeee0000803f"), hex("3ff00000000000005a5a0201")));
    static constexpr auto kOther = make_compound<2>(member("x", 0, kI16));
    EXPECT_TRUE(converts(kFrom, kOther, hex("0102eeee0000803f"), hex("5a5a")));
    static constexpr auto kWrong = make_compound<4>(member("a", 0, make_string(4)));
    EXPECT_TRUE(prepares(kFrom, kWrong) == Status::type_mismatch);
}

TEST(DatatypeConversion, ArraysOfCompoundsOfArrays) {
    static constexpr auto kInnerFrom = make_compound<6>(member("v", 0, make_array(kI16, 2U)), member("t", 4, kU16));
    static constexpr auto kInnerTo = make_compound<5>(member("t", 0, kU8), member("v", 1, make_array(kI16Big, 2U)));
    static constexpr auto kFrom = make_compound<13>(member("x", 0, make_array(kInnerFrom, 2U)), member("y", 12, kU8));
    static constexpr auto kTo = make_compound<11>(member("y", 0, kU8), member("x", 1, make_array(kInnerTo, 2U)));
    EXPECT_TRUE(converts(kFrom, kTo,
                         hex("010002000300"
                             "040005000001"
                             "77"),
                         hex("77"
                             "0300010002"
                             "ff00040005")));
}

TEST(DatatypeConversion, OlderMessagesOfTheSameTypeAreCopied) {
    Bench bench;
    Conversion conversion;
    const DatatypeView old{h5mote_test::kVersion2.view().first(h5mote_test::kVersion2.view().size() - 4)};
    const DatatypeView now{h5mote_test::kSample.view()};
    ASSERT_TRUE(conversion.prepare(bench.context, old, now) == Status::ok);
    EXPECT_TRUE(conversion.is_copy());
    EXPECT_EQ(bench.in_use(), 0U);
    // Members with dimensions, as version 1 encodes arrays, convert like arrays.
    static constexpr auto kVersion1 =
        hex("160100000600000078000000000000000200000001000000000000000000000002000000000000000000000000000000"
            "100800000200000000001000");
    static constexpr auto kNow = make_compound<4>(member("x", 0, make_array(kI16Big, 2U)));
    EXPECT_TRUE(converts(DatatypeView{kVersion1.view()}, kNow, hex("eeee01020304"), hex("02010403")));
}

}  // namespace

struct ConversionSample {
    std::uint32_t t_ms;
    std::int16_t accel[3];
    float temp_c;
};
H5MOTE_COMPOUND(ConversionSample, t_ms, accel, temp_c)

namespace {

TEST(DatatypeConversion, IdenticalTypesCostNothing) {
    Bench bench;
    Conversion conversion;
    const DatatypeView type = h5mote::file_type_of<ConversionSample>();
    ASSERT_TRUE(conversion.prepare_identical(type, DatatypeView{h5mote_test::kSample.view()}) == Status::ok);
    EXPECT_TRUE(conversion.is_copy());
    ASSERT_TRUE(conversion.prepare(bench.context, type, type) == Status::ok);
    EXPECT_TRUE(conversion.is_copy());
    EXPECT_EQ(bench.in_use(), 0U);
    std::byte in[48];
    std::byte out[60];
    for (unsigned i = 0; i < sizeof(in); ++i) {
        in[i] = static_cast<std::byte>(i);
    }
    (void)conversion.run(3, in, 16, out, 16);
    EXPECT_TRUE(std::memcmp(in, out, 48) == 0);
    (void)conversion.run(3, in, 16, out, 20);
    EXPECT_TRUE(std::memcmp(in, out, 16) == 0 && std::memcmp(in + 16, out + 20, 16) == 0 &&
                std::memcmp(in + 32, out + 40, 16) == 0);
    EXPECT_TRUE(conversion.prepare_identical(type, kI16) == Status::type_mismatch);
    EXPECT_TRUE(conversion.is_copy());  // a failed preparation keeps the earlier one
}

TEST(DatatypeConversion, StructsFromMemoryToPackedFile) {
    Bench bench;
    Conversion there;
    Conversion back;
    const DatatypeView memory = h5mote::datatype_of<ConversionSample>();
    const DatatypeView packed = h5mote::packed_type_of<ConversionSample>();
    ASSERT_TRUE(there.prepare(bench.context, memory, packed) == Status::ok);
    ASSERT_TRUE(back.prepare(bench.context, packed, memory) == Status::ok);
    const ConversionSample samples[2] = {{0x01020304, {-1, 2, 0x0506}, 1.5F}, {7, {8, 9, 10}, -2}};
    std::byte file[28];
    (void)there.run(2, reinterpret_cast<const std::byte*>(samples), sizeof(ConversionSample), file, 14);
    constexpr auto kFirst = hex("04030201ffff020006050000c03f");
    EXPECT_TRUE(std::memcmp(file, kFirst.bytes, 14) == 0);
    ConversionSample again[2] = {};
    (void)back.run(2, file, 14, reinterpret_cast<std::byte*>(again), sizeof(ConversionSample));
    for (unsigned i = 0; i < 2; ++i) {
        EXPECT_EQ(again[i].t_ms, samples[i].t_ms);
        EXPECT_TRUE(std::memcmp(again[i].accel, samples[i].accel, sizeof(samples[i].accel)) == 0);
        EXPECT_TRUE(std::memcmp(&again[i].temp_c, &samples[i].temp_c, sizeof(float)) == 0);
    }
    if (h5mote::kNativeOrder == kLittle) {
        // t_ms and accel are adjacent in both types: together with temp_c that makes two copy steps.
        EXPECT_EQ(bench.in_use(), 2 * (sizeof(h5mote::ConversionPlan) + 2 * sizeof(h5mote::ConversionStep)));
    }
    there.reset();
    back.reset();
    EXPECT_EQ(bench.in_use(), 0U);
}

TEST(DatatypeConversion, WithoutMemoryNothingChanges) {
    Bench bench;
    Conversion conversion;
    ASSERT_TRUE(conversion.prepare(bench.context, kI16, kI32) == Status::ok);
    EXPECT_FALSE(conversion.is_copy());
    const std::size_t held = bench.in_use();
    void* rest[sizeof(bench.memory) / 8];
    std::size_t blocks = 0;
    while ((rest[blocks] = bench.arena.allocate(8, 8)) != nullptr) {
        ++blocks;
    }
    static constexpr auto kText = make_string(4);
    EXPECT_TRUE(conversion.prepare(bench.context, kI32, kI16) == Status::out_of_memory);
    EXPECT_TRUE(conversion.prepare(bench.context, kI32, kText) == Status::type_mismatch);
    EXPECT_EQ(bench.in_use(), held);
    const std::byte in[2] = {std::byte{5}, std::byte{0}};
    std::byte out[4];
    (void)conversion.run(1, in, 2, out, 4);
    EXPECT_TRUE(out[0] == std::byte{5} && out[3] == std::byte{0});
    // Identical types need no memory.
    EXPECT_TRUE(conversion.prepare(bench.context, kI32, kI32) == Status::ok);
    EXPECT_EQ(bench.in_use(), 0U);
    for (std::size_t i = 0; i < blocks; ++i) {
        bench.arena.release(rest[i], 8);
    }
    EXPECT_TRUE(bench.arena.check());
    EXPECT_EQ(bench.arena.usage().now, 0U);
}

}  // namespace
