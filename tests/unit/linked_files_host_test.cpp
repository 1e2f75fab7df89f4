// What is in the files that external links and mounts lead to is changed by paths from another file.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE && H5MOTE_OTHER_FILES

#include "drawer.hpp"
#include "sound.hpp"

#include <h5mote/copy.hpp>
#include <h5mote/named_datatype.hpp>

#include <string>
#include <vector>

#ifdef H5MOTE_TEST_HDF5
#include "hdf5_image.hpp"
#endif

namespace {

using namespace h5mote;
using namespace h5mote_test;

/// A file "main" with links to the files "other" and, from there, "third", all of them in one drawer.
struct Linked {
    Linked() {
        for (const char* name : {"main", "other", "third"}) {
            auto made = File::create(library, drawer.file(name).driver, FileAccess());
            EXPECT_EQ(made.status(), Status::ok);
            Group top = made->root();
            EXPECT_EQ(top.create_group("g").status(), Status::ok);
            EXPECT_EQ(top.create_dataset("d", kNumber.view(), Dataspace::simple({3})).status(), Status::ok);
            if (name != std::string("third")) {
                const char* const next = name == std::string("main") ? "other" : "third";
                EXPECT_EQ(top.create_external_link("out", next, "/"), Status::ok);
                EXPECT_EQ(top.create_external_link("back", "main", "/"), Status::ok);
            }
            EXPECT_EQ(made->close(), Status::ok);
        }
    }
    Status open(bool read_only = false) {
        FileAccess access;
        access.read_only = read_only;
        access.opener = &drawer;
        auto opened = File::open(library, drawer.file("main").driver, access);
        file = static_cast<File&&>(*opened);
        root = opened.status() == Status::ok ? file.root() : Group();
        return opened.status();
    }
    Status close() {
        root = Group();
        const Status status = file.close();
        file = File();
        EXPECT_EQ(drawer.open_files(), 0);
        return status;
    }
    /// Whether what the storage of a file has at this moment is a sound file in which the path leads to an object.
    bool has(const std::string& name, const char* path) {
        MallocAllocator memory;
        NullPort quiet;
        Library reading{memory, quiet, {}, formats::all};
        const Image image = drawer.image(name);
        MemoryDriver driver = MemoryDriver::reading({image.data(), image.size()});
        FileAccess access;
        access.read_only = true;
        auto opened = File::open(reading, driver, access);
        EXPECT_EQ(opened.status(), Status::ok);
        EXPECT_TRUE(findings_in(*opened).none()) << name;
        Link link;
        const Status found = opened->root().find_link(path, link);
        EXPECT_TRUE(found == Status::ok || found == Status::not_found);
#ifdef H5MOTE_TEST_HDF5
        const Hdf5Id theirs = open_image({image.data(), image.size()});
        EXPECT_EQ(H5Lexists(theirs, path, H5P_DEFAULT) > 0, found == Status::ok) << name << ' ' << path;
#endif
        return found == Status::ok;
    }

    MallocAllocator heap;
    NullPort port;
    Library library{heap, port, {}, formats::all};
    Drawer drawer;
    File file;
    Group root;
};

const std::vector<std::int32_t> kThree = {1, 2, 3};

ConstBytes bytes_of(const std::vector<std::int32_t>& values) {
    return {reinterpret_cast<const std::byte*>(values.data()), values.size() * sizeof values[0]};
}

}  // namespace

TEST(LinkedFiles, ObjectsThatLinksLeadToAreChanged) {
    Linked files;
    ASSERT_EQ(files.open(), Status::ok);
    {
        auto data = files.root.open_dataset("out/d");
        ASSERT_EQ(data.status(), Status::ok);
        ASSERT_EQ(data->write(Selection::all(), kNumber.view(), bytes_of(kThree)), Status::ok);
        ASSERT_EQ(data->write_attribute("a", 7), Status::ok);
        auto further = files.root.open_group("out/out/g");
        ASSERT_EQ(further.status(), Status::ok);
        ASSERT_EQ(further->create_group("below").status(), Status::ok);
        // What is in other files is durable with the flush of the file that leads there.
        EXPECT_FALSE(files.has("third", "g/below"));
        ASSERT_EQ(files.file.flush(), Status::ok);
        EXPECT_TRUE(files.has("third", "g/below"));
        ASSERT_EQ(further->create_group("more").status(), Status::ok);
        ASSERT_EQ(files.file.close(), Status::ok);
        EXPECT_TRUE(files.has("third", "g/more"));
        EXPECT_TRUE(data->valid());  // a handle in another file outlives the file that led there
    }
    ASSERT_EQ(files.close(), Status::invalid_handle);
    ASSERT_EQ(files.open(true), Status::ok);
    std::vector<std::int32_t> found(3);
    auto data = files.root.open_dataset("out/d");
    ASSERT_EQ(data->read(Selection::all(), kNumber.view(),
                         {reinterpret_cast<std::byte*>(found.data()), found.size() * sizeof found[0]}),
              Status::ok);
    EXPECT_EQ(found, kThree);
    int seven = 0;
    EXPECT_EQ(data->read_attribute("a", seven), Status::ok);
    EXPECT_EQ(seven, 7);
    EXPECT_EQ(data->write_attribute("a", 8), Status::read_only);
    EXPECT_EQ(files.root.create_group("out/new").status(), Status::read_only);
}

TEST(LinkedFiles, PathsThroughLinksAreMade) {
    Linked files;
    ASSERT_EQ(files.open(), Status::ok);
    ASSERT_EQ(files.root.create_group("out/group").status(), Status::ok);
    ASSERT_EQ(files.root.create_group("out/out/group/").status(), Status::ok);
    ASSERT_EQ(files.root.create_group("out/back/out/group/again").status(), Status::ok);
    auto made = files.root.create_dataset("out/data", kNumber.view(), Dataspace::simple({3}));
    ASSERT_EQ(made.status(), Status::ok);
    ASSERT_EQ(made->write(Selection::all(), kNumber.view(), bytes_of(kThree)), Status::ok);
    ASSERT_EQ(files.root.open_or_create_dataset("out/group/data", kNumber.view(), Dataspace::simple({3})).status(),
              Status::ok);
    auto type = files.root.commit_datatype("out/type", kNumber.view());
    ASSERT_EQ(type.status(), Status::ok);
    ASSERT_EQ(files.root.create_dataset("out/typed", *type, Dataspace::simple({3})).status(), Status::ok);
    EXPECT_EQ(files.root.create_dataset("typed", *type, Dataspace::simple({3})).status(), Status::invalid_argument);
    ASSERT_EQ(files.root.create_hard_link("out/second", *made), Status::ok);
    EXPECT_EQ(files.root.create_hard_link("second", *made), Status::invalid_argument);
    EXPECT_EQ(files.root.create_hard_link("out/out/second", *made), Status::invalid_argument);
    ASSERT_EQ(files.root.create_soft_link("out/soft", "data"), Status::ok);
    ASSERT_EQ(files.root.create_external_link("out/external", "third", "/d"), Status::ok);
    ASSERT_EQ(files.root.create_user_link("out/user", static_cast<LinkType>(70), {}), Status::ok);
    ASSERT_EQ(copy_object(files.root, "out/data", files.root, "out/group/copy"), Status::ok);
    ASSERT_EQ(copy_object(files.root, "d", files.root, "out/out/copy"), Status::ok);
    EXPECT_EQ(files.root.create_group("out/group").status(), Status::already_exists);
    EXPECT_EQ(files.root.create_group("out/none/group").status(), Status::not_found);
    EXPECT_EQ(files.root.create_group("out/d/group").status(), Status::not_found);
    EXPECT_EQ(files.root.create_soft_link("out/.", "data"), Status::invalid_argument);
    made = Dataset();
    type = NamedDatatype();
    ASSERT_EQ(files.close(), Status::ok);
    for (const char* path :
         {"group/again", "data", "group/data", "type", "typed", "second", "soft", "external", "user", "group/copy"}) {
        EXPECT_TRUE(files.has("other", path)) << path;
        EXPECT_FALSE(files.has("main", path)) << path;
    }
    EXPECT_TRUE(files.has("third", "group"));
    EXPECT_TRUE(files.has("third", "copy"));
}

TEST(LinkedFiles, LinksBehindLinksAreMovedAndRemoved) {
    Linked files;
    ASSERT_EQ(files.open(), Status::ok);
    ASSERT_EQ(files.root.rename("out/d", "out/g/moved"), Status::ok);
    EXPECT_TRUE(files.has("other", "g/moved"));  // the file is closed again, and so the change is durable
    EXPECT_FALSE(files.has("other", "d"));
    ASSERT_EQ(files.root.copy_link("out/g/moved", files.root, "out/d"), Status::ok);
    EXPECT_TRUE(files.has("other", "d"));
    {
        auto group = files.root.open_group("out/g");
        ASSERT_EQ(group.status(), Status::ok);
        ASSERT_EQ(files.root.move_link("out/d", *group, "d"), Status::ok);
        ASSERT_EQ(group->move_link("d", files.root, "out/d"), Status::ok);
        EXPECT_EQ(files.root.move_link("d", *group, "d"), Status::invalid_argument);
        EXPECT_EQ(group->move_link("moved", files.root, "new"), Status::invalid_argument);
        EXPECT_EQ(group->move_link("moved", files.root, "out/out/moved"), Status::invalid_argument);
    }
    EXPECT_EQ(files.root.rename("d", "out/new"), Status::invalid_argument);
    EXPECT_EQ(files.root.rename("out/d", "d2"), Status::invalid_argument);
    EXPECT_EQ(files.root.rename("out/d", "out/g/moved"), Status::already_exists);
    EXPECT_EQ(files.root.rename("out/none", "out/new"), Status::not_found);
    EXPECT_EQ(files.root.rename("out/none/d", "out/new"), Status::not_found);
    ASSERT_EQ(files.root.unlink("out/d"), Status::ok);
    EXPECT_FALSE(files.has("other", "d"));
    EXPECT_EQ(files.root.unlink("out/d"), Status::not_found);
    EXPECT_EQ(files.root.unlink("out/g"), Status::busy);
    ASSERT_EQ(files.root.unlink_tree("out/g"), Status::ok);
    EXPECT_FALSE(files.has("other", "g"));
    EXPECT_TRUE(files.has("main", "g"));
    ASSERT_EQ(files.root.unlink("out/out/d"), Status::ok);
    EXPECT_FALSE(files.has("third", "d"));
    ASSERT_EQ(files.root.unlink("out/out"), Status::ok);
    EXPECT_TRUE(files.has("third", "g"));
    ASSERT_EQ(files.root.unlink("out"), Status::ok);
    ASSERT_EQ(files.close(), Status::ok);
    EXPECT_FALSE(files.has("main", "out"));
    EXPECT_TRUE(files.has("main", "d"));
}

// Without permission what links lead to is read, as before.
TEST(LinkedFiles, WithoutPermissionTheyAreRead) {
    Linked files;
    files.drawer.writable = false;
    ASSERT_EQ(files.open(), Status::ok);
    const Image before = files.drawer.image("other");
    auto data = files.root.open_dataset("out/d");
    ASSERT_EQ(data.status(), Status::ok);
    EXPECT_EQ(files.library.trail().size(), 0U);
    EXPECT_EQ(data->write_attribute("a", 7), Status::read_only);
    EXPECT_EQ(files.root.create_group("out/new").status(), Status::read_only);
    EXPECT_EQ(files.root.unlink("out/d"), Status::read_only);
    EXPECT_EQ(files.root.unlink_tree("out/g"), Status::read_only);
    EXPECT_EQ(files.root.rename("out/d", "out/e"), Status::read_only);
    *data = Dataset();
    // The same goes for a file that somebody else is reading.
    files.drawer.writable = true;
    {
        Library others{files.heap, files.port, {}, formats::all};
        FileAccess access;
        access.read_only = true;
        auto reader = File::open(others, files.drawer.file("other").driver, access);
        ASSERT_EQ(reader.status(), Status::ok);
        data = files.root.open_dataset("out/d");
        ASSERT_EQ(data.status(), Status::ok);
        EXPECT_EQ(data->write_attribute("a", 7), Status::read_only);
        *data = Dataset();
        EXPECT_EQ(files.root.unlink("out/d"), Status::read_only);
    }
    ASSERT_EQ(files.close(), Status::ok);
    EXPECT_EQ(files.drawer.image("other"), before);
}

// A path that goes on in a mounted file changes that file; everything below a mount point is left alone.
TEST(LinkedFiles, PathsThroughMountsAreMadeAndRemoved) {
    Linked files;
    ASSERT_EQ(files.open(), Status::ok);
    auto other = File::open(files.library, files.drawer.file("other").driver, FileAccess());
    ASSERT_EQ(other.status(), Status::ok);
    ASSERT_EQ(files.root.create_group("g/d").status(), Status::ok);
    ASSERT_EQ(files.root.mount("g", *other), Status::ok);
    ASSERT_EQ(files.root.create_group("g/new").status(), Status::ok);
    ASSERT_EQ(files.root.rename("g/new", "g/newer"), Status::ok);
    EXPECT_EQ(files.root.rename("g/newer", "newest"), Status::invalid_argument);
    EXPECT_EQ(files.root.unlink_tree("g"), Status::busy);
    ASSERT_EQ(files.root.unlink("g/out"), Status::ok);
    ASSERT_EQ(files.root.unmount("g"), Status::ok);
    EXPECT_TRUE(files.root.exists("g/d"));
    ASSERT_EQ(other->close(), Status::ok);
    ASSERT_EQ(files.close(), Status::ok);
    EXPECT_TRUE(files.has("other", "newer"));
    EXPECT_TRUE(files.has("other", "d"));
    EXPECT_FALSE(files.has("other", "out"));
    EXPECT_TRUE(files.has("main", "g/d"));
}

// What another file's storage refuses is told by the call that changes it, or by the flush that is to make it durable.
TEST(LinkedFiles, EveryCallOfTheOtherStorageMayFail) {
    unsigned points = 0;
    bool failed = true;
    for (std::uint64_t k = 1; failed; ++k) {
        SCOPED_TRACE(k);
        Linked files;
        ASSERT_EQ(files.open(), Status::ok);
        FailingDriver& driver = files.drawer.file("other").driver;
        driver.arm({k, true, Status::io_error, kAllCalls & ~unsigned{kReadCall}, 0});
        Status status = files.root.create_soft_link("out/new", "d");
        status = status == Status::ok ? files.root.rename("out/g", "out/h") : status;
        status = status == Status::ok ? files.root.unlink("out/d") : status;
        Group group;  // closing it after the flush tells no error
        if (status == Status::ok) {
            auto made = files.root.create_group("out/h/i");
            status = made.status();
            group = static_cast<Group&&>(*made);
        }
        status = status == Status::ok ? files.file.flush() : status;
        failed = driver.failures() != 0;
        driver.disarm();
        group = Group();
        EXPECT_EQ(failed, status != Status::ok);
        (void)files.close();
        (void)files.has("other", "g");
        points += failed ? 1 : 0;
        if (status == Status::ok) {
            EXPECT_TRUE(files.has("other", "new"));
            EXPECT_TRUE(files.has("other", "h/i"));
            EXPECT_FALSE(files.has("other", "d"));
        }
    }
    EXPECT_GT(points, 20U);
}

#endif
