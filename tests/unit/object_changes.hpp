// A file in memory whose objects tests change, and which libhdf5 then reads.
#pragma once

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

namespace h5mote_test {

using namespace h5mote;  // this header belongs to two tests

inline constexpr const Filter* kChangesFilters[] = {&shuffle_filter, &deflate_filter};

// A file in memory, which every test finds sound when it ends.
struct Changes : public ::testing::Test {
    Changes() : library(memory, port, kChangesFilters), storage(memory) {
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

}  // namespace h5mote_test
