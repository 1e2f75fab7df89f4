// Paths and links in files of libhdf5 that lead to nothing, are damaged, or belong to a group that cannot be changed.
#ifdef H5MOTE_TEST_HDF5

#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS

#include "counting_driver.hpp"
#include "hdf5_files.hpp"
#include "resealed.hpp"
#include "sound.hpp"

using namespace h5mote;
using namespace h5mote_test;

namespace {

using Image = std::vector<std::byte>;

// A copy of the file, opened, for comparing its bytes afterwards.
struct Opened {
    explicit Opened(const Image& image, LinkResolver* resolver = nullptr) {
        EXPECT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
        FileAccess access;
        access.link_resolver = resolver;
        auto opened = File::open(library, storage, access);
        EXPECT_EQ(opened.status(), Status::ok);
        file = static_cast<File&&>(*opened);
        root = file.root();
    }
    ~Opened() { EXPECT_TRUE(close()); }
    /// Whether all memory was given back.
    bool close() {
        root.close();
        const Status status = file.valid() ? file.close() : Status::ok;
        return status == Status::ok && memory.blocks() == 0;
    }
    bool holds(const Image& image) const {
        return storage.contents().size() == image.size() &&
               std::equal(image.begin(), image.end(), storage.contents().begin());
    }

    MallocAllocator memory;
    MallocAllocator bytes;
    NullPort port;
    Library library{memory, port};
    GrowingMemoryDriver storage{bytes};
    File file;
    Group root;
};

}  // namespace

// A group whose header is much longer than the metadata cache: a new link takes two walks through the header, one that
// searches for the name and one for room.
TEST(GroupLimits, ALinkTakesTwoWalksThroughALongHeader) {
    MallocAllocator memory;
    NullPort port;
    Library library{memory, port};
    GrowingMemoryDriver storage{memory};
    CountingDriver counted(storage);
    FileAccess access;
    access.metadata_cache = 2048;
    auto file = File::create(library, counted, access);
    ASSERT_EQ(file.status(), Status::ok);
    Group root = file->root();
    for (unsigned i = 0; i < 400; ++i) {
        ASSERT_EQ(root.create_group("group" + std::to_string(i)).status(), Status::ok);
    }
    counted.reset();
    EXPECT_FALSE(root.exists("last"));
    const std::uint64_t walk = counted.of(Usage::object_header).reads;
    EXPECT_GT(walk, 15U);
    counted.reset();
    ASSERT_EQ(root.create_group("last").status(), Status::ok);
    EXPECT_LE(counted.of(Usage::object_header).reads, 2 * walk + 4);
    root.close();
    EXPECT_EQ(file->close(), Status::ok);
}

// A path to a link must end with a name; "." and "/" name objects only.
TEST(GroupLimits, PathsWithoutALastPart) {
    Hdf5Maker maker(Hdf5Maker::Format::newest);
    make_group(maker.file(), "group", 2, 0);
    const Image image = maker.finish();
    Opened opened(image);
    for (const char* path : {"", "/", ".", "./", "//", "/.", "group/.", "/group/./", "group/././"}) {
        SCOPED_TRACE(path);
        Link link;
        EXPECT_EQ(opened.root.find_link(path, link), Status::invalid_argument);
        EXPECT_EQ(opened.root.unlink(path), Status::invalid_argument);
        EXPECT_EQ(opened.root.create_group(path).status(), Status::invalid_argument);
        EXPECT_EQ(opened.root.create_soft_link(path, "group"), Status::invalid_argument);
        EXPECT_EQ(opened.root.create_hard_link(path, opened.root), Status::invalid_argument);
        EXPECT_EQ(opened.root.open_group(path).status(), Status::ok);
    }
    {
        Link link;
        EXPECT_EQ(opened.root.find_link("/./group//link0/", link), Status::ok);
        EXPECT_EQ(link.name(), "link0");
        EXPECT_EQ(opened.root.find_link("group/link0/x", link), Status::not_found);
    }
    EXPECT_TRUE(opened.close());
    EXPECT_TRUE(opened.holds(image));
}

// The links of a group with an object header of version 1 are messages there if they have a creation order. They are
// changed as in a header of version 2.
TEST(GroupLimits, OrderedLinksBelowAnOldHeader) {
    Hdf5Maker maker(Hdf5Maker::Format::newest);
    EXPECT_GE(H5Fset_libver_bounds(maker.file(), H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST), 0);
    {
        const Hdf5Id list(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
        H5Pset_link_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
        const Hdf5Id group(H5Gcreate2(maker.file(), "ordered", H5P_DEFAULT, list, H5P_DEFAULT), H5Gclose);
        H5Lcreate_soft("/nowhere", group, "link", H5P_DEFAULT, H5P_DEFAULT);
    }
    const Image image = maker.finish();
    Opened opened(image);
    auto ordered = opened.root.open_group("ordered");
    ASSERT_EQ(ordered.status(), Status::ok);
    GroupInfo info;
    ASSERT_EQ(ordered->group_info(info), Status::ok);
    EXPECT_TRUE(info.tracks_order && info.storage == LinkStorage::compact);
    ObjectInfo object;
    ASSERT_EQ(ordered->info(object), Status::ok);
    EXPECT_EQ(ordered->create_soft_link("new", "link"), Status::ok);
    EXPECT_EQ(ordered->create_group("group").status(), Status::ok);
    EXPECT_EQ(ordered->create_hard_link("root", opened.root), Status::ok);
    EXPECT_EQ(ordered->unlink("link"), Status::ok);
    EXPECT_EQ(ordered->write_attribute("attribute", std::int32_t{1}), Status::ok);
    EXPECT_TRUE(findings_in(opened.file).none());
    ordered->close();
    EXPECT_TRUE(opened.close());
    const ConstBytes contents = opened.storage.contents();
    const Hdf5Id file = open_image(contents);
    for (const char* const name : {"new", "group", "root"}) {
        EXPECT_GT(H5Lexists(file, ("ordered/" + std::string(name)).c_str(), H5P_DEFAULT), 0) << name;
    }
    EXPECT_EQ(H5Lexists(file, "ordered/link", H5P_DEFAULT), 0);
    EXPECT_GT(H5Aexists_by_name(file, "ordered", "attribute", H5P_DEFAULT), 0);
    H5O_info_t root;
    EXPECT_GE(H5Oget_info2(file, &root, H5O_INFO_BASIC), 0);
    EXPECT_EQ(root.rc, 2U);
}

// The value of an external link: version and flags (0) | file | 0 | path | 0.
TEST(GroupLimits, DamagedExternalLinks) {
    Hdf5Maker maker(Hdf5Maker::Format::newest);
    H5Lcreate_external("other.h5", "path", maker.file(), "link", H5P_DEFAULT, H5P_DEFAULT);
    const Image sound = maker.finish();
    const std::size_t at = find_bytes(sound, std::string_view("\0other.h5\0path\0", 15));
    struct Change {
        std::size_t at;
        char to;
        Status opening;
        const char* file;
        const char* target;
    };
    const Change changes[] = {
        {0, '\0', Status::unsupported, "other.h5", "path"},   // no opener for other files is set
        {0, '\1', Status::corrupt_file, "other.h5", "path"},  // unknown version
        {9, 'x', Status::unsupported, "other.h5xpath", ""},   // one string where there should be two
        {14, 'x', Status::unsupported, "other.h5", "pathx"},  // no zero behind the path
    };
    for (const Change& change : changes) {
        Image image = sound;
        image[at + change.at] = static_cast<std::byte>(change.to);
        reseal(image);
        Opened opened(image);
        EXPECT_EQ(opened.root.open_object("link").status(), change.opening);
        EXPECT_FALSE(opened.root.exists("link"));
        Link link;
        ASSERT_EQ(opened.root.find_link("link", link), Status::ok);
        EXPECT_EQ(link.type(), LinkType::external);
        EXPECT_EQ(link.file_name(), change.file);
        EXPECT_EQ(link.target(), change.target);
        EXPECT_TRUE(opened.root.find_link("link", link) == Status::ok && findings_in(opened.file).status == Status::ok);
    }
    // No string is ended by a zero.
    Image image = sound;
    image[at + 9] = image[at + 14] = std::byte{'x'};
    reseal(image);
    Opened opened(image);
    EXPECT_EQ(opened.root.open_object("link").status(), Status::corrupt_file);
    Link link;
    ASSERT_EQ(opened.root.find_link("link", link), Status::ok);
    EXPECT_EQ(link.target(), "");
}

#endif
#endif
