// New blocks in space that is used again, in metadata caches too small for all that a call changes. On a storage on
// which only the order of writes can be relied on, nothing that was never written may be reached after a cut.
#include "failing_driver.hpp"
#include "recorded_file.hpp"
#include "sound.hpp"

#include <string>
#include <vector>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr auto kByte = datatype_of<std::uint8_t>();

void expect_sound(const Image& image) {
    RecordedFile copy(image, 512, formats::all);
    File file = copy.open(65536, true);
    const Findings findings = findings_in(file);
    EXPECT_EQ(findings.status, Status::ok);
    EXPECT_EQ(findings.problems, 0U);
}

void make_space(File& file, std::uint64_t bytes) {
    auto root = file.root();
    auto old = root.create_dataset("old", kByte, Dataspace::simple({bytes}), DatasetCreate());
    ASSERT_EQ(old.status(), Status::ok);
    const std::vector<std::uint8_t> junk(static_cast<std::size_t>(bytes), 0xa5);
    ASSERT_EQ(old->write(Selection::all(), kByte, as_bytes(Span<const std::uint8_t>(junk.data(), junk.size()))),
              Status::ok);
    ASSERT_EQ(old->close(), Status::ok);
    ASSERT_EQ(root.create_soft_link("end", "/behind/the/space"), Status::ok);
    ASSERT_EQ(file.flush(), Status::ok);
    ASSERT_EQ(root.unlink("old"), Status::ok);
    ASSERT_EQ(file.flush(), Status::ok);
}

// The header of the dataset leaves the cache before anything leads to it, and gets another continuation.
void change_new_object(std::size_t cache, std::size_t attribute, std::uint16_t attributes) {
    RecordedFile recorded({}, 512, formats::all);
    std::size_t acknowledged = 0;
    {
        File file = recorded.open(cache);
        make_space(file, 6000);
        if (testing::Test::HasFailure()) {
            return;
        }
        acknowledged = recorded.operations();
        DatasetCreate create;
        create.chunk = {8};
        create.attributes.max_compact = attributes;
        create.attributes.min_dense = 0;
        auto made = file.root().create_dataset<std::int32_t>("n", create);
        ASSERT_EQ(made.status(), Status::ok);
        const std::vector<std::uint8_t> value(attribute, 7);
        const ConstBytes bytes = as_bytes(Span<const std::uint8_t>(value.data(), value.size()));
        for (unsigned i = 0; i <= attributes; ++i) {
            const Status status = made->write_attribute("serial number " + std::to_string(i), kByte,
                                                        Dataspace::simple({attribute}), bytes);
            ASSERT_TRUE(status == Status::ok || status == Status::over_budget);
        }
        ASSERT_EQ(made->set_extent({3}), Status::ok);
        ASSERT_EQ(file.root().create_soft_link("d", "/somewhere"), Status::ok);
        ASSERT_EQ(made->close(), Status::ok);
        ASSERT_EQ(file.root().unlink("n"), Status::ok);
        ASSERT_EQ(file.close(), Status::ok);
    }
    for_each_cut(recorded, acknowledged, expect_sound);
}

TEST(ReusedSpace, AHeaderThatLeftTheCacheIsStillNew) {
    for (std::size_t cache = 1024; cache <= 2048 && !HasFailure(); cache += 64) {
        for (const std::size_t attribute : {std::size_t{40}, std::size_t{200}, std::size_t{511}}) {
            for (std::uint16_t attributes = 0; attributes < 3; ++attributes) {
                SCOPED_TRACE(std::to_string(cache) + ", " + std::to_string(attribute) + ", " +
                             std::to_string(attributes));
                change_new_object(cache, attribute, attributes);
            }
        }
    }
}

// A first block that is cut in two while nothing but a change in memory leads to it: to make room for its second part,
// the cache writes all changes, the link to the object included.
void cut_new_header(std::size_t cache, std::size_t changed) {
    constexpr std::uint16_t kKinds =
        SharedKinds::dataspace | SharedKinds::datatype | SharedKinds::fill_value | SharedKinds::filter_pipeline;
    static constexpr SharedIndexCreate kIndex[] = {{kKinds, 11}};
    FileCreate shared;
    shared.shared_messages.indexes = kIndex;
    shared.shared_messages.list_max = 50;
    RecordedFile recorded({}, 512, formats::all);
    std::size_t acknowledged = 0;
    {
        File file = recorded.open(cache, false, 1024, shared);
        Group groups[12];
        for (Group& group : groups) {
            const char name[] = {static_cast<char>('A' + (&group - groups)), 0};
            auto made = file.root().create_group(name);
            ASSERT_EQ(made.status(), Status::ok);
            group = static_cast<Group&&>(*made);
            ASSERT_EQ(group.write_attribute("v", std::int64_t{1}), Status::ok);
        }
        ASSERT_EQ(file.flush(), Status::ok);
        acknowledged = recorded.operations();
        DatasetCreate grid;
        grid.chunk = {6, 2};
        auto made = file.root().create_dataset("n", kByte, Dataspace::simple({6, 3}), grid);
        ASSERT_EQ(made.status(), Status::ok);
        for (std::size_t i = 0; i < changed; ++i) {
            ASSERT_EQ(groups[i].write_attribute("v", std::int64_t{2}), Status::ok);
        }
        ASSERT_EQ(made->set_extent({5, 1}), Status::ok);
        ASSERT_EQ(made->close(), Status::ok);
        ASSERT_EQ(file.close(), Status::ok);
    }
    for_each_cut(recorded, acknowledged, expect_sound);
}

TEST(ReusedSpace, ANewHeaderIsOnTheStorageWhereItsLinkLeads) {
    for (std::size_t cache = 1024; cache <= 1536 && !HasFailure(); cache += 32) {
        for (std::size_t changed = 0; changed <= 12 && !HasFailure(); ++changed) {
            SCOPED_TRACE(std::to_string(cache) + ", " + std::to_string(changed));
            cut_new_header(cache, changed);
        }
    }
}

// The record of free space in storages that are nearly full. Its message may have to be moved to a place in front, away
// from the end of the file; where there is room for a part of that only, nothing is moved.
void fill_storage(std::size_t limit, std::uint32_t unit) {
    FileCreate persistent;
    persistent.persist_free_space = true;
    RecordedFile recorded({}, unit, formats::all, limit);
    DatasetCreate create;
    create.chunk = {8};
    for (unsigned session = 0; session < 4; ++session) {
        File file = recorded.open(2048, false, 1024, persistent);
        ASSERT_TRUE(file.valid());
        const std::string name = "log" + std::to_string(session);
        const std::vector<std::uint8_t> value(150, 7);
        (void)file.root().write_attribute(name, kByte, Dataspace::simple({value.size()}),
                                          as_bytes(Span<const std::uint8_t>(value.data(), value.size())));
        auto made = file.root().create_dataset<std::int32_t>(name, create);
        for (unsigned i = 0; made && i < 400 && made->append(static_cast<std::int32_t>(i)) == Status::ok; ++i) {
        }
        if (made) {
            (void)made->close();
        }
        if (session > 1) {
            (void)file.root().unlink("log" + std::to_string(session - 2));
            (void)file.root().remove_attribute("log" + std::to_string(session - 1));
        }
        if (session % 2 == 0) {
            (void)file.flush();
        }
        (void)file.close();
    }
    for_each_cut(recorded, 0, [](const Image& image) {
        if (image.size() > 600) {
            expect_sound(image);
        }
    });
}

TEST(ReusedSpace, TheRecordOfAFullStorageNamesNothingBehindTheEnd) {
    for (const std::uint32_t unit : {128U, 256U, 512U}) {
        for (std::size_t limit = 3000; limit <= 8000 && !HasFailure(); limit += 61) {
            SCOPED_TRACE(std::to_string(unit) + ", " + std::to_string(limit));
            fill_storage(limit, unit);
        }
    }
}

// A file that was not closed is opened, so that closing it says that not all free space is recorded. The storage fails
// before the last sync. The next session says at once that nothing is recorded: that changes a part of the same block,
// and nothing may make it durable without what the session before has changed there.
TEST(ReusedSpace, ASessionSyncsWhatItFoundBeforeItChangesAPartOfIt) {
    FileAccess access;
    access.metadata_cache = 4096;
    FileCreate create;
    create.persist_free_space = true;
    for (std::uint64_t call = 1, failures = 1; failures != 0 && !HasFailure(); ++call) {
        SCOPED_TRACE(call);
        RecordedFile recorded({}, 512, formats::all);
        FailingDriver failing(recorded.recorder);
        DriverFault fault;
        fault.at = 1;
        fault.persistent = true;
        {
            auto file = File::create(recorded.library, failing, access, create);
            ASSERT_EQ(file.status(), Status::ok);
            ASSERT_NO_FATAL_FAILURE(make_space(*file, 1000));
            failing.arm(fault);
        }
        const std::size_t from = recorded.operations();
        failing.disarm();
        {
            auto file = File::open(recorded.library, failing, access);
            ASSERT_EQ(file.status(), Status::ok);
            ASSERT_EQ(file->root().create_group("one").status(), Status::ok);
            fault.at = call;
            fault.persistent = false;
            failing.arm(fault);
            (void)file->close();
            failures = failing.failures();
            failing.disarm();
        }
        auto file = File::open(recorded.library, failing, access);
        ASSERT_EQ(file.status(), Status::ok);
        ASSERT_EQ(file->root().create_group("two").status(), Status::ok);
        ASSERT_EQ(file->close(), Status::ok);
        for_each_cut(recorded, from, expect_sound);
    }
}

}  // namespace

#endif
