// Links that get other names and places, attributes that get other names and types, comments, datasets that become
// smaller, rows of any rank, chunks as they are stored: what h5mote makes, libhdf5 reads.
#include <h5mote/filters/deflate.hpp>
#include <h5mote/filters/shuffle.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/named_datatype.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include "sound.hpp"

#include <gtest/gtest.h>

#ifdef H5MOTE_TEST_HDF5
#include "hdf5_image.hpp"
#endif

#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr const Filter* kFilters[] = {&shuffle_filter, &deflate_filter};

// A file in memory, which every test finds sound when it ends.
struct Changes : public ::testing::Test {
    Changes() : library(memory, port, kFilters), storage(memory) {
        FileAccess access;
        access.metadata_cache = 4096;
        access.chunk_cache = 2048;
        FileCreate create;
        create.track_link_order = true;
        auto made = File::create(library, storage, access, create);
        EXPECT_EQ(made.status(), Status::ok);
        file = static_cast<File&&>(*made);
        root = file.root();
    }
    ~Changes() override { EXPECT_EQ(file.close(), Status::ok); }
    void reopen() {
        EXPECT_TRUE(!root.valid() || file.close() == Status::ok);
        FileAccess access;
        access.metadata_cache = 4096;
        access.chunk_cache = 2048;
        auto opened = File::open(library, storage, access);
        EXPECT_EQ(opened.status(), Status::ok);
        file = static_cast<File&&>(*opened);
        root = file.root();
    }
    void check() {
        EXPECT_EQ(file.flush(), Status::ok);
        const Findings findings = findings_in(file);
        EXPECT_TRUE(findings.none()) << "problem " << findings.last_kind << " at " << findings.last_address;
    }
    std::vector<std::byte> image() {
        check();
        const ConstBytes bytes = storage.contents();
        return std::vector<std::byte>(bytes.begin(), bytes.end());
    }
    std::string names(IndexOrder order) {
        std::string text;
        LinkIterator links(root, order);
        for (Link link; links.next(link) == Status::ok;) {
            text += std::string(link.name()) + " ";
        }
        return text;
    }
    std::string attribute_names(Object& object, IndexOrder order) {
        std::string text;
        AttributeIterator attributes(object, order);
        for (Attribute attribute; attributes.next(attribute) == Status::ok;) {
            text += std::string(attribute.name()) + " ";
        }
        return text;
    }
    std::uint32_t count_of(const char* path) {
        ObjectInfo info;
        EXPECT_EQ(root.open_object(path)->info(info), Status::ok);
        return info.reference_count;
    }

    MallocAllocator memory;
    NullPort port;
    Library library;
    GrowingMemoryDriver storage;
    File file;
    Group root;
};

TEST_F(Changes, LinksAreRenamedAndMoved) {
    GroupCreate tracked;
    tracked.track_link_order = true;
    Group other = static_cast<Group&&>(*root.create_group("other", tracked));
    ASSERT_EQ(root.create_group("a").status(), Status::ok);
    ASSERT_EQ(root.create_group("b").status(), Status::ok);
    ASSERT_EQ(root.create_soft_link("soft", "/a"), Status::ok);
    ASSERT_EQ(file.flush(), Status::ok);
    EXPECT_EQ(root.rename("a", "a much longer name than before"), Status::ok);
    check();
    EXPECT_EQ(names(IndexOrder::creation), "other b soft a much longer name than before ");
    EXPECT_EQ(root.rename("b", "b"), Status::already_exists);
    EXPECT_EQ(root.rename("b", "soft"), Status::already_exists);
    EXPECT_EQ(root.rename("c", "d"), Status::not_found);
    EXPECT_EQ(root.rename("/", "d"), Status::invalid_argument);
    EXPECT_EQ(root.rename("b", "none/d"), Status::not_found);
    EXPECT_EQ(root.move_link("b", other, "moved"), Status::ok);
    EXPECT_EQ(root.move_link("soft", other, "soft"), Status::ok);
    check();
    EXPECT_EQ(names(IndexOrder::name), "a much longer name than before other ");
    EXPECT_EQ(count_of("other/moved"), 1U);
    EXPECT_EQ(root.rename("/other/moved", "b"), Status::ok);
    EXPECT_EQ(root.copy_link("b", other, "copy"), Status::ok);
    EXPECT_EQ(count_of("b"), 2U);
    EXPECT_EQ(root.copy_link("other/soft", root, "soft too"), Status::ok);
    Link link;
    ASSERT_EQ(root.find_link("soft too", link), Status::ok);
    EXPECT_EQ(link.type(), LinkType::soft);
    EXPECT_EQ(link.target(), "/a");
    EXPECT_EQ(root.unlink("b"), Status::ok);
    EXPECT_EQ(count_of("other/copy"), 1U);
    check();
}

// Messages of all lengths take the place of messages of all lengths, the shortest of which have no room for a
// continuation message.
TEST_F(Changes, ShortMessages) {
    for (const bool chained : {false, true}) {
        for (std::size_t from = 1; from < 26; ++from) {
            for (const std::size_t to : {from + 1, from + 4, from + 30, from + 200, std::size_t{1}}) {
                const std::string top = "g" + std::to_string(chained) + std::to_string(from) + "-" + std::to_string(to);
                Group group = static_cast<Group&&>(*root.create_group(top));
                const std::string name(from, 'a');
                const std::string next(to, 'b');
                for (int i = 0; i < (chained ? 9 : 0); ++i) {
                    ASSERT_EQ(group.create_soft_link("s" + std::to_string(i), "x"), Status::ok);
                }
                ASSERT_EQ(group.create_group(name).status(), Status::ok);
                ASSERT_EQ(group.set_comment(name), Status::ok);
                if (from % 2 == 0) {
                    ASSERT_EQ(file.flush(), Status::ok);
                }
                ASSERT_EQ(group.rename(name, next), Status::ok) << from << " " << to;
                ASSERT_EQ(group.set_comment(next), Status::ok) << from << " " << to;
                char text[300] = {};
                std::size_t length = 0;
                EXPECT_EQ(group.comment(text, length), Status::ok);
                EXPECT_EQ(std::string(text, length), next);
                EXPECT_TRUE(group.exists(next));
                std::uint32_t count = 0;
                EXPECT_EQ(group.link_count(count), Status::ok);
                EXPECT_EQ(count, chained ? 10U : 1U);
            }
        }
    }
    check();
#ifdef H5MOTE_TEST_HDF5
    const std::vector<std::byte> bytes = image();
    const Hdf5Id opened = open_image({bytes.data(), bytes.size()});
    LinkIterator links(root);
    for (Link link; links.next(link) == Status::ok;) {
        const Hdf5Id group(H5Gopen2(opened, std::string(link.name()).c_str(), H5P_DEFAULT), H5Gclose);
        H5G_info_t info;
        ASSERT_GE(H5Gget_info(group, &info), 0) << link.name();
        EXPECT_EQ(info.nlinks, link.name()[1] == '1' ? 10U : 1U);
    }
#endif
}

TEST_F(Changes, LinksAreRemovedByPosition) {
    for (const char* name : {"c", "a", "d", "b"}) {
        ASSERT_EQ(root.create_group(name).status(), Status::ok);
    }
    EXPECT_EQ(root.unlink("/", IndexOrder::name, Direction::increasing, 4), Status::not_found);
    EXPECT_EQ(root.unlink("/", IndexOrder::name, Direction::increasing, 1), Status::ok);  // b
    EXPECT_EQ(names(IndexOrder::creation), "c a d ");
    EXPECT_EQ(root.unlink("/", IndexOrder::creation, Direction::decreasing, 0), Status::ok);  // d
    EXPECT_EQ(root.unlink("/", IndexOrder::creation, Direction::increasing, 0), Status::ok);  // c
    EXPECT_EQ(names(IndexOrder::creation), "a ");
    EXPECT_EQ(root.unlink("a", IndexOrder::creation, Direction::increasing, 0), Status::invalid_argument);
    check();
}

TEST_F(Changes, OtherKindsOfLinks) {
    ASSERT_EQ(root.create_external_link("there", "other.h5", "//group///data/"), Status::ok);
    ASSERT_EQ(root.create_external_link("root", "other.h5", "/"), Status::ok);
    const std::byte data[3] = {std::byte{1}, std::byte{0}, std::byte{7}};
    ASSERT_EQ(root.create_user_link("mine", static_cast<LinkType>(200), data), Status::ok);
    EXPECT_EQ(root.create_user_link("no", LinkType::external, data), Status::invalid_argument);
    EXPECT_EQ(root.create_external_link("no", "", "/"), Status::invalid_argument);
    EXPECT_EQ(root.create_external_link("mine", "file", "/"), Status::already_exists);
    EXPECT_EQ(root.rename("mine", "yours"), Status::ok);
    Link link;
    ASSERT_EQ(root.find_link("there", link), Status::ok);
    EXPECT_EQ(link.file_name(), "other.h5");
    EXPECT_EQ(link.target(), "/group/data");
    ASSERT_EQ(root.find_link("yours", link), Status::ok);
    EXPECT_EQ(static_cast<unsigned>(link.type()), 200U);
    ASSERT_EQ(link.data().size(), 3U);
    EXPECT_EQ(link.data()[2], std::byte{7});
#ifdef H5MOTE_TEST_HDF5
    const std::vector<std::byte> bytes = image();
    const Hdf5Id opened = open_image({bytes.data(), bytes.size()});
    ASSERT_GE(opened, 0);
    char value[64] = {};
    ASSERT_GE(H5Lget_val(opened, "there", value, sizeof value, H5P_DEFAULT), 0);
    const char* name = nullptr;
    const char* path = nullptr;
    ASSERT_GE(H5Lunpack_elink_val(value, sizeof value, nullptr, &name, &path), 0);
    EXPECT_STREQ(name, "other.h5");
    EXPECT_STREQ(path, "/group/data");
    H5L_info_t info;
    ASSERT_GE(H5Lget_info(opened, "yours", &info, H5P_DEFAULT), 0);
    EXPECT_EQ(static_cast<int>(info.type), 200);
#endif
}

TEST_F(Changes, Comments) {
    Group group = static_cast<Group&&>(*root.create_group("g"));
    char text[300] = {};
    std::size_t length = 1;
    EXPECT_EQ(group.set_comment(""), Status::ok);
    EXPECT_EQ(group.set_comment("first"), Status::ok);
    const std::string longer(250, 'x');
    EXPECT_EQ(group.set_comment(longer), Status::ok);
    ASSERT_EQ(file.flush(), Status::ok);
    EXPECT_EQ(group.comment(text, length), Status::ok);
    EXPECT_EQ(std::string(text, length), longer);
    EXPECT_EQ(group.set_comment(std::string_view("a\0b", 3)), Status::invalid_argument);
#ifdef H5MOTE_TEST_HDF5
    {
        const std::vector<std::byte> bytes = image();
        const Hdf5Id opened = open_image({bytes.data(), bytes.size()});
        EXPECT_EQ(H5Oget_comment_by_name(opened, "g", text, sizeof text, H5P_DEFAULT), 250);
        EXPECT_EQ(std::string(text), longer);
    }
#endif
    EXPECT_EQ(group.set_comment(""), Status::ok);
    EXPECT_EQ(group.comment(text, length), Status::ok);
    EXPECT_EQ(length, 0U);
    check();
}

TEST_F(Changes, AttributesAreRenamedReplacedAndRemovedByPosition) {
    Group group = static_cast<Group&&>(*root.create_group("g"));
    for (const char* name : {"c", "a", "b"}) {
        ASSERT_EQ(group.write_attribute(name, std::int32_t{name[0]}), Status::ok);
    }
    ASSERT_EQ(file.flush(), Status::ok);
    EXPECT_EQ(group.rename_attribute("a", "b"), Status::already_exists);
    EXPECT_EQ(group.rename_attribute("x", "y"), Status::not_found);
    EXPECT_EQ(group.rename_attribute("a", ""), Status::invalid_argument);
    EXPECT_EQ(group.rename_attribute("a", "a"), Status::ok);
    EXPECT_EQ(group.rename_attribute("x", "x"), Status::not_found);
    EXPECT_EQ(group.rename_attribute("a", "z\xc3\xa4hler of some length"), Status::ok);
    EXPECT_EQ(group.rename_attribute("c", "k"), Status::ok);
    check();
    std::int32_t value = 0;
    EXPECT_EQ(group.read_attribute("k", value), Status::ok);
    EXPECT_EQ(value, 'c');
    EXPECT_EQ(group.read_attribute("z\xc3\xa4hler of some length", value), Status::ok);
    EXPECT_EQ(value, 'a');
    const double doubles[3] = {1, 2.5, -3};
    EXPECT_EQ(group.write_attribute("k", datatype_of<double>(), Dataspace::simple({3}), as_bytes(Span(doubles))),
              Status::type_mismatch);
    EXPECT_EQ(group.replace_attribute("k", datatype_of<double>(), Dataspace::simple({3}), as_bytes(Span(doubles))),
              Status::ok);
    EXPECT_EQ(group.replace_attribute("new", datatype_of<double>(), Dataspace::simple({3}), as_bytes(Span(doubles))),
              Status::ok);
    EXPECT_EQ(group.replace_attribute("b", 0.25F), Status::ok);
    EXPECT_EQ(group.replace_attribute("k", datatype_of<double>(), Dataspace::simple({2}), as_bytes(Span(doubles))),
              Status::invalid_argument);
    double read[3] = {};
    EXPECT_EQ(group.read_attribute("k", datatype_of<double>(), {reinterpret_cast<std::byte*>(read), sizeof read}),
              Status::ok);
    EXPECT_EQ(read[2], -3);
    EXPECT_EQ(attribute_names(group, IndexOrder::name), "b k new z\xc3\xa4hler of some length ");
#ifdef H5MOTE_TEST_HDF5
    {
        const std::vector<std::byte> bytes = image();
        const Hdf5Id opened = open_image({bytes.data(), bytes.size()});
        const Hdf5Id object(H5Oopen(opened, "g", H5P_DEFAULT), H5Oclose);
        const Hdf5Id k(H5Aopen(object, "k", H5P_DEFAULT), H5Aclose);
        double found[3] = {};
        ASSERT_GE(H5Aread(k, H5T_NATIVE_DOUBLE, found), 0);
        EXPECT_EQ(found[1], 2.5);
        EXPECT_GT(H5Aexists(object, "z\xc3\xa4hler of some length"), 0);
    }
#endif
    EXPECT_EQ(group.remove_attribute(IndexOrder::name, Direction::increasing, 4), Status::not_found);
    EXPECT_EQ(group.remove_attribute(IndexOrder::name, Direction::increasing, 1), Status::ok);
    EXPECT_EQ(group.remove_attribute(IndexOrder::name, Direction::decreasing, 0), Status::ok);
    EXPECT_EQ(attribute_names(group, IndexOrder::name), "b new ");
    EXPECT_EQ(group.remove_attribute(IndexOrder::creation, Direction::increasing, 0), Status::invalid_argument);
    check();
}

struct Point {
    std::int32_t x;
    float y;
};
H5MOTE_COMPOUND(Point, x, y)

TEST_F(Changes, CommittedDatatypes) {
    auto type = root.commit_datatype("point", datatype_of<Point>());
    ASSERT_EQ(type.status(), Status::ok);
    EXPECT_EQ(root.commit_datatype("point", datatype_of<Point>()).status(), Status::already_exists);
    const Point points[4] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
    ASSERT_EQ(file.flush(), Status::ok);
    DatasetCreate create;
    create.chunk = {2};
    ASSERT_EQ(root.create_dataset("none/data", *type, Dataspace::simple({4})).status(), Status::not_found);
    auto data = root.create_dataset("data", *type, Dataspace::simple({4}, {kUnlimited}), create);
    ASSERT_EQ(data.status(), Status::ok);
    ASSERT_EQ(data->write(Selection::all(), datatype_of<Point>(), as_bytes(Span(points))), Status::ok);
    ASSERT_EQ(data->append_records(points, 2), Status::ok);
    EXPECT_EQ(count_of("point"), 2U);
    Group group = static_cast<Group&&>(*root.create_group("group"));
    ASSERT_EQ(group.write_attribute("of this type", *type, Dataspace::simple({2}), as_bytes(Span(points, 2))),
              Status::ok);
    EXPECT_EQ(count_of("point"), 3U);
    ASSERT_EQ(group.write_attribute("of this type", *type, Dataspace::simple({4}), as_bytes(Span(points))), Status::ok);
    EXPECT_EQ(count_of("point"), 3U);
    EXPECT_EQ(
        group.write_attribute("of this type", datatype_of<Point>(), Dataspace::simple({4}), as_bytes(Span(points))),
        Status::unsupported);
    EXPECT_EQ(group.write_attribute("number", std::int32_t{5}), Status::ok);
    EXPECT_EQ(group.rename_attribute("of this type", "renamed"), Status::ok);
    check();
    Point read[4] = {};
    ASSERT_EQ(group.read_attribute("renamed", datatype_of<Point>(), {reinterpret_cast<std::byte*>(read), sizeof read}),
              Status::ok);
    EXPECT_EQ(read[3].y, 8);
    auto attribute = group.open_attribute("renamed");
    ASSERT_EQ(attribute.status(), Status::ok);
    EXPECT_EQ(attribute->type_object(), type->address());
    EXPECT_TRUE(identical_layout(attribute->type(), datatype_of<Point>()));
#ifdef H5MOTE_TEST_HDF5
    {
        const std::vector<std::byte> bytes = image();
        const Hdf5Id opened = open_image({bytes.data(), bytes.size()}, H5F_ACC_RDWR);
        ASSERT_GE(opened, 0);
        const Hdf5Id set(H5Dopen2(opened, "data", H5P_DEFAULT), H5Dclose);
        const Hdf5Id stored(H5Dget_type(set), H5Tclose);
        EXPECT_GT(H5Tcommitted(stored), 0);
        Point found[6] = {};
        ASSERT_GE(H5Dread(set, stored, H5S_ALL, H5S_ALL, H5P_DEFAULT, found), 0);
        EXPECT_EQ(found[5].x, 3);
        H5O_info_t info;
        ASSERT_GE(H5Oget_info_by_name(opened, "point", &info, H5P_DEFAULT), 0);
        EXPECT_EQ(info.rc, 3U);
        // libhdf5 counts down as well.
        ASSERT_GE(H5Adelete_by_name(opened, "group", "renamed", H5P_DEFAULT), 0);
        ASSERT_GE(H5Oget_info_by_name(opened, "point", &info, H5P_DEFAULT), 0);
        EXPECT_EQ(info.rc, 2U);
    }
#endif
    EXPECT_EQ(data->close(), Status::ok);
    EXPECT_EQ(root.unlink("point"), Status::ok);
    check();
    EXPECT_EQ(root.open_dataset("data")->size(), 6U);
    EXPECT_EQ(group.replace_attribute("renamed", 7.5), Status::ok);
    EXPECT_EQ(group.write_attribute("again", *type, Dataspace::scalar(), as_bytes(Span(points, 1))), Status::ok);
    EXPECT_EQ(group.remove_attribute("again"), Status::ok);
    check();
    // With its last user the datatype goes, and everything is free that it took.
    EXPECT_EQ(root.unlink("data"), Status::ok);
    type->close();
    check();
    reopen();
    check();
}

#ifdef H5MOTE_TEST_HDF5
// Datatypes that libhdf5 committed, in a file of its own.
TEST_F(Changes, CommittedDatatypesOfLibhdf5) {
    constexpr const char* kName = "object_changes_types.h5";
    {
        const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
        const Hdf5Id made(H5Fcreate(kName, H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
        const Hdf5Id type(H5Tcopy(H5T_STD_I16BE), H5Tclose);
        ASSERT_GE(H5Tcommit2(made, "type", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), 0);
        const Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose);
        const Hdf5Id set(H5Dcreate2(made, "data", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
        const Hdf5Id attribute(H5Acreate2(set, "a", type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
        const Hdf5Id own(H5Acreate2(type, "of the type", type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    }
    ASSERT_EQ(file.close(), Status::ok);
    const std::vector<std::byte> bytes = take_file(kName);
    ASSERT_EQ(storage.assign({bytes.data(), bytes.size()}), Status::ok);
    root.close();
    reopen();
    EXPECT_EQ(count_of("type"), 4U);
    auto type = NamedDatatype::from(static_cast<Object&&>(*root.open_object("type")));
    ASSERT_EQ(type.status(), Status::ok);
    auto data = root.open_dataset("data");
    ASSERT_EQ(data.status(), Status::ok);
    const std::byte value[2] = {std::byte{1}, std::byte{2}};
    EXPECT_EQ(data->write_attribute("b", *type, Dataspace::scalar(), value), Status::ok);
    EXPECT_EQ(data->write_attribute("a", *type, Dataspace::scalar(), value), Status::ok);
    EXPECT_EQ(count_of("type"), 5U);
    EXPECT_EQ(data->remove_attribute("a"), Status::ok);
    EXPECT_EQ(count_of("type"), 4U);
    check();
    EXPECT_EQ(data->close(), Status::ok);
    EXPECT_EQ(root.unlink("data"), Status::ok);
    EXPECT_EQ(count_of("type"), 2U);
    check();
    EXPECT_EQ(type->remove_attribute("of the type"), Status::ok);
    EXPECT_EQ(count_of("type"), 1U);
    EXPECT_EQ(root.unlink("type"), Status::ok);
    check();
}
#endif

// The values of a dataset of numbers, as a model holds them: row-major, the fill value where nothing was written.
struct Model {
    std::vector<std::uint64_t> dims;
    std::vector<std::int32_t> values;

    std::size_t count() const {
        std::size_t all = 1;
        for (const std::uint64_t dim : dims) {
            all *= static_cast<std::size_t>(dim);
        }
        return all;
    }
    void resize(const std::vector<std::uint64_t>& wanted, std::int32_t fill) {
        Model next{wanted, {}};
        next.values.assign(next.count(), fill);
        std::vector<std::uint64_t> at(dims.size(), 0);
        for (std::size_t i = 0; i < values.size(); ++i) {
            bool inside = true;
            std::size_t to = 0;
            std::size_t rest = i;
            for (std::size_t d = dims.size(); d-- > 0;) {
                at[d] = rest % dims[d];
                rest /= dims[d];
            }
            for (std::size_t d = 0; d < dims.size(); ++d) {
                inside = inside && at[d] < wanted[d];
                to = to * wanted[d] + at[d];
            }
            if (inside) {
                next.values[to] = values[i];
            }
        }
        *this = next;
    }
};

// Elements of a row.
std::uint64_t row_of(const Model& model) {
    std::uint64_t row = 1;
    for (std::size_t d = 1; d < model.dims.size(); ++d) {
        row *= model.dims[d];
    }
    return row;
}

struct Shape {
    std::vector<std::uint64_t> dims;
    std::vector<std::uint64_t> most;
    std::vector<std::uint32_t> chunk;
    bool filtered;
};

// Resizes a dataset at random, writes and appends rows, and compares it with the model, by h5mote and libhdf5. After
// each closing libhdf5 makes the dataset larger, too: beyond the extent everything has to be fill values.
void resize_at_random(Changes& test, const Shape& shape, unsigned seed) {
    const std::int32_t fill = -7;
    DatasetCreate create;
    create.chunk = ChunkDims({shape.chunk.data(), shape.chunk.size()});
    create.fill = as_bytes(Span<const std::int32_t>(&fill, 1));
    create.reserve = 256;
    if (shape.filtered) {
        create.filters = {filters::shuffle, filters::deflate};
    }
    const std::size_t rank = shape.dims.size();
    auto made =
        test.root.create_dataset("data", datatype_of<std::int32_t>(),
                                 Dataspace::simple({shape.dims.data(), rank}, {shape.most.data(), rank}), create);
    ASSERT_EQ(made.status(), Status::ok);
    Dataset data = static_cast<Dataset&&>(*made);
    Model model{shape.dims, {}};
    model.values.assign(model.count(), fill);
    unsigned state = seed;
    const auto draw = [&](unsigned below) { return (state = state * 1103515245 + 12345) / 65536 % below; };
    for (int round = 0; round < 60; ++round) {
        const unsigned kind = draw(4);
        if (kind == 0) {
            std::vector<std::uint64_t> wanted;
            for (std::size_t d = 0; d < rank; ++d) {
                const std::uint64_t most = shape.most[d] == kUnlimited ? 23 : shape.most[d];
                wanted.push_back(draw(3) == 0 ? model.dims[d] : draw(static_cast<unsigned>(most) + 1));
            }
            ASSERT_EQ(data.set_extent({wanted.data(), rank}), Status::ok);
            model.resize(wanted, fill);
        } else if (kind == 1 && model.count() != 0) {
            for (std::int32_t& value : model.values) {
                value = static_cast<std::int32_t>(draw(1000));
            }
            ASSERT_EQ(data.write(Selection::all(), datatype_of<std::int32_t>(),
                                 as_bytes(Span<const std::int32_t>(model.values.data(), model.values.size()))),
                      Status::ok);
        } else if (kind == 2 && model.dims[0] < 30 && row_of(model) != 0) {
            const std::uint64_t rows = 1 + draw(3);
            const std::uint64_t row = row_of(model);
            std::vector<std::int16_t> added(static_cast<std::size_t>(rows * row));
            for (std::int16_t& value : added) {
                value = static_cast<std::int16_t>(draw(1000));
            }
            const Status status = data.append_rows(datatype_of<std::int16_t>(), added.data(), added.size());
            if (model.dims[0] + rows > shape.most[0]) {
                ASSERT_EQ(status, Status::invalid_argument);
            } else {
                ASSERT_EQ(status, Status::ok);
                model.values.insert(model.values.end(), added.begin(), added.end());
                model.dims[0] += rows;
            }
        } else {
            ASSERT_EQ(test.file.flush(), Status::ok);
        }
        Dataspace space;
        ASSERT_EQ(data.dataspace(space), Status::ok);
        for (std::size_t d = 0; d < rank; ++d) {
            ASSERT_EQ(space.dims()[d], model.dims[d]) << "round " << round;
        }
        std::vector<std::int32_t> read(model.values.size());
        ASSERT_EQ(data.read(Selection::all(), datatype_of<std::int32_t>(),
                            {reinterpret_cast<std::byte*>(read.data()), read.size() * 4}),
                  Status::ok);
        ASSERT_EQ(read, model.values) << "round " << round << " seed " << seed;
#ifdef H5MOTE_TEST_HDF5
        if (round % 6 == 5) {
            // A file that is closed has no chunks that were allocated ahead.
            ASSERT_EQ(data.close(), Status::ok);
            test.reopen();
            auto again = test.root.open_dataset("data");
            ASSERT_EQ(again.status(), Status::ok);
            data = static_cast<Dataset&&>(*again);
            const std::vector<std::byte> bytes = test.image();
            const Hdf5Id opened = open_image({bytes.data(), bytes.size()}, H5F_ACC_RDWR);
            ASSERT_GE(opened, 0);
            const Hdf5Id set(H5Dopen2(opened, "data", H5P_DEFAULT), H5Dclose);
            Model larger = model;
            std::vector<std::uint64_t> wanted;
            std::vector<hsize_t> sizes;
            for (std::size_t d = 0; d < rank; ++d) {
                wanted.push_back(shape.most[d] == kUnlimited ? model.dims[d] + 9 : shape.most[d]);
                sizes.push_back(wanted.back());
            }
            ASSERT_GE(H5Dset_extent(set, sizes.data()), 0);
            larger.resize(wanted, fill);
            std::vector<std::int32_t> found(larger.values.size());
            ASSERT_GE(H5Dread(set, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, found.data()), 0);
            ASSERT_EQ(found, larger.values) << "libhdf5, round " << round << " seed " << seed;
        }
#endif
    }
    test.check();
}

TEST_F(Changes, ExtensibleArrayOfOneDimension) { resize_at_random(*this, {{5}, {kUnlimited}, {4}, false}, 1); }
TEST_F(Changes, FilteredExtensibleArray) { resize_at_random(*this, {{5}, {kUnlimited}, {4}, true}, 2); }
TEST_F(Changes, FixedArray) { resize_at_random(*this, {{5}, {30}, {4}, false}, 3); }
TEST_F(Changes, FilteredFixedArray) { resize_at_random(*this, {{5}, {30}, {4}, true}, 4); }
TEST_F(Changes, RowsOfASpectrogram) { resize_at_random(*this, {{0, 6}, {kUnlimited, 9}, {3, 4}, false}, 5); }
TEST_F(Changes, FilteredRows) { resize_at_random(*this, {{0, 6}, {kUnlimited, 9}, {3, 4}, true}, 6); }
TEST_F(Changes, ThirdDimensionUnlimited) {
    resize_at_random(*this, {{2, 3, 4}, {30, 5, kUnlimited}, {2, 2, 3}, true}, 7);
}
TEST_F(Changes, FixedArrayOfTwoDimensions) { resize_at_random(*this, {{7, 6}, {30, 9}, {3, 4}, false}, 8); }
// Chunks of more bytes than the chunk cache has.
TEST_F(Changes, LargeChunks) { resize_at_random(*this, {{7, 6}, {kUnlimited, 9}, {100, 9}, false}, 9); }
TEST_F(Changes, OneLargeChunk) { resize_at_random(*this, {{5}, {kUnlimited}, {700}, false}, 10); }

#ifdef H5MOTE_TEST_HDF5
// The indexes that h5mote makes none of: a single chunk, and all chunks allocated at once.
TEST_F(Changes, ChunksWithoutAnIndex) {
    for (const bool implicit : {false, true}) {
        constexpr const char* kName = "object_changes_host_test.h5";
        {
            const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
            H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
            const Hdf5Id made(H5Fcreate(kName, H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
            const hsize_t dims[2] = {8, 6};
            const hsize_t chunk[2] = {implicit ? 3U : 8U, implicit ? 4U : 6U};
            const Hdf5Id space(H5Screate_simple(2, dims, dims), H5Sclose);
            const Hdf5Id create(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
            const std::int32_t fill = -7;
            H5Pset_chunk(create, 2, chunk);
            H5Pset_fill_value(create, H5T_NATIVE_INT32, &fill);
            if (implicit) {
                H5Pset_alloc_time(create, H5D_ALLOC_TIME_EARLY);
            }
            const Hdf5Id set(H5Dcreate2(made, "data", H5T_NATIVE_INT32, space, H5P_DEFAULT, create, H5P_DEFAULT),
                             H5Dclose);
            const std::vector<std::int32_t> values(48, 5);
            ASSERT_GE(H5Dwrite(set, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
        }
        ASSERT_EQ(file.close(), Status::ok);
        const std::vector<std::byte> bytes = take_file(kName);
        ASSERT_EQ(storage.assign({bytes.data(), bytes.size()}), Status::ok);
        Model model{{8, 6}, std::vector<std::int32_t>(48, 5)};
        for (const std::vector<std::uint64_t>& wanted :
             {std::vector<std::uint64_t>{7, 3}, {8, 5}, {2, 2}, {0, 6}, {8, 6}}) {
            reopen();
            auto data = root.open_dataset("data");
            ASSERT_EQ(data.status(), Status::ok);
            DatasetInfo info;
            ASSERT_EQ(data->info(info), Status::ok);
            ASSERT_EQ(info.chunk_index, implicit ? ChunkIndex::implicit : ChunkIndex::single);
            ASSERT_EQ(data->set_extent({wanted.data(), 2}), Status::ok);
            model.resize(wanted, -7);
            std::vector<std::int32_t> read(model.values.size());
            ASSERT_EQ(data->read(Selection::all(), datatype_of<std::int32_t>(),
                                 {reinterpret_cast<std::byte*>(read.data()), read.size() * 4}),
                      Status::ok);
            EXPECT_EQ(read, model.values);
            const std::vector<std::byte> now = image();
            const Hdf5Id opened = open_image({now.data(), now.size()}, H5F_ACC_RDWR);
            const Hdf5Id set(H5Dopen2(opened, "data", H5P_DEFAULT), H5Dclose);
            const hsize_t whole[2] = {8, 6};
            ASSERT_GE(H5Dset_extent(set, whole), 0);
            Model larger = model;
            larger.resize({8, 6}, -7);
            std::vector<std::int32_t> found(48);
            ASSERT_GE(H5Dread(set, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, found.data()), 0);
            EXPECT_EQ(found, larger.values) << implicit << " " << wanted[0] << " " << wanted[1];
        }
    }
}
#endif

TEST_F(Changes, RefusedExtents) {
    DatasetCreate create;
    create.chunk = {4, 4};
    auto data =
        root.create_dataset("data", datatype_of<std::int32_t>(), Dataspace::simple({4, 4}, {kUnlimited, 8}), create);
    ASSERT_EQ(data.status(), Status::ok);
    EXPECT_EQ(data->set_extent({4, 9}), Status::invalid_argument);
    EXPECT_EQ(data->set_extent({4}), Status::invalid_argument);
    EXPECT_EQ(data->set_extent({kUnlimited, 4}), Status::invalid_argument);
    const std::int32_t values[5] = {};
    EXPECT_EQ(data->append_rows(datatype_of<std::int32_t>(), values, 5), Status::invalid_argument);
    EXPECT_EQ(data->append_rows(datatype_of<std::int32_t>(), values, 4), Status::ok);
    EXPECT_EQ(data->set_extent({4, 0}), Status::ok);
    EXPECT_EQ(data->append_rows(datatype_of<std::int32_t>(), values, 4), Status::invalid_argument);
    EXPECT_EQ(data->append_rows(datatype_of<std::int32_t>(), values, 0), Status::ok);
    auto fixed = root.create_dataset("fixed", datatype_of<std::int32_t>(), Dataspace::simple({4}), {});
    ASSERT_EQ(fixed.status(), Status::ok);
    EXPECT_EQ(fixed->set_extent({3}), Status::invalid_argument);
    EXPECT_EQ(fixed->append_rows(datatype_of<std::int32_t>(), values, 1), Status::invalid_argument);
}

// A log becomes shorter between two appends.
TEST_F(Changes, LogGoesOnAfterItBecameShorter) {
    DatasetCreate create;
    create.chunk = {4};
    create.reserve = 64;
    auto log = root.create_dataset<std::int32_t>("log", create);
    ASSERT_EQ(log.status(), Status::ok);
    std::vector<std::int32_t> model;
    for (int round = 0; round < 40; ++round) {
        for (int i = 0; i < 7; ++i) {
            model.push_back(100 * round + i);
            ASSERT_EQ(log->append(model.back()), Status::ok);
        }
        if (round % 3 == 0) {
            ASSERT_EQ(file.flush(), Status::ok);
        }
        if (round % 2 == 1) {
            model.resize(model.size() - static_cast<std::size_t>(1 + round % 11));
            ASSERT_EQ(log->set_extent({model.size()}), Status::ok);
        }
        std::vector<std::int32_t> read(model.size());
        ASSERT_EQ(log->read(Selection::all(), Span<std::int32_t>(read.data(), read.size())), Status::ok);
        ASSERT_EQ(read, model) << round;
    }
    check();
}

TEST_F(Changes, ChunksAsTheyAreStored) {
    for (const bool filtered : {false, true}) {
        DatasetCreate create;
        create.chunk = {3, 4};
        if (filtered) {
            create.filters = {filters::shuffle, filters::deflate};
        }
        const char* const name = filtered ? "filtered" : "plain";
        auto data =
            root.create_dataset(name, datatype_of<std::int32_t>(), Dataspace::simple({7, 9}, {kUnlimited, 9}), create);
        ASSERT_EQ(data.status(), Status::ok);
        std::vector<std::int32_t> values(63);
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = static_cast<std::int32_t>(i);
        }
        ChunkInfo info;
        std::byte stored[96];
        const std::uint64_t second[2] = {3, 4};
        EXPECT_EQ(data->read_chunk(second, stored, info), Status::not_found);
        ASSERT_EQ(data->write(Selection::all(), datatype_of<std::int32_t>(),
                              as_bytes(Span<const std::int32_t>(values.data(), values.size()))),
                  Status::ok);
        const std::uint64_t inside[2] = {4, 6};
        const std::uint64_t beyond[2] = {7, 0};
        ASSERT_EQ(data->chunk_info(inside, info), Status::ok);
        EXPECT_NE(info.address, kUndefinedAddress);
        EXPECT_EQ(data->chunk_info(beyond, info), Status::invalid_argument);
        EXPECT_EQ(data->read_chunk(inside, stored, info), Status::invalid_argument);
        ASSERT_EQ(data->read_chunk(second, stored, info), Status::ok);
        EXPECT_EQ(info.filter_mask, 0U);
        EXPECT_EQ(data->read_chunk(second, {stored, 1}, info), Status::invalid_argument);
        // The chunk goes to another place of the dataset as it is.
        const std::uint64_t target[2] = {0, 0};
        ASSERT_EQ(data->read_chunk(second, stored, info), Status::ok);
        ASSERT_EQ(data->write_chunk(target, {stored, static_cast<std::size_t>(info.size)}), Status::ok);
        // Another one is stored without filters.
        const std::int32_t plain[12] = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0, -1, -2};
        const std::uint64_t last[2] = {6, 8};
        ASSERT_EQ(data->write_chunk(last, as_bytes(Span(plain)), filtered ? 3 : 0), Status::ok);
        EXPECT_EQ(data->write_chunk(last, {stored, 0}), Status::invalid_argument);
        std::int32_t read[63] = {};
        ASSERT_EQ(data->read(Selection::all(), datatype_of<std::int32_t>(),
                             {reinterpret_cast<std::byte*>(read), sizeof read}),
                  Status::ok);
        EXPECT_EQ(read[0], 3 * 9 + 4);
        EXPECT_EQ(read[2 * 9 + 3], 5 * 9 + 7);
        EXPECT_EQ(read[62], 9);
        std::uint64_t offset[2];
        unsigned chunks = 0;
        while (data->chunk_info(chunks, offset, info) == Status::ok) {
            ChunkInfo same;
            ASSERT_EQ(data->chunk_info(offset, same), Status::ok);
            EXPECT_EQ(same.address, info.address);
            EXPECT_EQ(same.size, info.size);
            ++chunks;
        }
        EXPECT_EQ(chunks, 9U);
#ifdef H5MOTE_TEST_HDF5
        const std::vector<std::byte> bytes = image();
        const Hdf5Id opened = open_image({bytes.data(), bytes.size()});
        const Hdf5Id set(H5Dopen2(opened, name, H5P_DEFAULT), H5Dclose);
        std::int32_t found[63] = {};
        ASSERT_GE(H5Dread(set, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, found), 0);
        EXPECT_EQ(std::memcmp(found, read, sizeof read), 0);
        hsize_t size = 0;
        haddr_t address = 0;
        unsigned mask = 0;
        const hsize_t at[2] = {6, 8};
        ASSERT_GE(H5Dget_chunk_info_by_coord(set, at, &mask, &address, &size), 0);
        ASSERT_EQ(data->chunk_info(last, info), Status::ok);
        EXPECT_EQ(address, info.address);
        EXPECT_EQ(size, info.size);
        EXPECT_EQ(mask, info.filter_mask);
        EXPECT_EQ(mask, filtered ? 3U : 0U);
#endif
    }
    check();
}

}  // namespace
