// A journal whose log may take little room: groups with many links, for which room is kept in the storage, need no more
// of the log than others.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/journal.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace h5mote;

TEST(JournalLimit, ManyLinks) {
    for (const std::uint32_t limit : {8192U, 12288U, 16384U}) {
        SCOPED_TRACE(limit);
        MallocAllocator heap;
        GrowingMemoryDriver home(heap);
        GrowingMemoryDriver log(heap);
        JournalOptions options;
        options.limit = limit;
        options.checkpoint = limit / 2;
        std::vector<std::uint64_t> memory(JournalDriver::required_memory(768, options) / 8 + 1);
        JournalDriver journal(home, log, {reinterpret_cast<std::byte*>(memory.data()), memory.size() * 8});
        ASSERT_EQ(journal.open(options), Status::ok);
        NullPort port;
        Library library(heap, port, {}, formats::all);
        FileAccess access;
        access.metadata_cache = 2048;
        access.chunk_cache = 512;
        auto file = File::create(library, journal, access);
        ASSERT_EQ(file.status(), Status::ok);
        Group root = file->root();
        DatasetCreate create;
        create.chunk = {8};
        for (std::int32_t i = 0; i < 30; ++i) {
            auto data = root.create_dataset<std::int32_t>("d" + std::to_string(i), create);
            ASSERT_EQ(data.status(), Status::ok) << i;
            ASSERT_EQ(data->append(i), Status::ok);
            ASSERT_EQ(file->flush(), Status::ok);
        }
        ASSERT_EQ(root.unlink("d3"), Status::ok);
        ASSERT_EQ(file->flush(), Status::ok);
    }
}

#endif
