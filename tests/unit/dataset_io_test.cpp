// Reading and writing of datasets, whole and in part, in every layout, against a model in memory.
#include "cursor.hpp"
#include "storage_bench.hpp"

#if H5MOTE_PARTIAL_IO

using namespace h5mote;
using namespace h5mote_test;

namespace {

constexpr std::size_t kMost = 700;
std::int32_t model[kMost];
std::int32_t buffer[kMost];

Bytes bytes_of(std::int32_t* from, std::size_t count) noexcept {
    return {reinterpret_cast<std::byte*>(from), count * sizeof *from};
}
ConstBytes const_bytes_of(std::int32_t* from, std::size_t count) noexcept { return bytes_of(from, count); }

// An extent, whose elements are in `model` in row-major order.
struct Grid {
    unsigned rank;
    std::uint64_t dims[5];

    std::size_t count() const noexcept {
        std::size_t n = 1;
        for (unsigned i = 0; i < rank; ++i) {
            n *= static_cast<std::size_t>(dims[i]);
        }
        return n;
    }
};

struct Slab {
    std::uint64_t start[5];
    std::uint64_t stride[5];
    std::uint64_t count[5];
    std::uint64_t block[5];

    Selection selection(unsigned rank) const noexcept {
        return Selection::hyperslab(Span<const std::uint64_t>(start, rank), Span<const std::uint64_t>(count, rank),
                                    Span<const std::uint64_t>(stride, rank), Span<const std::uint64_t>(block, rank));
    }
    bool selects(unsigned i, std::uint64_t at) const noexcept {
        if (at < start[i]) {
            return false;
        }
        const std::uint64_t from = at - start[i];
        return from / stride[i] < count[i] && from % stride[i] < block[i];
    }
};

Slab random_slab(const Grid& grid, Numbers& numbers) noexcept {
    Slab slab;
    for (unsigned i = 0; i < grid.rank; ++i) {
        const auto dim = static_cast<std::uint32_t>(grid.dims[i]);
        slab.start[i] = numbers.below(dim);
        slab.block[i] = 1 + numbers.below(3);
        slab.stride[i] = slab.block[i] + numbers.below(3);
        const std::uint64_t left = dim - slab.start[i];
        const std::uint64_t most = left < slab.block[i] ? 0 : (left - slab.block[i]) / slab.stride[i] + 1;
        slab.count[i] = most == 0 ? 0 : 1 + numbers.below(static_cast<std::uint32_t>(most));
    }
    return slab;
}

// Stores the numbers of the selected elements in the order of a transfer. Returns their count.
std::size_t selected(const Grid& grid, const Slab& slab, std::uint16_t* elements) noexcept {
    std::size_t n = 0;
    for (std::size_t e = 0; e < grid.count(); ++e) {
        std::size_t rest = e;
        bool in = true;
        for (unsigned i = grid.rank; i-- > 0;) {
            in = in && slab.selects(i, rest % static_cast<std::size_t>(grid.dims[i]));
            rest /= static_cast<std::size_t>(grid.dims[i]);
        }
        if (in) {
            elements[n++] = static_cast<std::uint16_t>(e);
        }
    }
    return n;
}

std::uint16_t elements[kMost];

// Whether the dataset reads as the first `count` elements of the model.
bool equals_model(Dataset& dataset, std::size_t count) noexcept {
    std::memset(buffer, 0x55, sizeof buffer);
    return dataset.read(Selection::all(), datatype_of<std::int32_t>(), bytes_of(buffer, count)) == Status::ok &&
           std::memcmp(buffer, model, count * sizeof *model) == 0;
}

// Writes and reads points in any order and repeatedly: of several values for one element the last one stays.
void exercise_points(Dataset& dataset, const Grid& grid, Numbers& numbers, std::int32_t base) noexcept {
    constexpr std::size_t kPoints = 24;
    static std::uint64_t points[kPoints * 5];
    const DatatypeView type = datatype_of<std::int32_t>();
    for (std::size_t i = 0; i < kPoints; ++i) {
        elements[i] = 0;
        for (unsigned d = 0; d < grid.rank; ++d) {
            points[i * grid.rank + d] = numbers.below(static_cast<std::uint32_t>(grid.dims[d]));
            elements[i] = static_cast<std::uint16_t>(elements[i] * grid.dims[d] + points[i * grid.rank + d]);
        }
    }
    const Selection selection = Selection::points(grid.rank, {points, kPoints * grid.rank});
    for (std::size_t i = 0; i < kPoints; ++i) {
        buffer[i] = base + static_cast<std::int32_t>(i);
        model[elements[i]] = buffer[i];
    }
    ASSERT_EQ(dataset.write(selection, type, const_bytes_of(buffer, kPoints)), Status::ok);
    std::memset(buffer, 0x55, sizeof buffer);
    ASSERT_EQ(dataset.read(selection, type, bytes_of(buffer, kPoints)), Status::ok);
    for (std::size_t i = 0; i < kPoints; ++i) {
        ASSERT_EQ(buffer[i], model[elements[i]]);
    }
}

// Writes and reads random hyperslabs, and now and then compares the whole dataset.
void exercise(Dataset& dataset, const Grid& grid, unsigned rounds, std::uint32_t seed) noexcept {
    Numbers numbers(seed);
    const DatatypeView type = datatype_of<std::int32_t>();
    for (unsigned round = 0; round < rounds; ++round) {
        const Slab slab = random_slab(grid, numbers);
        const std::size_t count = selected(grid, slab, elements);
        if (numbers.below(3) != 0) {
            for (std::size_t i = 0; i < count; ++i) {
                buffer[i] = static_cast<std::int32_t>(round * 1000 + i);
                model[elements[i]] = buffer[i];
            }
            ASSERT_EQ(dataset.write(slab.selection(grid.rank), type, const_bytes_of(buffer, count)), Status::ok);
        }
        std::memset(buffer, 0x55, sizeof buffer);
        ASSERT_EQ(dataset.read(slab.selection(grid.rank), type, bytes_of(buffer, count)), Status::ok);
        for (std::size_t i = 0; i < count; ++i) {
            ASSERT_EQ(buffer[i], model[elements[i]]);
        }
        exercise_points(dataset, grid, numbers, static_cast<std::int32_t>(round * 1000 + 900));
    }
    EXPECT_TRUE(equals_model(dataset, grid.count()));
}

struct Case {
    Grid grid;
    std::uint32_t chunk[5];
    bool chunked;
    Layout layout;
    bool unlimited;
    bool filtered;
    std::int32_t fill;
    std::size_t cache;
};

void set_chunk(DatasetCreate& create, const Case& each) noexcept {
    const std::uint32_t* c = each.chunk;
    switch (each.grid.rank) {
        case 1:
            create.chunk = {c[0]};
            break;
        case 2:
            create.chunk = {c[0], c[1]};
            break;
        case 3:
            create.chunk = {c[0], c[1], c[2]};
            break;
        default:
            create.chunk = {c[0], c[1], c[2], c[3], c[4]};
            break;
    }
}

void run(const Case& each, std::uint32_t seed) noexcept {
    Bench bench;
    bench.access.chunk_cache = each.cache;
    FileCreate properties;
    properties.sizeof_addr = seed % 2 == 0 ? 4 : 8;
    ASSERT_EQ(bench.create(properties), Status::ok);
    const Span<const std::uint64_t> dims(each.grid.dims, each.grid.rank);
    std::uint64_t max_dims[5];
    std::memcpy(max_dims, each.grid.dims, sizeof max_dims);
    if (each.unlimited) {
        max_dims[0] = kUnlimited;
    }
    DatasetCreate create;
    create.layout = each.layout;
    if (each.chunked) {
        set_chunk(create, each);
    }
    if (each.filtered) {
#if H5MOTE_FILTERS
        create.filters = {filters::shuffle, filters::deflate};
#endif
    }
    const FileFill each_fill(each.fill);
    create.fill = each.fill == 0 ? ConstBytes() : each_fill.view();
    for (std::int32_t& value : model) {
        value = each.fill;
    }
    const auto space = Dataspace::simple(dims, Span<const std::uint64_t>(max_dims, each.grid.rank));
    {
        auto dataset = bench.file.root().create_dataset("data", file_type_of<std::int32_t>(), space, create);
        ASSERT_EQ(dataset.status(), Status::ok);
        // Before the first write all elements are the fill value.
        EXPECT_TRUE(equals_model(*dataset, each.grid.count()));
        exercise(*dataset, each.grid, 12, seed);
        EXPECT_EQ(bench.file.flush(), Status::ok);
        exercise(*dataset, each.grid, 12, seed + 100);
    }
    ASSERT_EQ(bench.reopen(), Status::ok);
    {
        auto dataset = bench.file.root().open_dataset("data");
        ASSERT_EQ(dataset.status(), Status::ok);
        Dataspace found;
        EXPECT_EQ(dataset->dataspace(found), Status::ok);
        EXPECT_TRUE(found == space);
        EXPECT_TRUE(equals_model(*dataset, each.grid.count()));
        exercise(*dataset, each.grid, 12, seed + 200);
    }
    EXPECT_EQ(bench.file.close(), Status::ok);
    EXPECT_TRUE(bench.empty());
}

}  // namespace

TEST(DatasetIo, EveryLayoutAgainstAModel) {
    constexpr Layout kAuto = Layout::automatic;
    constexpr Case kCases[] = {
        {{1, {100}}, {}, false, kAuto, false, false, 0, 512},
        {{1, {100}}, {}, false, kAuto, false, false, -7, 512},
        {{2, {9, 11}}, {}, false, Layout::compact, false, false, 0, 512},
        {{2, {9, 11}}, {}, false, Layout::compact, false, false, 3, 512},
        {{5, {3, 2, 4, 1, 5}}, {}, false, Layout::contiguous, false, false, 9, 512},
        {{1, {333}}, {10}, true, kAuto, true, false, 0, 40},
        {{1, {333}}, {10}, true, kAuto, true, false, 5, 200},
        {{1, {150}}, {1}, true, kAuto, true, false, 0, 4},
        {{2, {20, 17}}, {3, 4}, true, kAuto, true, false, 1, 48},
        {{3, {7, 6, 5}}, {2, 6, 2}, true, kAuto, true, false, 0, 96},
        {{5, {3, 4, 2, 3, 5}}, {2, 3, 2, 1, 2}, true, kAuto, true, false, -1, 96},
        {{1, {400}}, {60}, true, kAuto, true, false, 0, 100},     // chunks larger than the cache: written in place
        {{2, {20, 17}}, {5, 9}, true, kAuto, true, false, 4, 8},  // the same, with a fill value
#if H5MOTE_FILTERS
        {{1, {333}}, {10}, true, kAuto, true, true, 0, 40},
        {{2, {20, 17}}, {3, 4}, true, kAuto, true, true, 8, 48},
        {{3, {7, 6, 5}}, {2, 6, 2}, true, kAuto, true, true, 0, 96},
#endif
#if H5MOTE_FIXED_CHUNKS
        {{1, {333}}, {10}, true, kAuto, false, false, 0, 40},
        {{2, {20, 17}}, {3, 4}, true, kAuto, false, false, 1, 48},
        {{5, {3, 4, 2, 3, 5}}, {2, 3, 2, 1, 2}, true, kAuto, false, false, -1, 96},
        {{2, {20, 17}}, {20, 17}, true, kAuto, false, false, 2, 2000},
        {{2, {20, 17}}, {5, 9}, true, kAuto, false, false, 4, 8},
#if H5MOTE_FILTERS
        {{2, {20, 17}}, {3, 4}, true, kAuto, false, true, 1, 48},
        {{1, {90}}, {90}, true, kAuto, false, true, 1, 360},
#endif
#endif
    };
    std::uint32_t seed = 1;
    for (const Case& each : kCases) {
        run(each, seed++);
    }
}

TEST(DatasetIo, GrowsInEveryDimension) {
    Bench bench;
    bench.access.chunk_cache = 48;
    ASSERT_EQ(bench.create(), Status::ok);
    DatasetCreate create;
    create.chunk = {3, 4};
    const std::int32_t fill = -9;
    const FileFill file_fill(fill);
    create.fill = file_fill.view();
    auto dataset = bench.file.root().create_dataset("data", file_type_of<std::int32_t>(),
                                                    Dataspace::simple({2, 3}, {kUnlimited, 9}), create);
    ASSERT_EQ(dataset.status(), Status::ok);
    EXPECT_EQ(dataset->set_extent({2}), Status::invalid_argument);
    EXPECT_EQ(dataset->set_extent({2, 10}), Status::invalid_argument);
    EXPECT_EQ(dataset->set_extent({kUnlimited, 3}), Status::invalid_argument);
    EXPECT_EQ(dataset->set_extent({2, 3}), Status::ok);
    Grid grid{2, {2, 3}};
    for (std::int32_t& value : model) {
        value = fill;
    }
    constexpr std::uint64_t kSteps[][2] = {{2, 3}, {4, 3}, {4, 5}, {13, 9}, {40, 9}};
    std::uint32_t seed = 5;
    for (const auto& step : kSteps) {
        // Move the model's rows to their new places.
        const std::size_t columns = static_cast<std::size_t>(grid.dims[1]);
        std::memcpy(buffer, model, sizeof model);
        for (std::size_t e = 0; e < static_cast<std::size_t>(step[0] * step[1]); ++e) {
            const std::size_t row = e / static_cast<std::size_t>(step[1]);
            const std::size_t column = e % static_cast<std::size_t>(step[1]);
            model[e] = row < grid.dims[0] && column < columns ? buffer[row * columns + column] : fill;
        }
        grid.dims[0] = step[0];
        grid.dims[1] = step[1];
        ASSERT_EQ(dataset->set_extent(Span<const std::uint64_t>(step, 2)), Status::ok);
        EXPECT_TRUE(equals_model(*dataset, grid.count()));
        exercise(*dataset, grid, 8, seed++);
        ASSERT_EQ(bench.file.flush(), Status::ok);
    }
    ASSERT_EQ(dataset->close(), Status::ok);
    ASSERT_EQ(bench.reopen(), Status::ok);
    EXPECT_TRUE(equals_model(*bench.file.root().open_dataset("data"), grid.count()));
}

// Appended rows, rows written anywhere, skipped chunks: no chunk may take another's place.
TEST(DatasetIo, AppendAndRandomAccessMixed) {
    for (const std::uint32_t seed : {1U, 2U, 3U, 4U, 5U, 6U}) {
        Bench bench;
        bench.access.chunk_cache = seed % 2 == 0 ? 16 : 200;
        ASSERT_EQ(bench.create(), Status::ok);
        DatasetCreate create;
        create.chunk = {4};
        auto log = bench.file.root().create_dataset<std::int32_t>("log", create);
        ASSERT_TRUE(bool(log));
        Numbers numbers(seed);
        std::size_t size = 0;
        std::memset(model, 0, sizeof model);
        while (size < 600) {
            const std::uint32_t what = numbers.below(10);
            if (what < 5) {
                model[size] = static_cast<std::int32_t>(size + 1);
                ASSERT_EQ(log->append(model[size]), Status::ok);
                ++size;
            } else if (what == 5) {
                size += numbers.below(60);
                size = size < kMost ? size : kMost;
                ASSERT_EQ(log->set_extent({size}), Status::ok);
            } else if (what < 9 && size > 0) {
                const std::uint64_t at = numbers.below(static_cast<std::uint32_t>(size));
                const std::int32_t value = -static_cast<std::int32_t>(at) - 1;
                model[at] = value;
                ASSERT_EQ(log->write(Selection::hyperslab({at}, {1}), Span<const std::int32_t>(&value, 1)), Status::ok);
            } else if (numbers.below(3) == 0) {
                ASSERT_EQ(log->close(), Status::ok);
                ASSERT_EQ(bench.reopen(), Status::ok);
                log = bench.file.root().open_dataset<std::int32_t>("log");
                ASSERT_TRUE(bool(log));
            } else {
                ASSERT_EQ(bench.file.flush(), Status::ok);
            }
            ASSERT_EQ(log->size(), size);
        }
        EXPECT_TRUE(equals_model(*log, size));
        EXPECT_EQ(log->close(), Status::ok);
        EXPECT_EQ(bench.file.close(), Status::ok);
        EXPECT_TRUE(bench.empty());
    }
}

TEST(DatasetIo, ScalarNullAndTheLargestRank) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    Group root = bench.file.root();
    const DatatypeView type = file_type_of<std::int32_t>();
    std::int32_t value = 77;
    for (const Layout layout : {Layout::automatic, Layout::compact}) {
        DatasetCreate create;
        create.layout = layout;
        const char* name = layout == Layout::compact ? "compact" : "contiguous";
        auto scalar = root.create_dataset(name, type, Dataspace::scalar(), create);
        ASSERT_EQ(scalar.status(), Status::ok);
        EXPECT_EQ(scalar->write(Selection::all(), type, const_bytes_of(&value, 1)), Status::ok);
        std::int32_t back = 0;
        EXPECT_EQ(scalar->read(Selection::all(), type, bytes_of(&back, 1)), Status::ok);
        EXPECT_EQ(back, 77);
    }
    auto null = root.create_dataset("null", type, Dataspace::null());
    ASSERT_EQ(null.status(), Status::ok);
    EXPECT_EQ(null->read(Selection::all(), type, {}), Status::ok);
    EXPECT_EQ(null->write(Selection::all(), type, {}), Status::ok);
    Dataspace space;
    EXPECT_EQ(null->dataspace(space), Status::ok);
    EXPECT_EQ(space.space_class(), DataspaceClass::null);
    auto nothing = root.create_dataset("nothing", type, Dataspace::simple({0, 5}));
    ASSERT_EQ(nothing.status(), Status::ok);
    EXPECT_EQ(nothing->read(Selection::all(), type, {}), Status::ok);

    std::uint64_t dims[H5MOTE_MAX_RANK];
    for (std::uint64_t& dim : dims) {
        dim = 1;
    }
    dims[0] = 2;
    dims[H5MOTE_MAX_RANK - 1] = 5;
    const Dataspace deep = Dataspace::simple(Span<const std::uint64_t>(dims));
    for (const Layout layout : {Layout::contiguous, Layout::compact}) {
        DatasetCreate create;
        create.layout = layout;
        const char* name = layout == Layout::compact ? "deep compact" : "deep";
        auto dataset = root.create_dataset(name, type, deep, create);
        ASSERT_EQ(dataset.status(), Status::ok);
        for (std::int32_t i = 0; i < 10; ++i) {
            model[i] = i * i;
        }
        EXPECT_EQ(dataset->write(Selection::all(), datatype_of<std::int32_t>(), const_bytes_of(model, 10)), Status::ok);
        EXPECT_TRUE(equals_model(*dataset, 10));
    }
    root.close();
    EXPECT_EQ(bench.file.close(), Status::ok);
}

TEST(DatasetIo, EarlyAllocation) {
    for (const std::int32_t fill : {0, 6}) {
        for (const bool chunked : {false, true}) {
            Bench bench;
            ASSERT_EQ(bench.create(), Status::ok);
            DatasetCreate create;
            create.allocation = AllocationTime::early;
            const FileFill file_fill(fill);
            create.fill = file_fill.view();
            if (chunked) {
                create.chunk = {5, 3};
            }
            const Dataspace space = chunked ? Dataspace::simple({7, 8}, {kUnlimited, 8}) : Dataspace::simple({7, 8});
            auto dataset = bench.file.root().create_dataset("data", file_type_of<std::int32_t>(), space, create);
            ASSERT_EQ(dataset.status(), Status::ok);
            EXPECT_EQ(dataset->close(), Status::ok);
            ASSERT_EQ(bench.reopen(), Status::ok);
            EXPECT_GE(bench.driver.contents().size(), 7U * 8 * 4 + 100);
            for (std::int32_t& value : model) {
                value = fill;
            }
            EXPECT_TRUE(equals_model(*bench.file.root().open_dataset("data"), 56));
        }
        // With early allocation, a storage that is too small is reported by the creation.
        Bench small(1000);
        ASSERT_EQ(small.create(), Status::ok);
        DatasetCreate create;
        create.allocation = AllocationTime::early;
        const FileFill file_fill(fill);
        create.fill = file_fill.view();
        EXPECT_EQ(small.file.root()
                      .create_dataset("data", file_type_of<std::int32_t>(), Dataspace::simple({500}), create)
                      .status(),
                  Status::no_space);
        EXPECT_FALSE(small.file.root().exists("data"));
        EXPECT_EQ(small.file.close(), Status::ok);
        EXPECT_TRUE(small.empty());
    }
}

TEST(DatasetIo, RefusesWhatDoesNotFit) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    Group root = bench.file.root();
    const DatatypeView type = file_type_of<std::int32_t>();
    struct Refused {
        Dataspace space;
        DatasetCreate create;
        Status status;
    };
    const auto status_of = [&](const Dataspace& space, const DatasetCreate& create) {
        return root.create_dataset("x", type, space, create).status();
    };
    DatasetCreate chunk2;
    chunk2.chunk = {2};
    DatasetCreate chunk22;
    chunk22.chunk = {2, 2};
    DatasetCreate chunk0;
    chunk0.chunk = {0};
    DatasetCreate chunk9;
    chunk9.chunk = {9};
    DatasetCreate bad_fill;
    const std::int16_t two = 2;
    bad_fill.fill = as_bytes(Span<const std::int16_t>(&two, 1));
    EXPECT_EQ(status_of(Dataspace::simple({4}, {3}), {}), Status::invalid_argument);
    EXPECT_EQ(status_of(Dataspace::unlimited(), {}), Status::invalid_argument);
    EXPECT_EQ(status_of(Dataspace::simple({4}), chunk22), Status::invalid_argument);
    EXPECT_EQ(status_of(Dataspace::scalar(), chunk2), Status::invalid_argument);
    EXPECT_EQ(status_of(Dataspace::simple({4}), chunk0), Status::invalid_argument);
    EXPECT_EQ(status_of(Dataspace::simple({4}), chunk9), Status::invalid_argument);
    EXPECT_EQ(status_of(Dataspace::simple({4}), bad_fill), Status::invalid_argument);
    // Nodes of this index have 2048 bytes, which the metadata cache here has no room for.
    EXPECT_EQ(status_of(Dataspace::simple({4, 4}, {kUnlimited, kUnlimited}), chunk22),
              H5MOTE_ALL_FORMATS != 0 ? Status::over_budget : Status::unsupported);
    EXPECT_EQ(status_of(Dataspace::simple({kUnlimited - 1, 7}), {}), Status::invalid_argument);
    DatasetCreate compact;
    compact.layout = Layout::compact;
    EXPECT_EQ(status_of(Dataspace::simple({20000}), compact), Status::over_budget);
    EXPECT_EQ(status_of(Dataspace::simple({1000}), compact), Status::over_budget);  // larger than the metadata cache
    EXPECT_EQ(root.create_dataset("x", DatatypeView(), Dataspace::simple({4})).status(), Status::invalid_argument);
#if H5MOTE_FILTERS
    DatasetCreate whole;
    whole.filters = {filters::shuffle};
    EXPECT_EQ(status_of(Dataspace::simple({4}), whole), Status::invalid_argument);
    DatasetCreate szip = chunk2;
    szip.filters = {FilterSpec{FilterId::szip, false, 0, {}}};
    EXPECT_EQ(status_of(Dataspace::unlimited(), szip), Status::unsupported);
#endif
    EXPECT_FALSE(root.exists("x"));
    std::uint32_t count = 1;
    EXPECT_EQ(root.link_count(count), Status::ok);
    EXPECT_EQ(count, 0U);

    auto dataset = root.create_dataset("x", type, Dataspace::unlimited(10), chunk2);
    ASSERT_EQ(dataset.status(), Status::ok);
    EXPECT_EQ(dataset->read(Selection::all(), type, bytes_of(buffer, 9)), Status::invalid_argument);
    EXPECT_EQ(dataset->read(Selection::hyperslab({8}, {3}), type, bytes_of(buffer, 3)), Status::invalid_argument);
    EXPECT_EQ(dataset->read(Selection::hyperslab({0, 0}, {1, 1}), type, bytes_of(buffer, 1)), Status::invalid_argument);
    EXPECT_EQ(dataset->read(Selection::none(), type, {}), Status::ok);
    EXPECT_EQ(dataset->write(Selection::none(), type, bytes_of(buffer, 1)), Status::invalid_argument);
    static constexpr auto kText = make_string(4);
    EXPECT_EQ(dataset->read(Selection::all(), kText, bytes_of(buffer, 10)), Status::type_mismatch);
    std::byte encoded[8];
    DatatypeView found;
    EXPECT_EQ(dataset->datatype(Bytes(encoded), found), Status::over_budget);
    EXPECT_EQ(dataset->element_size(), 4U);
}

#if H5MOTE_CONVERSION
TEST(DatasetIo, ConvertsOnTheWay) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    static constexpr auto kBig = make_integer(2, true, ByteOrder::big);
    for (const bool chunked : {false, true}) {
        for (const std::size_t cache : {std::size_t{8}, std::size_t{100}}) {
            bench.access.chunk_cache = cache;
            ASSERT_EQ(bench.reopen(), Status::ok);
            DatasetCreate create;
            if (chunked) {
                create.chunk = {7};
            }
            const char name[3] = {chunked ? 'c' : 'w', cache == 8 ? 'a' : 'b', 0};
            auto dataset = bench.file.root().create_dataset(
                name, kBig, chunked ? Dataspace::unlimited(400) : Dataspace::simple({400}), create);
            ASSERT_EQ(dataset.status(), Status::ok);
            for (std::int32_t i = 0; i < 400; ++i) {
                model[i] = i * 20 - 3000;
            }
            EXPECT_EQ(dataset->write(Selection::all(), datatype_of<std::int32_t>(), const_bytes_of(model, 400)),
                      Status::ok);
            EXPECT_TRUE(equals_model(*dataset, 400));
            std::int8_t narrow = 0;
            EXPECT_EQ(dataset->read(Selection::hyperslab({0}, {1}), datatype_of<std::int8_t>(),
                                    {reinterpret_cast<std::byte*>(&narrow), 1}),
                      Status::ok);
            EXPECT_EQ(narrow, -128);  // clamped to the nearest value of the type
        }
    }
}
#endif

TEST(DatasetIo, SelectionsInMemory) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    const DatatypeView type = datatype_of<std::int32_t>();
    DatasetCreate create;
    create.chunk = {4, 3};
    auto dataset = bench.file.root().create_dataset("d", file_type_of<std::int32_t>(),
                                                    Dataspace::simple({6, 7}, {kUnlimited, 7}), create);
    ASSERT_EQ(dataset.status(), Status::ok);
    for (std::int32_t i = 0; i < 42; ++i) {
        model[i] = 100 + i;
    }
    // Every second element in memory corresponds to the elements of the dataset, in row-major order.
    for (std::int32_t i = 0; i < 84; ++i) {
        buffer[i] = i % 2 == 0 ? model[i / 2] : -1;
    }
    const Dataspace memory = Dataspace::simple({84});
    EXPECT_EQ(dataset->write(Selection::all(), type, memory, Selection::hyperslab({0}, {42}, {2}),
                             const_bytes_of(buffer, 84)),
              Status::ok);
    EXPECT_TRUE(equals_model(*dataset, 42));
    std::memset(buffer, 0, sizeof buffer);
    EXPECT_EQ(dataset->read(Selection::hyperslab({1, 2}, {2, 2}), type, Dataspace::simple({3, 3}),
                            Selection::hyperslab({0, 1}, {2, 2}), bytes_of(buffer, 9)),
              Status::ok);
    const std::int32_t wanted[9] = {0, model[9], model[10], 0, model[16], model[17], 0, 0, 0};
    EXPECT_EQ(std::memcmp(buffer, wanted, sizeof wanted), 0);
    EXPECT_EQ(dataset->read(Selection::hyperslab({1, 2}, {2, 2}), type, Dataspace::simple({3, 3}),
                            Selection::hyperslab({0, 1}, {1, 2}), bytes_of(buffer, 9)),
              Status::invalid_argument);
}

// Creating a dataset that does not fit into the storage leaves nothing behind.
TEST(DatasetIo, ADatasetThatFindsNoSpaceTakesNone) {
    for (const bool chunked : {false, true}) {
        Bench bench;
        ASSERT_EQ(bench.create(), Status::ok);
        ASSERT_EQ(bench.file.flush(), Status::ok);
        DatasetCreate create;
        create.allocation = AllocationTime::early;
        if (chunked) {
            create.chunk = {50};
        }
        for (unsigned i = 0; i < 30; ++i) {
            auto none = bench.file.root().create_dataset<std::int32_t>("d", create, Dataspace::simple({10000}));
            ASSERT_EQ(none.status(), Status::no_space);
            ASSERT_EQ(bench.file.flush(), Status::ok);
        }
        // A dataset that takes nearly all space of the storage.
        auto some = bench.file.root().create_dataset<std::int32_t>("d", create, Dataspace::simple({5000}));
        EXPECT_EQ(some.status(), Status::ok);
        EXPECT_EQ(bench.file.flush(), Status::ok);
        EXPECT_EQ(some->close(), Status::ok);
        EXPECT_EQ(bench.file.close(), Status::ok);
        EXPECT_TRUE(bench.empty());
    }
}

#endif
