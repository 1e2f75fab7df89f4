// Datasets that become larger and smaller, rows of any rank, chunks as they are stored: what h5mote makes, libhdf5
// reads.
#include "flash_chip.hpp"
#include "full_storage.hpp"
#include "object_changes.hpp"

#include <h5mote/filters/fletcher32.hpp>

namespace {

using namespace h5mote_test;

// The values of a dataset of numbers, as a model holds them: row-major, the fill value where nothing was written.
struct Model {
    std::vector<std::uint64_t> dims;
    std::vector<std::int32_t> values;

    std::size_t count() const {
        std::size_t all = 1;
        for (const std::uint64_t dim : dims) {
            all *= static_cast<std::size_t>(dim);
        }
        return all;
    }
    void resize(const std::vector<std::uint64_t>& wanted, std::int32_t fill) {
        Model next{wanted, {}};
        next.values.assign(next.count(), fill);
        std::vector<std::uint64_t> at(dims.size(), 0);
        for (std::size_t i = 0; i < values.size(); ++i) {
            bool inside = true;
            std::size_t to = 0;
            std::size_t rest = i;
            for (std::size_t d = dims.size(); d-- > 0;) {
                at[d] = rest % dims[d];
                rest /= static_cast<std::size_t>(dims[d]);
            }
            for (std::size_t d = 0; d < dims.size(); ++d) {
                inside = inside && at[d] < wanted[d];
                to = static_cast<std::size_t>(to * wanted[d] + at[d]);
            }
            if (inside) {
                next.values[to] = values[i];
            }
        }
        *this = next;
    }
};

// Elements of a row.
std::uint64_t row_of(const Model& model) {
    std::uint64_t row = 1;
    for (std::size_t d = 1; d < model.dims.size(); ++d) {
        row *= model.dims[d];
    }
    return row;
}

using ExtentChanges = Changes;

struct Shape {
    std::vector<std::uint64_t> dims;
    std::vector<std::uint64_t> most;
    std::vector<std::uint32_t> chunk;
    bool filtered;
    AllocationTime allocation = AllocationTime::automatic;

    std::uint64_t chunks(const std::vector<std::uint64_t>& extent) const {
        std::uint64_t all = 1;
        for (std::size_t d = 0; d < extent.size(); ++d) {
            all *= (extent[d] + chunk[d] - 1) / chunk[d];
        }
        return all;
    }
};

// Resizes a dataset at random, writes and appends rows, and compares it with the model, by h5mote and libhdf5. After
// each closing libhdf5 makes the dataset larger, too: beyond the extent everything has to be fill values.
void resize_at_random(Changes& test, const Shape& shape, unsigned seed) {
    const std::int32_t fill = -7;
    DatasetCreate create;
    create.chunk = ChunkDims({shape.chunk.data(), shape.chunk.size()});
    create.fill = as_bytes(Span<const std::int32_t>(&fill, 1));
    create.reserve = 256;
    create.allocation = shape.allocation;
    if (shape.filtered) {
        create.filters = {filters::shuffle, filters::deflate};
    }
    const std::size_t rank = shape.dims.size();
    auto made =
        test.root.create_dataset("data", datatype_of<std::int32_t>(),
                                 Dataspace::simple({shape.dims.data(), rank}, {shape.most.data(), rank}), create);
    ASSERT_EQ(made.status(), Status::ok);
    Dataset data = static_cast<Dataset&&>(*made);
    Model model{shape.dims, {}};
    model.values.assign(model.count(), fill);
    unsigned state = seed;
    const auto draw = [&](unsigned below) { return (state = state * 1103515245 + 12345) / 65536 % below; };
    for (int round = 0; round < 60; ++round) {
        const unsigned kind = draw(4);
        if (kind == 0) {
            std::vector<std::uint64_t> wanted;
            for (std::size_t d = 0; d < rank; ++d) {
                const std::uint64_t most = shape.most[d] == kUnlimited ? 23 : shape.most[d];
                wanted.push_back(draw(3) == 0 ? model.dims[d] : draw(static_cast<unsigned>(most) + 1));
            }
            ASSERT_EQ(data.set_extent({wanted.data(), rank}), Status::ok);
            model.resize(wanted, fill);
        } else if (kind == 1 && model.count() != 0) {
            for (std::int32_t& value : model.values) {
                value = static_cast<std::int32_t>(draw(1000));
            }
            ASSERT_EQ(data.write(Selection::all(), datatype_of<std::int32_t>(),
                                 as_bytes(Span<const std::int32_t>(model.values.data(), model.values.size()))),
                      Status::ok);
        } else if (kind == 2 && model.dims[0] < 30 && row_of(model) != 0) {
            const std::uint64_t rows = 1 + draw(3);
            const std::uint64_t row = row_of(model);
            std::vector<std::int16_t> added(static_cast<std::size_t>(rows * row));
            for (std::int16_t& value : added) {
                value = static_cast<std::int16_t>(draw(1000));
            }
            const Status status = data.append_rows(datatype_of<std::int16_t>(), added.data(), added.size());
            if (model.dims[0] + rows > shape.most[0]) {
                ASSERT_EQ(status, Status::invalid_argument);
            } else {
                ASSERT_EQ(status, Status::ok);
                model.values.insert(model.values.end(), added.begin(), added.end());
                model.dims[0] += rows;
            }
        } else {
            ASSERT_EQ(test.file.flush(), Status::ok);
        }
        Dataspace space;
        ASSERT_EQ(data.dataspace(space), Status::ok);
        for (std::size_t d = 0; d < rank; ++d) {
            ASSERT_EQ(space.dims()[d], model.dims[d]) << "round " << round;
        }
        std::vector<std::int32_t> read(model.values.size());
        ASSERT_EQ(data.read(Selection::all(), datatype_of<std::int32_t>(),
                            {reinterpret_cast<std::byte*>(read.data()), read.size() * 4}),
                  Status::ok);
        ASSERT_EQ(read, model.values) << "round " << round << " seed " << seed;
#ifdef H5MOTE_TEST_HDF5
        if (round % 6 == 5) {
            // A file that is closed has no chunks that were allocated ahead.
            ASSERT_EQ(data.close(), Status::ok);
            test.reopen();
            auto again = test.root.open_dataset("data");
            ASSERT_EQ(again.status(), Status::ok);
            data = static_cast<Dataset&&>(*again);
            const std::vector<std::byte> bytes = test.image();
            const Hdf5Id opened = open_image({bytes.data(), bytes.size()}, H5F_ACC_RDWR);
            ASSERT_GE(opened, 0);
            const Hdf5Id set(H5Dopen2(opened, "data", H5P_DEFAULT), H5Dclose);
            if (shape.allocation == AllocationTime::early) {
                const Hdf5Id all(H5Dget_space(set), H5Sclose);
                hsize_t chunks = 0;
                ASSERT_GE(H5Dget_num_chunks(set, all, &chunks), 0);
                ASSERT_EQ(chunks, shape.chunks(model.dims)) << "round " << round << " seed " << seed;
            }
            Model larger = model;
            std::vector<std::uint64_t> wanted;
            std::vector<hsize_t> sizes;
            for (std::size_t d = 0; d < rank; ++d) {
                wanted.push_back(shape.most[d] == kUnlimited ? model.dims[d] + 9 : shape.most[d]);
                sizes.push_back(wanted.back());
            }
            ASSERT_GE(H5Dset_extent(set, sizes.data()), 0);
            larger.resize(wanted, fill);
            std::vector<std::int32_t> found(larger.values.size());
            ASSERT_GE(H5Dread(set, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, found.data()), 0);
            ASSERT_EQ(found, larger.values) << "libhdf5, round " << round << " seed " << seed;
        }
#endif
    }
    test.check();
}

TEST_F(ExtentChanges, ExtensibleArrayOfOneDimension) { resize_at_random(*this, {{5}, {kUnlimited}, {4}, false}, 1); }
TEST_F(ExtentChanges, FilteredExtensibleArray) { resize_at_random(*this, {{5}, {kUnlimited}, {4}, true}, 2); }
TEST_F(ExtentChanges, FixedArray) { resize_at_random(*this, {{5}, {30}, {4}, false}, 3); }
TEST_F(ExtentChanges, FilteredFixedArray) { resize_at_random(*this, {{5}, {30}, {4}, true}, 4); }
TEST_F(ExtentChanges, RowsOfASpectrogram) { resize_at_random(*this, {{0, 6}, {kUnlimited, 9}, {3, 4}, false}, 5); }
TEST_F(ExtentChanges, FilteredRows) { resize_at_random(*this, {{0, 6}, {kUnlimited, 9}, {3, 4}, true}, 6); }
TEST_F(ExtentChanges, ThirdDimensionUnlimited) {
    resize_at_random(*this, {{2, 3, 4}, {30, 5, kUnlimited}, {2, 2, 3}, true}, 7);
}
TEST_F(ExtentChanges, FixedArrayOfTwoDimensions) { resize_at_random(*this, {{7, 6}, {30, 9}, {3, 4}, false}, 8); }
// Chunks of more bytes than the chunk cache has.
TEST_F(ExtentChanges, LargeChunks) { resize_at_random(*this, {{7, 6}, {kUnlimited, 9}, {100, 9}, false}, 9); }
// With allocation time early every chunk of the extent has its space, whatever the extent becomes.
TEST_F(ExtentChanges, EarlyAllocation) {
    resize_at_random(*this, {{5}, {kUnlimited}, {4}, false, AllocationTime::early}, 11);
}
TEST_F(ExtentChanges, EarlyFilteredRows) {
    resize_at_random(*this, {{0, 6}, {kUnlimited, 9}, {3, 4}, true, AllocationTime::early}, 12);
}
TEST_F(ExtentChanges, EarlyInTwoUnlimitedDimensions) {
    resize_at_random(*this, {{3, 6}, {kUnlimited, kUnlimited}, {3, 4}, false, AllocationTime::early}, 13);
}
TEST_F(ExtentChanges, EarlyImplicitIndex) {
    resize_at_random(*this, {{7, 6}, {30, 9}, {3, 4}, false, AllocationTime::early}, 14);
}
TEST_F(ExtentChanges, EarlyLargeChunks) {
    resize_at_random(*this, {{7, 6}, {kUnlimited, 9}, {100, 9}, false, AllocationTime::early}, 15);
}
TEST_F(ExtentChanges, OneLargeChunk) { resize_at_random(*this, {{5}, {kUnlimited}, {700}, false}, 10); }

#ifdef H5MOTE_TEST_HDF5
// The indexes that h5mote makes none of: a single chunk, and all chunks allocated at once.
TEST_F(ExtentChanges, ChunksWithoutAnIndex) {
    for (const bool implicit : {false, true}) {
        constexpr const char* kName = "object_changes_host_test.h5";
        {
            const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
            H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
            const Hdf5Id made(H5Fcreate(kName, H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
            const hsize_t dims[2] = {8, 6};
            const hsize_t chunk[2] = {implicit ? 3U : 8U, implicit ? 4U : 6U};
            const Hdf5Id space(H5Screate_simple(2, dims, dims), H5Sclose);
            const Hdf5Id create(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
            const std::int32_t fill = -7;
            H5Pset_chunk(create, 2, chunk);
            H5Pset_fill_value(create, H5T_NATIVE_INT32, &fill);
            if (implicit) {
                H5Pset_alloc_time(create, H5D_ALLOC_TIME_EARLY);
            }
            const Hdf5Id set(H5Dcreate2(made, "data", H5T_NATIVE_INT32, space, H5P_DEFAULT, create, H5P_DEFAULT),
                             H5Dclose);
            const std::vector<std::int32_t> values(48, 5);
            ASSERT_GE(H5Dwrite(set, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
        }
        ASSERT_EQ(file.close(), Status::ok);
        const std::vector<std::byte> bytes = take_file(kName);
        ASSERT_EQ(storage.assign({bytes.data(), bytes.size()}), Status::ok);
        Model model{{8, 6}, std::vector<std::int32_t>(48, 5)};
        for (const std::vector<std::uint64_t>& wanted :
             {std::vector<std::uint64_t>{7, 3}, {8, 5}, {2, 2}, {0, 6}, {8, 6}}) {
            reopen();
            auto data = root.open_dataset("data");
            ASSERT_EQ(data.status(), Status::ok);
            DatasetInfo info;
            ASSERT_EQ(data->info(info), Status::ok);
            ASSERT_EQ(info.chunk_index, implicit ? ChunkIndex::implicit : ChunkIndex::single);
            ASSERT_EQ(data->set_extent({wanted.data(), 2}), Status::ok);
            model.resize(wanted, -7);
            std::vector<std::int32_t> read(model.values.size());
            ASSERT_EQ(data->read(Selection::all(), datatype_of<std::int32_t>(),
                                 {reinterpret_cast<std::byte*>(read.data()), read.size() * 4}),
                      Status::ok);
            EXPECT_EQ(read, model.values);
            const std::vector<std::byte> now = image();
            const Hdf5Id opened = open_image({now.data(), now.size()}, H5F_ACC_RDWR);
            const Hdf5Id set(H5Dopen2(opened, "data", H5P_DEFAULT), H5Dclose);
            const hsize_t whole[2] = {8, 6};
            ASSERT_GE(H5Dset_extent(set, whole), 0);
            Model larger = model;
            larger.resize({8, 6}, -7);
            std::vector<std::int32_t> found(48);
            ASSERT_GE(H5Dread(set, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, found.data()), 0);
            EXPECT_EQ(found, larger.values) << implicit << " " << wanted[0] << " " << wanted[1];
        }
    }
}
#endif

// Rows that found no room are gone: later ones, and what later extents add, have nothing of them.
TEST(ExtentsWithoutRoom, RowsThatFoundNoRoom) {
    constexpr const Filter* kChecksum[] = {&fletcher32_filter};
    for (const std::uint32_t chunk : {1U, 4U}) {
        for (const bool filtered : {false, true}) {
            std::uint64_t failed = 0;
            bool refused = true;
            for (std::uint64_t call = 1; refused; ++call) {
                MallocAllocator memory;
                NullPort port;
                Library library{memory, port, kChecksum, formats::all};
                GrowingMemoryDriver inner{memory};
                FullStorage storage(inner);
                auto file = File::create(library, storage);
                ASSERT_EQ(file.status(), Status::ok);
                DatasetCreate create;
                create.chunk = {chunk};
                if (filtered) {
                    create.filters = {filters::fletcher32};
                }
                auto dataset = file->root().create_dataset("rows", file_type_of<std::int32_t>(),
                                                           Dataspace::simple({0}, {kUnlimited}), create);
                ASSERT_EQ(dataset.status(), Status::ok);
                std::vector<std::int32_t> expected;
                const auto append = [&](std::int32_t first, std::size_t count) {
                    std::vector<std::int32_t> rows;
                    for (std::size_t i = 0; i < count; ++i) {
                        rows.push_back(first + static_cast<std::int32_t>(i));
                    }
                    const Status status = dataset->append_rows(datatype_of<std::int32_t>(), rows.data(), count);
                    if (status == Status::ok) {
                        expected.insert(expected.end(), rows.begin(), rows.end());
                    }
                    return status;
                };
                ASSERT_EQ(append(100, 3), Status::ok);
                storage.calls = 0;
                storage.refuses = call;
                const Status status = append(200, 20);
                refused = storage.calls >= call;
                storage.refuses = 0;
                EXPECT_EQ(status, refused ? Status::no_space : Status::ok);
                failed += refused ? 1 : 0;
                ASSERT_EQ(append(300, 6), Status::ok);
                expected.resize(expected.size() + 9);
                ASSERT_EQ(dataset->set_extent({expected.size()}), Status::ok);
                ASSERT_EQ(dataset->close(), Status::ok);
                ASSERT_EQ(file->close(), Status::ok);
                auto again = File::open(library, storage);
                ASSERT_EQ(again.status(), Status::ok);
                auto found = again->root().open_dataset("rows");
                ASSERT_EQ(found->size(), expected.size());
                std::vector<std::int32_t> rows(expected.size());
                ASSERT_EQ(found->read(Selection::all(), datatype_of<std::int32_t>(),
                                      {reinterpret_cast<std::byte*>(rows.data()), rows.size() * sizeof rows[0]}),
                          Status::ok);
                EXPECT_EQ(rows, expected) << "chunk " << chunk << " filtered " << filtered << " call " << call;
            }
            EXPECT_GT(failed, 4U);
        }
    }
}

#if H5MOTE_FIXED_CHUNKS && H5MOTE_PARTIAL_IO
// The index of a dataset with a large maximum takes most of the storage. Chunks leave it only in a copy, for which
// there is no room: the extent stays, and so do all values.
TEST(ExtentsWithoutRoom, LargeIndex) {
    MallocAllocator memory;
    NullPort port;
    Library library{memory, port, {}, formats::all};
    std::vector<std::byte> bytes(std::size_t{1} << 20);
    MemoryDriver storage{{bytes.data(), bytes.size()}};
    DatasetCreate create;
    create.chunk = {1, 1};
    std::vector<std::int32_t> values{1, 2, 3, 4, 5, 6};
    const auto as_bytes = [&] { return Bytes{reinterpret_cast<std::byte*>(values.data()), values.size() * 4}; };
    for (const bool again : {false, true}) {
        auto file = again ? File::open(library, storage) : File::create(library, storage);
        ASSERT_EQ(file.status(), Status::ok);
        auto data = again ? file->root().open_dataset("data")
                          : file->root().create_dataset("data", file_type_of<std::int32_t>(),
                                                        Dataspace::simple({3, 2}, {300, 300}), create);
        ASSERT_EQ(data.status(), Status::ok);
        if (!again) {
            ASSERT_EQ(data->write(Selection::all(), datatype_of<std::int32_t>(), as_bytes()), Status::ok);
        }
        EXPECT_EQ(data->set_extent({2, 2}), Status::no_space);
        EXPECT_EQ(data->set_extent({4, 3}), Status::ok);
        EXPECT_EQ(data->close(), Status::ok);
        EXPECT_EQ(file->close(), Status::ok);
        std::fill(values.begin(), values.end(), 0);
        auto read = File::open(library, storage);
        ASSERT_EQ(read.status(), Status::ok);
        auto found = read->root().open_dataset("data");
        ASSERT_EQ(found.status(), Status::ok);
        const std::uint64_t start[] = {0, 0};
        const std::uint64_t count[] = {3, 2};
        ASSERT_EQ(found->read(Selection::hyperslab(start, count), datatype_of<std::int32_t>(), as_bytes()), Status::ok);
        EXPECT_EQ(values, (std::vector<std::int32_t>{1, 2, 3, 4, 5, 6}));
    }
}

// The index of one dataset takes most of the storage, and a chunk of it is in memory when another dataset becomes
// smaller, which commits. The chunk, which was taken, is stored, although there is no room for a copy of the index.
TEST(ExtentsWithoutRoom, ChunkOfAnotherDataset) {
    MallocAllocator memory;
    NullPort port;
    constexpr const Filter* kChecksum[] = {&fletcher32_filter};
    Library library{memory, port, kChecksum, formats::all};
    std::vector<std::byte> bytes(std::size_t{3} << 19);
    MemoryDriver storage{{bytes.data(), bytes.size()}};
    const std::vector<std::int32_t> values{1, 2, 3, 4, 5, 6};
    const ConstBytes as_bytes{reinterpret_cast<const std::byte*>(values.data()), values.size() * 4};
    {
        auto file = File::create(library, storage);
        ASSERT_EQ(file.status(), Status::ok);
        DatasetCreate create;
        create.chunk = {6};
        auto rows = file->root().create_dataset<std::int32_t>("rows", create);
        ASSERT_EQ(rows.status(), Status::ok);
        ASSERT_EQ(rows->set_extent({10}), Status::ok);
        create.chunk = {1, 1};
        create.filters = {filters::fletcher32};
        auto data = file->root().create_dataset("data", file_type_of<std::int32_t>(),
                                                Dataspace::simple({3, 2}, {300, 300}), create);
        ASSERT_EQ(data.status(), Status::ok);
        ASSERT_EQ(data->write(Selection::all(), datatype_of<std::int32_t>(), as_bytes), Status::ok);
        ASSERT_EQ(rows->set_extent({9}), Status::ok);
        EXPECT_EQ(data->set_extent({2, 2}), Status::no_space);
        EXPECT_EQ(rows->close(), Status::ok);
        EXPECT_EQ(data->close(), Status::ok);
        EXPECT_EQ(file->close(), Status::ok);
    }
    auto file = File::open(library, storage);
    ASSERT_EQ(file.status(), Status::ok);
    auto data = file->root().open_dataset("data");
    ASSERT_EQ(data.status(), Status::ok);
    std::vector<std::int32_t> found(values.size());
    ASSERT_EQ(data->read(Selection::all(), datatype_of<std::int32_t>(),
                         {reinterpret_cast<std::byte*>(found.data()), found.size() * 4}),
              Status::ok);
    EXPECT_EQ(found, values);
}
#endif

#if H5MOTE_PARTIAL_IO && H5MOTE_ALL_FORMATS
// A transaction that fills a flash chip ends with a smaller extent. What was taken is stored, whatever is left of the
// chip: the chunks beyond the extent, for whose removal there is no room, go in a second commit.
TEST(ExtentsWithoutRoom, FullChip) {
    unsigned stored = 0;
    unsigned refused = 0;
    for (unsigned blocks = 16; blocks < 200; ++blocks) {
        FlashGeometry geometry;
        geometry.block_size = 16384;
        geometry.blocks = blocks;
        geometry.page_size = 256;
        geometry.program_unit = 1;
        FlashFormat format;
        format.page_size = 1024;
        FlashChip chip(geometry, format);
        ASSERT_EQ(chip.driver.format(format, {}), Status::ok);
        MallocAllocator memory;
        NullPort port;
        Library library{memory, port, {}, formats::all};
        std::vector<std::uint8_t> expected;
        {
            FileAccess access;
            access.metadata_cache = 4096;
            access.chunk_cache = 400;
            access.low = FormatVersion::v18;
            auto file = File::create(library, chip.driver, access);
            ASSERT_EQ(file.status(), Status::ok);
            ASSERT_EQ(file->flush(), Status::ok);
            DatasetCreate rows;
            rows.chunk = {1};
            rows.reserve = 300;
            auto data = file->root().create_dataset<std::uint8_t>("data", rows);
            Status status = data.status();
            for (const std::uint64_t size : {80U, 150U, 190U}) {
                std::vector<std::uint8_t> values(static_cast<std::size_t>(size));
                for (std::size_t i = 0; i < values.size(); ++i) {
                    values[i] = static_cast<std::uint8_t>(size + i);
                }
                status = status == Status::ok ? data->set_extent({size}) : status;
                status = status == Status::ok
                             ? data->write(Selection::all(), datatype_of<std::uint8_t>(),
                                           {reinterpret_cast<const std::byte*>(values.data()), values.size()})
                             : status;
                if (status == Status::ok) {
                    expected = values;
                }
            }
            if (status == Status::ok) {
                status = data->set_extent({38});
                expected.resize(status == Status::ok ? 38 : expected.size());
                refused += status == Status::ok ? 0U : 1U;
            }
            if (status != Status::ok) {
                EXPECT_EQ(status, Status::no_space);
                continue;
            }
            ASSERT_EQ(data->close(), Status::ok) << blocks;
            ASSERT_EQ(file->close(), Status::ok) << blocks;
            ++stored;
        }
        auto file = File::open(library, chip.driver);
        ASSERT_EQ(file.status(), Status::ok);
        auto data = file->root().open_dataset("data");
        ASSERT_EQ(data.status(), Status::ok);
        std::vector<std::uint8_t> values(static_cast<std::size_t>(data->size()));
        ASSERT_EQ(data->read(Selection::all(), datatype_of<std::uint8_t>(),
                             {reinterpret_cast<std::byte*>(values.data()), values.size()}),
                  Status::ok);
        EXPECT_EQ(values, expected) << blocks;
    }
    std::printf("%u stored, %u refused\n", stored, refused);
    EXPECT_GT(stored, 0U);
}
#endif

TEST_F(ExtentChanges, RefusedExtents) {
    DatasetCreate create;
    create.chunk = {4, 4};
    auto data =
        root.create_dataset("data", datatype_of<std::int32_t>(), Dataspace::simple({4, 4}, {kUnlimited, 8}), create);
    ASSERT_EQ(data.status(), Status::ok);
    EXPECT_EQ(data->set_extent({4, 9}), Status::invalid_argument);
    EXPECT_EQ(data->set_extent({4}), Status::invalid_argument);
    EXPECT_EQ(data->set_extent({kUnlimited, 4}), Status::invalid_argument);
    const std::int32_t values[5] = {};
    EXPECT_EQ(data->append_rows(datatype_of<std::int32_t>(), values, 5), Status::invalid_argument);
    EXPECT_EQ(data->append_rows(datatype_of<std::int32_t>(), values, 4), Status::ok);
    EXPECT_EQ(data->set_extent({4, 0}), Status::ok);
    EXPECT_EQ(data->append_rows(datatype_of<std::int32_t>(), values, 4), Status::invalid_argument);
    EXPECT_EQ(data->append_rows(datatype_of<std::int32_t>(), values, 0), Status::ok);
    auto fixed = root.create_dataset("fixed", datatype_of<std::int32_t>(), Dataspace::simple({4}), {});
    ASSERT_EQ(fixed.status(), Status::ok);
    EXPECT_EQ(fixed->set_extent({3}), Status::invalid_argument);
    EXPECT_EQ(fixed->append_rows(datatype_of<std::int32_t>(), values, 1), Status::invalid_argument);
}

// A log becomes shorter between two appends.
TEST_F(ExtentChanges, LogGoesOnAfterItBecameShorter) {
    DatasetCreate create;
    create.chunk = {4};
    create.reserve = 64;
    auto log = root.create_dataset<std::int32_t>("log", create);
    ASSERT_EQ(log.status(), Status::ok);
    std::vector<std::int32_t> model;
    for (int round = 0; round < 40; ++round) {
        for (int i = 0; i < 7; ++i) {
            model.push_back(100 * round + i);
            ASSERT_EQ(log->append(model.back()), Status::ok);
        }
        if (round % 3 == 0) {
            ASSERT_EQ(file.flush(), Status::ok);
        }
        if (round % 2 == 1) {
            model.resize(model.size() - static_cast<std::size_t>(1 + round % 11));
            ASSERT_EQ(log->set_extent({model.size()}), Status::ok);
        }
        std::vector<std::int32_t> read(model.size());
        ASSERT_EQ(log->read(Selection::all(), Span<std::int32_t>(read.data(), read.size())), Status::ok);
        ASSERT_EQ(read, model) << round;
    }
    check();
}

// The index has four bytes for the size of such a chunk: as many as a size in memory has on a 32-bit machine.
TEST_F(ExtentChanges, StoredChunksOfMoreThan64KiB) {
    constexpr std::size_t kBytes = 70000;
    DatasetCreate create;
    create.chunk = {kBytes};
    create.filters = {filters::shuffle};
    GrowingMemoryDriver large(memory);
    FileAccess access;
    access.chunk_cache = kBytes;
    auto made = File::create(library, large, access);
    ASSERT_EQ(made.status(), Status::ok);
    auto data = made->root().create_dataset("large", datatype_of<std::uint8_t>(), Dataspace::simple({kBytes}), create);
    ASSERT_EQ(data.status(), Status::ok);
    std::vector<std::byte> bytes(kBytes);
    for (std::size_t i = 0; i < kBytes; ++i) {
        bytes[i] = static_cast<std::byte>(i % 251);
    }
    const std::uint64_t first[1] = {0};
    ASSERT_EQ(data->write_chunk(first, {bytes.data(), kBytes}, 1), Status::ok);
    std::vector<std::byte> read(kBytes);
    ChunkInfo info;
    ASSERT_EQ(data->read_chunk(first, {read.data(), kBytes}, info), Status::ok);
    EXPECT_EQ(info.size, kBytes);
    EXPECT_EQ(info.filter_mask, 1U);
    EXPECT_EQ(read, bytes);
}

TEST_F(ExtentChanges, ChunksAsTheyAreStored) {
    for (const bool filtered : {false, true}) {
        DatasetCreate create;
        create.chunk = {3, 4};
        if (filtered) {
            create.filters = {filters::shuffle, filters::deflate};
        }
        const char* const name = filtered ? "filtered" : "plain";
        auto data =
            root.create_dataset(name, datatype_of<std::int32_t>(), Dataspace::simple({7, 9}, {kUnlimited, 9}), create);
        ASSERT_EQ(data.status(), Status::ok);
        std::vector<std::int32_t> values(63);
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = static_cast<std::int32_t>(i);
        }
        ChunkInfo info;
        std::byte stored[96];
        const std::uint64_t second[2] = {3, 4};
        EXPECT_EQ(data->read_chunk(second, stored, info), Status::not_found);
        ASSERT_EQ(data->write(Selection::all(), datatype_of<std::int32_t>(),
                              as_bytes(Span<const std::int32_t>(values.data(), values.size()))),
                  Status::ok);
        const std::uint64_t inside[2] = {4, 6};
        const std::uint64_t beyond[2] = {7, 0};
        ASSERT_EQ(data->chunk_info(inside, info), Status::ok);
        EXPECT_NE(info.address, kUndefinedAddress);
        EXPECT_EQ(data->chunk_info(beyond, info), Status::invalid_argument);
        EXPECT_EQ(data->read_chunk(inside, stored, info), Status::invalid_argument);
        ASSERT_EQ(data->read_chunk(second, stored, info), Status::ok);
        EXPECT_EQ(info.filter_mask, 0U);
        EXPECT_EQ(data->read_chunk(second, {stored, 1}, info), Status::invalid_argument);
        // The chunk goes to another place of the dataset as it is.
        const std::uint64_t target[2] = {0, 0};
        ASSERT_EQ(data->read_chunk(second, stored, info), Status::ok);
        ASSERT_EQ(data->write_chunk(target, {stored, static_cast<std::size_t>(info.size)}), Status::ok);
        // Another one is stored without filters.
        const std::int32_t plain[12] = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0, -1, -2};
        const std::uint64_t last[2] = {6, 8};
        ASSERT_EQ(data->write_chunk(last, as_bytes(Span(plain)), filtered ? 3 : 0), Status::ok);
        EXPECT_EQ(data->write_chunk(last, {stored, 0}), Status::invalid_argument);
        std::int32_t read[63] = {};
        ASSERT_EQ(data->read(Selection::all(), datatype_of<std::int32_t>(),
                             {reinterpret_cast<std::byte*>(read), sizeof read}),
                  Status::ok);
        EXPECT_EQ(read[0], 3 * 9 + 4);
        EXPECT_EQ(read[2 * 9 + 3], 5 * 9 + 7);
        EXPECT_EQ(read[62], 9);
        std::uint64_t offset[2];
        unsigned chunks = 0;
        while (data->chunk_info(chunks, offset, info) == Status::ok) {
            ChunkInfo same;
            ASSERT_EQ(data->chunk_info(offset, same), Status::ok);
            EXPECT_EQ(same.address, info.address);
            EXPECT_EQ(same.size, info.size);
            ++chunks;
        }
        EXPECT_EQ(chunks, 9U);
#ifdef H5MOTE_TEST_HDF5
        const std::vector<std::byte> bytes = image();
        const Hdf5Id opened = open_image({bytes.data(), bytes.size()});
        const Hdf5Id set(H5Dopen2(opened, name, H5P_DEFAULT), H5Dclose);
        std::int32_t found[63] = {};
        ASSERT_GE(H5Dread(set, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, found), 0);
        EXPECT_EQ(std::memcmp(found, read, sizeof read), 0);
        hsize_t size = 0;
        haddr_t address = 0;
        unsigned mask = 0;
        const hsize_t at[2] = {6, 8};
        ASSERT_GE(H5Dget_chunk_info_by_coord(set, at, &mask, &address, &size), 0);
        ASSERT_EQ(data->chunk_info(last, info), Status::ok);
        EXPECT_EQ(address, info.address);
        EXPECT_EQ(size, info.size);
        EXPECT_EQ(mask, info.filter_mask);
        EXPECT_EQ(mask, filtered ? 3U : 0U);
#endif
    }
    check();
}

}  // namespace
