// Hostile datatype messages: violations of each rule of the format, every truncation, every damaged byte.
#include <h5mote/compound.hpp>

#include <cstring>

#include "datatype_message.hpp"
#include "datatype_vectors.hpp"
#include "supported.hpp"
#include "test.hpp"

using h5mote::ConstBytes;
using h5mote::DatatypeView;
using h5mote::Feature;
using h5mote::Status;
using h5mote_test::hex;

namespace {

Status check(ConstBytes bytes, Feature* which = nullptr) {
    std::size_t length = 0;
    Feature feature = Feature::none;
    const Status status = h5mote::validate_datatype(bytes, length, feature);
    if (which != nullptr) {
        *which = feature;
    }
    return status;
}

// Validates a copy of the message in which one byte is replaced.
template <std::size_t N>
Status with(const h5mote_test::Message<N>& message, std::size_t at, unsigned value) {
    h5mote_test::Message<N> copy = message;
    copy.bytes[at] = static_cast<std::byte>(value);
    return check(copy.view());
}

// Calls every accessor, also on nested types; the sum keeps the compiler from removing the calls.
unsigned long visit(DatatypeView type) {
    unsigned long sum = type.size() + type.version() + static_cast<unsigned long>(type.order()) + type.bit_offset() +
                        type.precision() + type.float_fields().bias + static_cast<unsigned long>(type.padding()) +
                        static_cast<unsigned long>(type.character_set()) + (type.is_signed() ? 1U : 0U) +
                        static_cast<unsigned long>(type.reference_type()) + type.rank() + type.tag().size() +
                        (type.is_variable_string() ? 1U : 0U) + (h5mote::is_plain(type) ? 1U : 0U);
    for (char c : type.tag()) {
        sum += static_cast<unsigned char>(c);
    }
    for (unsigned i = 0; i < type.rank(); ++i) {
        sum += type.dimension(i);
    }
    h5mote::CompoundMember member;
    h5mote::CompoundMembers members(type);
    while (members.next(member)) {
        sum += member.name.size() + member.offset + member.count() + visit(member.type);
        h5mote::CompoundMember found;
        sum += type.find_member(member.name, found) ? 1U : 1000U;
    }
    h5mote::EnumMember name;
    h5mote::EnumMembers names(type);
    while (names.next(name)) {
        sum += name.name.size() + static_cast<unsigned long>(name.value[name.value.size() - 1]);
        h5mote::EnumMember found;
        sum += type.find_enum_value(name.value.data(), found) ? 1U : 1000U;
    }
    const DatatypeView base = type.base();
    return sum + (base.empty() ? 0 : visit(base)) + (h5mote::equal(type, type) ? 1U : 0U);
}

TEST(DatatypeValidate, NothingAndTooLittle) {
    EXPECT_TRUE(check({}) == Status::corrupt_file);
    EXPECT_TRUE(check(hex("10").view()) == Status::corrupt_file);
    EXPECT_TRUE(check(hex("1008000001000000").view()) == Status::corrupt_file);
    EXPECT_TRUE(check(h5mote_test::kInt8.view()) == Status::ok);
}

TEST(DatatypeValidate, VersionsAndClasses) {
    Feature feature = Feature::none;
    EXPECT_TRUE(with(h5mote_test::kInt8, 0, 0x00) == Status::corrupt_file);
    for (unsigned version = 1; version <= 5; ++version) {
        EXPECT_TRUE(with(h5mote_test::kInt8, 0, version << 4) == Status::ok);
    }
    EXPECT_TRUE(check(hex("600800000100000000000800").view(), &feature) == Status::unsupported);
    EXPECT_TRUE(feature == Feature::datatype_version);
    EXPECT_TRUE(check(hex("1c0800000100000000000800").view(), &feature) == Status::unsupported);
    EXPECT_TRUE(feature == Feature::datatype_class);
    // Versions 4 and 5 are encoded like version 3.
    EXPECT_TRUE(with(h5mote_test::kSample, 0, 0x46) == Status::ok);
    EXPECT_TRUE(with(h5mote_test::kSample, 0, 0x56) == Status::ok);
}

TEST(DatatypeValidate, SizesAreNotZero) {
    EXPECT_TRUE(with(h5mote_test::kInt8, 4, 0) == Status::corrupt_file);
    EXPECT_TRUE(with(h5mote_test::kString5, 4, 0) == Status::corrupt_file);
    EXPECT_TRUE(with(h5mote_test::kSample, 4, 0) == Status::corrupt_file);
}

TEST(DatatypeValidate, BitsLieInTheValue) {
    EXPECT_TRUE(check(hex("100000000200000004000c00").view()) == Status::ok);
    EXPECT_TRUE(check(hex("100000000200000005000c00").view()) == Status::corrupt_file);
    EXPECT_TRUE(check(hex("100000000200000000000000").view()) == Status::corrupt_file);
    EXPECT_TRUE(check(hex("1000000002000000ffffffff").view()) == Status::corrupt_file);
    EXPECT_TRUE(check(hex("10000000ffffffffffffffff").view()) == Status::ok);
    EXPECT_TRUE(check(hex("140000000100000001000800").view()) == Status::corrupt_file);
}

TEST(DatatypeValidate, FloatFieldsDoNotOverlap) {
    using h5mote_test::kFloat32Le;
    EXPECT_TRUE(with(kFloat32Le, 2, 30) == Status::corrupt_file);   // sign in the exponent
    EXPECT_TRUE(with(kFloat32Le, 2, 3) == Status::corrupt_file);    // sign in the mantissa
    EXPECT_TRUE(with(kFloat32Le, 2, 32) == Status::corrupt_file);   // sign outside the value
    EXPECT_TRUE(with(kFloat32Le, 12, 22) == Status::corrupt_file);  // exponent overlaps the mantissa
    EXPECT_TRUE(with(kFloat32Le, 13, 0) == Status::corrupt_file);
    EXPECT_TRUE(with(kFloat32Le, 13, 9) == Status::corrupt_file);
    EXPECT_TRUE(with(kFloat32Le, 15, 0) == Status::corrupt_file);
    EXPECT_TRUE(with(kFloat32Le, 15, 24) == Status::corrupt_file);
    EXPECT_TRUE(with(kFloat32Le, 15, 255) == Status::corrupt_file);
    EXPECT_TRUE(with(kFloat32Le, 1, 0x30) == Status::corrupt_file);  // reserved normalization
    EXPECT_TRUE(with(kFloat32Le, 1, 0x60) == Status::ok);            // bit 6 is reserved in version 1
    EXPECT_TRUE(check(hex("31601f000400000000002000170800177f000000").view()) == Status::corrupt_file);
    EXPECT_TRUE(check(hex("31611f000400000000002000170800177f000000").view()) == Status::ok);
}

TEST(DatatypeValidate, StringsReferencesOpaque) {
    EXPECT_TRUE(with(h5mote_test::kString5, 1, 0x03) == Status::corrupt_file);
    EXPECT_TRUE(with(h5mote_test::kString5, 1, 0x20) == Status::corrupt_file);
    EXPECT_TRUE(with(h5mote_test::kOpaqueAbc, 1, 7) == Status::corrupt_file);
    EXPECT_TRUE(with(h5mote_test::kOpaqueAbc, 1, 16) == Status::corrupt_file);
    if (!h5mote_test::kAllTypes) {
        EXPECT_TRUE(check(h5mote_test::kReference.view()) == Status::unsupported);
        EXPECT_TRUE(check(h5mote_test::kVariableInt32.view()) == Status::unsupported);
        EXPECT_TRUE(check(h5mote_test::kVersion1.view()) == Status::unsupported);
        return;
    }
    EXPECT_TRUE(with(h5mote_test::kReference, 1, 0x02) == Status::corrupt_file);
    EXPECT_TRUE(with(h5mote_test::kReference, 1, 0x12) == Status::ok);
    EXPECT_TRUE(with(h5mote_test::kReference, 1, 0x05) == Status::corrupt_file);
    EXPECT_TRUE(with(h5mote_test::kVariableInt32, 1, 0x02) == Status::corrupt_file);
    EXPECT_TRUE(with(h5mote_test::kVariableStringUtf8, 1, 0x31) == Status::corrupt_file);
    EXPECT_TRUE(with(h5mote_test::kVariableStringUtf8, 2, 0x02) == Status::corrupt_file);
}

TEST(DatatypeValidate, ComplexNumbers) {
    if (!h5mote_test::kAllTypes) {
        return;
    }
    constexpr auto kComplex = hex("5b0100000800000011201f000400000000002000170800177f000000");
    EXPECT_TRUE(check(kComplex.view()) == Status::ok);
    EXPECT_EQ(DatatypeView{kComplex.view()}.base().size(), 4U);
    EXPECT_TRUE(with(kComplex, 0, 0x4b) == Status::corrupt_file);
    EXPECT_TRUE(with(kComplex, 1, 0x03) == Status::corrupt_file);
    EXPECT_TRUE(with(kComplex, 4, 9) == Status::corrupt_file);
    EXPECT_TRUE(with(kComplex, 4, 16) == Status::corrupt_file);
    EXPECT_TRUE(with(kComplex, 8, 0x10) == Status::corrupt_file);
}

TEST(DatatypeValidate, ArraysAreTheProductOfTheirDimensions) {
    EXPECT_TRUE(with(h5mote_test::kArray3, 8, 0) == Status::corrupt_file);
    EXPECT_TRUE(with(h5mote_test::kArray3, 8, 33) == Status::corrupt_file);
    EXPECT_TRUE(with(h5mote_test::kArray3, 9, 2) == Status::corrupt_file);
    EXPECT_TRUE(with(h5mote_test::kArray3, 9, 0) == Status::corrupt_file);
    EXPECT_TRUE(with(h5mote_test::kArray3, 4, 7) == Status::corrupt_file);
    // The products overflow 32 bits and would look right: 65536 * 65536 * 6 = 6 and 0x80000001 * 2 = 2.
    EXPECT_TRUE(check(hex("3a000000060000000300000100000001000600000010080000010000000000"
                          "0800")
                          .view()) == Status::corrupt_file);
    EXPECT_TRUE(check(hex("3a0000000200000001010000801008000002000000000010"
                          "00")
                          .view()) == Status::corrupt_file);
}

TEST(DatatypeValidate, EnumerationsHaveAnIntegerBaseOfTheirSize) {
    EXPECT_TRUE(with(h5mote_test::kBool, 4, 2) == Status::corrupt_file);
    EXPECT_TRUE(with(h5mote_test::kBool, 8, 0x14) == Status::corrupt_file);
    EXPECT_TRUE(with(h5mote_test::kBool, 20, 0) == Status::corrupt_file);  // an empty name
    EXPECT_TRUE(with(h5mote_test::kBool, 1, 3) == Status::corrupt_file);   // one name more than there are
    EXPECT_TRUE(with(h5mote_test::kBool, 2, 0xff) == Status::corrupt_file);
    EXPECT_TRUE(check(hex("3800000001000000100800000100000000000800").view()) == Status::ok);
}

TEST(DatatypeValidate, MembersLieInTheirCompound) {
    using h5mote_test::kSample;
    EXPECT_TRUE(with(kSample, 1, 0) == Status::corrupt_file);   // no members
    EXPECT_TRUE(with(kSample, 1, 4) == Status::corrupt_file);   // one member more than there are
    EXPECT_TRUE(with(kSample, 4, 15) == Status::corrupt_file);  // the last one ends outside the compound
    EXPECT_TRUE(with(kSample, 13, 13) == Status::corrupt_file);
    EXPECT_TRUE(with(kSample, 13, 0xff) == Status::corrupt_file);
    EXPECT_TRUE(with(h5mote_test::kSize255, 10, 255) == Status::corrupt_file);
    // Offsets near 2^32 must not wrap round: a member of 4 bytes at 0xfffffffe lies outside.
    EXPECT_TRUE(check(hex("36010000ffffffff6100feffffff10000000040000000000"
                          "2000")
                          .view()) == Status::corrupt_file);
    EXPECT_TRUE(check(hex("36010000ffffffff6100fbffffff10000000040000000000"
                          "2000")
                          .view()) == Status::ok);
}

TEST(DatatypeValidate, MembersShareNeitherBytesNorNames) {
    if (!h5mote_test::kAllTypes) {
        return;
    }
    // { a: uint8 at 0, b: uint8 at 1 }
    constexpr auto kTwo =
        hex("36020000020000006100001000000001000000000008006200011000000001000000"
            "00000800");
    EXPECT_TRUE(check(kTwo.view()) == Status::ok);
    EXPECT_TRUE(with(kTwo, 25, 0) == Status::corrupt_file);
    EXPECT_TRUE(with(kTwo, 23, 'a') == Status::corrupt_file);
    EXPECT_TRUE(with(kTwo, 10, 1) == Status::corrupt_file);
}

TEST(DatatypeValidate, Version1Dimensions) {
    if (!h5mote_test::kAllTypes) {
        return;
    }
    using h5mote_test::kVersion1;
    EXPECT_TRUE(check(kVersion1.view()) == Status::ok);
    EXPECT_TRUE(with(kVersion1, 20, 5) == Status::corrupt_file);
    EXPECT_TRUE(with(kVersion1, 20, 1) == Status::corrupt_file);  // a dimension of 0
    h5mote_test::Message<2 * sizeof(kVersion1.bytes)> many = kVersion1;
    many.bytes[20] = std::byte{1};
    many.bytes[32] = std::byte{3};
    EXPECT_TRUE(check(many.view()) == Status::ok);  // uint32[3] at 0 ends at 12, where the next member begins
    many.bytes[32] = std::byte{4};
    EXPECT_TRUE(check(many.view()) == Status::corrupt_file);  // overlaps the other member
    many.bytes[32] = std::byte{5};
    EXPECT_TRUE(check(many.view()) == Status::corrupt_file);
    many.bytes[35] = std::byte{0x40};
    EXPECT_TRUE(check(many.view()) == Status::corrupt_file);
}

TEST(DatatypeValidate, NestingIsLimited) {
    // Arrays of one element around an int8; each level is 13 bytes.
    static std::byte bytes[13 * (H5MOTE_MAX_TYPE_DEPTH + 1) + 12];
    const auto kOuter = hex("3a000000010000000101000000");
    const auto build = [&kOuter](unsigned levels) {
        for (unsigned i = 0; i < levels; ++i) {
            std::memcpy(bytes + 13 * i, kOuter.bytes, 13);
        }
        std::memcpy(bytes + 13 * levels, h5mote_test::kInt8.bytes, 12);
        return ConstBytes{bytes, 13 * levels + 12};
    };
    Feature feature = Feature::none;
    EXPECT_TRUE(check(build(H5MOTE_MAX_TYPE_DEPTH)) == Status::ok);
    EXPECT_TRUE(check(build(H5MOTE_MAX_TYPE_DEPTH + 1), &feature) == Status::unsupported);
    EXPECT_TRUE(feature == Feature::datatype_class);
}

constexpr auto kVersion2Whole =
    hex("2603000010000000745f6d730000000000000000100000000400000000002000616363656c000000040000002a0000000600"
        "000001000000030000000000000010080000020000000000100074656d705f6300000c00000011201f000400000000002000"
        "170800177f000000");
constexpr auto kComplexNumber = hex("5b0100000800000011201f000400000000002000170800177f000000");

// The messages that the sweeps below cut off and damage.
constexpr ConstBytes kAll[] = {h5mote_test::kInt8.view(),
                               h5mote_test::kFloat64Be.view(),
                               h5mote_test::kString5SpaceUtf8.view(),
                               h5mote_test::kOpaqueTag8.view(),
                               h5mote_test::kBitfield32Big.view(),
                               h5mote_test::kEnumBig.view(),
                               h5mote_test::kVersion1Enum.view(),
                               h5mote_test::kArray2Of3.view(),
                               h5mote_test::kVersion2Array.view(),
                               h5mote_test::kSample.view(),
                               h5mote_test::kNested.view(),
                               h5mote_test::kMixed.view(),
                               h5mote_test::kVersion1.view(),
                               kVersion2Whole.view(),
                               h5mote_test::kVariableStringUtf8.view(),
                               kComplexNumber.view(),
                               h5mote_test::kTime.view(),
                               h5mote_test::kRegionReference.view()};

// Copies a message to the end of the buffer, so that a sanitizer notices reads behind it. The bytes in front are not
// NUL, so that a search for the end of a name would run on.
ConstBytes at_end(ConstBytes from, std::size_t length, std::byte (&buffer)[160]) {
    std::memset(buffer, 0x41, sizeof(buffer));
    std::byte* begin = buffer + sizeof(buffer) - length;
    std::memcpy(begin, from.data(), length);
    return {begin, length};
}

TEST(DatatypeValidate, EveryTruncationIsSeen) {
    static std::byte buffer[160];
    unsigned points = 0;
    for (const ConstBytes& message : kAll) {
        const Status whole = check(at_end(message, message.size(), buffer));
        if (whole == Status::unsupported && !h5mote_test::kAllTypes) {
            continue;
        }
        EXPECT_TRUE(whole == Status::ok);
        for (std::size_t length = 0; length < message.size(); ++length) {
            EXPECT_TRUE(check(at_end(message, length, buffer)) == Status::corrupt_file);
            ++points;
        }
    }
    EXPECT_GE(points, h5mote_test::kAllTypes ? 800U : 450U);
}

TEST(DatatypeValidate, EveryDamagedByteIsSafe) {
    static std::byte buffer[160];
    unsigned points = 0;
    unsigned valid = 0;
    unsigned long sum = 0;
    for (const ConstBytes& message : kAll) {
        for (std::size_t at = 0; at < message.size(); ++at) {
            for (unsigned value = 0; value < 256; ++value) {
                const ConstBytes bytes = at_end(message, message.size(), buffer);
                buffer[sizeof(buffer) - message.size() + at] = static_cast<std::byte>(value);
                std::size_t length = 0;
                Feature feature = Feature::none;
                const Status status = h5mote::validate_datatype(bytes, length, feature);
                ++points;
                if (status == Status::ok) {
                    ++valid;
                    ASSERT_LE(length, bytes.size());
                    const DatatypeView type{bytes.first(length)};
                    ASSERT_EQ(h5mote::datatype_length(bytes.data()), length);
                    sum += visit(type);
                } else {
                    ASSERT_TRUE(status == Status::corrupt_file || status == Status::unsupported);
                    ASSERT_EQ(status == Status::unsupported, feature != Feature::none);
                }
            }
        }
    }
    EXPECT_GE(points, 200000U);
    EXPECT_GE(valid, h5mote_test::kAllTypes ? 30000U : 10000U);
    EXPECT_LT(valid, points);
    EXPECT_NE(sum, 0U);
}

}  // namespace
