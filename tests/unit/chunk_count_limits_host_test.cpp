// Datasets that cannot grow without bound, and have more chunks than their chunk index can have or the metadata cache
// has room for: creating them is refused, and what is created can be written.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

namespace {

using namespace h5mote;

struct World {
    explicit World(std::size_t cache = 2048) {
        FileAccess access;
        access.metadata_cache = cache;
        auto made = File::create(library, storage, access);
        EXPECT_EQ(made.status(), Status::ok);
        file = static_cast<File&&>(*made);
    }

    MallocAllocator allocator;
    NullPort port;
    GrowingMemoryDriver storage{allocator};
    Library library{allocator, port};
    File file;
};

TEST(ChunkCountLimits, MoreThanAnArrayCanHave) {
    World world;
    DatasetCreate create;
    create.chunk = {1};
    constexpr std::uint64_t kMany = std::uint64_t{1} << 48;
    const auto create_it = [&](const Dataspace& space) {
        return world.file.root().create_dataset<std::uint8_t>("d", create, space).status();
    };
    EXPECT_EQ(create_it(Dataspace::simple({0}, {kMany})), Status::overflow);
    EXPECT_EQ(create_it(Dataspace::simple({kMany})), Status::overflow);
    EXPECT_FALSE(world.file.root().exists("d"));
}

// Creates a dataset of so many chunks and writes one in each of several pages of the index. over_budget comes from
// creating it or not at all.
Status write_some(std::size_t cache, std::uint64_t chunks) {
    World world(cache);
    DatasetCreate create;
    create.chunk = {1};
    auto data = world.file.root().create_dataset<std::uint8_t>("d", create, Dataspace::simple({chunks / 2}, {chunks}));
    H5MOTE_TRY(data.status());
    for (const std::uint64_t at : {std::uint64_t{0}, chunks / 4, chunks / 4 + 5000, chunks / 2 - 1}) {
        const std::uint8_t value = 7;
        EXPECT_EQ(data->write(Selection::hyperslab({at}, {1}), Span<const std::uint8_t>(&value, 1)), Status::ok);
        EXPECT_EQ(world.file.flush(), Status::ok);
    }
    EXPECT_EQ(data->close(), Status::ok);
    EXPECT_EQ(world.file.close(), Status::ok);
    return Status::ok;
}

TEST(ChunkCountLimits, MoreThanTheCacheHasRoomFor) {
    for (const std::size_t cache : {std::size_t{2048}, std::size_t{3000}, std::size_t{5000}}) {
        unsigned refused = 0;
        for (std::uint64_t chunks = 1U << 17; chunks <= 1U << 21; chunks += 1U << 15) {
            const Status status = write_some(cache, chunks);
            EXPECT_EQ(status, cache < 300 + chunks / 256    ? Status::over_budget
                              : cache >= 600 + chunks / 256 ? Status::ok
                                                            : status);
            EXPECT_TRUE(status == Status::ok || status == Status::over_budget);
            refused += status == Status::over_budget ? 1 : 0;
        }
        EXPECT_NE(refused, 0U);
    }
}

}  // namespace

#endif
