// The list of each free-space manager fills its space, in whatever pieces that lies: libhdf5 cannot go on with a file
// in which it does not. For managers of files on full storages, and for those of heaps.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

#ifdef H5MOTE_TEST_HDF5
#include "hdf5_image.hpp"
#endif

#include <gtest/gtest.h>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include "byte_order.hpp"
#include "checksum.hpp"
#include "sound.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

using Image = std::vector<std::byte>;

Image copy_of(const MemoryFile& storage) {
    const ConstBytes contents = storage.contents();
    return Image(contents.begin(), contents.end());
}

void expect_sound(const Image& image, const std::string& what) {
    MallocAllocator malloc;
    NullPort port;
    Library library{malloc, port, {}, formats::all};
    MemoryDriver driver = MemoryDriver::reading({image.data(), image.size()});
    auto file = File::open(library, driver, {});
    ASSERT_EQ(file.status(), Status::ok) << what;
    EXPECT_TRUE(findings_in(*file).none()) << what;
}

// Adds datasets of few bytes to the file, and deletes others, until some are refused.
class Filling {
public:
    explicit Filling(unsigned seed) : random_(seed) {}

    void run(File& file) {
        for (unsigned i = 0, refused = 0; i < 400 && refused < 6; ++i) {
            if (chance(3) != 0 || names_.empty()) {
                refused += add(file) ? 0 : 1;
            } else {
                remove(file);
            }
        }
        for (unsigned left = chance(6); left != 0 && !names_.empty(); --left) {
            remove(file);
        }
    }
    unsigned chance(unsigned of) { return static_cast<unsigned>(random_() % of); }
    const std::vector<std::string>& names() const { return names_; }

private:
    bool add(File& file) {
        const std::string name = "d" + std::to_string(added_++);
        const std::vector<std::uint8_t> values(1 + chance(chance(4) == 0 ? 4000 : 300), 7);
        auto data = file.root().create_dataset(name, file_type_of<std::uint8_t>(), Dataspace::simple({values.size()}));
        if (data.status() != Status::ok) {
            EXPECT_EQ(data.status(), Status::no_space);
            return false;
        }
        names_.push_back(name);
        return data->write(Selection::all(), datatype_of<std::uint8_t>(),
                           as_bytes(Span<const std::uint8_t>(values.data(), values.size()))) == Status::ok;
    }
    void remove(File& file) {
        const std::size_t which = chance(static_cast<unsigned>(names_.size()));
        if (file.root().unlink(names_[which]) == Status::ok) {
            names_.erase(names_.begin() + static_cast<std::ptrdiff_t>(which));
        }
    }

    std::mt19937 random_;
    std::vector<std::string> names_;
    unsigned added_ = 0;
};

#ifdef H5MOTE_TEST_HDF5
// Lets libhdf5 delete everything, and add a dataset after each deletion.
void expect_continued(const Image& image, const Filling& filling, const std::string& what) {
    const Hdf5Id file = open_image({image.data(), image.size()}, H5F_ACC_RDWR);
    ASSERT_GE(file, 0) << what;
    const hsize_t size = 100;
    const Hdf5Id space(H5Screate_simple(1, &size, nullptr), H5Sclose);
    const std::vector<std::uint8_t> values(100, 5);
    for (const std::string& name : filling.names()) {
        ASSERT_GE(H5Ldelete(file, name.c_str(), H5P_DEFAULT), 0) << what << ' ' << name;
        const Hdf5Id data(
            H5Dcreate2(file, ("new " + name).c_str(), H5T_STD_U8LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
            H5Dclose);
        ASSERT_GE(data, 0) << what << ' ' << name;
        ASSERT_GE(H5Dwrite(data, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0) << what;
    }
    EXPECT_GE(H5Fflush(file, H5F_SCOPE_GLOBAL), 0) << what;
}
#else
void expect_continued(const Image&, const Filling&, const std::string&) {}
#endif

void fill_storages(SpaceStrategy strategy, std::size_t least) {
    for (unsigned seed = 1; seed <= 40 && !::testing::Test::HasFailure(); ++seed) {
        Filling filling(seed);
        std::vector<std::byte> room(least + filling.chance(60000));
        MallocAllocator malloc;
        NullPort port;
        Library library{malloc, port, {}, formats::all};
        MemoryDriver driver({room.data(), room.size()});
        FileCreate create;
        create.file_space = strategy;
        create.page_size = 512;
        create.persist_free_space = true;
        for (unsigned session = 0; session < 3; ++session) {
            const std::string what = "seed " + std::to_string(seed) + ", session " + std::to_string(session);
            FileAccess access;
            access.reclaim = session == 1;
            auto file =
                session == 0 ? File::create(library, driver, access, create) : File::open(library, driver, access);
            ASSERT_EQ(file.status(), Status::ok) << what;
            filling.run(*file);
            ASSERT_EQ(file->close(), Status::ok) << what;
            const Image image = copy_of(driver);
            expect_sound(image, what);
            expect_continued(image, filling, what);
        }
    }
}

TEST(FreeSpaceLists, OfFullFiles) { fill_storages(SpaceStrategy::managers, 20000); }
TEST(FreeSpaceLists, OfFullFilesWithPages) { fill_storages(SpaceStrategy::pages, 20000); }
TEST(FreeSpaceLists, OfFilesThatGrow) { fill_storages(SpaceStrategy::managers, 1000000); }
TEST(FreeSpaceLists, OfFilesWithPagesThatGrow) { fill_storages(SpaceStrategy::pages, 1000000); }

// In large caches a heap's list stays in its place as long as it keeps its size.
TEST(FreeSpaceLists, OfHeaps) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        std::mt19937 random(seed);
        MallocAllocator malloc;
        NullPort port;
        Library library{malloc, port, {}, formats::all};
        GrowingMemoryDriver driver(malloc);
        FileAccess access;
        access.low = FormatVersion::v110;
        access.metadata_cache = seed % 2 == 0 ? 2U << 20 : 4096;
        auto file = File::create(library, driver, access);
        ASSERT_EQ(file.status(), Status::ok);
        auto group = file->root().create_group("group");
        ASSERT_EQ(group.status(), Status::ok);
        const unsigned links = 20 + static_cast<unsigned>(random() % 300);
        for (unsigned i = 0; i < links; ++i) {
            const std::string name = std::to_string(i) + std::string(random() % 60, 'x');
            ASSERT_EQ(group->create_soft_link(name, "/"), Status::ok);
            if (random() % 5 == 0) {
                ASSERT_EQ(group->unlink(name), Status::ok);
            }
        }
        ASSERT_EQ(file->close(), Status::ok);
        expect_sound(copy_of(driver), "seed " + std::to_string(seed));
    }
}

// check_file() finds a list that does not fill its space.
TEST(FreeSpaceLists, WithMoreSpaceAreReported) {
    MallocAllocator malloc;
    NullPort port;
    Library library{malloc, port, {}, formats::all};
    GrowingMemoryDriver driver(malloc);
    FileCreate create;
    create.persist_free_space = true;
    auto file = File::create(library, driver, {}, create);
    ASSERT_EQ(file.status(), Status::ok);
    for (const char* name : {"first", "second", "third"}) {
        ASSERT_EQ(file->root().create_group(name).status(), Status::ok);
    }
    ASSERT_EQ(file->root().unlink("second"), Status::ok);
    ASSERT_EQ(file->close(), Status::ok);
    Image image = copy_of(driver);
    const std::string signature = "FSHD";
    unsigned changed = 0;
    for (std::size_t at = 0; at + 82 <= image.size(); ++at) {
        if (std::equal(signature.begin(), signature.end(), reinterpret_cast<const char*>(image.data() + at))) {
            store_le<std::uint64_t>(image.data() + at + 70, load_le<std::uint64_t>(image.data() + at + 70) - 1);
            store_le<std::uint32_t>(image.data() + at + 78, lookup3({image.data() + at, 78}));
            ++changed;
        }
    }
    ASSERT_GT(changed, 0U);
    MemoryDriver changed_driver = MemoryDriver::reading({image.data(), image.size()});
    auto opened = File::open(library, changed_driver, {});
    ASSERT_EQ(opened.status(), Status::ok);
    EXPECT_EQ(findings_in(*opened).last_kind, static_cast<unsigned>(ProblemKind::size));
}

}  // namespace

#endif
