// Power cuts while links and attributes of a group get creation orders, all of them in blocks of its object header.
// After every cut no two have the same order, and the next one, whether libhdf5 or h5mote adds it, gets a higher order
// than all that are there. A number that reaches the storage after the message that took it would break this.
#include "cuts.hpp"
#include "hdf5_image.hpp"
#include "random.hpp"
#include "recorded_cuts.hpp"
#include "sound.hpp"

#include <gtest/gtest.h>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <unistd.h>
#include <algorithm>
#include <set>
#include <string>
#include <vector>

using namespace h5mote;
using namespace h5mote_test;

namespace {

using Image = RecordingDriver::Image;

struct Plan {
    bool old = false;      // the object header has version 1, and attributes have no order
    bool flushes = false;  // often, so that few changes share a commit
    unsigned seed = 1;
    std::size_t cache = 8192;
};

// A file with the group "g", whose links and attributes stay in its header however many there are.
Image made_by_libhdf5(const Plan& plan) {
    const Hdf5Id create(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
    H5Pset_link_creation_order(create, H5P_CRT_ORDER_TRACKED);
    H5Pset_link_phase_change(create, 200, 0);
    if (!plan.old) {
        H5Pset_attr_creation_order(create, H5P_CRT_ORDER_TRACKED);
        H5Pset_attr_phase_change(create, 200, 0);
    }
    const std::string name = "number_cuts." + std::to_string(getpid()) + ".h5";
    {
        const Hdf5Id file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
        const Hdf5Id group(H5Gcreate2(file, "g", H5P_DEFAULT, create, H5P_DEFAULT), H5Gclose);
        EXPECT_GE(group, 0);
    }
    return take_file(name);
}

// The orders of links and attributes, which libhdf5 finds in the group.
using Orders = std::vector<std::int64_t>;

herr_t take_link(hid_t, const char*, const H5L_info_t* info, void* orders) {
    static_cast<Orders*>(orders)->push_back(info->corder_valid ? info->corder : -1);
    return 0;
}
herr_t take_attribute(hid_t, const char*, const H5A_info_t* info, void* orders) {
    static_cast<Orders*>(orders)->push_back(info->corder_valid ? info->corder : -1);
    return 0;
}

bool read_orders(hid_t group, bool attributes, Orders& orders) {
    hsize_t at = 0;
    orders.clear();
    return (attributes ? H5Aiterate2(group, H5_INDEX_NAME, H5_ITER_INC, &at, take_attribute, &orders)
                       : H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, &at, take_link, &orders)) >= 0;
}

bool differ(const Orders& orders) {
    return std::set<std::int64_t>(orders.begin(), orders.end()).size() == orders.size();
}

// libhdf5 adds one link or attribute, which has to be the last one in the order of creation.
std::string go_on_by_libhdf5(const Image& image, bool attributes) {
    const Hdf5Id file = open_image({image.data(), image.size()}, H5F_ACC_RDWR);
    const Hdf5Id group(file < 0 ? -1 : H5Gopen2(file, "g", H5P_DEFAULT), H5Gclose);
    Orders orders;
    if (group < 0 || !read_orders(group, attributes, orders)) {
        return "libhdf5 does not read; ";
    }
    if (!differ(orders)) {
        return "two have the same order; ";
    }
    std::int64_t added = -1;
    if (attributes) {
        const Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose);
        const Hdf5Id more(H5Acreate2(group, "more", H5T_STD_I8LE, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
        H5A_info_t info;
        added = more >= 0 && H5Aget_info(more, &info) >= 0 ? info.corder : -1;
    } else {
        H5L_info_t info;
        const bool made = H5Lcreate_soft("w", group, "more", H5P_DEFAULT, H5P_DEFAULT) >= 0;
        added = made && H5Lget_info(group, "more", &info, H5P_DEFAULT) >= 0 ? info.corder : -1;
    }
    const bool last = std::all_of(orders.begin(), orders.end(), [&](std::int64_t order) { return order < added; });
    return last ? "" : "libhdf5 gives a number again; ";
}

// So does h5mote, and then all have different orders still.
std::string go_on(const Image& image, const Plan& plan) {
    MallocAllocator allocator;
    NullPort port;
    Library library(allocator, port, {}, formats::all);
    GrowingMemoryDriver driver(allocator);
    if (driver.assign({image.data(), image.size()}) != Status::ok) {
        return "not copied; ";
    }
    FileAccess access;
    access.metadata_cache = plan.cache;
    {
        Result<File> file = File::open(library, driver, access);
        if (file.status() != Status::ok || !findings_in(*file).none()) {
            return "not sound; ";
        }
        Result<Group> group = file->root().open_group("g");
        Status status = group.status();
        for (unsigned i = 0; i < 3 && status == Status::ok; ++i) {
            status = group->create_soft_link("more" + std::to_string(i), "w");
            status = status == Status::ok ? group->write_attribute("more" + std::to_string(i), i) : status;
        }
        group = Status::not_found;
        status = status == Status::ok ? file->close() : status;
        if (status != Status::ok) {
            return std::string("does not go on: ") + to_string(status) + "; ";
        }
    }
    const std::vector<std::byte> after = image_of(driver);
    const Hdf5Id file = open_image({after.data(), after.size()});
    const Hdf5Id group(file < 0 ? -1 : H5Gopen2(file, "g", H5P_DEFAULT), H5Gclose);
    Orders links;
    Orders attributes;
    if (group < 0 || !read_orders(group, false, links) || !read_orders(group, true, attributes)) {
        return "not read afterwards; ";
    }
    return differ(links) && (plan.old || differ(attributes)) ? "" : "a number is given again; ";
}

// Adds and removes links and attributes of the group, so that its header gets several blocks with room in each.
class Changes {
public:
    Changes(File& file, Group& group, const Plan& plan) : file_(file), group_(group), plan_(plan), random_(plan.seed) {}

    void run() {
        for (unsigned i = 0; i < 120 && !testing::Test::HasFailure(); ++i) {
            change("n" + std::to_string(i));
            if (random_.one_in(plan_.flushes ? 2 : 5)) {
                ASSERT_EQ(file_.flush(), Status::ok);
            }
        }
    }

private:
    void change(const std::string& name) {
        const bool more = links_.size() + attributes_.size() < 12;
        switch (random_.below(more ? 7 : 8)) {
            case 0:
            case 1:
            case 2:
                ASSERT_EQ(group_.create_soft_link(name, std::string(1 + random_.below(40), 't')), Status::ok);
                links_.push_back(name);
                break;
            case 3:
            case 4:
                ASSERT_EQ(group_.write_attribute(name, std::string_view(std::string(1 + random_.below(40), 'v'))),
                          Status::ok);
                attributes_.push_back(name);
                break;
            case 5:  // an attribute changes where it is
                if (!attributes_.empty()) {
                    ASSERT_EQ(group_.rename_attribute(attributes_.back(), name), Status::ok);
                    attributes_.back() = name;
                }
                break;
            case 6:
                if (random_.one_in(2) && !links_.empty()) {
                    ASSERT_EQ(group_.rename(links_.back(), name), Status::ok);
                    links_.back() = name;
                } else if (links_.size() > 1) {
                    ASSERT_EQ(group_.unlink(take(links_)), Status::ok);
                }
                break;
            default:
                if (attributes_.size() > 1) {
                    ASSERT_EQ(group_.remove_attribute(take(attributes_)), Status::ok);
                }
                break;
        }
    }
    std::string take(std::vector<std::string>& names) {
        const auto which = names.begin() + static_cast<std::ptrdiff_t>(random_.below(names.size()));
        std::string name = *which;
        names.erase(which);
        return name;
    }

    File& file_;
    Group& group_;
    const Plan& plan_;
    Random random_;
    std::vector<std::string> links_;
    std::vector<std::string> attributes_;
};

void judge(const Image& image, const std::string& where, const Plan& plan, Tally& tally) {
    if (tally.enough() || !tally.is_new(hash_of({image.data(), image.size()}, 0))) {
        return;
    }
    tally.cut(true);
    std::string bad = go_on(image, plan);
    bad += bad.empty() ? go_on_by_libhdf5(image, false) : "";
    bad += bad.empty() && !plan.old ? go_on_by_libhdf5(image, true) : "";
    if (!bad.empty()) {
        tally.lost(where + ": " + bad);
    }
}

void sweep(const char* name, std::size_t floor, Plan plan) {
    Tally tally(name);
    for (const unsigned end = plan.seed + 20; plan.seed != end; ++plan.seed) {
        const Image begin = made_by_libhdf5(plan);
        MallocAllocator allocator;
        GrowingMemoryDriver memory(allocator);
        ASSERT_EQ(memory.assign({begin.data(), begin.size()}), Status::ok);
        RecordingDriver driver(memory);
        NullPort port;
        Library library(allocator, port, {}, formats::all);
        FileAccess access;
        access.metadata_cache = plan.cache;
        Result<File> file = File::open(library, driver, access);
        ASSERT_EQ(file.status(), Status::ok);
        Result<Group> group = file->root().open_group("g");
        ASSERT_EQ(group.status(), Status::ok);
        Changes(*file, *group, plan).run();
        group = Status::not_found;
        ASSERT_EQ(file->close(), Status::ok);
        for_each_cut(driver, 0, [&](const Image& image, std::size_t, const std::string& where) {
            judge(image, where, plan, tally);
        });
    }
    tally.report(floor);
}

}  // namespace

TEST(NumberCuts, NewHeader) { sweep("numbers_new", 3000, {false, false, 100}); }

TEST(NumberCuts, NewHeaderWithManyFlushes) { sweep("numbers_new_flushed", 3000, {false, true, 200}); }

TEST(NumberCuts, OldHeader) { sweep("numbers_old", 3000, {true, false, 300}); }

TEST(NumberCuts, OldHeaderWithManyFlushes) { sweep("numbers_old_flushed", 3000, {true, true, 400}); }

TEST(NumberCuts, SmallCache) { sweep("numbers_small", 3000, {false, false, 500, 2048}); }
