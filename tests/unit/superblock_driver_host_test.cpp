// Two blocks that are found through the superblock: driver information, and the metadata cache image that a file was
// closed with. Both are damaged in every field, and read from a storage that fails at every call.
#include <h5mote/config.hpp>

#if defined(H5MOTE_TEST_HDF5) && H5MOTE_ALL_FORMATS && H5MOTE_OTHER_FILES

#include "cursor.hpp"
#include "faulty_files.hpp"
#include "promising_driver.hpp"
#include "sound.hpp"

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr char kFile[] = "file.h5";
constexpr std::uint64_t kMost = ~std::uint64_t{0};

// A driver that accepts driver information and records it.
class Taking final : public ForwardingDriver {
public:
    using ForwardingDriver::ForwardingDriver;
    Status use_superblock_info(std::string_view name, ConstBytes info, std::uint64_t& end) noexcept override {
        names += std::string(name);
        bytes = info.size();
        end += longer;
        return answer;
    }

    std::string names;
    std::size_t bytes = 0;
    std::uint64_t longer = 0;
    Status answer = Status::ok;
};

// Offsets in a superblock of the oldest format, and the size of a driver information block's prefix.
constexpr std::size_t kEndOfFile = 40, kDriverInfo = 48, kBlock = 16;

Image with_driver_info(std::uint32_t length) {
    Image image = made([](hid_t file) {
        const Hdf5Id group(H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
        EXPECT_GE(group, 0);
    });
    const std::size_t at = image.size();
    image.resize(at + kBlock + length);
    store_le<std::uint32_t>(image.data() + at + 4, length);
    std::memcpy(image.data() + at + 8, "NCSAnone", 8);
    store_le<std::uint64_t>(image.data() + kDriverInfo, at);
    store_le<std::uint64_t>(image.data() + kEndOfFile, image.size());
    return image;
}

struct Case {
    const char* name;
    std::int64_t move;  // added to the block's address
    std::uint8_t version;
    std::uint32_t length;
    Status answer;
    std::uint64_t longer;
    Status expected;
};

TEST(SuperblockDriver, EachFieldOfTheInformation) {
    static constexpr Case kCases[] = {
        {"as it is", 0, 0, 40, Status::ok, 0, Status::ok},
        {"nothing said", 0, 0, 0, Status::ok, 0, Status::ok},
        {"another version", 0, 1, 40, Status::ok, 0, Status::corrupt_file},
        {"behind the end", 100, 0, 40, Status::ok, 0, Status::corrupt_file},
        {"across the end", 50, 0, 40, Status::ok, 0, Status::corrupt_file},
        {"nowhere", -0x7fffffffffffLL, 0, 40, Status::ok, 0, Status::corrupt_file},
        {"longer than the file", 0, 0, 41, Status::ok, 0, Status::corrupt_file},
        {"longer than any", 0, 0, 0x10000, Status::ok, 0, Status::corrupt_file},
        {"as long as can be said", 0, 0, 0xffffffff, Status::ok, 0, Status::corrupt_file},
        {"not for this driver", 0, 0, 40, Status::unsupported, 0, Status::unsupported},
        {"nonsense", 0, 0, 40, Status::corrupt_file, 0, Status::corrupt_file},
        {"unanswered", 0, 0, 40, Status::io_error, 0, Status::io_error},
        {"an end where nothing is", 0, 0, 40, Status::ok, 1, Status::corrupt_file},
        {"an end far away", 0, 0, 40, Status::ok, kMost / 2, Status::corrupt_file},
    };
    for (const Case& each : kCases) {
        Image image = with_driver_info(40);
        const std::size_t at = image.size() - 40 - kBlock;
        image[at] = std::byte{each.version};
        store_le<std::uint32_t>(image.data() + at + 4, each.length);
        store_le<std::uint64_t>(image.data() + kDriverInfo, at + static_cast<std::uint64_t>(each.move));
        MallocAllocator heap;
        NullPort port;
        MemoryDriver memory = MemoryDriver::reading({image.data(), image.size()});
        Taking driver(memory);
        driver.answer = each.answer;
        driver.longer = each.longer;
        {
            Library library(heap, port);
            FileAccess access;
            access.read_only = true;
            auto file = File::open(library, driver, access);
            EXPECT_EQ(file.status(), each.expected) << each.name;
            EXPECT_EQ(driver.names,
                      each.expected == Status::corrupt_file && each.answer == Status::ok && each.longer == 0
                          ? ""
                          : "NCSAnone")
                << each.name;
            EXPECT_EQ(driver.bytes, driver.names.empty() ? 0 : each.length) << each.name;
            if (file) {
                EXPECT_TRUE(file->root().exists("group")) << each.name;
            }
        }
        EXPECT_EQ(heap.usage().now, 0U) << each.name;
    }
}

using Seen = std::vector<std::uint64_t>;

// Opens the file and counts the objects in it.
Status look(Library& library, Driver& driver, const FileAccess& access, Seen& seen) {
    auto file = File::open(library, driver, access);
    H5MOTE_TRY(file.status());
    FileInfo info;
    H5MOTE_TRY(file->info(info));
    std::uint32_t links = 0;
    Group root = file->root();
    H5MOTE_TRY(root.link_count(links));
    seen = {info.file_size, info.has_driver_info ? 1U : 0U, links};
    for (const char* name : {"group 3", "group 7"}) {
        auto group = root.open_group(name);
        H5MOTE_TRY(group.status());
        H5MOTE_TRY(group->link_count(links));
        seen.push_back(links);
    }
    return Status::ok;
}

Image with_cache_image() {
    const std::string name = ::testing::TempDir() + "cache_image.h5";
    {
        const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        EXPECT_GE(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST), 0);
        H5AC_cache_image_config_t image = {H5AC__CURR_CACHE_IMAGE_CONFIG_VERSION, true, false,
                                           H5AC__CACHE_IMAGE__ENTRY_AGEOUT__NONE};
        EXPECT_GE(H5Pset_mdc_image_config(access, &image), 0);
        const Hdf5Id file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
        EXPECT_GE(file, 0);
        for (int i = 0; i < 10; ++i) {
            const Hdf5Id group(
                H5Gcreate2(file, ("group " + std::to_string(i)).c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                H5Gclose);
            EXPECT_GE(H5Lcreate_soft("/", group, "up", H5P_DEFAULT, H5P_DEFAULT), 0);
        }
    }
    return take_file(name);
}

TEST(SuperblockDriver, CacheImageWhileEachCallFails) {
    const Images images = {{kFile, with_cache_image()}};
    FaultyFile file(images, kFile);
    Seen expected;
    const unsigned refused = file.sweep<Seen>([&](Library& library, FaultyFile& with, Seen& seen) {
        const Status status = look(library, with.main, with.access(), seen);
        expected = seen.size() == 5 ? seen : expected;
        return status;
    });
    EXPECT_GT(refused, 10U);
    ASSERT_EQ(expected.size(), 5U);
    EXPECT_EQ(expected[2], 10U);
    EXPECT_EQ(expected[3], 1U);
}

// Each byte of the image's header and of its first entries gets odd values: open() refuses or succeeds, and always
// returns.
TEST(SuperblockDriver, EachByteOfACacheImage) {
    const Image made = with_cache_image();
    std::size_t at = 0;
    while (std::memcmp(made.data() + at, "MDCI", 4) != 0) {
        ASSERT_LT(++at, made.size() - 4);
    }
    unsigned refused = 0;
    unsigned opened = 0;
    // The image's header, and the first entries with their contents.
    for (std::size_t i = 0; i < 400 && at + i < made.size(); ++i) {
        for (const unsigned value : {0x00U, 0x01U, 0x7fU, 0x80U, 0xffU}) {
            Image image = made;
            image[at + i] = static_cast<std::byte>(value);
            MallocAllocator heap;
            NullPort port;
            MemoryDriver driver = MemoryDriver::reading({image.data(), image.size()});
            {
                Library library(heap, port);
                FileAccess access;
                access.read_only = true;
                Seen seen;
                const Status status = look(library, driver, access, seen);
                EXPECT_NE(status, Status::io_error) << i << " " << value;
                (status == Status::ok ? opened : refused) += 1;
                EXPECT_TRUE(status != Status::ok || seen.size() == 5);
            }
            ASSERT_EQ(heap.usage().now, 0U);
        }
    }
    EXPECT_GT(refused, 30U);
    EXPECT_GT(opened, 30U);
}

#if H5MOTE_WRITE
// What the image holds is in its place when the file is opened for writing, and the image is gone. libhdf5 finds the
// rest as it was, and what was added.
TEST(SuperblockDriver, FilesWithACacheImageAreContinued) {
    for (const std::uint32_t unit : {512U, 1U << 30}) {
        const Image made = with_cache_image();
        MallocAllocator heap;
        NullPort port;
        GrowingMemoryDriver storage(heap);
        PromisingDriver promising(storage, with_unit(unit));
        ASSERT_EQ(storage.write(Usage::raw_data, 0, {made.data(), made.size()}), Status::ok);
        for (int opening = 0; opening < 2; ++opening) {
            Library library(heap, port, {}, formats::all);
            auto file = File::open(library, promising);
            ASSERT_EQ(file.status(), Status::ok);
            Group root = file->root();
            auto group = root.open_group("group 3");
            ASSERT_EQ(group.status(), Status::ok);
            ASSERT_EQ(group->write_attribute("opening", opening), Status::ok);
            ASSERT_EQ(root.create_group("new " + std::to_string(opening)).status(), Status::ok);
            const Findings findings = findings_in(*file);
            EXPECT_TRUE(findings.none()) << findings.last_kind << " at " << findings.last_address;
            ASSERT_EQ(file->close(), Status::ok);
        }
        const Image after = image_of(storage);
        const Hdf5Id file = open_image({after.data(), after.size()}, H5F_ACC_RDWR, H5F_LIBVER_LATEST);
        ASSERT_GE(file, 0);
        H5G_info_t info{};
        EXPECT_GE(H5Gget_info(file, &info), 0);
        EXPECT_EQ(info.nlinks, 12U);
        EXPECT_GT(H5Aexists_by_name(file, "group 3", "opening", H5P_DEFAULT), 0);
        EXPECT_GT(H5Lexists(file, "group 9/up", H5P_DEFAULT), 0);
    }
}
#endif

}  // namespace

#endif
