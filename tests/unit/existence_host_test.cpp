// Whether there is an object or an attribute, and what is said when the storage does not answer.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include "failing_driver.hpp"

#include <gtest/gtest.h>

namespace {

using namespace h5mote;
using namespace h5mote_test;

class Existence : public testing::Test {
protected:
    void SetUp() override {
        auto created = File::create(library, driver);
        ASSERT_EQ(created.status(), Status::ok);
        Group root = created->root();
        ASSERT_EQ(root.write_attribute("number", std::int32_t{1}), Status::ok);
        ASSERT_EQ(root.create_group("one").status(), Status::ok);
        ASSERT_EQ(root.create_group("one/two").status(), Status::ok);
        ASSERT_EQ(root.create_soft_link("nowhere", "/three"), Status::ok);
        ASSERT_EQ(created->close(), Status::ok);
        auto opened = File::open(library, driver);
        ASSERT_EQ(opened.status(), Status::ok);
        file = static_cast<File&&>(*opened);
        root_ = file.root();
    }

    MallocAllocator allocator;
    NullPort port;
    GrowingMemoryDriver storage{allocator};
    FailingDriver driver{storage};
    Library library{allocator, port};
    File file;
    Group root_;
};

TEST_F(Existence, OfObjects) {
    bool found = false;
    EXPECT_EQ(root_.exists("one/two", found), Status::ok);
    EXPECT_TRUE(found);
    for (const char* path : {"three", "one/three", "nowhere", "three/four"}) {
        found = true;
        EXPECT_EQ(root_.exists(path, found), Status::ok);
        EXPECT_FALSE(found);
    }
    found = true;
    EXPECT_EQ(Group().exists("one", found), Status::invalid_handle);
    EXPECT_FALSE(found);
}

TEST_F(Existence, OfAttributes) {
    bool found = false;
    EXPECT_EQ(root_.has_attribute("number", found), Status::ok);
    EXPECT_TRUE(found);
    EXPECT_EQ(root_.has_attribute("other", found), Status::ok);
    EXPECT_FALSE(found);
    found = true;
    EXPECT_EQ(Group().has_attribute("number", found), Status::invalid_handle);
    EXPECT_FALSE(found);
}

// An object whose header cannot be read may be there, or not.
TEST_F(Existence, IsNotKnownWithoutTheStorage) {
    DriverFault fault;
    fault.at = 1;
    fault.persistent = true;
    fault.calls = kReadCall;
    driver.arm(fault);
    bool found = true;
    EXPECT_EQ(root_.exists("one/two", found), Status::io_error);
    EXPECT_FALSE(found);
    EXPECT_FALSE(root_.exists("one/two"));
    driver.disarm();
    EXPECT_EQ(root_.exists("one/two", found), Status::ok);
    EXPECT_TRUE(found);
}

TEST_F(Existence, LinksWithoutRoomForTheirText) {
    LinkInfo info;
    char name[10];
    char target[10];
    EXPECT_EQ(root_.link(1, info, name), Status::ok);
    EXPECT_EQ(std::string_view(name, info.name_length), "nowhere");
    EXPECT_EQ(root_.link(1, info, name, target), Status::ok);
    EXPECT_EQ(std::string_view(target, info.target_length), "/three");
    EXPECT_EQ(root_.link(1, info, name, Span<char>(target, 5)), Status::invalid_argument);
    EXPECT_EQ(info.target_length, 6U);
    EXPECT_EQ(root_.link(1, info, Span<char>(name, 3)), Status::invalid_argument);
    EXPECT_EQ(info.name_length, 7U);
}

// Rows of a dataset of C++ records may come in another datatype.
TEST_F(Existence, OfTheFunctionsForOtherDatatypes) {
    DatasetCreate create;
    create.chunk = {4};
    auto log = root_.create_dataset<std::int32_t>("log", create);
    ASSERT_EQ(log.status(), Status::ok);
    const std::int32_t rows[2] = {1, 2};
    EXPECT_EQ(log->append_rows(Span<const std::int32_t>(rows, 2)), Status::ok);
    EXPECT_EQ(log->append_rows(datatype_of<std::int32_t>(), rows, 2), Status::ok);
    EXPECT_EQ(log->size(), 4U);
}

}  // namespace

#endif
