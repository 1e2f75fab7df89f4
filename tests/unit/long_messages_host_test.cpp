// Messages become as long as a header can state, and longer: names, values and comments of nearly 64 KiB take the place
// of short ones. What does not fit is refused, and everything is as it was; libhdf5 opens the group in any case.
#include <h5mote/config.hpp>

#if defined(H5MOTE_TEST_HDF5) && H5MOTE_WRITE && H5MOTE_ALL_FORMATS && H5MOTE_OTHER_FILES

#include "hdf5_image.hpp"
#include "sound.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

using namespace h5mote;
using namespace h5mote_test;

namespace {

using Image = std::vector<std::byte>;

constexpr std::size_t kMost = 0x10000;

// The group "g" with a link, an attribute and a comment.
Image made_group(bool old) {
    const std::string name = ::testing::TempDir() + "long_messages.h5";
    {
        const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        EXPECT_GE(old ? 0 : H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST), 0);
        // With creation order, headers of both versions have their links in messages.
        const Hdf5Id create(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
        EXPECT_GE(H5Pset_link_creation_order(create, H5P_CRT_ORDER_TRACKED), 0);
        const Hdf5Id file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
        const Hdf5Id group(H5Gcreate2(file, "g", H5P_DEFAULT, create, H5P_DEFAULT), H5Gclose);
        EXPECT_GE(H5Lcreate_soft("t", group, "link", H5P_DEFAULT, H5P_DEFAULT), 0);
        EXPECT_GE(H5Oset_comment(group, "short"), 0);
        const Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose);
        const Hdf5Id attribute(H5Acreate2(group, "attribute", H5T_STD_I8LE, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
        EXPECT_GE(attribute, 0);
    }
    return take_file(name);
}

std::string text(std::size_t length) { return std::string(length, 'x'); }

struct Case {
    const char* name;
    std::size_t from;  // lengths of `change`, in steps of one up to kMost
    std::function<Status(Group&, std::size_t)> change;
    // Whether libhdf5 finds what `change` has made, or what was there before.
    std::function<bool(hid_t, std::size_t, bool changed)> found;
};

bool has_comment(hid_t group, std::size_t length, bool changed) {
    return H5Oget_comment(group, nullptr, 0) == static_cast<ssize_t>(changed ? length : 5);
}

bool has_link(hid_t group, std::size_t length, bool changed) {
    return H5Lexists(group, changed ? text(length).c_str() : "link", H5P_DEFAULT) > 0;
}

bool has_attribute(hid_t group, const char* name, std::size_t size) {
    const Hdf5Id attribute(H5Aopen(group, name, H5P_DEFAULT), H5Aclose);
    const Hdf5Id type(attribute < 0 ? -1 : H5Aget_type(attribute), H5Tclose);
    return type >= 0 && H5Tget_size(type) == size;
}

const Case kCases[] = {
    {"comment", kMost - 24, [](Group& group, std::size_t length) { return group.set_comment(text(length)); },
     has_comment},
    {"link", kMost - 40, [](Group& group, std::size_t length) { return group.rename("link", text(length)); }, has_link},
    {"value of an attribute", kMost - 72,
     [](Group& group, std::size_t length) {
         const Status status = group.remove_attribute("attribute");
         const Status first = status == Status::ok ? group.write_attribute("attribute", std::string_view("q")) : status;
         return first == Status::ok ? group.write_attribute("attribute", std::string_view(text(length))) : first;
     },
     [](hid_t group, std::size_t length, bool changed) {
         return has_attribute(group, "attribute", changed ? length : 1);
     }},
    {"another type of an attribute", kMost - 72,
     [](Group& group, std::size_t length) {
         const std::string value = text(length);
         const auto type = make_string(length);
         return group.replace_attribute("attribute", type, Dataspace::scalar(),
                                        {reinterpret_cast<const std::byte*>(value.data()), length});
     },
     [](hid_t group, std::size_t length, bool changed) {
         return has_attribute(group, "attribute", changed ? length : 1);
     }},
    {"name of an attribute", kMost - 72,
     [](Group& group, std::size_t length) { return group.rename_attribute("attribute", text(length)); },
     [](hid_t group, std::size_t length, bool changed) {
         return has_attribute(group, changed ? text(length).c_str() : "attribute", 1);
     }},
};

}  // namespace

TEST(LongMessages, TakeThePlaceOfShortOnes) {
    unsigned refused = 0;
    unsigned changed = 0;
    for (const bool old : {true, false}) {
        const Image made = made_group(old);
        for (const Case& each : kCases) {
            for (std::size_t length = each.from; length <= kMost; ++length) {
                SCOPED_TRACE(std::string(each.name) + (old ? " in an old header, " : ", ") + std::to_string(length));
                MallocAllocator heap;
                GrowingMemoryDriver storage(heap);
                ASSERT_EQ(storage.write(Usage::raw_data, 0, {made.data(), made.size()}), Status::ok);
                NullPort port;
                Library library(heap, port, {}, formats::all);
                FileAccess access;
                access.metadata_cache = std::size_t{1} << 20;
                Status status = Status::ok;
                {
                    Result<File> file = File::open(library, storage, access);
                    ASSERT_EQ(file.status(), Status::ok);
                    Result<Group> group = file->root().open_group("g");
                    ASSERT_EQ(group.status(), Status::ok);
                    status = each.change(*group, length);
                    ASSERT_TRUE(status == Status::ok || status == Status::over_budget ||
                                status == Status::invalid_argument)
                        << to_string(status);
                    const Findings findings = findings_in(*file);
                    ASSERT_TRUE(findings.none()) << findings.last_kind;
                    group = Status::not_found;
                    ASSERT_EQ(file->close(), Status::ok);
                }
                (status == Status::ok ? changed : refused) += 1;
                const Image after = image_of(storage);
                const Hdf5Id file = open_image({after.data(), after.size()}, H5F_ACC_RDWR);
                const Hdf5Id group(file < 0 ? -1 : H5Gopen2(file, "g", H5P_DEFAULT), H5Gclose);
                ASSERT_GE(group, 0);
                ASSERT_TRUE(each.found(group, length, status == Status::ok));
            }
        }
    }
    EXPECT_GT(refused, 20U);
    EXPECT_GT(changed, 100U);
}

#endif
