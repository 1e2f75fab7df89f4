// Every public call takes the lock of its Library once, holds it until it returns and releases it. Without
// H5MOTE_THREADS no call takes it. tests/threads/entries_test.py checks that no public function is missing here.
#include "storage_bench.hpp"

#include <h5mote/check.hpp>
#include <h5mote/library_lock.hpp>
#include <h5mote/selection_set.hpp>
#include <h5mote/variable_length.hpp>

#if H5MOTE_WRITE

using namespace h5mote;
using namespace h5mote_test;

namespace {

class CountingPort final : public Port {
public:
    void lock() noexcept override {
        entries += depth == 0 ? 1U : 0U;
        ++depth;
    }
    void unlock() noexcept override { --depth; }

    unsigned entries = 0;  // how often a thread that did not hold the lock took it
    unsigned depth = 0;
};

constexpr unsigned kOnce = H5MOTE_THREADS != 0 ? 1 : 0;

class LockBench {
public:
    LockBench() noexcept : arena({bench_memory, sizeof bench_memory}), library(arena, port), driver(bench_storage) {
        access.metadata_cache = 2048;
        access.chunk_cache = 512;
    }
    // Whether the lock was taken `times` times since the last call, and is free.
    bool took(unsigned times) noexcept {
        const bool right = port.entries == times * kOnce && port.depth == 0;
        port.entries = 0;
        return right;
    }

    Arena arena;
    CountingPort port;
    Library library;
    MemoryDriver driver;
    FileAccess access;
};

// Makes a call, which must take the lock once. A returned handle lives until the end of the statement.
#define TAKES(...)                  \
    do {                            \
        (void)bench.took(0);        \
        (void)(__VA_ARGS__);        \
        EXPECT_TRUE(bench.took(1)); \
    } while (0)
// The same for a call whose result is a temporary handle, which takes the lock again when it ends.
#define TAKES_AND_ENDS(times, ...)          \
    do {                                    \
        (void)bench.took(0);                \
        (void)(__VA_ARGS__);                \
        EXPECT_TRUE(bench.took(1 + times)); \
    } while (0)

}  // namespace

TEST(LibraryLock, EveryCallOfAFile) {
    LockBench bench;
    TAKES_AND_ENDS(1, File::create(bench.library, bench.driver, bench.access));
    TAKES_AND_ENDS(1, File::open(bench.library, bench.driver, bench.access));
    TAKES_AND_ENDS(1, File::open_or_create(bench.library, bench.driver, bench.access));
    auto file = File::open(bench.library, bench.driver, bench.access);
    TAKES(file->valid());
    TAKES(file->flush());
    TAKES(file->reclaim());
    TAKES_AND_ENDS(1, file->root());
#if H5MOTE_ALL_FORMATS
    FileInfo info;
    FreeSpaceInfo space;
    CheckSummary summary;
    class Silent final : public CheckReporter {
    public:
        void problem(const Problem& /*problem*/) noexcept override {}
    } silent;
    TAKES(file->info(info));
    TAKES(file->free_space(space));
    TAKES(check_file(*file, {}, silent, &summary));
#endif
    TAKES(file->close());
    (void)bench.took(0);
    EXPECT_EQ(file->close(), Status::invalid_handle);
    EXPECT_TRUE(bench.took(0));  // an empty handle does not refer to a Library
    TAKES(bench.library.garbage_collect());
    TAKES(bench.library.set_free_list_limits({}));
    TAKES(bench.library.memory_report());
#if H5MOTE_CONVERSION
    TAKES(bench.library.set_conversions({}));
#endif
    {
        const LibraryLock held(bench.library);
        EXPECT_EQ(bench.port.depth, kOnce);
        bench.library.garbage_collect();
        EXPECT_EQ(bench.port.depth, kOnce);
    }
    EXPECT_EQ(bench.port.depth, 0U);
}

TEST(LibraryLock, EveryCallOfAnObject) {
    LockBench bench;
    auto file = File::create(bench.library, bench.driver, bench.access);
    ASSERT_EQ(file.status(), Status::ok);
    Group root = file->root();
    std::int32_t value = 3;
    char text[16];
    std::size_t length = 0;
    std::uint32_t count = 0;
    AttributeInfo about;
    std::byte encoded[64];
    DatatypeView type;
    TAKES(root.valid());
    TAKES(root.write_attribute("number", value));
    TAKES(root.write_attribute("name", "text"));
    TAKES(root.write_attribute("typed", datatype_of<std::int32_t>(), Dataspace::scalar(),
                               as_bytes(Span<const std::int32_t>(&value, 1))));
    TAKES(root.read_attribute("number", value));
    TAKES(root.read_attribute("name", Span<char>(text), length));
    TAKES(root.attribute_info("number", about));
    TAKES(root.attribute_type("number", encoded, type));
    TAKES(root.has_attribute("number"));
    TAKES(root.attribute_count(count));
    TAKES(root.attribute_name(0, text, length));
#if H5MOTE_ALL_FORMATS
    ObjectType kind;
    ObjectInfo info;
    ReferenceTarget target;
    SelectionSet region(bench.library);
    Object object;
    std::uint64_t bytes = 0;
    const std::byte stored[16] = {};
    TAKES(root.type(kind));
    TAKES(root.info(info));
    TAKES(root.comment(text, length));
    TAKES(root.reference_target(ReferenceType::object1, stored, target));
    TAKES(root.open_reference(ReferenceType::object1, stored));
    TAKES(root.open_attribute_reference(stored));
    TAKES(root.reference_file_name(stored, {}, length));
    TAKES(root.reference_attribute_name(stored, {}, length));
    TAKES(root.reference_region(ReferenceType::region1, stored, object, region));
    TAKES(root.variable_size(stored, bytes));
    TAKES(root.read_variable(stored, 0, {}));
    TAKES_AND_ENDS(1, root.file_root());
    TAKES_AND_ENDS(1, root.duplicate());
    (void)bench.took(0);
    {
        AttributeIterator attributes(root);
        EXPECT_TRUE(bench.took(1));
        Attribute attribute;
        TAKES(attributes.next(attribute));
        TAKES(attribute.valid());
        TAKES(attribute.read(datatype_of<std::int32_t>(), {}));
        TAKES(attribute.read_stored(0, {encoded, 1}));
        TAKES_AND_ENDS(1, attribute.object());
        TAKES(attribute.variable_size(stored, bytes));
        TAKES(attribute.read_variable(stored, 0, {}));
        TAKES(attribute.close());
        auto opened = root.open_attribute("number");
        EXPECT_TRUE(bench.took(1));
        *opened = Attribute();
        EXPECT_TRUE(bench.took(1));
    }
    // The iterator and the object that it iterates over end here.
    EXPECT_TRUE(bench.took(2));
    TAKES(reclaim(bench.library, datatype_of<std::int32_t>(), 1, 4, &value));
    TAKES(root.reference_size(ReferenceType::object1));
    TAKES(root.create_reference(ReferenceType::object1, root, {encoded, 8}));
    TAKES(root.create_region_reference(ReferenceType::region1, root, Dataspace::simple({1}), Selection::all(),
                                       {encoded, 12}));
    TAKES(root.create_attribute_reference(root, "number", encoded));
    TAKES(root.set_comment("about the group"));
    TAKES(root.rename_attribute("typed", "renamed"));
    TAKES(root.replace_attribute("renamed", value));
#endif
    TAKES(root.remove_attribute("number"));
    TAKES(root.close());
    TAKES(file->close());
}

TEST(LibraryLock, EveryCallOfAGroup) {
    LockBench bench;
    auto file = File::create(bench.library, bench.driver, bench.access);
    ASSERT_EQ(file.status(), Status::ok);
    Group root = file->root();
    DatasetCreate create;
    create.chunk = {8};
    const Dataspace space = Dataspace::simple({0}, {kUnlimited});
    TAKES_AND_ENDS(1, root.create_group("group"));
    TAKES_AND_ENDS(1, root.open_group("group"));
    TAKES_AND_ENDS(1, root.open_or_create_group("group"));
    TAKES_AND_ENDS(1, root.create_dataset("a", datatype_of<std::int32_t>(), space, create));
    TAKES_AND_ENDS(1, root.open_dataset("a"));
    TAKES_AND_ENDS(1, root.open_or_create_dataset("a", datatype_of<std::int32_t>(), space, create));
    TAKES_AND_ENDS(1, root.create_dataset<std::int32_t>("b", create));
    TAKES_AND_ENDS(1, root.open_dataset<std::int32_t>("b"));
    TAKES_AND_ENDS(1, root.open_or_create_dataset<std::int32_t>("b", create));
    TAKES(root.create_soft_link("soft", "/group"));
    auto opened = root.open_group("group");
    TAKES(root.create_hard_link("hard", *opened));
    TAKES(root.exists("hard"));
    std::uint32_t count = 0;
    LinkInfo info;
    char name[16];
    TAKES(root.link_count(count));
    TAKES(root.link(0, info, Span<char>(name)));
#if H5MOTE_ALL_FORMATS
    TAKES_AND_ENDS(1, root.open_object("group"));
    TAKES_AND_ENDS(1, root.open_object_at(opened->address()));
    GroupInfo facts;
    TAKES(root.group_info(facts));
    Link link;
    TAKES(root.find_link("soft", link));
    TAKES(link.clear());
    (void)bench.took(0);
    {
        LinkIterator links(root);
        EXPECT_TRUE(bench.took(1));
        TAKES(links.next(link));
    }
    EXPECT_TRUE(bench.took(2));
    link.clear();
    class Everything final : public Visitor {
    } everything;
    TAKES(root.visit(everything));
    auto object = root.open_object("group");
    TAKES_AND_ENDS(1, Group::from(static_cast<Object&&>(*object)));
    TAKES(root.unmount("group"));
    auto other = File::open(bench.library, bench.driver, bench.access);
    TAKES(root.mount("group", *other));
    TAKES(other->close());
    TAKES_AND_ENDS(1, root.commit_datatype("type", datatype_of<std::int32_t>()));
    TAKES(root.create_external_link("external", "other.h5", "/object"));
    TAKES(root.create_user_link("user", static_cast<LinkType>(70), {}));
    TAKES(root.copy_link("soft", root, "copied"));
    TAKES(root.move_link("copied", root, "moved"));
    TAKES(root.rename("moved", "renamed"));
    TAKES(root.unlink_tree("renamed"));
#endif
    TAKES(root.unlink("soft"));
}

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
