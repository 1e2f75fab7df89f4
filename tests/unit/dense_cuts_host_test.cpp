// Power cuts while groups and objects become dense, grow, shrink and become compact again: a file whose sectors are
// atomic, and whose writes between two syncs arrive in any order. After every cut, with a write torn or lost, the file
// is sound, holds what a flush covered, and libhdf5 reads the same.
#include "hdf5_image.hpp"
#include "recording_driver.hpp"
#include "sound.hpp"
#include "storage_bench.hpp"

#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE && H5MOTE_TEST_HDF5

using namespace h5mote;
using namespace h5mote_test;

namespace {

using Names = std::set<std::string>;

std::vector<std::byte> cut_storage(std::size_t{1} << 20);

// What the group has after a call, and how many operations the storage had seen then.
struct Step {
    std::size_t operations;
    bool flushed;
    Names names;
};

class Workload {
public:
    explicit Workload(bool attributes, unsigned seed)
        : attributes_(attributes), random_(seed), library_(allocator_, port_, {}, formats::all) {
        std::fill(cut_storage.begin(), cut_storage.end(), std::byte{});
    }

    void run() {
        MemoryDriver memory({cut_storage.data(), cut_storage.size()});
        RecordingDriver driver(memory);
        recording = &driver;
        FileAccess access;
        access.metadata_cache = 4096;
        Result<File> opened = File::create(library_, driver, access);
        ASSERT_EQ(opened.status(), Status::ok);
        File file = std::move(*opened);
        GroupCreate create;
        create.track_link_order = true;
        create.max_compact = 4;
        create.min_dense = 3;
        Result<Group> made = file.root().create_group("g", create);
        ASSERT_EQ(made.status(), Status::ok);
        group_ = std::move(*made);
        flush(file);
        first = steps.back().operations;
        for (const unsigned aim : {14U, 1U, 40U, 0U, 9U}) {
            for (unsigned i = 0; names_.size() != aim; ++i) {
                change(file, aim);
                if (random_() % 3 == 0) {
                    flush(file);
                }
            }
            flush(file);
        }
        judge(driver);
        group_ = Group();
        EXPECT_EQ(file.close(), Status::ok);
    }

    std::size_t first = 0;
    std::vector<Step> steps;
    RecordingDriver* recording = nullptr;
    unsigned states = 0;
    unsigned losses = 0;

private:
    void note(bool flushed) { steps.push_back({recording->operations().size(), flushed, names_}); }
    void flush(File& file) {
        ASSERT_EQ(file.flush(), Status::ok);
        note(true);
    }
    void change(File& file, std::size_t aim) {
        // Now and then one more link to the object whose header is written anew when its attributes become dense: the
        // number of links must not be too low, whatever is written with it.
        if (attributes_ && random_() % 6 == 0) {
            ASSERT_EQ(file.root().create_hard_link("link" + std::to_string(steps.size()), group_), Status::ok);
        }
        if ((names_.size() < aim) == (random_() % 5 != 0) || names_.empty()) {
            std::string name = "n" + std::to_string(random_() % 1000) + std::string(random_() % 40, 'y');
            if (!names_.insert(name).second) {
                return;
            }
            const std::string text(1 + random_() % 60, 'v');
            const std::string_view value = text;
            ASSERT_EQ(attributes_ ? group_.write_attribute(name, value) : group_.create_soft_link(name, value),
                      Status::ok);
        } else {
            auto which = names_.begin();
            std::advance(which, static_cast<std::ptrdiff_t>(random_() % names_.size()));
            ASSERT_EQ(attributes_ ? group_.remove_attribute(*which) : group_.unlink(*which), Status::ok);
            names_.erase(which);
        }
        note(false);
    }

    // Whether the state is one that may be there when the power fails after `count` operations: links are in dense
    // storage as some call has left them. Of attributes in a header, which are changed one by one, each may be as any
    // call since the last flush has left it.
    bool is_allowed(const Names& found, std::size_t count) const {
        std::size_t from = 0;
        for (std::size_t i = 0; i < steps.size() && steps[i].operations <= count; ++i) {
            from = steps[i].flushed ? i : from;
        }
        Names always = steps[from].names;
        Names ever;
        bool equal = false;
        for (std::size_t i = from; i < steps.size(); ++i) {
            const Names& names = steps[i].names;
            equal = equal || names == found;
            ever.insert(names.begin(), names.end());
            for (auto name = always.begin(); name != always.end();) {
                name = names.count(*name) == 0 ? always.erase(name) : std::next(name);
            }
            if (steps[i].operations > count) {
                break;
            }
        }
        return equal || (attributes_ && std::includes(found.begin(), found.end(), always.begin(), always.end()) &&
                         std::includes(ever.begin(), ever.end(), found.begin(), found.end()));
    }

    bool read(RecordingDriver::Image image, Names& found) const {
        const std::vector<std::byte> bytes(image.begin(), image.end());
        {
            const Hdf5Id file = open_image({bytes.data(), bytes.size()});
            const Hdf5Id group(file < 0 ? -1 : H5Gopen2(file, "g", H5P_DEFAULT), H5Gclose);
            hsize_t at = 0;
            const auto link = [](hid_t, const char* name, const H5L_info_t*, void* to) -> herr_t {
                static_cast<Names*>(to)->insert(name);
                return 0;
            };
            const auto attribute = [](hid_t, const char* name, const H5A_info_t*, void* to) -> herr_t {
                static_cast<Names*>(to)->insert(name);
                return 0;
            };
            Names by_order;
            if (group < 0 || (attributes_ ? H5Aiterate2(group, H5_INDEX_NAME, H5_ITER_INC, &at, attribute, &found)
                                          : H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, &at, link, &found)) < 0) {
                return false;
            }
            at = 0;
            if (!attributes_ &&
                (H5Literate(group, H5_INDEX_CRT_ORDER, H5_ITER_INC, &at, link, &by_order) < 0 || by_order != found)) {
                return false;
            }
        }
        MallocAllocator allocator;
        NullPort port;
        Library library(allocator, port, {}, formats::all);
        std::vector<std::byte> storage(image.size() + 65536);
        MemoryDriver driver({storage.data(), storage.size()});
        if (driver.write(Usage::raw_data, 0, {image.data(), image.size()}) != Status::ok) {
            return false;
        }
        FileAccess access;
        access.metadata_cache = 4096;
        Result<File> opened = File::open(library, driver, access);
        if (opened.status() != Status::ok) {
            return false;
        }
        File file = std::move(*opened);
        bool sound = findings_in(file).none();
        {
            Result<Group> group = file.root().open_group("g");
            sound = sound && group.status() == Status::ok;
            // Links lead nowhere: whether they are found is seen when one of the same name is refused.
            for (const std::string& name : found) {
                sound = sound && (attributes_ ? group->has_attribute(name)
                                              : group->create_soft_link(name, "x") == Status::already_exists);
            }
            sound = sound && (attributes_ ? group->write_attribute("more", "x")
                                          : group->create_soft_link("more", "x")) == Status::ok;
        }
        sound = sound && file.flush() == Status::ok && findings_in(file).none();
        return file.close() == Status::ok && sound;
    }

    void check(RecordingDriver::Image image, std::size_t count) {
        Names found;
        ++states;
        losses += read(std::move(image), found) && is_allowed(found, count) ? 0U : 1U;
    }

    void judge(const RecordingDriver& driver) {
        const std::vector<DriverOperation>& operations = driver.operations();
        for (std::size_t count = first; count < operations.size(); ++count) {
            check(driver.image(count), count);
            for (const std::size_t torn : driver.tears(count, 512)) {
                check(driver.image_torn(count, torn), count);
            }
            for (std::size_t lost = driver.synced(count); lost < count; ++lost) {
                RecordingDriver::Image image = driver.image(lost);
                for (std::size_t i = lost + 1; i < count; ++i) {
                    RecordingDriver::apply(image, operations[i]);
                }
                check(std::move(image), count);
            }
        }
    }

    bool attributes_;
    std::mt19937 random_;
    Names names_;
    MallocAllocator allocator_;
    NullPort port_;
    Library library_;
    Group group_;
};

void sweep(bool attributes, unsigned seed) {
    Workload workload(attributes, seed);
    workload.run();
    std::printf("%u states, %u losses\n", workload.states, workload.losses);
    EXPECT_GT(workload.states, 1000U);
    EXPECT_EQ(workload.losses, 0U);
}

}  // namespace

TEST(DenseCuts, Links) { sweep(false, 1); }

TEST(DenseCuts, Attributes) { sweep(true, 2); }

#endif
