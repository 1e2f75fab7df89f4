// Sessions end without closing the file, at any of their writes. The next one finds the space that was lost, and gives
// out nothing that is in use.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE

#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include "checksum.hpp"
#include "cursor.hpp"
#include "failing_driver.hpp"
#include "hdf5_image.hpp"
#include "reclaim_files.hpp"
#include "recording_driver.hpp"
#include "resealed.hpp"
#include "sweep.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>

using namespace h5mote;
using namespace h5mote_test;

namespace {

using Image = std::vector<std::byte>;

struct Row {
    std::uint32_t seed;
    std::uint32_t index;
};
H5MOTE_COMPOUND(Row, seed, index)

using Model = std::map<std::string, std::uint32_t>;  // rows of each log

DatasetCreate layout_of_logs() {
    DatasetCreate create;
    create.chunk = {8};
    create.reserve = 64;
    return create;
}

void make_log(Group& root, const std::string& name, std::uint32_t rows) {
    auto log = root.create_dataset<Row>(name, layout_of_logs());
    ASSERT_EQ(log.status(), Status::ok);
    for (std::uint32_t i = 0; i < rows; ++i) {
        ASSERT_EQ(log->append({rows, i}), Status::ok);
    }
    ASSERT_EQ(log->write_attribute("rows", rows), Status::ok);
    ASSERT_EQ(log->close(), Status::ok);
}

// Whether libhdf5 finds these logs, and nothing else of that kind in the root group, with all their rows.
void expect_logs(const Image& image, const Model& model, bool others = false) {
    const Hdf5Id file = open_image({image.data(), image.size()});
    ASSERT_GE(file, 0);
    H5G_info_t info;
    ASSERT_GE(H5Gget_info(file, &info), 0);
    EXPECT_TRUE(others || info.nlinks == model.size() + 1) << info.nlinks;
    for (const auto& [name, rows] : model) {
        const Hdf5Id log(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
        ASSERT_GE(log, 0) << name;
        const Hdf5Id type(H5Dget_type(log), H5Tclose);
        const Hdf5Id space(H5Dget_space(log), H5Sclose);
        ASSERT_EQ(H5Sget_simple_extent_npoints(space), static_cast<hssize_t>(rows)) << name;
        std::vector<Row> stored(rows + 1);
        ASSERT_GE(H5Dread(log, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, stored.data()), 0) << name;
        for (std::uint32_t i = 0; i < rows; ++i) {
            ASSERT_TRUE(stored[i].seed == rows && stored[i].index == i) << name << " row " << i;
        }
    }
}

class Machine {
public:
    explicit Machine(const ReclaimFormat& reclaim = formats::reclaim)
        : library(memory, port, {}, formats_with(reclaim)) {
        access.chunk_cache = 1024;
    }
    ~Machine() { EXPECT_TRUE(file.valid() || memory.blocks() == 0); }

    Status create() { return take(File::create(library, storage, access)); }
    Status open(const Image& image) {
        EXPECT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
        return take(File::open(library, driver, access));
    }
    Status take(Result<File> result) {
        file = static_cast<File&&>(*result);
        return result.status();
    }
    Image image() const { return Image(storage.contents().begin(), storage.contents().end()); }

    MallocAllocator memory;
    MallocAllocator bytes;
    GrowingMemoryDriver storage{bytes};
    FailingDriver driver{storage};
    NullPort port;
    FileAccess access;
    Library library;
    File file;
};

// A file with logs, groups, attributes, hard and soft links, closed, and what happened to it afterwards in a session
// that nobody closed.
struct Story {
    Image closed;
    Model kept;
    std::vector<Image> images;  // after each write of that session
};

Story make_story() {
    Story story;
    {
        Machine machine;
        EXPECT_EQ(machine.create(), Status::ok);
        Group root = machine.file.root();
        for (const std::uint32_t rows : {100U, 33U, 250U}) {
            make_log(root, "log" + std::to_string(rows), rows);
        }
        story.kept = {{"log100", 100}, {"log250", 250}};
        EXPECT_EQ(root.create_group("group").status(), Status::ok);
        EXPECT_EQ(root.create_group("group/circle").status(), Status::ok);
        {
            auto log = root.open_dataset("log100");
            EXPECT_EQ(root.create_hard_link("group/circle/again", *log), Status::ok);
        }
        EXPECT_EQ(root.create_soft_link("group/soft", "/log100"), Status::ok);
        root.close();
        EXPECT_EQ(machine.file.close(), Status::ok);
        story.closed = machine.image();
    }
    Machine machine;
    EXPECT_EQ(machine.storage.assign({story.closed.data(), story.closed.size()}), Status::ok);
    RecordingDriver recording(machine.storage);
    EXPECT_EQ(machine.take(File::open(machine.library, recording, machine.access)), Status::ok);
    {
        Group root = machine.file.root();
        EXPECT_EQ(root.unlink("log33"), Status::ok);
        EXPECT_EQ(machine.file.flush(), Status::ok);
        make_log(root, "new40", 40);
        EXPECT_EQ(machine.file.flush(), Status::ok);
        make_log(root, "new20", 20);
        EXPECT_EQ(root.unlink("new40"), Status::ok);
        EXPECT_EQ(machine.file.flush(), Status::ok);
    }
    for (std::size_t i = 0; i <= recording.operations().size(); ++i) {
        story.images.push_back(recording.image(i));
    }
    EXPECT_EQ(machine.file.close(), Status::ok);
    return story;
}

const Story& story() {
    static const Story made = make_story();
    return made;
}

// The rows that libhdf5 reads, whatever they are.
std::map<std::string, std::vector<std::byte>> values_of(const Image& image) {
    std::map<std::string, std::vector<std::byte>> values;
    const Hdf5Id file = open_image({image.data(), image.size()});
    for (const char* name : {"log100", "log250", "new20"}) {
        const Hdf5Id log(file < 0 ? -1 : H5Dopen2(file, name, H5P_DEFAULT), H5Dclose);
        const Hdf5Id type(log < 0 ? -1 : H5Dget_type(log), H5Tclose);
        const Hdf5Id space(log < 0 ? -1 : H5Dget_space(log), H5Sclose);
        const hssize_t rows = log < 0 ? -1 : H5Sget_simple_extent_npoints(space);
        if (rows <= 0 || rows > 1000 || H5Tget_size(type) > 64) {
            continue;
        }
        std::vector<std::byte> stored(static_cast<std::size_t>(rows) * H5Tget_size(type));
        if (H5Dread(log, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, stored.data()) >= 0) {
            values[name] = stored;
        }
    }
    return values;
}

}  // namespace

TEST(Reclaim, WhateverAKilledSessionLostIsFoundAndNothingThatIsUsed) {
    std::uint64_t most = 0;
    unsigned points = 0;
    for (const ReclaimFormat* const reclaim : all_reclaims()) {
        for (const Image& killed : story().images) {
            ++points;
            SCOPED_TRACE(points);
            Machine machine(*reclaim);
            ASSERT_EQ(machine.open(killed), Status::ok);
            std::uint64_t bytes = 0;
            std::uint64_t again = 1;
            ASSERT_EQ(machine.file.reclaim(&bytes), Status::ok);
            most = std::max(most, bytes);
            EXPECT_EQ(lost_bytes(machine.file), 0U);
            ASSERT_EQ(machine.file.reclaim(&again), Status::ok);
            EXPECT_EQ(again, 0U);
            // What is free now is read by nobody.
            Image overwritten = machine.image();
            EXPECT_GE(overwrite_free(machine.file, overwritten), bytes);
            expect_logs(overwritten, story().kept, true);
            // It serves for new rows, which harm nothing else.
            Group root = machine.file.root();
            make_log(root, "later", 120);
            EXPECT_TRUE(findings_in(machine.file).none());
            EXPECT_EQ(lost_bytes(machine.file), 0U);
            root.close();
            ASSERT_EQ(machine.file.close(), Status::ok);
            Model model = story().kept;
            model["later"] = 120;
            expect_logs(machine.image(), model, true);
        }
    }
    printf("reclaim after a kill: %u points, at most %llu bytes lost\n", points, static_cast<unsigned long long>(most));
    EXPECT_GE(points, 30U);
    EXPECT_GE(most, 600U);
}

TEST(Reclaim, LostSpaceIsUsedAgainInsteadOfMoreStorage) {
    for (const ReclaimFormat* const reclaim : all_reclaims()) {
        std::size_t size[2] = {};
        for (const bool wanted : {false, true}) {
            Image image = story().closed;
            for (unsigned i = 0; i < 12; ++i) {
                Machine machine(*reclaim);
                machine.access.reclaim = wanted;
                ASSERT_EQ(machine.open(image), Status::ok);
                Group root = machine.file.root();
                make_log(root, "now", 60);
                ASSERT_EQ(machine.file.flush(), Status::ok);
                ASSERT_EQ(root.unlink("now"), Status::ok);
                ASSERT_EQ(machine.file.flush(), Status::ok);
                image = machine.image();  // and nobody closes the file
                root.close();
                ASSERT_EQ(machine.file.close(), Status::ok);
            }
            size[wanted ? 1 : 0] = image.size();
        }
        EXPECT_GT(size[0], size[1] + 8 * 60 * 8);
        EXPECT_LT(size[1], story().closed.size() + 3000);
    }
}

TEST(Reclaim, AnOpenDatasetOrAFileThatIsOnlyReadIsRefused) {
    for (const ReclaimFormat* const reclaim : all_reclaims()) {
        Machine machine(*reclaim);
        ASSERT_EQ(machine.open(story().images.back()), Status::ok);
        std::uint64_t bytes = 7;
        {
            auto log = machine.file.root().open_dataset("log100");
            ASSERT_EQ(log.status(), Status::ok);
            EXPECT_EQ(machine.file.reclaim(&bytes), Status::busy);
            EXPECT_EQ(bytes, 0U);
        }
        EXPECT_EQ(machine.file.reclaim(&bytes), Status::ok);
        ASSERT_EQ(machine.file.close(), Status::ok);
        machine.access.read_only = machine.access.reclaim = true;
        ASSERT_EQ(machine.open(story().images.back()), Status::ok);
        EXPECT_EQ(machine.file.reclaim(&bytes), Status::read_only);
        ASSERT_EQ(machine.file.close(), Status::ok);
        EXPECT_EQ(machine.file.reclaim(&bytes), Status::invalid_handle);
    }
}

// With the least memory the file is walked over many times, and the result is the same.
TEST(Reclaim, LessMemoryTakesMoreReadsAndFindsTheSame) {
    for (const ReclaimFormat* const reclaim : all_reclaims()) {
        std::uint64_t found[2] = {};
        std::uint64_t reads[2] = {};
        for (const bool small : {false, true}) {
            Machine machine(*reclaim);
            machine.access.reclaim_memory = small ? 0 : 65536;
            ASSERT_EQ(machine.open(story().images.back()), Status::ok);
            DriverFault count;
            count.calls = kReadCall;
            machine.driver.arm(count);
            ASSERT_EQ(machine.file.reclaim(&found[small ? 1 : 0]), Status::ok);
            reads[small ? 1 : 0] = machine.driver.calls();
            EXPECT_EQ(lost_bytes(machine.file), 0U);
            ASSERT_EQ(machine.file.close(), Status::ok);
        }
        EXPECT_EQ(found[0], found[1]);
        EXPECT_GT(found[0], 0U);
        EXPECT_GT(reads[1], reads[0]);
    }
}

TEST(Reclaim, AFailingCallIsReturnedAndHarmsNothing) {
    unsigned points = 0;
    for (const ReclaimFormat* const reclaim : all_reclaims()) {
        for (const bool at_open : {false, true}) {
            bool failed = true;
            for (std::uint64_t k = 1; failed; ++k, ++points) {
                SCOPED_TRACE(k);
                Machine machine(*reclaim);
                machine.access.reclaim = at_open;
                machine.access.reclaim_memory = 0;
                if (!at_open) {
                    ASSERT_EQ(machine.open(story().images.back()), Status::ok);
                }
                DriverFault fault;
                fault.at = k;
                machine.driver.arm(fault);
                const Status status = at_open ? machine.open(story().images.back()) : machine.file.reclaim();
                failed = machine.driver.failures() != 0;
                machine.driver.arm({});
                EXPECT_EQ(status, failed ? Status::io_error : Status::ok);
                if (!machine.file.valid()) {
                    continue;
                }
                Image overwritten = machine.image();
                overwrite_free(machine.file, overwritten);
                expect_logs(overwritten, story().kept, true);
                ASSERT_EQ(machine.file.reclaim(), Status::ok);
                EXPECT_EQ(lost_bytes(machine.file), 0U);
                ASSERT_EQ(machine.file.close(), Status::ok);
            }
        }
    }
    printf("reclaim with failing calls: %u points\n", points);
    EXPECT_GE(points, 100U);
}

TEST(Reclaim, EverySmallerArenaIsEnoughOrOutOfMemory) {
    alignas(16) static std::byte memory[64 * 1024];
    unsigned succeeded = 0;
    unsigned refused = 0;
    for (const ReclaimFormat* const reclaim : all_reclaims()) {
        for (std::size_t size = sizeof memory; size >= 2048; size -= 64 * sweep_step()) {
            SCOPED_TRACE(size);
            Arena arena({memory, size});
            NullPort port;
            Library library(arena, port, {}, formats_with(*reclaim));
            MallocAllocator bytes;
            GrowingMemoryDriver storage(bytes);
            const Image& killed = story().images.back();
            ASSERT_EQ(storage.assign({killed.data(), killed.size()}), Status::ok);
            FileAccess access;
            access.chunk_cache = 256;
            access.metadata_cache = 1024;
            access.reclaim = true;
            access.reclaim_memory = 256;
            {
                auto file = File::open(library, storage, access);
                if (file) {
                    ++succeeded;
                    Image overwritten(storage.contents().begin(), storage.contents().end());
                    overwrite_free(*file, overwritten);
                    expect_logs(overwritten, story().kept, true);
                    const Status closed = file->close();
                    EXPECT_TRUE(closed == Status::ok || closed == Status::out_of_memory);
                    expect_logs(Image(storage.contents().begin(), storage.contents().end()), story().kept, true);
                } else {
                    ++refused;
                    EXPECT_EQ(file.status(), Status::out_of_memory);
                }
            }
            EXPECT_EQ(arena.usage().now, 0U);
        }
    }
    printf("reclaim in small arenas: %u succeeded, %u had too little\n", succeeded, refused);
    EXPECT_GT(succeeded, 100U / sweep_step());
    EXPECT_GT(refused, 4U / sweep_step());
}

// Any byte is damaged. Whatever libhdf5 still reads of the damaged file it reads after reclaiming, too.
TEST(Reclaim, NothingThatIsUsedIsGivenAwayInADamagedFile) {
    unsigned refused = 0;
    unsigned found = 0;
    for (const ReclaimFormat* const reclaim : all_reclaims()) {
        for (std::size_t at = 0; at < story().images.back().size(); at += sweep_step()) {
            SCOPED_TRACE(at);
            Image damaged = story().images.back();
            damaged[at] ^= static_cast<std::byte>(1U << (at % 8));
            Machine machine(*reclaim);
            // Little memory: what one walk sees must not be given away before another one meets the damage.
            machine.access.reclaim_memory = 0;
            if (machine.open(damaged) != Status::ok) {
                continue;
            }
            const auto before = values_of(machine.image());
            std::uint64_t bytes = 0;
            const Status status = machine.file.reclaim(&bytes);
            EXPECT_TRUE(status == Status::ok || bytes == 0);
            EXPECT_TRUE(status == Status::ok || status == Status::corrupt_file || status == Status::unsupported);
            ++(status == Status::ok ? found : refused);
            Image overwritten = machine.image();
            overwrite_free(machine.file, overwritten);
            EXPECT_EQ(values_of(overwritten), before);
            EXPECT_EQ(machine.file.close(), Status::ok);
        }
    }
    printf("reclaim in damaged files: %u refused, %u searched\n", refused, found);
    EXPECT_GT(refused, 1000U / sweep_step());
    EXPECT_GT(found, 1000U / sweep_step());
}

#if H5MOTE_ALL_FORMATS
// What h5mote itself reads of a damaged file, errors included: libhdf5 crashes on some of these.
std::uint32_t digest_of(const Image& image) {
    MallocAllocator memory;
    NullPort port;
    Library library(memory, port);
    MemoryDriver driver = MemoryDriver::reading({image.data(), image.size()});
    FileAccess access;
    access.read_only = true;
    static std::byte buffer[1024];
    WalkResult result;
    (void)walk_file(library, driver, access, buffer, {}, result);
    return result.digest;
}

// The same with damage under checksums that are right: blocks that overlap, or are somewhere else.
TEST(Reclaim, NothingThatIsUsedIsGivenAwayInAFileWithWrongAddresses) {
    unsigned refused = 0;
    unsigned found = 0;
    for (std::size_t at = 48; at < story().images.back().size(); at += 5 * sweep_step()) {
        SCOPED_TRACE(at);
        Image damaged = story().images.back();
        damaged[at] ^= static_cast<std::byte>(1U << (at / 5 % 8));
        reseal(damaged);
        for (const ReclaimFormat* const reclaim : all_reclaims()) {
            Machine machine(*reclaim);
            machine.access.reclaim_memory = at % 2 == 0 ? 0 : 1024;
            if (machine.open(damaged) != Status::ok) {
                continue;
            }
            const auto before = digest_of(machine.image());
            std::uint64_t bytes = 0;
            const Status status = machine.file.reclaim(&bytes);
            EXPECT_TRUE(status == Status::ok || bytes == 0);
            EXPECT_TRUE(status == Status::ok || status == Status::corrupt_file || status == Status::unsupported ||
                        status == Status::over_budget || status == Status::out_of_memory)
                << static_cast<int>(status);
            ++(status == Status::ok ? found : refused);
            Image overwritten = machine.image();
            overwrite_free(machine.file, overwritten);
            EXPECT_EQ(digest_of(overwritten), before);
            (void)machine.file.close();
        }
    }
    printf("reclaim in files with wrong addresses: %u refused, %u searched\n", refused, found);
    EXPECT_GT(refused, 200U / sweep_step());
    EXPECT_GT(found, 200U / sweep_step());
}
#endif

// More lost pieces than memory has room for go into a table in the file, whose space comes out of what is found.
TEST(Reclaim, MorePiecesThanMemoryHasRoomForAreKeptInTheFile) {
    constexpr std::uint32_t kLogs = 80;
    Image killed;
    {
        Machine machine;
        ASSERT_EQ(machine.create(), Status::ok);
        Group root = machine.file.root();
        for (std::uint32_t i = 0; i < kLogs; ++i) {
            make_log(root, "log" + std::to_string(i), 3 + i % 5);
        }
        ASSERT_EQ(machine.file.flush(), Status::ok);
        for (std::uint32_t i = 0; i < kLogs; i += 2) {
            ASSERT_EQ(root.unlink("log" + std::to_string(i)), Status::ok);
        }
        ASSERT_EQ(machine.file.flush(), Status::ok);
        killed = machine.image();
        root.close();
        ASSERT_EQ(machine.file.close(), Status::ok);
    }
    Model model;
    for (std::uint32_t i = 1; i < kLogs; i += 2) {
        model["log" + std::to_string(i)] = 3 + i % 5;
    }
    alignas(16) static std::byte memory[64 * 1024];
    unsigned spilled = 0;
    unsigned succeeded = 0;
    for (const ReclaimFormat* const reclaim : all_reclaims()) {
        for (std::size_t size = 20 * 1024; size >= 4096; size -= 512) {
            SCOPED_TRACE(size);
            Arena arena({memory, size});
            NullPort port;
            Library library(arena, port, {}, formats_with(*reclaim));
            MallocAllocator bytes;
            GrowingMemoryDriver storage(bytes);
            ASSERT_EQ(storage.assign({killed.data(), killed.size()}), Status::ok);
            FileAccess access;
            access.chunk_cache = 64;
            access.metadata_cache = 1024;
            access.reclaim_memory = 64;
            auto file = File::open(library, storage, access);
            std::uint64_t found = 0;
            if (!file || file->reclaim(&found) != Status::ok) {
                continue;
            }
            ++succeeded;
            EXPECT_GT(found, kLogs * 100U);
            FileState& state = *Checker::state_of(*file);
            spilled += state.space.free().spilled() != 0 ? 1U : 0U;
            // While the table grows the map may forget a piece for which it has no room. Another search finds it, and
            // does not take the table itself for lost.
            std::uint64_t again = 0;
            if (file->reclaim(&again) == Status::ok) {
                EXPECT_LT(again, found / 4);
            }
            if (state.space.keeper() != nullptr) {
                for (const FreeExtent& own : state.space.keeper()->own()) {
                    EXPECT_FALSE(state.space.free().overlaps(own));
                    EXPECT_LE(own.address + own.size, state.space.end());
                }
            }
            Image overwritten(storage.contents().begin(), storage.contents().end());
            overwrite_free(*file, overwritten);
            expect_logs(overwritten, model, true);
            // Small and large blocks come out of the pieces, and the table moves and ends.
            Model more = model;
            {
                Group root = file->root();
                for (std::uint32_t i = 0; i < 12; ++i) {
                    DatasetCreate create = layout_of_logs();
                    create.reserve = 0;
                    auto log = root.create_dataset<Row>("new" + std::to_string(i), create);
                    if (!log) {
                        EXPECT_TRUE(log.status() == Status::out_of_memory || log.status() == Status::over_budget);
                        break;
                    }
                    std::uint32_t rows = 0;
                    while (rows < i + 1 && log->append({i + 1, rows}) == Status::ok) {
                        ++rows;
                    }
                    if (log->close() != Status::ok || rows != i + 1) {
                        break;
                    }
                    more["new" + std::to_string(i)] = i + 1;
                }
            }
            if (file->close() == Status::ok) {
                expect_logs(Image(storage.contents().begin(), storage.contents().end()), more, true);
            } else {
                expect_logs(Image(storage.contents().begin(), storage.contents().end()), model, true);
            }
            EXPECT_EQ(arena.usage().now, 0U);
        }
    }
    printf("reclaim of many pieces: %u succeeded, %u with a table in the file\n", succeeded, spilled);
    EXPECT_GT(succeeded, 10U);
    EXPECT_GT(spilled, 5U);
}

// A file that is damaged, or has what the search does not know, opens with FileAccess::reclaim as without it.
TEST(Reclaim, OpeningGoesOnWhenNothingCanBeFound) {
    Image image;
    {
        Machine machine;
        ASSERT_EQ(machine.open(story().images.back()), Status::ok);
        ASSERT_EQ(machine.file.close(), Status::ok);
        image = machine.image();
        const Hdf5Id file = open_image({image.data(), image.size()}, H5F_ACC_RDWR);
        ASSERT_GE(file, 0);
        const Hdf5Id root(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose);
        const Hdf5Id type(H5Tcopy(H5T_C_S1), H5Tclose);
        ASSERT_GE(H5Tset_size(type, H5T_VARIABLE), 0);
        const Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose);
        const Hdf5Id attribute(H5Acreate2(root, "text", type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
        const char* const text = "of variable length";
        ASSERT_GE(H5Awrite(attribute, type, &text), 0);
        ASSERT_GE(H5Fflush(file, H5F_SCOPE_GLOBAL), 0);
        image.resize(static_cast<std::size_t>(H5Fget_file_image(file, nullptr, 0)));
        ASSERT_GE(H5Fget_file_image(file, image.data(), image.size()), 0);
        // libhdf5 clears the mark "open for writing", but leaves the superblock's checksum as it was.
        constexpr std::size_t kChecksum = 44;
        store_le(image.data() + kChecksum, lookup3({image.data(), kChecksum}));
    }
    Machine machine;
    machine.access.reclaim = true;
    ASSERT_EQ(machine.open(image), Status::ok);
    EXPECT_EQ(machine.file.reclaim(), Status::unsupported);
    ASSERT_EQ(machine.file.close(), Status::ok);
#if H5MOTE_ALL_FORMATS
    Machine full(formats::reclaim_any);
    ASSERT_EQ(full.open(image), Status::ok);
    ASSERT_EQ(full.file.reclaim(), Status::ok);
    Image overwritten = full.image();
    EXPECT_GT(overwrite_free(full.file, overwritten), 0U);
    const Hdf5Id file = open_image({overwritten.data(), overwritten.size()});
    const Hdf5Id attribute(H5Aopen_by_name(file, "/", "text", H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    const Hdf5Id type(H5Aget_type(attribute), H5Tclose);
    char* text = nullptr;
    ASSERT_GE(H5Aread(attribute, type, &text), 0);
    EXPECT_STREQ(text, "of variable length");
    H5free_memory(text);
    ASSERT_EQ(full.file.close(), Status::ok);
#endif
}

#endif
