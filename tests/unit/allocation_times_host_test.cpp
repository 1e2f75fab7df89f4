// When chunks get their space, as with libhdf5. (extent_changes_host_test.cpp changes extents with early allocation at
// random.)
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS

#include "full_storage.hpp"
#include "sound.hpp"
#include "test_allocators.hpp"

#include <h5mote/copy.hpp>
#include <h5mote/filters/fletcher32.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

struct Shape {
    std::vector<std::uint64_t> dims;
    std::vector<std::uint64_t> most;
    std::vector<std::uint32_t> chunk;
};

// An extensible array, a fixed array, a B-tree and a single chunk.
const std::vector<Shape>& shapes() {
    static const std::vector<Shape> all{{{60}, {kUnlimited}, {10}},
                                        {{6, 8}, {9, 12}, {2, 3}},
                                        {{6, 8}, {kUnlimited, kUnlimited}, {2, 3}},
                                        {{6, 8}, {6, 8}, {6, 8}}};
    return all;
}

std::uint64_t chunks_of(const Dataset& dataset) {
    std::uint64_t count = 0;
    ChunkIterator chunks(dataset);
    for (ChunkInfo chunk; chunks.next(chunk) == Status::ok;) {
        ++count;
    }
    return count;
}

class AllocationTimes : public testing::Test {
protected:
    AllocationTimes() {
        FileAccess access;
        access.metadata_cache = 4096;
        auto made = File::create(library, storage, access);
        EXPECT_EQ(made.status(), Status::ok);
        file = static_cast<File&&>(*made);
    }
    ~AllocationTimes() override {
        EXPECT_TRUE(findings_in(file).none());
        EXPECT_EQ(file.close(), Status::ok);
    }
    Dataset create(const Shape& shape, AllocationTime allocation, bool filtered = false) {
        DatasetCreate create;
        create.chunk = ChunkDims({shape.chunk.data(), shape.chunk.size()});
        create.allocation = allocation;
        if (filtered) {
            create.filters = {filters::fletcher32};
        }
        const std::size_t rank = shape.dims.size();
        auto made = file.root().create_dataset(
            names.emplace_back("data" + std::to_string(names.size())), file_type_of<std::int32_t>(),
            Dataspace::simple({shape.dims.data(), rank}, {shape.most.data(), rank}), create);
        EXPECT_EQ(made.status(), Status::ok);
        return static_cast<Dataset&&>(*made);
    }
    static std::uint64_t chunks_in(const Shape& shape, const std::vector<std::uint64_t>& extent) {
        std::uint64_t all = 1;
        for (std::size_t i = 0; i < extent.size(); ++i) {
            all *= (extent[i] + shape.chunk[i] - 1) / shape.chunk[i];
        }
        return all;
    }
    static Status write_one(Dataset& dataset, const std::vector<std::uint64_t>& at) {
        const std::vector<std::uint64_t> ones(at.size(), 1);
        const std::int32_t value = 7;
        return dataset.write(Selection::hyperslab({at.data(), at.size()}, {ones.data(), ones.size()}),
                             datatype_of<std::int32_t>(), as_bytes(Span<const std::int32_t>(&value, 1)));
    }

    MallocAllocator memory;
    NullPort port;
    static constexpr const Filter* kFilters[] = {&fletcher32_filter};
    Library library{memory, port, kFilters, formats::all};
    GrowingMemoryDriver storage{memory};
    File file;
    std::vector<std::string> names;
};

TEST_F(AllocationTimes, LateIsAllChunksWhenTheFirstElementIsWritten) {
    for (const Shape& shape : shapes()) {
        for (const bool filtered : {false, true}) {
            Dataset dataset = create(shape, AllocationTime::late, filtered);
            EXPECT_EQ(chunks_of(dataset), 0U);
            ASSERT_EQ(write_one(dataset, std::vector<std::uint64_t>(shape.dims.size(), 5)), Status::ok);
            EXPECT_EQ(chunks_of(dataset), chunks_in(shape, shape.dims));
            if (shape.dims == shape.most) {
                continue;
            }
            // What is added later is allocated when it is written.
            std::vector<std::uint64_t> larger = shape.dims;
            for (std::size_t i = 0; i < larger.size(); ++i) {
                larger[i] += shape.chunk[i];
            }
            ASSERT_EQ(dataset.set_extent({larger.data(), larger.size()}), Status::ok);
            EXPECT_EQ(chunks_of(dataset), chunks_in(shape, shape.dims));
            for (std::uint64_t& each : larger) {
                --each;
            }
            ASSERT_EQ(write_one(dataset, larger), Status::ok);
            EXPECT_EQ(chunks_of(dataset), chunks_in(shape, shape.dims) + 1);
        }
    }
}

TEST_F(AllocationTimes, LateIsAllChunksWhenTheFirstRowIsAppended) {
    Dataset dataset = create(shapes()[0], AllocationTime::late);
    ASSERT_EQ(dataset.append_rows(datatype_of<std::int32_t>(), nullptr, 0), Status::ok);
    EXPECT_EQ(chunks_of(dataset), 0U);
    const std::int32_t row = 7;
    ASSERT_EQ(dataset.append_rows(datatype_of<std::int32_t>(), &row, 1), Status::ok);
    ASSERT_EQ(file.flush(), Status::ok);
    EXPECT_EQ(chunks_of(dataset), 7U);
}

TEST_F(AllocationTimes, LateIsAllChunksWhenTheFirstChunkIsWritten) {
    Dataset dataset = create(shapes()[1], AllocationTime::late);
    const std::vector<std::byte> chunk(24);
    const std::uint64_t offset[] = {2, 3};
    ASSERT_EQ(dataset.write_chunk(offset, {chunk.data(), chunk.size()}), Status::ok);
    EXPECT_EQ(chunks_of(dataset), chunks_in(shapes()[1], shapes()[1].dims));
}

// A copy has the chunks of the original.
TEST_F(AllocationTimes, ACopyHasTheChunksOfTheOriginal) {
    Dataset dataset = create({{0}, {kUnlimited}, {10}}, AllocationTime::late);
    ASSERT_EQ(dataset.set_extent({20}), Status::ok);
    ASSERT_EQ(write_one(dataset, {3}), Status::ok);
    ASSERT_EQ(dataset.set_extent({200}), Status::ok);
    ASSERT_EQ(write_one(dataset, {155}), Status::ok);
    EXPECT_EQ(chunks_of(dataset), 3U);
    Group root = file.root();
    ASSERT_EQ(copy_object(root, names.back(), root, "copied"), Status::ok);
    EXPECT_EQ(chunks_of(*root.open_dataset("copied")), 3U);
    // The copy of one that has lost all of its chunks allocates none but those that are written, as the original does.
    ASSERT_EQ(dataset.set_extent({0}), Status::ok);
    ASSERT_EQ(copy_object(root, names.back(), root, "emptied"), Status::ok);
    auto emptied = root.open_dataset("emptied");
    ASSERT_EQ(emptied.status(), Status::ok);
    for (Dataset* const each : {&dataset, &*emptied}) {
        ASSERT_EQ(each->set_extent({100}), Status::ok);
        ASSERT_EQ(write_one(*each, {55}), Status::ok);
        EXPECT_EQ(chunks_of(*each), 1U);
    }
}

// Each chunk when it is written, and no other: not the next ones of the extent, nor one that only becomes larger.
TEST_F(AllocationTimes, IncrementalIsTheChunkThatIsWritten) {
    for (const Shape& shape : shapes()) {
        Dataset dataset = create(shape, AllocationTime::incremental);
        ASSERT_EQ(write_one(dataset, std::vector<std::uint64_t>(shape.dims.size(), 5)), Status::ok);
        EXPECT_EQ(chunks_of(dataset), 1U);
    }
    Dataset dataset = create({{100000}, {kUnlimited}, {10}}, AllocationTime::incremental);
    for (std::uint64_t i = 0; i < 10; ++i) {
        ASSERT_EQ(write_one(dataset, {i * i * 1000 + 500}), Status::ok);
    }
    ASSERT_EQ(file.flush(), Status::ok);
    EXPECT_EQ(chunks_of(dataset), 10U);
    Dataset grown = create({{194}, {kUnlimited}, {69}}, AllocationTime::incremental);
    ASSERT_EQ(grown.set_extent({199}), Status::ok);
    EXPECT_EQ(chunks_of(grown), 0U);
}

// A dataset that allocates early grows whole or not at all; the space of its new chunks is given back.
TEST(EarlyAllocation, IsAllNewChunksOrNone) {
    for (const bool filtered : {false, true}) {
        std::uint64_t failed = 0;
        bool refused = true;
        for (std::uint64_t call = 1; refused; ++call) {
            MallocAllocator memory;
            NullPort port;
            constexpr const Filter* kChecksum[] = {&fletcher32_filter};
            Library library{memory, port, kChecksum, formats::all};
            GrowingMemoryDriver inner{memory};
            FullStorage storage(inner);
            FileAccess access;
            access.metadata_cache = 4096;
            auto file = File::create(library, storage, access);
            ASSERT_EQ(file.status(), Status::ok);
            DatasetCreate create;
            create.chunk = {2, 3};
            create.allocation = AllocationTime::early;
            if (filtered) {
                create.filters = {filters::fletcher32};
            }
            auto data = file->root().create_dataset("data", file_type_of<std::int32_t>(),
                                                    Dataspace::simple({3, 4}, {kUnlimited, kUnlimited}), create);
            ASSERT_EQ(data.status(), Status::ok);
            const std::vector<std::int32_t> values(12, 7);
            ASSERT_EQ(data->write(Selection::all(), datatype_of<std::int32_t>(),
                                  as_bytes(Span<const std::int32_t>(values.data(), values.size()))),
                      Status::ok);
            ASSERT_EQ(file->flush(), Status::ok);
            storage.calls = 0;
            storage.refuses = call;
            const Status status = data->set_extent({9, 2});
            refused = storage.calls >= call;
            storage.refuses = 0;
            // What is asked for ahead may be refused without harm.
            const bool grown = status == Status::ok;
            EXPECT_TRUE(grown || (refused && status == Status::no_space)) << to_string(status);
            failed += grown ? 0 : 1;
            Dataspace space;
            ASSERT_EQ(data->dataspace(space), Status::ok);
            EXPECT_EQ(space.dims()[0], grown ? 9U : 3U);
            EXPECT_EQ(space.dims()[1], grown ? 2U : 4U);
            // What could not be cleared at once is cleared here.
            ASSERT_EQ(file->flush(), Status::ok);
            EXPECT_EQ(chunks_of(*data), grown ? 5U : 4U);
            std::vector<std::int32_t> read(grown ? 18 : 12);
            ASSERT_EQ(data->read(Selection::all(), datatype_of<std::int32_t>(),
                                 {reinterpret_cast<std::byte*>(read.data()), read.size() * sizeof read[0]}),
                      Status::ok);
            for (std::size_t i = 0; i < read.size(); ++i) {
                EXPECT_EQ(read[i], !grown || i < 6 ? 7 : 0) << i;
            }
            ASSERT_EQ(data->close(), Status::ok);
            EXPECT_TRUE(findings_in(*file).none());
            ASSERT_EQ(file->close(), Status::ok);
        }
        EXPECT_GT(failed, 3U);
    }
}

// The space of an implicit index is filled from memory that the chunk cache lends, here all of it: the chunk for which
// that happens must not be the one that makes room. Sanitizers see what the values do not show.
TEST(AllocationTimesInSmallCaches, FillingTakesNoChunkThatIsInUse) {
    for (const AllocationTime allocation : {AllocationTime::early, AllocationTime::late}) {
        MallocAllocator heap;
        TrackingAllocator memory(heap);
        MallocAllocator bytes;
        GrowingMemoryDriver storage(bytes);
        NullPort port;
        Library library(memory, port, {}, formats::all);
        FileAccess access;
        access.metadata_cache = 4096;
        access.chunk_cache = 1024;
        access.low = FormatVersion::v110;
        auto file = File::create(library, storage, access);
        ASSERT_EQ(file.status(), Status::ok);
        const std::int32_t fill = -1;  // the same in both byte orders
        std::vector<std::int32_t> values(40 * 40, fill);
        {
            DatasetCreate create;
            create.chunk = ChunkDims({4, 40});
            create.allocation = allocation;
            create.fill = as_bytes(Span<const std::int32_t>(&fill, 1));
            auto data = file->root().create_dataset("data", file_type_of<std::int32_t>(),
                                                    Dataspace::simple({40, 40}, {40, 40}), create);
            ASSERT_EQ(data.status(), Status::ok);
            std::vector<std::int32_t> rows(5 * 40);
            for (std::size_t i = 0; i < rows.size(); ++i) {
                rows[i] = values[13 * 40 + i] = static_cast<std::int32_t>(i);
            }
            ASSERT_EQ(data->write(Selection::hyperslab({13, 0}, {5, 40}), datatype_of<std::int32_t>(),
                                  as_bytes(Span<const std::int32_t>(rows.data(), rows.size()))),
                      Status::ok);
            std::vector<std::int32_t> read(values.size());
            ASSERT_EQ(data->read(Selection::all(), datatype_of<std::int32_t>(),
                                 {reinterpret_cast<std::byte*>(read.data()), read.size() * sizeof(std::int32_t)}),
                      Status::ok);
            EXPECT_EQ(read, values);
        }
        ASSERT_EQ(file->close(), Status::ok);
        EXPECT_EQ(memory.errors(), 0U);
    }
}

}  // namespace

#endif
