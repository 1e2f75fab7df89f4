// Datasets with the filters that compress: made, appended to, continued, and refused for types that they do not take.
#include "world.hpp"

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS && H5MOTE_FILTERS

#include "../reading/all_filters.hpp"
#ifdef H5MOTE_TEST_HDF5
#include "hdf5_files.hpp"
#endif

#include <string>

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

// These filters encode only whole chunks, or only whole pixels. Where they may not be skipped they must not stand
// behind a filter that changes the number of bytes: no chunk could be written, and with it no file.
TEST(DatasetCompression, MandatoryFiltersThatNeverEncode) {
    Store store;
    auto file = File::create(store.library, store.storage);
    ASSERT_EQ(file.status(), Status::ok);
    const std::vector<std::int32_t> rows(64, 3);
    for (FilterSpec spec : {filters::scaleoffset_integer(), filters::nbit, filters::szip()}) {
        for (const FilterSpec& first : {filters::shuffle, filters::deflate, filters::lzf, filters::fletcher32}) {
            for (const bool optional : {false, true}) {
                const std::string name = std::to_string(static_cast<unsigned>(spec.id)) + " behind " +
                                         std::to_string(static_cast<unsigned>(first.id)) + (optional ? "?" : "");
                spec.optional = optional;
                const bool possible = optional || first.id == FilterId::shuffle;
                auto data = file->root().create_dataset<std::int32_t>(name, in_chunks(16, {first, spec}));
                ASSERT_EQ(data.status(), possible ? Status::ok : Status::invalid_argument) << name;
                EXPECT_EQ(file->root().exists(name), possible);
                if (possible) {
                    EXPECT_EQ(data->append(Span<const std::int32_t>(rows.data(), rows.size())), Status::ok);
                    EXPECT_EQ(file->flush(), Status::ok) << name;
                }
            }
        }
    }
    EXPECT_EQ(file->close(), Status::ok);
}

#ifdef H5MOTE_TEST_HDF5
// libhdf5 makes such a dataset. It can be opened, and the first change tells that it cannot be written.
TEST(DatasetCompression, DatasetsThatCanNeverBeWritten) {
    Hdf5Maker maker(Hdf5Maker::Format::newest);
    const hsize_t size = 64;
    const hsize_t chunk = 16;
    const unsigned values[2] = {H5Z_SO_INT, 0};
    const Hdf5Id space(H5Screate_simple(1, &size, nullptr), H5Sclose);
    const Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_chunk(list, 1, &chunk);
    H5Pset_fletcher32(list);
    H5Pset_filter(list, H5Z_FILTER_SCALEOFFSET, H5Z_FLAG_MANDATORY, 2, values);
    ASSERT_GE(H5Dclose(H5Dcreate2(maker.file(), "d", H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT)), 0);
    Store store(maker.finish());
    auto file = File::open(store.library, store.storage);
    ASSERT_EQ(file.status(), Status::ok);
    auto data = file->root().open_dataset<std::int32_t>("d");
    ASSERT_EQ(data.status(), Status::ok);
    const std::vector<std::int32_t> rows(64, 3);
    EXPECT_EQ(data->write(Selection::all(), Span<const std::int32_t>(rows.data(), rows.size())),
              Status::invalid_argument);
    EXPECT_EQ(file->root().write_attribute("beside", std::int32_t{1}), Status::ok);
    EXPECT_EQ(data->close(), Status::ok);
    EXPECT_EQ(file->close(), Status::ok);
}
#endif

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
