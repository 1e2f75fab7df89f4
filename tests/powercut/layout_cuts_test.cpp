// Datasets in external files and virtual datasets are made and deleted, and the power fails at every point: on files,
// under a journal and on flash. After each cut they are there or not, as the last flush or the next one has it, with
// all names and mappings, for libhdf5 as well; the file is sound, and the work goes on.
#include "chip_machine.hpp"
#include "cuts.hpp"
#include "disk_cuts.hpp"
#include "disk_machine.hpp"
#include "hdf5_image.hpp"
#include "sound.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr std::array<std::int32_t, 6> kValues{11, 12, 13, 14, 15, 16};
constexpr NewExternalFile kFiles[] = {{"the first file with raw data", 0, 12}, {"another", 8, 12}};

/// What a flush covered, when so many operations had been done.
struct Covered {
    std::size_t operations = 0;
    bool file = false;
    bool datasets = false;
};

/// A machine that runs for one session.
class Session {
public:
    explicit Session(Driver& driver) : driver_(driver) { access_.metadata_cache = 4096; }

    Status begin() {
        auto made = File::open_or_create(library_, driver_, access_);
        H5MOTE_TRY(made.status());
        file = static_cast<File&&>(*made);
        if (!file.root().exists("s")) {
            auto source = file.root().create_dataset("s", file_type_of<std::int32_t>(), Dataspace::simple({6}));
            H5MOTE_TRY(source.status());
            H5MOTE_TRY(source->write(Selection::all(), datatype_of<std::int32_t>(),
                                     as_bytes(Span<const std::int32_t>(kValues.data(), kValues.size()))));
            H5MOTE_TRY(source->close());
        }
        return file.flush();
    }
    Status make() {
        DatasetCreate external;
        external.external = kFiles;
        H5MOTE_TRY(
            file.root().create_dataset("e", file_type_of<std::int32_t>(), Dataspace::simple({6}), external).status());
        const Dataspace six = Dataspace::simple({6});
        const auto high = Selection::hyperslab({3}, {3});
        const auto low = Selection::hyperslab({0}, {3});
        const NewMapping mappings[] = {{".", "s", high, &six, low}, {".", "s", low, &six, high}};
        DatasetCreate mapped;
        mapped.mappings = mappings;
        H5MOTE_TRY(file.root().create_dataset("v", file_type_of<std::int32_t>(), six, mapped).status());
        return file.flush();
    }
    Status remove() {
        H5MOTE_TRY(file.root().unlink("e"));
        H5MOTE_TRY(file.root().unlink("v"));
        return file.flush();
    }
    /// What is wrong with the file.
    std::string look(bool& external, bool& mapped) {
        auto opened = File::open(library_, driver_, access_);
        if (!opened) {
            return std::string("not opened: ") + to_string(opened.status()) + "; ";
        }
        file = static_cast<File&&>(*opened);
        const Findings findings = findings_in(file);
        if (!findings.none()) {
            return "not sound: problem " + std::to_string(findings.last_kind) + " at " +
                   std::to_string(findings.last_address) + "; ";
        }
        external = file.root().exists("e");
        mapped = file.root().exists("v");
        return (external ? look_at_files() : "") + (mapped ? look_at_values() : "");
    }

    File file;

private:
    std::string look_at_files() {
        auto data = file.root().open_dataset("e");
        for (std::size_t i = 0; i < std::size(kFiles); ++i) {
            ExternalFile info;
            char name[64];
            if (!data || data->external_file(i, info, name) != Status::ok ||
                std::string_view(name, info.name_length) != kFiles[i].name || info.offset != kFiles[i].offset) {
                return "another external file; ";
            }
        }
        return "";
    }
    std::string look_at_values() {
        auto data = file.root().open_dataset("v");
        std::array<std::int32_t, 6> values{};
        if (!data || data->read(Selection::all(), datatype_of<std::int32_t>(),
                                {reinterpret_cast<std::byte*>(values.data()), sizeof values}) != Status::ok) {
            return "the virtual dataset is not read; ";
        }
        return values[0] == kValues[3] && values[5] == kValues[2] ? "" : "another virtual value; ";
    }

    Driver& driver_;
    MallocAllocator heap_;
    NullPort port_;
    Library library_{heap_, port_, {}, formats::all};
    FileAccess access_;
};

template <typename Operations>
std::vector<Covered> play(Driver& driver, Operations operations) {
    std::vector<Covered> covered{{0, false, false}};
    Session session(driver);
    EXPECT_EQ(session.begin(), Status::ok);
    covered.push_back({operations(), true, false});
    for (unsigned i = 0; i < 12; ++i) {
        EXPECT_EQ(session.make(), Status::ok) << i;
        covered.push_back({operations(), true, true});
        EXPECT_EQ(session.remove(), Status::ok) << i;
        covered.push_back({operations(), true, false});
    }
    EXPECT_EQ(session.file.close(), Status::ok);
    return covered;
}

/// What libhdf5 finds wrong.
std::string judge_by_libhdf5(const Image& image) {
    const Hdf5Id file = open_image({image.data(), image.size()});
    if (file < 0) {
        return "libhdf5 does not open the file; ";
    }
    if (H5Lexists(file, "e", H5P_DEFAULT) > 0) {
        const Hdf5Id data(H5Dopen2(file, "e", H5P_DEFAULT), H5Dclose);
        const Hdf5Id list(H5Dget_create_plist(data), H5Pclose);
        char name[64] = {};
        if (H5Pget_external_count(list) != 2 || H5Pget_external(list, 1, sizeof name, name, nullptr, nullptr) < 0 ||
            std::string_view(name) != kFiles[1].name) {
            return "libhdf5 finds other external files; ";
        }
    }
    if (H5Lexists(file, "v", H5P_DEFAULT) > 0) {
        const Hdf5Id data(H5Dopen2(file, "v", H5P_DEFAULT), H5Dclose);
        const Hdf5Id list(H5Dget_create_plist(data), H5Pclose);
        std::size_t count = 0;
        if (H5Pget_virtual_count(list, &count) < 0 || count != 2) {
            return "libhdf5 finds other mappings; ";
        }
    }
    return "";
}

std::string judge(Driver& driver, const Covered& least, const Covered& most) {
    {
        Session session(driver);
        bool external = false;
        bool mapped = false;
        std::string bad = session.look(external, mapped);
        if (bad.empty() && least.datasets == most.datasets && (external != least.datasets || mapped != external)) {
            bad = "datasets are missing, or there although they were deleted; ";
        }
        if (!bad.empty()) {
            return bad;
        }
        Group root = session.file.root();
        for (const char* name : {"e", "v"}) {
            if (root.exists(name) && root.unlink(name) != Status::ok) {
                return std::string("not deleted: ") + name + "; ";
            }
        }
        root.close();
        if (session.make() != Status::ok || session.file.close() != Status::ok) {
            return "does not go on; ";
        }
    }
    Session session(driver);
    bool external = false;
    bool mapped = false;
    const std::string bad = session.look(external, mapped);
    return bad.empty() && !(external && mapped) ? "what was made afterwards is missing; " : bad;
}

void cut_disk(const char* name, bool journaled, std::size_t floor) {
    Tally tally(name);
    const Disks empty(journaled ? 2 : 1);
    Disk machine(empty, journaled);
    ASSERT_EQ(machine.mounted, Status::ok);
    const auto covered = play(machine.driver(), [&] { return machine.operations.size(); });
    sweep_disks(
        empty, machine.operations, journaled, tally,
        [&](std::size_t operations) { return flushes_before(covered, operations); },
        [&](const Disks& disks, Disk& left, std::size_t operations) {
            const std::size_t after = flushes_before(covered, operations);
            return (journaled ? "" : judge_by_libhdf5(disks[0])) +
                   (left.mounted == Status::ok ? judge(left.driver(), covered[after], next_flush(covered, after))
                                               : "no journal");
        });
    tally.report(floor);
}

void cut_chip(const char* name, std::size_t floor) {
    Tally tally(name);
    FlashChipOptions options;
    options.geometry = {96, 4096, 256, 4, 0xff};
    options.changes = 64;
    std::vector<Covered> covered;
    sweep_chip(
        options, tally, [](FlashMachine& /*blank*/) {},
        [&](Driver& driver, auto operations) { covered = play(driver, operations); },
        [&](std::size_t operations) { return flushes_before(covered, operations); },
        [&](Driver& driver, std::size_t operations) {
            const std::size_t after = flushes_before(covered, operations);
            return judge(driver, covered[after], next_flush(covered, after));
        });
    tally.report(floor);
}

}  // namespace

TEST(LayoutCut, Plain) { cut_disk("layouts-plain", false, 120); }
TEST(LayoutCut, Journal) { cut_disk("layouts-journal", true, 180); }
TEST(LayoutCut, Flash) { cut_chip("layouts-flash", 800); }
