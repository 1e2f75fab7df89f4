// Datasets with two and three unlimited dimensions, whose chunks are in version 2 B-trees: written and grown at random
// beside a model, by h5mote and by libhdf5 in turns.
#include "checksum.hpp"
#include "full_storage.hpp"
#include "sound.hpp"
#include "storage_bench.hpp"
#include "sweep.hpp"
#include "world.hpp"

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#ifdef H5MOTE_TEST_HDF5
#include "hdf5_image.hpp"
#endif

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr std::int32_t kFill = -5;

// The values of a dataset of rank 3; one of rank 2 has one layer.
struct Model {
    std::array<std::uint64_t, 3> dims{};
    std::vector<std::int32_t> values;

    std::int32_t& at(std::uint64_t i, std::uint64_t j, std::uint64_t k) {
        return values[static_cast<std::size_t>((i * dims[1] + j) * dims[2] + k)];
    }
    void grow(const std::array<std::uint64_t, 3>& to) {
        Model larger;
        larger.dims = to;
        larger.values.assign(static_cast<std::size_t>(to[0] * to[1] * to[2]), kFill);
        for (std::uint64_t i = 0; i < dims[0]; ++i) {
            for (std::uint64_t j = 0; j < dims[1]; ++j) {
                for (std::uint64_t k = 0; k < dims[2]; ++k) {
                    larger.at(i, j, k) = at(i, j, k);
                }
            }
        }
        *this = larger;
    }
};

struct Box {
    std::array<std::uint64_t, 3> start{};
    std::array<std::uint64_t, 3> count{};
    std::vector<std::int32_t> values;
};

class Play {
public:
    Play(unsigned the_rank, bool with_filters, std::uint32_t seed)
        : rank(the_rank), filtered(with_filters), numbers(seed) {
        access.metadata_cache = 4096;
        access.chunk_cache = 64;  // one chunk
        model.grow({3, 4, rank == 3 ? 2U : 1U});
    }

    Status create() {
        auto made = File::create(library, storage, access);
        H5MOTE_TRY(made.status());
        file = static_cast<File&&>(*made);
        std::byte fill[4];
        store_le<std::uint32_t>(fill, static_cast<std::uint32_t>(kFill));
        DatasetCreate create;
        create.fill = fill;
        if (filtered) {
            create.filters.push_back(filters::shuffle);
            create.filters.push_back(filters::deflate);
        }
        const std::uint64_t most[] = {kUnlimited, kUnlimited, kUnlimited};
        create.chunk = {2, 3};
        if (rank == 3) {
            create.chunk = {2, 3, 2};
        }
        return file.root()
            .create_dataset("d", file_type_of<std::int32_t>(),
                            Dataspace::simple({model.dims.data(), rank}, {most, rank}), create)
            .status();
    }
    Status open() {
        auto opened = File::open(library, storage, access);
        file = static_cast<File&&>(*opened);
        return opened.status();
    }

    Box random_box() {
        Box box;
        std::size_t size = 1;
        for (unsigned i = 0; i < 3; ++i) {
            box.start[i] = numbers.below(static_cast<std::uint32_t>(model.dims[i]));
            const auto left = static_cast<std::uint32_t>(model.dims[i] - box.start[i]);
            box.count[i] = 1 + numbers.below(left < 5 ? left : 5);
            size *= static_cast<std::size_t>(box.count[i]);
        }
        for (std::size_t i = 0; i < size; ++i) {
            // Chunks of small numbers can be compressed. libhdf5 1.10 forgets to enter in the index that deflate was
            // skipped, or not any more, when that changes and the size in the file does not.
            box.values.push_back(static_cast<std::int32_t>(numbers.below(100)));
        }
        return box;
    }
    void enter(const Box& box) {
        std::size_t at = 0;
        for (std::uint64_t i = 0; i < box.count[0]; ++i) {
            for (std::uint64_t j = 0; j < box.count[1]; ++j) {
                for (std::uint64_t k = 0; k < box.count[2]; ++k) {
                    model.at(box.start[0] + i, box.start[1] + j, box.start[2] + k) = box.values[at++];
                }
            }
        }
    }
    std::array<std::uint64_t, 3> larger() {
        auto dims = model.dims;
        for (unsigned i = 0; i < rank; ++i) {
            dims[i] += numbers.below(3) == 0 ? numbers.below(i == 2 ? 2 : 7) : 0;
        }
        return dims;
    }

    Status step() {
        auto data = file.root().open_dataset("d");
        H5MOTE_TRY(data.status());
        if (numbers.below(3) == 0) {
            const auto dims = larger();
            H5MOTE_TRY(data->set_extent({dims.data(), rank}));
            model.grow(dims);
        }
        const Box box = random_box();
        H5MOTE_TRY(data->write(Selection::hyperslab({box.start.data(), rank}, {box.count.data(), rank}),
                               datatype_of<std::int32_t>(),
                               as_bytes(Span<const std::int32_t>(box.values.data(), box.values.size()))));
        enter(box);
        return data->close();
    }
    bool equals_model() {
        auto data = file.root().open_dataset("d");
        std::vector<std::int32_t> values(model.values.size());
        return data.status() == Status::ok &&
               data->read(Selection::all(), datatype_of<std::int32_t>(),
                          {reinterpret_cast<std::byte*>(values.data()), values.size() * 4}) == Status::ok &&
               values == model.values;
    }

#ifdef H5MOTE_TEST_HDF5
    bool hdf5_equals_model() {
        const auto image = image_of(storage);
        const Hdf5Id opened = open_image({image.data(), image.size()});
        const Hdf5Id data(H5Dopen2(opened, "d", H5P_DEFAULT), H5Dclose);
        const Hdf5Id space(H5Dget_space(data), H5Sclose);
        hsize_t dims[3] = {1, 1, 1};
        std::vector<std::int32_t> values(model.values.size());
        return H5Sget_simple_extent_dims(space, dims, nullptr) == static_cast<int>(rank) && dims[0] == model.dims[0] &&
               dims[1] == model.dims[1] && dims[2] == model.dims[2] &&
               H5Dread(data, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0 &&
               values == model.values;
    }
    // Goes on with the closed file in libhdf5.
    bool continue_in_hdf5(unsigned steps) {
        const std::string name = ::testing::TempDir() + "chunk_btree2.h5";
        const auto image = image_of(storage);
        std::ofstream(name, std::ios::binary)
            .write(reinterpret_cast<const char*>(image.data()), static_cast<std::streamsize>(image.size()));
        bool good = true;
        {
            const Hdf5Id opened(H5Fopen(name.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
            const Hdf5Id data(H5Dopen2(opened, "d", H5P_DEFAULT), H5Dclose);
            for (unsigned i = 0; good && i < steps; ++i) {
                const auto dims = larger();
                const hsize_t sizes[] = {dims[0], dims[1], dims[2]};
                good = H5Dset_extent(data, sizes) >= 0;
                model.grow(dims);
                const Box box = random_box();
                const hsize_t start[] = {box.start[0], box.start[1], box.start[2]};
                const hsize_t count[] = {box.count[0], box.count[1], box.count[2]};
                const Hdf5Id space(H5Dget_space(data), H5Sclose);
                const Hdf5Id memory(H5Screate_simple(static_cast<int>(rank), count, nullptr), H5Sclose);
                good = good && H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr) >= 0 &&
                       H5Dwrite(data, H5T_NATIVE_INT32, memory, space, H5P_DEFAULT, box.values.data()) >= 0;
                enter(box);
            }
        }
        const auto written = take_file(name);
        return good && storage.assign({written.data(), written.size()}) == Status::ok;
    }
    // Makes the same dataset in libhdf5.
    bool create_in_hdf5() {
        const std::string name = ::testing::TempDir() + "chunk_btree2_new.h5";
        bool good = false;
        {
            const Hdf5Id list(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
            H5Pset_libver_bounds(list, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
            const Hdf5Id made(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, list), H5Fclose);
            const Hdf5Id create(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
            const hsize_t chunk[] = {2, 3, 2};
            const hsize_t dims[] = {model.dims[0], model.dims[1], model.dims[2]};
            const hsize_t most[] = {H5S_UNLIMITED, H5S_UNLIMITED, H5S_UNLIMITED};
            H5Pset_chunk(create, static_cast<int>(rank), chunk);
            H5Pset_fill_value(create, H5T_NATIVE_INT32, &kFill);
            if (filtered) {
                H5Pset_shuffle(create);
                H5Pset_deflate(create, 6);
            }
            const Hdf5Id space(H5Screate_simple(static_cast<int>(rank), dims, most), H5Sclose);
            const Hdf5Id data(H5Dcreate2(made, "d", H5T_STD_I32LE, space, H5P_DEFAULT, create, H5P_DEFAULT), H5Dclose);
            good = data >= 0;
        }
        const auto written = take_file(name);
        return good && storage.assign({written.data(), written.size()}) == Status::ok;
    }
#endif

    unsigned rank;
    bool filtered;
    Numbers numbers;
    MallocAllocator heap;
    MallocAllocator bytes;
    GrowingMemoryDriver storage{bytes, std::size_t{1} << 24};
    NullPort port;
    Library library{heap, port, world_filters()};
    FileAccess access;
    File file;
    Model model;
};

void play(unsigned rank, bool filtered, [[maybe_unused]] bool theirs, std::uint32_t seed) {
    Play play(rank, filtered, seed);
#ifdef H5MOTE_TEST_HDF5
    if (theirs) {
        ASSERT_TRUE(play.create_in_hdf5());
        ASSERT_EQ(play.open(), Status::ok);
    } else
#endif
    {
        ASSERT_EQ(play.create(), Status::ok);
    }
    for (unsigned session = 0; session < 4; ++session) {
        for (unsigned i = 0; i < 40; ++i) {
            ASSERT_EQ(play.step(), Status::ok) << session << " " << i;
            if (play.numbers.below(8) == 0) {
                ASSERT_EQ(play.file.flush(), Status::ok);
                ASSERT_TRUE(play.equals_model());
            }
        }
        ASSERT_TRUE(play.equals_model());
        ASSERT_EQ(play.file.flush(), Status::ok);
        const Findings findings = findings_in(play.file);
        EXPECT_TRUE(findings.none()) << findings.last_kind << " at " << findings.last_address;
        ASSERT_EQ(play.file.close(), Status::ok);
#ifdef H5MOTE_TEST_HDF5
        ASSERT_TRUE(play.hdf5_equals_model());
        ASSERT_TRUE(play.continue_in_hdf5(10));
#endif
        ASSERT_EQ(play.open(), Status::ok);
        ASSERT_TRUE(play.equals_model());
    }
    // Deletion gives everything up but what the empty file has.
    ASSERT_EQ(play.file.root().unlink("d"), Status::ok);
    ASSERT_EQ(play.file.close(), Status::ok);
    ASSERT_EQ(play.open(), Status::ok);
    EXPECT_TRUE(findings_in(play.file).none());
    ASSERT_EQ(play.file.close(), Status::ok);
    EXPECT_EQ(play.heap.usage().now, 0U);
}

}  // namespace

TEST(ChunkBTree2, GrowsInEveryDimension) {
    for (const unsigned rank : {2U, 3U}) {
        for (const bool filtered : {false, true}) {
            for (const bool theirs : {false, true}) {
                play(rank, filtered, theirs, rank + (filtered ? 10 : 0));
            }
        }
    }
}

namespace {

// Where a block with one of the tree's signatures has its checksum, counted from its start; 0: it is none.
std::size_t checksum_of_block(const std::vector<std::byte>& image, std::size_t at) {
    for (const char* const signature : {"BTHD", "BTLF", "BTIN"}) {
        if (std::memcmp(image.data() + at, signature, 4) == 0) {
            for (std::size_t size = 6; size < 2048 && at + size + 4 <= image.size(); ++size) {
                if (lookup3({image.data() + at, size}) == load_le<std::uint32_t>(image.data() + at + size)) {
                    return size;
                }
            }
        }
    }
    return 0;
}

std::vector<std::byte> bytes_of_storage(const Play& play) {
    const ConstBytes contents = play.storage.contents();
    return {contents.begin(), contents.end()};
}

}  // namespace

// Every byte of the tree is damaged in turn, and the checksum repaired: whatever the damage, the dataset is written,
// grown and unlinked, or that is refused, and all memory is given back.
TEST(ChunkBTree2, IsChangedWhateverItSays) {
    unsigned points = 0;
    unsigned refused = 0;
    for (const bool filtered : {false, true}) {
        Play made(2, filtered, 3);
        ASSERT_EQ(made.create(), Status::ok);
        for (unsigned i = 0; i < 60; ++i) {
            ASSERT_EQ(made.step(), Status::ok);
        }
        ASSERT_EQ(made.file.close(), Status::ok);
        const std::vector<std::byte> image = bytes_of_storage(made);
        for (std::size_t block = 0; block + 10 < image.size(); ++block) {
            const std::size_t size = checksum_of_block(image, block);
            for (std::size_t i = 4; i<size; i += size> 60 ? 7 * sweep_step() : 1) {
                for (const std::byte bits : {std::byte{1}, std::byte{0x80}, std::byte{0xff}}) {
                    std::vector<std::byte> damaged = image;
                    damaged[block + i] ^= bits;
                    store_le(damaged.data() + block + size, lookup3({damaged.data() + block, size}));
                    Play play(2, filtered, 5);
                    play.model = made.model;
                    ASSERT_EQ(play.storage.assign({damaged.data(), damaged.size()}), Status::ok);
                    Status status = play.open();
                    ASSERT_EQ(status, Status::ok);
                    for (unsigned step = 0; step < 6 && status == Status::ok; ++step) {
                        status = play.step();
                    }
                    const Status flushed = play.file.flush();
                    const Status gone = play.file.root().unlink("d");
                    refused += status != Status::ok || flushed != Status::ok || gone != Status::ok ? 1 : 0;
                    (void)play.file.close();
                    EXPECT_EQ(play.heap.usage().now, 0U);
                    ++points;
                }
            }
        }
    }
    std::printf("%u points, %u refused\n", points, refused);
    EXPECT_GT(points, 500U / sweep_step());
    EXPECT_GT(refused, 10U);
}

namespace {

// A log in chunks of 64 numbers whose index, still without chunks, is a version 2 B-tree. The specification allows that
// with one dimension, too, but no library makes it: the layout message of an extensible array is replaced.
std::vector<std::byte> log_with_tree() {
    MallocAllocator memory;
    NullPort port;
    Library library(memory, port);
    GrowingMemoryDriver storage(memory);
    auto file = File::create(library, storage);
    DatasetCreate create;
    create.chunk = {300};
    EXPECT_EQ(file->root().create_dataset<std::int32_t>("d", create).status(), Status::ok);
    EXPECT_EQ(file->close(), Status::ok);
    std::vector<std::byte> image(storage.contents().begin(), storage.contents().end());

    // Version, class, flags, dimensionality, bytes of a size, 300, 4, index.
    constexpr unsigned char kOld[] = {4, 2, 0, 2, 2, 44, 1, 4, 0, 4};
    const auto* const old_layout = reinterpret_cast<const std::byte*>(kOld);
    const auto layout = std::search(image.begin(), image.end(), old_layout, old_layout + sizeof kOld);
    const std::byte signature[] = {std::byte{'O'}, std::byte{'H'}, std::byte{'D'}, std::byte{'R'}};
    const auto header = std::find_end(image.begin(), layout, std::begin(signature), std::end(signature));
    EXPECT_TRUE(layout != image.end() && header != layout);
    std::byte* const at = &*layout;
    std::byte* const first = &*header;
    // "OHDR", version, flags without times and phase change, and the size of the messages in two bytes or one.
    const bool wide = (first[5] & std::byte{1}) != std::byte{0};
    const std::size_t messages = wide ? load_le<std::uint16_t>(first + 6) : std::to_integer<std::size_t>(first[6]);
    const std::size_t size = (wide ? 8U : 7U) + messages;
    Writer writer({at + 4, 19});
    writer.u8(1);
    writer.u8(64);
    writer.u8(4);
    writer.u8(5);
    writer.u32(2048);
    writer.u8(100);
    writer.u8(40);
    writer.u64(image.size());
    writer.u8(0);
    store_le(first + size, lookup3({first, size}));

    std::byte tree[38];
    Writer head{Bytes(tree)};
    head.u32(0x44485442);  // "BTHD"
    head.u8(0);
    head.u8(10);
    head.u32(2048);
    head.u16(16);
    head.u16(0);
    head.u8(100);
    head.u8(40);
    head.u64(kUndefinedAddress);
    head.u16(0);
    head.u64(0);
    head.u32(lookup3({tree, sizeof tree - 4}));
    image.insert(image.end(), std::begin(tree), std::end(tree));
    store_le<std::uint64_t>(image.data() + 28, image.size());
    store_le(image.data() + 44, lookup3({image.data(), 44}));
    return image;
}

}  // namespace

TEST(ChunkBTree2, OfOneDimension) {
    std::vector<std::byte> image = log_with_tree();
    std::int32_t rows = 0;
    for (unsigned session = 0; session < 3; ++session) {
        MallocAllocator memory;
        NullPort port;
        Library library(memory, port);
        GrowingMemoryDriver storage(memory);
        ASSERT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
        FileAccess access;
        access.metadata_cache = 4096;
        auto file = File::open(library, storage, access);
        ASSERT_EQ(file.status(), Status::ok);
        auto data = file->root().open_dataset<std::int32_t>("d");
        ASSERT_EQ(data.status(), Status::ok);
        for (unsigned i = 0; i < 200; ++i, ++rows) {
            ASSERT_EQ(data->append(1000 + rows), Status::ok);
        }
        if (session == 1) {
            rows -= 150;
            ASSERT_EQ(data->set_extent({static_cast<std::uint64_t>(rows)}), Status::ok);
        }
        ASSERT_EQ(file->flush(), Status::ok);
        EXPECT_TRUE(findings_in(*file).none());
        ASSERT_EQ(data->close(), Status::ok);
        ASSERT_EQ(file->close(), Status::ok);
        image.assign(storage.contents().begin(), storage.contents().end());

        auto again = File::open(library, storage);
        ASSERT_EQ(again.status(), Status::ok);
        data = again->root().open_dataset<std::int32_t>("d");
        ASSERT_EQ(data.status(), Status::ok);
        ASSERT_EQ(data->size(), static_cast<std::uint64_t>(rows));
        std::vector<std::int32_t> read(static_cast<std::size_t>(rows));
        ASSERT_EQ(data->read(Selection::all(), Span<std::int32_t>(read.data(), read.size())), Status::ok);
        for (std::int32_t i = 0; i < rows; ++i) {
            ASSERT_EQ(read[static_cast<std::size_t>(i)], 1000 + i);
        }
        std::uint64_t chunks = 0;
        ChunkIterator iterator(*data);
        for (ChunkInfo info; iterator.next(info) == Status::ok; ++chunks) {
            EXPECT_EQ(info.offset[0], 64 * chunks);
        }
        EXPECT_EQ(chunks, (static_cast<std::uint64_t>(rows) + 63) / 64);
    }
}

#ifdef H5MOTE_TEST_HDF5
namespace {

// The header of the only version 2 B-tree in a file, without its addresses: sizes, depth, records in the root and in
// all.
std::string tree_of(const std::vector<std::byte>& image) {
    for (std::size_t at = 0; at + 38 <= image.size(); ++at) {
        if (std::memcmp(image.data() + at, "BTHD", 4) == 0) {
            const auto* const bytes = reinterpret_cast<const char*>(image.data() + at);
            return std::string(bytes, 16) + std::string(bytes + 24, 10);
        }
    }
    return "";
}

}  // namespace

// The same chunks, stored in the same order by libhdf5, make a tree of the same depth, with as many records in its
// root.
// What cannot be made is undone, also the index that exists already. Sanitizers see if more is closed than was opened.
TEST(ChunkBTree2, CannotBeMade) {
    std::uint64_t failed = 0;
    bool refused = true;
    for (std::uint64_t call = 1; refused; ++call) {
        MallocAllocator memory;
        GrowingMemoryDriver inner{memory};
        FullStorage storage(inner);
        NullPort port;
        Library library{memory, port, {}, formats::all};
        FileAccess access;
        access.metadata_cache = 8192;
        auto file = File::create(library, storage, access);
        ASSERT_EQ(file.status(), Status::ok);
        DatasetCreate create;
        create.chunk = {2, 2};
        storage.calls = 0;
        storage.refuses = call;
        const Status status = file->root()
                                  .create_dataset("grid", file_type_of<std::int32_t>(),
                                                  Dataspace::simple({2, 2}, {kUnlimited, kUnlimited}), create)
                                  .status();
        refused = storage.calls >= call;
        storage.refuses = 0;
        EXPECT_EQ(status, refused ? Status::no_space : Status::ok);
        failed += refused ? 1 : 0;
        EXPECT_EQ(file->close(), Status::ok);
    }
    EXPECT_GT(failed, 1U);
}

TEST(ChunkBTree2, IsTheTreeOfLibhdf5) {
    Play ours(2, false, 1);
    ours.model.grow({120, 180, 1});
    Play theirs(2, false, 1);
    theirs.model.grow({120, 180, 1});
    ASSERT_EQ(ours.create(), Status::ok);
    ASSERT_TRUE(theirs.create_in_hdf5());
    const std::string name = ::testing::TempDir() + "chunk_btree2_same.h5";
    const auto begin = bytes_of_storage(theirs);
    std::ofstream(name, std::ios::binary)
        .write(reinterpret_cast<const char*>(begin.data()), static_cast<std::streamsize>(begin.size()));
    {
        const Hdf5Id opened(H5Fopen(name.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
        const Hdf5Id list(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
        H5Pset_chunk_cache(list, 1, 0, 1.0);  // libhdf5 stores each chunk at once
        const Hdf5Id data(H5Dopen2(opened, "d", list), H5Dclose);
        auto mine = ours.file.root().open_dataset("d");
        ASSERT_EQ(mine.status(), Status::ok);
        Numbers numbers(7);
        for (unsigned i = 0; i < 3000; ++i) {
            const std::uint64_t chunk = i < 1000 ? i : numbers.below(3600);
            const std::uint64_t start[] = {chunk / 60 * 2, chunk % 60 * 3};
            const std::uint64_t count[] = {2, 3};
            const std::int32_t values[6] = {1, 2, 3, 4, 5, 6};
            ASSERT_EQ(mine->write(Selection::hyperslab(start, count), datatype_of<std::int32_t>(),
                                  as_bytes(Span<const std::int32_t>(values))),
                      Status::ok);
            const hsize_t first[] = {start[0], start[1]}, sizes[] = {2, 3};
            const Hdf5Id space(H5Dget_space(data), H5Sclose);
            const Hdf5Id memory(H5Screate_simple(2, sizes, nullptr), H5Sclose);
            H5Sselect_hyperslab(space, H5S_SELECT_SET, first, nullptr, sizes, nullptr);
            ASSERT_GE(H5Dwrite(data, H5T_NATIVE_INT32, memory, space, H5P_DEFAULT, values), 0);
        }
    }
    ASSERT_EQ(ours.file.close(), Status::ok);
    const std::string tree = tree_of(bytes_of_storage(ours));
    EXPECT_FALSE(tree.empty());
    EXPECT_TRUE(tree == tree_of(take_file(name)));
}
#endif

#endif
