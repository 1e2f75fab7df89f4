// Chunk indexes of libhdf5 whose blocks and pages are larger than the metadata cache, changed in 4 KiB and a chunk
// cache of one chunk; and chunks without an index whose dataset has very many of them.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS && H5MOTE_FIXED_CHUNKS && H5MOTE_FILTERS && defined(H5MOTE_TEST_HDF5)

#include "counting_driver.hpp"
#include "story.hpp"
#include "turns.hpp"

#include <random>

namespace {

using namespace h5mote_test;

constexpr auto kInt = make_integer(4, true);
constexpr hsize_t kChunk = 4;  // elements

struct Shape {
    const char* name;
    hsize_t chunks;  // that libhdf5 makes
    hsize_t most;    // the maximum size, in chunks
    hsize_t step;    // only every so many chunks exist at first
    bool filtered;
};

constexpr hsize_t kNoLimit = 0;
constexpr Shape kShapes[] = {
    {"fixed, one block", 800, 1000, 1, false},
    {"fixed, one block, filtered", 800, 1000, 1, true},
    {"fixed, many pages", 20000, 22000, 1, false},
    {"fixed, many pages, filtered", 20000, 22000, 1, true},
    {"fixed, the last page is short", 20000, 20500, 1, true},
    {"fixed, few chunks exist", 20000, 22000, 1500, true},
    {"extensible", 20000, kNoLimit, 1, false},
    {"extensible, filtered", 20000, kNoLimit, 1, true},
    {"extensible, with pages", 200000, kNoLimit, 300, false},
    {"extensible, with pages, filtered", 200000, kNoLimit, 300, true},
};

void make(hid_t file, const Shape& shape, std::vector<int>& model) {
    const hsize_t dims = shape.chunks * kChunk;
    const hsize_t most = shape.most == kNoLimit ? H5S_UNLIMITED : shape.most * kChunk;
    model.assign(dims, 0);
    ASSERT_GE(H5Fset_libver_bounds(file, H5F_LIBVER_V110, H5F_LIBVER_LATEST), 0);
    const Hdf5Id space(H5Screate_simple(1, &dims, &most), H5Sclose);
    const Hdf5Id create(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    ASSERT_GE(H5Pset_chunk(create, 1, &kChunk), 0);
    if (shape.filtered) {
        ASSERT_GE(H5Pset_deflate(create, 1), 0);
    }
    const Hdf5Id made(H5Dcreate2(file, "data", H5T_STD_I32LE, space, H5P_DEFAULT, create, H5P_DEFAULT), H5Dclose);
    ASSERT_GE(made, 0);
    const hsize_t start = 0;
    const hsize_t stride = shape.step * kChunk;
    const hsize_t count = (shape.chunks + shape.step - 1) / shape.step;
    ASSERT_GE(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, &stride, &count, &kChunk), 0);
    for (hsize_t i = 0; i < count; ++i) {
        for (hsize_t j = 0; j < kChunk; ++j) {
            model[i * stride + j] = static_cast<int>(i * 7 + j + 1);
        }
    }
    ASSERT_GE(H5Dwrite(made, H5T_NATIVE_INT, space, space, H5P_DEFAULT, model.data()), 0);
}

Status put(Dataset& data, std::vector<int>& model, std::uint64_t at, std::vector<int> values) {
    std::copy(values.begin(), values.end(), model.begin() + static_cast<std::ptrdiff_t>(at));
    return data.write(Selection::hyperslab({at}, {values.size()}), kInt.view(),
                      as_bytes(Span<const int>(values.data(), values.size())));
}

void judge_by_libhdf5(hid_t file, const std::vector<int>& model) {
    const Hdf5Id data(H5Dopen2(file, "data", H5P_DEFAULT), H5Dclose);
    ASSERT_GE(data, 0);
    std::vector<int> found(model.size());
    ASSERT_GE(H5Dread(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, found.data()), 0);
    EXPECT_TRUE(found == model);
}

void resize(Dataset& data, std::vector<int>& model, hsize_t chunks) {
    ASSERT_EQ(data.set_extent({chunks * kChunk - 1}), Status::ok);
    model.resize(chunks * kChunk - 1, 0);
}

// Rewrites some chunks, appends, makes the dataset smaller and larger again.
void change(Turns& turns, const Shape& shape, std::vector<int>& model) {
    auto data = turns.root.open_dataset("data");
    ASSERT_EQ(data.status(), Status::ok);
    std::mt19937 random(5);
    const auto rewrite = [&](unsigned count, const char* when) {
        for (unsigned i = 0; i < count; ++i) {
            const std::uint64_t at = random() % (model.size() - 6);
            const int value = static_cast<int>(i + 1000);
            ASSERT_EQ(put(*data, model, at, {value, value + 1, value * 31, -value, value, 7}), Status::ok)
                << when << i << turns.trail();
            if (i % 40 == 39) {
                ASSERT_EQ(turns.file.flush(), Status::ok) << turns.trail();
            }
        }
    };
    rewrite(130, "at first ");
    const hsize_t more = shape.most == kNoLimit ? shape.chunks + 1500 : shape.most;
    const auto last = [&] { return static_cast<std::uint64_t>(model.size()); };
    resize(*data, model, more);
    for (std::uint64_t at = last() - 150 * kChunk; at + 3 < last(); at += 3) {
        ASSERT_EQ(put(*data, model, at, {1, 2, static_cast<int>(at)}), Status::ok) << at << turns.trail();
    }
    rewrite(50, "longer ");
    resize(*data, model, shape.chunks - shape.chunks / 10);
    ASSERT_EQ(turns.file.flush(), Status::ok) << turns.trail();
    rewrite(50, "shorter ");
    resize(*data, model, more - 1);
    rewrite(50, "longer again ");
    EXPECT_LE(turns.file.flush(), Status::ok);
    ASSERT_EQ(data->close(), Status::ok) << turns.trail();
}

TEST(LargeBlocks, OfLibhdf5InFourKilobytes) {
    for (const bool atomic : {false, true}) {
        for (const Shape& shape : kShapes) {
            if (atomic && !(shape.filtered && shape.chunks > 1000)) {
                continue;
            }
            SCOPED_TRACE(std::string(shape.name) + (atomic ? ", changes appear at once" : ""));
            Turns turns;
            turns.begin();
            std::vector<int> model;
            turns.by_libhdf5([&](hid_t file) { make(file, shape, model); });
            turns.close();
            turns.access.metadata_cache = 4096;
            turns.access.chunk_cache = kChunk * sizeof(int);
            Capabilities promised = turns.storage.capabilities();
            promised.sync_is_commit = atomic;
            PromisingDriver promising(turns.storage, promised);
            turns.used = &promising;
            auto opened = File::open(turns.library, *turns.used, turns.access);
            ASSERT_EQ(opened.status(), Status::ok);
            turns.file = static_cast<File&&>(*opened);
            turns.root = turns.file.root();
            change(turns, shape, model);
            turns.by_libhdf5([&](hid_t file) { judge_by_libhdf5(file, model); });
            if (HasFailure()) {
                return;
            }
        }
    }
}

// Every write is cut, torn and reordered: each chunk is as before the change or after it.
void cut_changes(const Shape& shape, std::uint32_t unit, std::size_t& cuts) {
    Turns turns;
    turns.begin();
    std::vector<int> model;
    turns.by_libhdf5([&](hid_t file) { make(file, shape, model); });
    turns.close();
    PromisingDriver promising(turns.storage, with_unit(unit));
    RecordingDriver recorder(promising);
    Story story(recorder, [](File& file) {
        auto data = file.root().open_dataset("data");
        std::vector<int> rows(data.status() == Status::ok ? static_cast<std::size_t>(data->size()) : 0);
        const Status status = data.status() == Status::ok
                                  ? data->read(Selection::all(), kInt.view(),
                                               {reinterpret_cast<std::byte*>(rows.data()), rows.size() * sizeof(int)})
                                  : data.status();
        std::string text = to_string(status);
        for (std::size_t i = 0; i < rows.size(); i += kChunk) {
            text += " " + std::to_string(rows[i]);
        }
        return text;
    });
    FileAccess access;
    access.metadata_cache = 1024;
    access.chunk_cache = kChunk * sizeof(int);
    auto file = File::open(turns.library, recorder, access);
    ASSERT_EQ(file.status(), Status::ok);
    auto data = file->root().open_dataset("data");
    ASSERT_EQ(data.status(), Status::ok);
    story.change(*file, Status::ok);
    for (int i = 0; i < 6; ++i) {
        const std::uint64_t at = static_cast<std::uint64_t>(i) * 37 % (model.size() / kChunk) * kChunk;
        story.change(*file, put(*data, model, at, {100 + i, 1, 2, 3}));
    }
    ASSERT_EQ(data->close(), Status::ok);
    ASSERT_EQ(file->close(), Status::ok);
    cuts += story.cut(unit);
}

TEST(LargeBlocks, PowerCuts) {
    std::size_t cuts = 0;
    for (const std::uint32_t unit : {512U, 4096U}) {
        cut_changes({"fixed", 200, 250, 1, true}, unit, cuts);
        cut_changes({"extensible", 400, kNoLimit, 3, true}, unit, cuts);
        cut_changes({"pages", 1200, 1300, 7, true}, unit, cuts);
    }
    std::printf("%zu cuts\n", cuts);
    EXPECT_GT(cuts, 1000U);
}

// 660,000 chunks of 4 bytes: a change of the extent writes only to those that it touches.
constexpr hsize_t kRows = 660;
constexpr hsize_t kFirst = 896;  // columns of which the test reads and writes all

void make_many(hid_t file) {
    const hsize_t most[] = {kRows, 1000};
    const hsize_t dims[] = {kRows - 1, 900};
    const hsize_t chunk[] = {1, 1};
    ASSERT_GE(H5Fset_libver_bounds(file, H5F_LIBVER_V110, H5F_LIBVER_LATEST), 0);
    const Hdf5Id space(H5Screate_simple(2, dims, most), H5Sclose);
    const Hdf5Id create(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    ASSERT_GE(H5Pset_chunk(create, 2, chunk), 0);
    ASSERT_GE(H5Pset_alloc_time(create, H5D_ALLOC_TIME_EARLY), 0);
    const Hdf5Id made(H5Dcreate2(file, "d", H5T_STD_I32LE, space, H5P_DEFAULT, create, H5P_DEFAULT), H5Dclose);
    const hsize_t start[] = {0, kFirst};
    const hsize_t count[] = {kRows - 1, 4};
    const Hdf5Id memory(H5Screate_simple(2, count, nullptr), H5Sclose);
    ASSERT_GE(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr), 0);
    const std::vector<int> values((kRows - 1) * 4, 5);
    ASSERT_GE(H5Dwrite(made, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, values.data()), 0);
}

void judge_many(hid_t file) {
    const Hdf5Id found(H5Dopen2(file, "d", H5P_DEFAULT), H5Dclose);
    const Hdf5Id space(H5Dget_space(found), H5Sclose);
    const hsize_t start[] = {0, kFirst};
    const hsize_t count[] = {kRows, 5};
    const Hdf5Id memory(H5Screate_simple(2, count, nullptr), H5Sclose);
    ASSERT_GE(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr), 0);
    std::vector<int> rows(kRows * 5);
    ASSERT_GE(H5Dread(found, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, rows.data()), 0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        ASSERT_EQ(rows[i], i / 5 < kRows - 1 && i % 5 < 2 ? 5 : 0) << i;
    }
}

TEST(ManyChunksWithoutIndex, ExtentsTouchFewOfThem) {
    Turns turns;
    turns.begin();
    CountingDriver counting(turns.storage);
    turns.used = &counting;
    turns.by_libhdf5(make_many);
    auto data = turns.root.open_dataset("d");
    ASSERT_EQ(data.status(), Status::ok);
    counting.reset();
    for (unsigned i = 0; i < 20; ++i) {
        ASSERT_EQ(data->set_extent({kRows - 1, 900 - i % 2}), Status::ok);
        ASSERT_EQ(turns.file.flush(), Status::ok);
    }
    ASSERT_EQ(data->set_extent({kRows, 898}), Status::ok);
    ASSERT_EQ(data->set_extent({kRows, 901}), Status::ok);
    ASSERT_EQ(turns.file.flush(), Status::ok);
    EXPECT_LT(counting.total().writes, 30000U);
    ASSERT_EQ(data->close(), Status::ok);
    turns.by_libhdf5(judge_many);
}

}  // namespace

#endif
