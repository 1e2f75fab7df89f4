// Objects with values in the global heap are deleted and made anew, session after session. Deletion leaves such values
// where they are: the file says then that not all its free space is recorded, so that the next opening finds them.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include "promising_driver.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

const VariableString<> kText{"12:03:44 pump 3: pressure above limit, valve opened"};

Status make_lines(Group& root) {
    DatasetCreate create;
    create.chunk = {16};
    auto log = root.create_dataset<VariableString<>>("log", create);
    H5MOTE_TRY(log.status());
    for (int i = 0; i < 100; ++i) {
        H5MOTE_TRY(log->append(kText));
    }
    return log->close();
}

Status make_lines_of_committed_type(Group& root) {
    if (root.exists("type")) {
        H5MOTE_TRY(root.unlink("type"));
    }
    auto type = root.commit_datatype("type", datatype_of<VariableString<>>());
    H5MOTE_TRY(type.status());
    auto lines = root.create_dataset("log", *type, Dataspace::simple({100}));
    H5MOTE_TRY(lines.status());
    const std::vector<VariableString<>> text(100, kText);
    return lines->write(Selection::all(), datatype_of<VariableString<>>(),
                        {reinterpret_cast<const std::byte*>(text.data()), text.size() * sizeof(text[0])});
}

Status make_attribute(Group& root) {
    auto log = root.create_group("log");
    H5MOTE_TRY(log.status());
    const std::string text(3000, 'a');
    return log->write_attribute("note", VariableString<>{text.c_str()});
}

Status make_dense_attributes(Group& root) {
    auto log = root.create_group("log");
    H5MOTE_TRY(log.status());
    const std::string text(400, 'a');
    for (int i = 0; i < 12; ++i) {
        H5MOTE_TRY(log->write_attribute("note" + std::to_string(i), VariableString<>{text.c_str()}));
    }
    return Status::ok;
}

// Bytes of the file after so many sessions.
std::size_t size_after(unsigned sessions, Status (*make)(Group&)) {
    MallocAllocator allocator;
    GrowingMemoryDriver storage(allocator);
    for (unsigned i = 0; i < sessions; ++i) {
        NullPort port;
        Library library(allocator, port, {}, formats::all);
        FileAccess access;
        access.reclaim = true;
        FileCreate create;
        create.persist_free_space = true;
        auto file = File::open_or_create(library, storage, access, create);
        EXPECT_EQ(file.status(), Status::ok);
        Group root = file->root();
        if (i > 0) {
            EXPECT_EQ(root.unlink("log"), Status::ok);
            EXPECT_EQ(file->flush(), Status::ok);
        }
        EXPECT_EQ(make(root), Status::ok);
        EXPECT_EQ(file->close(), Status::ok);
    }
    return storage.contents().size();
}

TEST(UnlinkHeap, ElementsOfDatasetsAreFound) { EXPECT_LE(size_after(12, &make_lines), size_after(4, &make_lines)); }
TEST(UnlinkHeap, ElementsOfCommittedTypesAreFound) {
    EXPECT_LE(size_after(12, &make_lines_of_committed_type), size_after(4, &make_lines_of_committed_type));
}
TEST(UnlinkHeap, ValuesOfAttributesAreFound) {
    EXPECT_LE(size_after(12, &make_attribute), size_after(4, &make_attribute));
}
TEST(UnlinkHeap, ValuesOfDenseAttributesAreFound) {
    EXPECT_LE(size_after(12, &make_dense_attributes), size_after(4, &make_dense_attributes));
}

// Texts of all lengths, so that the headers of some cross the end of a sector. When each of them was removed, commit by
// commit, their collections are free, and nothing is left to be found.
TEST(UnlinkHeap, CollectionsWhoseObjectsWereRemovedOneByOneAreFree) {
    constexpr unsigned kAttributes = 60;
    for (const bool first_to_last : {false, true}) {
        for (std::size_t length = 1; length < 48; ++length) {
            MallocAllocator allocator;
            GrowingMemoryDriver storage(allocator);
            PromisingDriver driver(storage, with_unit(512));
            NullPort port;
            Library library(allocator, port, {}, formats::all);
            auto file = File::create(library, driver);
            ASSERT_EQ(file.status(), Status::ok);
            Group root = file->root();
            const std::string text(length, 't');
            for (unsigned i = 0; i < kAttributes; ++i) {
                ASSERT_EQ(root.write_attribute("note" + std::to_string(i), VariableString<>{text.c_str()}), Status::ok);
            }
            for (unsigned i = 0; i < kAttributes; ++i) {
                ASSERT_EQ(file->flush(), Status::ok);
                const unsigned which = first_to_last ? i : kAttributes - 1 - i;
                ASSERT_EQ(root.remove_attribute("note" + std::to_string(which)), Status::ok);
            }
            std::uint64_t lost = 0;
            ASSERT_EQ(file->flush(), Status::ok);
            ASSERT_EQ(file->reclaim(&lost), Status::ok);
            EXPECT_EQ(lost, 0U) << "texts of " << length << " bytes";
            EXPECT_EQ(file->close(), Status::ok);
        }
    }
}

// A committed datatype to which no link leads goes with its last dataset, whose own space is given back as well. Where
// sync() is a commit, the storage has nothing of the type that could still be read.
TEST(UnlinkTypes, GoWithTheirLastDataset) {
    MallocAllocator heap;
    NullPort port;
    Library library(heap, port, {}, formats::all);
    GrowingMemoryDriver storage(heap);
    Capabilities capabilities = storage.capabilities();
    capabilities.sync_is_commit = true;
    PromisingDriver commits(storage, capabilities);
    auto file = File::create(library, commits);
    ASSERT_EQ(file.status(), Status::ok);
    Group root = file->root();
    const auto used = [&] {
        FileInfo info;
        EXPECT_EQ(file->flush(), Status::ok);
        EXPECT_EQ(file->info(info), Status::ok);
        return info.end_of_address;
    };
    std::uint64_t before = 0;
    for (unsigned i = 0; i < 20; ++i) {
        {
            auto type = root.commit_datatype("type", datatype_of<double>());
            ASSERT_EQ(type.status(), Status::ok);
            DatasetCreate create;
            create.chunk = {100};
            auto data = root.create_dataset("data", *type, Dataspace::unlimited(1000), create);
            ASSERT_EQ(data.status(), Status::ok);
            const std::vector<double> values(1000, i);
            ASSERT_EQ(data->write(Selection::all(), datatype_of<double>(),
                                  as_bytes(Span<const double>(values.data(), values.size()))),
                      Status::ok);
        }
        ASSERT_EQ(root.unlink("type"), Status::ok);
        ASSERT_EQ(root.unlink("data"), Status::ok);
        std::uint64_t lost = 0;
        ASSERT_EQ(file->reclaim(&lost), Status::ok);
        EXPECT_EQ(lost, 0U) << i;
        before = i == 1 ? used() : before;
    }
    EXPECT_LE(used(), before);
}

}  // namespace

#endif
