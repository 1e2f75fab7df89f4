// DatatypeView's accessors on types that libhdf5 wrote, in every version of the message.
#include <h5mote/compound.hpp>
#include <h5mote/datatype.hpp>

#include "datatype_message.hpp"
#include "datatype_vectors.hpp"
#include "supported.hpp"
#include "test.hpp"

#include <cstring>

using h5mote::ByteOrder;
using h5mote::CompoundMember;
using h5mote::CompoundMembers;
using h5mote::DatatypeView;
using h5mote::EnumMember;
using h5mote::Status;
using h5mote::TypeClass;

namespace {

// Returns a view of a message that must be valid, or an empty view if it is not.
DatatypeView parse(h5mote::ConstBytes bytes, std::size_t* used = nullptr) {
    std::size_t length = 0;
    h5mote::Feature feature = h5mote::Feature::none;
    const Status status = h5mote::validate_datatype(bytes, length, feature);
    if (status == Status::unsupported && !h5mote_test::kAllTypes) {
        length = h5mote::datatype_length(bytes.data());
    } else if (status != Status::ok) {
        return {};
    }
    if (used != nullptr) {
        *used = length;
    }
    return DatatypeView{bytes.first(length)};
}

TEST(DatatypeView, Integers) {
    const DatatypeView type = parse(h5mote_test::kInt64Big.view());
    EXPECT_TRUE(type.type_class() == TypeClass::integer);
    EXPECT_EQ(type.version(), 1U);
    EXPECT_EQ(type.size(), 8U);
    EXPECT_TRUE(type.order() == ByteOrder::big);
    EXPECT_TRUE(type.is_signed());
    EXPECT_EQ(type.bit_offset(), 0U);
    EXPECT_EQ(type.precision(), 64U);
    EXPECT_FALSE(parse(h5mote_test::kUint16.view()).is_signed());
    EXPECT_TRUE(parse(h5mote_test::kUint16.view()).order() == ByteOrder::little);
}

TEST(DatatypeView, FloatingPoint) {
    const h5mote::FloatFields half = parse(h5mote_test::kFloat16.view()).float_fields();
    EXPECT_EQ(half.sign, 15);
    EXPECT_EQ(half.exponent, 10);
    EXPECT_EQ(half.exponent_size, 5);
    EXPECT_EQ(half.mantissa, 0);
    EXPECT_EQ(half.mantissa_size, 10);
    EXPECT_EQ(half.normalization, 2);
    EXPECT_EQ(half.bias, 15U);
    const DatatypeView extended = parse(h5mote_test::kLongDouble.view());
    EXPECT_EQ(extended.size(), 16U);
    EXPECT_EQ(extended.precision(), 80U);
    EXPECT_EQ(extended.float_fields().normalization, 0);
    EXPECT_EQ(extended.float_fields().bias, 16383U);
    // VAX order is encoded as both order bits, from version 3 on.
    static constexpr auto kVax = h5mote_test::hex("31611f0004000000000020001708000781000000");
    EXPECT_TRUE(parse(kVax.view()).order() == ByteOrder::vax);
}

TEST(DatatypeView, StringsOpaqueTimeReferencesSequences) {
    const DatatypeView text = parse(h5mote_test::kString5SpaceUtf8.view());
    EXPECT_TRUE(text.padding() == h5mote::StringPadding::space_padded);
    EXPECT_TRUE(text.character_set() == h5mote::CharacterSet::utf8);
    EXPECT_TRUE(text.order() == ByteOrder::none);
    EXPECT_TRUE(parse(h5mote_test::kOpaqueAbc.view()).tag() == "abc");
    EXPECT_TRUE(parse(h5mote_test::kOpaqueTag8.view()).tag() == "12345678");
    EXPECT_TRUE(parse(h5mote_test::kOpaque.view()).tag().empty());
    EXPECT_EQ(parse(h5mote_test::kTime.view()).precision(), 32U);
    EXPECT_TRUE(parse(h5mote_test::kReference.view()).reference_type() == h5mote::ReferenceType::object1);
    EXPECT_TRUE(parse(h5mote_test::kRegionReference.view()).reference_type() == h5mote::ReferenceType::region1);
    const DatatypeView strings = parse(h5mote_test::kVariableStringUtf8.view());
    EXPECT_TRUE(strings.is_variable_string());
    EXPECT_TRUE(strings.character_set() == h5mote::CharacterSet::utf8);
    EXPECT_EQ(strings.size(), 16U);
    const DatatypeView sequence = parse(h5mote_test::kVariableInt32.view());
    EXPECT_FALSE(sequence.is_variable_string());
    EXPECT_EQ(sequence.base().size(), 4U);
    EXPECT_TRUE(sequence.base().is_signed());
}

TEST(DatatypeView, Enumerations) {
    for (const auto& bytes : {h5mote_test::kEnumBig.view(), h5mote_test::kVersion1Enum.view()}) {
        const DatatypeView type = parse(bytes);
        EXPECT_EQ(type.encoded_length(), bytes.size());
        EXPECT_EQ(type.member_count(), 2U);
        EXPECT_TRUE(type.order() == ByteOrder::big);
        EXPECT_TRUE(type.is_signed());
        EnumMember member;
        ASSERT_TRUE(type.enum_member(1, member));
        EXPECT_TRUE(member.name == "long_name");
        EXPECT_EQ(member.value.size(), 2U);
        EXPECT_TRUE(member.value[1] == std::byte{5});
        EXPECT_FALSE(type.enum_member(2, member));
        ASSERT_TRUE(type.find_enum_name("A", member));
        EXPECT_TRUE(member.value[0] == std::byte{0xff});
        EXPECT_FALSE(type.find_enum_name("B", member));
        const std::byte five[] = {std::byte{0}, std::byte{5}};
        ASSERT_TRUE(type.find_enum_value(five, member));
        EXPECT_TRUE(member.name == "long_name");
        const std::byte six[] = {std::byte{0}, std::byte{6}};
        EXPECT_FALSE(type.find_enum_value(six, member));
    }
}

TEST(DatatypeView, Arrays) {
    for (const auto& bytes : {h5mote_test::kArray2x3.view(), h5mote_test::kVersion2Array.view()}) {
        const DatatypeView type = parse(bytes);
        EXPECT_EQ(type.encoded_length(), bytes.size());
        EXPECT_EQ(type.rank(), 2U);
        EXPECT_EQ(type.dimension(0), 2U);
        EXPECT_EQ(type.dimension(1), 3U);
        EXPECT_EQ(type.dimension(2), 0U);
        EXPECT_EQ(type.base().size() * 6, type.size());
    }
}

TEST(DatatypeView, CompoundsOfEveryVersion) {
    std::size_t length = 0;
    const DatatypeView newest = parse(h5mote_test::kSample.view());
    const DatatypeView second = parse(h5mote_test::kVersion2.view(), &length);
    EXPECT_EQ(length, h5mote_test::kVersion2.view().size() - 4);  // the message was padded to 8
    const DatatypeView first = parse(h5mote_test::kVersion1.view());
    EXPECT_EQ(newest.version(), 3U);
    EXPECT_EQ(second.version(), 2U);
    EXPECT_EQ(first.version(), 1U);
    for (const DatatypeView& type : {newest, second, first}) {
        EXPECT_EQ(type.size(), 16U);
        CompoundMember member;
        ASSERT_TRUE(type.find_member("temp_c", member));
        EXPECT_EQ(member.offset, 12U);
        EXPECT_EQ(member.size(), 4U);
        EXPECT_TRUE(member.type.type_class() == TypeClass::floating);
        EXPECT_FALSE(type.find_member("temp", member));
        EXPECT_FALSE(type.member(type.member_count(), member));
    }
    EXPECT_TRUE(h5mote::equal(newest, second));
    EXPECT_FALSE(h5mote::equal(newest, first));
    EXPECT_FALSE(h5mote::identical_layout(newest, second));
    EXPECT_TRUE(h5mote::identical_layout(newest, newest));
}

TEST(DatatypeView, OffsetsOfOneTwoAndThreeBytes) {
    CompoundMember member;
    ASSERT_TRUE(parse(h5mote_test::kSize255.view()).member(0, member));
    EXPECT_EQ(member.offset, 254U);
    ASSERT_TRUE(parse(h5mote_test::kSize256.view()).member(0, member));
    EXPECT_EQ(member.offset, 254U);
    ASSERT_TRUE(parse(h5mote_test::kBig.view()).member(0, member));
    EXPECT_EQ(member.offset, 66000U);
    ASSERT_TRUE(parse(h5mote_test::kNested.view()).find_member("s", member));
    EXPECT_EQ(member.offset, 256U);
    EXPECT_EQ(member.type.member_count(), 3U);
}

// { x: int16[2][3] at 4 } in version 1, which encodes the dimensions in the member.
constexpr auto kVersion1Array = h5mote_test::hex(
    "1601000014000000"
    "780000000000000004000000"
    "020000000000000000000000"
    "02000000"
    "03000000"
    "00000000"
    "00000000"
    "100800000200000000001000");

TEST(DatatypeView, ArraysInMembersOfVersion1) {
    const DatatypeView type = parse(kVersion1Array.view());
    ASSERT_TRUE(type.type_class() == TypeClass::compound);
    CompoundMember member;
    ASSERT_TRUE(type.member(0, member));
    EXPECT_EQ(member.dimensions.size(), 8U);
    EXPECT_EQ(member.count(), 6U);
    EXPECT_EQ(member.size(), 12U);
    static constexpr auto kModern =
        h5mote::make_compound<20>(h5mote::member("x", 4, h5mote::make_array(h5mote::make_integer(2, true), 2U, 3U)));
    static constexpr auto kOther =
        h5mote::make_compound<20>(h5mote::member("x", 4, h5mote::make_array(h5mote::make_integer(2, true), 3U, 2U)));
    EXPECT_TRUE(h5mote::equal(type, kModern));
    EXPECT_TRUE(h5mote::equal(kModern, type));
    EXPECT_FALSE(h5mote::equal(type, kOther));
}

// Two enumerations of one-byte integers. A damaged file may give two members of a type the same name.
TEST(DatatypeView, EqualityIsTheSameInBothDirections) {
    constexpr std::size_t kSize = 38;
    std::byte sound[kSize] = {};
    const unsigned char head[20] = {0x18, 2, 0, 0, 1, 0, 0, 0, 0x10, 0, 0, 0, 1, 0, 0, 0, 0, 0, 8, 0};
    std::memcpy(sound, head, sizeof head);
    std::memcpy(sound + 20, "off", 3);
    std::memcpy(sound + 28, "on", 2);
    sound[37] = std::byte{1};
    std::byte twice[kSize];
    std::memcpy(twice, sound, sizeof twice);
    std::memcpy(twice + 28, "off", 3);
    twice[37] = std::byte{0};
    std::byte turned[kSize];
    std::memcpy(turned, sound, sizeof turned);
    std::memcpy(turned + 20, "on\0", 3);
    std::memcpy(turned + 28, "off", 3);
    turned[36] = std::byte{1};
    turned[37] = std::byte{0};
    const DatatypeView one(sound);
    const DatatypeView other(twice);
    const DatatypeView same(turned);
    EXPECT_FALSE(h5mote::equal(one, other));
    EXPECT_FALSE(h5mote::equal(other, one));
    EXPECT_TRUE(h5mote::equal(one, same));
    EXPECT_TRUE(h5mote::equal(same, one));
}

TEST(DatatypeView, EqualityLooksAtEveryField) {
    const h5mote::ConstBytes all[] = {h5mote_test::kInt8.view(),          h5mote_test::kUint16.view(),
                                      h5mote_test::kInt64Big.view(),      h5mote_test::kFloat32Le.view(),
                                      h5mote_test::kFloat32Be.view(),     h5mote_test::kFloat64Le.view(),
                                      h5mote_test::kFloat16.view(),       h5mote_test::kBitfield8.view(),
                                      h5mote_test::kString5.view(),       h5mote_test::kString5SpaceUtf8.view(),
                                      h5mote_test::kOpaque.view(),        h5mote_test::kOpaqueAbc.view(),
                                      h5mote_test::kBool.view(),          h5mote_test::kEnumBig.view(),
                                      h5mote_test::kArray3.view(),        h5mote_test::kArray2x3.view(),
                                      h5mote_test::kArray2Of3.view(),     h5mote_test::kSample.view(),
                                      h5mote_test::kNested.view(),        h5mote_test::kMixed.view(),
                                      h5mote_test::kReference.view(),     h5mote_test::kRegionReference.view(),
                                      h5mote_test::kVariableInt32.view(), h5mote_test::kVariableStringUtf8.view(),
                                      h5mote_test::kTime.view()};
    for (const auto& a : all) {
        for (const auto& b : all) {
            EXPECT_EQ(h5mote::equal(DatatypeView{a}, DatatypeView{b}), a.data() == b.data());
        }
    }
    EXPECT_TRUE(
        h5mote::equal(DatatypeView{h5mote_test::kEnumBig.view()}, DatatypeView{h5mote_test::kVersion1Enum.view()}));
    // Compounds are equal in whatever order their members are listed.
    static constexpr auto kAb = h5mote::make_compound<2>(h5mote::member("a", 0, h5mote::make_integer(1, true)),
                                                         h5mote::member("b", 1, h5mote::make_integer(1, true)));
    static constexpr auto kBa = h5mote::make_compound<2>(h5mote::member("b", 1, h5mote::make_integer(1, true)),
                                                         h5mote::member("a", 0, h5mote::make_integer(1, true)));
    static constexpr auto kSwapped = h5mote::make_compound<2>(h5mote::member("b", 0, h5mote::make_integer(1, true)),
                                                              h5mote::member("a", 1, h5mote::make_integer(1, true)));
    EXPECT_TRUE(h5mote::equal(kAb, kBa));
    EXPECT_FALSE(h5mote::equal(kAb, kSwapped));
    static constexpr auto kOn = h5mote::make_enum<std::int8_t>(ByteOrder::little, h5mote::enumerator("TRUE", 1),
                                                               h5mote::enumerator("FALSE", 0));
    static constexpr auto kOdd = h5mote::make_enum<std::int8_t>(ByteOrder::little, h5mote::enumerator("TRUE", 0),
                                                                h5mote::enumerator("FALSE", 1));
    EXPECT_TRUE(h5mote::equal(kOn, DatatypeView{h5mote_test::kBool.view()}));
    EXPECT_FALSE(h5mote::equal(kOdd, DatatypeView{h5mote_test::kBool.view()}));
}

TEST(DatatypeView, AccessorsOfOtherClassesSayNothing) {
    for (const DatatypeView& type : {DatatypeView{}, DatatypeView{h5mote_test::kString5.view()}}) {
        EXPECT_TRUE(type.order() == ByteOrder::none);
        EXPECT_FALSE(type.is_signed());
        EXPECT_EQ(type.precision(), 0U);
        EXPECT_EQ(type.bit_offset(), 0U);
        EXPECT_EQ(type.float_fields().exponent_size, 0);
        EXPECT_EQ(type.rank(), 0U);
        EXPECT_EQ(type.dimension(0), 0U);
        EXPECT_TRUE(type.base().empty());
        EXPECT_EQ(type.member_count(), 0U);
        EXPECT_TRUE(type.tag().empty());
        CompoundMember compound_member;
        EXPECT_FALSE(type.member(0, compound_member));
        EnumMember enum_member;
        EXPECT_FALSE(type.enum_member(0, enum_member));
    }
    EXPECT_EQ(DatatypeView{}.size(), 0U);
    EXPECT_TRUE(DatatypeView{}.type_class() == TypeClass::none);
}

TEST(DatatypeView, PlainTypesHoldNoSequences) {
    EXPECT_TRUE(h5mote::is_plain(DatatypeView{h5mote_test::kMixed.view()}));
    EXPECT_TRUE(h5mote::is_plain(DatatypeView{h5mote_test::kArray2Of3.view()}));
    EXPECT_TRUE(h5mote::is_plain(DatatypeView{h5mote_test::kReference.view()}));
    EXPECT_FALSE(h5mote::is_plain(DatatypeView{h5mote_test::kVariableInt32.view()}));
    EXPECT_FALSE(h5mote::is_plain(DatatypeView{}));
    static constexpr auto kInside = h5mote_test::hex(
        "360100000800000072000017000000080000"
        "00");
    const DatatypeView inside = parse(kInside.view());
    ASSERT_TRUE(inside.type_class() == TypeClass::compound);
    EXPECT_TRUE(h5mote::is_plain(inside));
}

}  // namespace
