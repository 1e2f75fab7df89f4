// Datasets and datatypes at the limits of what the fields of a file can state: the largest are created and found again,
// larger ones are refused by the call that would make them, and nothing is left of them.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS

#include <h5mote/filters/fletcher32.hpp>
#include <h5mote/filters/shuffle.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/named_datatype.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/type_builder.hpp>
#include <h5mote/vfd/memory.hpp>

#ifdef H5MOTE_TEST_HDF5
#include "hdf5_files.hpp"
#endif
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

namespace {

constexpr std::uint64_t kMost = (std::uint64_t{1} << 63) - 1;
constexpr std::int32_t kRows[3] = {1, 2, 3};

// Appends rows one by one to a dataset that has room for `room` of them.
void append_to(Group& root, std::uint64_t room) {
    auto data = root.open_dataset<std::int32_t>("d");
    ASSERT_EQ(data.status(), Status::ok);
    const std::uint64_t size = data->size();
    EXPECT_EQ(data->append_records(kRows, static_cast<std::size_t>(room) + 1), Status::invalid_argument);
    EXPECT_EQ(data->append_rows(Span<const std::int32_t>(kRows, static_cast<std::size_t>(room) + 1)),
              Status::invalid_argument);
    EXPECT_EQ(data->size(), size);
    for (std::uint64_t i = 0; i < room; ++i) {
        EXPECT_EQ(data->append(kRows[i]), Status::ok);
    }
    EXPECT_EQ(data->append(7), Status::invalid_argument);
    EXPECT_EQ(data->append_rows(Span<const std::int32_t>(kRows, 1)), Status::invalid_argument);
    EXPECT_EQ(data->size(), size + room);
    std::int32_t rows[2] = {};
    EXPECT_EQ(data->read(Selection::hyperslab({size + room - 2}, {2}), Span<std::int32_t>(rows)), Status::ok);
    EXPECT_EQ(rows[1], kRows[room - 1]);
}

}  // namespace

// libhdf5 opens no dataset with a dimension of 2^63 elements, and a size of 2^64 - 1 would mean that there is no limit.
TEST(DatasetLimits, SizesThatLibhdf5DoesNotOpen) {
    for (const Kind& kind : kKinds) {
        SCOPED_TRACE(kind.name);
        Opened opened;
        create(opened, kind);
        DatasetCreate properties;
        properties.chunk = {16};
        for (const std::uint64_t size : {kMost + 1, kUnlimited - 1}) {
            EXPECT_EQ(
                opened.root.create_dataset<std::int32_t>("no", properties, Dataspace::simple({size}, {kUnlimited}))
                    .status(),
                Status::invalid_argument);
        }
        auto data = opened.root.create_dataset<std::int32_t>("d", properties, Dataspace::simple({3}, {kUnlimited}));
        ASSERT_EQ(data.status(), Status::ok);
        for (const std::uint64_t size : {kMost + 1, kUnlimited - 1, kUnlimited}) {
            EXPECT_EQ(data->set_extent({size}), Status::invalid_argument);
        }
        // An array has no place for a chunk so far out, but a B-tree has.
        const bool tree = kind.low == FormatVersion::earliest || kind.low == FormatVersion::v18;
        EXPECT_EQ(data->set_extent({tree ? kMost - 3 : kMost}), Status::ok);
        EXPECT_EQ(data->close(), Status::ok);
        if (tree) {
            append_to(opened.root, 3);
        }
        [[maybe_unused]] const Image image = opened.image();
#ifdef H5MOTE_TEST_HDF5
        const Hdf5Id file = open_image({image.data(), image.size()});
        const Hdf5Id theirs(H5Dopen2(file, "d", H5P_DEFAULT), H5Dclose);
        const Hdf5Id space(H5Dget_space(theirs), H5Sclose);
        hsize_t dims = 0;
        EXPECT_EQ(H5Sget_simple_extent_dims(space, &dims, nullptr), 1);
        EXPECT_EQ(dims, kMost);
#endif
    }
}

#ifdef H5MOTE_TEST_HDF5

// Files can have lengths of two or four bytes. All ones mean "unlimited" there, too.
TEST(DatasetLimits, SizesBeyondTheLengthsOfTheFile) {
    for (const unsigned width : {2U, 4U}) {
        SCOPED_TRACE(width);
        const std::uint64_t most = (std::uint64_t{1} << (8 * width)) - 2;
        Hdf5Maker maker(Hdf5Maker::Format::oldest);
        H5Pset_sizes(maker.properties(), 8, width);
        MadeDataset{{3}, {H5S_UNLIMITED}, {1000}}.make(maker.file());
        Opened opened(maker.finish());
        auto data = opened.root.open_dataset<std::int32_t>("d");
        ASSERT_EQ(data.status(), Status::ok);
        for (const std::uint64_t size : {most + 1, most + 2, most + 7}) {
            EXPECT_EQ(data->set_extent({size}), Status::invalid_argument);
        }
        ASSERT_EQ(data->set_extent({most - 3}), Status::ok);
        ASSERT_EQ(data->close(), Status::ok);
        append_to(opened.root, 3);

        DatasetCreate chunks;
        chunks.chunk = {1000};
        const struct {
            DatasetCreate properties;
            Dataspace space;
            Status status;
        } cases[] = {
            {chunks, Dataspace::simple({most}), Status::ok},
            {chunks, Dataspace::simple({most + 1}), Status::invalid_argument},
            {chunks, Dataspace::simple({most + 7}), Status::invalid_argument},
            {chunks, Dataspace::simple({3}, {most}), Status::ok},
            {chunks, Dataspace::simple({3}, {most + 1}), Status::invalid_argument},
            {chunks, Dataspace::simple({3}, {most + 7}), Status::invalid_argument},
            {{}, Dataspace::simple({most}), Status::ok},
            {{}, Dataspace::simple({most + 1}), Status::invalid_argument},
            {{}, Dataspace::simple({most / 2, 3}), Status::invalid_argument},
        };
        for (const auto& each : cases) {
            const std::string name = "new" + std::to_string(&each - cases);
            EXPECT_EQ(opened.root.create_dataset<std::int8_t>(name, each.properties, each.space).status(), each.status)
                << name;
            EXPECT_EQ(opened.root.exists(name), each.status == Status::ok);
        }
        constexpr auto kNumber = make_integer(4, true, ByteOrder::little);
        EXPECT_EQ(opened.root.write_attribute("most", kNumber, Dataspace::simple({most, 0}), {}), Status::ok);
        EXPECT_EQ(opened.root.write_attribute("more", kNumber, Dataspace::simple({most + 7, 0}), {}),
                  Status::invalid_argument);

        Opened again(opened.image());
        auto grown = again.root.open_dataset<std::int32_t>("d");
        ASSERT_EQ(grown.status(), Status::ok);
        EXPECT_EQ(grown->size(), most);
        std::int32_t last = 0;
        EXPECT_EQ(grown->read(Selection::hyperslab({most - 1}, {1}), Span<std::int32_t>(&last, 1)), Status::ok);
        EXPECT_EQ(last, kRows[2]);
    }
}

// Where nodes have two children, libhdf5 makes the tree one level deeper with each chunk behind the others. Such a
// dataset is read, and changes that go through the tree are refused before anything is changed.
TEST(DatasetLimits, TreesTooDeepToBeChanged) {
    constexpr hsize_t kChunks = 100;
    Hdf5Maker maker(Hdf5Maker::Format::oldest);
    H5Pset_istore_k(maker.properties(), 1);
    {
        const hsize_t no_end = H5S_UNLIMITED;
        const hsize_t one = 1;
        const Hdf5Id space(H5Screate_simple(1, &kChunks, &no_end), H5Sclose);
        const Hdf5Id memory(H5Screate_simple(1, &one, nullptr), H5Sclose);
        const Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        H5Pset_chunk(list, 1, &one);
        const Hdf5Id data(H5Dcreate2(maker.file(), "d", H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT),
                          H5Dclose);
        for (hsize_t i = 0; i < kChunks; ++i) {
            const auto value = static_cast<std::int32_t>(i);
            H5Sselect_hyperslab(space, H5S_SELECT_SET, &i, nullptr, &one, nullptr);
            ASSERT_GE(H5Dwrite(data, H5T_NATIVE_INT32, memory, space, H5P_DEFAULT, &value), 0);
        }
    }
    Opened opened(maker.finish());
    auto data = opened.root.open_dataset<std::int32_t>("d");
    ASSERT_EQ(data.status(), Status::ok);
    std::int32_t rows[kChunks] = {};
    EXPECT_EQ(data->read(Selection::all(), Span<std::int32_t>(rows)), Status::ok);
    for (std::size_t i = 0; i < kChunks; ++i) {
        EXPECT_EQ(rows[i], static_cast<std::int32_t>(i));
    }
    std::uint64_t bytes = 0;
    EXPECT_EQ(data->storage_size(bytes), Status::unsupported);
    EXPECT_EQ(data->set_extent({kChunks / 2}), Status::unsupported);
    EXPECT_EQ(data->append(1), Status::unsupported);
    EXPECT_EQ(data->size(), kChunks);
    rows[0] = 1000;
    EXPECT_EQ(data->write(Selection::hyperslab({0}, {1}), Span<const std::int32_t>(rows, 1)), Status::ok);
    EXPECT_EQ(data->close(), Status::ok);
    EXPECT_EQ(opened.root.unlink("d"), Status::unsupported);
    EXPECT_EQ(opened.file.flush(), Status::ok);
    const Image image(opened.storage.contents().begin(), opened.storage.contents().end());
    EXPECT_EQ(opened.file.close(), Status::ok);
    const Hdf5Id file = open_image({image.data(), image.size()});
    const Hdf5Id theirs(H5Dopen2(file, "d", H5P_DEFAULT), H5Dclose);
    std::int32_t found[kChunks] = {};
    EXPECT_GE(H5Dread(theirs, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, found), 0);
    EXPECT_EQ(std::vector<std::int32_t>(found, found + kChunks), std::vector<std::int32_t>(rows, rows + kChunks));
}

// The same trees as h5mote makes them. What append() has taken can be stored, also filtered chunks, which get their
// entries in the tree only then.
TEST(DatasetLimits, TreesThatBecomeTooDeep) {
    for (const bool filtered : {false, true}) {
        for (const std::size_t cache : {std::size_t{32}, std::size_t{1} << 16}) {
            SCOPED_TRACE((filtered ? "filtered " : "plain ") + std::to_string(cache));
            Hdf5Maker maker(Hdf5Maker::Format::oldest);
            H5Pset_istore_k(maker.properties(), 1);
            MadeDataset made{{1}, {H5S_UNLIMITED}, {1}};
            made.filtered = filtered;
            made.make(maker.file());
            const Image begin = maker.finish();
            std::int32_t rows = 1;
            Image image;
            {
                constexpr const Filter* kFilters[] = {&shuffle_filter, &fletcher32_filter};
                MallocAllocator memory;
                NullPort port;
                Library library(memory, port, kFilters, formats::all);
                GrowingMemoryDriver storage(memory);
                ASSERT_EQ(storage.assign({begin.data(), begin.size()}), Status::ok);
                FileAccess access;
                access.metadata_cache = 65536;
                access.chunk_cache = cache;
                auto file = File::open(library, storage, access);
                ASSERT_EQ(file.status(), Status::ok);
                auto data = file->root().open_dataset<std::int32_t>("d");
                ASSERT_EQ(data.status(), Status::ok);
                Status status = Status::ok;
                while (status == Status::ok && rows < 100) {
                    status = data->append(rows);
                    rows += status == Status::ok ? 1 : 0;
                }
                EXPECT_EQ(status, Status::unsupported);
                EXPECT_EQ(data->close(), Status::ok);
                EXPECT_EQ(file->close(), Status::ok);
                image.assign(storage.contents().begin(), storage.contents().end());
            }
            const Hdf5Id file = open_image({image.data(), image.size()});
            const Hdf5Id theirs(H5Dopen2(file, "d", H5P_DEFAULT), H5Dclose);
            const Hdf5Id space(H5Dget_space(theirs), H5Sclose);
            ASSERT_EQ(H5Sget_simple_extent_npoints(space), rows);
            std::vector<std::int32_t> found(static_cast<std::size_t>(rows));
            EXPECT_GE(H5Dread(theirs, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, found.data()), 0);
            for (std::int32_t i = 0; i < rows; ++i) {
                EXPECT_EQ(found[static_cast<std::size_t>(i)], i);
            }
        }
    }
}

#endif

#endif
