// What libhdf5 leaves in a way of its own, and others have to go on with: object headers that are just large enough,
// and an index of creation orders without the attributes that were renamed.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE && defined(H5MOTE_TEST_HDF5)

#include "hdf5_image.hpp"
#include "sound.hpp"

#include <h5mote/copy.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/named_datatype.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

const char* const kName = "packed_headers.h5";

// A file that libhdf5 makes, opened by h5mote.
class PackedHeaders : public ::testing::Test {
protected:
    static Hdf5Id access(H5F_libver_t low) {
        Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        EXPECT_GE(H5Pset_libver_bounds(access, low, H5F_LIBVER_LATEST), 0);
        return Hdf5Id(H5Pcopy(access), H5Pclose);
    }
    void make(H5F_libver_t low, const std::function<void(hid_t)>& fill) {
        {
            const Hdf5Id file(H5Fcreate(kName, H5F_ACC_TRUNC, H5P_DEFAULT, access(low)), H5Fclose);
            ASSERT_GE(file, 0);
            fill(file);
        }
        const std::vector<std::byte> image = take_file(kName);
        ASSERT_EQ(storage_.assign({image.data(), image.size()}), Status::ok);
        access_.metadata_cache = 8192;
        auto file = File::open(library_, storage_, access_);
        ASSERT_EQ(file.status(), Status::ok);
        file_ = static_cast<File&&>(*file);
    }
    void close() {
        const Findings findings = findings_in(file_, 1 << 20);
        EXPECT_TRUE(findings.none()) << to_string(findings.status) << " " << findings.last_kind << " at "
                                     << findings.last_address;
        ASSERT_EQ(file_.close(), Status::ok);
    }

    MallocAllocator heap_;
    NullPort port_;
    Library library_{heap_, port_, {}, formats::all};
    GrowingMemoryDriver storage_{heap_};
    FileAccess access_;
    File file_;
};

// The header of a committed datatype is just large enough, wherever it lies, for what an attribute needs: of each that
// lies across a sector, all messages move.
TEST_F(PackedHeaders, CommittedDatatypes) {
    constexpr unsigned kTypes = 800;
    for (const H5F_libver_t low : {H5F_LIBVER_V18, H5F_LIBVER_LATEST}) {
        make(low, [](hid_t file) {
            for (unsigned i = 0; i < kTypes; ++i) {
                const Hdf5Id type(H5Tcopy(H5T_STD_I64LE), H5Tclose);
                ASSERT_GE(H5Tcommit2(file, std::to_string(i).c_str(), type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), 0);
                const Hdf5Id text(H5Tcopy(H5T_C_S1), H5Tclose);
                const std::string name = "t" + std::to_string(i);
                ASSERT_GE(H5Tcommit2(file, name.c_str(), text, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), 0);
            }
        });
        unsigned made = 0;
        for (unsigned i = 0; i < kTypes; ++i) {
            auto type = file_.root().open_object(std::to_string(i));
            ASSERT_EQ(type.status(), Status::ok);
            const Status status = type->write_attribute("a", std::int32_t{7});
            ASSERT_TRUE(status == Status::ok || status == Status::unsupported) << to_string(status);
            made += status == Status::ok ? 1 : 0;
        }
        EXPECT_GT(made, kTypes / 2);
        close();
        const Hdf5Id file = open_image(storage_.contents());
        for (unsigned i = 0; i < kTypes; ++i) {
            const Hdf5Id type(H5Topen2(file, std::to_string(i).c_str(), H5P_DEFAULT), H5Tclose);
            ASSERT_GE(type, 0) << i;
            made -= H5Aexists(type, "a") > 0 ? 1 : 0;
        }
        EXPECT_EQ(made, 0U);
    }
}

// libhdf5 leaves an attribute out of the index of creation orders after it has renamed it.
TEST_F(PackedHeaders, RenamedAttributes) {
    constexpr int kAttributes = 40;
    make(H5F_LIBVER_LATEST, [](hid_t file) {
        const Hdf5Id create(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
        ASSERT_GE(H5Pset_attr_creation_order(create, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED), 0);
        const Hdf5Id group(H5Gcreate2(file, "g", H5P_DEFAULT, create, H5P_DEFAULT), H5Gclose);
        const Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose);
        for (int i = 0; i < kAttributes; ++i) {
            const std::string name = "a" + std::to_string(i);
            const Hdf5Id made(H5Acreate2(group, name.c_str(), H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT),
                              H5Aclose);
            ASSERT_GE(H5Awrite(made, H5T_NATIVE_INT, &i), 0);
        }
        for (int i = 0; i < kAttributes; i += 2) {
            ASSERT_GE(H5Arename(group, ("a" + std::to_string(i)).c_str(), ("b" + std::to_string(i)).c_str()), 0);
        }
    });
    Group root = file_.root();
    Group group = static_cast<Group&&>(*root.open_group("g"));
    const auto expect_all = [&](Group& in, int from) {
        for (const Direction direction : {Direction::increasing, Direction::decreasing}) {
            AttributeIterator attributes(in, IndexOrder::creation, direction);
            Attribute attribute;
            Status status = Status::ok;
            int count = 0;
            while ((status = attributes.next(attribute)) == Status::ok) {
                std::int32_t value = -1;
                ASSERT_EQ(attribute.read(datatype_of<std::int32_t>(), {reinterpret_cast<std::byte*>(&value), 4}),
                          Status::ok);
                EXPECT_EQ(value, direction == Direction::increasing ? from + count : kAttributes - 1 - count);
                ++count;
            }
            EXPECT_EQ(status, Status::not_found);
            EXPECT_EQ(count, kAttributes - from);
        }
    };
    expect_all(group, 0);
    ASSERT_EQ(copy_object(root, "g", root, "copy", {}), Status::ok);
    Group copy = static_cast<Group&&>(*root.open_group("copy"));
    expect_all(copy, 0);
    // They can be changed and deleted like others, and are found in their order again.
    ASSERT_EQ(group.remove_attribute("b0"), Status::ok);
    ASSERT_EQ(group.remove_attribute("a1"), Status::ok);
    ASSERT_EQ(group.rename_attribute("b2", "c2"), Status::ok);
    for (int i = 4; i < kAttributes; i += 2) {
        ASSERT_EQ(group.replace_attribute("b" + std::to_string(i), std::int32_t{i}), Status::ok);
    }
    expect_all(group, 2);
    close();
}

}  // namespace

#endif
