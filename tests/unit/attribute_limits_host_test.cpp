// Attributes whose messages contradict each other, and attributes at the limits of an object: reading, writing and
// check_file() report them, and the attributes beside them stay as they are.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS

#ifdef H5MOTE_TEST_HDF5
#include "hdf5_files.hpp"
#endif
#include "promising_driver.hpp"
#include "resealed.hpp"
#include "sound.hpp"
#include "storage_bench.hpp"
#include "test_allocators.hpp"

#include <functional>
#include <string>

using namespace h5mote;
using namespace h5mote_test;

namespace {

using Image = std::vector<std::byte>;

constexpr auto kNumber = make_integer(4, true, ByteOrder::little);
const std::int32_t kValues[6] = {1, 2, 3, 4, 5, 6};

// A file in memory. Each test changes a copy of its own.
struct Opened {
    Opened() = default;
    explicit Opened(const Image& image) {
        EXPECT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
        take(File::open(library, storage));
    }
    ~Opened() {
        root.close();
        EXPECT_EQ(file.valid() ? file.close() : Status::ok, Status::ok);
        EXPECT_EQ(memory.blocks(), 0U);
    }
    void take(Result<File> opened) {
        EXPECT_EQ(opened.status(), Status::ok);
        file = static_cast<File&&>(*opened);
        root = file.root();
    }
    Image image() {
        EXPECT_EQ(file.flush(), Status::ok);
        return Image(storage.contents().begin(), storage.contents().end());
    }

    MallocAllocator memory;
    MallocAllocator bytes;
    NullPort port;
    Library library{memory, port};
    GrowingMemoryDriver storage{bytes};
    File file;
    Group root;
};

Status write_matrix(Group& root) {
    return root.write_attribute("matrix", kNumber, Dataspace::simple({2, 3}),
                                as_bytes(Span<const std::int32_t>(kValues)));
}

// A sound file with the attributes "before", "matrix" (2 x 3 numbers) and "behind".
const Image& sound() {
    static const Image image = [] {
        Opened opened;
        opened.take(File::create(opened.library, opened.storage));
        EXPECT_EQ(opened.root.write_attribute("before", std::int32_t{1}), Status::ok);
        EXPECT_EQ(write_matrix(opened.root), Status::ok);
        EXPECT_EQ(opened.root.write_attribute("behind", std::int32_t{2}), Status::ok);
        return opened.image();
    }();
    return image;
}

bool reads(Group& root, const char* name, std::int32_t expected) {
    std::int32_t value = 0;
    return root.read_attribute(name, value) == Status::ok && value == expected;
}

}  // namespace

// Layout of the message of "matrix" from its name on: name 7 | type 12 | dataspace: 2 | rank | flags | 1 | dimensions.
TEST(AttributeLimits, MessagesThatDoNotFitTogether) {
    constexpr std::size_t kType = 7;
    constexpr std::size_t kSpace = kType + 12;
    constexpr std::size_t kDims = kSpace + 4;
    struct Field {
        std::size_t at;
        std::uint64_t value;
        unsigned width = 8;
    };
    struct Case {
        const char* name;
        std::vector<Field> fields;
        Status status = Status::corrupt_file;
    };
    const Case cases[] = {
        {"more rows than bytes", {{kDims, 3}}},
        {"more columns than bytes", {{kDims + 8, 4}}},
        {"2 to the 64th elements", {{kDims, std::uint64_t{1} << 33}, {kDims + 8, std::uint64_t{1} << 31}}},
        {"2 to the 64th bytes", {{kDims, std::uint64_t{1} << 60}, {kDims + 8, 4}}},
        {"0 of too many", {{kDims, std::uint64_t{1} << 63}, {kDims + 8, 2}}},
        {"a type of 5 bytes", {{kType + 4, 5, 4}}},
        {"a type of 0 bytes", {{kType + 4, 0, 4}}},
        {"no type", {{kType, 0, 1}}, Status::unsupported},
        {"no dataspace", {{kSpace, 7, 1}}, Status::unsupported},
        {"a class of no dataspace", {{kSpace + 3, 3, 1}}},
    };
    for (const Case& each : cases) {
        SCOPED_TRACE(each.name);
        Image image = sound();
        const std::size_t name = find_bytes(image, std::string_view("matrix", 7));
        for (const Field& field : each.fields) {
            store_uint(image.data() + name + field.at, field.width, field.value);
        }
        reseal(image);
        Opened opened(image);
        EXPECT_NE(findings_in(opened.file).problems, 0U);
        std::int32_t values[6];
        const Status opening = opened.root.open_attribute("matrix").status();
        EXPECT_TRUE(opening == each.status || opening == Status::corrupt_file) << to_string(opening);
        EXPECT_EQ(opened.root.read_attribute("matrix", kNumber, {reinterpret_cast<std::byte*>(values), sizeof values}),
                  opening);
        EXPECT_TRUE(opened.root.has_attribute("matrix"));
        const Status writing = write_matrix(opened.root);
        EXPECT_TRUE(writing == opening || writing == Status::type_mismatch || writing == Status::corrupt_file)
            << to_string(writing);
        EXPECT_TRUE(reads(opened.root, "before", 1) && reads(opened.root, "behind", 2));
        EXPECT_EQ(opened.root.write_attribute("behind", std::int32_t{3}), Status::ok);
        EXPECT_TRUE(reads(opened.root, "behind", 3));
        // An attribute that cannot be read can be removed; a new one then takes its name.
        EXPECT_EQ(opened.root.remove_attribute("matrix"), Status::ok);
        EXPECT_EQ(write_matrix(opened.root), Status::ok);
        EXPECT_TRUE(reads(opened.root, "before", 1) && reads(opened.root, "behind", 3));
        EXPECT_TRUE(findings_in(opened.file).none());
    }
}

TEST(AttributeLimits, TextsAreOneString) {
    Opened opened(sound());
    static constexpr auto kText = make_string(3);
    const char two[] = "onetwo";
    ASSERT_EQ(opened.root.write_attribute("texts", kText, Dataspace::simple({2}),
                                          {reinterpret_cast<const std::byte*>(two), 6}),
              Status::ok);
    ASSERT_EQ(opened.root.write_attribute("none", kText, Dataspace::null(), {}), Status::ok);
    char text[10];
    std::size_t length = 7;
    EXPECT_EQ(opened.root.read_attribute("texts", text, length), Status::type_mismatch);
    EXPECT_EQ(opened.root.read_attribute("none", text, length), Status::type_mismatch);
    EXPECT_EQ(opened.root.read_attribute("matrix", text, length), Status::type_mismatch);
    // A text replaces neither an array of texts nor a number.
    EXPECT_EQ(opened.root.write_attribute("texts", "four"), Status::type_mismatch);
    EXPECT_EQ(opened.root.write_attribute("before", "four"), Status::type_mismatch);
    EXPECT_EQ(opened.root.write_attribute("none", "four"), Status::type_mismatch);
    EXPECT_EQ(opened.root.write_attribute("before", kNumber, Dataspace::simple({1}),
                                          as_bytes(Span<const std::int32_t>(kValues, 1))),
              Status::type_mismatch);
    EXPECT_TRUE(reads(opened.root, "before", 1));
    // Fixed-length strings as other writers store them: ended by a zero, padded with spaces, or without any padding.
    struct Case {
        StringPadding padding;
        const char* stored;
        std::size_t length;
    };
    for (const Case& each :
         {Case{StringPadding::null_terminated, "ab\0cd\0", 2}, Case{StringPadding::null_padded, "ab\0\0\0\0", 2},
          Case{StringPadding::null_padded, "abcdef", 6}, Case{StringPadding::space_padded, "a b   ", 3},
          Case{StringPadding::space_padded, "a\0    ", 2}, Case{StringPadding::space_padded, "      ", 0}}) {
        const auto type = make_string(6, each.padding);
        (void)opened.root.remove_attribute("text");
        ASSERT_EQ(opened.root.write_attribute("text", type, Dataspace::scalar(),
                                              {reinterpret_cast<const std::byte*>(each.stored), 6}),
                  Status::ok);
        ASSERT_EQ(opened.root.read_attribute("text", text, length), Status::ok);
        EXPECT_EQ(std::string(text, length), std::string(each.stored, each.length));
    }
}

TEST(AttributeLimits, WhatNoAttributeCanBe) {
    Opened opened(sound());
    const ConstBytes values = as_bytes(Span<const std::int32_t>(kValues));
    const std::string longest(0xfffe, 'n');
    const std::string longer(0xffff, 'n');
    EXPECT_EQ(opened.root.write_attribute("", std::int32_t{1}), Status::invalid_argument);
    EXPECT_EQ(opened.root.write_attribute(std::string_view("a\0b", 3), std::int32_t{1}), Status::invalid_argument);
    EXPECT_EQ(opened.root.write_attribute(longer, std::int32_t{1}), Status::invalid_argument);
    EXPECT_EQ(opened.root.write_attribute(longest, std::int32_t{1}), Status::over_budget);
    EXPECT_EQ(opened.root.write_attribute("new", kNumber, Dataspace::simple({2, 2}), values), Status::invalid_argument);
    EXPECT_EQ(opened.root.write_attribute("new", kNumber, Dataspace::simple({3, 3}), values), Status::invalid_argument);
    EXPECT_EQ(opened.root.write_attribute("new", kNumber, Dataspace::simple({6}, {5}), values),
              Status::invalid_argument);
    EXPECT_EQ(opened.root.write_attribute("new", kNumber,
                                          Dataspace::simple({std::uint64_t{1} << 62, std::uint64_t{1} << 62}), values),
              Status::invalid_argument);
    EXPECT_EQ(opened.root.write_attribute("new", DatatypeView(), Dataspace::scalar(), {}), Status::invalid_argument);
    std::uint32_t count = 0;
    EXPECT_EQ(opened.root.attribute_count(count), Status::ok);
    EXPECT_EQ(count, 3U);
    EXPECT_TRUE(opened.image() == sound());
}

// The header has messages that the cache cannot hold, so that it takes no other one. Looking at them takes memory;
// without it, nothing is said against the file.
TEST(AttributeLimits, NoMemoryForAMessageIsToldAsThat) {
    Image image;
    {
        Opened opened;
        opened.take(File::create(opened.library, opened.storage));
        const std::vector<std::uint8_t> values(900, 7);
        for (const char* const name : {"large", "second"}) {
            ASSERT_EQ(opened.root.write_attribute(name, datatype_of<std::uint8_t>(), Dataspace::simple({900}),
                                                  as_bytes(Span<const std::uint8_t>(values.data(), values.size()))),
                      Status::ok);
        }
        image = opened.image();
    }
    unsigned refused = 0;
    for (std::uint64_t k = 1, failures = 1; failures != 0; ++k) {
        MallocAllocator memory;
        FailingAllocator failing(memory);
        NullPort port;
        Library library(failing, port, {}, formats::all);
        MallocAllocator bytes;
        GrowingMemoryDriver storage(bytes);
        ASSERT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
        FileAccess access;
        access.metadata_cache = 1024;
        auto file = File::open(library, storage, access);
        ASSERT_EQ(file.status(), Status::ok);
        failing.arm(k, true);
        const Status status = file->root().write_attribute("third", std::int32_t{5});
        failures = failing.failures();
        failing.disarm();
        // Some memory can be done without: then the cache is what has no room.
        EXPECT_TRUE(status == Status::over_budget || (failures != 0 && status == Status::out_of_memory)) << k;
        EXPECT_FALSE(file->root().has_attribute("third"));
        EXPECT_TRUE(findings_in(*file).none());
        refused += status == Status::out_of_memory ? 1 : 0;
        EXPECT_EQ(file->close(), Status::ok);
    }
    EXPECT_GT(refused, 3U);
}

// An attribute gets a larger value while there is no memory: it has the old one or the new one, once. The headers are
// of several blocks, which do not all fit in the caches.
TEST(AttributeLimits, NoMemoryForALargerValueLeavesTheOldOne) {
    constexpr auto kByte = datatype_of<std::uint8_t>();
    const std::vector<std::uint8_t> values(900, 7);
    const auto write = [&](Group& root, const char* name, std::size_t size) {
        return root.replace_attribute(name, kByte, Dataspace::simple({size}),
                                      as_bytes(Span<const std::uint8_t>(values.data(), size)));
    };
    unsigned refused = 0;
    for (std::uint32_t seed = 1; seed <= 100; ++seed) {
        for (std::uint64_t k = 1, failures = 1; failures != 0; ++k) {
            Numbers numbers(seed);
            MallocAllocator memory;
            FailingAllocator failing(memory);
            NullPort port;
            Library library(failing, port, {}, formats::all);
            library.set_free_list_limits({0, 0});
            MallocAllocator bytes;
            GrowingMemoryDriver storage(bytes);
            PromisingDriver driver(storage, with_unit(128U << numbers.below(3)));
            FileAccess access;
            access.metadata_cache = 1024 + 200 * numbers.below(8);
            auto file = File::create(library, driver, access);
            ASSERT_EQ(file.status(), Status::ok);
            auto root = file->root();
            static constexpr const char* kNames[] = {"a", "second", "the third of all", "d"};
            for (unsigned i = 0; i < 8; ++i) {
                (void)write(root, kNames[numbers.below(4)], 1 + numbers.below(300));
            }
            std::uint32_t before = 0;
            ASSERT_EQ(root.attribute_count(before), Status::ok);
            (void)write(root, "a", 1 + numbers.below(60));
            ASSERT_EQ(root.attribute_count(before), Status::ok);
            failing.arm(k, true);
            const Status status = write(root, "a", 100 + numbers.below(500));
            failures = failing.failures();
            failing.disarm();
            refused += status == Status::out_of_memory ? 1 : 0;
            std::uint32_t after = 0;
            EXPECT_EQ(root.attribute_count(after), Status::ok);
            EXPECT_EQ(after, before) << seed << " " << k;
            root.close();
            EXPECT_EQ(file->close(), Status::ok);
        }
    }
    EXPECT_GT(refused, 60U);
}

#if H5MOTE_CREATION_ORDER && defined(H5MOTE_TEST_HDF5)

// When the 16-bit creation order is used up, new attributes are refused but existing ones can still be written.
// Attribute info message: version 0 | flags 3: order tracked and indexed | next creation order (2 bytes).
TEST(AttributeLimits, NoMoreOrdersThanTwoBytesHold) {
    Hdf5Maker maker(Hdf5Maker::Format::newest);
    make_group(maker.file(), "group", 0, 2);
    Image image = maker.finish();
    const std::size_t info = find_bytes(image, std::string_view("\0\3\2\0\xff\xff\xff\xff\xff\xff\xff\xff", 12));
    store_le<std::uint16_t>(image.data() + info + 2, 0xfffe);
    reseal(image);
    Opened opened(image);
    auto group = opened.root.open_group("group");
    ASSERT_EQ(group.status(), Status::ok);
    EXPECT_EQ(group->write_attribute("last", std::int32_t{1}), Status::ok);
    EXPECT_EQ(group->write_attribute("one more", std::int32_t{1}), Status::overflow);
    EXPECT_EQ(group->write_attribute("last", std::int32_t{5}), Status::ok);
    std::uint32_t count = 0;
    EXPECT_EQ(group->attribute_count(count), Status::ok);
    EXPECT_EQ(count, 3U);
    auto last = group->open_attribute("last");
    ASSERT_EQ(last.status(), Status::ok);
    EXPECT_EQ(last->creation_order(), 0xfffeU);
    last->close();
    EXPECT_TRUE(findings_in(opened.file).none());
    group->close();
}

#endif
#endif
