// Iterators over links and attributes of every storage outlive their file: they hold nothing of its cache between two
// calls, and return invalid_handle.
#ifdef H5MOTE_TEST_HDF5

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include "test.hpp"

#include "hdf5_image.hpp"

#include <string>
#include <vector>

#if H5MOTE_ALL_FORMATS

using namespace h5mote;
using namespace h5mote_test;

namespace {

// Returns a file whose root group has `count` groups and as many attributes. The file is closed first, because an open
// file of the newest format is marked as open.
std::vector<std::byte> image_of(bool newest, unsigned count) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (newest) {
        H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    }
    constexpr const char* kName = "iterator_lifetime_test.h5";
    const hid_t file = H5Fcreate(kName, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const hid_t space = H5Screate(H5S_SCALAR);
    for (unsigned i = 0; i < count; ++i) {
        const std::string name = "name" + std::to_string(i);
        H5Gclose(H5Gcreate2(file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        H5Aclose(H5Acreate2(file, name.c_str(), H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT));
    }
    H5Sclose(space);
    H5Fclose(file);
    H5Pclose(access);
    return take_file(kName);
}

// Calls look(file) for files of both formats with few and with many names, and checks that no memory is left in use.
template <typename Look>
void for_each_storage(const Look& look) {
    for (const bool newest : {false, true}) {
        for (const unsigned count : {5U, 30U}) {
            SCOPED_TRACE(std::to_string(count) + (newest ? " names, newest" : " names"));
            const std::vector<std::byte> image = image_of(newest, count);
            MallocAllocator memory;
            NullPort port;
            Library library(memory, port);
            MemoryDriver driver = MemoryDriver::reading({image.data(), image.size()});
            FileAccess access;
            access.read_only = true;
            access.metadata_cache = 32768;
            auto file = File::open(library, driver, access);
            ASSERT_EQ(file.status(), Status::ok);
            look(*file);
            EXPECT_EQ(memory.blocks(), 0U);
        }
    }
}

}  // namespace

TEST(IteratorLifetime, OutliveTheFile) {
    for (const IndexOrder order : {IndexOrder::native, IndexOrder::name}) {
        for_each_storage([order](File& file) {
            LinkIterator links(file.root(), order);
            AttributeIterator attributes(file.root(), order);
            Link link;
            Attribute attribute;
            ASSERT_EQ(links.next(link), Status::ok);
            ASSERT_EQ(attributes.next(attribute), Status::ok);
            attribute.close();
            link = Link();
            EXPECT_EQ(file.close(), Status::ok);
            EXPECT_EQ(links.next(link), Status::invalid_handle);
            EXPECT_EQ(attributes.next(attribute), Status::invalid_handle);
        });
    }
}

// A Link keeps its name after the file is closed; an Attribute reports that it can no longer be read.
TEST(IteratorLifetime, WhatWasFoundOutlivesTheFile) {
    for_each_storage([](File& file) {
        auto attribute = file.root().open_attribute("name3");
        ASSERT_EQ(attribute.status(), Status::ok);
        Link link;
        ASSERT_EQ(file.root().find_link("name3", link), Status::ok);
        EXPECT_EQ(file.close(), Status::ok);
        EXPECT_TRUE(link.name() == "name3");
        std::int32_t value = 0;
        EXPECT_EQ(attribute->read(datatype_of<std::int32_t>(), {reinterpret_cast<std::byte*>(&value), 4}),
                  Status::invalid_handle);
    });
}

#endif
#endif
