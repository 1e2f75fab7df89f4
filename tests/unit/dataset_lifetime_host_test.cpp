// Lifetime of the memory of datasets. All of it comes from malloc(), so that sanitizers see every use after release.
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include "storage_bench.hpp"

#include <vector>

#if H5MOTE_ALL_FORMATS

using namespace h5mote;
using namespace h5mote_test;

namespace {

// A library over malloc() and a file in memory.
struct HeapBench {
    explicit HeapBench(std::size_t chunk_cache, std::size_t metadata_cache = 8192) noexcept {
        access.chunk_cache = chunk_cache;
        access.metadata_cache = metadata_cache;
    }
    Status open() noexcept {
        auto opened = File::open_or_create(library, driver, access);
        file = static_cast<File&&>(*opened);
        return opened.status();
    }
    Status reopen() noexcept {
        const Status status = file.close();
        return status == Status::ok ? open() : status;
    }

    MallocAllocator allocator;
    MallocAllocator storage;
    NullPort port;
    Library library{allocator, port, bench_filters()};
    GrowingMemoryDriver driver{storage};
    FileAccess access;
    File file;
};

ConstBytes bytes_of(const std::vector<std::uint8_t>& values) {
    return as_bytes(Span<const std::uint8_t>(values.data(), values.size()));
}

}  // namespace

// A read takes long runs of one chunk from the file and the short ones of the next from the cache.
TEST(DatasetLifetime, ReadingAheadGivesWayToAChunk) {
    HeapBench bench(131072);
    ASSERT_EQ(bench.open(), Status::ok);
    std::vector<std::uint8_t> values(200000);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<std::uint8_t>(i * 7);
    }
    const DatatypeView type = datatype_of<std::uint8_t>();
    DatasetCreate create;
    create.chunk = {100000};
    {
        auto data = bench.file.root().create_dataset("d", type, Dataspace::simple({200000}), create);
        ASSERT_EQ(data.status(), Status::ok);
        ASSERT_EQ(data->write(Selection::all(), type, bytes_of(values)), Status::ok);
    }
    ASSERT_EQ(bench.reopen(), Status::ok);
    auto data = bench.file.root().open_dataset("d");
    ASSERT_EQ(data.status(), Status::ok);
    std::vector<std::uint8_t> got(165000);
    ASSERT_EQ(data->read(Selection::hyperslab({0}, {33}, {6000}, {5000}), type,
                         {reinterpret_cast<std::byte*>(got.data()), got.size()}),
              Status::ok);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        wrong += got[i] != values[i / 5000 * 6000 + i % 5000] ? 1 : 0;
    }
    EXPECT_EQ(wrong, 0U);
    EXPECT_EQ(data->close(), Status::ok);
    EXPECT_EQ(bench.file.close(), Status::ok);
    EXPECT_EQ(bench.allocator.blocks(), 0U);
}

// A read makes room by writing changed chunks, and so moves blocks of the very index that it is searching.
TEST(DatasetLifetime, AReadThatEvictsChangedChunksFindsThemAgain) {
    for (const bool extensible : {false, true}) {
        for (const bool filtered : {false, true}) {
            for (const std::size_t cache : {std::size_t{64}, std::size_t{400}, std::size_t{1000}}) {
                HeapBench bench(cache);
                ASSERT_EQ(bench.open(), Status::ok);
                constexpr std::size_t kCount = 600;
                DatasetCreate create;
                create.chunk = {16};
                if (filtered) {
                    create.filters = {filters::shuffle, filters::deflate};
                }
                const Dataspace space = extensible ? Dataspace::unlimited(kCount) : Dataspace::simple({kCount});
                auto data = bench.file.root().create_dataset<std::int32_t>("d", create, space);
                ASSERT_EQ(data.status(), Status::ok);
                std::int32_t model[kCount] = {};
                std::int32_t got[kCount];
                Numbers numbers(static_cast<std::uint32_t>(cache));
                for (unsigned round = 0; round < 60; ++round) {
                    for (unsigned i = 0; i < 20; ++i) {
                        const std::uint64_t at = numbers.below(kCount);
                        model[at] = static_cast<std::int32_t>(numbers.below(1000000));
                        ASSERT_EQ(data->write(Selection::hyperslab({at}, {1}), Span<const std::int32_t>(model + at, 1)),
                                  Status::ok);
                    }
                    if (round % 7 == 3) {
                        ASSERT_EQ(bench.file.flush(), Status::ok);
                    }
                    // Every second element, so that no chunk is read without the cache.
                    const std::uint64_t first = numbers.below(2);
                    ASSERT_EQ(data->read(Selection::hyperslab({first}, {kCount / 2}, {2}),
                                         Span<std::int32_t>(got, kCount / 2)),
                              Status::ok);
                    for (std::size_t i = 0; i < kCount / 2; ++i) {
                        ASSERT_EQ(got[i], model[2 * i + first]);
                    }
                }
                EXPECT_EQ(data->close(), Status::ok);
                EXPECT_EQ(bench.file.close(), Status::ok);
                EXPECT_EQ(bench.allocator.blocks(), 0U);
            }
        }
    }
}

// An iterator over chunks refers to nothing of a closed file, and does not need the handle that it was made from.
TEST(DatasetLifetime, AChunkIteratorOutlivesTheFile) {
    for (const bool extensible : {false, true}) {
        HeapBench bench(64);
        ASSERT_EQ(bench.open(), Status::ok);
        DatasetCreate create;
        create.chunk = {16};
        const Dataspace space = extensible ? Dataspace::unlimited(600) : Dataspace::simple({600});
        Dataset data;
        {
            auto made = bench.file.root().create_dataset<std::int32_t>("d", create, space);
            ASSERT_EQ(made.status(), Status::ok);
            const std::vector<std::int32_t> values(600, 3);
            ASSERT_EQ(made->write(Selection::all(), Span<const std::int32_t>(values.data(), 600)), Status::ok);
            data = static_cast<Dataset&&>(*made);
        }
        ASSERT_EQ(bench.file.flush(), Status::ok);
        {
            ChunkIterator chunks(data);
            ChunkInfo chunk;
            ASSERT_EQ(chunks.next(chunk), Status::ok);
            const Address first = chunk.address;
            EXPECT_NE(first, kUndefinedAddress);
            EXPECT_EQ(bench.file.close(), Status::ok);
            EXPECT_EQ(chunks.next(chunk), Status::invalid_handle);
        }
        (void)data.close();
        EXPECT_EQ(bench.allocator.blocks(), 0U);
    }
}

TEST(DatasetLifetime, AChunkIteratorOutlivesTheHandle) {
    HeapBench bench(64);
    ASSERT_EQ(bench.open(), Status::ok);
    DatasetCreate create;
    create.chunk = {16};
    auto made = bench.file.root().create_dataset<std::int32_t>("d", create, Dataspace::unlimited(100));
    ASSERT_EQ(made.status(), Status::ok);
    const std::vector<std::int32_t> values(100, 3);
    ASSERT_EQ(made->write(Selection::all(), Span<const std::int32_t>(values.data(), 100)), Status::ok);
    ASSERT_EQ(bench.file.flush(), Status::ok);
    auto* const data = new Dataset(static_cast<Dataset&&>(*made));
    unsigned count = 0;
    {
        ChunkIterator chunks(*data);
        delete data;
        ChunkInfo chunk;
        while (chunks.next(chunk) == Status::ok) {
            ++count;
        }
    }
    EXPECT_GE(count, 7U);  // seven with rows; more may be allocated ahead
    EXPECT_EQ(bench.file.close(), Status::ok);
    EXPECT_EQ(bench.allocator.blocks(), 0U);
}

// A dataset with a chunk of 2^32 bytes, as libhdf5 2.0 creates it (layout message version 5), without any data.
TEST(DatasetLifetime, AChunkOf4GiBIsOpenedAndClosed) {
    // Superblock 3; the root group with the link "d"; a dataset of one dimension, which is unlimited.
    constexpr unsigned char kSuperblock[] = {0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a, 0x03, 0x08, 0x08, 0,
                                             0,    0,    0,    0,    0,    0,    0,    0,    0xff, 0xff, 0xff, 0xff,
                                             0xff, 0xff, 0xff, 0xff, 0xdf, 0x01, 0,    0,    0,    0,    0,    0,
                                             0x30, 0,    0,    0,    0,    0,    0,    0,    0xea, 0xc0, 0xf6, 0xc7};
    constexpr unsigned char kGroup[] = {
        0x4f, 0x48, 0x44, 0x52, 0x02, 0x20, 0xf3, 0x44, 0x02, 0x6b, 0xf3, 0x44, 0x02, 0x6b, 0xf3, 0x44, 0x02, 0x6b,
        0xf3, 0x44, 0x02, 0x6b, 0x78, 0x02, 0x12, 0,    0,    0,    0,    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0a, 0x02, 0,    0x01, 0,    0,    0x06, 0x0c, 0,
        0,    0x01, 0,    0x01, 0x64, 0xc3, 0,    0,    0,    0,    0,    0,    0,    0,    0x48};
    constexpr unsigned char kGroupChecksum[] = {0x12, 0xe8, 0x5c, 0xf0};
    constexpr unsigned char kDataset[] = {
        0x4f, 0x48, 0x44, 0x52, 0x02, 0x21, 0xf3, 0x44, 0x02, 0x6b, 0xf3, 0x44, 0x02, 0x6b, 0xf3, 0x44, 0x02, 0x6b,
        0xf3, 0x44, 0x02, 0x6b, 0,    0x01, 0x01, 0x14, 0,    0,    0x02, 0x01, 0x01, 0x01, 0x0a, 0,    0,    0,
        0,    0,    0,    0,    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x03, 0x0c, 0,    0x01, 0x10, 0,
        0,    0,    0x01, 0,    0,    0,    0,    0,    0x08, 0,    0x05, 0x02, 0,    0x01, 0x03, 0x0b, 0x08, 0x1d,
        0,    0,    0x05, 0x02, 0,    0x02, 0x05, 0,    0,    0,    0,    0x01, 0x01, 0,    0,    0,    0,    0x04,
        0x20, 0x04, 0x04, 0x10, 0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0,    0xad};
    constexpr unsigned char kDatasetChecksum[] = {0xda, 0xa9, 0x73, 0x70};
    unsigned char image[0x1df] = {};
    std::memcpy(image, kSuperblock, sizeof kSuperblock);
    std::memcpy(image + 0x30, kGroup, sizeof kGroup);
    std::memcpy(image + 0xbf, kGroupChecksum, 4);
    std::memcpy(image + 0xc3, kDataset, sizeof kDataset);
    std::memcpy(image + 0x1db, kDatasetChecksum, 4);

    HeapBench bench(1024);
    ASSERT_EQ(bench.driver.assign(as_bytes(Span<const unsigned char>(image))), Status::ok);
    ASSERT_EQ(bench.open(), Status::ok);
    auto data = bench.file.root().open_dataset("d");
    ASSERT_EQ(data.status(), Status::ok);
    std::uint64_t chunk[1] = {};
    EXPECT_EQ(data->chunk_dims(chunk), Status::ok);
    EXPECT_EQ(chunk[0], std::uint64_t{1} << 32);
    const std::uint8_t value = 1;
    EXPECT_EQ(data->append_records(&value, 1), Status::over_budget);
    EXPECT_EQ(data->set_extent({11}), Status::over_budget);
    EXPECT_EQ(data->close(), Status::ok);
    EXPECT_EQ(bench.file.close(), Status::ok);
    EXPECT_EQ(bench.driver.contents().size(), sizeof image);
    EXPECT_EQ(std::memcmp(bench.driver.contents().data(), image, sizeof image), 0);
    EXPECT_EQ(bench.allocator.blocks(), 0U);
}

#endif
