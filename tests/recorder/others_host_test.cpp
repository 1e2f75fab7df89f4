// The recorder and others take turns with one file: libhdf5, and h5mote's object model.
#include "blueprints.hpp"
#include "cutting.hpp"
#include "hdf5_image.hpp"
#include "others.hpp"
#include "play.hpp"

#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

using namespace h5mote;
using namespace h5mote_test;
using namespace h5mote_test::described;

namespace {

// Opens the file with the recorder, which goes on with it or says that others changed too much, and then leaves every
// byte alone. What is there is read by libhdf5 and h5mote either way.
void go_on(const MakeRecording& make, Blob& image, Contents& contents, unsigned life, unsigned& refused) {
    MallocAllocator allocator;
    GrowingMemoryDriver driver(allocator);
    ASSERT_EQ(driver.assign({image.data(), image.size()}), Status::ok);
    const std::unique_ptr<Recording> recording = make();
    const Described& described = recording->described();
    Seen seen;
    ASSERT_EQ(compare_by_libhdf5(driver.contents(), described, contents, seen), "");
    ASSERT_EQ(compare_by_h5mote(driver, described, contents, seen), "");
    Play play(*recording, driver, contents, life, [] { return 0; });
    play.allow(Status::foreign_changes);
    const Status opened = play.open();
    if (opened == Status::foreign_changes) {
        ++refused;
        if (std::getenv("H5MOTE_SHOW_REFUSED") != nullptr) {
            std::printf("refused: differs at %llu of %zu: ", static_cast<unsigned long long>(recording->difference()),
                        image.size());
            const std::size_t at = static_cast<std::size_t>(recording->difference());
            for (const bool now : {false, true}) {
                std::printf("\n    %s:", now ? "now " : "then");
                for (std::size_t i = at < 24 ? 0 : at - 24; i < at + 24 && i < described.image.size(); ++i) {
                    std::printf("%s%02x", i == at ? "|" : " ",
                                static_cast<unsigned>(now ? image[i] : described.image[i]));
                }
            }
            std::printf("\n    ");
        }
        ASSERT_EQ(Blob(driver.contents().begin(), driver.contents().end()), image);
        ASSERT_LT(recording->difference(), image.size());
        return;
    }
    ASSERT_EQ(play.failure, "");
    for (unsigned round = 0; round < 2; ++round) {
        for (std::size_t i = 0; i < described.datasets.size(); ++i) {
            (void)play.append(i, 1 + (life + i) % 5);
        }
        for (std::size_t i = 0; i < described.settings.size() && round == 0; ++i) {
            (void)play.set(i);
        }
        (void)play.flush();
    }
    (void)play.close();
    ASSERT_EQ(play.failure, "");
    contents = play.now();
    image.assign(driver.contents().begin(), driver.contents().end());
    ASSERT_EQ(compare_by_libhdf5(driver.contents(), described, contents, seen), "");
    ASSERT_EQ(compare_by_h5mote(driver, described, contents, seen), "");
}

Blob new_file(const Described& described) { return {described.image.begin(), described.image.end()}; }

// Each change by itself, on a new file and on one with rows, in the object that a seed chooses.
void each_change(const char* name, const MakeRecording& make, bool by_libhdf5) {
    unsigned tried = 0;
    unsigned refused = 0;
    unsigned refused_small = 0;
    for (unsigned seed = 0; seed < 160 && !testing::Test::HasFatalFailure(); ++seed) {
        const std::unique_ptr<Recording> recording = make();
        const Described& described = recording->described();
        Blob image = new_file(described);
        Contents contents = empty_contents(described);
        contents.created = true;
        Random random(seed);
        unsigned unused = 0;
        if (seed % 2 == 1) {
            go_on(make, image, contents, 1, unused);
        }
        const auto change = static_cast<Change>(seed / 2 % kChanges);
        SCOPED_TRACE(std::string(name) + " seed " + std::to_string(seed) + " change " +
                     std::to_string(static_cast<unsigned>(change)));
        if (by_libhdf5) {
            ASSERT_EQ(change_by_libhdf5(image, described, contents, 100, change, random), "");
        } else {
            MallocAllocator allocator;
            GrowingMemoryDriver driver(allocator);
            ASSERT_EQ(driver.assign({image.data(), image.size()}), Status::ok);
            ASSERT_EQ(change_by_h5mote(driver, described, contents, 100, change, random), "");
            image.assign(driver.contents().begin(), driver.contents().end());
        }
        const unsigned before = refused;
        go_on(make, image, contents, 101, refused);
        ++tried;
        if (refused != before && std::getenv("H5MOTE_SHOW_REFUSED") != nullptr) {
            std::printf("by change %u, seed %u of %s\n", static_cast<unsigned>(change), seed, name);
        }
        if (refused != before && change != Change::large) {
            ++refused_small;
        }
    }
    std::printf("%s by %s: %u changes, %u refused as foreign, %u of them small ones\n", name,
                by_libhdf5 ? "libhdf5" : "h5mote", tried, refused, refused_small);
    EXPECT_EQ(tried, 160U);
    // Rows, attributes and objects that were added do no harm.
    EXPECT_EQ(refused_small, 0U) << name;
}

}  // namespace

TEST(RecorderOthers, ChangesByLibhdf5) {
    each_change("flight 4", recordings<kFlight<4, false>>(), true);
    each_change("flight 8", recordings<kFlight<8, true>>(), true);
    each_change("turns", recordings<kTurns>(), true);
    each_change("one", recordings<kOne>(), true);
    each_change("nothing", recordings<kNothing>(), true);
    each_change("empty", recordings<kEmpty>(), true);
#if H5MOTE_FILTER_DEFLATE && H5MOTE_FILTER_SHUFFLE && H5MOTE_FILTER_FLETCHER32
    each_change("filtered 4", recordings<kFiltered<4>>(), true);
    each_change("filtered 8", recordings<kFiltered<8>>(), true);
#endif
}

#if H5MOTE_ALL_FORMATS
TEST(RecorderOthers, ChangesByTheObjectModel) {
    each_change("flight 4", recordings<kFlight<4, false>>(), false);
    each_change("flight 8", recordings<kFlight<8, true>>(), false);
    each_change("turns", recordings<kTurns>(), false);
    each_change("one", recordings<kOne>(), false);
    each_change("nothing", recordings<kNothing>(), false);
    each_change("empty", recordings<kEmpty>(), false);
#if H5MOTE_FILTER_DEFLATE && H5MOTE_FILTER_SHUFFLE && H5MOTE_FILTER_FLETCHER32
    each_change("filtered 4", recordings<kFiltered<4>>(), false);
    each_change("filtered 8", recordings<kFiltered<8>>(), false);
#endif
}
#endif

// 200,000 chunks of one byte, through every kind of block, in sessions that end anywhere.
TEST(RecorderOthers, ManyChunks) {
    for (const bool wide : {false, true}) {
        const std::unique_ptr<Recording> recording = (wide ? recordings<kBytes8>() : recordings<kBytes>())();
        MallocAllocator allocator;
        GrowingMemoryDriver driver(allocator);
        Play play(*recording, driver, empty_contents(recording->described()), 0, [] { return 0; });
        const std::size_t most = wide ? 30000 : 200000;
        for (std::size_t rows = 1; rows <= most && play.failure.empty(); rows = rows * 3 / 2 + 7) {
            (void)play.open();
            (void)play.append(0, rows - static_cast<std::size_t>(play.rows(0)));
            (void)play.flush();
            rows % 2 == 0 ? (void)play.close() : play.abandon();
        }
        (void)play.open();
        (void)play.append(0, most - static_cast<std::size_t>(play.rows(0)));
        (void)play.close();
        ASSERT_EQ(play.failure, "");
        Seen seen;
        EXPECT_EQ(compare_by_libhdf5(driver.contents(), play.described(), play.now(), seen), "");
        EXPECT_EQ(compare_by_h5mote(driver, play.described(), play.now(), seen), "");
        EXPECT_TRUE(H5MOTE_ALL_FORMATS == 0 || seen.rows[0] == most);
    }
}

#if H5MOTE_FILTER_DEFLATE && H5MOTE_FILTER_SHUFFLE && H5MOTE_FILTER_FLETCHER32
// libhdf5 keeps the filter mask of a chunk that it stores again in as many bytes as before. So a chunk of the recorder
// went through all filters, even if its rows are noise that deflate makes larger, or it has more bytes than filters
// make of a chunk.
TEST(RecorderOthers, NoChunkWentThroughSomeFilters) {
    const std::unique_ptr<Recording> recording = recordings<kFiltered<8>>()();
    MallocAllocator allocator;
    GrowingMemoryDriver driver(allocator);
    Play play(*recording, driver, empty_contents(recording->described()), 0, [] { return 0; });
    (void)play.open();
    for (unsigned i = 0; i < 40; ++i) {
        (void)play.append(0, 3);
        (void)play.append(2, 5);
        (void)play.flush();
    }
    (void)play.close();
    ASSERT_EQ(play.failure, "");
    const Hdf5Id file = open_image(driver.contents());
    for (const std::size_t which : {0, 2}) {
        const Described::Dataset& what = recording->described().datasets[which];
        const Hdf5Id dataset(H5Dopen2(file, what.path.c_str(), H5P_DEFAULT), H5Dclose);
        const Hdf5Id space(H5Dget_space(dataset), H5Sclose);
        hsize_t chunks = 0;
        ASSERT_GE(H5Dget_num_chunks(dataset, space, &chunks), 0);
        const hsize_t full = play.rows(which) / what.chunk;
        ASSERT_EQ(chunks, full + 1);
        bool grew = false;
        for (hsize_t i = 0; i < chunks; ++i) {
            hsize_t first = 0;
            unsigned mask = 0;
            haddr_t address = 0;
            hsize_t size = 0;
            ASSERT_GE(H5Dget_chunk_info(dataset, space, i, &first, &mask, &address, &size), 0);
            EXPECT_EQ(mask, i < full ? 0U : 3U) << what.path << " " << i;
            grew = grew || (i < full && size > what.chunk * what.row);
            EXPECT_TRUE(i < full || size == blueprint::filtered_limit(what.chunk * what.row));
        }
        EXPECT_TRUE(grew) << what.path;
    }
}
#endif
