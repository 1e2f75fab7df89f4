// A file in memory that h5mote and libhdf5 open in turns.
#pragma once

#include "hdf5_image.hpp"
#include "sound.hpp"

#include <h5mote/filters/deflate.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/trail.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

namespace h5mote_test {

struct Turns {
    explicit Turns(h5mote::FormatVersion version = h5mote::FormatVersion::standard, std::uint8_t width = 8) {
        access.metadata_cache = 8192;
        access.low = version;
        create.sizeof_addr = width;
    }
    ~Turns() {
        if (root.valid()) {
            close();
        }
    }
    /// h5mote makes the file; it is its turn.
    void begin() {
        auto made = h5mote::File::create(library, *used, access, create);
        ASSERT_EQ(made.status(), h5mote::Status::ok);
        file = static_cast<h5mote::File&&>(*made);
        root = file.root();
    }
    /// libhdf5 makes the file with these creation properties; then it is h5mote's turn.
    void begin_by_libhdf5(hid_t properties, hid_t bounds = H5P_DEFAULT) {
        const std::string path = name();
        (void)H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
        const hid_t made = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, properties, bounds);
        ASSERT_GE(made, 0);
        ASSERT_GE(H5Fclose(made), 0);
        take(path);
    }
    void close() {
        ASSERT_EQ(file.flush(), h5mote::Status::ok);
        const Findings findings = findings_in(file);
        EXPECT_TRUE(findings.none()) << findings.last_kind << " at " << findings.last_address;
        ASSERT_EQ(file.close(), h5mote::Status::ok);
    }
    /// Ends the turn of h5mote; `change` gets the file from libhdf5, which makes structures of `lowest` or a later
    /// version. Then it is h5mote's turn again.
    template <typename Change>
    void by_libhdf5(const Change& change, H5F_libver_t lowest = H5F_LIBVER_EARLIEST) {
        close();
        const std::string path = name();
        {
            const std::vector<std::byte> before = image_of(storage);
            std::ofstream(path, std::ios::binary)
                .write(reinterpret_cast<const char*>(before.data()), static_cast<std::streamsize>(before.size()));
            (void)H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
            const Hdf5Id bounds(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
            ASSERT_GE(H5Pset_libver_bounds(bounds, lowest, H5F_LIBVER_LATEST), 0);
            const Hdf5Id other(H5Fopen(path.c_str(), H5F_ACC_RDWR, bounds), H5Fclose);
            ASSERT_GE(other, 0);
            change(other);
        }
        take(path);
    }

    /// The error trail, the newest record first; it is cleared.
    std::string trail() {
        struct Lines final : h5mote::LineSink {
            void line(std::string_view text) noexcept override { all += std::string(text) + "\n"; }
            std::string all;
        } lines;
        print_trail(library, lines);
        library.trail().clear();
        return lines.all;
    }

    h5mote::MallocAllocator heap;
    h5mote::NullPort port;
    const h5mote::Filter* filters[1] = {&h5mote::deflate_filter};
    h5mote::Library library{heap, port, filters, h5mote::formats::all};
    h5mote::GrowingMemoryDriver storage{heap};
    /// What h5mote opens: `storage`, or a driver that leads to it.
    h5mote::Driver* used = &storage;
    h5mote::FileAccess access;
    h5mote::FileCreate create;
    h5mote::File file;
    h5mote::Group root;

private:
    static std::string name() { return ::testing::TempDir() + "in_turns.h5"; }
    void take(const std::string& path) {
        const std::vector<std::byte> after = take_file(path);
        ASSERT_EQ(storage.truncate(0), h5mote::Status::ok);
        ASSERT_EQ(storage.write(h5mote::Usage::raw_data, 0, {after.data(), after.size()}), h5mote::Status::ok);
        auto opened = h5mote::File::open(library, *used, access);
        ASSERT_EQ(opened.status(), h5mote::Status::ok);
        file = static_cast<h5mote::File&&>(*opened);
        root = file.root();
    }
};

}  // namespace h5mote_test
