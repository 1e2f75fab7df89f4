// Datasets with the filters that compress: made, appended to, continued, and refused for types that they do not take.
#include "world.hpp"

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS && H5MOTE_FILTERS

#include "../reading/all_filters.hpp"

namespace {

using namespace h5mote;
using namespace h5mote_test;

struct Pair {
    std::int16_t a;
    std::int32_t b;
};
H5MOTE_COMPOUND(Pair, a, b)

/// A library with all filters over a file in memory. Allocations of the library can be made to fail.
struct Store {
    explicit Store(const Image& image = {}) {
        if (!image.empty()) {
            EXPECT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
        }
    }
    Image image() { return {storage.contents().begin(), storage.contents().end()}; }

    MallocAllocator heap;
    RefusingAllocator refusing{heap};
    MallocAllocator bytes;
    GrowingMemoryDriver storage{bytes};
    NullPort port;
    Library library{refusing, port, kAllFilters};
};

DatasetCreate in_chunks(std::uint32_t rows, const FilterList& filters) {
    DatasetCreate create;
    create.chunk = {rows};
    create.filters = filters;
    return create;
}

const FilterList kNumberFilters[] = {
    {filters::lzf},
    {filters::nbit, filters::lzf, filters::fletcher32},
    {filters::scaleoffset_integer(), filters::deflate},
    {filters::scaleoffset_integer(9)},
    {filters::szip()},
    {filters::szip(filters::SzipCoding::entropy, 4), filters::fletcher32},
};

}  // namespace

TEST(DatasetCompression, RowsOfSeveralSessions) {
    for (const FilterList& list : kNumberFilters) {
        SCOPED_TRACE(static_cast<unsigned>(list.data()[0].id));
        Image image;
        std::int32_t written = 0;
        for (unsigned session = 0; session < 4; ++session) {
            Store store(image);
            auto file =
                session == 0 ? File::create(store.library, store.storage) : File::open(store.library, store.storage);
            ASSERT_EQ(file.status(), Status::ok);
            auto data = file->root().open_or_create_dataset<std::int32_t>("d", in_chunks(16, list));
            ASSERT_EQ(data.status(), Status::ok);
            for (unsigned i = 0; i < 25; ++i, ++written) {
                ASSERT_EQ(data->append(1000 + written), Status::ok);
            }
            ASSERT_EQ(data->close(), Status::ok);
            ASSERT_EQ(file->close(), Status::ok);
            image = store.image();
        }
        Store store(image);
        auto file = File::open(store.library, store.storage);
        auto data = file->root().open_dataset("d");
        std::int32_t rows[100] = {};
        ASSERT_EQ(data->read(Selection::all(), kNumber.view(), {reinterpret_cast<std::byte*>(rows), sizeof rows}),
                  Status::ok);
        for (std::int32_t i = 0; i < 100; ++i) {
            EXPECT_EQ(rows[i], 1000 + i);
        }
        EXPECT_EQ(data->close(), Status::ok);
        EXPECT_EQ(file->close(), Status::ok);
        EXPECT_EQ(store.heap.blocks(), 0U);
    }
}

// Scale-offset and szip take no compounds; szip no chunk of fewer elements than a block.
TEST(DatasetCompression, Refusals) {
    Store store;
    auto file = File::create(store.library, store.storage);
    ASSERT_EQ(file.status(), Status::ok);
    for (const FilterSpec& spec : {filters::scaleoffset_integer(), filters::scaleoffset_float(2), filters::szip()}) {
        EXPECT_EQ(file->root().create_dataset<Pair>("d", in_chunks(64, {spec})).status(), Status::invalid_argument);
    }
    for (const FilterSpec& spec :
         {filters::scaleoffset_float(2), filters::scaleoffset_integer(33),
          filters::szip(filters::SzipCoding::entropy, 7), filters::szip(filters::SzipCoding::entropy, 34),
          filters::szip(filters::SzipCoding::entropy, 18)}) {
        EXPECT_EQ(file->root().create_dataset<std::int32_t>("d", in_chunks(16, {spec})).status(),
                  Status::invalid_argument);
    }
    EXPECT_FALSE(file->root().exists("d"));
    EXPECT_EQ(file->close(), Status::ok);
    EXPECT_EQ(store.heap.blocks(), 0U);
}

// Client data that a FilterSpec has no room for take memory of their own: without it nothing is made.
TEST(DatasetCompression, WithoutMemory) {
    const FilterList list{filters::nbit, filters::lzf};
    bool made = false;
    for (std::uint64_t k = 1; !made; ++k) {
        ASSERT_LT(k, 1000U);
        Store store;
        auto file = File::create(store.library, store.storage);
        ASSERT_EQ(file.status(), Status::ok);
        store.refusing.arm(k, ~std::uint64_t{0});
        {
            auto data = file->root().create_dataset<Pair>("d", in_chunks(8, list));
            made = store.refusing.failures() == 0;
            EXPECT_EQ(data.status(), made ? Status::ok : Status::out_of_memory);
            store.refusing.arm(0, 0);
            EXPECT_EQ(file->root().exists("d"), made);
        }
        EXPECT_EQ(file->close(), Status::ok);
        EXPECT_EQ(store.heap.blocks(), 0U);
    }
}

#endif
