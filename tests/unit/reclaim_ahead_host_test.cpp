// Sessions that are killed leave chunks beyond the extent of their datasets: space that was held in advance for rows,
// and chunks of rows that no flush had covered. Searching for lost space gives them back.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE

#include <h5mote/filters/shuffle.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include "failing_driver.hpp"
#include "hdf5_image.hpp"
#include "reclaim_files.hpp"
#include "recording_driver.hpp"
#include "test_allocators.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

using namespace h5mote;
using namespace h5mote_test;

namespace {

using Image = std::vector<std::byte>;

constexpr std::uint32_t kChunk = 16;

Formats all_with(const ReclaimFormat& reclaim) {
    Formats list = H5MOTE_ALL_FORMATS != 0 ? formats::all : formats::standard;
    list.reclaim = &reclaim;
    return list;
}

class Machine {
public:
    explicit Machine(const ReclaimFormat& reclaim, Span<const Filter* const> filters = {})
        : parts(all_with(reclaim)), library(memory, port, filters, parts) {
        access.chunk_cache = 1024;
        access.metadata_cache = 8192;
    }

    Status create() { return take(File::create(library, recording, access)); }
    Status open(const Image& image) {
        EXPECT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
        return take(File::open(library, driver, access));
    }
    Image image() const { return Image(storage.contents().begin(), storage.contents().end()); }

    MallocAllocator heap;
    FailingAllocator memory{heap};
    MallocAllocator bytes;
    GrowingMemoryDriver storage{bytes};
    RecordingDriver recording{storage};
    FailingDriver driver{storage};
    NullPort port;
    FileAccess access;
    const Formats parts;
    Library library;
    File file;

private:
    Status take(Result<File> result) {
        file = static_cast<File&&>(*result);
        return result.status();
    }
};

// What a session does with the dataset "log" before it is killed.
struct Story {
    const char* name;
    FormatVersion low;
    bool every_reclaim;  // formats::reclaim understands the file, too
    std::function<void(Machine&, Group&)> session;
};

void append_rows(Machine& machine, Group& root, std::uint64_t most, unsigned rows, unsigned flush) {
    DatasetCreate create;
    create.chunk = {kChunk};
    auto log = root.create_dataset<std::uint32_t>("log", create, Dataspace::simple({0}, {most}));
    ASSERT_EQ(log.status(), Status::ok);
    for (std::uint32_t i = 0; i < rows; ++i) {
        ASSERT_EQ(log->append(i), Status::ok);
        ASSERT_EQ((i + 1) % flush == 0 ? machine.file.flush() : Status::ok, Status::ok);
    }
}

std::vector<Story> stories() {
    std::vector<Story> all;
    all.push_back({"appends", FormatVersion::standard, true,
                   [](Machine& machine, Group& root) { append_rows(machine, root, kUnlimited, 310, 40); }});
#if H5MOTE_ALL_FORMATS
    all.push_back({"a limit", FormatVersion::standard, true,
                   [](Machine& machine, Group& root) { append_rows(machine, root, 1000, 310, 40); }});
    // Two dimensions, with an extensible array, a B-tree 2 and a B-tree 1: larger, flushed, then smaller.
    for (const bool both : {false, true}) {
        for (const FormatVersion low : {FormatVersion::standard, FormatVersion::earliest}) {
            all.push_back({both ? "a grid" : "a spectrogram", low, false, [both](Machine& machine, Group& root) {
                               DatasetCreate create;
                               create.chunk = {4, 4};
                               auto log = root.create_dataset<std::uint32_t>(
                                   "log", create, Dataspace::simple({8, 8}, {kUnlimited, both ? kUnlimited : 8}));
                               ASSERT_EQ(log.status(), Status::ok);
                               std::vector<std::uint32_t> values(64);
                               for (std::uint32_t i = 0; i < 64; ++i) {
                                   values[i] = i;
                               }
                               const auto write = [&](std::uint64_t from) {
                                   return log->write(Selection::hyperslab({from, 0}, {8, 8}),
                                                     Span<const std::uint32_t>(values.data(), values.size()));
                               };
                               ASSERT_EQ(write(0), Status::ok);
                               ASSERT_EQ(machine.file.flush(), Status::ok);
                               ASSERT_EQ(log->set_extent({40, 8}), Status::ok);
                               ASSERT_EQ(write(8), Status::ok);
                               ASSERT_EQ(write(32), Status::ok);
                               ASSERT_EQ(machine.file.flush(), Status::ok);
                               ASSERT_EQ(log->set_extent({8, 8}), Status::ok);
                               ASSERT_EQ(machine.file.flush(), Status::ok);
                           }});
        }
    }
#endif
    return all;
}

// The bytes of the chunks of "log", and how many its extent needs; reads all values, which count up.
struct Chunks {
    std::uint64_t stored = 0;
    std::uint64_t needed = 0;
};

Chunks chunks_of(const Image& image) {
    Chunks result;
    const Hdf5Id file = open_image({image.data(), image.size()});
    const Hdf5Id log(file < 0 || H5Lexists(file, "log", H5P_DEFAULT) <= 0 ? -1 : H5Dopen2(file, "log", H5P_DEFAULT),
                     H5Dclose);
    if (log < 0) {
        EXPECT_GE(file, 0);
        return result;
    }
    const Hdf5Id space(H5Dget_space(log), H5Sclose);
    hsize_t dims[2] = {1, 1};
    const int rank = H5Sget_simple_extent_dims(space, dims, nullptr);
    std::vector<std::uint32_t> values(static_cast<std::size_t>(dims[0] * dims[1]) + 1);
    EXPECT_GE(H5Dread(log, H5T_NATIVE_UINT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    result.stored = H5Dget_storage_size(log);
    result.needed = rank == 1 ? (dims[0] + kChunk - 1) / kChunk * kChunk * 4 : dims[0] * dims[1] * 4;
    for (std::uint32_t i = 0; rank == 1 && i < dims[0]; ++i) {
        EXPECT_EQ(values[i], i);
    }
    for (std::uint32_t i = 0; rank == 2 && dims[0] >= 8 && i < 64; ++i) {
        EXPECT_EQ(values[i], i);
    }
    return result;
}

// Whether nothing lies beyond the extent, and the file is sound. Rows in the middle may have no chunk.
void expect_trimmed(Machine& machine) {
    EXPECT_TRUE(findings_in(machine.file).none());
    EXPECT_EQ(lost_bytes(machine.file), 0U);
    const Chunks after = chunks_of(machine.image());
    EXPECT_LE(after.stored, after.needed);
}

struct Killed {
    std::vector<Image> images;
    unsigned ahead = 0;  // images with chunks beyond the extent ...
    Image last_ahead;    // ... and the last of them
};

Killed kill(const Story& story) {
    Killed killed;
    Machine machine(formats::reclaim);
    machine.access.low = story.low;
    EXPECT_EQ(machine.create(), Status::ok);
    Group root = machine.file.root();
    story.session(machine, root);
    EXPECT_EQ(machine.file.flush(), Status::ok);
    for (std::size_t i = 1; i <= machine.recording.operations().size(); ++i) {
        const Image image = machine.recording.image(i);
        if (const Hdf5Id file = open_image({image.data(), image.size()}); file >= 0) {
            const Chunks chunks = chunks_of(image);
            if (chunks.stored > chunks.needed) {
                ++killed.ahead;
                killed.last_ahead = image;
            }
            killed.images.push_back(image);
        }
    }
    root.close();
    EXPECT_EQ(machine.file.close(), Status::ok);
    return killed;
}

}  // namespace

TEST(ReclaimAhead, ChunksBeyondTheExtentAreGivenBack) {
    for (const Story& story : stories()) {
        SCOPED_TRACE(story.name);
        const Killed killed = kill(story);
        EXPECT_GT(killed.ahead, 0U);
        printf("%s: %zu images, %u with chunks beyond the extent\n", story.name, killed.images.size(), killed.ahead);
        for (const ReclaimFormat* const reclaim : all_reclaims()) {
            if (reclaim == &formats::reclaim && !story.every_reclaim) {
                continue;
            }
            for (const Image& image : killed.images) {
                const Chunks before = chunks_of(image);
                Machine machine(*reclaim);
                ASSERT_EQ(machine.open(image), Status::ok);
                std::uint64_t bytes = 0;
                std::uint64_t again = 1;
                ASSERT_EQ(machine.file.reclaim(&bytes), Status::ok);
                expect_trimmed(machine);
                EXPECT_GE(bytes + chunks_of(machine.image()).stored, before.stored);
                ASSERT_EQ(machine.file.reclaim(&again), Status::ok);
                EXPECT_EQ(again, 0U);
                ASSERT_EQ(machine.file.close(), Status::ok);
                const Chunks closed = chunks_of(machine.image());
                EXPECT_LE(closed.stored, closed.needed);
            }
        }
    }
}

#if H5MOTE_FILTERS
// The chunks of a log whose filter the program does not have go, too.
TEST(ReclaimAhead, ChunksOfAMissingFilter) {
    static const Filter* const kFilters[] = {&shuffle_filter};
    Machine machine(*all_reclaims().back(), kFilters);
    ASSERT_EQ(machine.create(), Status::ok);
    DatasetCreate create;
    create.chunk = {kChunk};
    FilterSpec needed = filters::shuffle;
    needed.optional = false;
    create.filters = {needed};
    auto log = machine.file.root().create_dataset<std::uint32_t>("log", create);
    ASSERT_EQ(log.status(), Status::ok);
    const std::uint32_t rows[4 * kChunk] = {};
    ASSERT_EQ(log->append({rows, kChunk}), Status::ok);
    ASSERT_EQ(machine.file.flush(), Status::ok);
    const std::size_t flushed = machine.recording.operations().size();
    ASSERT_EQ(log->append({rows, 3 * kChunk}), Status::ok);
    ASSERT_EQ(machine.file.flush(), Status::ok);
    const std::size_t end = machine.recording.operations().size();
    ASSERT_EQ(log->close(), Status::ok);
    ASSERT_EQ(machine.file.close(), Status::ok);
    std::uint64_t most = 0;
    for (std::size_t count = flushed; count < end; ++count) {
        std::uint64_t found[2] = {};
        for (const bool has_filter : {false, true}) {
            Machine next(*all_reclaims().back(),
                         has_filter ? Span<const Filter* const>(kFilters) : Span<const Filter* const>());
            ASSERT_EQ(next.open(machine.recording.image(count)), Status::ok);
            ASSERT_EQ(next.file.reclaim(&found[has_filter ? 1 : 0]), Status::ok);
            ASSERT_EQ(next.file.close(), Status::ok);
        }
        EXPECT_EQ(found[0], found[1]) << "cut after operation " << count;
        most = found[1] > most ? found[1] : most;
    }
    EXPECT_GE(most, 3 * kChunk * sizeof *rows);
}
#endif

// The search itself is cut at each of its calls of the storage, and refused each of its allocations.
TEST(ReclaimAhead, ASearchThatIsCutOrRefusedLosesNothing) {
    std::size_t points = 0;
    const std::vector<Story> all = stories();
    for (const Story& story : all) {
        const Image image = kill(story).last_ahead;
        const ReclaimFormat& reclaim = *all_reclaims().back();
        for (const bool refuse : {false, true}) {
            SCOPED_TRACE(testing::Message() << story.name << (refuse ? ", memory refused" : ", storage cut"));
            bool failed = true;
            for (std::uint64_t call = 1; failed; ++call, ++points) {
                SCOPED_TRACE(call);
                Machine machine(reclaim);
                ASSERT_EQ(machine.open(image), Status::ok);
                DriverFault fault;
                fault.at = refuse ? 0 : call;
                fault.persistent = true;
                machine.driver.arm(fault);
                machine.memory.arm(refuse ? call : 0, true);
                const Status status = machine.file.reclaim();
                failed = machine.driver.failures() + machine.memory.failures() > 0;
                machine.driver.disarm();
                machine.memory.disarm();
                EXPECT_EQ(status, !failed ? Status::ok : refuse ? Status::out_of_memory : Status::io_error);
                // What the storage has now is what a cut at that call leaves.
                const Image cut = machine.image();
                EXPECT_EQ(chunks_of(cut).needed, chunks_of(image).needed);
                Machine next(reclaim);
                ASSERT_EQ(next.open(cut), Status::ok);
                ASSERT_EQ(next.file.reclaim(), Status::ok);
                expect_trimmed(next);
                ASSERT_EQ(next.file.close(), Status::ok);
                // The program whose call failed goes on.
                ASSERT_EQ(machine.file.reclaim(), Status::ok);
                expect_trimmed(machine);
                ASSERT_EQ(machine.file.close(), Status::ok);
            }
        }
    }
    printf("searches that were cut or refused memory: %zu\n", points);
    EXPECT_GT(points, 15 * all.size());
}

#endif
