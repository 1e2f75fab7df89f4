// FileAccess::low: the same calls give the structures of a file the same versions as libhdf5 gives them, and share the
// same messages, and libhdf5 reads and continues what was made.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS && defined(H5MOTE_TEST_HDF5)

#include <h5mote/check.hpp>
#include <h5mote/filters/shuffle.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/named_datatype.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/type_builder.hpp>
#include <h5mote/vfd/memory.hpp>

#include "hdf5_image.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;
using Image = std::vector<std::byte>;
using Kinds = std::multiset<std::tuple<unsigned, unsigned, unsigned, unsigned, unsigned>>;

constexpr const Filter* kFilters[] = {&shuffle_filter};

// Which kinds and versions of structures a file has, and every shared message with the number of its users.
class Census final : public CheckReporter {
public:
    void problem(const Problem& problem) noexcept override { sound = sound && problem.note; }
    void structure(const Structure& structure) noexcept override {
        const Kinds::value_type kind(static_cast<unsigned>(structure.part), structure.message, structure.version,
                                     structure.index, structure.users);
        if (structure.users != 0 || kinds.count(kind) == 0) {
            kinds.insert(kind);
        }
    }
    Kinds kinds;
    bool sound = true;
};

struct Storage {
    MallocAllocator memory;
    NullPort port;
    Library library{memory, port, kFilters, formats::all};
    GrowingMemoryDriver driver{memory};
};

Kinds kinds_of(const Image& image) {
    Storage storage;
    EXPECT_EQ(storage.driver.assign({image.data(), image.size()}), Status::ok);
    auto file = File::open(storage.library, storage.driver);
    EXPECT_EQ(file.status(), Status::ok);
    Census census;
    EXPECT_EQ(check_file(*file, {}, census), Status::ok);
    EXPECT_TRUE(census.sound);
    EXPECT_EQ(file->close(), Status::ok);
    return census.kinds;
}

std::string text_of(const Kinds& kinds) {
    std::string text;
    for (const auto& [part, message, version, index, users] : kinds) {
        text += std::to_string(part) + "/" + std::to_string(message) + "/" + std::to_string(version) + "/" +
                std::to_string(index) + (users != 0 ? "*" + std::to_string(users) : "") + " ";
    }
    return text;
}

// The calls, in both libraries: groups and links, committed and other types of all kinds, every layout and index.
// `attributes`: the group gets attributes; of the committed type too, if it is all.
enum class Attributes { none, own_types, all };

void make_theirs(hid_t file, Attributes attributes) {
    const auto space = [](int rank, hsize_t most) {
        const hsize_t dims[2] = {6, 6};
        const hsize_t max_dims[2] = {most, most};
        return Hdf5Id(H5Screate_simple(rank, dims, most == 0 ? nullptr : max_dims), H5Sclose);
    };
    const auto chunked = [] {
        const Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        const hsize_t chunk[2] = {4, 4};
        H5Pset_chunk(list, 2, chunk);
        return H5Pcopy(list);
    };
    const std::vector<int> numbers(36, 5);
    const auto dataset = [&](const char* name, hid_t type, hid_t extent, hid_t list) {
        const Hdf5Id made(H5Dcreate2(file, name, type, extent, H5P_DEFAULT, list, H5P_DEFAULT), H5Dclose);
        EXPECT_GE(made, 0) << name;
        if (type == H5T_STD_I32LE) {
            EXPECT_GE(H5Dwrite(made, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()), 0);
        }
    };
    const Hdf5Id group(H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    EXPECT_GE(H5Lcreate_soft("/group", group, "soft", H5P_DEFAULT, H5P_DEFAULT), 0);
    EXPECT_GE(H5Olink(group, file, "hard", H5P_DEFAULT, H5P_DEFAULT), 0);
    dataset("contiguous", H5T_STD_I32LE, space(2, 0), H5P_DEFAULT);
    {
        const Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        H5Pset_layout(list, H5D_COMPACT);
        const int fill = 3;
        H5Pset_fill_value(list, H5T_NATIVE_INT, &fill);
        dataset("compact", H5T_STD_I32LE, space(2, 0), list);
    }
    const Hdf5Id plain(chunked(), H5Pclose);
    dataset("fixed", H5T_STD_I32LE, space(2, 12), plain);
    dataset("two", H5T_STD_I32LE, space(2, H5S_UNLIMITED), plain);
    const Hdf5Id filtered(chunked(), H5Pclose);
    H5Pset_shuffle(filtered);
    dataset("filtered", H5T_STD_I32LE, space(2, H5S_UNLIMITED), filtered);
    {
        const Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        const hsize_t chunk = 4;
        H5Pset_chunk(list, 1, &chunk);
        dataset("one", H5T_STD_I32LE, space(1, H5S_UNLIMITED), list);
    }
    // Chunks that need no index: all in one, with and without filters, and all allocated at once.
    for (const bool with_filter : {false, true}) {
        const Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        const hsize_t chunk[2] = {6, 6};
        H5Pset_chunk(list, 2, chunk);
        if (with_filter) {
            H5Pset_shuffle(list);
        }
        dataset(with_filter ? "single filtered" : "single", H5T_STD_I32LE, space(2, 0), list);
    }
    {
        const Hdf5Id list(chunked(), H5Pclose);
        H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY);
        dataset("implicit", H5T_STD_I32LE, space(2, 12), list);
    }
    {
        const Hdf5Id list(chunked(), H5Pclose);
        H5Pset_shuffle(list);
        H5Pset_chunk_opts(list, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
        dataset("edges", H5T_STD_I32LE, space(2, 12), list);
    }
    {
        const Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        H5Pset_external(list, "nowhere", 8, H5F_UNLIMITED);
        dataset("external", H5T_STD_I16LE, space(2, 0), list);
    }
    {
        const Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        H5Pset_virtual(list, space(2, 0), ".", "contiguous", space(2, 0));
        dataset("virtual", H5T_STD_I16LE, space(2, 0), list);
    }
    const Hdf5Id null(H5Screate(H5S_NULL), H5Sclose);
    dataset("null", H5T_STD_I16LE, null, H5P_DEFAULT);

    const hsize_t three = 3;
    const Hdf5Id array(H5Tarray_create2(H5T_STD_I16LE, 1, &three), H5Tclose);
    const Hdf5Id flat(H5Tcreate(H5T_COMPOUND, 300), H5Tclose);
    H5Tinsert(flat, "a", 0, H5T_STD_I32LE);
    H5Tinsert(flat, "long name", 290, H5T_STD_I16LE);
    const Hdf5Id nested(H5Tcreate(H5T_COMPOUND, 310), H5Tclose);
    H5Tinsert(nested, "in", 0, flat);
    H5Tinsert(nested, "array", 300, array);
    const Hdf5Id names(H5Tenum_create(H5T_STD_I16LE), H5Tclose);
    const std::int16_t value = 1;
    H5Tenum_insert(names, "one", &value);
    EXPECT_GE(H5Tcommit2(file, "type", flat, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), 0);
    const Hdf5Id scalar(H5Screate(H5S_SCALAR), H5Sclose);
    const std::vector<std::byte> zeros(320);
    for (const hid_t type : {hid_t(array), hid_t(flat), hid_t(nested), hid_t(names), H5T_STD_I32LE}) {
        if (attributes == Attributes::none || (attributes == Attributes::own_types && type == flat)) {
            continue;
        }
        const std::string name = "attribute" + std::to_string(H5Tget_size(type));
        const Hdf5Id made(H5Acreate2(group, name.c_str(), type, scalar, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
        EXPECT_GE(H5Awrite(made, type, zeros.data()), 0);
    }
}

void make_ours(File& file, Attributes attributes) {
    Group root = file.root();
    const std::uint64_t dims[2] = {6, 6};
    const std::uint64_t most[2] = {12, 12};
    const std::uint64_t unlimited[2] = {kUnlimited, kUnlimited};
    const std::vector<std::int32_t> numbers(36, 5);
    const auto dataset = [&](const char* name, const Dataspace& space, const DatasetCreate& create) {
        auto made = root.create_dataset(name, file_type_of<std::int32_t>(), space, create);
        ASSERT_EQ(made.status(), Status::ok) << name;
        const std::size_t size = space.rank() == 1 ? 6 : 36;
        EXPECT_EQ(made->write(Selection::all(), file_type_of<std::int32_t>(),
                              as_bytes(Span<const std::int32_t>(numbers.data(), size))),
                  Status::ok)
            << name;
    };
    auto group = root.create_group("group");
    ASSERT_EQ(group.status(), Status::ok);
    EXPECT_EQ(group->create_soft_link("soft", "/group"), Status::ok);
    EXPECT_EQ(root.create_hard_link("hard", *group), Status::ok);
    DatasetCreate create;
    create.reserve = 0;
    create.track_times = true;
    dataset("contiguous", Dataspace::simple({dims, 2}), create);
    create.layout = Layout::compact;
    const std::int32_t fill = 3;
    create.fill = as_bytes(Span<const std::int32_t>(&fill, 1));
    dataset("compact", Dataspace::simple({dims, 2}), create);
    create = {};
    create.reserve = 0;
    create.chunk = {4, 4};
    dataset("fixed", Dataspace::simple({dims, 2}, {most, 2}), create);
    dataset("two", Dataspace::simple({dims, 2}, {unlimited, 2}), create);
    create.filters = {filters::shuffle};
    dataset("filtered", Dataspace::simple({dims, 2}, {unlimited, 2}), create);
    create = {};
    create.reserve = 0;
    create.chunk = {4};
    dataset("one", Dataspace::simple({dims, 1}, {unlimited, 1}), create);
    for (const bool with_filter : {false, true}) {
        create = {};
        create.chunk = {6, 6};
        if (with_filter) {
            create.filters = {filters::shuffle};
        }
        dataset(with_filter ? "single filtered" : "single", Dataspace::simple({dims, 2}), create);
    }
    create = {};
    create.chunk = {4, 4};
    create.allocation = AllocationTime::early;
    dataset("implicit", Dataspace::simple({dims, 2}, {most, 2}), create);
    create = {};
    create.reserve = 0;
    create.chunk = {4, 4};
    create.filters = {filters::shuffle};
    create.unfiltered_edges = true;
    dataset("edges", Dataspace::simple({dims, 2}, {most, 2}), create);
    const Dataspace square = Dataspace::simple({dims, 2});
    DatasetCreate outside;
    const NewExternalFile nowhere{"nowhere", 8, kUnlimited};
    outside.external = {&nowhere, 1};
    EXPECT_EQ(root.create_dataset("external", file_type_of<std::int16_t>(), square, outside).status(), Status::ok);
    DatasetCreate mapped;
    const NewMapping mapping{".", "contiguous", Selection::all(), &square, Selection::all()};
    mapped.mappings = {&mapping, 1};
    EXPECT_EQ(root.create_dataset("virtual", file_type_of<std::int16_t>(), square, mapped).status(), Status::ok);
    EXPECT_EQ(root.create_dataset("null", file_type_of<std::int16_t>(), Dataspace::null(), {}).status(), Status::ok);

    std::byte bytes[4][300];
    TypeBuilder array{Bytes(bytes[0])};
    const std::uint32_t three = 3;
    EXPECT_EQ(array.array(file_type_of<std::int16_t>(), {&three, 1}), Status::ok);
    TypeBuilder flat{Bytes(bytes[1])};
    EXPECT_EQ(flat.compound(300), Status::ok);
    EXPECT_EQ(flat.member("a", 0, file_type_of<std::int32_t>()), Status::ok);
    EXPECT_EQ(flat.member("long name", 290, file_type_of<std::int16_t>()), Status::ok);
    TypeBuilder nested{Bytes(bytes[2])};
    EXPECT_EQ(nested.compound(310), Status::ok);
    EXPECT_EQ(nested.member("in", 0, flat.type()), Status::ok);
    EXPECT_EQ(nested.member("array", 300, array.type()), Status::ok);  // 6 bytes
    TypeBuilder names{Bytes(bytes[3])};
    EXPECT_EQ(names.enumeration(file_type_of<std::int16_t>()), Status::ok);
    const std::int16_t value = 1;
    EXPECT_EQ(names.enumerator("one", value), Status::ok);
    const auto committed = root.commit_datatype("type", flat.type());
    ASSERT_EQ(committed.status(), Status::ok);
    const std::vector<std::byte> zeros(320);
    for (const DatatypeView type :
         {array.type(), flat.type(), nested.type(), names.type(), DatatypeView(file_type_of<std::int32_t>())}) {
        if (attributes == Attributes::none || (attributes == Attributes::own_types && type.size() == 300)) {
            continue;
        }
        const std::string name = "attribute" + std::to_string(type.size());
        const ConstBytes value_bytes{zeros.data(), type.size()};
        EXPECT_EQ(type.size() == 300 ? group->write_attribute(name, *committed, Dataspace::scalar(), value_bytes)
                                     : group->write_attribute(name, type, Dataspace::scalar(), value_bytes),
                  Status::ok);
    }
}

struct Bound {
    FormatVersion ours;
    H5F_libver_t theirs;
};
constexpr Bound kBounds[] = {{FormatVersion::earliest, H5F_LIBVER_EARLIEST},
                             {FormatVersion::v18, H5F_LIBVER_V18},
                             {FormatVersion::v110, H5F_LIBVER_V110}};

// How a file is created, in both libraries: what it shares, and how large its nodes are.
struct Properties {
    std::vector<SharedIndexCreate> indexes;
    std::uint16_t list_max = 50;
    std::uint16_t btree_min = 40;
    Attributes attributes = Attributes::all;
    BTreeK k{};
};

Image made_by_us(FormatVersion low, bool large_cache = true, const Properties& properties = {}) {
    Storage storage;
    FileAccess access;
    access.low = low;
    access.metadata_cache = large_cache ? 65536 : 4096;
    access.chunk_cache = 4096;
    FileCreate create;
    create.btree_k = properties.k;
    create.shared_messages = {
        {properties.indexes.data(), properties.indexes.size()}, properties.list_max, properties.btree_min};
    auto file = File::create(storage.library, storage.driver, access, create);
    EXPECT_EQ(file.status(), Status::ok);
    make_ours(*file, properties.attributes);
    EXPECT_EQ(file->close(), Status::ok);
    const ConstBytes contents = storage.driver.contents();
    return Image(contents.begin(), contents.end());
}

Image made_by_them(H5F_libver_t low, const Properties& properties = {}) {
    const std::string name = "versions_theirs.h5";
    {
        const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        EXPECT_GE(H5Pset_libver_bounds(access, low, H5F_LIBVER_LATEST), 0);
        const Hdf5Id create(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
        EXPECT_GE(H5Pset_shared_mesg_nindexes(create, static_cast<unsigned>(properties.indexes.size())), 0);
        for (unsigned i = 0; i < properties.indexes.size(); ++i) {
            EXPECT_GE(
                H5Pset_shared_mesg_index(create, i, properties.indexes[i].kinds, properties.indexes[i].least_size), 0);
        }
        EXPECT_GE(H5Pset_shared_mesg_phase_change(create, properties.list_max, properties.btree_min), 0);
        EXPECT_GE(H5Pset_sym_k(create, properties.k.group_internal, properties.k.group_leaf), 0);
        EXPECT_GE(H5Pset_istore_k(create, properties.k.chunk), 0);
        const Hdf5Id file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, create, access), H5Fclose);
        EXPECT_GE(file, 0);
        make_theirs(file, properties.attributes);
    }
    return take_file(name);
}

TEST(Versions, AreThoseOfLibhdf5) {
    for (const Bound& bound : kBounds) {
        const Kinds theirs = kinds_of(made_by_them(bound.theirs));
        for (const bool large_cache : {true, false}) {
            EXPECT_EQ(text_of(kinds_of(made_by_us(bound.ours, large_cache))), text_of(theirs))
                << "bound " << static_cast<unsigned>(bound.ours);
        }
        EXPECT_GT(theirs.size(), 10U);
    }
}

Kinds shared_of(const Image& image) {
    Kinds shared;
    for (const Kinds::value_type& kind : kinds_of(image)) {
        if (std::get<4>(kind) != 0) {
            shared.insert(kind);
        }
    }
    return shared;
}

// Which messages are shared, how many users each has, and whether the index is a list or a tree. h5mote shares neither
// dataspaces that can grow, nor attributes of a committed datatype, nor the datatypes and dataspaces of attributes:
// none of these is compared. For its oldest format libhdf5 shares no predefined datatype, and writes other fill values.
TEST(Versions, SharedMessagesAreThoseOfLibhdf5) {
    constexpr std::uint16_t kOfDatasets =
        SharedKinds::datatype | SharedKinds::fill_value | SharedKinds::filter_pipeline;
    struct Case {
        Properties shared;
        std::size_t messages;
        bool from_v18 = false;
    };
    const Case cases[] = {
        {{{{SharedKinds::attribute, 40}}, 50, 40, Attributes::own_types}, 4},
        {{{{SharedKinds::attribute, 40}}, 3, 2, Attributes::own_types}, 4},
        {{{{SharedKinds::datatype, 11}}, 50, 40, Attributes::none}, 2, true},
        {{{{kOfDatasets, 11}}, 2, 1, Attributes::none}, 3, true},
        {{{{SharedKinds::datatype, 11}, {SharedKinds::filter_pipeline, 5}}, 0, 0, Attributes::none}, 3, true},
    };
    for (const Bound& bound : kBounds) {
        for (const Case& each : cases) {
            if (each.from_v18 && bound.ours == FormatVersion::earliest) {
                continue;
            }
            const Kinds theirs = shared_of(made_by_them(bound.theirs, each.shared));
            EXPECT_EQ(text_of(shared_of(made_by_us(bound.ours, true, each.shared))), text_of(theirs))
                << "bound " << static_cast<unsigned>(bound.ours) << ", case " << &each - cases;
            EXPECT_EQ(theirs.size(), each.messages) << &each - cases << " " << text_of(theirs);
        }
    }
}

// Lets libhdf5 read a file of made_by_us(), and add to it until nodes are split. It finds the sizes `k`.
void continue_by_them(const Image& image, const BTreeK& k) {
    const std::string name = "versions_ours.h5";
    std::FILE* const stored = std::fopen(name.c_str(), "wb");
    ASSERT_NE(stored, nullptr);
    ASSERT_EQ(std::fwrite(image.data(), 1, image.size(), stored), image.size());
    std::fclose(stored);
    {
        const Hdf5Id file(H5Fopen(name.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
        ASSERT_GE(file, 0);
        const Hdf5Id create(H5Fget_create_plist(file), H5Pclose);
        unsigned internal = 0;
        unsigned leaf = 0;
        unsigned chunk = 0;
        ASSERT_GE(H5Pget_sym_k(create, &internal, &leaf), 0);
        ASSERT_GE(H5Pget_istore_k(create, &chunk), 0);
        EXPECT_EQ(std::make_tuple(leaf, internal, chunk), std::make_tuple(k.group_leaf, k.group_internal, k.chunk));
        for (const char* const path : {"contiguous", "compact", "fixed", "two", "filtered", "one"}) {
            const Hdf5Id dataset(H5Dopen2(file, path, H5P_DEFAULT), H5Dclose);
            int numbers[36] = {};
            EXPECT_GE(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers), 0) << path;
            EXPECT_EQ(numbers[5], 5) << path;
        }
        const hsize_t more[2] = {60, 60};
        for (const char* const path : {"two", "filtered"}) {
            const Hdf5Id dataset(H5Dopen2(file, path, H5P_DEFAULT), H5Dclose);
            ASSERT_GE(H5Dset_extent(dataset, more), 0);
            const std::vector<int> numbers(3600, 7);
            EXPECT_GE(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()), 0);
        }
        for (int i = 0; i < 200; ++i) {
            const std::string link = "more" + std::to_string(i);
            const Hdf5Id group(H5Gcreate2(file, link.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
            ASSERT_GE(group, 0);
        }
        EXPECT_GE(H5Ldelete(file, "hard", H5P_DEFAULT), 0);
    }
    (void)kinds_of(take_file(name));
}

TEST(Versions, LibhdfContinuesWhatWasMade) {
    for (const Bound& bound : kBounds) {
        continue_by_them(made_by_us(bound.ours), {});
    }
}

TEST(Versions, SizesOfNodesAreThoseOfLibhdf5) {
    constexpr BTreeK kSizes[] = {{1, 1, 2}, {4, 16, 31}, {9, 2, 32}, {40, 50, 70}};
    for (const Bound& bound : kBounds) {
        for (const BTreeK& k : kSizes) {
            Properties properties;
            properties.k = k;
            const Image ours = made_by_us(bound.ours, true, properties);
            EXPECT_EQ(text_of(kinds_of(ours)), text_of(kinds_of(made_by_them(bound.theirs, properties))))
                << "bound " << static_cast<unsigned>(bound.ours) << ", case " << &k - kSizes;
            continue_by_them(ours, k);
        }
    }
    // A file that shares messages has them beside the sizes in its extension.
    Properties properties{{{SharedKinds::attribute, 40}}, 50, 40, Attributes::own_types, {3, 4, 5}};
    continue_by_them(made_by_us(FormatVersion::v18, true, properties), properties.k);
}

TEST(Versions, WhatIsOlderThanTheUpperBoundIsRefused) {
    Storage storage;
    FileAccess access;
    access.low = FormatVersion::v110;
    access.high = FormatVersion::v18;
    EXPECT_EQ(File::create(storage.library, storage.driver, access).status(), Status::invalid_argument);
    access.low = FormatVersion::standard;
    access.high = FormatVersion::earliest;
    EXPECT_EQ(File::create(storage.library, storage.driver, access).status(), Status::invalid_argument);
    access.high = FormatVersion::v18;
    FileCreate create;
    create.superblock_version = 3;
    EXPECT_EQ(File::create(storage.library, storage.driver, access, create).status(), Status::unsupported);
    create.superblock_version = 2;
    for (const BTreeK& k :
         {BTreeK{0, 16, 32}, BTreeK{4, 0, 32}, BTreeK{4, 16, 0}, BTreeK{4, 16, 1}, BTreeK{4, 16, 0x8000}}) {
        create.btree_k = k;
        EXPECT_EQ(File::create(storage.library, storage.driver, access, create).status(), Status::invalid_argument);
    }
    constexpr Formats kNone{};
    Library without{storage.memory, storage.port, {}, kNone};
    access.low = FormatVersion::earliest;
    access.high = FormatVersion::latest;
    EXPECT_EQ(File::create(without, storage.driver, access).status(), Status::unsupported);
    access.low = FormatVersion::standard;
    create.btree_k = {4, 16, 33};
    EXPECT_EQ(File::create(without, storage.driver, access, create).status(), Status::unsupported);
    // The root group's B-tree would not fit the metadata cache. Nothing is written then.
    access.low = FormatVersion::earliest;
    create.btree_k = {4, 100, 32};
    EXPECT_EQ(File::create(storage.library, storage.driver, access, create).status(), Status::over_budget);
    EXPECT_EQ(storage.driver.contents().size(), 0U);
}

}  // namespace

#endif
