// The last section of a page, of one byte: a file whose record is marked as not complete has none, because libhdf5
// takes the mark for the size of what it drops there, and would make the section before it longer by that byte.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE && defined(H5MOTE_TEST_HDF5)

#include "hdf5_image.hpp"
#include "sound.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr std::uint64_t kPage = 512;
constexpr auto kText = make_variable_string();

using Image = std::vector<std::byte>;

// Groups whose attributes end at a place that depends on `length`, and space that was given back: that of a group, and
// that of texts, of which what they have in the global heap is not in the record.
Image make_file(unsigned length) {
    MallocAllocator heap;
    NullPort port;
    Library library(heap, port, {}, formats::all);
    GrowingMemoryDriver storage(heap);
    FileCreate create;
    create.file_space = SpaceStrategy::pages;
    create.page_size = kPage;
    create.persist_free_space = true;
    auto file = File::create(library, storage, {}, create);
    EXPECT_EQ(file.status(), Status::ok);
    Group root = file->root();
    for (const char* const name : {"first", "second", "third"}) {
        auto group = root.create_group(name);
        EXPECT_EQ(group.status(), Status::ok);
        EXPECT_EQ(group->write_attribute("text", std::string(length, 't').c_str()), Status::ok);
    }
    EXPECT_EQ(root.unlink("second"), Status::ok);
    EXPECT_EQ(root.create_dataset("texts", kText, Dataspace::simple({10})).status(), Status::ok);
    EXPECT_EQ(root.unlink("texts"), Status::ok);
    EXPECT_EQ(file->close(), Status::ok);
    return image_of(storage);
}

class Ends final : public SectionVisitor {
public:
    Status section(Address address, std::uint64_t size) noexcept override {
        count += size == 1 && (address + size) % kPage == 0 ? 1 : 0;
        return Status::ok;
    }
    unsigned count = 0;
};

TEST(FreeSpacePageEnds, HaveNoSectionsOfOneByte) {
    for (unsigned length = 1; length < 500; ++length) {
        SCOPED_TRACE(length);
        const Image image = make_file(length);
        {
            const Hdf5Id theirs = open_image({image.data(), image.size()}, H5F_ACC_RDONLY, H5F_LIBVER_LATEST);
            ASSERT_GE(theirs, 0);
        }
        MallocAllocator heap;
        NullPort port;
        Library library(heap, port, {}, formats::all);
        MemoryDriver storage = MemoryDriver::reading({image.data(), image.size()});
        FileAccess access;
        access.read_only = true;
        auto file = File::open(library, storage, access);
        ASSERT_EQ(file.status(), Status::ok);
        EXPECT_TRUE(findings_in(*file).none());
        FreeSpaceInfo info;
        Ends ends;
        ASSERT_EQ(file->free_space(info, &ends), Status::ok);
        EXPECT_EQ(ends.count, 0U);
        EXPECT_EQ(file->close(), Status::ok);
    }
}

}  // namespace

#endif
