// Files that libhdf5 makes, held in memory, whose storage fails at any call that a test chooses.
#pragma once

#include "forwarding_driver.hpp"
#include "hdf5_image.hpp"
#include "sweep.hpp"
#include "test.hpp"
#include "test_allocators.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/opener.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace h5mote_test {

using namespace h5mote;
using Image = std::vector<std::byte>;

/// Counts the calls of all drivers that share it and fails the k-th.
struct Faults {
    void arm(std::uint64_t which) {
        at = which;
        calls = 0;
    }
    bool fails() { return ++calls == at; }

    std::uint64_t at = 0;
    std::uint64_t calls = 0;
};

/// A read-only file in memory whose calls can fail.
class Stored final : public ForwardingDriver {
public:
    Stored(const Image& image, Faults& faults)
        : ForwardingDriver(memory_), memory_(MemoryDriver::reading({image.data(), image.size()})), faults_(faults) {}

    Status read(Usage usage, std::uint64_t address, Bytes to) noexcept override {
        return faults_.fails() ? Status::io_error : ForwardingDriver::read(usage, address, to);
    }
    Status end_of_file(std::uint64_t& size) noexcept override {
        return faults_.fails() ? Status::io_error : ForwardingDriver::end_of_file(size);
    }

private:
    MemoryDriver memory_;
    Faults& faults_;
};

using Images = std::map<std::string, Image, std::less<>>;

/// Opens other files by name (external, virtual and linked files) from a map of images.
class Shelf final : public DriverOpener {
public:
    Shelf(const Images& images, Faults& faults) : images_(images), faults_(faults) {}

    Status open(const Driver& /*parent*/, std::string_view name, OpenPurpose /*purpose*/,
                Driver*& driver) noexcept override {
        // An empty name and "." stand for the file itself, which the library must not ask the opener for.
        EXPECT_TRUE(!name.empty() && name != ".");
        if (faults_.fails()) {
            return Status::io_error;
        }
        const auto found = images_.find(name);
        if (found == images_.end()) {
            return Status::not_found;
        }
        auto& file = files_[found->first];
        if (file.uses++ == 0) {
            file.driver = std::make_unique<Stored>(found->second, faults_);
        }
        driver = file.driver.get();
        return Status::ok;
    }
    void close(Driver& driver) noexcept override {
        for (auto& [name, file] : files_) {
            file.uses -= file.driver.get() == &driver ? 1 : 0;
        }
    }
    int open_files() const {
        return std::accumulate(files_.begin(), files_.end(), 0,
                               [](int sum, const auto& each) { return sum + each.second.uses; });
    }

private:
    struct Use {
        std::unique_ptr<Stored> driver;
        int uses = 0;
    };
    const Images& images_;
    Faults& faults_;
    std::map<std::string, Use, std::less<>> files_;
};

inline hid_t simple(std::vector<hsize_t> size, std::vector<hsize_t> most = {}) {
    return H5Screate_simple(static_cast<int>(size.size()), size.data(), most.empty() ? nullptr : most.data());
}

/// Returns the bytes of a file after closing: an open file of the newest format is marked as open for writing.
template <typename Fill>
Image made(Fill fill, hid_t creation = H5P_DEFAULT, H5F_libver_t version = H5F_LIBVER_EARLIEST) {
    const std::string name = ::testing::TempDir() + "made_by_libhdf5.h5";
    {
        const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        EXPECT_GE(H5Pset_libver_bounds(access, version, H5F_LIBVER_LATEST), 0);
        const Hdf5Id file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, creation, access), H5Fclose);
        EXPECT_GE(file, 0);
        fill(file);
    }
    return take_file(name);
}

/// One file of several, an opener for the others, and an allocator; all of them fail on demand.
struct FaultyFile {
    FaultyFile(const Images& images, const char* name) : main(images.at(name), faults), shelf(images, faults) {}

    FileAccess access() {
        FileAccess access;
        access.read_only = true;
        access.opener = &shelf;
        return access;
    }
    /// Runs `look(library, *this, seen)`, which fills `seen` and returns a Status: with each allocation failing in
    /// turn, alone and together with all that follow, then with each call of the storage failing. A run either is
    /// refused with the status of the fault or gives what it gives without one. Returns the number of refused runs,
    /// extrapolated if only some points are tried.
    template <typename Seen, typename Look>
    unsigned sweep(Look look) {
        unsigned refused = 0;
        Seen expected;
        const auto run = [&](Seen& seen) {
            Library library(failing, port);
            library.set_free_list_limits({0, 0});  // so that every allocation can fail
            return look(library, *this, seen);
        };
        const Status outcome = run(expected);
        const auto judge = [&](Status status, Status refusal, const Seen& seen, std::uint64_t k) {
            EXPECT_TRUE(status == outcome ? seen == expected : status == refusal) << k << " " << to_string(status);
            refused += status == outcome ? 0 : 1;
        };
        for (std::uint64_t k = 1, failures = 1; failures != 0; k += sweep_step()) {
            failures = 0;
            for (const bool persistent : {false, true}) {
                Seen seen;
                failing.arm(k, persistent);
                const Status status = run(seen);
                failures += failing.failures();
                failing.disarm();
                judge(status, Status::out_of_memory, seen, k);
            }
        }
        for (std::uint64_t k = 1;; k += sweep_step()) {
            Seen seen;
            faults.arm(k);
            const Status status = run(seen);
            if (faults.calls < k) {
                break;
            }
            faults.arm(0);
            judge(status, Status::io_error, seen, k);
        }
        faults.arm(0);
        EXPECT_EQ(tracking.blocks(), 0U);
        EXPECT_EQ(tracking.errors(), 0U);
        EXPECT_EQ(shelf.open_files(), 0);
        return refused * static_cast<unsigned>(sweep_step());
    }

    Faults faults;
    MallocAllocator heap;
    TrackingAllocator tracking{heap};
    FailingAllocator failing{tracking};
    NullPort port;
    Stored main;
    Shelf shelf;
};

}  // namespace h5mote_test
