// Groups with many links: h5mote and libhdf5 add and remove links in turns, against a model.
#include "hdf5_image.hpp"
#include "sound.hpp"
#include "storage_bench.hpp"
#include "test_allocators.hpp"

#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE && H5MOTE_TEST_HDF5

using namespace h5mote;
using namespace h5mote_test;

namespace {

using Links = std::map<std::string, std::string>;  // name and target of soft links

std::string text(std::mt19937& random, std::size_t most) {
    std::string name(1 + random() % (random() % 20 == 0 ? most : 30), ' ');
    for (char& c : name) {
        c = static_cast<char>('a' + random() % 26);
    }
    return name;
}

struct Options {
    bool tracked = false;
    std::size_t cache = 4096;
    std::size_t most = 200;  // characters of names and targets
    std::uint16_t max_compact = 8;
    std::uint16_t min_dense = 6;
};

class Mine {
public:
    Mine(const std::string& path, const Options& options, bool create)
        : path_(path),
          storage_(std::size_t{8} << 20),
          library(allocator, port, {}, formats::all),
          driver({storage_.data(), storage_.size()}) {
        FileAccess access;
        access.metadata_cache = options.cache;
        if (!create) {
            const std::vector<std::byte> image = take_file(path);
            EXPECT_EQ(driver.write(Usage::raw_data, 0, {image.data(), image.size()}), Status::ok);
        }
        Result<File> opened = create ? File::create(library, driver, access) : File::open(library, driver, access);
        EXPECT_EQ(opened.status(), Status::ok);
        file = std::move(*opened);
        if (create) {
            GroupCreate properties;
            properties.track_link_order = options.tracked;
            properties.max_compact = options.max_compact;
            properties.min_dense = options.min_dense;
            EXPECT_EQ(file.root().create_group("g", properties).status(), Status::ok);
        }
        Result<Group> found = file.root().open_group("g");
        EXPECT_EQ(found.status(), Status::ok);
        group = std::move(*found);
    }
    ~Mine() {
        EXPECT_TRUE(findings_in(file).none()) << findings_in(file).last_kind;
        group = Group();
        EXPECT_EQ(file.close(), Status::ok);
        const std::vector<std::byte> image = image_of(driver);
        std::ofstream(path_, std::ios::binary)
            .write(reinterpret_cast<const char*>(image.data()), static_cast<std::streamsize>(image.size()));
    }
    bool insert(const std::string& name, const std::string& target) {
        return group.create_soft_link(name, target) == Status::ok;
    }
    bool remove(const std::string& name) { return group.unlink(name) == Status::ok; }

    std::string path_;
    std::vector<std::byte> storage_;
    MallocAllocator allocator;
    NullPort port;
    Library library;
    MemoryDriver driver;
    File file;
    Group group;
};

class Theirs {
public:
    explicit Theirs(const std::string& path, bool write)
        : access_(H5Pcreate(H5P_FILE_ACCESS), H5Pclose),
          latest_(H5Pset_libver_bounds(access_, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST)),
          file(H5Fopen(path.c_str(), write ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access_), H5Fclose),
          group(H5Gopen2(file, "g", H5P_DEFAULT), H5Gclose) {
        EXPECT_GE(H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr), 0);
        EXPECT_GE(file, 0);
        EXPECT_GE(group, 0);
    }
    bool insert(const std::string& name, const std::string& target) {
        return H5Lcreate_soft(target.c_str(), group, name.c_str(), H5P_DEFAULT, H5P_DEFAULT) >= 0;
    }
    bool remove(const std::string& name) { return H5Ldelete(group, name.c_str(), H5P_DEFAULT) >= 0; }

    Hdf5Id access_;
    herr_t latest_;
    Hdf5Id file;
    Hdf5Id group;
};

herr_t take(hid_t group, const char* name, const H5L_info_t* info, void* data) {
    std::string target(info->u.val_size, '\0');
    if (H5Lget_val(group, name, target.data(), target.size(), H5P_DEFAULT) < 0) {
        return -1;
    }
    static_cast<std::vector<std::pair<std::string, std::string>>*>(data)->emplace_back(name, target.c_str());
    return 0;
}

// What libhdf5 finds is what the model has, by name and by creation order; each name is found.
void compare(const std::string& path, const Options& options, const Links& links,
             const std::vector<std::string>& order) {
    Theirs theirs(path, false);
    std::vector<std::pair<std::string, std::string>> found;
    hsize_t at = 0;
    ASSERT_GE(H5Literate(theirs.group, H5_INDEX_NAME, H5_ITER_INC, &at, &take, &found), 0);
    ASSERT_EQ(found.size(), links.size());
    ASSERT_TRUE(std::equal(found.begin(), found.end(), links.begin(),
                           [](const auto& a, const auto& b) { return a.first == b.first && a.second == b.second; }));
    for (const auto& [name, target] : links) {
        ASSERT_GT(H5Lexists(theirs.group, name.c_str(), H5P_DEFAULT), 0) << name;
    }
    if (options.tracked) {
        found.clear();
        at = 0;
        ASSERT_GE(H5Literate(theirs.group, H5_INDEX_CRT_ORDER, H5_ITER_INC, &at, &take, &found), 0);
        ASSERT_EQ(found.size(), order.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
            ASSERT_EQ(found[i].first, order[i]);
        }
    }
    H5G_info_t info;
    ASSERT_GE(H5Gget_info(theirs.group, &info), 0);
    EXPECT_EQ(info.nlinks, links.size());
    if (links.size() < options.min_dense) {
        EXPECT_EQ(info.storage_type, H5G_STORAGE_TYPE_COMPACT);
    }
    if (links.size() > options.max_compact) {
        EXPECT_EQ(info.storage_type, H5G_STORAGE_TYPE_DENSE);
    }
}

template <typename Library>
void work(Library& library, std::mt19937& random, const Options& options, unsigned steps, std::size_t aim, Links& links,
          std::vector<std::string>& order) {
    for (unsigned i = 0; i < steps; ++i) {
        if (links.empty() || (random() % 4 != 0) == (links.size() < aim)) {
            const std::string name = text(random, options.most);
            const std::string target = text(random, options.most);
            ASSERT_EQ(library.insert(name, target), links.count(name) == 0) << name;
            if (links.emplace(name, target).second) {
                order.push_back(name);
            }
        } else {
            const std::size_t which = random() % order.size();
            ASSERT_TRUE(library.remove(order[which])) << order[which];
            links.erase(order[which]);
            order.erase(order.begin() + static_cast<std::ptrdiff_t>(which));
        }
    }
}

void run(unsigned seed, const Options& options, unsigned sessions, unsigned steps, bool both) {
    std::mt19937 random(seed);
    const std::string path = "dense_links.h5";
    Links links;
    std::vector<std::string> order;
    { Mine mine(path, options, true); }
    for (unsigned session = 0; session < sessions && !testing::Test::HasFailure(); ++session) {
        const std::size_t aim = random() % 3 == 0 ? 3 : random() % 3 == 0 ? 20 : random() % (steps / 2);
        if (both && session % 2 != 0) {
            Theirs theirs(path, true);
            work(theirs, random, options, steps, aim, links, order);
        } else {
            Mine mine(path, options, false);
            for (unsigned part = 0; part < 4; ++part) {
                work(mine, random, options, steps / 4, aim, links, order);
                if (random() % 2 == 0) {
                    EXPECT_EQ(mine.file.flush(), Status::ok);
                }
            }
        }
        compare(path, options, links, order);
        ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed << " session " << session;
    }
}

}  // namespace

TEST(DenseLinks, OursIsReadByLibhdf5) {
    for (unsigned seed = 0; seed < 6; ++seed) {
        Options options;
        options.tracked = seed % 2 != 0;
        run(seed, options, 8, 200, false);
    }
}

TEST(DenseLinks, FilesGoBackAndForth) {
    for (unsigned seed = 100; seed < 112; ++seed) {
        Options options;
        options.tracked = seed % 2 != 0;
        options.max_compact = seed % 3 == 0 ? 2 : 8;
        options.min_dense = seed % 3 == 0 ? 1 : 6;
        run(seed, options, 8, 200, true);
    }
}

TEST(DenseLinks, LongNamesAreHugeObjects) {
    for (unsigned seed = 200; seed < 204; ++seed) {
        Options options;
        options.tracked = seed % 2 != 0;
        options.most = 6000;
        options.cache = 65536;  // compact links this long make header blocks of 12 KB, two of which have to fit
        run(seed, options, 6, 120, true);
    }
}

#endif
