#include "storage_bench.hpp"

#include <h5mote/encoded_type.hpp>

#include "cursor.hpp"

using namespace h5mote;
using namespace h5mote_test;

namespace {

struct Point {
    std::int16_t x;
    std::int16_t y[2];
    double z;
};
H5MOTE_COMPOUND(Point, x, y, z)

const char* name_of(unsigned i, char (&name)[8]) noexcept {
    std::memcpy(name, "a000", 5);
    for (unsigned digit = 3; digit > 0; --digit, i /= 10) {
        name[digit] = static_cast<char>('0' + i % 10);
    }
    return name;
}

std::size_t file_size(Bench& bench) noexcept { return bench.driver.contents().size(); }

}  // namespace

TEST(Attribute, ValuesOfAllKinds) {
    for (const std::uint8_t sizeof_addr : {std::uint8_t{4}, std::uint8_t{8}}) {
        Bench bench;
        FileCreate properties;
        properties.sizeof_addr = sizeof_addr;
        ASSERT_EQ(bench.create(properties), Status::ok);
        Group root = bench.file.root();
        EXPECT_EQ(root.write_attribute("int8", std::int8_t{-5}), Status::ok);
        EXPECT_EQ(root.write_attribute("uint64", std::uint64_t{0x123456789abcdef0U}), Status::ok);
        EXPECT_EQ(root.write_attribute("float", 1.5F), Status::ok);
        EXPECT_EQ(root.write_attribute("double", -0.25), Status::ok);
        EXPECT_EQ(root.write_attribute("bool", true), Status::ok);
        EXPECT_EQ(root.write_attribute("text", "m/s\xc2\xb2"), Status::ok);
        EXPECT_EQ(root.write_attribute("nothing", ""), Status::ok);
        Point point{};
        point.x = -3;
        point.y[0] = 5;
        point.y[1] = 7;
        point.z = 0.125;
        EXPECT_EQ(root.write_attribute("point", point), Status::ok);
        FixedString<6> fixed;
        fixed.assign("abc");
        EXPECT_EQ(root.write_attribute("fixed", fixed), Status::ok);
        std::int32_t matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
        EXPECT_EQ(root.write_attribute("array", matrix), Status::ok);
        static constexpr auto kBig = make_integer(4, true, ByteOrder::big);
        const unsigned char big[8] = {0, 0, 1, 2, 0xff, 0xff, 0xff, 0xfe};
        EXPECT_EQ(root.write_attribute("big", kBig, Dataspace::simple({2}), as_bytes(Span<const unsigned char>(big))),
                  Status::ok);
        EXPECT_EQ(root.write_attribute("null", datatype_of<std::int32_t>(), Dataspace::null(), {}), Status::ok);
        root.close();
        ASSERT_EQ(bench.reopen(), Status::ok);
        root = bench.file.root();

        std::int8_t i8 = 0;
        std::uint64_t u64 = 0;
        float f = 0;
        double d = 0;
        bool yes = false;
        EXPECT_EQ(root.read_attribute("int8", i8), Status::ok);
        EXPECT_EQ(i8, -5);
        EXPECT_EQ(root.read_attribute("uint64", u64), Status::ok);
        EXPECT_EQ(u64, 0x123456789abcdef0U);
        EXPECT_EQ(root.read_attribute("float", f), Status::ok);
        EXPECT_TRUE(f == 1.5F);
        EXPECT_EQ(root.read_attribute("double", d), Status::ok);
        EXPECT_TRUE(d == -0.25);
        EXPECT_EQ(root.read_attribute("bool", yes), Status::ok);
        EXPECT_TRUE(yes);
        char text[8];
        std::size_t length = 0;
        EXPECT_EQ(root.read_attribute("text", Span<char>(text), length), Status::ok);
        EXPECT_EQ(length, 5U);
        EXPECT_EQ(std::memcmp(text, "m/s\xc2\xb2", 5), 0);
        EXPECT_EQ(root.read_attribute("nothing", Span<char>(text), length), Status::ok);
        EXPECT_EQ(length, 0U);
        char small[2];
        EXPECT_EQ(root.read_attribute("text", Span<char>(small), length), Status::invalid_argument);
        EXPECT_EQ(root.read_attribute("double", Span<char>(text), length), Status::type_mismatch);
        Point back{};
        EXPECT_EQ(root.read_attribute("point", back), Status::ok);
        EXPECT_TRUE(back.x == -3 && back.y[0] == 5 && back.y[1] == 7 && back.z == 0.125);
        FixedString<6> fixed_back;
        EXPECT_EQ(root.read_attribute("fixed", fixed_back), Status::ok);
        EXPECT_TRUE(fixed_back.view() == "abc");
        std::int32_t matrix_back[2][3] = {};
        EXPECT_EQ(root.read_attribute("array", matrix_back), Status::ok);
        EXPECT_EQ(std::memcmp(matrix, matrix_back, sizeof matrix), 0);
        EXPECT_EQ(root.read_attribute("null", datatype_of<std::int32_t>(), {}), Status::ok);
        AttributeInfo info;
        EXPECT_EQ(root.attribute_info("null", info), Status::ok);
        EXPECT_EQ(info.space.space_class(), DataspaceClass::null);
        EXPECT_EQ(root.attribute_info("big", info), Status::ok);
        EXPECT_TRUE(info.space == Dataspace::simple({2}));
        EXPECT_EQ(info.element_size, 4U);
        std::byte encoded[16];
        DatatypeView type;
        EXPECT_EQ(root.attribute_type("big", Bytes(encoded), type), Status::ok);
        EXPECT_TRUE(equal(type, kBig));
        EXPECT_EQ(root.attribute_type("big", {encoded, 11}, type), Status::over_budget);
#if H5MOTE_CONVERSION
        std::int64_t wide[2] = {};
        EXPECT_EQ(
            root.read_attribute("big", datatype_of<std::int64_t>(), {reinterpret_cast<std::byte*>(wide), sizeof wide}),
            Status::ok);
        EXPECT_EQ(wide[0], 0x102);
        EXPECT_EQ(wide[1], -2);
        std::int32_t one = 0;
        EXPECT_EQ(root.read_attribute("text", one), Status::type_mismatch);
        EXPECT_EQ(root.read_attribute("big", one), Status::invalid_argument);
#endif
        EXPECT_EQ(root.read_attribute("missing", i8), Status::not_found);
        EXPECT_EQ(root.attribute_info("missing", info), Status::not_found);
        root.close();
        EXPECT_EQ(bench.file.close(), Status::ok);
        EXPECT_TRUE(bench.empty());
    }
}

TEST(Attribute, ManyInManyBlocks) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    constexpr unsigned kCount = 120;
    char name[8];
    for (unsigned i = 0; i < kCount; ++i) {
        Group root = bench.file.root();
        ASSERT_EQ(root.write_attribute(name_of(i, name), std::uint32_t{i}), Status::ok);
        if (i % 16 == 15) {
            ASSERT_EQ(bench.file.flush(), Status::ok);
        }
        // Create another object in between, so that the header's continuation blocks are not adjacent.
        if (i % 32 == 31) {
            ASSERT_TRUE(bool(root.create_group(name)));
        }
    }
    // Overwriting values of the same size changes them in place.
    for (unsigned i = 0; i < kCount; i += 3) {
        ASSERT_EQ(bench.file.root().write_attribute(name_of(i, name), std::uint32_t{i + 1000}), Status::ok);
    }
    for (unsigned i = 1; i < kCount; i += 3) {
        ASSERT_EQ(bench.file.root().remove_attribute(name_of(i, name)), Status::ok);
        EXPECT_FALSE(bench.file.root().has_attribute(name));
        EXPECT_EQ(bench.file.root().remove_attribute(name), Status::not_found);
    }
    ASSERT_EQ(bench.reopen(), Status::ok);
    Group root = bench.file.root();
    std::uint32_t count = 0;
    EXPECT_EQ(root.attribute_count(count), Status::ok);
    EXPECT_EQ(count, kCount / 3 * 2);
    for (unsigned i = 0; i < kCount; ++i) {
        std::uint32_t value = 0;
        const Status status = root.read_attribute(name_of(i, name), value);
        EXPECT_EQ(status, i % 3 == 1 ? Status::not_found : Status::ok);
        EXPECT_EQ(value, i % 3 == 0 ? i + 1000 : i % 3 == 1 ? 0 : i);
    }
    unsigned sum = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        char found[8] = {};
        std::size_t length = 0;
        ASSERT_EQ(root.attribute_name(i, Span<char>(found), length), Status::ok);
        EXPECT_EQ(length, 4U);
        sum += static_cast<unsigned>(found[1] - '0') * 100 + static_cast<unsigned>(found[2] - '0') * 10 +
               static_cast<unsigned>(found[3] - '0');
    }
    unsigned wanted = 0;
    for (unsigned i = 0; i < kCount; ++i) {
        wanted += i % 3 == 1 ? 0 : i;
    }
    EXPECT_EQ(sum, wanted);
    char small[2];
    std::size_t length = 0;
    EXPECT_EQ(root.attribute_name(0, Span<char>(small), length), Status::invalid_argument);
    EXPECT_EQ(length, 4U);
    EXPECT_EQ(root.attribute_name(count, Span<char>(small), length), Status::not_found);
    root.close();
    EXPECT_EQ(bench.file.close(), Status::ok);
    EXPECT_TRUE(bench.empty());
}

TEST(Attribute, SpaceOfRemovedOnesIsUsedAgain) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    Group root = bench.file.root();
    std::size_t size = 0;
    for (unsigned i = 0; i < 200; ++i) {
        ASSERT_EQ(root.write_attribute("state", std::uint32_t{i}), Status::ok);
        ASSERT_EQ(root.write_attribute("other", std::uint64_t{i}), Status::ok);
        ASSERT_EQ(root.remove_attribute("state"), Status::ok);
        ASSERT_EQ(root.remove_attribute("other"), Status::ok);
        ASSERT_EQ(bench.file.flush(), Status::ok);
        if (i == 20) {
            size = file_size(bench);
        }
    }
    EXPECT_EQ(file_size(bench), size);
}

TEST(Attribute, RefusesWhatDoesNotFit) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    Group root = bench.file.root();
    const std::int32_t numbers[3] = {1, 2, 3};
    const ConstBytes bytes = as_bytes(Span<const std::int32_t>(numbers));
    const DatatypeView type = datatype_of<std::int32_t>();
    EXPECT_EQ(root.write_attribute("", std::int32_t{1}), Status::invalid_argument);
    EXPECT_EQ(root.write_attribute("a", type, Dataspace::simple({2}), bytes), Status::invalid_argument);
    EXPECT_EQ(root.write_attribute("a", type, Dataspace::simple({3}), bytes.first(11)), Status::invalid_argument);
    EXPECT_EQ(root.write_attribute("a", type, Dataspace::simple({3, 1}, {3}), bytes), Status::invalid_argument);
    EXPECT_EQ(root.write_attribute("a", DatatypeView(), Dataspace::simple({3}), bytes), Status::invalid_argument);
    EXPECT_FALSE(root.has_attribute("a"));
    EXPECT_EQ(root.write_attribute("a", type, Dataspace::simple({3}), bytes), Status::ok);
    // Writing an existing name with another shape or type is refused.
    EXPECT_EQ(root.write_attribute("a", type, Dataspace::simple({3, 1}), bytes), Status::type_mismatch);
    EXPECT_EQ(root.write_attribute("a", std::int32_t{1}), Status::type_mismatch);
    static constexpr auto kFourBytes = make_opaque(4, "four bytes");
    EXPECT_EQ(root.write_attribute("a", kFourBytes, Dataspace::simple({3}), bytes), Status::type_mismatch);
    // Other numbers are converted, by programs that can.
    const bool converts = H5MOTE_ALL_FORMATS != 0 && bench.library.formats().conversion != nullptr;
    const float others[3] = {1, 2, 3};
    EXPECT_EQ(
        root.write_attribute("a", datatype_of<float>(), Dataspace::simple({3}), as_bytes(Span<const float>(others))),
        converts ? Status::ok : Status::type_mismatch);
    // Values that HDF5 stores in a heap are refused by programs that do not write there.
    static constexpr auto kText = make_variable_string();
    static constexpr std::byte kPointer[16] = {};
    const bool writes_heap = bench.library.formats().variable_length_changes != nullptr;
    EXPECT_EQ(root.write_attribute("v", kText, Dataspace::scalar(), {kPointer, kText.view().size()}),
              writes_heap ? Status::ok : Status::unsupported);
    EXPECT_EQ(root.has_attribute("v"), writes_heap);
    EXPECT_EQ(root.remove_attribute("v"), writes_heap ? Status::ok : Status::not_found);
    std::int32_t back[3] = {};
    EXPECT_EQ(root.read_attribute("a", type, {reinterpret_cast<std::byte*>(back), sizeof back}), Status::ok);
    EXPECT_EQ(std::memcmp(back, numbers, sizeof back), 0);
    // Refused: values larger than the metadata cache, and larger than a header message can be. Nothing of these is
    // read, so that small boards need not hold 70,000 bytes.
    static constexpr std::byte kZeros[3000] = {};
    EXPECT_EQ(root.write_attribute("b", datatype_of<std::uint8_t>(), Dataspace::simple({3000}), {kZeros, 3000}),
              Status::over_budget);
    EXPECT_EQ(root.write_attribute("b", datatype_of<std::uint8_t>(), Dataspace::simple({70000}), {kZeros, 70000}),
              Status::over_budget);
    EXPECT_FALSE(root.has_attribute("b"));
    // A value that fits is stored, even if it is larger than a sector.
    EXPECT_EQ(root.write_attribute("c", datatype_of<std::uint8_t>(), Dataspace::simple({900}), {kZeros, 900}),
              Status::ok);
    root.close();
    ASSERT_EQ(bench.reopen(), Status::ok);
    AttributeInfo info;
    EXPECT_EQ(bench.file.root().attribute_info("c", info), Status::ok);
    EXPECT_TRUE(info.space == Dataspace::simple({900}));
    EXPECT_EQ(bench.file.close(), Status::ok);
    EXPECT_TRUE(bench.empty());
}

#if H5MOTE_ALL_FORMATS
// A handle that knows an attribute as it was does not read what has taken its place as if it were that.
TEST(Attribute, AHandleOfWhatWasReplaced) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    Group root = bench.file.root();
    const std::int32_t integers[4] = {1, 2, 3, 4};
    const ConstBytes bytes = as_bytes(Span<const std::int32_t>(integers));
    ASSERT_EQ(root.write_attribute("a", datatype_of<std::int32_t>(), Dataspace::simple({3}), bytes.first(12)),
              Status::ok);
    auto handle = root.open_attribute("a");
    ASSERT_EQ(handle.status(), Status::ok);
    std::int32_t back[3] = {};
    const Bytes to{reinterpret_cast<std::byte*>(back), sizeof back};
    // Another value of the same shape is seen.
    ASSERT_EQ(root.write_attribute("a", datatype_of<std::int32_t>(), Dataspace::simple({3}), bytes.first(12)),
              Status::ok);
    ASSERT_EQ(root.write_attribute("a", datatype_of<std::int32_t>(), Dataspace::simple({3}), bytes.subspan(4)),
              Status::ok);
    ASSERT_EQ(handle->read(datatype_of<std::int32_t>(), to), Status::ok);
    EXPECT_EQ(back[2], 4);
    const auto refused = [&] {
        EXPECT_EQ(handle->read(datatype_of<std::int32_t>(), to), Status::invalid_handle);
        EXPECT_EQ(handle->read_stored(0, to), Status::invalid_handle);
    };
    // More elements, another type of the same size, other dimensions.
    ASSERT_EQ(root.write_attribute("a", datatype_of<std::int32_t>(), Dataspace::simple({4}), bytes), Status::ok);
    refused();
    ASSERT_EQ(root.remove_attribute("a"), Status::ok);
    EXPECT_EQ(handle->read(datatype_of<std::int32_t>(), to), Status::not_found);
    ASSERT_EQ(root.write_attribute("a", datatype_of<float>(), Dataspace::simple({3}), bytes.first(12)), Status::ok);
    refused();
    ASSERT_EQ(root.remove_attribute("a"), Status::ok);
    ASSERT_EQ(root.write_attribute("a", datatype_of<std::int32_t>(), Dataspace::simple({1, 3}), bytes.first(12)),
              Status::ok);
    refused();
    ASSERT_EQ(root.remove_attribute("a"), Status::ok);
    ASSERT_EQ(root.write_attribute("a", datatype_of<std::int32_t>(), Dataspace::simple({3}), bytes.first(12)),
              Status::ok);
    ASSERT_EQ(handle->read(datatype_of<std::int32_t>(), to), Status::ok);
    EXPECT_EQ(back[2], 3);
    handle->close();
    root.close();
    EXPECT_EQ(bench.file.close(), Status::ok);
    EXPECT_TRUE(bench.empty());
}
#endif

// One call replaces a text by one of any length, or an array by one of other dimensions; a user need not remove it
// first.
TEST(Attribute, ReplacedByAnotherSize) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    Group root = bench.file.root();
    char name[8];
    for (unsigned i = 0; i < 12; ++i) {
        ASSERT_EQ(root.write_attribute(name_of(i, name), std::uint32_t{i}), Status::ok);
    }
    ASSERT_EQ(root.write_attribute("text", "m/s"), Status::ok);
    const std::int16_t numbers[7] = {1, 2, 3, 4, 5, 6, 7};
    const ConstBytes bytes = as_bytes(Span<const std::int16_t>(numbers));
    ASSERT_EQ(root.write_attribute("list", datatype_of<std::int16_t>(), Dataspace::simple({3}), bytes.first(6)),
              Status::ok);
    char text[400];
    std::memset(text, 'x', sizeof text);
    std::size_t size = 0;
    for (const std::size_t length : {5U, 1U, 60U, 3U, 200U, 380U, 379U, 8U, 380U, 400U, 2U, 390U}) {
        text[length - 1] = static_cast<char>('a' + length % 20);
        ASSERT_EQ(root.write_attribute("text", std::string_view(text, length)), Status::ok);
        const std::size_t count = length % 7 + 1;
        const std::uint64_t dims[] = {count};
        ASSERT_EQ(
            root.write_attribute("list", datatype_of<std::int16_t>(), Dataspace::simple(dims), bytes.first(2 * count)),
            Status::ok);
        root.close();
        ASSERT_EQ(bench.reopen(), Status::ok);
        root = bench.file.root();
        std::uint32_t attributes = 0;
        ASSERT_EQ(root.attribute_count(attributes), Status::ok);
        EXPECT_EQ(attributes, 14U);
        char back[400];
        std::size_t read = 0;
        ASSERT_EQ(root.read_attribute("text", Span<char>(back), read), Status::ok);
        EXPECT_EQ(read, length);
        EXPECT_EQ(std::memcmp(back, text, length), 0);
        text[length - 1] = 'x';
        std::int16_t list[7] = {};
        ASSERT_EQ(
            root.read_attribute("list", datatype_of<std::int16_t>(), {reinterpret_cast<std::byte*>(list), 2 * count}),
            Status::ok);
        EXPECT_EQ(std::memcmp(list, numbers, 2 * count), 0);
        for (unsigned i = 0; i < 12; ++i) {
            std::uint32_t value = 99;
            ASSERT_EQ(root.read_attribute(name_of(i, name), value), Status::ok);
            EXPECT_EQ(value, i);
        }
        size = length == 400 ? file_size(bench) : size;
    }
    // Another character set makes another datatype, though of the same size.
    ASSERT_EQ(root.write_attribute("text", "abc"), Status::ok);
    ASSERT_EQ(root.write_attribute("text",
                                   "\xc2\xb0"
                                   "C"),
              Status::ok);
    AttributeInfo info;
    std::byte encoded[16];
    DatatypeView type;
    ASSERT_EQ(root.attribute_type("text", encoded, type), Status::ok);
    EXPECT_EQ(type.character_set(), CharacterSet::utf8);
    ASSERT_EQ(root.attribute_info("list", info), Status::ok);
    EXPECT_TRUE(info.space == Dataspace::simple({6}));
    // Replacing attributes again and again reuses the space and does not grow the file.
    EXPECT_EQ(file_size(bench), size);
    root.close();
    EXPECT_EQ(bench.file.close(), Status::ok);
    EXPECT_TRUE(bench.empty());
}

#if H5MOTE_CONVERSION
// A stored datatype may be encoded differently from what this library writes and still counts as equal.
TEST(Attribute, ReplacedByAnEqualTypeInAnotherEncoding) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    Group root = bench.file.root();
    // The encoding of version 1: member names are padded, and an array is a member with dimensions.
    struct Pair {
        std::int32_t a;
        std::int32_t b;
    };
    static constexpr auto kInteger = make_integer(4, true);
    std::byte old[8 + 2 * (8 + 32 + 12)] = {};
    Writer writer{Bytes(old)};
    writer.u8(0x16);
    writer.u8(2);
    writer.u16(0);
    writer.u32(8);
    for (unsigned i = 0; i < 2; ++i) {
        writer.u64(i == 0 ? 'a' : 'b');
        writer.u32(4 * i);
        writer.fill(std::byte{0}, 28);
        writer.bytes(kInteger.view().bytes());
    }
    const DatatypeView stored(ConstBytes(old).first(writer.written()));
    const Pair first{1, 2};
    ASSERT_EQ(root.write_attribute("pair", stored, Dataspace::scalar(), as_bytes(Span<const Pair>(&first, 1))),
              Status::ok);
    static constexpr auto kNew = make_compound<8>(member("a", 0, kInteger), member("b", 4, kInteger));
    const Pair second{3, 4};
    ASSERT_FALSE(identical_layout(stored, kNew.view()));
    EXPECT_EQ(root.write_attribute("pair", kNew, Dataspace::scalar(), as_bytes(Span<const Pair>(&second, 1))),
              Status::ok);
    Pair back{};
    EXPECT_EQ(root.read_attribute("pair", kNew, {reinterpret_cast<std::byte*>(&back), sizeof back}), Status::ok);
    EXPECT_EQ(back.a, 3);
    EXPECT_EQ(back.b, 4);
}
#endif

TEST(Attribute, ShapesUpToTheLargestRank) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    Group root = bench.file.root();
    std::uint64_t dims[H5MOTE_MAX_RANK];
    for (std::uint64_t& dim : dims) {
        dim = 1;
    }
    dims[H5MOTE_MAX_RANK - 1] = 4;
    const std::int16_t values[4] = {1, -2, 3, -4};
    const Dataspace space = Dataspace::simple(Span<const std::uint64_t>(dims));
    EXPECT_EQ(
        root.write_attribute("deep", datatype_of<std::int16_t>(), space, as_bytes(Span<const std::int16_t>(values))),
        Status::ok);
    AttributeInfo info;
    EXPECT_EQ(root.attribute_info("deep", info), Status::ok);
    EXPECT_TRUE(info.space == space);
    std::int16_t back[4] = {};
    EXPECT_EQ(
        root.read_attribute("deep", datatype_of<std::int16_t>(), {reinterpret_cast<std::byte*>(back), sizeof back}),
        Status::ok);
    EXPECT_EQ(std::memcmp(back, values, sizeof back), 0);
}

TEST(Attribute, AFullStorageIsToldAndHarmless) {
    Bench bench(1400);
    ASSERT_EQ(bench.create(), Status::ok);
    char name[8];
    unsigned made = 0;
    while (bench.file.root().write_attribute(name_of(made, name), std::uint32_t{made}) == Status::ok) {
        ASSERT_LT(++made, 300U);
    }
    EXPECT_EQ(bench.file.root().write_attribute(name, std::uint32_t{1}), Status::no_space);
    EXPECT_GE(made, 8U);
    ASSERT_EQ(bench.reopen(), Status::ok);
    for (unsigned i = 0; i < made; ++i) {
        std::uint32_t value = 0;
        EXPECT_EQ(bench.file.root().read_attribute(name_of(i, name), value), Status::ok);
        EXPECT_EQ(value, i);
    }
    EXPECT_EQ(bench.file.root().has_attribute(name_of(made, name)), false);
}

#if H5MOTE_ALL_FORMATS
// A handle keeps the name, type and shape from when it was opened. If the value has since become smaller, reading is
// refused instead of going beyond its end.
TEST(Attribute, HandlesOfAttributesThatChanged) {
    Bench bench;
    ASSERT_EQ(bench.create(FileCreate{}), Status::ok);
    Group root = bench.file.root();
    ASSERT_EQ(root.write_attribute("text", "eight..8"), Status::ok);
    auto opened = root.open_attribute("text");
    ASSERT_EQ(opened.status(), Status::ok);
    Attribute attribute = static_cast<Attribute&&>(*opened);
    std::byte value[8];
    ASSERT_EQ(root.write_attribute("text", "as long8"), Status::ok);
    ASSERT_EQ(attribute.read_stored(0, value), Status::ok);
    EXPECT_EQ(std::memcmp(value, "as long8", 8), 0);
    ASSERT_EQ(root.write_attribute("text", "less"), Status::ok);
    EXPECT_EQ(attribute.read_stored(0, value), Status::invalid_handle);
    EXPECT_EQ(attribute.read(attribute.type(), value), Status::invalid_handle);
    ASSERT_EQ(root.remove_attribute("text"), Status::ok);
    EXPECT_EQ(attribute.read_stored(0, value), Status::not_found);
}
#endif
