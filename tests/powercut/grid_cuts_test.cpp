// A dataset with two unlimited dimensions grows in both, and the power fails at every point: on files, under a journal
// and on flash. Its chunk index is a version 2 B-tree that splits its nodes on the way. After each cut the extent is
// the one of the last flush or the next one, every value that a flush covered is there, for libhdf5 as well, the file
// is sound, and the dataset goes on growing.
#include "cuts.hpp"
#include "disk_cuts.hpp"
#include "flash_machine.hpp"
#include "hdf5_image.hpp"
#include "sound.hpp"

#include <h5mote/filters/deflate.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/journal.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

using Dims = std::array<std::uint64_t, 2>;

constexpr const Filter* kFilters[] = {&deflate_filter};

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

/// A machine that runs for one session.
class Session {
public:
    Session(Driver& driver, const Plan& plan) : driver_(driver), plan_(plan) {
        access_.metadata_cache = plan.cache;
        access_.chunk_cache = 64;
    }

    Status create() {
        auto made = File::open_or_create(library_, driver_, access_);
        H5MOTE_TRY(made.status());
        file = static_cast<File&&>(*made);
        DatasetCreate create;
        create.chunk = {1, 1};
        if (plan_.filtered) {
            create.filters = {filters::deflate};
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
        if (!findings_in(file).none()) {
            return "not sound; ";
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

/// Makes the dataset, grows it, and unlinks it at the end. `operations` counts what the storage has done.
template <typename Operations>
std::vector<Covered> play(Driver& driver, const Plan& plan, Operations operations) {
    std::vector<Covered> covered{{0, false, {}}};
    Session session(driver, plan);
    EXPECT_EQ(session.create(), Status::ok);
    covered.push_back({operations(), true, {0, 0}});
    for (unsigned i = 0; i < plan.flushes; ++i) {
        EXPECT_EQ(session.grow(covered.back().dims, dims_after(i)), Status::ok) << i;
        covered.push_back({operations(), true, dims_after(i)});
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

/// What libhdf5 finds wrong.
std::string judge_by_libhdf5(const Image& image, const Covered& least, const Covered& most) {
    const Hdf5Id file = open_image({image.data(), image.size()});
    if (file < 0) {
        return "libhdf5 does not open the file; ";
    }
    Grid grid;
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
    const std::string bad = compare(grid, least, most);
    return bad.empty() ? "" : "libhdf5: " + bad;
}

/// What is wrong with what a cut left on `driver`, and with going on from there. `after`: flushes that were complete.
/// Before the first one there may be no file yet.
std::string judge(Driver& driver, const Plan& plan, const std::vector<Covered>& covered, std::size_t after) {
    const Covered& least = covered[after];
    const Covered& most = covered[after + 1 < covered.size() ? after + 1 : after];
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

std::size_t flushes_before(const std::vector<Covered>& covered, std::size_t operations) {
    std::size_t after = 0;
    while (after + 1 < covered.size() && covered[after + 1].operations <= operations) {
        ++after;
    }
    return after;
}

/// A machine with one disk, or with two and a journal on the second.
class Disk {
public:
    Disk(const Disks& begin, bool journaled)
        : home_(heap_), log_(heap_), journal_(recorders_[0], recorders_[1], memory_) {
        EXPECT_EQ(home_.assign({begin[0].data(), begin[0].size()}), Status::ok);
        if (journaled) {
            EXPECT_EQ(log_.assign({begin[1].data(), begin[1].size()}), Status::ok);
            JournalOptions options;
            options.checkpoint = 8192;
            options.limit = 1U << 20;
            mounted = journal_.open(options);
        }
        driver_ = journaled ? static_cast<Driver*>(&journal_) : &recorders_[0];
    }
    Driver& driver() { return *driver_; }

    std::vector<DiskOperation> operations;
    Status mounted = Status::ok;

private:
    MallocAllocator heap_;
    GrowingMemoryDriver home_;
    GrowingMemoryDriver log_;
    Sectored sectored_[2] = {{home_, 512}, {log_, 512}};
    DiskRecorder recorders_[2] = {{sectored_[0], 0, operations}, {sectored_[1], 1, operations}};
    alignas(8) std::byte memory_[JournalDriver::required_memory()];
    JournalDriver journal_;
    Driver* driver_ = nullptr;
};

void cut_disk(const char* name, const Plan& plan, bool journaled, std::size_t floor) {
    Tally tally(name);
    const Disks empty(journaled ? 2 : 1);
    Disk machine(empty, journaled);
    ASSERT_EQ(machine.mounted, Status::ok);
    const auto covered = play(machine.driver(), plan, [&] { return machine.operations.size(); });
    DiskStates states(empty, machine.operations,
                      [&](const Disks& disks, std::size_t operations, const char* what, std::size_t number) {
                          const std::size_t after = flushes_before(covered, operations);
                          std::uint64_t hash = after + 1;
                          for (const Image& image : disks) {
                              hash = hash_of({image.data(), image.size()}, hash);
                          }
                          if (after == 0 || !tally.is_new(hash)) {
                              return;
                          }
                          tally.cut(true);
                          const Covered& most = covered[after + 1 < covered.size() ? after + 1 : after];
                          std::string bad = journaled ? "" : judge_by_libhdf5(disks[0], covered[after], most);
                          Disk left(disks, journaled);
                          bad += left.mounted == Status::ok ? judge(left.driver(), plan, covered, after) : "no journal";
                          if (!bad.empty()) {
                              tally.lost("cut after " + std::to_string(operations) + ", " + what + " " +
                                         std::to_string(number) + ": " + bad);
                          }
                      });
    states.random_subsets = 40;
    states.enough = [&] { return tally.enough(); };
    states.run();
    tally.report(floor);
}

void cut_chip(const char* name, const Plan& plan, std::size_t floor) {
    Tally tally(name);
    FlashChipOptions options;
    options.geometry = {96, 4096, 256, 4, 0xff};
    options.changes = 64;
    FlashMachine base(options);
    FlashMachine trial(options);
    base.chip.scramble(7);
    ASSERT_EQ(base.format(), Status::ok);
    FlashMachine before(options);
    before.chip.copy_from(base.chip);
    base.recorder.operations.clear();
    const auto covered = play(base.driver(), plan, [&] { return base.recorder.operations.size(); });
    EXPECT_EQ(base.violation(), "");
    const std::vector<FlashOperation> operations = base.recorder.operations;
    base.chip.copy_from(before.chip);
    cut_operations(
        base, trial, operations, [&] { return tally.enough(); },
        [&](std::size_t done, FlashCut cut, const char* what, std::size_t number) {
            const std::size_t after = flushes_before(covered, done);
            const std::uint64_t hash = hash_of(trial, after + 1, done, cut, number);
            if (after == 0 || !tally.is_new(hash)) {
                return;
            }
            tally.cut(true);
            const Status status = trial.mount(hash);
            const std::string bad = status == Status::ok ? judge(trial.driver(), plan, covered, after)
                                                         : std::string("mount: ") + to_string(status);
            if (!bad.empty()) {
                tally.lost("cut in operation " + std::to_string(done) + ", " + what + " " + std::to_string(number) +
                           ": " + bad);
            }
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
