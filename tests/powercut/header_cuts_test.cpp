// Power cuts while new objects get more attributes than their first header block has room for, in space that others
// gave up, with a cache so small that it writes headers to which nothing leads yet, and reads them again. Sectors are
// atomic, and writes between two syncs arrive in any order. After every cut, with a write torn or lost, the file is
// sound, and libhdf5 finds every object and attribute that a flush covered.
#include "cuts.hpp"
#include "hdf5_image.hpp"
#include "recorded_cuts.hpp"
#include "sound.hpp"

#include <gtest/gtest.h>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace h5mote;
using namespace h5mote_test;

namespace {

// The attributes of each object.
using Objects = std::map<std::string, std::set<std::string>>;

std::vector<std::byte> cut_storage(std::size_t{1} << 20);

// What the last flush covered when the storage had seen so many operations.
struct Flush {
    std::size_t operations;
    Objects objects;
};

class Workload {
public:
    Workload(unsigned seed, std::size_t cache, Tally& tally)
        : tally_(tally), cache_(cache), random_(seed), library_(allocator_, port_, {}, formats::all) {
        std::fill(cut_storage.begin(), cut_storage.end(), std::byte{});
    }

    void run() {
        MemoryDriver memory({cut_storage.data(), cut_storage.size()});
        RecordingDriver driver(memory);
        FileAccess access;
        access.metadata_cache = cache_;
        Result<File> opened = File::create(library_, driver, access);
        ASSERT_EQ(opened.status(), Status::ok);
        File file = std::move(*opened);
        make_room(file);
        ASSERT_EQ(file.flush(), Status::ok);
        flushes_.push_back({driver.operations().size(), {}});
        for (unsigned i = 0; i < 60; ++i) {
            change(file);
            if (random_() % 8 == 0) {
                ASSERT_EQ(file.flush(), Status::ok);
                flushes_.push_back({driver.operations().size(), objects_});
            }
        }
        judge(driver);
        EXPECT_EQ(file.close(), Status::ok);
    }

private:
    // Space between objects that stay, far below the end of the file.
    static void make_room(File& file) {
        for (unsigned i = 0; i < 12; ++i) {
            DatasetCreate create;
            create.allocation = AllocationTime::early;
            auto dataset = file.root().create_dataset("room" + std::to_string(i), file_type_of<std::uint8_t>(),
                                                      Dataspace::simple({400}), create);
            ASSERT_EQ(dataset.status(), Status::ok);
        }
        ASSERT_EQ(file.flush(), Status::ok);
        for (unsigned i = 0; i < 12; i += 2) {
            ASSERT_EQ(file.root().unlink("room" + std::to_string(i)), Status::ok);
        }
        ASSERT_EQ(file.flush(), Status::ok);
    }

    void change(File& file) {
        if (objects_.empty() || random_() % 4 == 0) {
            const std::string name = "object" + std::to_string(objects_.size());
            if (done(file.root().create_group(name).status())) {
                objects_[name];
            }
            return;
        }
        // The newest objects change most.
        auto object = objects_.begin();
        std::advance(object, static_cast<std::ptrdiff_t>(random_() % 3 == 0 ? random_() % objects_.size()
                                                                            : objects_.size() - 1));
        Result<Group> group = file.root().open_group(object->first);
        if (!done(group.status())) {
            return;
        }
        const std::string name = "attribute" + std::to_string(random_() % 7);
        const std::vector<std::int32_t> values(1 + random_() % 40, 7);
        if (done(group->replace_attribute(name, DatatypeView(datatype_of<std::int32_t>()),
                                          Dataspace::simple({values.size()}),
                                          as_bytes(Span<const std::int32_t>(values.data(), values.size()))))) {
            object->second.insert(name);
        }
    }

    // Whether a call has changed something: a small cache has no room for some changes.
    static bool done(Status status) {
        EXPECT_TRUE(status == Status::ok || status == Status::over_budget) << to_string(status);
        return status == Status::ok;
    }

    static Objects read_libhdf5(const std::vector<std::byte>& bytes, bool& sound) {
        Objects found;
        const Hdf5Id file = open_image({bytes.data(), bytes.size()});
        const auto link = [](hid_t, const char* name, const H5L_info_t*, void* to) -> herr_t {
            (*static_cast<Objects*>(to))[name];
            return 0;
        };
        const auto attribute = [](hid_t object, const char* name, const H5A_info_t*, void* to) -> herr_t {
            const Hdf5Id opened(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
            std::vector<std::int32_t> values(40);
            static_cast<std::set<std::string>*>(to)->insert(name);
            return opened >= 0 && H5Aread(opened, H5T_NATIVE_INT32, values.data()) >= 0 && values[0] == 7 ? 0 : -1;
        };
        hsize_t at = 0;
        sound = file >= 0 && H5Literate(file, H5_INDEX_NAME, H5_ITER_INC, &at, link, &found) >= 0;
        for (auto& [name, attributes] : found) {
            const Hdf5Id object(H5Oopen(file, name.c_str(), H5P_DEFAULT), H5Oclose);
            at = 0;
            sound = sound && object >= 0 &&
                    H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &at, attribute, &attributes) >= 0;
        }
        return found;
    }

    bool read(const RecordingDriver::Image& image, Objects& found) const {
        const std::vector<std::byte> bytes(image.begin(), image.end());
        MallocAllocator allocator;
        NullPort port;
        Library library(allocator, port, {}, formats::all);
        GrowingMemoryDriver driver(allocator);
        if (driver.assign({image.data(), image.size()}) != Status::ok) {
            return false;
        }
        FileAccess access;
        access.metadata_cache = 4096;
        Result<File> opened = File::open(library, driver, access);
        // libhdf5 may crash in a file that is not sound.
        if (opened.status() != Status::ok || !findings_in(*opened).none() || opened->close() != Status::ok) {
            return false;
        }
        bool sound = false;
        found = read_libhdf5(bytes, sound);
        return sound;
    }

    void check(const RecordingDriver::Image& image, std::size_t count) {
        std::size_t flush = 0;
        while (flush + 1 < flushes_.size() && flushes_[flush + 1].operations <= count) {
            ++flush;
        }
        if (tally_.enough() || !tally_.is_new(hash_of({image.data(), image.size()}, flush))) {
            return;
        }
        tally_.cut(true);
        Objects found;
        const bool sound = read(image, found);
        bool whole = true;
        for (const auto& [name, attributes] : flushes_[flush].objects) {
            const std::set<std::string>& there = found[name];
            whole = whole && std::includes(there.begin(), there.end(), attributes.begin(), attributes.end());
        }
        if (!sound || !whole) {
            tally_.lost("cut after operation " + std::to_string(count) + (sound ? ": attributes" : ": not sound"));
        }
    }

    void judge(const RecordingDriver& driver) {
        for_each_cut(driver, flushes_.front().operations,
                     [&](RecordingDriver::Image image, std::size_t count, const std::string&) { check(image, count); });
    }

    Tally& tally_;
    const std::size_t cache_;
    std::mt19937 random_;
    Objects objects_;
    std::vector<Flush> flushes_;
    MallocAllocator allocator_;
    NullPort port_;
    Library library_;
};

}  // namespace

TEST(HeaderCuts, NewObjectsInASmallCache) {
    Tally tally("new_headers_small");
    for (unsigned seed = 1; seed <= 8 && !HasFatalFailure(); ++seed) {
        Workload(seed, 1024 + seed % 4 * 128, tally).run();
    }
    tally.report(1000);
}
