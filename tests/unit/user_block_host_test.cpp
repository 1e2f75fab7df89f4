// FileCreate::user_block: the bytes before the superblock are the program's, whatever is done to the file, and libhdf5
// reads and changes what was made.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS && defined(H5MOTE_TEST_HDF5)

#include "hdf5_image.hpp"
#include "world.hpp"

#include <cstring>
#include <string>

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr std::uint64_t kBlocks[] = {512, 1024, 65536};

FileCreate with_block(std::uint64_t bytes) {
    FileCreate create;
    create.user_block = bytes;
    return create;
}

Status fill(World& world, std::uint64_t block, bool or_create = false) {
    auto file = or_create ? File::open_or_create(world.library, world.driver, world.access, with_block(block))
                          : File::create(world.library, world.driver, world.access, with_block(block));
    H5MOTE_TRY(file.status());
    auto data = file->root().create_dataset("d", kNumber.view(), Dataspace::simple({3}));
    H5MOTE_TRY(data.status());
    const std::int32_t values[] = {1, 2, 3};
    H5MOTE_TRY(data->write(Selection::all(), kNumber.view(), as_bytes(Span<const std::int32_t>(values))));
    H5MOTE_TRY(data->close());
    return file->close();
}

// The user block as libhdf5 tells it; 0 also when it does not read the file.
hsize_t block_of(const Image& image) {
    const Hdf5Id file = open_image({image.data(), image.size()});
    const Hdf5Id data(H5Dopen2(file, "d", H5P_DEFAULT), H5Dclose);
    std::int32_t values[3] = {};
    if (H5Dread(data, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0 || values[2] != 3) {
        return 0;
    }
    const Hdf5Id list(H5Fget_create_plist(file), H5Pclose);
    hsize_t bytes = 0;
    H5Pget_userblock(list, &bytes);
    return bytes;
}

TEST(UserBlock, IsReadByLibhdf5) {
    for (const FormatVersion low : {FormatVersion::standard, FormatVersion::earliest, FormatVersion::v110}) {
        for (const std::uint64_t block : kBlocks) {
            World world(formats::all);
            world.access.low = low;
            ASSERT_EQ(fill(world, block), Status::ok);
            EXPECT_EQ(block_of(world.image()), block);
            ASSERT_EQ(File::open(world.library, world.driver, world.access).status(), Status::ok);
            auto file = File::open(world.library, world.driver, world.access);
            FileInfo info;
            EXPECT_EQ(file->info(info), Status::ok);
            EXPECT_EQ(info.user_block, block);
            EXPECT_TRUE(findings_in(*file).none());
        }
    }
}

TEST(UserBlock, BelongsToTheProgram) {
    const std::string text = "#!/bin/sh\nexit 0\n";
    World world;
    const ConstBytes bytes{reinterpret_cast<const std::byte*>(text.data()), text.size()};
    // Before the file is made, and while it is there.
    ASSERT_EQ(world.storage.write(Usage::raw_data, 0, bytes), Status::ok);
    ASSERT_EQ(fill(world, 1024, true), Status::ok);
    EXPECT_EQ(std::memcmp(world.image().data(), text.data(), text.size()), 0);
    ASSERT_EQ(world.storage.write(Usage::raw_data, 700, bytes), Status::ok);
    {
        auto file = File::open_or_create(world.library, world.driver, world.access, with_block(1024));
        ASSERT_EQ(file.status(), Status::ok);
        EXPECT_TRUE(file->root().exists("d"));
        EXPECT_EQ(file->root().unlink("d"), Status::ok);
        EXPECT_EQ(file->flush(), Status::ok);
        auto data = file->root().create_dataset("d", kNumber.view(), Dataspace::simple({3}));
        const std::int32_t values[] = {1, 2, 3};
        EXPECT_EQ(data->write(Selection::all(), kNumber.view(), as_bytes(Span<const std::int32_t>(values))),
                  Status::ok);
        EXPECT_EQ(data->close(), Status::ok);
        EXPECT_EQ(file->close(), Status::ok);
    }
    EXPECT_EQ(std::memcmp(world.image().data() + 700, text.data(), text.size()), 0);
    EXPECT_EQ(block_of(world.image()), 1024U);
}

// Readers look for a superblock from the beginning on: an older file there must not be found in place of the new one.
TEST(UserBlock, HidesNoOlderFile) {
    World world;
    ASSERT_EQ(fill(world, 0), Status::ok);
    {
        const Image old = world.image();
        ASSERT_EQ(world.storage.write(Usage::raw_data, 512, {old.data(), 64}), Status::ok);
    }
    ASSERT_EQ(fill(world, 2048), Status::ok);
    EXPECT_EQ(block_of(world.image()), 2048U);
    auto file = File::open(world.library, world.driver, world.access);
    FileInfo info;
    ASSERT_EQ(file.status(), Status::ok);
    EXPECT_EQ(file->info(info), Status::ok);
    EXPECT_EQ(info.user_block, 2048U);
}

TEST(UserBlock, OtherSizesAreRefused) {
    for (const std::uint64_t block : {std::uint64_t{1}, std::uint64_t{256}, std::uint64_t{513}, std::uint64_t{768},
                                      (std::uint64_t{1} << 63) + 512}) {
        World world;
        EXPECT_EQ(File::create(world.library, world.driver, world.access, with_block(block)).status(),
                  Status::invalid_argument)
            << block;
        EXPECT_TRUE(world.image().empty());
    }
}

TEST(UserBlock, EveryCallFails) {
    std::uint64_t points = 0;
    for (const FaultKind& kind : kFaultKinds) {
        bool failed = true;
        for (std::uint64_t k = 1; failed; ++k) {
            SCOPED_TRACE(std::string(kind.name) + " " + std::to_string(k));
            World world;
            arm(world.refusing, world.driver, kind, k);
            const Status status = fill(world, 1024);
            failed = disarm(world.refusing, world.driver);
            EXPECT_TRUE(failed || status == Status::ok);
            points += failed ? 1 : 0;
            if (status != Status::ok) {
                EXPECT_EQ(fill(world, 1024), Status::ok);
            }
            EXPECT_EQ(block_of(world.image()), 1024U);
            EXPECT_EQ(world.memory.blocks(), 0U);
        }
    }
    std::printf("%llu points\n", static_cast<unsigned long long>(points));
    EXPECT_GT(points, 50U);
}

// After every number of writes the storage has no file, or the whole of it, and open_or_create() makes it.
TEST(UserBlock, ACreationThatIsCutIsBegunAgain) {
    for (std::uint64_t k = 1;; ++k) {
        World world;
        const char text[] = "text of the program";
        ASSERT_EQ(world.storage.write(Usage::raw_data, 0, as_bytes(Span<const char>(text, sizeof text))), Status::ok);
        DriverFault fault;
        fault.at = k;
        fault.calls = kAllCalls & ~unsigned{kReadCall};
        fault.persistent = true;
        world.driver.arm(fault);
        (void)File::open_or_create(world.library, world.driver, world.access, with_block(512));
        const bool failed = world.driver.failures() != 0;
        world.driver.disarm();
        auto file = File::open_or_create(world.library, world.driver, world.access, with_block(512));
        ASSERT_EQ(file.status(), Status::ok) << k;
        EXPECT_EQ(file->close(), Status::ok);
        EXPECT_EQ(std::memcmp(world.image().data(), text, sizeof text), 0);
        if (!failed) {
            EXPECT_GT(k, 3U);
            break;
        }
    }
}

}  // namespace

#endif
