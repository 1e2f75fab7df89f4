// Chunk indexes in a metadata cache that holds little more than one path through the index, cut within each write.
#include "story.hpp"

#if H5MOTE_PARTIAL_IO

namespace {

using namespace h5mote_test;

// A changed index block moves, and so must the block that refers to it. The cache may have to write moved blocks before
// there is room for the next one.
void cut_index(std::uint32_t unit, std::size_t cache, bool filtered, std::size_t& cuts) {
    constexpr unsigned kRows = 90;
    Recorded disk(unit);
    Story story(disk.recorder, [](File& file) {
        auto log = file.root().open_dataset("log");
        std::vector<std::byte> rows(log.status() == Status::ok ? static_cast<std::size_t>(log->size()) : 0);
        const Status status = log.status() == Status::ok
                                  ? log->read(Selection::all(), kByte.view(), {rows.data(), rows.size()})
                                  : log.status();
        for (std::size_t i = 0; i < rows.size(); ++i) {
            EXPECT_EQ(rows[i], static_cast<std::byte>(i + 1));
        }
        return std::to_string(rows.size()) + (status == Status::ok ? "" : to_string(status));
    });
    FileAccess access;
    access.metadata_cache = cache;
    auto file = File::create(disk.library, disk.recorder, access);
    ASSERT_EQ(file.status(), Status::ok);
    Group root = file->root();
    DatasetCreate create;
    create.chunk = {1};
    create.reserve = 0;
    if (filtered) {
        create.filters = {filters::fletcher32};
    }
    auto log = root.create_dataset("log", kByte.view(), Dataspace::unlimited(), create);
    ASSERT_EQ(log.status(), Status::ok);
    story.change(*file, Status::ok);
    for (unsigned i = 0; i < kRows; ++i) {
        const std::byte row{static_cast<unsigned char>(i + 1)};
        ASSERT_EQ(set(root, "other", 1, 1), Status::ok);
        const Status status = log->append_records(&row, 1);
        if (status == Status::over_budget) {
            break;
        }
        story.change(*file, status);
    }
    ASSERT_EQ(log->close(), Status::ok);
    root.close();
    ASSERT_EQ(file->close(), Status::ok);
    cuts += story.cut(unit);
}

TEST(IndexPowerCut, SmallCache) {
    std::size_t cuts = 0;
    for (const std::uint32_t unit : kUnits) {
        for (const std::size_t cache : {1024U, 1280U, 1536U, 2048U}) {
            for (const bool filtered : {false, true}) {
                cut_index(unit, cache, filtered, cuts);
            }
        }
    }
    std::printf("%zu cuts\n", cuts);
    EXPECT_GT(cuts, 3000U);
}

#if H5MOTE_FIXED_CHUNKS && H5MOTE_FILTERS

// When a search in the index has to start again, it must release the page that it holds: the cache has no room for two.
TEST(FixedIndex, SmallestCache) {
    for (const std::uint64_t count : {40U, 300U, 512U}) {
        Recorded disk(512);
        FileAccess access;
        access.metadata_cache = 1024;
        auto file = File::create(disk.library, disk.recorder, access);
        ASSERT_EQ(file.status(), Status::ok);
        DatasetCreate create;
        create.chunk = {1};
        create.filters = {filters::fletcher32};
        auto rows = file->root().create_dataset("rows", kByte.view(), Dataspace::simple({count}), create);
        ASSERT_EQ(rows.status(), Status::ok);
        for (std::uint64_t i = 0; i < 3 * count; ++i) {
            const std::uint64_t at = i * 37 % count;
            const std::byte row{static_cast<unsigned char>(i)};
            ASSERT_EQ(rows->write(Selection::hyperslab({at}, {1}), kByte.view(), {&row, 1}), Status::ok) << i;
            if (i % 5 == 0) {
                ASSERT_EQ(file->flush(), Status::ok) << i;
            }
        }
        EXPECT_EQ(rows->close(), Status::ok);
        EXPECT_EQ(file->close(), Status::ok);
    }
}

#endif

}  // namespace

#endif
