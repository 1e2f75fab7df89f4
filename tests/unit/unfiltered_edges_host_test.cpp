// DatasetCreate::unfiltered_edges: chunks at the edge of the extent are stored without filters, those that become whole
// are filtered, and libhdf5 reads and changes what was made, at every step of a random sequence of changes.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS && defined(H5MOTE_TEST_HDF5)

#include <h5mote/filters/deflate.hpp>
#include <h5mote/filters/fletcher32.hpp>
#include <h5mote/filters/shuffle.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/variable_length.hpp>
#include <h5mote/vfd/memory.hpp>

#include "hdf5_image.hpp"
#include "sound.hpp"
#include "sweep.hpp"
#include "world.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;
using Dims = std::vector<std::uint64_t>;

// With these filters a chunk never takes as many bytes as without them. Where it does, libhdf5 stores other bytes and
// leaves the filter mask as it was (H5D__chunk_file_alloc of 1.10.8 and 2.0.0), and cannot read the chunk itself.
constexpr const Filter* kFilters[] = {&shuffle_filter, &fletcher32_filter};

// What the dataset holds.
struct Model {
    Dims dims;
    std::map<Dims, std::int32_t> values;

    void resize(const Dims& to) {
        for (auto each = values.begin(); each != values.end();) {
            bool within = true;
            for (std::size_t d = 0; d < to.size(); ++d) {
                within = within && each->first[d] < to[d];
            }
            each = within ? std::next(each) : values.erase(each);
        }
        dims = to;
    }
    std::vector<std::int32_t> all() const {
        std::vector<std::int32_t> list;
        Dims at(dims.size(), 0);
        std::uint64_t count = 1;
        for (const std::uint64_t dim : dims) {
            count *= dim;
        }
        for (std::uint64_t i = 0; i < count; ++i) {
            std::uint64_t rest = i;
            for (std::size_t d = dims.size(); d-- > 0;) {
                at[d] = rest % dims[d];
                rest /= dims[d];
            }
            const auto found = values.find(at);
            list.push_back(found == values.end() ? -5 : found->second);
        }
        return list;
    }
    // Gives every element of the box a value, which are returned in order.
    std::vector<std::int32_t> write(const Dims& start, const Dims& count, std::int32_t seed) {
        std::vector<std::int32_t> list;
        std::uint64_t all = 1;
        for (const std::uint64_t each : count) {
            all *= each;
        }
        for (std::uint64_t i = 0; i < all; ++i) {
            std::uint64_t rest = i;
            Dims at(dims.size(), 0);
            for (std::size_t d = dims.size(); d-- > 0;) {
                at[d] = start[d] + rest % count[d];
                rest /= count[d];
            }
            list.push_back(seed * 1000 + static_cast<std::int32_t>(i));
            values[at] = list.back();
        }
        return list;
    }
};

struct Plan {
    Dims chunk;
    Dims most;
    std::size_t cache;
    bool theirs = false;  // libhdf5 makes the file
};

ConstBytes bytes_of(const std::vector<std::int32_t>& values) {
    return as_bytes(Span<const std::int32_t>(values.data(), values.size()));
}

void make_theirs(GrowingMemoryDriver& driver, const Plan& plan) {
    const std::string name = testing::TempDir() + "unfiltered_edges.h5";
    {
        const Hdf5Id create(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        std::vector<hsize_t> chunk, dims, most;
        for (std::size_t d = 0; d < plan.chunk.size(); ++d) {
            chunk.push_back(plan.chunk[d]);
            dims.push_back(0);
            most.push_back(plan.most[d]);
        }
        const int rank = static_cast<int>(chunk.size());
        H5Pset_chunk(create, rank, chunk.data());
        H5Pset_shuffle(create);
        H5Pset_fletcher32(create);
        H5Pset_chunk_opts(create, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
        const int fill = -5;
        H5Pset_fill_value(create, H5T_NATIVE_INT, &fill);
        const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_LATEST);
        const Hdf5Id file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
        const Hdf5Id space(H5Screate_simple(rank, dims.data(), most.data()), H5Sclose);
        const Hdf5Id data(H5Dcreate2(file, "d", H5T_STD_I32LE, space, H5P_DEFAULT, create, H5P_DEFAULT), H5Dclose);
        ASSERT_GE(data, 0);
    }
    const auto image = take_file(name);
    ASSERT_EQ(driver.assign({image.data(), image.size()}), Status::ok);
}

// Lets libhdf5 read the file and, with `change`, resize it and write a box. Gives back the file.
void their_turn(GrowingMemoryDriver& driver, Model& model, bool change, const Dims& to, const Dims& start,
                const Dims& count, std::int32_t seed) {
    const auto image = image_of(driver);
    const std::string name = testing::TempDir() + "unfiltered_edges_change.h5";
    {
        std::ofstream stored(name, std::ios::binary);
        stored.write(reinterpret_cast<const char*>(image.data()), static_cast<std::streamsize>(image.size()));
    }
    {
        const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_LATEST);
        const Hdf5Id file(H5Fopen(name.c_str(), change ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access), H5Fclose);
        const Hdf5Id data(H5Dopen2(file, "d", H5P_DEFAULT), H5Dclose);
        ASSERT_GE(data, 0);
        const auto expected = model.all();
        std::vector<std::int32_t> found(expected.size());
        ASSERT_TRUE(found.empty() || H5Dread(data, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, found.data()) >= 0);
        ASSERT_EQ(found, expected);
        // libhdf5 1.10.8 looks for chunks at the old edge also in an index that was not made yet, and crashes.
        hsize_t chunks = 0;
        const Hdf5Id whole(H5Dget_space(data), H5Sclose);
        change = change && H5Dget_num_chunks(data, whole, &chunks) >= 0 && chunks != 0;
        if (change) {
            const std::vector<hsize_t> size(to.begin(), to.end());
            const std::vector<hsize_t> first(start.begin(), start.end()), number(count.begin(), count.end());
            ASSERT_GE(H5Dset_extent(data, size.data()), 0);
            model.resize(to);
            const auto values = model.write(start, count, seed);
            const Hdf5Id space(H5Dget_space(data), H5Sclose);
            ASSERT_GE(H5Sselect_hyperslab(space, H5S_SELECT_SET, first.data(), nullptr, number.data(), nullptr), 0);
            const Hdf5Id memory(H5Screate_simple(static_cast<int>(number.size()), number.data(), nullptr), H5Sclose);
            ASSERT_TRUE(values.empty() ||
                        H5Dwrite(data, H5T_NATIVE_INT32, memory, space, H5P_DEFAULT, values.data()) >= 0);
        }
    }
    const auto back = take_file(name);
    if (change) {
        ASSERT_EQ(driver.assign({back.data(), back.size()}), Status::ok);
    }
}

// Every chunk must be stored in the form that its place asks for.
void check_forms(Dataset& data, const Model& model, const Plan& plan) {
    ChunkIterator chunks(data);
    ChunkInfo chunk;
    std::uint64_t bytes = 4;
    for (const std::uint64_t each : plan.chunk) {
        bytes *= each;
    }
    while (chunks.next(chunk) == Status::ok) {
        bool edge = false;
        bool within = true;
        for (std::size_t d = 0; d < model.dims.size(); ++d) {
            edge = edge || chunk.offset[d] + plan.chunk[d] > model.dims[d];
            within = within && chunk.offset[d] < model.dims[d];
        }
        if (within && edge) {
            EXPECT_EQ(chunk.size, bytes);
            EXPECT_EQ(chunk.filter_mask, 0U);
        } else if (within) {
            EXPECT_EQ(chunk.filter_mask, 0U);
            EXPECT_EQ(chunk.size, bytes + 4);
        }
    }
}

void play(const Plan& plan, unsigned seed, unsigned steps) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto draw = [&](std::uint64_t below) { return below == 0 ? 0 : random() % below; };
    const std::size_t rank = plan.chunk.size();
    MallocAllocator memory;
    GrowingMemoryDriver driver{memory};
    Model model;
    model.dims.assign(rank, 0);
    if (plan.theirs) {
        make_theirs(driver, plan);
    }
    const auto draw_dims = [&] {
        Dims dims;
        for (std::size_t d = 0; d < rank; ++d) {
            const std::uint64_t most = plan.most[d] == kUnlimited ? 4 * plan.chunk[d] + 3 : plan.most[d];
            dims.push_back(draw(most + 1));
        }
        return dims;
    };
    const auto draw_box = [&](Dims& start, Dims& count) {
        start.assign(rank, 0);
        count.assign(rank, 0);
        for (std::size_t d = 0; d < rank; ++d) {
            start[d] = draw(model.dims[d]);
            count[d] = draw(model.dims[d] - start[d] + 1);
        }
    };
    bool made = plan.theirs;
    for (unsigned session = 0; session < 6; ++session) {
        {
            NullPort port;
            Library library{memory, port, kFilters};
            FileAccess access;
            access.metadata_cache = 8192;
            access.chunk_cache = plan.cache;
            auto file = made ? File::open(library, driver, access) : File::create(library, driver, access);
            ASSERT_EQ(file.status(), Status::ok);
            if (!made) {
                DatasetCreate create;
                for (const std::uint64_t each : plan.chunk) {
                    create.chunk.push_back(static_cast<std::uint32_t>(each));
                }
                create.filters = {filters::shuffle, filters::fletcher32};
                create.unfiltered_edges = true;
                const std::int32_t fill = -5;
                create.fill = as_bytes(Span<const std::int32_t>(&fill, 1));
                ASSERT_EQ(
                    file->root()
                        .create_dataset("d", file_type_of<std::int32_t>(),
                                        Dataspace::simple({model.dims.data(), rank}, {plan.most.data(), rank}), create)
                        .status(),
                    Status::ok);
                made = true;
            }
            auto data = file->root().open_dataset("d");
            ASSERT_EQ(data.status(), Status::ok);
            ASSERT_EQ(data->set_memory_type(datatype_of<std::int32_t>()), Status::ok);
            for (unsigned step = 0; step < steps; ++step) {
                const auto number = static_cast<std::int32_t>(session * 100 + step + 1);
                switch (draw(6)) {
                    case 0: {
                        const Dims to = draw_dims();
                        ASSERT_EQ(data->set_extent({to.data(), rank}), Status::ok);
                        model.resize(to);
                        break;
                    }
                    case 1:
                        ASSERT_EQ(file->flush(), Status::ok);
                        break;
                    case 2: {
                        std::uint64_t row = 1;
                        for (std::size_t d = 1; d < rank; ++d) {
                            row *= model.dims[d];
                        }
                        const std::uint64_t rows = draw(2 * plan.chunk[0] + 1);
                        if (model.dims[0] + rows > plan.most[0] || row == 0) {
                            break;
                        }
                        Dims start(rank, 0), count = model.dims;
                        start[0] = model.dims[0];
                        count[0] = rows;
                        Dims to = model.dims;
                        to[0] += rows;
                        model.resize(to);
                        const auto values = model.write(start, count, number);
                        if (rank == 1 && draw(2) == 0) {
                            ASSERT_EQ(data->append_records(values.data(), values.size()), Status::ok);
                        } else {
                            ASSERT_EQ(data->append_rows(datatype_of<std::int32_t>(), values.data(), values.size()),
                                      Status::ok);
                        }
                        break;
                    }
                    default: {
                        Dims start, count;
                        draw_box(start, count);
                        const auto values = model.write(start, count, number);
                        ASSERT_EQ(data->write(Selection::hyperslab({start.data(), rank}, {count.data(), rank}),
                                              datatype_of<std::int32_t>(), bytes_of(values)),
                                  Status::ok);
                        break;
                    }
                }
                if (draw(3) == 0) {
                    const auto expected = model.all();
                    std::vector<std::int32_t> found(expected.size());
                    ASSERT_EQ(data->read(Selection::all(), datatype_of<std::int32_t>(),
                                         {reinterpret_cast<std::byte*>(found.data()), found.size() * 4}),
                              Status::ok);
                    ASSERT_EQ(found, expected) << step;
                }
            }
            ASSERT_EQ(data->close(), Status::ok);
            ASSERT_EQ(file->flush(), Status::ok);
            const Findings findings = findings_in(*file);
            ASSERT_TRUE(findings.none()) << findings.last_kind << " " << findings.last_address;
            data = file->root().open_dataset("d");
            check_forms(*data, model, plan);
            ASSERT_EQ(data->close(), Status::ok);
            ASSERT_EQ(file->close(), Status::ok);
        }
        const bool change = draw(2) == 0;
        const Dims to = draw_dims();
        Dims start, count;
        const Dims dims = model.dims;
        model.dims = to;
        draw_box(start, count);
        model.dims = dims;
        their_turn(driver, model, change, to, start, count, static_cast<std::int32_t>(session * 100 + 99));
        if (testing::Test::HasFatalFailure()) {
            return;
        }
    }
    EXPECT_EQ(memory.blocks(), image_of(driver).empty() ? 0U : 1U);
}

TEST(UnfilteredEdges, OneDimensionThatGrows) {
    for (unsigned seed = 1; seed <= 40 && !HasFatalFailure(); ++seed) {
        play({{4}, {kUnlimited}, seed % 2 == 0 ? 4096U : 16U}, seed, 12);
    }
}

TEST(UnfilteredEdges, OneDimensionThatGrowsMadeByLibhdf5) {
    for (unsigned seed = 1; seed <= 40 && !HasFatalFailure(); ++seed) {
        play({{4}, {kUnlimited}, seed % 2 == 0 ? 4096U : 16U, true}, seed, 12);
    }
}

TEST(UnfilteredEdges, AFixedMaximum) {
    for (unsigned seed = 1; seed <= 30 && !HasFatalFailure(); ++seed) {
        play({{3, 4}, {10, 13}, seed % 2 == 0 ? 4096U : 48U, seed % 3 == 0}, seed, 12);
    }
}

TEST(UnfilteredEdges, OneOfThreeDimensionsGrows) {
    for (unsigned seed = 1; seed <= 20 && !HasFatalFailure(); ++seed) {
        play({{2, 2, 3}, {5, kUnlimited, 7}, seed % 2 == 0 ? 4096U : 48U, seed % 3 == 0}, seed, 10);
    }
}

TEST(UnfilteredEdges, TwoDimensionsGrow) {
    for (unsigned seed = 1; seed <= 40 && !HasFatalFailure(); ++seed) {
        play({{3, 2}, {kUnlimited, kUnlimited}, seed % 2 == 0 ? 4096U : 24U, seed % 3 == 0}, seed, 12);
    }
}

// What values of variable length have in the global heap is found through chunks at the edge as through others:
// reclaim() takes none that is in use, and finds those of values that were replaced.
TEST(UnfilteredEdges, TextsAreReclaimed) {
    constexpr auto kText = make_variable_string();
    MallocAllocator memory;
    GrowingMemoryDriver storage(memory);
    NullPort port;
    Library library(memory, port, kFilters, formats::all);
    FileAccess access;
    access.metadata_cache = 16384;
    access.chunk_cache = 4096;
    auto file = File::create(library, storage, access);
    ASSERT_EQ(file.status(), Status::ok);
    DatasetCreate create;
    create.chunk = {4, 2};
    create.filters = {filters::deflate};
    create.unfiltered_edges = true;
    Dims dims = {5, 3};
    const Dims most = {kUnlimited, kUnlimited};
    ASSERT_EQ(file->root()
                  .create_dataset("d", kText.view(), Dataspace::simple({dims.data(), 2}, {most.data(), 2}), create)
                  .status(),
              Status::ok);
    std::mt19937 random(7);
    std::uint64_t found = 0;
    for (unsigned session = 0; session < 40; ++session) {
        SCOPED_TRACE(session);
        std::vector<std::string> texts;
        {
            auto data = file->root().open_dataset("d");
            ASSERT_EQ(data.status(), Status::ok);
            dims = {1 + random() % 12, 1 + random() % 6};
            ASSERT_EQ(data->set_extent({dims.data(), 2}), Status::ok);
            std::vector<const char*> values;
            for (std::uint64_t i = 0; i < dims[0] * dims[1]; ++i) {
                texts.push_back(std::to_string(session) + std::string(random() % 60, 'x'));
            }
            for (const std::string& text : texts) {
                values.push_back(text.c_str());
            }
            ASSERT_EQ(data->write(Selection::all(), kText.view(),
                                  as_bytes(Span<const char* const>(values.data(), values.size()))),
                      Status::ok);
            ASSERT_EQ(data->close(), Status::ok);
        }
        ASSERT_EQ(file->flush(), Status::ok);
        std::uint64_t bytes = 0;
        ASSERT_EQ(file->reclaim(&bytes), Status::ok);
        found += bytes;
        auto data = file->root().open_dataset("d");
        std::vector<char*> got(texts.size());
        ASSERT_EQ(data->read(Selection::all(), kText.view(),
                             {reinterpret_cast<std::byte*>(got.data()), got.size() * sizeof(char*)}),
                  Status::ok);
        for (std::size_t i = 0; i < texts.size(); ++i) {
            ASSERT_EQ(texts[i], got[i]);
        }
        ASSERT_EQ(reclaim(library, kText.view(), got.size(), sizeof(char*), got.data()), Status::ok);
        ASSERT_EQ(data->close(), Status::ok);
        EXPECT_TRUE(findings_in(*file).none());
    }
    std::printf("%u bytes found\n", static_cast<unsigned>(found));
    ASSERT_EQ(file->close(), Status::ok);
    const Hdf5Id opened = open_image(storage.contents());
    const Hdf5Id data(H5Dopen2(opened, "d", H5P_DEFAULT), H5Dclose);
    EXPECT_GE(data, 0);
}

TEST(UnfilteredEdges, RefusedWhereTheyMeanNothing) {
    World world;
    auto file = File::create(world.library, world.driver, world.access);
    ASSERT_EQ(file.status(), Status::ok);
    DatasetCreate create;
    create.unfiltered_edges = true;
    EXPECT_EQ(file->root().create_dataset("d", kNumber.view(), Dataspace::simple({4}), create).status(),
              Status::invalid_argument);
    Formats without = formats::standard;
    without.unfiltered_edges = nullptr;
    World other(without);
    auto second = File::create(other.library, other.driver, other.access);
    create.chunk = {4};
    create.filters = {filters::deflate};
    EXPECT_EQ(second->root().create_dataset("d", kNumber.view(), Dataspace::unlimited(), create).status(),
              Status::unsupported);
}

// What a call changes, and the same call once more after it failed.
template <typename Change>
std::uint64_t sweep(const char* name, std::uint64_t rows, Change change) {
    Image image;
    {
        World world;
        world.access.metadata_cache = 8192;
        world.access.chunk_cache = 128;
        auto file = File::create(world.library, world.driver, world.access);
        DatasetCreate create;
        create.chunk = {4, 3};
        create.filters = {filters::shuffle, filters::deflate};
        create.unfiltered_edges = true;
        const std::uint64_t dims[] = {0, 5}, most[] = {kUnlimited, kUnlimited};
        auto data = file->root().create_dataset("d", kNumber.view(), Dataspace::simple({dims, 2}, {most, 2}), create);
        EXPECT_EQ(data.status(), Status::ok);
        std::vector<std::int32_t> values(static_cast<std::size_t>(rows * 5), 7);
        EXPECT_EQ(data->append_rows(kNumber.view(), values.data(), values.size()), Status::ok);
        EXPECT_EQ(data->close(), Status::ok);
        EXPECT_EQ(file->close(), Status::ok);
        image = world.image();
    }
    std::uint64_t points = 0;
    for (const FaultKind& kind : kFaultKinds) {
        bool failed = true;
        for (std::uint64_t k = 1; failed && !testing::Test::HasFailure(); k += sweep_step()) {
            SCOPED_TRACE(std::string(name) + ", " + kind.name + " " + std::to_string(k));
            World world;
            world.access.metadata_cache = 8192;
            world.access.chunk_cache = 128;
            EXPECT_EQ(world.storage.assign({image.data(), image.size()}), Status::ok);
            auto file = File::open(world.library, world.driver, world.access);
            EXPECT_EQ(file.status(), Status::ok);
            auto data = file->root().open_dataset("d");
            arm(world.refusing, world.driver, kind, k);
            Status status = change(*data);
            status = status == Status::ok ? file->flush() : status;
            failed = disarm(world.refusing, world.driver);
            EXPECT_TRUE(failed || status == Status::ok) << to_string(status);
            points += failed ? 1 : 0;
            if (status != Status::ok) {
                EXPECT_EQ(change(*data), Status::ok);
                EXPECT_EQ(file->flush(), Status::ok);
            }
            EXPECT_TRUE(findings_in(*file).none());
            Dataspace space;
            EXPECT_EQ(data->dataspace(space), Status::ok);
            const std::size_t count = static_cast<std::size_t>(space.dims()[0] * space.dims()[1]);
            std::vector<std::int32_t> values(count);
            const Bytes to{reinterpret_cast<std::byte*>(values.data()), values.size() * 4};
            EXPECT_EQ(data->read(Selection::all(), kNumber.view(), to), Status::ok);
            const auto expected = values;
            EXPECT_EQ(data->close(), Status::ok);
            EXPECT_EQ(file->close(), Status::ok);
            EXPECT_EQ(world.memory.blocks(), 0U);
            const Image stored = world.image();
            const Hdf5Id theirs = open_image({stored.data(), stored.size()});
            const Hdf5Id dataset(H5Dopen2(theirs, "d", H5P_DEFAULT), H5Dclose);
            EXPECT_GE(H5Dread(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
            EXPECT_EQ(values, expected);
        }
    }
    std::printf("%s: %llu points\n", name, static_cast<unsigned long long>(points));
    return points;
}

TEST(UnfilteredEdges, EveryCallFails) {
    EXPECT_GT(sweep("grow", 6, [](Dataset& data) { return data.set_extent({13, 7}); }), 50U / sweep_step());
    EXPECT_GT(sweep("shrink", 8, [](Dataset& data) { return data.set_extent({7, 2}); }), 50U / sweep_step());
    EXPECT_GT(sweep("both", 6, [](Dataset& data) { return data.set_extent({9, 4}); }), 50U / sweep_step());
    const std::vector<std::int32_t> rows(7 * 5, 9);
    std::uint64_t before = 6;
    EXPECT_GT(sweep("append", before,
                    [&](Dataset& data) {
                        return data.size() == before
                                   ? data.append_rows(kNumber.view(), rows.data(), rows.size())
                                   : data.write(Selection::hyperslab({before, 0}, {7, 5}), kNumber.view(),
                                                as_bytes(Span<const std::int32_t>(rows.data(), rows.size())));
                    }),
              50U / sweep_step());
}

}  // namespace

#endif
