// Datatypes that are made at compile time have the bytes that libhdf5 writes.
#include <h5mote/compound.hpp>

#include <cstring>

#include "datatype_vectors.hpp"
#include "test.hpp"

using h5mote::ByteOrder;
using h5mote::CharacterSet;
using h5mote::ConstBytes;
using h5mote::datatype_of;
using h5mote::DatatypeView;
using h5mote::file_type_of;
using h5mote::make_array;
using h5mote::make_bitfield;
using h5mote::make_compound;
using h5mote::make_enum;
using h5mote::make_float;
using h5mote::make_integer;
using h5mote::make_opaque;
using h5mote::make_string;
using h5mote::member;
using h5mote::packed_type_of;
using h5mote::StringPadding;

struct GlobalSample {
    std::uint32_t t_ms;
    std::int16_t accel[3];
    float temp_c;
};
H5MOTE_COMPOUND(GlobalSample, t_ms, accel, temp_c)

namespace app {

enum class Mode : std::int16_t { off = -3, running = 5 };
H5MOTE_ENUM(Mode, off, running)

enum Plain : std::uint8_t { kFirst, kSecond };
H5MOTE_ENUM(Plain, kFirst, kSecond);

struct Record {
    GlobalSample samples[2];
    Mode mode;
    bool ok;
    char name[5];
    h5mote::FixedString<4, StringPadding::space_padded, CharacterSet::utf8> unit;
    std::array<std::array<float, 3>, 2> matrix;
    std::byte raw[3];
    char lines[2][8];
    const double value;
    std::int64_t not_stored;
};
H5MOTE_COMPOUND(Record, samples, mode, ok, name, unit, matrix, raw, lines, value)

struct Wide {
    std::uint8_t a1, a2, a3, a4, a5, a6, a7, a8, b1, b2, b3, b4, b5, b6, b7, b8, c1, c2, c3, c4, c5, c6, c7, c8, d1, d2,
        d3, d4, d5, d6, d7, d8, e1, e2, e3, e4, e5, e6, e7, e8, f1, f2, f3, f4, f5, f6, f7, f8, g1, g2, g3, g4, g5, g6,
        g7, g8, h1, h2, h3, h4, h5, h6, h7, h8;
};
H5MOTE_COMPOUND(Wide, a1, a2, a3, a4, a5, a6, a7, a8, b1, b2, b3, b4, b5, b6, b7, b8, c1, c2, c3, c4, c5, c6, c7, c8,
                d1, d2, d3, d4, d5, d6, d7, d8, e1, e2, e3, e4, e5, e6, e7, e8, f1, f2, f3, f4, f5, f6, f7, f8, g1, g2,
                g3, g4, g5, g6, g7, g8, h1, h2, h3, h4, h5, h6, h7, h8)

struct One {
    std::uint16_t only;
};
H5MOTE_COMPOUND(One, only)

}  // namespace app

namespace {

bool same(DatatypeView type, ConstBytes expected) {
    return type.encoded_length() == expected.size() &&
           std::memcmp(type.bytes().data(), expected.data(), expected.size()) == 0;
}

// All of it happens at compile time.
static_assert(file_type_of<GlobalSample>().size() == 16);
static_assert(packed_type_of<GlobalSample>().size() == 14);
static_assert(datatype_of<double[2][3]>().size() == 48);
static_assert(datatype_of<app::Mode>().type_class() == h5mote::TypeClass::enumeration);
static_assert(std::is_trivially_copyable_v<DatatypeView>);

TEST(DatatypeEncode, SingleTypesAreAsLibhdf5WritesThem) {
    static constexpr auto kInt8 = make_integer(1, true);
    static constexpr auto kUint16 = make_integer(2, false);
    static constexpr auto kInt64 = make_integer(8, true, ByteOrder::big);
    static constexpr auto kFloat = make_float(4);
    static constexpr auto kFloatBig = make_float(4, ByteOrder::big);
    static constexpr auto kDouble = make_float(8);
    static constexpr auto kDoubleBig = make_float(8, ByteOrder::big);
    static constexpr auto kBits8 = make_bitfield(1);
    static constexpr auto kBits32 = make_bitfield(4, ByteOrder::big);
    EXPECT_TRUE(same(kInt8, h5mote_test::kInt8.view()));
    EXPECT_TRUE(same(kUint16, h5mote_test::kUint16.view()));
    EXPECT_TRUE(same(kInt64, h5mote_test::kInt64Big.view()));
    EXPECT_TRUE(same(kFloat, h5mote_test::kFloat32Le.view()));
    EXPECT_TRUE(same(kFloatBig, h5mote_test::kFloat32Be.view()));
    EXPECT_TRUE(same(kDouble, h5mote_test::kFloat64Le.view()));
    EXPECT_TRUE(same(kDoubleBig, h5mote_test::kFloat64Be.view()));
    EXPECT_TRUE(same(kBits8, h5mote_test::kBitfield8.view()));
    EXPECT_TRUE(same(kBits32, h5mote_test::kBitfield32Big.view()));
}

TEST(DatatypeEncode, StringsAndOpaque) {
    static constexpr auto kPadded = make_string(5);
    static constexpr auto kSpaces = make_string(5, StringPadding::space_padded, CharacterSet::utf8);
    static constexpr auto kNoTag = make_opaque(3, "");
    static constexpr auto kAbc = make_opaque(3, "abc");
    static constexpr auto kFull = make_opaque(3, "12345678");
    EXPECT_TRUE(same(kPadded, h5mote_test::kString5.view()));
    EXPECT_TRUE(same(kSpaces, h5mote_test::kString5SpaceUtf8.view()));
    EXPECT_TRUE(same(kNoTag, h5mote_test::kOpaque.view()));
    EXPECT_TRUE(same(kAbc, h5mote_test::kOpaqueAbc.view()));
    EXPECT_TRUE(same(kFull, h5mote_test::kOpaqueTag8.view()));
}

TEST(DatatypeEncode, ArraysAndEnumerations) {
    static constexpr auto kThree = make_array(make_integer(2, true), 3U);
    static constexpr auto kTwoByThree = make_array(make_float(4), 2U, 3U);
    static constexpr auto kTwoOfThree = make_array(kThree, 2U);
    static constexpr auto kEnum =
        make_enum<std::int16_t>(ByteOrder::big, h5mote::enumerator("A", -3), h5mote::enumerator("long_name", 5));
    EXPECT_TRUE(same(kThree, h5mote_test::kArray3.view()));
    EXPECT_TRUE(same(kTwoByThree, h5mote_test::kArray2x3.view()));
    EXPECT_TRUE(same(kTwoOfThree, h5mote_test::kArray2Of3.view()));
    EXPECT_TRUE(same(kEnum, h5mote_test::kEnumBig.view()));
    EXPECT_TRUE(same(file_type_of<bool>(), h5mote_test::kBool.view()));
    EXPECT_TRUE(same(file_type_of<std::int16_t[3]>(), h5mote_test::kArray3.view()));
    EXPECT_TRUE(same(file_type_of<float[2][3]>(), h5mote_test::kArray2x3.view()));
}

TEST(DatatypeEncode, CompoundsByHand) {
    static constexpr auto kByte = make_integer(1, false);
    static constexpr auto kSample = make_compound<16>(member("t_ms", 0, make_integer(4, false)),
                                                      member("accel", 4, make_array(make_integer(2, true), 3U)),
                                                      member("temp_c", 12, make_float(4)));
    static constexpr auto kNested = make_compound<300>(member("a", 0, kByte), member("s", 256, kSample));
    static constexpr auto kBig = make_compound<70000>(member("a", 66000, kByte));
    static constexpr auto k255 = make_compound<255>(member("a", 254, kByte));
    static constexpr auto k256 = make_compound<256>(member("a", 254, kByte));
    static constexpr auto kMixed = make_compound<24>(
        member("s", 0, make_string(5)), member("o", 5, make_opaque(3, "abc")),
        member(
            "e", 8,
            make_enum<std::int16_t>(ByteOrder::big, h5mote::enumerator("A", -3), h5mote::enumerator("long_name", 5))),
        member("b", 10, make_bitfield(2, ByteOrder::big)), member("d", 12, make_float(8, ByteOrder::big)));
    EXPECT_TRUE(same(kSample, h5mote_test::kSample.view()));
    EXPECT_TRUE(same(kNested, h5mote_test::kNested.view()));
    EXPECT_TRUE(same(kBig, h5mote_test::kBig.view()));
    EXPECT_TRUE(same(k255, h5mote_test::kSize255.view()));
    EXPECT_TRUE(same(k256, h5mote_test::kSize256.view()));
    EXPECT_TRUE(same(kMixed, h5mote_test::kMixed.view()));
    EXPECT_EQ(kMixed.size(), 24U);
}

TEST(DatatypeEncode, StructsKeepTheirLayoutInTheFile) {
    EXPECT_TRUE(same(file_type_of<GlobalSample>(), h5mote_test::kSample.view()));
    const DatatypeView memory = datatype_of<GlobalSample>();
    EXPECT_EQ(memory.size(), sizeof(GlobalSample));
    h5mote::CompoundMember found;
    ASSERT_TRUE(memory.find_member("accel", found));
    EXPECT_EQ(found.offset, offsetof(GlobalSample, accel));
    EXPECT_TRUE(found.type.base().order() == h5mote::kNativeOrder);
    // On a little-endian machine the memory type and the file type are one object.
    EXPECT_EQ(datatype_of<GlobalSample>().bytes().data() == file_type_of<GlobalSample>().bytes().data(),
              h5mote::kNativeOrder == ByteOrder::little);
}

TEST(DatatypeEncode, PackedStructsHaveNoGaps) {
    const DatatypeView packed = packed_type_of<app::Record>();
    // The sizes of the members: 2 * 14 + 2 + 1 + 5 + 4 + 24 + 3 + 16 + 8
    EXPECT_EQ(packed.size(), 91U);
    h5mote::CompoundMembers members(packed);
    h5mote::CompoundMember member;
    std::uint32_t end = 0;
    unsigned count = 0;
    while (members.next(member)) {
        EXPECT_EQ(member.offset, end);
        end += member.size();
        ++count;
    }
    EXPECT_EQ(count, 9U);
    EXPECT_EQ(end, packed.size());
}

TEST(DatatypeEncode, EveryKindOfMember) {
    const DatatypeView type = datatype_of<app::Record>();
    EXPECT_EQ(type.size(), sizeof(app::Record));
    EXPECT_EQ(type.member_count(), 9U);
    h5mote::CompoundMember found;
    EXPECT_FALSE(type.find_member("not_stored", found));
    ASSERT_TRUE(type.find_member("samples", found));
    EXPECT_EQ(found.type.rank(), 1U);
    EXPECT_TRUE(found.type.base().type_class() == h5mote::TypeClass::compound);
    ASSERT_TRUE(type.find_member("mode", found));
    EXPECT_TRUE(h5mote::equal(found.type, datatype_of<app::Mode>()));
    ASSERT_TRUE(type.find_member("name", found));
    EXPECT_TRUE(found.type.type_class() == h5mote::TypeClass::string);
    EXPECT_TRUE(found.type.padding() == StringPadding::null_padded);
    ASSERT_TRUE(type.find_member("unit", found));
    EXPECT_TRUE(found.type.padding() == StringPadding::space_padded);
    EXPECT_TRUE(found.type.character_set() == CharacterSet::utf8);
    ASSERT_TRUE(type.find_member("matrix", found));
    EXPECT_EQ(found.type.rank(), 2U);
    EXPECT_EQ(found.type.dimension(0), 2U);
    EXPECT_EQ(found.type.dimension(1), 3U);
    ASSERT_TRUE(type.find_member("raw", found));
    EXPECT_TRUE(found.type.type_class() == h5mote::TypeClass::opaque);
    EXPECT_EQ(found.type.size(), 3U);
    ASSERT_TRUE(type.find_member("lines", found));
    EXPECT_EQ(found.type.rank(), 1U);
    EXPECT_EQ(found.type.base().size(), 8U);
    ASSERT_TRUE(type.find_member("value", found));
    EXPECT_TRUE(h5mote::equal(found.type, datatype_of<double>()));
}

TEST(DatatypeEncode, SixtyFourMembersAndOne) {
    EXPECT_EQ(datatype_of<app::Wide>().member_count(), 64U);
    h5mote::CompoundMember found;
    ASSERT_TRUE(datatype_of<app::Wide>().member(63, found));
    EXPECT_TRUE(found.name == "h8");
    EXPECT_EQ(found.offset, 63U);
    EXPECT_EQ(datatype_of<app::One>().member_count(), 1U);
    EXPECT_EQ(datatype_of<app::Plain>().base().size(), 1U);
}

TEST(DatatypeEncode, FixedStringsPadAndCut) {
    h5mote::FixedString<4> padded;
    padded.assign("ab");
    EXPECT_TRUE(padded.view() == "ab");
    EXPECT_EQ(padded.data[3], '\0');
    padded.assign("abcdef");
    EXPECT_TRUE(padded.view() == "abcd");
    h5mote::FixedString<4, StringPadding::null_terminated> terminated;
    terminated.assign("abcdef");
    EXPECT_TRUE(terminated.view() == "abc");
    EXPECT_EQ(terminated.data[3], '\0');
    h5mote::FixedString<4, StringPadding::space_padded> spaces;
    spaces.assign("a b");
    EXPECT_EQ(spaces.data[3], ' ');
    EXPECT_TRUE(spaces.view() == "a b");
}

}  // namespace
