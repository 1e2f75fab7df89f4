// One storage opened several times, and the handles of objects whose file is closed.
#include "storage_bench.hpp"

#if H5MOTE_WRITE

using namespace h5mote;
using namespace h5mote_test;

namespace {

DatasetCreate chunks_of(std::uint32_t rows) noexcept {
    DatasetCreate create;
    create.chunk = {rows};
    return create;
}

alignas(16) std::byte second_memory[8 * 1024];

}  // namespace

TEST(FileSharing, AStorageOpenedAgainIsTheSameFile) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    auto second = File::open(bench.library, bench.driver, bench.access);
    ASSERT_EQ(second.status(), Status::ok);
    auto third = File::open_or_create(bench.library, bench.driver, bench.access);
    ASSERT_EQ(third.status(), Status::ok);
    // What is written through one handle is read through the other, before any flush.
    auto log = bench.file.root().create_dataset<std::int32_t>("log", chunks_of(8));
    ASSERT_EQ(log.status(), Status::ok);
    ASSERT_EQ(log->append(7), Status::ok);
    auto same = second->root().open_dataset<std::int32_t>("log");
    ASSERT_EQ(same.status(), Status::ok);
    EXPECT_EQ(same->size(), 1U);
    ASSERT_EQ(same->append(8), Status::ok);
    EXPECT_EQ(log->size(), 2U);
    EXPECT_EQ(File::create(bench.library, bench.driver, bench.access).status(), Status::busy);
    // The file is closed with the last of its handles.
    EXPECT_EQ(bench.file.close(), Status::ok);
    EXPECT_EQ(third->close(), Status::ok);
    EXPECT_TRUE(log->valid());
    ASSERT_EQ(log->append(9), Status::ok);
    EXPECT_EQ(second->close(), Status::ok);
    EXPECT_FALSE(log->valid());
    EXPECT_EQ(log->append(10), Status::invalid_handle);
    (void)log->close();
    (void)same->close();
    EXPECT_TRUE(bench.empty());
    ASSERT_EQ(bench.open(), Status::ok);
    EXPECT_EQ(bench.file.root().open_dataset("log")->size(), 3U);
    EXPECT_EQ(bench.file.close(), Status::ok);
}

TEST(FileSharing, WhatIsOpenForReadingIsNotOpenedForWriting) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    // A file that is open for writing can be opened read-only, and shows what the other handle writes.
    FileAccess reading = bench.access;
    reading.read_only = true;
    auto reader = File::open(bench.library, bench.driver, reading);
    EXPECT_EQ(reader.status(), Status::ok);
    EXPECT_EQ(reader->close(), Status::ok);
    EXPECT_EQ(bench.file.close(), Status::ok);
    reader = File::open(bench.library, bench.driver, reading);
    ASSERT_EQ(reader.status(), Status::ok);
    EXPECT_EQ(bench.open(), Status::busy);
    EXPECT_EQ(File::open_or_create(bench.library, bench.driver, bench.access).status(), Status::busy);
    EXPECT_EQ(File::create(bench.library, bench.driver, bench.access).status(), Status::busy);
    EXPECT_EQ(reader->close(), Status::ok);
    EXPECT_EQ(bench.open(), Status::ok);
    EXPECT_EQ(bench.file.close(), Status::ok);
    EXPECT_TRUE(bench.empty());
}

TEST(FileSharing, AnotherLibraryIsKeptOut) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    Arena arena({second_memory, sizeof second_memory});
    Library other(arena, bench.port);
    FileAccess reading = bench.access;
    reading.read_only = true;
    for (int round = 0; round < 2; ++round) {
        EXPECT_EQ(File::open(other, bench.driver, bench.access).status(), Status::busy);
        EXPECT_EQ(File::open(other, bench.driver, reading).status(), Status::busy);
        EXPECT_EQ(File::create(other, bench.driver, bench.access).status(), Status::busy);
        EXPECT_EQ(File::open_or_create(other, bench.driver, bench.access).status(), Status::busy);
    }
    EXPECT_EQ(arena.usage().now, 0U);
    EXPECT_EQ(bench.file.close(), Status::ok);
    {
        // Several readers share a storage.
        auto one = File::open(bench.library, bench.driver, reading);
        auto two = File::open(other, bench.driver, reading);
        EXPECT_EQ(one.status(), Status::ok);
        EXPECT_EQ(two.status(), Status::ok);
        EXPECT_EQ(one->close(), Status::ok);
        EXPECT_EQ(bench.open(), Status::busy);
    }
    EXPECT_EQ(bench.open(), Status::ok);
    EXPECT_EQ(bench.file.close(), Status::ok);
    EXPECT_EQ(arena.usage().now, 0U);
}

TEST(FileSharing, AnOpeningThatFailsGivesTheLockBack) {
    Bench bench;
    EXPECT_EQ(bench.open(), Status::not_found);
    const std::byte text[600] = {std::byte{'t'}};
    ASSERT_EQ(bench.driver.write(Usage::raw_data, 0, text), Status::ok);
    EXPECT_EQ(bench.open(), Status::not_hdf5);
    EXPECT_EQ(File::open_or_create(bench.library, bench.driver, bench.access).status(), Status::not_hdf5);
    FileCreate wrong;
    wrong.sizeof_addr = 3;
    EXPECT_EQ(bench.create(wrong), Status::invalid_argument);
    EXPECT_EQ(bench.driver.lock(true), Status::ok);
    EXPECT_EQ(bench.create(), Status::busy);
    EXPECT_EQ(bench.driver.unlock(), Status::ok);
    // A storage that cannot be locked can be opened with file_locking off.
    EXPECT_EQ(bench.driver.lock(true), Status::ok);
    bench.access.file_locking = false;
    EXPECT_EQ(bench.create(), Status::ok);
    EXPECT_EQ(bench.file.close(), Status::ok);
    EXPECT_EQ(bench.driver.lock(false), Status::busy);
    EXPECT_EQ(bench.driver.unlock(), Status::ok);
    EXPECT_TRUE(bench.empty());
}

TEST(FileSharing, TheDestructorOfAFileEndsEveryHandle) {
    Bench bench;
    TypedDataset<std::int32_t> log;
    Group group;
    {
        ASSERT_EQ(bench.create(), Status::ok);
        File file(static_cast<File&&>(bench.file));
        auto made = file.root().create_dataset<std::int32_t>("log", chunks_of(8));
        ASSERT_EQ(made.status(), Status::ok);
        log = static_cast<TypedDataset<std::int32_t>&&>(*made);
        group = file.root();
        ASSERT_EQ(log.append(1), Status::ok);
    }
    EXPECT_FALSE(log.valid());
    EXPECT_FALSE(group.valid());
    EXPECT_EQ(log.append(2), Status::invalid_handle);
    EXPECT_EQ(group.create_group("late").status(), Status::invalid_handle);
    EXPECT_EQ(log.close(), Status::ok);
    group.close();
    EXPECT_TRUE(bench.empty());
    ASSERT_EQ(bench.open(), Status::ok);
    EXPECT_EQ(bench.file.root().open_dataset("log")->size(), 1U);
    EXPECT_EQ(bench.file.close(), Status::ok);
}

TEST(FileSharing, WeaklyClosedFilesLiveAsLongAsTheirObjects) {
    Bench bench;
    bench.access.close_degree = CloseDegree::weak;
    ASSERT_EQ(bench.create(), Status::ok);
    auto log = bench.file.root().create_dataset<std::int32_t>("log", chunks_of(8));
    ASSERT_EQ(log.status(), Status::ok);
    ASSERT_EQ(log->append(1), Status::ok);
    EXPECT_EQ(bench.file.close(), Status::ok);
    EXPECT_FALSE(bench.file.valid());
    EXPECT_TRUE(log->valid());
    EXPECT_EQ(log->append(2), Status::ok);
    // The file is still open, so that opening it again gives another handle of it.
    ASSERT_EQ(bench.open(), Status::ok);
    EXPECT_EQ(bench.file.root().open_dataset("log")->size(), 2U);
    bench.file = File();
    EXPECT_EQ(log->append(3), Status::ok);
    EXPECT_EQ(log->close(), Status::ok);
    EXPECT_TRUE(bench.empty());
    EXPECT_EQ(bench.driver.lock(true), Status::ok);
    EXPECT_EQ(bench.driver.unlock(), Status::ok);
    ASSERT_EQ(bench.open(), Status::ok);
    EXPECT_EQ(bench.file.root().open_dataset("log")->size(), 3U);
    EXPECT_EQ(bench.file.close(), Status::ok);
    EXPECT_TRUE(bench.empty());
}

TEST(FileSharing, SemiClosedFilesAreBusyWhileObjectsAreOpen) {
    Bench bench;
    bench.access.close_degree = CloseDegree::semi;
    ASSERT_EQ(bench.create(), Status::ok);
    Group group = bench.file.root();
    auto second = File::open(bench.library, bench.driver, bench.access);
    ASSERT_EQ(second.status(), Status::ok);
    EXPECT_EQ(second->close(), Status::ok);  // not the last handle of the file
    EXPECT_EQ(bench.file.close(), Status::busy);
    EXPECT_TRUE(bench.file.valid());
    ASSERT_EQ(group.create_group("kept").status(), Status::ok);
    group.close();
    EXPECT_EQ(bench.file.close(), Status::ok);
    EXPECT_TRUE(bench.empty());
    // A destructor cannot fail: the file stays open until its objects are closed.
    ASSERT_EQ(bench.open(), Status::ok);
    group = bench.file.root();
    bench.file = File();
    EXPECT_TRUE(group.exists("kept"));
    group.close();
    EXPECT_TRUE(bench.empty());
}

#endif
