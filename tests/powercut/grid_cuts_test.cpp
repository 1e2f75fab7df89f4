// A dataset with two unlimited dimensions grows in both, and the power fails at every point: on files, under a journal
// and on flash, also with chunks of which those at the edge are not filtered. Its chunk index is a version 2 B-tree
// that splits its nodes on the way, or, if libhdf5 has made the dataset, one of version 1; then it is made smaller at
// last, so that nodes are removed. After each cut the extent is the one of the last flush or the next one, every value
// that a flush covered is there, for libhdf5 as well, the file is sound, and the dataset goes on growing.
#include "chip_machine.hpp"
#include "cuts.hpp"
#include "disk_cuts.hpp"
#include "disk_machine.hpp"
#include "hdf5_image.hpp"
#include "sound.hpp"

#include <h5mote/filters/deflate.hpp>
#include <h5mote/filters/shuffle.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include <unistd.h>

namespace {

using namespace h5mote;
using namespace h5mote_test;

using Dims = std::array<std::uint64_t, 2>;

constexpr const Filter* kFilters[] = {&deflate_filter, &shuffle_filter};

/// What a flush covered, when so many operations had been done.
struct Covered {
    std::size_t operations = 0;
    bool exists = false;
    Dims dims{};
};

struct Plan {
    bool filtered = false;
    unsigned flushes = 12;
    std::size_t cache = 4096;
    /// Half the width of the nodes of a version 1 B-tree in a file that libhdf5 makes; 0: h5mote makes it.
    unsigned half_width = 0;
    /// Chunks of 2 by 3 elements, stored without filters at the edge of the extent.
    bool edges = false;
    std::uint64_t user_block = 0;

    bool is_old() const { return half_width != 0; }
};

/// What is found.
struct Grid {
    bool exists = false;
    Dims dims{};
    std::vector<std::int32_t> values;
};

std::int32_t value_at(std::uint64_t i, std::uint64_t j) { return static_cast<std::int32_t>(1 + i * 100 + j); }

Dims dims_after(unsigned flush) { return {1 + flush + flush / 3, 2 + flush + flush / 2}; }

Status write_box(Dataset& data, const Dims& start, const Dims& end) {
    const std::uint64_t count[] = {end[0] - start[0], end[1] - start[1]};
    if (count[0] == 0 || count[1] == 0) {
        return Status::ok;
    }
    std::vector<std::int32_t> values;
    for (std::uint64_t i = start[0]; i < end[0]; ++i) {
        for (std::uint64_t j = start[1]; j < end[1]; ++j) {
            values.push_back(value_at(i, j));
        }
    }
    return data.write(Selection::hyperslab({start.data(), 2}, count), datatype_of<std::int32_t>(),
                      as_bytes(Span<const std::int32_t>(values.data(), values.size())));
}

/// The file with an empty dataset that libhdf5 makes.
Image old_file(const Plan& plan) {
    const std::string name = "grid_cuts." + std::to_string(getpid()) + ".h5";
    {
        const Hdf5Id whole(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
        const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        const Hdf5Id create(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        const hsize_t ones[] = {1, 1}, zeros[] = {0, 0}, most[] = {H5S_UNLIMITED, H5S_UNLIMITED};
        H5Pset_istore_k(whole, plan.half_width);
        H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
        H5Pset_chunk(create, 2, ones);
        if (plan.filtered) {
            H5Pset_deflate(create, 6);
        }
        const Hdf5Id file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, whole, access), H5Fclose);
        const Hdf5Id space(H5Screate_simple(2, zeros, most), H5Sclose);
        const Hdf5Id data(H5Dcreate2(file, "d", H5T_STD_I32LE, space, H5P_DEFAULT, create, H5P_DEFAULT), H5Dclose);
        EXPECT_GE(data, 0);
    }
    return take_file(name);
}

/// A machine that runs for one session.
class Session {
public:
    Session(Driver& driver, const Plan& plan) : driver_(driver), plan_(plan) {
        access_.metadata_cache = plan.cache;
        access_.chunk_cache = 64;
    }

    Status create() {
        FileCreate whole;
        whole.user_block = plan_.user_block;
        auto made = File::open_or_create(library_, driver_, access_, whole);
        H5MOTE_TRY(made.status());
        file = static_cast<File&&>(*made);
        DatasetCreate create;
        create.chunk = {1, 1};
        if (plan_.edges) {
            create.chunk = {2, 3};
            create.unfiltered_edges = true;
        }
        if (plan_.filtered) {
            create.filters = {plan_.edges ? filters::shuffle : filters::deflate};
        }
        const Dims dims{0, 0};
        auto data = file.root().create_dataset("d", file_type_of<std::int32_t>(),
                                               Dataspace::simple({dims.data(), 2}, {kMost, 2}), create);
        H5MOTE_TRY(data.status());
        H5MOTE_TRY(data->close());
        return file.flush();
    }
    Status open() {
        auto opened = File::open(library_, driver_, access_);
        H5MOTE_TRY(opened.status());
        file = static_cast<File&&>(*opened);
        return Status::ok;
    }
    Status shrink(const Dims& to) {
        auto data = file.root().open_dataset("d");
        H5MOTE_TRY(data.status());
        H5MOTE_TRY(data->set_extent({to.data(), 2}));
        H5MOTE_TRY(data->close());
        return file.flush();
    }
    Status grow(const Dims& from, const Dims& to) {
        auto data = file.root().open_dataset("d");
        H5MOTE_TRY(data.status());
        H5MOTE_TRY(data->set_extent({to.data(), 2}));
        H5MOTE_TRY(write_box(*data, {from[0], 0}, to));
        H5MOTE_TRY(write_box(*data, {0, from[1]}, {from[0], to[1]}));
        H5MOTE_TRY(data->close());
        return file.flush();
    }
    /// Reads everything; what is wrong.
    std::string read(Grid& grid) {
        const Status status = open();
        if (status != Status::ok) {
            return std::string("not opened: ") + to_string(status) + "; ";
        }
        const Findings findings = findings_in(file);
        if (!findings.none()) {
            return "not sound: problem " + std::to_string(findings.last_kind) + " at " +
                   std::to_string(findings.last_address) + "; ";
        }
        auto data = file.root().open_dataset("d");
        grid.exists = data.status() == Status::ok;
        if (!grid.exists) {
            return "";
        }
        Dataspace space;
        EXPECT_EQ(data->dataspace(space), Status::ok);
        grid.dims = {space.dims()[0], space.dims()[1]};
        grid.values.resize(static_cast<std::size_t>(grid.dims[0] * grid.dims[1]));
        const Status read = data->read(Selection::all(), datatype_of<std::int32_t>(),
                                       {reinterpret_cast<std::byte*>(grid.values.data()), grid.values.size() * 4});
        return read == Status::ok ? "" : std::string("not read: ") + to_string(read) + "; ";
    }

    File file;

private:
    static constexpr std::uint64_t kMost[] = {kUnlimited, kUnlimited};
    Driver& driver_;
    const Plan& plan_;
    MallocAllocator heap_;
    NullPort port_;
    Library library_{heap_, port_, kFilters};
    FileAccess access_;
};

/// Makes the dataset, if it is not there, grows it, and unlinks it at the end. `operations` counts what the storage has
/// done.
template <typename Operations>
std::vector<Covered> play(Driver& driver, const Plan& plan, Operations operations) {
    std::vector<Covered> covered{{0, plan.is_old(), {}}};
    Session session(driver, plan);
    EXPECT_EQ(plan.is_old() ? session.open() : session.create(), Status::ok);
    covered.push_back({operations(), true, {0, 0}});
    for (unsigned i = 0; i < plan.flushes; ++i) {
        EXPECT_EQ(session.grow(covered.back().dims, dims_after(i)), Status::ok) << i;
        covered.push_back({operations(), true, dims_after(i)});
    }
    if (plan.is_old() || plan.edges) {
        for (const Dims& dims : {Dims{covered.back().dims[0], 3}, Dims{2, 3}, Dims{2, 1}}) {
            EXPECT_EQ(session.shrink(dims), Status::ok);
            covered.push_back({operations(), true, dims});
        }
    }
    EXPECT_EQ(session.file.root().unlink("d"), Status::ok);
    EXPECT_EQ(session.file.flush(), Status::ok);
    covered.push_back({operations(), false, {}});
    EXPECT_EQ(session.file.close(), Status::ok);
    return covered;
}

bool within(const Dims& dims, std::uint64_t i, std::uint64_t j) { return i < dims[0] && j < dims[1]; }

/// What is wrong with the values of a grid: those within `covered` or outside of `open` must be there, others may be.
std::string compare(const Grid& grid, const Dims& covered, const Dims& open) {
    for (std::uint64_t i = 0; grid.exists && i < grid.dims[0]; ++i) {
        for (std::uint64_t j = 0; j < grid.dims[1]; ++j) {
            const std::int32_t value = grid.values[static_cast<std::size_t>(i * grid.dims[1] + j)];
            const bool must = within(covered, i, j) || !within(open, i, j);
            if (value != value_at(i, j) && (must || value != 0)) {
                return "another value at " + std::to_string(i) + ", " + std::to_string(j) + "; ";
            }
        }
    }
    return "";
}

/// What is wrong with a grid that a cut between two flushes has left.
std::string compare(const Grid& grid, const Covered& least, const Covered& most) {
    const auto same = [&](const Covered& allowed) {
        return grid.exists == allowed.exists && (!grid.exists || grid.dims == allowed.dims);
    };
    return same(least) || same(most) ? compare(grid, least.dims, grid.dims) : "another extent; ";
}

/// Whether libhdf5 goes on with the file: writes all of a larger extent, which splits nodes, reads it, and makes it
/// smaller, which removes some. There it follows the links between nodes.
bool libhdf5_goes_on(const Image& image, const Dims& dims) {
    const Hdf5Id file = open_image({image.data(), image.size()}, H5F_ACC_RDWR);
    const Hdf5Id data(H5Dopen2(file, "d", H5P_DEFAULT), H5Dclose);
    const hsize_t larger[] = {dims[0] + 3, dims[1] + 2}, smaller[] = {2, 2};
    std::vector<std::int32_t> values;
    for (std::uint64_t i = 0; i < larger[0]; ++i) {
        for (std::uint64_t j = 0; j < larger[1]; ++j) {
            values.push_back(value_at(i, j));
        }
    }
    std::vector<std::int32_t> found(values.size());
    if (H5Dset_extent(data, larger) < 0 ||
        H5Dwrite(data, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0 ||
        H5Fflush(file, H5F_SCOPE_GLOBAL) < 0 ||
        H5Dread(data, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, found.data()) < 0 || found != values ||
        H5Dset_extent(data, smaller) < 0 || H5Fflush(file, H5F_SCOPE_GLOBAL) < 0) {
        return false;
    }
    std::int32_t left[4] = {};
    return H5Dread(data, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, left) >= 0 && left[0] == value_at(0, 0) &&
           left[1] == value_at(0, 1) && left[2] == value_at(1, 0) && left[3] == value_at(1, 1);
}

/// What libhdf5 finds. What is wrong.
std::string read_by_libhdf5(const Image& image, Grid& grid) {
    const Hdf5Id file = open_image({image.data(), image.size()});
    if (file < 0) {
        return "libhdf5 does not open the file; ";
    }
    const Hdf5Id data(H5Dopen2(file, "d", H5P_DEFAULT), H5Dclose);
    grid.exists = data >= 0;
    if (grid.exists) {
        const Hdf5Id space(H5Dget_space(data), H5Sclose);
        hsize_t dims[2] = {};
        H5Sget_simple_extent_dims(space, dims, nullptr);
        grid.dims = {dims[0], dims[1]};
        grid.values.resize(static_cast<std::size_t>(dims[0] * dims[1]));
        if (H5Dread(data, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, grid.values.data()) < 0) {
            return "libhdf5 does not read; ";
        }
    }
    return "";
}

/// What libhdf5 finds wrong.
std::string judge_by_libhdf5(const Plan& plan, const Image& image, const Covered& least, const Covered& most) {
    Grid grid;
    const std::string unread = read_by_libhdf5(image, grid);
    if (!unread.empty()) {
        return unread;
    }
    const std::string bad = compare(grid, least, most);
    if (bad.empty() && plan.is_old() && grid.exists && !libhdf5_goes_on(image, grid.dims)) {
        return "libhdf5 does not go on; ";
    }
    return bad.empty() ? "" : "libhdf5: " + bad;
}

/// What is wrong with what a cut left on `driver`, and with going on from there. `after`: flushes that were complete.
/// Before the first one there may be no file yet.
std::string judge(Driver& driver, const Plan& plan, const std::vector<Covered>& covered, std::size_t after) {
    const Covered& least = covered[after];
    const Covered& most = next_flush(covered, after);
    Grid grid;
    std::string bad;
    {
        Session session(driver, plan);
        bad = session.read(grid);
        bad += bad.empty() ? compare(grid, least, most) : "";
        if (!bad.empty() || !grid.exists) {
            return bad;
        }
        const Dims larger{grid.dims[0] + 2, grid.dims[1] + 1};
        Status status = session.grow(grid.dims, larger);
        status = status == Status::ok ? session.file.close() : status;
        if (status != Status::ok) {
            return std::string("does not go on: ") + to_string(status) + "; ";
        }
    }
    Session session(driver, plan);
    Grid last;
    bad = session.read(last);
    return bad.empty() ? compare(last, least.dims, grid.dims) : "afterwards: " + bad;
}

/// For sweep_disks() and sweep_chip(). Before the first flush only a file that was there already is judged.
std::size_t number_of(const Plan& plan, const std::vector<Covered>& covered, std::size_t operations) {
    const std::size_t after = flushes_before(covered, operations);
    return after == 0 && !plan.is_old() ? 0 : after + 1;
}

void cut_disk(const char* name, const Plan& plan, bool journaled, std::size_t floor) {
    Tally tally(name);
    Disks empty(journaled ? 2 : 1);
    if (plan.is_old()) {
        empty[0] = old_file(plan);
    }
    Disk machine(empty, journaled);
    ASSERT_EQ(machine.mounted, Status::ok);
    const auto covered = play(machine.driver(), plan, [&] { return machine.operations.size(); });
    const auto number = [&](std::size_t operations) { return number_of(plan, covered, operations); };
    sweep_disks(empty, machine.operations, journaled, tally, number,
                [&](const Disks& disks, Disk& left, std::size_t operations) {
                    const std::size_t after = flushes_before(covered, operations);
                    const Covered& most = next_flush(covered, after);
                    return (journaled ? "" : judge_by_libhdf5(plan, disks[0], covered[after], most)) +
                           (left.mounted == Status::ok ? judge(left.driver(), plan, covered, after) : "no journal");
                });
    tally.report(floor);
}

void cut_chip(const char* name, const Plan& plan, std::size_t floor) {
    Tally tally(name);
    FlashChipOptions options;
    options.geometry = {96, 4096, 256, 4, 0xff};
    options.changes = 64;
    std::vector<Covered> covered;
    sweep_chip(
        options, tally,
        [&](FlashMachine& machine) {
            if (plan.is_old()) {
                ASSERT_EQ(machine.mount(1), Status::ok);
                const Image image = old_file(plan);
                ASSERT_EQ(machine.driver().write(Usage::raw_data, 0, {image.data(), image.size()}), Status::ok);
                ASSERT_EQ(machine.driver().sync(), Status::ok);
            }
        },
        [&](Driver& driver, auto operations) { covered = play(driver, plan, operations); },
        [&](std::size_t operations) { return number_of(plan, covered, operations); },
        [&](Driver& driver, std::size_t operations) {
            return judge(driver, plan, covered, flushes_before(covered, operations));
        });
    tally.report(floor);
}

}  // namespace

TEST(GridCut, Plain) { cut_disk("grid-plain", {false, 12, 4096}, false, 15000); }
TEST(GridCut, Compressed) { cut_disk("grid-compressed", {true, 10, 4096}, false, 13000); }
TEST(GridCut, LargeCache) { cut_disk("grid-large-cache", {false, 12, 32768}, false, 9000); }
TEST(GridCut, Journal) { cut_disk("grid-journal", {false, 10, 4096}, true, 16000); }
TEST(GridCut, JournalCompressed) { cut_disk("grid-journal-compressed", {true, 10, 4096}, true, 20000); }
TEST(GridCut, Flash) { cut_chip("grid-flash", {false, 6, 4096}, 1800); }
TEST(GridCut, FlashCompressed) { cut_chip("grid-flash-compressed", {true, 5, 4096}, 1480); }
TEST(GridCut, Edges) { cut_disk("grid-edges", {true, 8, 4096, 0, true}, false, 1000); }
TEST(GridCut, EdgesJournal) { cut_disk("grid-edges-journal", {true, 6, 4096, 0, true}, true, 250); }
TEST(GridCut, EdgesFlash) { cut_chip("grid-edges-flash", {true, 4, 4096, 0, true}, 500); }
TEST(GridCut, UserBlock) { cut_disk("grid-user-block", {false, 4, 4096, 0, false, 1024}, false, 500); }
TEST(GridCut, OldPlain) { cut_disk("grid-old-plain", {false, 6, 4096, 2}, false, 14000); }
TEST(GridCut, OldCompressed) { cut_disk("grid-old-compressed", {true, 6, 4096, 2}, false, 12000); }
TEST(GridCut, OldLargeCache) { cut_disk("grid-old-large-cache", {false, 8, 32768, 3}, false, 8000); }
TEST(GridCut, OldWideNodes) { cut_disk("grid-old-wide-nodes", {false, 6, 4096, 32}, false, 1200); }
TEST(GridCut, OldJournal) { cut_disk("grid-old-journal", {false, 4, 4096, 2}, true, 1900); }
TEST(GridCut, OldFlash) { cut_chip("grid-old-flash", {true, 5, 4096, 2}, 10000); }
