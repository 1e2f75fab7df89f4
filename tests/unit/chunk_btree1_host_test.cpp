// Datasets of libhdf5 whose chunks are in version 1 B-trees: written, grown and made smaller at random beside a model,
// by h5mote and by libhdf5 in turns.
#include "sound.hpp"
#include "storage_bench.hpp"
#include "sweep.hpp"
#include "world.hpp"

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE && defined(H5MOTE_TEST_HDF5)

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "hdf5_image.hpp"

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr std::int32_t kFill = -5;

// The values of a dataset of rank 3; one of rank 2 has one layer, one of rank 1 also one column.
struct Model {
    std::array<std::uint64_t, 3> dims{};
    std::vector<std::int32_t> values;

    std::int32_t& at(std::uint64_t i, std::uint64_t j, std::uint64_t k) {
        return values[static_cast<std::size_t>((i * dims[1] + j) * dims[2] + k)];
    }
    void resize(const std::array<std::uint64_t, 3>& to) {
        Model other;
        other.dims = to;
        other.values.assign(static_cast<std::size_t>(to[0] * to[1] * to[2]), kFill);
        for (std::uint64_t i = 0; i < std::min(dims[0], to[0]); ++i) {
            for (std::uint64_t j = 0; j < std::min(dims[1], to[1]); ++j) {
                for (std::uint64_t k = 0; k < std::min(dims[2], to[2]); ++k) {
                    other.at(i, j, k) = at(i, j, k);
                }
            }
        }
        *this = other;
    }
};

struct Box {
    std::array<std::uint64_t, 3> start{};
    std::array<std::uint64_t, 3> count{};
    std::vector<std::int32_t> values;
};

class Play {
public:
    Play(unsigned the_rank, bool with_filters, unsigned half_width, std::uint32_t seed)
        : rank(the_rank), filtered(with_filters), half(half_width), numbers(seed) {
        access.metadata_cache = 4096;
        access.chunk_cache = 64;  // one chunk
        model.resize({3, rank > 1 ? 4U : 1U, rank > 2 ? 2U : 1U});
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
    // Other sizes, mostly larger ones.
    std::array<std::uint64_t, 3> other_sizes() {
        auto dims = model.dims;
        const bool less = numbers.below(5) == 0;
        for (unsigned i = 0; i < rank; ++i) {
            const std::uint64_t step = numbers.below(3) == 0 ? numbers.below(i == 2 ? 2 : 9 - 2 * rank + 1) : 0;
            dims[i] = !less ? dims[i] + step : dims[i] > step ? dims[i] - step : 1;
        }
        return dims;
    }
    Status resize(Dataset& data) {
        const auto dims = other_sizes();
        std::array<std::uint64_t, 3> larger;
        for (unsigned i = 0; i < 3; ++i) {
            larger[i] = std::max(dims[i], model.dims[i]);
        }
        // What grows in one dimension and shrinks in another takes two steps.
        H5MOTE_TRY(data.set_extent({larger.data(), rank}));
        model.resize(larger);
        if (dims != larger) {
            H5MOTE_TRY(data.set_extent({dims.data(), rank}));
            model.resize(dims);
        }
        return Status::ok;
    }

    Status step() {
        auto data = file.root().open_dataset<std::int32_t>("d");
        H5MOTE_TRY(data.status());
        if (numbers.below(3) == 0) {
            H5MOTE_TRY(resize(*data));
        }
        if (rank == 1 && numbers.below(3) == 0) {
            const std::int32_t value = static_cast<std::int32_t>(numbers.below(100));
            H5MOTE_TRY(data->append(value));
            model.resize({model.dims[0] + 1, 1, 1});
            model.values.back() = value;
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
        const std::string name = ::testing::TempDir() + "chunk_btree1.h5";
        const auto image = image_of(storage);
        std::ofstream(name, std::ios::binary)
            .write(reinterpret_cast<const char*>(image.data()), static_cast<std::streamsize>(image.size()));
        bool good = true;
        {
            const Hdf5Id opened(H5Fopen(name.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
            const Hdf5Id data(H5Dopen2(opened, "d", H5P_DEFAULT), H5Dclose);
            for (unsigned i = 0; good && i < steps; ++i) {
                const auto dims = other_sizes();
                const hsize_t sizes[] = {dims[0], dims[1], dims[2]};
                good = H5Dset_extent(data, sizes) >= 0;
                model.resize(dims);
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
        const std::string name = ::testing::TempDir() + "chunk_btree1_new.h5";
        bool good = false;
        {
            const Hdf5Id list(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
            H5Pset_libver_bounds(list, H5F_LIBVER_V18, H5F_LIBVER_V18);
            const Hdf5Id whole(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
            if (half != 32) {
                H5Pset_istore_k(whole, half);
            }
            const Hdf5Id made(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, whole, list), H5Fclose);
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

    unsigned rank;
    bool filtered;
    unsigned half;
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

void play(unsigned rank, bool filtered, unsigned k, std::uint32_t seed) {
    Play play(rank, filtered, k, seed);
    ASSERT_TRUE(play.create_in_hdf5());
    ASSERT_EQ(play.open(), Status::ok);
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
        ASSERT_TRUE(play.hdf5_equals_model());
        ASSERT_TRUE(play.continue_in_hdf5(10));
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

TEST(ChunkBTree1, IsChangedByTurns) {
    for (const unsigned rank : {1U, 2U, 3U}) {
        for (const bool filtered : {false, true}) {
            for (const unsigned k : {2U, 3U, 32U}) {
                for (std::uint32_t seed = 1; seed <= 4; ++seed) {
                    SCOPED_TRACE(std::to_string(rank) + (filtered ? " filtered " : " plain ") + std::to_string(k) +
                                 " seed " + std::to_string(seed));
                    play(rank, filtered, k, seed);
                }
            }
        }
    }
}

namespace {

std::vector<std::byte> bytes_of_storage(const Play& play) {
    const ConstBytes contents = play.storage.contents();
    return {contents.begin(), contents.end()};
}

bool is_node(const std::vector<std::byte>& image, std::size_t at) {
    return image.size() >= 24 && at <= image.size() - 24 && std::memcmp(image.data() + at, "TREE\1", 5) == 0;
}

}  // namespace

// Bytes of the nodes are damaged in turn: whatever the damage, the dataset is written, grown, made smaller and
// unlinked, or that is refused, and all memory is given back.
TEST(ChunkBTree1, IsChangedWhateverItSays) {
    unsigned points = 0;
    unsigned refused = 0;
    for (const bool filtered : {false, true}) {
        Play made(2, filtered, 2, 3);
        ASSERT_TRUE(made.create_in_hdf5());
        ASSERT_EQ(made.open(), Status::ok);
        for (unsigned i = 0; i < 60; ++i) {
            ASSERT_EQ(made.step(), Status::ok);
        }
        ASSERT_EQ(made.file.close(), Status::ok);
        const std::vector<std::byte> image = bytes_of_storage(made);
        for (std::size_t node = 0; node + 24 < image.size(); ++node) {
            const std::size_t size = is_node(image, node) ? 24 + 4 * 40 + 32 : 0;
            for (std::size_t i = 4; i < size; i += i < 24 ? 1 : 3 * sweep_step()) {
                for (const std::byte bits : {std::byte{1}, std::byte{0x80}, std::byte{0xff}}) {
                    std::vector<std::byte> damaged = image;
                    damaged[node + i] ^= bits;
                    Play play(2, filtered, 2, 5);
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

// Levels and numbers of entries of the nodes from `address` down.
std::string shape_of(const std::vector<std::byte>& image, std::uint64_t address, unsigned key_size) {
    const auto at = static_cast<std::size_t>(address);
    if (!is_node(image, at)) {
        return "?";
    }
    const auto level = std::to_integer<unsigned>(image[at + 5]);
    const auto entries = load_le<std::uint16_t>(image.data() + at + 6);
    std::string shape = std::to_string(level) + ":" + std::to_string(entries) + " ";
    for (unsigned i = 0; level > 0 && i < entries; ++i) {
        shape +=
            shape_of(image, load_le<std::uint64_t>(image.data() + at + 24 + i * (key_size + 8) + key_size), key_size);
    }
    return shape;
}

// The same of the only dataset in a file, of rank 2 with chunks of 2 * 3 elements: found by its layout message. The
// file may have older forms of that, of the time when the tree was smaller.
std::string tree_of(const std::vector<std::byte>& image) {
    const std::byte sizes[] = {std::byte{2}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{3},
                               std::byte{0}, std::byte{0}, std::byte{0}, std::byte{4}};
    std::string largest;
    for (std::size_t at = 0; at + 24 <= image.size(); ++at) {
        if (std::memcmp(image.data() + at, "\3\2\3", 3) == 0 &&
            std::memcmp(image.data() + at + 11, sizes, sizeof sizes) == 0) {
            const std::string shape = shape_of(image, load_le<std::uint64_t>(image.data() + at + 3), 32);
            largest = shape.size() > largest.size() ? shape : largest;
        }
    }
    return largest;
}

}  // namespace

// The same chunks, stored in the same order by libhdf5, make the same tree. Where nine tenths of the width of a node is
// a whole number, releases of libhdf5 differ: 1.10 reckons with 0.9 as a float, which is less.
TEST(ChunkBTree1, IsTheTreeOfLibhdf5) {
    for (const unsigned half : {2U, 3U, 7U, 32U}) {
        Play ours(2, false, half, 1);
        Play theirs(2, false, half, 1);
        ours.model.resize({120, 180, 1});
        theirs.model.resize({120, 180, 1});
        ASSERT_TRUE(ours.create_in_hdf5());
        ASSERT_TRUE(theirs.create_in_hdf5());
        ASSERT_EQ(ours.open(), Status::ok);
        const std::string name = ::testing::TempDir() + "chunk_btree1_same.h5";
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
                const std::uint64_t chunk = i < 1000 ? i : i < 1500 ? 4599 - i : numbers.below(3600);
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
        EXPECT_EQ(tree, tree_of(take_file(name))) << half;
    }
}

#endif
