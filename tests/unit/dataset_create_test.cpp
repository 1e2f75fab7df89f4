// Dataset creation properties that are known only at run time.
#include "storage_bench.hpp"

using namespace h5mote;
using namespace h5mote_test;

#if H5MOTE_PARTIAL_IO

namespace {

Bytes bytes_of(std::int32_t* from, std::size_t count) noexcept {
    return {reinterpret_cast<std::byte*>(from), count * sizeof *from};
}

}  // namespace

#if H5MOTE_MAX_RANK >= 4
TEST(DatasetCreateTest, RankChunksAndFiltersKnownWhileRunning) {
    for (unsigned rank = 1; rank <= 4; ++rank) {
        Bench bench;
        ASSERT_EQ(bench.create(), Status::ok);
        std::uint64_t dims[4];
        std::uint32_t chunk[4];
        std::size_t count = 1;
        DatasetCreate create;
        for (unsigned i = 0; i < rank; ++i) {
            dims[i] = 3 + i;
            chunk[i] = 2;
            count *= 3 + i;
            if (rank % 2 == 0) {
                create.chunk.push_back(2);
            }
        }
        if (rank % 2 != 0) {
            create.chunk = ChunkDims(Span<const std::uint32_t>(chunk, rank));
        }
#if H5MOTE_FILTERS
        const FilterSpec specs[] = {filters::shuffle, filters::fletcher32};
        if (rank % 2 != 0) {
            create.filters = FilterList(Span<const FilterSpec>(specs));
        } else {
            for (const FilterSpec& spec : specs) {
                create.filters.push_back(spec);
            }
        }
#endif
        const Span<const std::uint64_t> extent(dims, rank);
        auto data =
            bench.file.root().create_dataset("d", file_type_of<std::int32_t>(), Dataspace::simple(extent), create);
        ASSERT_EQ(data.status(), Status::ok);
        std::int32_t values[360];
        std::int32_t got[360] = {};
        for (std::size_t i = 0; i < count; ++i) {
            values[i] = static_cast<std::int32_t>(i * i);
        }
        const DatatypeView type = datatype_of<std::int32_t>();
        EXPECT_EQ(data->write(Selection::all(), type, bytes_of(values, count)), Status::ok);
        EXPECT_EQ(data->read(Selection::all(), type, bytes_of(got, count)), Status::ok);
        EXPECT_EQ(std::memcmp(values, got, count * sizeof *values), 0);
#if H5MOTE_ALL_FORMATS
        std::uint64_t found[4] = {};
        EXPECT_EQ(data->chunk_dims({found, rank}), Status::ok);
        EXPECT_EQ(found[rank - 1], 2U);
        DatasetInfo info;
        EXPECT_EQ(data->info(info), Status::ok);
        EXPECT_EQ(info.filters, 2U);
#endif
    }
}
#endif

// Lists of dimensions or filters that are too long are refused, however long they are.
TEST(DatasetCreateTest, TooManyDimensionsOrFilters) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    DatasetCreate create;
    for (unsigned i = 0; i < 256 + 1; ++i) {
        create.chunk.push_back(4);
    }
    EXPECT_EQ(bench.file.root().create_dataset<std::int32_t>("d", create).status(), Status::invalid_argument);
#if H5MOTE_FILTERS
    DatasetCreate filtered;
    filtered.chunk = {4};
    for (unsigned i = 0; i < 256; ++i) {
        filtered.filters.push_back(filters::shuffle);
    }
    EXPECT_EQ(bench.file.root().create_dataset<std::int32_t>("d", filtered).status(), Status::invalid_argument);
#endif
    EXPECT_FALSE(bench.file.root().exists("d"));
}

// A dataset that was created with an undefined fill value reports it as undefined.
TEST(DatasetCreateTest, AnUndefinedFillValue) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    DatasetCreate create;
    create.fill_undefined = true;
    Group root = bench.file.root();
    const DatatypeView type = file_type_of<std::int32_t>();
    const std::byte fill[4] = {};
    DatasetCreate both = create;
    both.fill = fill;
    EXPECT_EQ(root.create_dataset("d", type, Dataspace::simple({4}), both).status(), Status::invalid_argument);
    both = create;
    both.fill_time = FillTime::on_allocation;
    EXPECT_EQ(root.create_dataset("d", type, Dataspace::simple({4}), both).status(), Status::invalid_argument);
    auto data = root.create_dataset("d", type, Dataspace::simple({4}), create);
    ASSERT_EQ(data.status(), Status::ok);
    std::int32_t value = 6;
    EXPECT_EQ(data->write(Selection::hyperslab({2}, {1}), datatype_of<std::int32_t>(), bytes_of(&value, 1)),
              Status::ok);
    std::int32_t got[4];
    EXPECT_EQ(data->read(Selection::all(), datatype_of<std::int32_t>(), bytes_of(got, 4)), Status::ok);
    EXPECT_EQ(got[2], 6);
#if H5MOTE_ALL_FORMATS
    DatasetInfo info;
    EXPECT_EQ(data->info(info), Status::ok);
    EXPECT_EQ(info.fill, FillState::undefined);
#endif
}

#endif
