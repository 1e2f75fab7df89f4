// The power fails at every point while trees are copied into a file: each copy that a flush covered is there and whole,
// any other is whole or not there at all, and nothing else has changed. Libhdf5 finds the same. What a cut has left is
// found by reclaim(), and copying goes on.
#include "chip_machine.hpp"
#include "copied_tree.hpp"
#include "cuts.hpp"
#include "disk_cuts.hpp"
#include "disk_machine.hpp"
#include "hdf5_image.hpp"
#include "sound.hpp"

#include <h5mote/copy.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr unsigned kGroups = 4;

struct Plan {
    FormatVersion low = FormatVersion::standard;
    bool whole = false;  // copy_file()
    unsigned copies = 3;
    bool journaled = false;
    bool circle = false;  // the tree has only groups, and links of it lead to itself and once more to one of them
};

// How many operations the storage had seen, and how many copies there were, after a call.
struct Step {
    std::size_t operations;
    bool flushed;
    unsigned copies;
};

class CopyWorkload {
public:
    explicit CopyWorkload(const Plan& plan) : plan_(plan) {}

    template <typename Count>
    void run(Driver& driver, const Count& operations) {
        MallocAllocator allocator;
        NullPort port;
        Library library(allocator, port, kCopiedFilters, formats::all);
        GrowingMemoryDriver storage(allocator);
        Result<File> source = File::create(library, storage, access());
        Result<File> file = File::create(library, driver, access());
        ASSERT_EQ(source.status(), Status::ok);
        ASSERT_EQ(file.status(), Status::ok);
        Group from = source->root();
        ASSERT_EQ(make_source(from), Status::ok);
        ASSERT_EQ(plan_.whole ? Status::ok : file->root().create_soft_link("stays", "nowhere"), Status::ok);
        ASSERT_EQ(file->flush(), Status::ok);
        steps_.push_back({operations(), true, 0});
        for (unsigned i = 0; i < (plan_.whole ? 1 : plan_.copies); ++i) {
            ASSERT_EQ(copy(*source, *file, i), Status::ok);
            steps_.push_back({operations(), false, i + 1});
            if (i != 1) {
                ASSERT_EQ(file->flush(), Status::ok);
                steps_.push_back({operations(), true, i + 1});
            }
        }
        ASSERT_EQ(file->close(), Status::ok);
        steps_.push_back({operations(), true, steps_.back().copies});
    }

    // What is wrong with the file that a cut after so many operations has left.
    std::string judge(Driver& left, std::size_t operations) const {
        unsigned least = 0;
        unsigned most = 0;
        allowed(operations, least, most);
        MallocAllocator allocator;
        NullPort port;
        Library library(allocator, port, kCopiedFilters, formats::all);
        Result<File> file = File::open(library, left, access());
        if (!file) {
            return std::string("not opened: ") + to_string(file.status()) + "; ";
        }
        std::string bad = judge_file(library, *file, least, most);
        if (!bad.empty()) {
            return bad;
        }
        const Status status = file->reclaim();
        if (status != Status::ok) {
            return std::string("not reclaimed: ") + to_string(status) + "; ";
        }
        bad = judge_file(library, *file, least, most);
        if (bad.empty() && !plan_.whole) {
            bad = go_on(library, *file);
        }
        return bad.empty() && file->close() != Status::ok ? "not closed; " : bad;
    }
    // Libhdf5 reads every object of the file, which it gets as the cut has left it.
    std::string judge_by_libhdf5(const Image& image, std::size_t operations) const {
        unsigned least = 0;
        unsigned most = 0;
        allowed(operations, least, most);
        const Hdf5Id file = open_image({image.data(), image.size()});
        unsigned objects = 0;
        if (file < 0 || H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, &count, &objects, H5O_INFO_BASIC) < 0) {
            return "libhdf5 does not read; ";
        }
        constexpr unsigned kObjects = 7;  // of a tree
        const unsigned each = plan_.circle ? kGroups + 1 : plan_.whole ? kObjects - 1 : kObjects;
        return objects % each == 1 && objects / each >= least && objects / each <= most
                   ? ""
                   : "libhdf5 finds other objects; ";
    }
    // A number that changes when a flush was complete; 0 before the first one.
    std::size_t number(std::size_t operations) const { return count_flushes(steps_, operations); }

private:
    FileAccess access() const {
        FileAccess result;
        result.metadata_cache = 16384;
        result.chunk_cache = 2048;
        result.low = plan_.low;
        return result;
    }
    Status make_source(Group& root) const {
        if (plan_.whole) {
            return make_copied_tree(root);
        }
        Result<Group> tree = root.create_group("tree");
        H5MOTE_TRY(tree.status());
        if (!plan_.circle) {
            return make_copied_tree(*tree);
        }
        H5MOTE_TRY(tree->create_hard_link("a link to the tree", *tree));
        for (unsigned i = 0; i < kGroups; ++i) {
            H5MOTE_TRY(tree->create_group("group" + std::to_string(i)).status());
        }
        return tree->create_hard_link("the last link", *tree->open_group("group0"));
    }
    Status copy(File& source, File& file, unsigned i) const {
        if (plan_.whole) {
            return copy_file(source, file);
        }
        CopyOptions options;
        options.expand_references = true;
        Group from = source.root();
        Group to = file.root();
        return copy_object(from, "tree", to, "copy" + std::to_string(i), options);
    }
    static herr_t count(hid_t object, const char* name, const H5O_info_t* info, void* data) {
        *static_cast<unsigned*>(data) += 1;
        const Hdf5Id opened(H5Oopen(object, name, H5P_DEFAULT), H5Oclose);
        if (opened < 0 || info->type != H5O_TYPE_DATASET) {
            return opened < 0 ? -1 : 0;
        }
        const Hdf5Id type(H5Dget_type(opened), H5Tclose);
        const Hdf5Id space(H5Dget_space(opened), H5Sclose);
        const Hdf5Id memory(H5Tget_native_type(type, H5T_DIR_DEFAULT), H5Tclose);
        std::vector<std::byte> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)) *
                                      H5Tget_size(memory));
        const herr_t read = H5Dread(opened, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
        return read < 0 ? read : H5Dvlen_reclaim(memory, space, H5P_DEFAULT, values.data());
    }

    void allowed(std::size_t operations, unsigned& least, unsigned& most) const {
        for (const Step& step : steps_) {
            least = step.flushed && step.operations <= operations ? step.copies : least;
            most = step.copies;
            if (step.operations > operations && step.flushed) {
                break;
            }
        }
    }
    std::string judge_file(Library& library, File& file, unsigned least, unsigned most) const {
        const Findings findings = findings_in(file);
        if (!findings.none()) {
            return "not sound: " + std::to_string(findings.last_kind) + "; ";
        }
        Group root = file.root();
        GroupInfo info;
        if (root.group_info(info) != Status::ok) {
            return "no root group; ";
        }
        if (plan_.whole) {
            return info.links == 0 && least == 0 ? "" : judge_copied_tree(library, root, true);
        }
        Link link;
        if (info.links < least + 1 || info.links > most + 1 || root.find_link("stays", link) != Status::ok) {
            return "other links; ";
        }
        for (unsigned i = 0; i + 1 < info.links; ++i) {
            Result<Group> tree = root.open_group("copy" + std::to_string(i));
            const std::string bad = tree ? judge_copy(library, *tree) : "no copy; ";
            if (!bad.empty()) {
                return bad;
            }
        }
        return "";
    }
    std::string judge_copy(Library& library, Group& tree) const {
        if (!plan_.circle) {
            return judge_copied_tree(library, tree, true);
        }
        std::uint32_t links = 0;
        return tree.link_count(links) == Status::ok && links == kGroups + 2 ? "" : "links; ";
    }
    std::string go_on(Library& library, File& file) const {
        MallocAllocator allocator;
        GrowingMemoryDriver storage(allocator);
        Result<File> source = File::create(library, storage, access());
        Group from = source->root();
        if (!source || make_source(from) != Status::ok || copy(*source, file, 100) != Status::ok ||
            file.flush() != Status::ok || !findings_in(file).none()) {
            return "does not go on; ";
        }
        Result<Group> tree = file.root().open_group("copy100");
        return tree ? judge_copy(library, *tree) : "no new copy; ";
    }

    const Plan plan_;
    std::vector<Step> steps_;
};

void sweep(const char* name, const Plan& plan, std::size_t floor) {
    Tally tally(name);
    const Disks begin(plan.journaled ? 2 : 1);
    Disk machine(begin, plan.journaled);
    ASSERT_EQ(machine.mounted, Status::ok);
    CopyWorkload workload(plan);
    workload.run(machine.driver(), [&] { return machine.operations.size(); });
    sweep_disks(
        begin, machine.operations, plan.journaled, tally,
        [&](std::size_t operations) { return workload.number(operations); },
        [&](const Disks& disks, Disk& left, std::size_t operations) {
            if (left.mounted != Status::ok) {
                return std::string("no journal");
            }
            const std::string bad = plan.journaled ? "" : workload.judge_by_libhdf5(disks[0], operations);
            return bad.empty() ? workload.judge(left.driver(), operations) : bad;
        });
    tally.report(floor);
}

}  // namespace

TEST(CopyCuts, Trees) { sweep("copies_trees", {}, 1000); }

TEST(CopyCuts, OldestVersions) { sweep("copies_oldest", {FormatVersion::earliest}, 1000); }

TEST(CopyCuts, WholeFile) { sweep("copies_whole_file", {FormatVersion::standard, true}, 300); }

TEST(CopyCuts, Circle) { sweep("copies_circle", {FormatVersion::standard, false, 3, false, true}, 150); }

TEST(CopyCuts, Journal) { sweep("copies_journal", {FormatVersion::standard, false, 3, true}, 300); }

TEST(CopyCuts, Flash) {
    FlashChipOptions options;
    options.geometry.blocks = 96;
    Tally tally("copies_flash");
    CopyWorkload workload(Plan{});
    sweep_chip(
        options, tally, [](FlashMachine& /*blank*/) {},
        [&](Driver& driver, auto operations) { workload.run(driver, operations); },
        [&](std::size_t operations) { return workload.number(operations); },
        [&](Driver& driver, std::size_t operations) { return workload.judge(driver, operations); });
    tally.report(300);
}
