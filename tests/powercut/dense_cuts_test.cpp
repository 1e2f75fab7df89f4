// Power cuts while groups and objects become dense, grow, shrink and become compact again: a file whose sectors are
// atomic, and whose writes between two syncs arrive in any order. After every cut, with a write torn or lost, the file
// is sound, holds what a flush covered, and libhdf5 reads the same.
#include "cuts.hpp"
#include "hdf5_image.hpp"
#include "random.hpp"
#include "recorded_cuts.hpp"
#include "sound.hpp"

#include <gtest/gtest.h>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

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

struct Options {
    bool attributes = false;
    unsigned seed = 1;
    std::size_t metadata_cache = 4096;
    unsigned calls_per_flush = 3;
    bool limits = false;  // few attributes are dense already, some are renamed, and groups are made between the calls
    unsigned others = 0;  // groups whose headers change between the calls: the cache cannot drop these
};

class Workload {
public:
    Workload(const Options& options, Tally& tally)
        : options_(options),
          tally_(tally),
          attributes_(options.attributes),
          random_(options.seed),
          library_(allocator_, port_, {}, formats::all) {
        std::fill(cut_storage.begin(), cut_storage.end(), std::byte{});
    }

    void run() {
        MemoryDriver memory({cut_storage.data(), cut_storage.size()});
        RecordingDriver driver(memory);
        recording = &driver;
        FileAccess access;
        access.metadata_cache = options_.metadata_cache;
        Result<File> opened = File::create(library_, driver, access);
        ASSERT_EQ(opened.status(), Status::ok);
        File file = std::move(*opened);
        GroupCreate create;
        create.track_link_order = true;
        create.max_compact = 4;
        create.min_dense = 3;
        if (options_.limits) {
            create.attributes.track_order = true;
            create.attributes.max_compact = 1;
            create.attributes.min_dense = 1;
        }
        Result<Group> made = file.root().create_group("g", create);
        ASSERT_EQ(made.status(), Status::ok);
        group_ = std::move(*made);
        for (unsigned i = 0; i < options_.others; ++i) {
            Result<Group> other = file.root().create_group("other" + std::to_string(i), {});
            ASSERT_EQ(other.status(), Status::ok);
            ASSERT_EQ(other->write_attribute("number", i), Status::ok);
            others_.push_back(std::move(*other));
        }
        flush(file);
        first = steps.back().operations;
        for (const unsigned aim : {14U, 1U, 40U, 0U, 9U}) {
            for (unsigned i = 0; names_.size() != aim && i < 400 && !failed_; ++i) {
                const std::size_t synced = recording->synced(recording->operations().size());
                change(file, aim);
                // With others, whenever the cache has committed during the change.
                if (options_.others == 0 ? random_() % options_.calls_per_flush == 0
                                         : recording->synced(recording->operations().size()) != synced) {
                    flush(file);
                }
            }
            flush(file);
        }
        judge(driver);
        group_ = Group();
        others_.clear();
        EXPECT_EQ(file.close(), Status::ok);
    }

    std::size_t first = 0;
    std::vector<Step> steps;
    RecordingDriver* recording = nullptr;

private:
    void note(bool flushed) { steps.push_back({recording->operations().size(), flushed, names_}); }
    void flush(File& file) {
        ASSERT_EQ(file.flush(), Status::ok);
        note(true);
    }
    // Whether a call has changed something: a small cache has no room for some changes.
    bool done(Status status) {
        if (status != Status::ok && (status != Status::over_budget || options_.metadata_cache >= 4096)) {
            failed_ = true;
            ADD_FAILURE() << to_string(status);
        }
        return status == Status::ok;
    }
    std::string new_name(const char* begin, char filling) {
        return begin + std::to_string(random_() % 1000) + std::string(random_() % 40, filling);
    }
    void change(File& file, std::size_t aim) {
        // Now and then one more link to the object whose header is written anew when its attributes become dense: the
        // number of links must not be too low, whatever is written with it.
        if (attributes_ && random_() % 6 == 0) {
            (void)done(file.root().create_hard_link("link" + std::to_string(steps.size()), group_));
        }
        if (options_.limits && random_() % 4 == 0) {
            (void)done(file.root().create_group("group" + std::to_string(steps.size()), {}).status());
        }
        if (!others_.empty()) {
            (void)done(others_[random_() % others_.size()].write_attribute("number", static_cast<unsigned>(random_())));
        }
        auto which = names_.begin();
        std::advance(which, static_cast<std::ptrdiff_t>(names_.empty() ? 0 : random_() % names_.size()));
        if (attributes_ && options_.limits && random_() % 5 == 0 && !names_.empty()) {
            const std::string to = new_name("r", 'z');
            if (names_.count(to) == 0 && done(group_.rename_attribute(*which, to))) {
                names_.erase(which);
                names_.insert(to);
            }
        } else if ((names_.size() < aim) == (random_() % 5 != 0) || names_.empty()) {
            const std::string name = new_name("n", 'y');
            const std::string text(1 + random_() % 60, 'v');
            const std::string_view value = text;
            if (names_.count(name) == 0 &&
                done(attributes_ ? group_.write_attribute(name, value) : group_.create_soft_link(name, value))) {
                names_.insert(name);
            }
        } else if (done(attributes_ ? group_.remove_attribute(*which) : group_.unlink(*which))) {
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
        if (opened.status() != Status::ok || !findings_in(*opened).none()) {
            return false;
        }
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
        File file = std::move(*opened);
        bool sound = true;
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
        std::uint64_t begun = 0;
        while (begun < steps.size() && steps[begun].operations <= count) {
            ++begun;
        }
        if (tally_.enough() || !tally_.is_new(hash_of({image.data(), image.size()}, begun))) {
            return;
        }
        tally_.cut(true);
        Names found;
        const bool sound = read(std::move(image), found);
        if (!sound || !is_allowed(found, count)) {
            tally_.lost("cut after operation " + std::to_string(count) + (sound ? ": other names" : ": not sound"));
        }
    }

    void judge(const RecordingDriver& driver) {
        for_each_cut(driver, first, [&](RecordingDriver::Image image, std::size_t count, const std::string&) {
            check(std::move(image), count);
        });
    }

    const Options options_;
    Tally& tally_;
    bool attributes_;
    bool failed_ = false;
    std::mt19937 random_;
    Names names_;
    MallocAllocator allocator_;
    NullPort port_;
    Library library_;
    Group group_;
    std::vector<Group> others_;
};

void sweep(const char* name, std::size_t floor, const Options& options) {
    Tally tally(name);
    Workload workload(options, tally);
    workload.run();
    tally.report(floor);
}

}  // namespace

TEST(DenseCuts, Links) { sweep("dense_links", 1000, {false, 1}); }

TEST(DenseCuts, Attributes) { sweep("dense_attributes", 1000, {true, 2}); }

// The cache makes room while dense storage is made: it commits what is there so far, or writes headers of storage to
// which nothing leads yet, and reads them again.
TEST(DenseCuts, LinksInASmallCache) { sweep("dense_links_small", 1000, {false, 2, 1024, 12, true}); }

TEST(DenseCuts, AttributesInASmallCache) { sweep("dense_attributes_small", 1000, {true, 2, 1024, 12}); }

TEST(DenseCuts, FewDenseAttributes) { sweep("dense_attributes_few", 1000, {true, 3, 2048, 12, true}); }

// With memory to spare the file remembers the free sections of the heap that was changed last.
TEST(DenseCuts, LinksInALargeCache) { sweep("dense_links_large", 1000, {false, 4, 65536, 12, true}); }

TEST(DenseCuts, AttributesInALargeCache) { sweep("dense_attributes_large", 1000, {true, 4, 65536, 12}); }

// The headers of other objects fill the cache, and cannot be dropped before they are written. Now and then it commits
// in the middle of a change, after it was decided which nodes change where they are.
TEST(DenseCuts, AttributesAmongChangedHeaders) {
    sweep("dense_attributes_headers", 1000, {true, 2, 4352, 12, false, 32});
}
