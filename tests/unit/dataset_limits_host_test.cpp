// Datasets and datatypes at the limits of what the fields of a file can state: the largest are created and found again,
// larger ones are refused by the call that would make them, and nothing is left of them.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS

#include <h5mote/h5mote.hpp>
#include <h5mote/named_datatype.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/type_builder.hpp>
#include <h5mote/vfd/memory.hpp>

#include "sound.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace h5mote;
using namespace h5mote_test;

namespace {

using Image = std::vector<std::byte>;

// A file in memory, whose caches hold every block of these tests.
struct Opened {
    Opened() {
        access.metadata_cache = std::size_t{1} << 20;
        access.chunk_cache = std::size_t{1} << 16;
    }
    explicit Opened(const Image& image) : Opened() {
        EXPECT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
        take(File::open(library, storage, access));
    }
    void create(const FileCreate& properties = {}) { take(File::create(library, storage, access, properties)); }
    void take(Result<File> opened) {
        EXPECT_EQ(opened.status(), Status::ok);
        file = static_cast<File&&>(*opened);
        root = file.root();
    }
    // Closes the file, in which all must be sound.
    Image image() {
        root.close();
        EXPECT_TRUE(findings_in(file, std::size_t{1} << 20).none());
        EXPECT_EQ(file.close(), Status::ok);
        return Image(storage.contents().begin(), storage.contents().end());
    }

    MallocAllocator memory;
    NullPort port;
    Library library{memory, port, {}, formats::all};
    GrowingMemoryDriver storage{memory};
    FileAccess access;
    File file;
    Group root;
};

// The files that a test makes: of several versions, and one that shares messages.
struct Kind {
    const char* name;
    FormatVersion low;
    bool shared;
};
constexpr Kind kKinds[] = {
    {"standard", FormatVersion::standard, false}, {"earliest", FormatVersion::earliest, false},
    {"v18", FormatVersion::v18, false},           {"latest", FormatVersion::latest, false},
    {"shared", FormatVersion::standard, true},
};

void create(Opened& opened, const Kind& kind) {
    constexpr SharedIndexCreate kIndexes[] = {
        {SharedKinds::datatype | SharedKinds::fill_value | SharedKinds::dataspace, 10}};
    FileCreate properties;
    opened.access.low = kind.low;
    if (kind.shared) {
        properties.shared_messages.indexes = kIndexes;
    }
    opened.create(properties);
}

// Strings of `size` bytes whose fill value has no zero byte.
Status create_filled(Group& root, const char* name, std::size_t size) {
    std::byte bytes[64];
    TypeBuilder type{Bytes(bytes)};
    EXPECT_EQ(type.string(size, StringPadding::null_padded, CharacterSet::ascii), Status::ok);
    const std::vector<std::byte> fill(size, std::byte{0xff});
    DatasetCreate create;
    create.fill = {fill.data(), fill.size()};
    return root.create_dataset(name, type.type(), Dataspace::simple({2}), create).status();
}

// A compound of that many numbers. Names of ten characters: each member takes about as many bytes in each version.
std::vector<std::byte> compound_of(unsigned members) {
    std::byte number[32];
    TypeBuilder member{Bytes(number)};
    EXPECT_EQ(member.integer(4, true, ByteOrder::little), Status::ok);
    std::vector<std::byte> bytes(std::size_t{100} * (members + 1));
    TypeBuilder type{Bytes(bytes.data(), bytes.size())};
    EXPECT_EQ(type.compound(std::size_t{4} * members), Status::ok);
    for (unsigned i = 0; i < members; ++i) {
        EXPECT_EQ(type.member("member" + std::to_string(1000 + i), std::size_t{4} * i, member.type()), Status::ok);
    }
    bytes.resize(type.type().encoded_length());
    return bytes;
}

}  // namespace

TEST(DatasetLimits, FillValuesThatFitNoMessage) {
    for (const Kind& kind : kKinds) {
        SCOPED_TRACE(kind.name);
        Opened opened;
        create(opened, kind);
        const std::size_t most = kind.low == FormatVersion::earliest ? 65520 : 65529;
        EXPECT_EQ(create_filled(opened.root, "most", most), Status::ok);
        for (const std::size_t size : {most + 1, std::size_t{65536}, std::size_t{70000}, std::size_t{131072}}) {
            EXPECT_EQ(create_filled(opened.root, "more", size), Status::over_budget) << size;
        }
        EXPECT_FALSE(opened.root.exists("more"));
        EXPECT_EQ(create_filled(opened.root, "few", 100), Status::ok);

        Opened again(opened.image());
        auto dataset = again.root.open_dataset("most");
        ASSERT_EQ(dataset.status(), Status::ok);
        std::byte bytes[64];
        DatatypeView type;
        ASSERT_EQ(dataset->datatype(Bytes(bytes), type), Status::ok);
        std::vector<std::byte> values(2 * most);
        EXPECT_EQ(dataset->read(Selection::all(), type, {values.data(), values.size()}), Status::ok);
        EXPECT_EQ(values, std::vector<std::byte>(2 * most, std::byte{0xff}));
    }
}

// A version counts with its own encoding: the latest fit more members into a message than the earliest.
TEST(DatasetLimits, DatatypesThatFitNoMessage) {
    for (const Kind& kind : kKinds) {
        SCOPED_TRACE(kind.name);
        Opened opened;
        create(opened, kind);
        unsigned created = 0;
        for (const unsigned members : {1000U, 2600U, 2700U}) {
            const std::vector<std::byte> bytes = compound_of(members);
            const DatatypeView type(ConstBytes(bytes.data(), bytes.size()));
            const std::string name = std::to_string(members);
            const Status status = opened.root.create_dataset("d" + name, type, Dataspace::simple({1})).status();
            EXPECT_EQ(opened.root.commit_datatype("t" + name, type).status(), status) << members;
            const bool fits = members == 1000 || (members == 2600 && kind.low != FormatVersion::earliest);
            EXPECT_EQ(status, fits ? Status::ok : Status::over_budget) << members;
            EXPECT_EQ(opened.root.exists("d" + name), fits) << members;
            EXPECT_EQ(opened.root.exists("t" + name), fits) << members;
            created += fits ? 1 : 0;
        }
        Opened again(opened.image());
        std::uint32_t links = 0;
        EXPECT_EQ(again.root.link_count(links), Status::ok);
        EXPECT_EQ(links, 2 * created);
    }
}

TEST(DatasetLimits, ListsOfExternalFilesThatFitNoMessage) {
    const std::vector<NewExternalFile> files(2730, NewExternalFile{"f", 0, 8});
    for (const Kind& kind : kKinds) {
        SCOPED_TRACE(kind.name);
        Opened opened;
        create(opened, kind);
        for (const std::size_t count : {std::size_t{2728}, std::size_t{2730}}) {
            DatasetCreate properties;
            properties.external = {files.data(), count};
            const auto dataset = opened.root.create_dataset<std::int64_t>(std::to_string(count), properties,
                                                                          Dataspace::simple({std::uint64_t{count}}));
            EXPECT_EQ(dataset.status(), count == 2728 ? Status::ok : Status::over_budget) << count;
        }
        Opened again(opened.image());
        EXPECT_TRUE(again.root.exists("2728"));
        EXPECT_FALSE(again.root.exists("2730"));
    }
}

#endif
