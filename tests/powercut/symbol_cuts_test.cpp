// Power cuts while links of a group with a symbol table are added, renamed and removed, on files and under a journal.
// After every cut the file is sound, every link that a flush covered is there, a renamed one under one of its names,
// libhdf5 reads the same, and both go on with the file.
#include "cuts.hpp"
#include "disk_cuts.hpp"
#include "disk_machine.hpp"
#include "hdf5_image.hpp"
#include "sound.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

namespace {

using namespace h5mote;
using namespace h5mote_test;

using Links = std::map<std::string, std::string>;  // "=": the object "a"

// What the group has after a call, and how many operations the storage had seen then.
struct Step {
    std::size_t operations;
    bool flushed;
    Links links;
};

struct Plan {
    unsigned tree_k = 16;
    unsigned node_k = 4;
    bool root = false;  // the group is the root group
    hsize_t odd = 0;    // bytes that move the structures to odd addresses
    std::size_t cache = 4096;
    bool journaled = false;
    bool lowers = false;  // names change a little, from one node to the next
};

Image made_by_libhdf5(const Plan& plan) {
    const Hdf5Id create(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    H5Pset_sym_k(create, plan.tree_k, plan.node_k);
    const std::string name = "symbol_cuts." + std::to_string(getpid()) + ".h5";
    {
        const Hdf5Id file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, create, H5P_DEFAULT), H5Fclose);
        if (plan.odd != 0) {
            // Attributes in the header of the group before it, which libhdf5 puts where it finds room.
            const Hdf5Id space(H5Screate_simple(1, &plan.odd, nullptr), H5Sclose);
            const Hdf5Id pad(H5Acreate2(file, "pad", H5T_STD_U8LE, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
            EXPECT_GE(pad, 0);
        }
        for (const char* const each : {"a", "g"}) {
            const Hdf5Id group(H5Gcreate2(file, each, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
            EXPECT_GE(group, 0);
        }
        const Hdf5Id group(H5Gopen2(file, plan.root ? "/" : "g", H5P_DEFAULT), H5Gclose);
        for (unsigned i = 0; i < 6; ++i) {
            EXPECT_GE(H5Lcreate_soft(("x" + std::to_string(i)).c_str(), group, ("first" + std::to_string(i)).c_str(),
                                     H5P_DEFAULT, H5P_DEFAULT),
                      0);
        }
    }
    return take_file(name);
}

herr_t take(hid_t group, const char* name, const H5L_info_t* info, void* data) {
    constexpr std::size_t kMost = 1000;
    std::string target;
    if (info->type == H5L_TYPE_HARD) {
        target = "=";
    } else if (info->u.val_size > kMost) {
        return -1;
    } else if (target.resize(info->u.val_size);
               H5Lget_val(group, name, target.data(), target.size(), H5P_DEFAULT) < 0) {
        return -1;
    }
    static_cast<Links*>(data)->emplace(name, target.c_str());
    return H5Lexists(group, name, H5P_DEFAULT) > 0 ? 0 : -1;
}

// What is done, by whom the storage is looked at, and what may be found.
class Workload {
public:
    Workload(const Plan& plan, unsigned seed) : plan_(plan), random_(seed) {
        for (unsigned i = 0; i < 6; ++i) {
            links_.emplace("first" + std::to_string(i), "x" + std::to_string(i));
        }
        if (plan.root) {
            links_.insert({{"a", "="}, {"g", "="}});
        }
    }

    void run(Driver& driver, const std::vector<DiskOperation>& operations) {
        operations_ = &operations;
        FileAccess access;
        access.metadata_cache = plan_.cache;
        Library library(allocator_, port_, {}, formats::all);
        Result<File> opened = File::open(library, driver, access);
        ASSERT_EQ(opened.status(), Status::ok);
        File file = std::move(*opened);
        group_ = std::move(*file.root().open_group(plan_.root ? "/" : "g"));
        object_ = std::move(*file.root().open_object("a"));
        flush(file);
        if (plan_.lowers) {
            lower(file);
        } else {
            grow_and_shrink(file);
        }
        object_ = Object();
        group_ = Group();
        EXPECT_EQ(file.close(), Status::ok);
    }

    // What is wrong with what a cut after so many operations left.
    std::string judge(const Image& image, Disk& left, std::size_t count) const {
        Links found;
        std::string bad = plan_.journaled ? "" : by_libhdf5(image, found);
        if (bad.empty() && !plan_.journaled) {
            bad = is_allowed(found, count) ? "" : "other links; ";
        }
        return bad.empty() ? by_us(left, found, count) : bad;
    }
    // A number that changes when a flush was complete.
    std::size_t flushes_before(std::size_t count) const { return count_flushes(steps_, count); }

private:
    const char* path() const { return plan_.root ? "/" : "g"; }
    void note(bool flushed) { steps_.push_back({operations_->size(), flushed, links_}); }
    void flush(File& file) {
        ASSERT_EQ(file.flush(), Status::ok);
        note(true);
    }
    void grow_and_shrink(File& file) {
        const std::size_t least = plan_.root ? 2 : 0;
        for (const std::size_t aim : {std::size_t{18}, least + 1, std::size_t{25}, least, std::size_t{9}}) {
            while (links_.size() != aim && !testing::Test::HasFailure()) {
                change(aim);
                if (random_() % 4 == 0) {
                    flush(file);
                }
            }
            flush(file);
        }
    }
    // A name that ends a node goes, and a lesser one comes, which is in the range of the next node.
    void lower(File& file) {
        for (unsigned i = 0; i < 40; ++i) {
            add("n" + std::to_string(100 + i), std::to_string(i));
        }
        flush(file);
        for (unsigned i = 39; i-- > 0;) {
            remove("n" + std::to_string(100 + i));
            add("n" + std::to_string(99 + i) + "z", std::to_string(1000 + i));
            flush(file);
        }
    }
    void add(const std::string& name, const std::string& target) {
        ASSERT_EQ(target == "=" ? group_.create_hard_link(name, object_) : group_.create_soft_link(name, target),
                  Status::ok);
        links_.emplace(name, target);
        note(false);
    }
    void remove(const std::string& name) {
        ASSERT_EQ(group_.unlink(name), Status::ok);
        links_.erase(name);
        note(false);
    }
    std::string any() {
        for (;;) {
            auto which = links_.begin();
            std::advance(which, static_cast<std::ptrdiff_t>(random_() % links_.size()));
            if (!plan_.root || (which->first != "a" && which->first != "g")) {
                return which->first;
            }
        }
    }
    void change(std::size_t aim) {
        const std::string name = "n" + std::to_string(random_() % 1000) + std::string(random_() % 30, 'y');
        if (links_.count(name) != 0) {
            return;
        }
        if ((links_.size() < aim) == (random_() % 5 != 0) || links_.size() <= (plan_.root ? 2U : 0U)) {
            // No two soft links have the same path, so that a link is known by it whatever its name is.
            add(name, random_() % 3 == 0 ? "=" : std::to_string(steps_.size()) + std::string(1 + random_() % 40, 'v'));
        } else if (random_() % 3 == 0) {
            const std::string from = any();
            ASSERT_EQ(group_.rename(from, name), Status::ok);
            // In between the link has both names.
            links_.emplace(name, links_[from]);
            note(false);
            links_.erase(from);
            note(false);
        } else {
            remove(any());
        }
    }

    static std::set<std::string> paths_of(const Links& links) {
        std::set<std::string> paths;
        for (const auto& [name, target] : links) {
            paths.insert(target);
        }
        paths.erase("=");
        return paths;
    }

    // Whether the state is one that may be there when the power fails after `count` operations. Each entry is as some
    // call since the last flush has left it: where nodes are changed in place, one may be written without another.
    bool is_allowed(const Links& found, std::size_t count) const {
        std::size_t from = 0;
        for (std::size_t i = 0; i < steps_.size() && steps_[i].operations <= count; ++i) {
            from = steps_[i].flushed ? i : from;
        }
        Links always = steps_[from].links;
        std::set<std::string> paths =
            paths_of(always);  // of soft links that are always there, under one name or another
        std::set<std::pair<std::string, std::string>> ever;
        for (std::size_t i = from; i < steps_.size(); ++i) {
            const Links& links = steps_[i].links;
            ever.insert(links.begin(), links.end());
            for (auto link = always.begin(); link != always.end();) {
                link = links.count(link->first) == 0 ? always.erase(link) : std::next(link);
            }
            const std::set<std::string> now = paths_of(links);
            for (auto path = paths.begin(); path != paths.end();) {
                path = now.count(*path) == 0 ? paths.erase(path) : std::next(path);
            }
            // A rename leaves two steps behind.
            if (steps_[i].operations > count && i + 1 < steps_.size() &&
                steps_[i + 1].operations > steps_[i].operations) {
                break;
            }
        }
        const std::set<std::string> found_paths = paths_of(found);
        return std::includes(found.begin(), found.end(), always.begin(), always.end()) &&
               std::includes(found_paths.begin(), found_paths.end(), paths.begin(), paths.end()) &&
               std::all_of(found.begin(), found.end(), [&](const auto& link) { return ever.count(link) != 0; });
    }

    std::string by_libhdf5(const Image& image, Links& found) const {
        const Hdf5Id file = open_image({image.data(), image.size()}, H5F_ACC_RDWR);
        const Hdf5Id group(file < 0 ? -1 : H5Gopen2(file, path(), H5P_DEFAULT), H5Gclose);
        hsize_t at = 0;
        if (group < 0 || H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, &at, take, &found) < 0) {
            return "libhdf5 does not read; ";
        }
        // It goes on: names that it adds do not get bytes that others have.
        Links before = found;
        Links after;
        for (unsigned i = 0; i < 12; ++i) {
            const std::string name = "more" + std::to_string(i) + std::string(i, 'm');
            if (H5Lcreate_soft("w", group, name.c_str(), H5P_DEFAULT, H5P_DEFAULT) < 0) {
                return "libhdf5 does not go on; ";
            }
            before.emplace(name, "w");
        }
        at = 0;
        return H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, &at, take, &after) >= 0 && before == after
                   ? ""
                   : "libhdf5 goes on with other links; ";
    }

    static Status read(Group& group, Links& links) {
        LinkIterator all(group);
        Link link;
        Status status = Status::ok;
        while ((status = all.next(link)) == Status::ok) {
            links.emplace(link.name(), link.type() == LinkType::hard ? "=" : std::string(link.target()));
        }
        return status;
    }

    // `found`: what libhdf5 has found, if it was asked.
    std::string by_us(Disk& left, const Links& found, std::size_t count) const {
        MallocAllocator allocator;
        NullPort port;
        Library library(allocator, port, {}, formats::all);
        FileAccess access;
        access.metadata_cache = plan_.cache;
        Result<File> opened = File::open(library, left.driver(), access);
        if (opened.status() != Status::ok) {
            return std::string("not opened: ") + to_string(opened.status()) + "; ";
        }
        File file = std::move(*opened);
        if (!findings_in(file).none()) {
            return "not sound; ";
        }
        Result<Group> group = file.root().open_group(path());
        Links links;
        if (group.status() != Status::ok || read(*group, links) != Status::not_found) {
            return "not read; ";
        }
        if (plan_.journaled ? !is_allowed(links, count) : links != found) {
            return "we find other links; ";
        }
        Status status = Status::ok;
        for (const auto& [name, target] : links) {
            status = group->create_soft_link(name, "x") == Status::already_exists ? status : Status::not_found;
        }
        for (unsigned i = 0; i < 6 && status == Status::ok; ++i) {
            status = group->create_soft_link("more" + std::to_string(i), "where it leads");
        }
        for (const auto& [name, target] : links) {
            status = target == "=" || status != Status::ok ? status : group->unlink(name);
        }
        status = status == Status::ok ? file.flush() : status;
        if (status != Status::ok || !findings_in(file).none()) {
            return std::string("does not go on: ") + to_string(status) + "; ";
        }
        group = Status::not_found;
        return file.close() == Status::ok ? "" : "not closed; ";
    }

    const Plan plan_;
    std::mt19937 random_;
    Links links_;
    std::vector<Step> steps_;
    const std::vector<DiskOperation>* operations_ = nullptr;
    MallocAllocator allocator_;
    NullPort port_;
    Group group_;
    Object object_;
};

void sweep(const char* name, const Plan& plan, unsigned seed, std::size_t floor) {
    Tally tally(name);
    Disks begin(plan.journaled ? 2 : 1);
    const std::vector<std::byte> made = made_by_libhdf5(plan);
    begin[0].assign(made.begin(), made.end());
    Disk machine(begin, plan.journaled);
    ASSERT_EQ(machine.mounted, Status::ok);
    Workload workload(plan, seed);
    workload.run(machine.driver(), machine.operations);
    sweep_disks(
        begin, machine.operations, plan.journaled, tally,
        [&](std::size_t operations) { return workload.flushes_before(operations) + 1; },
        [&](const Disks& disks, Disk& left, std::size_t operations) {
            return left.mounted == Status::ok ? workload.judge(disks[0], left, operations) : std::string("no journal");
        });
    tally.report(floor);
}

}  // namespace

TEST(SymbolCuts, Links) { sweep("symbols_links", {}, 1, 1000); }

TEST(SymbolCuts, SmallNodes) { sweep("symbols_small_nodes", {2, 1}, 2, 1000); }

TEST(SymbolCuts, RootGroup) { sweep("symbols_root_group", {3, 2, true, 40}, 3, 1000); }

TEST(SymbolCuts, NodesOfMoreThanASector) { sweep("symbols_large_nodes", {16, 16, false, 104, 8192}, 4, 1000); }

TEST(SymbolCuts, Lowered) { sweep("symbols_lowered", {16, 4, false, 0, 4096, false, true}, 5, 500); }

TEST(SymbolCuts, Journal) { sweep("symbols_journal", {3, 2, false, 0, 4096, true}, 6, 1000); }
