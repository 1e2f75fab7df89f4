// Links that get other names and places, attributes that get other names and types, comments, committed datatypes: what
// h5mote makes, libhdf5 reads.
#include "object_changes.hpp"

namespace {

using namespace h5mote_test;

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
    // A value that comes with a datatype of its own leaves the attribute what it is, and one user of the committed one.
    EXPECT_EQ(
        group.write_attribute("of this type", datatype_of<Point>(), Dataspace::simple({4}), as_bytes(Span(points))),
        Status::ok);
    EXPECT_EQ(count_of("point"), 3U);
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

}  // namespace
