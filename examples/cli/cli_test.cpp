// Tests the parts of the tool that work without a file: lines, numbers, datatypes, values.
#include "address_set.hpp"
#include "commands.hpp"
#include "layout.hpp"
#include "numbers.hpp"
#include "session.hpp"
#include "type_text.hpp"
#include "value_text.hpp"

#include <h5mote/encoded_type.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/vfd/posix.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <string>

namespace h5mote::cli {
namespace {

class StringSink final : public TextSink {
public:
    using TextSink::put;
    void put(std::string_view part) override { text += part; }
    std::string text;
};

class StringElement final : public Element {
public:
    explicit StringElement(std::string text) : text_(std::move(text)) {}
    void write(TextSink& sink) override { sink.put(text_); }

private:
    std::string text_;
};

/// Prints `elements` by way of a text buffer of `limit` bytes and returns the output.
std::string print_all(std::size_t limit, const std::vector<std::string>& elements, std::size_t columns = 30) {
    CommonOptions options;
    Session session(options);
    StringSink out;
    Printer printer(out);
    TextFormat format;
    format.columns = columns;
    format.index_begin = "(";
    format.index_end = "): ";
    format.indices = true;
    format.index_on_every_line = true;
    Lines lines(2);
    const std::uint64_t dims[] = {elements.size()};
    lines.set_shape(dims);
    lines.need_prefix = true;
    ElementText text(session.context(), limit);
    for (std::size_t i = 0; i < elements.size(); ++i) {
        StringElement element(elements[i] + (i + 1 < elements.size() ? "," : ""));
        printer.print(lines, format, text, element, i, i);
        ++lines.element;
    }
    return out.text;
}

TEST(Layout, LinesBreakBetweenElements) {
    EXPECT_EQ(print_all(4096, {"1111111", "2222222", "3333333"}), "\n   (0): 1111111, 2222222,\n   (2): 3333333");
    EXPECT_EQ(print_all(4096, {}), "");
    EXPECT_EQ(print_all(4096, {""}), "");
}

TEST(Layout, ElementsBreakWhereTheyMay) {
    EXPECT_EQ(print_all(4096, {"(0,0)-(3,3),\001 (4,4)-(5,5)", "x"}),
              "\n   (0): (0,0)-(3,3),\n   (0):  (4,4)-(5,5), x");
}

// An element that does not fit into the buffer is laid out on lines just as one that fits.
TEST(Layout, BufferSizeDoesNotMatter) {
    const std::vector<std::vector<std::string>> samples = {
        {std::string(5000, 'a'), "b", std::string(700, 'c')},
        {"a", std::string(600, 'b') + "\001" + std::string(40, 'c'), "d"},
        {"a", "b\001" + std::string(900, 'c') + "\001d", "e"},
        {std::string(600, '\n'), "x", std::string(520, '\xc3')},
        {"\001\001" + std::string(530, 'q') + "\001", "r"},
    };
    for (const auto& sample : samples) {
        for (const std::size_t columns : {std::size_t{20}, std::size_t{80}, std::size_t{1500}}) {
            EXPECT_EQ(print_all(512, sample, columns), print_all(1 << 20, sample, columns));
        }
    }
}

TEST(Numbers, IntegersOfAnyForm) {
    const auto read = [](DatatypeView type, std::initializer_list<int> bytes) {
        std::vector<std::byte> stored;
        for (const int byte : bytes) {
            stored.push_back(static_cast<std::byte>(byte));
        }
        StringSink sink;
        put_integer(sink, read_integer(type, {stored.data(), stored.size()}));
        return sink.text;
    };
    EXPECT_EQ(read(datatype_of<std::int8_t>(), {0x80}), "-128");
    EXPECT_EQ(read(datatype_of<std::uint8_t>(), {0xff}), "255");
    // Version 1, class 0; 12 bits from bit 2 on, little-endian, signed.
    const unsigned char odd[] = {0x10, 0x08, 0, 0, 2, 0, 0, 0, 2, 0, 12, 0};
    const DatatypeView type{{reinterpret_cast<const std::byte*>(odd), sizeof(odd)}};
    EXPECT_EQ(read(type, {0xfc, 0x3f}), "-1");
    EXPECT_EQ(read(type, {0x04, 0xc0}), "1");
    // 72 bits, unsigned, big-endian: read as the nearest value that 64 bits hold.
    const unsigned char wide[] = {0x10, 0x01, 0, 0, 9, 0, 0, 0, 0, 0, 72, 0};
    const DatatypeView wide_type{{reinterpret_cast<const std::byte*>(wide), sizeof(wide)}};
    EXPECT_EQ(read(wide_type, {0, 0, 0, 0, 0, 0, 0, 1, 2}), "258");
    EXPECT_EQ(read(wide_type, {1, 0, 0, 0, 0, 0, 0, 1, 2}), "18446744073709551615");
}

TEST(Numbers, FloatingPointOfAnyForm) {
    const auto read = [](const unsigned char* message, std::size_t length, std::initializer_list<int> bytes) {
        std::vector<std::byte> stored;
        for (const int byte : bytes) {
            stored.push_back(static_cast<std::byte>(byte));
        }
        StringSink sink;
        put_float(sink, DatatypeView{{reinterpret_cast<const std::byte*>(message), length}},
                  {stored.data(), stored.size()}, nullptr);
        return sink.text;
    };
    // IEEE binary16: sign 15, exponent of 5 bits at 10, mantissa of 10 bits, implied leading bit, bias 15.
    const unsigned char half[] = {0x11, 0x20, 15, 0, 2, 0, 0, 0, 0, 0, 16, 0, 10, 5, 0, 10, 15, 0, 0, 0};
    EXPECT_EQ(read(half, sizeof(half), {0x00, 0x3e}), "1.5");
    EXPECT_EQ(read(half, sizeof(half), {0x01, 0x80}), "-5.96046e-08");
    EXPECT_EQ(read(half, sizeof(half), {0x00, 0xfc}), "-inf");
    EXPECT_EQ(read(half, sizeof(half), {0x01, 0x7c}), "nan");
    EXPECT_EQ(read(half, sizeof(half), {0x00, 0x80}), "-0");
    // x87 extended: the leading bit is stored.
    const unsigned char extended[] = {0x11, 0x00, 79, 0, 16, 0, 0, 0, 0, 0, 80, 0, 64, 15, 0, 64, 0xff, 0x3f, 0, 0};
    EXPECT_EQ(read(extended, sizeof(extended), {0, 0, 0, 0, 0, 0, 0, 0xc0, 0xff, 0x3f, 0, 0, 0, 0, 0, 0}), "1.5");
    EXPECT_EQ(read(extended, sizeof(extended), {0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x7f, 0, 0, 0, 0, 0, 0}), "inf");
}

TEST(Values, Characters) {
    const auto text = [](const std::string& characters, bool escape) {
        TextFormat format;
        format.escape = escape;
        StringSink sink;
        for (const char c : characters) {
            put_character(sink, format, c);
        }
        return sink.text;
    };
    EXPECT_EQ(text("a\"\\\t", false), "a\"\\\t");
    EXPECT_EQ(text("a\"\\\t\n\b", true), "a\\\"\\\\\\t\\n\\b");
    EXPECT_EQ(text("x\ny", false), "x\n           y");
    EXPECT_EQ(text(std::string("\0\x7f", 2), false), "\\000\\177");
    EXPECT_EQ(text("\xe9", true), "\\37777777751");
}

TEST(Types, PredefinedNames) {
    EXPECT_STREQ(predefined_name(file_type_of<std::int32_t>()), "H5T_STD_I32LE");
    EXPECT_STREQ(predefined_name(file_type_of<double>()), "H5T_IEEE_F64LE");
    const unsigned char odd[] = {0x10, 0x08, 0, 0, 2, 0, 0, 0, 2, 0, 12, 0};
    EXPECT_EQ(predefined_name(DatatypeView{{reinterpret_cast<const std::byte*>(odd), sizeof(odd)}}), nullptr);
}

TEST(Sizes, OfMemory) {
    std::size_t bytes = 0;
    EXPECT_TRUE(parse_size("64K", bytes));
    EXPECT_EQ(bytes, 65536U);
    EXPECT_TRUE(parse_size("123", bytes));
    EXPECT_EQ(bytes, 123U);
    for (const char* const text : {"", "K", "-1", "1x", "99999999999999999999", "99999999999999G"}) {
        EXPECT_FALSE(parse_size(text, bytes)) << text;
    }
}

#if H5MOTE_WRITE
TEST(Stat, CountsTheIndexOfAnArrayWithoutChunksAsH5stat) {
    const std::string path = testing::TempDir() + "h5mote_stat_of_no_chunks.h5";
    {
        MallocAllocator memory;
        PosixPort port;
        Library library{memory, port};
        PosixDriver driver;
        ASSERT_EQ(driver.open(path.c_str(), PosixDriver::Mode::truncate), Status::ok);
        auto file = File::create(library, driver);
        ASSERT_EQ(file.status(), Status::ok);
        DatasetCreate create;
        create.chunk = {4, 4};
        auto data = file->root().create_dataset<float>("x", create, Dataspace::simple({4, 0}, {4, kUnlimited}));
        ASSERT_EQ(data.status(), Status::ok);
        ASSERT_EQ(data->close(), Status::ok);
        ASSERT_EQ(file->close(), Status::ok);
    }
    testing::internal::CaptureStdout();
    EXPECT_EQ(run({"stat", path}), 0);
    // The number that h5stat 1.10 and 2.0 print.
    EXPECT_NE(testing::internal::GetCapturedStdout().find("\t\tIndex: 218\n"), std::string::npos);
    EXPECT_EQ(std::remove(path.c_str()), 0);
}
#endif

TEST(AddressSets, RememberWhatWasAdded) {
    CommonOptions options;
    options.memory = 32768;
    Session session(options);
    AddressSet set(session.context());
    bool added = false;
    for (Address address = 0; address < 1000; ++address) {
        ASSERT_EQ(set.add(address * 8, added), Status::ok);
        EXPECT_TRUE(added);
    }
    EXPECT_EQ(set.add(96, added), Status::ok);
    EXPECT_FALSE(added);
    EXPECT_TRUE(set.contains(7992));
    EXPECT_FALSE(set.contains(7993));
    Status status = Status::ok;
    for (Address address = 1000; status == Status::ok; ++address) {
        status = set.add(address * 8, added);
    }
    EXPECT_EQ(status, Status::out_of_memory);
    EXPECT_TRUE(set.contains(8));
}

}  // namespace
}  // namespace h5mote::cli
