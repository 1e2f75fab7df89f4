// Datatypes made at run time have the same bytes as those made at compile time.
#include <h5mote/type_builder.hpp>

#include "storage_bench.hpp"

using namespace h5mote;
using namespace h5mote_test;

namespace {

bool same(DatatypeView a, DatatypeView b) noexcept {
    return !a.empty() && a.encoded_length() == b.encoded_length() &&
           std::memcmp(a.bytes().data(), b.bytes().data(), a.encoded_length()) == 0;
}

constexpr auto kInt = make_integer(4, true);
constexpr auto kFlags = make_integer(1, false);

enum class Colour : std::int8_t { red = -1, green = 5 };

}  // namespace

TEST(TypeBuilder, EqualsWhatTheCompilerMakes) {
    std::byte memory[256];
    TypeBuilder type(memory);
    EXPECT_TRUE(type.type().empty());
    EXPECT_EQ(type.integer(2, true, ByteOrder::big), Status::ok);
    static constexpr auto kBig = make_integer(2, true, ByteOrder::big);
    EXPECT_TRUE(same(type.type(), kBig));
    EXPECT_EQ(type.bitfield(3), Status::ok);
    static constexpr auto kBits = make_bitfield(3);
    EXPECT_TRUE(same(type.type(), kBits));
    EXPECT_EQ(type.floating(8, ByteOrder::big), Status::ok);
    static constexpr auto kDouble = make_float(8, ByteOrder::big);
    EXPECT_TRUE(same(type.type(), kDouble));
    EXPECT_EQ(type.string(17, StringPadding::space_padded, CharacterSet::utf8), Status::ok);
    static constexpr auto kText = make_string(17, StringPadding::space_padded, CharacterSet::utf8);
    EXPECT_TRUE(same(type.type(), kText));
    EXPECT_EQ(type.opaque(6, "a picture"), Status::ok);
    static constexpr auto kOpaque = make_opaque(6, "a picture");
    EXPECT_TRUE(same(type.type(), kOpaque));

    // The base type may be in the builder's own buffer.
    const std::uint32_t dimensions[] = {3, 2};
    EXPECT_EQ(type.string(17, StringPadding::space_padded, CharacterSet::utf8), Status::ok);
    EXPECT_EQ(type.array(type.type(), dimensions), Status::ok);
    static constexpr auto kArray = make_array(kText, 3U, 2U);
    EXPECT_TRUE(same(type.type(), kArray));

    EXPECT_EQ(type.enumeration(kFlags), Status::ok);
    EXPECT_TRUE(type.type().empty());
    EXPECT_EQ(type.enumerator("off", 0), Status::ok);
    EXPECT_EQ(type.enumerator("standby", 7U), Status::ok);
    EXPECT_EQ(type.enumerator("on", std::uint64_t{255}), Status::ok);
    static constexpr auto kEnum = make_enum<std::uint8_t>(ByteOrder::little, enumerator("off", 0),
                                                          enumerator("standby", 7), enumerator("on", 255));
    EXPECT_TRUE(same(type.type(), kEnum));

    std::byte inner_memory[64];
    TypeBuilder inner(inner_memory);
    EXPECT_EQ(inner.compound(8), Status::ok);
    EXPECT_TRUE(inner.type().empty());
    EXPECT_EQ(inner.member("x", 0, kInt), Status::ok);
    EXPECT_EQ(inner.member("y", 4, kInt), Status::ok);
    EXPECT_EQ(type.compound(300), Status::ok);
    EXPECT_EQ(type.member("where", 200, inner.type()), Status::ok);
    EXPECT_EQ(type.member("names", 4, kArray), Status::ok);
    static constexpr auto kInner = make_compound<8>(member("x", 0, kInt), member("y", 4, kInt));
    static constexpr auto kOuter = make_compound<300>(member("where", 200, kInner), member("names", 4, kArray));
    EXPECT_TRUE(same(type.type(), kOuter));
}

TEST(TypeBuilder, RefusesWhatDoesNotFitTogether) {
    std::byte memory[128];
    TypeBuilder type(memory);
    EXPECT_EQ(type.integer(0, true), Status::invalid_argument);
    EXPECT_EQ(type.integer(65, true), Status::invalid_argument);
    EXPECT_EQ(type.floating(3), Status::invalid_argument);
    EXPECT_EQ(type.string(0), Status::invalid_argument);
    EXPECT_EQ(type.opaque(4, std::string_view("a\0b", 3)), Status::invalid_argument);
    EXPECT_EQ(type.member("a", 0, kInt), Status::invalid_argument);
    EXPECT_EQ(type.enumerator("a", 0), Status::invalid_argument);
    EXPECT_EQ(type.array(kInt, {}), Status::invalid_argument);
    const std::uint32_t zero[] = {3, 0};
    EXPECT_EQ(type.array(kInt, zero), Status::invalid_argument);
    const std::uint32_t many[] = {65536, 16384};
    EXPECT_EQ(type.array(kInt, many), Status::overflow);
    EXPECT_TRUE(type.type().empty());

    EXPECT_EQ(type.compound(0), Status::invalid_argument);
    EXPECT_EQ(type.compound(12), Status::ok);
    EXPECT_EQ(type.member("a", 4, kInt), Status::ok);
    const std::size_t length = type.type().encoded_length();
    EXPECT_EQ(type.member("a", 8, kInt), Status::already_exists);
    EXPECT_EQ(type.member("b", 1, kInt), Status::invalid_argument);
    EXPECT_EQ(type.member("b", 7, kInt), Status::invalid_argument);
    EXPECT_EQ(type.member("b", 9, kInt), Status::invalid_argument);
    EXPECT_EQ(type.member("b", 0xffffffffU, kInt), Status::invalid_argument);
    EXPECT_EQ(type.member("", 8, kInt), Status::invalid_argument);
    EXPECT_EQ(type.member(std::string_view("b\0", 2), 8, kInt), Status::invalid_argument);
    EXPECT_EQ(type.member("b", 8, {}), Status::invalid_argument);
    EXPECT_EQ(type.type().encoded_length(), length);
    EXPECT_EQ(type.member("b", 8, kInt), Status::ok);
    EXPECT_EQ(type.member("c", 0, kInt), Status::ok);
    EXPECT_EQ(type.type().member_count(), 3U);

    static constexpr auto kFloat = make_float(4);
    EXPECT_EQ(type.enumeration(kFloat), Status::type_mismatch);
    static constexpr auto kSigned = make_integer(1, true);
    EXPECT_EQ(type.enumeration(kSigned), Status::ok);
    EXPECT_EQ(type.enumerator("red", Colour::red), Status::ok);
    EXPECT_EQ(type.enumerator("green", Colour::green), Status::ok);
    EXPECT_EQ(type.enumerator("red", 3), Status::already_exists);
    EXPECT_EQ(type.enumerator("grass", 5), Status::already_exists);
    EXPECT_EQ(type.enumerator("x", 128), Status::overflow);
    EXPECT_EQ(type.enumerator("x", -129), Status::overflow);
    EXPECT_EQ(type.enumerator("low", -128), Status::ok);
    EXPECT_EQ(type.enumerator("high", 127), Status::ok);
    EXPECT_EQ(type.type().member_count(), 4U);
    EnumMember found;
    EXPECT_TRUE(type.type().find_enum_name("red", found));
    EXPECT_EQ(found.value[0], std::byte{0xff});
    EXPECT_EQ(type.enumeration(kFlags), Status::ok);
    EXPECT_EQ(type.enumerator("x", -1), Status::overflow);
    EXPECT_EQ(type.enumerator("x", 256), Status::overflow);
}

// Enumerators may use all bits of the base type's precision, one of which may be the sign.
TEST(TypeBuilder, EnumeratorsOfFewBits) {
    for (const bool is_signed : {false, true}) {
        for (const unsigned precision : {1U, 2U, 7U, 8U}) {
            auto base = make_integer(1, is_signed, ByteOrder::little);
            base.bytes[10] = static_cast<std::byte>(precision);
            const int most = (1 << (precision - (is_signed ? 1U : 0U))) - 1;
            const int least = is_signed ? -most - 1 : 0;
            std::byte memory[64];
            TypeBuilder type(memory);
            ASSERT_EQ(type.enumeration(base), Status::ok);
            EXPECT_EQ(type.enumerator("beyond", most + 1), Status::overflow);
            EXPECT_EQ(type.enumerator("below", least - 1), Status::overflow);
            EXPECT_EQ(type.enumerator("most", most), Status::ok);
            EXPECT_EQ(type.enumerator("least", least), Status::ok);
            EXPECT_EQ(type.enumerator("again", most), Status::already_exists);
        }
    }
}

// A buffer that is too small by any number of bytes is refused, and the type in it stays.
TEST(TypeBuilder, ABufferThatIsTooSmallIsOverBudget) {
    static constexpr auto kText = make_string(3);
    static constexpr auto kWhole = make_compound<7>(member("a", 0, kInt), member("text", 4, kText));
    for (std::size_t size = 0; size <= kWhole.kLength; ++size) {
        std::byte memory[kWhole.kLength + 1];
        memory[size] = std::byte{0xa5};
        TypeBuilder type(Bytes(memory, size));
        Status status = type.compound(7);
        status = status == Status::ok ? type.member("a", 0, kInt) : status;
        const std::size_t before = type.type().encoded_length();
        status = status == Status::ok ? type.member("text", 4, kText) : status;
        EXPECT_EQ(status, size < kWhole.kLength ? Status::over_budget : Status::ok);
        EXPECT_EQ(type.type().encoded_length(), size < kWhole.kLength ? before : kWhole.kLength);
        EXPECT_EQ(memory[size], std::byte{0xa5});
    }
}

TEST(TypeBuilder, NestedTooDeep) {
    std::byte memory[2][16 * (H5MOTE_MAX_TYPE_DEPTH + 2)];
    TypeBuilder first(memory[0]);
    TypeBuilder second(memory[1]);
    ASSERT_EQ(first.integer(1, false), Status::ok);
    const std::uint32_t one[] = {1};
    for (unsigned depth = 0; depth < H5MOTE_MAX_TYPE_DEPTH; ++depth) {
        ASSERT_EQ(first.array(first.type(), one), Status::ok);
    }
    EXPECT_EQ(first.array(first.type(), one), Status::unsupported);
    EXPECT_EQ(second.compound(1), Status::ok);
    EXPECT_EQ(second.member("a", 0, first.type()), Status::unsupported);
}

#if H5MOTE_WRITE
// A type that was built can be stored in a dataset or attribute and read again.
TEST(TypeBuilder, DatasetsAndAttributesOfIt) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    std::byte memory[100];
    TypeBuilder type(memory);
    ASSERT_EQ(type.compound(5), Status::ok);
    ASSERT_EQ(type.member("n", 0, kInt), Status::ok);
    ASSERT_EQ(type.member("flag", 4, kFlags), Status::ok);
    DatasetCreate create;
    create.chunk.push_back(4);
    Group root = bench.file.root();
    const std::byte value[5] = {std::byte{1}, {}, {}, {}, std::byte{9}};
    EXPECT_EQ(root.write_attribute("a", type.type(), Dataspace::scalar(), value), Status::ok);
    {
        auto log = root.create_dataset("log", type.type(), Dataspace::unlimited(), create);
        ASSERT_EQ(log.status(), Status::ok);
        EXPECT_EQ(log->append_records(value, 1), Status::ok);
    }
    root.close();
    ASSERT_EQ(bench.reopen(), Status::ok);
    std::byte stored[100];
    DatatypeView found;
    EXPECT_EQ(bench.file.root().open_dataset("log")->datatype(stored, found), Status::ok);
    EXPECT_TRUE(same(found, type.type()));
    EXPECT_EQ(bench.file.root().attribute_type("a", stored, found), Status::ok);
    EXPECT_TRUE(same(found, type.type()));
}
#endif
