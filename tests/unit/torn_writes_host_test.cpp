// A write of metadata that fails has stored a part of its bytes, as a storage may do that was disturbed. The call
// returns the error, the session goes on, and the next flush() writes again whatever is torn, even where the change
// that the write was made for is no longer there.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS

#include "failing_driver.hpp"
#include "sound.hpp"
#if H5MOTE_OTHER_FILES
#include "memory_parts.hpp"
#endif

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace h5mote;
using namespace h5mote_test;

/// A call that fails, and what the program does instead.
struct Change {
    Status (*make)(File& file);
    Status (*give_up)(File& file);
};

Status make_dataset(File& file) {
    DatasetCreate create;
    create.chunk = {4};
    return file.root().create_dataset("log", datatype_of<int>(), Dataspace::simple({4}, {kUnlimited}), create).status();
}
Status make_group(File& file) {
    const Status status = file.root().create_group("group").status();
    return status == Status::ok ? file.flush() : status;
}
Status remove_group(File& file) { return file.root().exists("group") ? file.root().unlink("group") : Status::ok; }
// The header of the root group has no room for the last of them in one sector.
Status make_attributes(File& file) {
    Group root = file.root();
    H5MOTE_TRY(root.write_attribute("first", 1));
    H5MOTE_TRY(file.flush());
    H5MOTE_TRY(root.create_group(std::string(180, 'n')).status());
    return root.write_attribute("second", 2);
}
Status do_nothing(File& /*file*/) { return Status::ok; }

constexpr Change kChanges[] = {{make_dataset, do_nothing}, {make_group, remove_group}, {make_attributes, do_nothing}};

// Returns whether a write was torn.
bool tear(Driver& storage, const FileCreate& create, const Change& change, unsigned at) {
    MallocAllocator heap;
    NullPort port;
    Library library(heap, port, {}, formats::all);
    EXPECT_EQ(File::create(library, storage, {}, create)->close(), Status::ok);
    FailingDriver driver(storage);
    FileAccess access;
    access.torn_headers = true;
    auto file = File::open(library, driver, access);
    EXPECT_EQ(file.status(), Status::ok);
    DriverFault fault;
    fault.at = at;
    fault.persistent = true;
    fault.calls = kWriteCall;
    fault.torn_bytes = 36;  // of the 48 of a superblock
    driver.arm(fault);
    const Status status = change.make(*file);
    driver.disarm();
    const bool torn = driver.failures() != 0;
    EXPECT_EQ(status, torn ? Status::io_error : Status::ok) << at;
    EXPECT_EQ(change.give_up(*file), Status::ok) << at;
    EXPECT_EQ(file->flush(), Status::ok) << at;
    EXPECT_EQ(file->close(), Status::ok) << at;
    return torn;
}

void expect_sound(Driver& storage, unsigned at) {
    MallocAllocator heap;
    NullPort port;
    Library library(heap, port, {}, formats::all);
    FileAccess access;
    access.read_only = true;
    auto file = File::open(library, storage, access);
    EXPECT_EQ(file.status(), Status::ok) << at;
    EXPECT_TRUE(file && findings_in(*file).none()) << at;
}

TEST(TornWrites, AreMadeAgainWithTheNextFlush) {
    unsigned writes = 0;
    for (const Change& change : kChanges) {
        for (const bool records_space : {false, true}) {
            FileCreate create;
            create.persist_free_space = records_space;
            create.user_block = 512;
            create.track_link_order = true;
            create.attributes.track_order = true;
            unsigned at = 0;
            bool torn = true;
            while (torn && !testing::Test::HasFailure()) {
                MallocAllocator heap;
                GrowingMemoryDriver storage(heap);
                torn = tear(storage, create, change, ++at);
                expect_sound(storage, at);
            }
            writes += at - 1;
        }
    }
    EXPECT_GE(writes, 7U);
}

#if H5MOTE_OTHER_FILES

// The ends of the parts are in the superblock's extension.
TEST(TornWrites, AreMadeAgainInFilesOfSeveralParts) {
    unsigned writes = 0;
    for (const Change& change : kChanges) {
        unsigned at = 0;
        bool torn = true;
        while (torn && !testing::Test::HasFailure()) {
            MemoryParts parts;
            MultiDriver storage{parts};
            ASSERT_EQ(storage.open_or_create(split_layout()), Status::ok);
            torn = tear(storage, {}, change, ++at);
            MultiDriver again{parts};
            ASSERT_EQ(again.open(split_layout()), Status::ok);
            expect_sound(again, at);
        }
        writes += at - 1;
    }
    EXPECT_GE(writes, 3U);
}

#endif

}  // namespace

#endif
