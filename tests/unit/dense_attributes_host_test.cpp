// Objects with many attributes: h5mote and libhdf5 write, replace and remove attributes in turns, against a model.
#include "hdf5_image.hpp"
#include "sound.hpp"
#include "storage_bench.hpp"

#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE && H5MOTE_TEST_HDF5

using namespace h5mote;
using namespace h5mote_test;

namespace {

using Values = std::map<std::string, std::vector<std::int32_t>>;

class Mine {
public:
    Mine(const std::string& path, std::size_t cache, bool create)
        : path_(path),
          storage_(std::size_t{16} << 20),
          library(allocator, port, {}, formats::all),
          driver({storage_.data(), storage_.size()}) {
        FileAccess access;
        access.metadata_cache = cache;
        if (!create) {
            const std::vector<std::byte> image = take_file(path);
            EXPECT_EQ(driver.write(Usage::raw_data, 0, {image.data(), image.size()}), Status::ok);
        }
        Result<File> opened = create ? File::create(library, driver, access) : File::open(library, driver, access);
        EXPECT_EQ(opened.status(), Status::ok);
        file = std::move(*opened);
        if (create) {
            EXPECT_EQ(file.root().create_group("g").status(), Status::ok);
            EXPECT_EQ(file.root().create_dataset("d", datatype_of<std::int32_t>(), Dataspace::simple({4})).status(),
                      Status::ok);
        }
    }
    ~Mine() {
        EXPECT_TRUE(findings_in(file).none()) << findings_in(file).last_kind;
        EXPECT_EQ(file.close(), Status::ok);
        const std::vector<std::byte> image = image_of(driver);
        std::ofstream(path_, std::ios::binary)
            .write(reinterpret_cast<const char*>(image.data()), static_cast<std::streamsize>(image.size()));
    }
    Status write(Object& object, const std::string& name, const std::vector<std::int32_t>& value) {
        return object.write_attribute(name, datatype_of<std::int32_t>(), Dataspace::simple({value.size()}),
                                      {reinterpret_cast<const std::byte*>(value.data()), 4 * value.size()});
    }

    std::string path_;
    std::vector<std::byte> storage_;
    MallocAllocator allocator;
    NullPort port;
    Library library;
    MemoryDriver driver;
    File file;
};

class Theirs {
public:
    Theirs(const std::string& path, bool write, const char* object)
        : access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose),
          latest(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST)),
          file(H5Fopen(path.c_str(), write ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access), H5Fclose),
          object_(H5Oopen(file, object, H5P_DEFAULT), H5Oclose) {
        EXPECT_GE(file, 0);
        EXPECT_GE(object_, 0);
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    }
    bool write(const std::string& name, const std::vector<std::int32_t>& value) {
        if (H5Aexists(object_, name.c_str()) > 0 && H5Adelete(object_, name.c_str()) < 0) {
            return false;
        }
        const hsize_t size = value.size();
        const Hdf5Id space(H5Screate_simple(1, &size, nullptr), H5Sclose);
        const Hdf5Id attribute(H5Acreate2(object_, name.c_str(), H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT),
                               H5Aclose);
        return attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_INT32, value.data()) >= 0;
    }
    bool remove(const std::string& name) { return H5Adelete(object_, name.c_str()) >= 0; }
    void compare(const Values& values) {
        H5O_info_t info;
        ASSERT_GE(H5Oget_info2(object_, &info, H5O_INFO_NUM_ATTRS), 0);
        ASSERT_EQ(info.num_attrs, values.size());
        for (const auto& [name, value] : values) {
            const Hdf5Id attribute(H5Aopen(object_, name.c_str(), H5P_DEFAULT), H5Aclose);
            ASSERT_GE(attribute, 0) << name;
            std::vector<std::int32_t> found(value.size());
            const Hdf5Id space(H5Aget_space(attribute), H5Sclose);
            ASSERT_EQ(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)), value.size());
            ASSERT_GE(H5Aread(attribute, H5T_NATIVE_INT32, found.data()), 0);
            ASSERT_EQ(found, value) << name;
        }
    }

    Hdf5Id access;
    herr_t latest;
    Hdf5Id file;
    Hdf5Id object_;
};

void run(unsigned seed, const char* path, std::size_t most, std::size_t cache, bool both) {
    std::mt19937 random(seed);
    const std::string name = "dense_attributes.h5";
    Values values;
    std::vector<std::string> names;
    { Mine mine(name, cache, true); }
    for (unsigned session = 0; session < 8; ++session) {
        const std::size_t aim = random() % 3 == 0 ? 2 : random() % 60;
        const bool theirs_now = both && session % 2 != 0;
        std::unique_ptr<Mine> mine(theirs_now ? nullptr : new Mine(name, cache, false));
        std::unique_ptr<Theirs> theirs(theirs_now ? new Theirs(name, true, path) : nullptr);
        Result<Object> object = theirs_now ? Result<Object>(Status::not_found) : mine->file.root().open_object(path);
        for (unsigned i = 0; i < 100; ++i) {
            if (names.empty() || (random() % 4 != 0) == (names.size() < aim)) {
                std::string attribute = "a" + std::to_string(random() % 100) + std::string(random() % 20, 'x');
                if (!names.empty() && random() % 4 == 0) {
                    attribute = names[random() % names.size()];
                }
                std::vector<std::int32_t> value(1 + random() % (random() % 8 == 0 ? most : 20));
                for (std::int32_t& each : value) {
                    each = static_cast<std::int32_t>(random());
                }
                const Status status = theirs_now ? (theirs->write(attribute, value) ? Status::ok : Status::io_error)
                                                 : mine->write(*object, attribute, value);
                ASSERT_EQ(status, Status::ok)
                    << seed << ' ' << session << ' ' << i << ' ' << attribute << ' ' << value.size();
                if (values.count(attribute) == 0) {
                    names.push_back(attribute);
                }
                values[attribute] = value;
            } else {
                std::swap(names[random() % names.size()], names.back());
                const Status status = theirs_now ? (theirs->remove(names.back()) ? Status::ok : Status::io_error)
                                                 : object->remove_attribute(names.back());
                ASSERT_EQ(status, Status::ok) << seed << ' ' << session << ' ' << i << ' ' << names.back();
                values.erase(names.back());
                names.pop_back();
            }
            if (!theirs_now && random() % 30 == 0) {
                ASSERT_EQ(mine->file.flush(), Status::ok);
            }
        }
        if (!theirs_now) {
            for (const auto& [attribute, value] : values) {
                std::vector<std::int32_t> found(value.size());
                ASSERT_EQ(object->read_attribute(attribute, datatype_of<std::int32_t>(),
                                                 {reinterpret_cast<std::byte*>(found.data()), 4 * found.size()}),
                          Status::ok);
                ASSERT_EQ(found, value);
            }
        }
        object = Result<Object>(Status::not_found);
        mine.reset();
        theirs.reset();
        Theirs(name, false, path).compare(values);
        ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed << " session " << session;
    }
}

}  // namespace

TEST(DenseAttributes, OursAreReadByLibhdf5) {
    for (unsigned seed = 0; seed < 6; ++seed) {
        run(seed, seed % 2 == 0 ? "g" : "d", 100, 4096, false);
    }
}

TEST(DenseAttributes, FilesGoBackAndForth) {
    for (unsigned seed = 100; seed < 106; ++seed) {
        run(seed, seed % 2 == 0 ? "g" : "d", 100, 4096, true);
    }
}

TEST(DenseAttributes, LargeOnesAreHugeObjects) {
    for (unsigned seed = 200; seed < 204; ++seed) {
        run(seed, seed % 2 == 0 ? "g" : "d", 30000, 1U << 20, true);
    }
}

#endif
