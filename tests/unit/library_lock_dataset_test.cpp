// Every public call of a dataset and a selection set takes the lock of its Library once: see lock_bench.hpp. (A file of
// its own, because the smallest board has no room for an image of all calls.)
#include "lock_bench.hpp"

#include <h5mote/selection_set.hpp>
#include <h5mote/variable_length.hpp>

#if H5MOTE_WRITE

using namespace h5mote_test;

TEST(LibraryLock, EveryCallOfADataset) {
    LockBench bench;
    auto file = File::create(bench.library, bench.driver, bench.access);
    ASSERT_EQ(file.status(), Status::ok);
    DatasetCreate create;
    create.chunk = {8};
    auto log = file->root().create_dataset<std::int32_t>("log", create);
    ASSERT_EQ(log.status(), Status::ok);
    const std::int32_t rows[3] = {1, 2, 3};
    TAKES(log->append(4));
    TAKES(log->append(5));  // the chunk is in memory already
    TAKES(log->append(Span<const std::int32_t>(rows)));
    TAKES(log->append_records(rows, 2));
    Dataspace space;
    std::byte encoded[64];
    DatatypeView type;
    TAKES(log->dataspace(space));
    TAKES(log->size());
    TAKES(log->element_size());
    TAKES(log->datatype(encoded, type));
    TAKES(log->set_extent({9}));
    TAKES(log->set_memory_type(datatype_of<std::int32_t>()));
#if H5MOTE_PARTIAL_IO
    std::int32_t read[9];
    const Dataspace memory = Dataspace::simple({9});
    const Selection all = Selection::all();
    TAKES(log->read(all, Span<std::int32_t>(read)));
    TAKES(log->write(all, Span<const std::int32_t>(read)));
    TAKES(log->read(all, datatype_of<std::int32_t>(), memory, all, {reinterpret_cast<std::byte*>(read), sizeof read}));
    TAKES(log->write(all, datatype_of<std::int32_t>(), memory, all, as_bytes(Span<const std::int32_t>(read))));
#endif
#if H5MOTE_ALL_FORMATS
    DatasetInfo info;
    FilterInfo filter;
    ExternalFile external;
    VirtualMapping mapping;
    ChunkInfo chunk;
    std::uint64_t bytes = 0;
    std::uint64_t chunks = 0;
    std::uint64_t dims[1];
    char name[8];
    TAKES(log->info(info));
    TAKES(log->storage_size(bytes));
    TAKES(log->index_size(chunks, bytes));
    TAKES(log->heap_size(bytes));
    TAKES(log->chunk_dims(dims));
    TAKES(log->filter(0, filter));
    TAKES(log->external_file(0, external, Span<char>(name)));
    TAKES(log->virtual_mapping(0, mapping));
    TAKES(log->set_virtual_view(VirtualView::last_available));
    TAKES(log->fill_value(datatype_of<std::int32_t>(), {encoded, 4}));
    TAKES(log->stored_fill_value({encoded, 4}));
    TAKES(log->read_stored(all, {reinterpret_cast<std::byte*>(read), sizeof read}));
    {
        ChunkIterator walk(*log);
        TAKES(walk.next(chunk));
        (void)bench.took(0);
    }
    EXPECT_GE(bench.port.entries, kOnce);
    const std::uint64_t first[1] = {0};
    TAKES(log->append_rows(Span<const std::int32_t>(rows)));
    TAKES(log->chunk_info(first, chunk));
    TAKES(log->chunk_info(0, dims, chunk));
    TAKES(log->read_chunk(first, encoded, chunk));
    TAKES(log->write_chunk(first, {encoded, 32}));
    auto object = file->root().open_object("log");
    TAKES_AND_ENDS(1, Dataset::from(static_cast<Object&&>(*object)));
    object = file->root().open_object("log");
    TAKES(NamedDatatype::from(static_cast<Object&&>(*object)));
#endif
    TAKES(log->close());
}

#if H5MOTE_ALL_FORMATS
TEST(LibraryLock, EveryCallOfASelectionSet) {
    LockBench bench;
    const Dataspace space = Dataspace::simple({8});
    const std::uint64_t points[2] = {1, 2};
    const std::uint64_t corners[2] = {1, 2};
    const std::int64_t offset[1] = {1};
    SelectionSet set(bench.library);
    const std::uint64_t one[1] = {1};
    const Hyperslab slab{one, {}, one, {}};
    TAKES(set.select_none());
    TAKES(set.select_points(1, points));
    TAKES(set.add_points(1, points));
    TAKES(set.select_hyperslab(SelectionOp::set, slab, space));
    TAKES(set.combine(SelectionOp::or_, Selection::all(), space));
    TAKES(set.select_blocks(1, corners));
    TAKES(set.set_offset(offset));
    TAKES(set.adjust(offset));
    TAKES(set.clip_unlimited(5));
    bool same = false;
    TAKES(select_shape_same(bench.library, Selection::all(), space, Selection::all(), space, same));
    TAKES(set.select_all());
}
#endif

#endif
