// Elements that are written one by one in the file, because the rows of a chunk are short or a selection has gaps: they
// reach the storage together, and nothing beside them changes.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS

#include "counting_driver.hpp"
#include "flash_simulator.hpp"
#include "test.hpp"

#include <h5mote/compound.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/flash.hpp>
#include <h5mote/vfd/memory.hpp>

#include <random>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

using Dims = std::vector<std::uint64_t>;

Span<const std::uint64_t> span_of(const Dims& dims) { return {dims.data(), dims.size()}; }

// A hyperslab of an extent, with gaps or without.
struct Slab {
    Slab(const Dims& dims, std::mt19937& random) {
        for (const std::uint64_t dim : dims) {
            start.push_back(random() % dim);
            const std::uint64_t left = dim - start.back();
            stride.push_back(1 + random() % 4);
            count.push_back(1 + random() % ((left - 1) / stride.back() + 1));
        }
    }
    Selection selection() const { return Selection::hyperslab(span_of(start), span_of(count), span_of(stride)); }
    std::size_t elements() const {
        std::size_t product = 1;
        for (const std::uint64_t each : count) {
            product *= static_cast<std::size_t>(each);
        }
        return product;
    }
    // The number, in the extent's row-major order, of the selected element `i`.
    std::size_t place(std::size_t i, const Dims& dims) const {
        std::size_t at = 0;
        std::size_t size = 1;
        for (std::size_t d = dims.size(); d-- > 0;) {
            at += static_cast<std::size_t>(start[d] + i % count[d] * stride[d]) * size;
            i /= static_cast<std::size_t>(count[d]);
            size *= static_cast<std::size_t>(dims[d]);
        }
        return at;
    }
    Dims start, count, stride;
};

struct ShortPieces : public ::testing::Test {
    ShortPieces() {
        FileAccess access;
        access.metadata_cache = 65536;
        access.chunk_cache = 256;  // chunks are read and written in place
        file = static_cast<File&&>(*File::create(library, driver, access));
    }
    ~ShortPieces() override { EXPECT_EQ(file.close(), Status::ok); }

    // Writes slabs from values of the type T into 16-bit integers, and reads everything again after each.
    template <typename T>
    void compare(const Dims& chunk, bool extensible) {
        const Dims dims{5, 6, 31, 3};
        DatasetCreate create;
        for (const std::uint64_t each : chunk) {
            create.chunk.push_back(static_cast<std::uint32_t>(each));
        }
        const Dims most(4, kUnlimited);
        auto dataset = file.root().create_dataset(
            "d", datatype_of<std::int16_t>(),
            extensible ? Dataspace::simple(span_of(dims), span_of(most)) : Dataspace::simple(span_of(dims)), create);
        ASSERT_EQ(dataset.status(), Status::ok);
        std::vector<std::int16_t> model(5 * 6 * 31 * 3);
        std::mt19937 random(1);
        for (int round = 0; round < 100; ++round) {
            const Slab slab(dims, random);
            std::vector<T> values(slab.elements());
            for (std::size_t i = 0; i < values.size(); ++i) {
                values[i] = static_cast<T>(random() % 30000);
                model[slab.place(i, dims)] = static_cast<std::int16_t>(values[i]);
            }
            ASSERT_EQ(dataset->write(slab.selection(), datatype_of<T>(),
                                     as_bytes(Span<const T>(values.data(), values.size()))),
                      Status::ok);
            std::vector<std::int16_t> read(model.size());
            ASSERT_EQ(dataset->read(Selection::all(), datatype_of<std::int16_t>(),
                                    {reinterpret_cast<std::byte*>(read.data()), read.size() * 2}),
                      Status::ok);
            ASSERT_EQ(read, model) << "round " << round;
        }
        ASSERT_EQ(dataset->close(), Status::ok);
        ASSERT_EQ(file.root().unlink("d"), Status::ok);
    }

    MallocAllocator memory;
    NullPort port;
    Library library{memory, port};
    GrowingMemoryDriver storage{memory};
    CountingDriver driver{storage};
    File file;
};

TEST_F(ShortPieces, ChangeNothingElse) {
    for (const Dims& chunk : {Dims{5, 6, 31, 1}, Dims{5, 6, 31, 4}, Dims{4, 5, 8, 2}, Dims{7, 2, 64, 3}}) {
        compare<std::int16_t>(chunk, true);
        compare<std::int32_t>(chunk, true);
    }
    compare<std::int16_t>({}, false);
    compare<std::int32_t>({}, false);
}

// Every second element, and all where the chunk has rows of one element: not one write for each of them.
TEST_F(ShortPieces, AreWrittenTogether) {
    const Dims dims{20, 50, 2};
    for (const Dims& chunk : {Dims{20, 50, 1}, Dims{20, 50, 2}}) {
        DatasetCreate create;
        create.chunk = {20, 50, static_cast<std::uint32_t>(chunk[2])};
        const Dims most(3, kUnlimited);
        auto dataset = file.root().create_dataset("d" + std::to_string(chunk[2]), datatype_of<std::int16_t>(),
                                                  Dataspace::simple(span_of(dims), span_of(most)), create);
        ASSERT_EQ(dataset.status(), Status::ok);
        const std::vector<std::int16_t> values(2000, 7);
        driver.reset();
        ASSERT_EQ(dataset->write(Selection::all(), datatype_of<std::int16_t>(),
                                 as_bytes(Span<const std::int16_t>(values.data(), values.size()))),
                  Status::ok);
        EXPECT_LE(driver.of(Usage::raw_data).writes, 10U);
        const Dims start{0, 0, 1};
        const Dims count{20, 50, 1};
        driver.reset();
        ASSERT_EQ(dataset->write(Selection::hyperslab(span_of(start), span_of(count)), datatype_of<std::int16_t>(),
                                 as_bytes(Span<const std::int16_t>(values.data(), 1000))),
                  Status::ok);
        EXPECT_LE(driver.of(Usage::raw_data).writes, 10U);
        EXPECT_LE(driver.of(Usage::raw_data).reads, 10U);
        // What becomes smaller is cleared in as few writes.
        const Dims smaller{15, 40, 2};
        driver.reset();
        ASSERT_EQ(dataset->set_extent(span_of(smaller)), Status::ok);
        EXPECT_LE(driver.of(Usage::raw_data).writes, 70U);
    }
}

// The fill value of a large dataset takes one write for each 64 KiB, or as many bytes as the chunk cache may have.
TEST_F(ShortPieces, FillInLargeSteps) {
    ASSERT_EQ(file.close(), Status::ok);
    FileAccess access;
    access.chunk_cache = 16384;
    file = static_cast<File&&>(*File::open(library, driver, access));
    const std::int32_t fill = 7;
    DatasetCreate create;
    create.fill = as_bytes(Span<const std::int32_t>(&fill, 1));
    create.allocation = AllocationTime::early;
    driver.reset();
    auto dataset = file.root().create_dataset("d", datatype_of<std::int32_t>(), Dataspace::simple({100000}), create);
    ASSERT_EQ(dataset.status(), Status::ok);
    EXPECT_LE(driver.of(Usage::raw_data).writes, 400000U / 16384 + 1);
    std::vector<std::int32_t> read(100000);
    ASSERT_EQ(dataset->read(Selection::all(), datatype_of<std::int32_t>(),
                            {reinterpret_cast<std::byte*>(read.data()), read.size() * 4}),
              Status::ok);
    EXPECT_EQ(read, std::vector<std::int32_t>(100000, 7));
}

struct Pair {
    std::int16_t a;
    std::int16_t b;
};
struct Half {
    std::int16_t b;
};

H5MOTE_COMPOUND(Pair, a, b)
H5MOTE_COMPOUND(Half, b)

// Members that the memory datatype lacks keep their values, in the elements between as well.
TEST_F(ShortPieces, KeepOtherMembers) {
    const Dims dims{40, 3};
    auto dataset = file.root().create_dataset("d", datatype_of<Pair>(), Dataspace::simple(span_of(dims)));
    ASSERT_EQ(dataset.status(), Status::ok);
    std::vector<Pair> pairs(120);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        pairs[i] = {static_cast<std::int16_t>(i), static_cast<std::int16_t>(1000 + i)};
    }
    ASSERT_EQ(
        dataset->write(Selection::all(), datatype_of<Pair>(), as_bytes(Span<const Pair>(pairs.data(), pairs.size()))),
        Status::ok);
    const Dims start{0, 1};
    const Dims count{40, 1};
    const std::vector<Half> halves(40, Half{-1});
    ASSERT_EQ(dataset->write(Selection::hyperslab(span_of(start), span_of(count)), datatype_of<Half>(),
                             as_bytes(Span<const Half>(halves.data(), halves.size()))),
              Status::ok);
    std::vector<Pair> read(120);
    ASSERT_EQ(dataset->read(Selection::all(), datatype_of<Pair>(),
                            {reinterpret_cast<std::byte*>(read.data()), read.size() * sizeof(Pair)}),
              Status::ok);
    for (std::size_t i = 0; i < read.size(); ++i) {
        ASSERT_EQ(read[i].a, pairs[i].a) << i;
        ASSERT_EQ(read[i].b, i % 3 == 1 ? -1 : pairs[i].b) << i;
    }
}

// On flash every write takes room until the next flush. A dataset of 60 KB that is made smaller filled a chip of 2 MiB
// when the elements that were cut off were cleared one by one.
TEST(ShortPiecesOnFlash, LeaveRoom) {
    FlashSimulatorOptions options;
    options.geometry.block_size = 4096;
    options.geometry.blocks = 512;
    options.geometry.page_size = 256;
    std::vector<std::uint64_t> chip_memory(FlashSimulator::required_memory(options.geometry) / 8 + 1);
    FlashSimulator chip(options, Bytes{reinterpret_cast<std::byte*>(chip_memory.data()), chip_memory.size() * 8});
    FlashFormat format;
    format.page_size = 1024;
    const FlashOptions mount;
    std::vector<std::uint64_t> work(FlashDriver::required_memory(options.geometry, format, mount) / 8 + 1);
    FlashDriver driver(chip, Bytes{reinterpret_cast<std::byte*>(work.data()), work.size() * 8});
    ASSERT_EQ(driver.format(format, mount), Status::ok);
    ASSERT_EQ(driver.mount(mount), Status::ok);
    MallocAllocator memory;
    NullPort port;
    Library library(memory, port);
    FileAccess access;
    access.metadata_cache = 65536;
    access.chunk_cache = 4096;
    auto file = File::create(library, driver, access);
    ASSERT_EQ(file.status(), Status::ok);
    DatasetCreate create;
    create.chunk = {11, 42, 63, 1};
    const Dims dims{11, 42, 63, 2};
    const Dims most(4, kUnlimited);
    auto dataset = file->root().create_dataset("d", datatype_of<std::int8_t>(),
                                               Dataspace::simple(span_of(dims), span_of(most)), create);
    ASSERT_EQ(dataset.status(), Status::ok);
    const std::vector<std::int8_t> values(58212, 1);
    ASSERT_EQ(dataset->write(Selection::all(), datatype_of<std::int8_t>(),
                             as_bytes(Span<const std::int8_t>(values.data(), values.size()))),
              Status::ok);
    ASSERT_EQ(file->flush(), Status::ok);
    const Dims smaller{2, 2, 7, 2};
    ASSERT_EQ(dataset->set_extent(span_of(smaller)), Status::ok);
    EXPECT_EQ(file->flush(), Status::ok);
    EXPECT_EQ(file->close(), Status::ok);
}

}  // namespace

#endif
