// Programs that lack a kind of chunk index (formats.hpp): datasets that need it are refused by name, when they are to
// be created and when they are to be opened, and other datasets are as ever.
#include "storage_bench.hpp"

using namespace h5mote;
using namespace h5mote_test;

#if H5MOTE_FIXED_CHUNKS && H5MOTE_PARTIAL_IO && H5MOTE_WRITE

namespace {

struct Kind {
    ChunkIndex index;
    void (*leave_out)(Formats& formats);
    std::uint64_t limit;  // of the dataset's only dimension
};

constexpr Kind kKinds[] = {
    {ChunkIndex::fixed_array, [](Formats& formats) { formats.fixed_array = nullptr; }, 8},
    {ChunkIndex::extensible_array, [](Formats& formats) { formats.extensible_array = nullptr; }, kUnlimited},
};

Formats without(const Kind& kind) {
    Formats formats = formats::standard;
    kind.leave_out(formats);
    return formats;
}

FileAccess small_access() {
    FileAccess access;
    access.metadata_cache = 2048;
    access.chunk_cache = 512;
    return access;
}

std::size_t size_of(Driver& driver) {
    std::uint64_t size = 0;
    EXPECT_EQ(driver.end_of_file(size), Status::ok);
    return static_cast<std::size_t>(size);
}

Result<Dataset> create(Group root, const char* name, std::uint64_t limit) {
    DatasetCreate create;
    create.chunk = {4};
    return root.create_dataset(name, file_type_of<std::int32_t>(), Dataspace::simple({8}, {limit}), create);
}

bool names(const ErrorTrail& trail, ChunkIndex index) {
    if constexpr (H5MOTE_ERROR_TRAIL == 0) {
        return true;
    }
    const ErrorRecord record = trail.newest();
    return record.status == Status::unsupported && record.module == Module::index &&
           record.detail == static_cast<std::uint32_t>(index) &&
           record.value == static_cast<std::uint64_t>(Feature::chunk_index);
}

// A file in which every kind of dataset can be created but those of one kind.
void create_all_but(const Kind& kind) {
    const Formats formats = without(kind);
    Arena arena({bench_memory, sizeof bench_memory});
    NullPort port;
    MemoryDriver driver(Bytes{bench_storage, sizeof bench_storage});
    {
        Library library(arena, port, bench_filters(), formats);
        auto file = File::create(library, driver, small_access());
        ASSERT_EQ(file.status(), Status::ok);
        const std::size_t before = size_of(driver);
        EXPECT_EQ(create(file->root(), "d", kind.limit).status(), Status::unsupported);
        EXPECT_TRUE(names(library.trail(), kind.index));
        EXPECT_FALSE(file->root().exists("d"));
        EXPECT_EQ(file->flush(), Status::ok);
        EXPECT_EQ(size_of(driver), before);
        for (const Kind& other : kKinds) {
            if (other.index != kind.index) {
                EXPECT_EQ(create(file->root(), "other", other.limit).status(), Status::ok);
            }
        }
        EXPECT_EQ(file->close(), Status::ok);
    }
    EXPECT_EQ(arena.usage().now, 0U);
}

// Opens the datasets "empty" and "full" of a file that has one kind of index only.
void open_without(const Kind& lacking, const Kind& made, std::size_t size) {
    const Formats formats = without(lacking);
    const Status expected = lacking.index == made.index ? Status::unsupported : Status::ok;
    Arena arena({bench_memory, sizeof bench_memory});
    NullPort port;
    MemoryDriver driver(Bytes{bench_storage, size}, size);
    {
        Library library(arena, port, bench_filters(), formats);
        FileAccess access = small_access();
        access.read_only = true;
        auto file = File::open(library, driver, access);
        ASSERT_EQ(file.status(), Status::ok);
        for (const char* name : {"empty", "full"}) {
            auto data = file->root().open_dataset(name);
            EXPECT_EQ(data.status(), expected);
            EXPECT_TRUE(data || names(library.trail(), made.index));
            if (data) {
                std::int32_t values[8] = {};
                EXPECT_EQ(data->read(Selection::all(), datatype_of<std::int32_t>(),
                                     {reinterpret_cast<std::byte*>(values), sizeof values}),
                          Status::ok);
                EXPECT_EQ(values[7], std::string_view(name) == "full" ? 7 : 0);
            }
        }
        EXPECT_EQ(file->close(), Status::ok);
    }
    EXPECT_EQ(arena.usage().now, 0U);
}

void make_file(const Kind& kind, std::size_t& size) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    ASSERT_EQ(create(bench.file.root(), "empty", kind.limit).status(), Status::ok);
    auto full = create(bench.file.root(), "full", kind.limit);
    ASSERT_EQ(full.status(), Status::ok);
    std::int32_t values[8];
    for (std::int32_t i = 0; i < 8; ++i) {
        values[i] = i;
    }
    ASSERT_EQ(full->write(Selection::all(), datatype_of<std::int32_t>(),
                          {reinterpret_cast<std::byte*>(values), sizeof values}),
              Status::ok);
    ASSERT_EQ(full->close(), Status::ok);
    ASSERT_EQ(bench.file.close(), Status::ok);
    size = size_of(bench.driver);
}

}  // namespace

TEST(ChunkIndexPartsTest, CreatingNamesTheMissingKind) {
    for (const Kind& kind : kKinds) {
        create_all_but(kind);
    }
}

TEST(ChunkIndexPartsTest, OpeningNamesTheMissingKind) {
    for (const Kind& made : kKinds) {
        for (const Kind& lacking : kKinds) {
            std::size_t size = 0;
            make_file(made, size);
            open_without(lacking, made, size);
        }
    }
}

#endif
