// FileAccess::high: what would need a newer version of a structure is refused before anything is changed, as libhdf5
// refuses it under the same bounds where it has them.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS

#include <h5mote/check.hpp>
#include <h5mote/filters/shuffle.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/named_datatype.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/selection_set.hpp>
#include <h5mote/type_builder.hpp>
#include <h5mote/vfd/memory.hpp>

#ifdef H5MOTE_TEST_HDF5
#include "hdf5_image.hpp"
#endif

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace h5mote;

constexpr const Filter* kFilters[] = {&shuffle_filter};
constexpr FormatVersion kHighs[] = {FormatVersion::v18, FormatVersion::v110, FormatVersion::v112, FormatVersion::v114,
                                    FormatVersion::v200};
constexpr FormatVersion kLows[] = {FormatVersion::standard, FormatVersion::earliest, FormatVersion::v18,
                                   FormatVersion::v110,     FormatVersion::v112,     FormatVersion::v114,
                                   FormatVersion::v200};

// A complex number of two 4-byte floats, version 5: its properties are the type of both parts.
EncodedType<28> complex_type() {
    EncodedType<28> type;
    const auto part = make_float(4);
    const std::uint8_t head[8] = {0x5b, 0x01, 0, 0, 8, 0, 0, 0};
    for (std::size_t i = 0; i < 8; ++i) {
        type.bytes[i] = std::byte{head[i]};
    }
    std::copy_n(part.bytes, 20, type.bytes + 8);
    return type;
}

// An open file with bounds, a dataset to refer to, and a group for all that is tried.
struct Bounded {
    explicit Bounded(FormatVersion low, FormatVersion high) {
        FileAccess access;
        access.low = low;
        access.high = high;
        access.metadata_cache = 16384;
        file = File::create(library, driver, access);
    }
    std::vector<std::byte> flushed() {
        EXPECT_EQ(file->flush(), Status::ok);
        const ConstBytes contents = driver.contents();
        return {contents.begin(), contents.end()};
    }

    MallocAllocator memory;
    NullPort port;
    Library library{memory, port, kFilters, formats::all};
    GrowingMemoryDriver driver{memory};
    Result<File> file = Status::not_found;
};

bool names_version(Library& library) {
    return library.trail().newest().value == static_cast<std::uint64_t>(Feature::format_version);
}

using Call = std::function<Status(Bounded&)>;

// What `needed` and all later bounds allow. The file is as it was after a refusal, and has nothing that is not sound
// after the call.
void expect_from(FormatVersion needed, const char* what, const Call& call) {
    for (const FormatVersion low : kLows) {
        for (const FormatVersion high : kHighs) {
            if (low > high) {
                continue;
            }
            const std::string name = std::string(what) + " from " + std::to_string(static_cast<unsigned>(low)) +
                                     " to " + std::to_string(static_cast<unsigned>(high));
            Bounded bounded(low, high);
            ASSERT_EQ(bounded.file.status(), Status::ok) << name;
            ASSERT_EQ(bounded.file->root().create_group("group").status(), Status::ok) << name;
            const std::vector<std::byte> before = bounded.flushed();
            const Status status = call(bounded);
            if (high >= needed) {
                EXPECT_EQ(status, Status::ok) << name;
            } else {
                EXPECT_EQ(status, Status::unsupported) << name;
                EXPECT_TRUE(names_version(bounded.library)) << name;
                EXPECT_TRUE(bounded.flushed() == before) << name;
            }
            EXPECT_EQ(bounded.file->close(), Status::ok) << name;
        }
    }
}

const std::uint64_t kSquare[2] = {6, 6};

Status make_dataset(Bounded& bounded, DatatypeView type, const DatasetCreate& create = {}) {
    return bounded.file->root().create_dataset("d", type, Dataspace::simple({kSquare, 2}), create).status();
}

Status make_virtual(Bounded& bounded, const Selection& selection, const Dataspace& space) {
    DatasetCreate create;
    const NewMapping mapping{".", "s", selection, &space, Selection::all()};
    create.mappings = {&mapping, 1};
    const std::uint64_t dims[1] = {2};
    return bounded.file->root()
        .create_dataset("d", file_type_of<std::int16_t>(), Dataspace::simple({dims, 1}), create)
        .status();
}

TEST(VersionsHigh, Layouts) {
    expect_from(FormatVersion::v110, "virtual", [](Bounded& bounded) {
        const std::uint64_t dims[1] = {2};
        return make_virtual(bounded, Selection::all(), Dataspace::simple({dims, 1}));
    });
    expect_from(FormatVersion::v110, "unfiltered edges", [](Bounded& bounded) {
        DatasetCreate create;
        create.chunk = {4, 4};
        create.filters = {filters::shuffle};
        create.unfiltered_edges = true;
        return make_dataset(bounded, file_type_of<std::int32_t>(), create);
    });
    for (const FormatVersion low : {FormatVersion::earliest, FormatVersion::v18}) {
        Bounded bounded(low, FormatVersion::v18);
        ASSERT_EQ(bounded.file.status(), Status::ok);
        EXPECT_EQ(make_dataset(bounded, file_type_of<std::int32_t>()), Status::ok);
        EXPECT_EQ(bounded.file->root().write_attribute("gr\xc3\xb6\xc3\x9f"
                                                       "e",
                                                       "in UTF-8"),
                  Status::ok);
    }
    // Without a lower bound all datasets have layout version 4.
    Bounded standard(FormatVersion::standard, FormatVersion::v18);
    EXPECT_EQ(make_dataset(standard, file_type_of<std::int32_t>()), Status::unsupported);
    EXPECT_TRUE(names_version(standard.library));
    EXPECT_EQ(standard.file->root().write_attribute("title", "allowed"), Status::ok);
}

TEST(VersionsHigh, Datatypes) {
    const auto first = make_reference();
    const auto revised = make_reference(ReferenceType::object2);
    std::byte bytes[2][200];
    TypeBuilder member{Bytes(bytes[0])};
    ASSERT_EQ(member.compound(40), Status::ok);
    ASSERT_EQ(member.member("a", 0, file_type_of<std::int32_t>()), Status::ok);
    ASSERT_EQ(member.member("r", 8, revised), Status::ok);
    TypeBuilder array{Bytes(bytes[1])};
    const std::uint32_t three = 3;
    ASSERT_EQ(array.array(member.type(), {&three, 1}), Status::ok);
    const auto complex = complex_type();
    const struct {
        const char* name;
        DatatypeView type;
        FormatVersion needed;
    } types[] = {{"number", file_type_of<std::int32_t>(), FormatVersion::v18},
                 {"first reference", first, FormatVersion::v18},
                 {"reference", revised, FormatVersion::v112},
                 {"member", member.type(), FormatVersion::v112},
                 {"array", array.type(), FormatVersion::v112},
                 {"complex", complex, FormatVersion::v200}};
    for (const auto& each : types) {
        const std::vector<std::byte> zeros(each.type.size());
        const auto write = [&](Bounded& bounded, bool replace) {
            auto opened = bounded.file->root().open_group("group");
            Group& group = *opened;
            const ConstBytes value{zeros.data(), zeros.size()};
            return replace ? group.replace_attribute("a", each.type, Dataspace::scalar(), value)
                           : group.write_attribute("a", each.type, Dataspace::scalar(), value);
        };
        expect_from(each.needed, each.name, [&](Bounded& bounded) { return write(bounded, false); });
        expect_from(each.needed, each.name, [&](Bounded& bounded) { return write(bounded, true); });
        expect_from(each.needed, each.name,
                    [&](Bounded& bounded) { return bounded.file->root().commit_datatype("t", each.type).status(); });
        // Datasets of any type take v110 without a lower bound: see the test before.
        if (each.needed > FormatVersion::v110) {
            expect_from(each.needed, each.name, [&](Bounded& bounded) { return make_dataset(bounded, each.type); });
        }
    }
}

// A committed datatype that a file has already is refused for what is added, too.
TEST(VersionsHigh, CommittedDatatypes) {
    MallocAllocator memory;
    NullPort port;
    Library library{memory, port, kFilters, formats::all};
    GrowingMemoryDriver driver{memory};
    const auto revised = make_reference(ReferenceType::object2);
    FileAccess access;
    {
        auto file = File::create(library, driver, access);
        ASSERT_EQ(file.status(), Status::ok);
        ASSERT_EQ(file->root().commit_datatype("t", revised).status(), Status::ok);
        ASSERT_EQ(file->close(), Status::ok);
    }
    access.high = FormatVersion::v110;
    auto file = File::open(library, driver, access);
    ASSERT_EQ(file.status(), Status::ok);
    Group root = file->root();
    auto object = root.open_object("t");
    ASSERT_EQ(object.status(), Status::ok);
    auto type = NamedDatatype::from(std::move(*object));
    ASSERT_EQ(type.status(), Status::ok);
    std::byte zeros[18] = {};
    EXPECT_EQ(root.create_dataset("d", *type, Dataspace::scalar(), DatasetCreate{}).status(), Status::unsupported);
    EXPECT_EQ(root.write_attribute("a", *type, Dataspace::scalar(), {zeros, type->type().size()}), Status::unsupported);
    EXPECT_TRUE(names_version(library));
    ObjectInfo info;
    EXPECT_EQ(type->info(info), Status::ok);
    EXPECT_EQ(info.reference_count, 1U);
}

TEST(VersionsHigh, Selections) {
    constexpr std::uint64_t kFar = std::uint64_t{1} << 33;
    const std::uint64_t dims[1] = {4 * kFar};
    const Dataspace space = Dataspace::simple({dims, 1});
    const std::uint64_t start[1] = {kFar};
    const std::uint64_t count[1] = {2};
    const std::uint64_t stride[1] = {3};
    const std::uint64_t points[2] = {1, kFar};
    const Selection regular = Selection::hyperslab({start, 1}, {count, 1}, {stride, 1});
    const auto refer = [&](Bounded& bounded, const Selection& region) {
        Group root = bounded.file->root();
        std::byte bytes[18];
        const ReferenceType type = ReferenceType::region1;
        return root.create_region_reference(type, root, space, region, {bytes, root.reference_size(type)});
    };
    expect_from(FormatVersion::v110, "regular", [&](Bounded& bounded) { return refer(bounded, regular); });
    expect_from(FormatVersion::v112, "points", [&](Bounded& bounded) {
        return refer(bounded, Selection::points(1, {points, 2}));
    });
    const std::uint64_t corners[6] = {1, 1, 10, 10, kFar, kFar};
    expect_from(FormatVersion::v112, "blocks", [&](Bounded& bounded) {
        SelectionSet set(bounded.library);
        EXPECT_EQ(set.select_blocks(1, {corners, 6}), Status::ok);
        EXPECT_FALSE(set.view().is_regular());
        return refer(bounded, set.view());
    });
    expect_from(FormatVersion::v110, "mapping of regular",
                [&](Bounded& bounded) { return make_virtual(bounded, regular, space); });
}

TEST(VersionsHigh, FileSpace) {
    for (const FormatVersion high : kHighs) {
        for (const bool persists : {false, true}) {
            Bounded storage(FormatVersion::standard, FormatVersion::latest);
            GrowingMemoryDriver driver{storage.memory};
            FileAccess access;
            access.high = high;
            FileCreate create;
            create.persist_free_space = persists;
            create.file_space = persists ? SpaceStrategy::managers : SpaceStrategy::none;
            EXPECT_EQ(File::create(storage.library, driver, access, create).status(),
                      high == FormatVersion::v18 ? Status::unsupported : Status::ok);
        }
    }
}

// Opening for writing with an upper bound needs the part that keeps it.
TEST(VersionsHigh, NeedsTheVersions) {
    Bounded storage(FormatVersion::standard, FormatVersion::latest);
    Library without{storage.memory, storage.port, {}, formats::newest};
    GrowingMemoryDriver driver{storage.memory};
    FileAccess access;
    access.high = FormatVersion::v114;
    EXPECT_EQ(File::create(without, driver, access).status(), Status::unsupported);
}

#ifdef H5MOTE_TEST_HDF5

// The same calls are refused by libhdf5: the ones that the bounds of release 1.10 tell apart.
TEST(VersionsHigh, Libhdf5RefusesTheSame) {
    using h5mote_test::Hdf5Id;
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    const char* const name = "versions_high.h5";
    for (const H5F_libver_t high : {H5F_LIBVER_V18, H5F_LIBVER_V110}) {
        const bool allowed = high == H5F_LIBVER_V110;
        const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        ASSERT_GE(H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, high), 0);
        {
            const Hdf5Id create(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
            ASSERT_GE(H5Pset_file_space_strategy(create, H5F_FSPACE_STRATEGY_NONE, false, 1), 0);
            const Hdf5Id file(H5Fcreate(name, H5F_ACC_TRUNC, create, access), H5Fclose);
            EXPECT_EQ(file >= 0, allowed);
        }
        const Hdf5Id file(H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
        ASSERT_GE(file, 0);
        const hsize_t dims[2] = {6, 6};
        const hsize_t chunk[2] = {4, 4};
        const Hdf5Id space(H5Screate_simple(2, dims, nullptr), H5Sclose);
        const Hdf5Id edges(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        H5Pset_chunk(edges, 2, chunk);
        H5Pset_shuffle(edges);
        H5Pset_chunk_opts(edges, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
        const Hdf5Id mapped(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        H5Pset_virtual(mapped, space, ".", "s", space);
        unsigned i = 0;
        for (const hid_t list : {hid_t(edges), hid_t(mapped)}) {
            const std::string dataset = "d" + std::to_string(i++);
            const Hdf5Id made(H5Dcreate2(file, dataset.c_str(), H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT),
                              H5Dclose);
            EXPECT_EQ(made >= 0, allowed) << i;
        }
    }
    std::remove(name);
}

#endif

// The versions of bounds that libhdf5 1.10 does not have; tests/interop compares some of them with libhdf5 2.0.
class Versions final : public CheckReporter {
public:
    void problem(const Problem& problem) noexcept override { sound = sound && problem.note; }
    void structure(const Structure& structure) noexcept override {
        if (structure.part == CheckPart::message) {
            found.emplace(structure.message, structure.version);
        }
    }
    std::set<unsigned> of(unsigned message) const {
        std::set<unsigned> versions;
        for (const auto& [type, version] : found) {
            if (type == message) {
                versions.insert(version);
            }
        }
        return versions;
    }
    std::set<std::pair<unsigned, unsigned>> found;
    bool sound = true;
};

TEST(VersionsHigh, NewerLowerBounds) {
    constexpr unsigned kDatatype = 3;
    constexpr unsigned kLayout = 8;
    const struct {
        FormatVersion low;
        std::set<unsigned> datatypes;
        std::set<unsigned> layouts;
    } bounds[] = {{FormatVersion::v110, {1, 3}, {4}},
                  {FormatVersion::v112, {1, 4}, {4}},
                  {FormatVersion::v114, {1, 4}, {4}},
                  {FormatVersion::v200, {1, 5}, {3, 4, 5}}};
    std::byte bytes[100];
    TypeBuilder flat{Bytes(bytes)};
    ASSERT_EQ(flat.compound(8), Status::ok);
    ASSERT_EQ(flat.member("a", 0, file_type_of<std::int32_t>()), Status::ok);
    for (const auto& bound : bounds) {
        Bounded bounded(bound.low, FormatVersion::latest);
        ASSERT_EQ(bounded.file.status(), Status::ok);
        Group root = bounded.file->root();
        EXPECT_EQ(make_dataset(bounded, file_type_of<std::int32_t>()), Status::ok);
        DatasetCreate create;
        create.chunk = {4, 4};
        const Dataspace space = Dataspace::simple({kSquare, 2});
        EXPECT_EQ(root.create_dataset("plain", flat.type(), space, create).status(), Status::ok);
        create.filters = {filters::shuffle};
        EXPECT_EQ(root.create_dataset("filtered", flat.type(), space, create).status(), Status::ok);
        Versions versions;
        EXPECT_EQ(check_file(*bounded.file, {}, versions), Status::ok);
        EXPECT_TRUE(versions.sound);
        EXPECT_EQ(versions.of(kDatatype), bound.datatypes);
        EXPECT_EQ(versions.of(kLayout), bound.layouts);
        EXPECT_EQ(bounded.file->close(), Status::ok);
    }
}

}  // namespace

#endif
