// The free space that libhdf5 tracks in its files: compared with libhdf5's own answers, and damaged.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS

#include "hdf5_image.hpp"

#include <gtest/gtest.h>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include "checksum.hpp"
#include "cursor.hpp"
#include "failing_driver.hpp"
#include "test_allocators.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

using Image = std::vector<std::byte>;
using Section = std::pair<std::uint64_t, std::uint64_t>;  // address, size

struct Sections final : SectionVisitor {
    Status section(Address address, std::uint64_t size) noexcept override {
        all.emplace_back(address, size);
        return all.size() < most ? Status::ok : Status::over_budget;
    }
    std::vector<Section> all;
    std::size_t most = ~std::size_t{0};
};

struct Told {
    Status status = Status::ok;
    FreeSpaceInfo info;
    std::vector<Section> sections;
};

bool operator==(const Told& a, const Told& b) {
    return a.status == b.status && a.info.bytes == b.info.bytes && a.info.sections == b.info.sections &&
           a.info.metadata == b.info.metadata && a.sections == b.sections;
}

/// Makes a file with datasets of many sizes and removes every other one.
Image make(H5F_fspace_strategy_t strategy, bool persist, H5F_libver_t version, std::size_t sizes = 8) {
    const std::string name = ::testing::TempDir() + "free_space.h5";
    const Hdf5Id create(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    EXPECT_GE(H5Pset_sizes(create, sizes, sizes), 0);
    EXPECT_GE(H5Pset_file_space_strategy(create, strategy, persist, 1), 0);
    EXPECT_GE(H5Pset_libver_bounds(access, version, H5F_LIBVER_LATEST), 0);
    {
        const Hdf5Id file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, create, access), H5Fclose);
        EXPECT_GE(file, 0);
        for (unsigned i = 0; i < 40; ++i) {
            const hsize_t size = 30 + 250 * (i % 7) + i;
            const Hdf5Id space(H5Screate_simple(1, &size, nullptr), H5Sclose);
            const Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
            EXPECT_GE(H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY), 0);
            const Hdf5Id made(
                H5Dcreate2(file, std::to_string(i).c_str(), H5T_STD_U8LE, space, H5P_DEFAULT, list, H5P_DEFAULT),
                H5Dclose);
            EXPECT_GE(made, 0);
        }
        for (unsigned i = 0; i < 40; i += 2) {
            EXPECT_GE(H5Ldelete(file, std::to_string(i).c_str(), H5P_DEFAULT), 0);
        }
    }
    return take_file(name);
}

std::vector<Section> sorted(std::vector<Section> sections) {
    std::sort(sections.begin(), sections.end());
    return sections;
}

Told mine(const Image& image) {
    MallocAllocator heap;
    TrackingAllocator tracking(heap);
    NullPort port;
    Told told;
    {
        Library library(tracking, port);
        MemoryDriver driver = MemoryDriver::reading({image.data(), image.size()});
        FileAccess access;
        access.read_only = true;
        auto file = File::open(library, driver, access);
        EXPECT_EQ(file.status(), Status::ok);
        Sections sections;
        told.status = file->free_space(told.info, &sections);
        told.sections = sections.all;
        FreeSpaceInfo counted;
        if (told.status == Status::ok) {
            EXPECT_EQ(file->free_space(counted), Status::ok);
            EXPECT_EQ(counted.bytes, told.info.bytes);
        }
        EXPECT_EQ(file->close(), Status::ok);
    }
    EXPECT_EQ(tracking.blocks(), 0U);
    return told;
}

Told theirs(const Image& image) {
    Told told;
    const Hdf5Id file = open_image({image.data(), image.size()});
    EXPECT_GE(file, 0);
    told.info.bytes = static_cast<std::uint64_t>(H5Fget_freespace(file));
    const ssize_t count = H5Fget_free_sections(file, H5FD_MEM_DEFAULT, 0, nullptr);
    EXPECT_GE(count, 0);
    std::vector<H5F_sect_info_t> sections(static_cast<std::size_t>(count));
    if (count > 0) {
        EXPECT_EQ(H5Fget_free_sections(file, H5FD_MEM_DEFAULT, sections.size(), sections.data()), count);
    }
    for (const H5F_sect_info_t& section : sections) {
        told.sections.emplace_back(section.addr, section.size);
    }
    told.info.sections = sections.size();
    H5F_info2_t info;
    EXPECT_GE(H5Fget_info2(file, &info), 0);
    told.info.metadata = info.free.meta_size;
    return told;
}

void seal(Image& image, std::size_t at, std::size_t size) {
    store_le(image.data() + at + size - 4, lookup3({image.data() + at, size - 4}));
}

std::uint64_t address_at(const Image& image, std::size_t at) { return load_le<std::uint64_t>(image.data() + at); }

/// Finds the file space info message (version 1, strategy 0, persistent) and the header block around it.
struct Message {
    explicit Message(const Image& image) {
        const std::byte begin[] = {std::byte{1}, std::byte{0}, std::byte{1}, std::byte{1}, std::byte{0}, std::byte{0}};
        for (at = 60; at + 200 < image.size(); ++at) {
            if (std::memcmp(image.data() + at, begin, sizeof begin) != 0 || address_at(image, at + 11) != 4096) {
                continue;
            }
            for (start = at; at - start < 60; --start) {
                const bool block = std::memcmp(image.data() + start, "OHDR", 4) == 0 ||
                                   std::memcmp(image.data() + start, "OCHK", 4) == 0;
                for (size = 130; block && start + size <= image.size() && size < 400; ++size) {
                    if (load_le<std::uint32_t>(image.data() + start + size - 4) ==
                        lookup3({image.data() + start, size - 4})) {
                        return;
                    }
                }
            }
        }
        ADD_FAILURE() << "no message";
    }
    std::size_t at = 0;
    std::size_t start = 0;
    std::size_t size = 0;
};

constexpr std::size_t kHeader = 14 + 7 * 8 + 8 + 4;

struct Strategy {
    H5F_fspace_strategy_t strategy;
    bool persist;
};
constexpr Strategy kStrategies[] = {{H5F_FSPACE_STRATEGY_FSM_AGGR, true},
                                    {H5F_FSPACE_STRATEGY_PAGE, true},
                                    {H5F_FSPACE_STRATEGY_PAGE, false},
                                    {H5F_FSPACE_STRATEGY_NONE, false}};

TEST(FreeSpace, IsWhatLibhdf5Says) {
    for (const Strategy& each : kStrategies) {
        for (const H5F_libver_t version : {H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST}) {
            for (const std::size_t sizes : {8U, 4U, 2U}) {
                if (each.persist && sizes != 8) {
                    continue;  // libhdf5 1.10.8 cannot read the lists that it writes there
                }
                const Image image = make(each.strategy, each.persist, version, sizes);
                const Told expected = theirs(image);
                const Told told = mine(image);
                SCOPED_TRACE(std::to_string(each.strategy) + ", " + std::to_string(version) + ", addresses of " +
                             std::to_string(sizes));
                EXPECT_EQ(told.status, Status::ok);
                EXPECT_EQ(told.info.bytes, expected.info.bytes);
                EXPECT_EQ(told.info.sections, expected.info.sections);
                EXPECT_EQ(told.info.metadata, expected.info.metadata);
                EXPECT_EQ(sorted(told.sections), sorted(expected.sections));
                EXPECT_EQ(told.sections.size() > 10, each.persist);
            }
        }
    }
}

// Version 0 of the file space info message, as libhdf5 1.10.0 wrote it: strategy 1 persists, with six managers.
TEST(FreeSpace, OfTheOldMessage) {
    const Image made = make(H5F_FSPACE_STRATEGY_FSM_AGGR, true, H5F_LIBVER_LATEST);
    const Told expected = mine(made);
    const Message message(made);
    const std::size_t at = message.at;
    for (const unsigned strategy : {1U, 2U}) {
        Image image = made;
        image[at] = std::byte{0};
        image[at + 1] = static_cast<std::byte>(strategy);
        store_le<std::uint64_t>(image.data() + at + 2, 1);
        std::memmove(image.data() + at + 10, made.data() + at + 29, 48);
        seal(image, message.start, message.size);
        const Told told = mine(image);
        EXPECT_TRUE(strategy == 1 ? told == expected : told == Told{});
    }
}

struct Damage {
    const char* name;
    std::size_t at;
    std::size_t width;
    std::uint64_t value;
    Status expected;
};

// Damages each field of the first manager's header and section list, and repairs the checksums.
TEST(FreeSpace, EachFieldDamaged) {
    const Image made = make(H5F_FSPACE_STRATEGY_FSM_AGGR, true, H5F_LIBVER_LATEST);
    const Message message(made);
    std::size_t header = 0;
    for (std::size_t i = 0; i < 12 && header == 0; ++i) {
        const std::uint64_t address = address_at(made, message.at + 29 + 8 * i);
        header = address == kUndefinedAddress ? 0 : static_cast<std::size_t>(address);
    }
    ASSERT_EQ(std::memcmp(made.data() + header, "FSHD", 4), 0);
    const auto list = static_cast<std::size_t>(address_at(made, header + 54));
    const auto used = static_cast<std::size_t>(address_at(made, header + 62));
    ASSERT_EQ(std::memcmp(made.data() + list, "FSSE", 4), 0);
    const Damage damages[] = {
        {"signature", header, 1, 0, Status::corrupt_file},
        {"version", header + 4, 1, 1, Status::corrupt_file},
        {"address bits 0", header + 44, 2, 0, Status::corrupt_file},
        {"address bits 65", header + 44, 2, 65, Status::corrupt_file},
        {"address bits, most", header + 44, 2, 0xffff, Status::corrupt_file},
        {"no list", header + 54, 8, ~std::uint64_t{0}, Status::ok},
        {"list behind the file", header + 54, 8, made.size(), Status::corrupt_file},
        {"list at the header", header + 54, 8, header, Status::corrupt_file},
        {"nothing of the list used", header + 62, 8, 0, Status::corrupt_file},
        {"too little of the list used", header + 62, 8, 16, Status::corrupt_file},
        {"more of the list used than a file has", header + 62, 8, ~std::uint64_t{0}, Status::corrupt_file},
        {"list's signature", list, 1, 0, Status::corrupt_file},
        {"list's version", list + 4, 1, 1, Status::corrupt_file},
        {"list's manager", list + 5, 8, list, Status::corrupt_file},
        {"more sections of one size than there are", list + 13, 1, 0xff, Status::corrupt_file},
        {"sections' number in eight bytes", header + 22, 8, ~std::uint64_t{0}, Status::corrupt_file},
        {"longest section in one byte", header + 46, 8, 1, Status::corrupt_file},
    };
    const Told whole = mine(made);
    ASSERT_EQ(whole.status, Status::ok);
    for (const Damage& damage : damages) {
        Image image = made;
        for (std::size_t i = 0; i < damage.width; ++i) {
            image[damage.at + i] = static_cast<std::byte>(damage.value >> (8 * i));
        }
        seal(image, header, kHeader);
        seal(image, list, used);
        const Told told = mine(image);
        EXPECT_EQ(told.status, damage.expected) << damage.name;
        if (damage.expected == Status::ok) {
            EXPECT_EQ(told.info.sections, whole.info.sections) << damage.name;
            EXPECT_LT(told.sections.size(), whole.sections.size()) << damage.name;
        }
    }
    for (const std::size_t place : {header + 10, list + 20}) {
        Image image = made;
        image[place] ^= std::byte{1};
        EXPECT_EQ(mine(image).status, Status::corrupt_file) << "checksum";
    }
}

// The callback may end the enumeration; failing storage and missing memory are reported.
TEST(FreeSpace, EndsWithTheFirstError) {
    const Image image = make(H5F_FSPACE_STRATEGY_PAGE, true, H5F_LIBVER_LATEST);
    const Told expected = mine(image);
    MallocAllocator heap;
    FailingAllocator failing(heap);
    NullPort port;
    Library library(failing, port);
    MemoryDriver memory = MemoryDriver::reading({image.data(), image.size()});
    FailingDriver driver(memory);
    FileAccess access;
    access.read_only = true;
    unsigned reads = 0;
    unsigned allocations = 0;
    // With the small cache the section lists are read in pieces.
    for (const std::size_t cache : {std::size_t{2048}, std::size_t{64}}) {
        access.metadata_cache = cache;
        for (bool of_driver : {true, false}) {
            for (std::uint64_t k = 1;; ++k) {
                auto file = File::open(library, driver, access);
                ASSERT_EQ(file.status(), Status::ok);
                FreeSpaceInfo info;
                Sections sections;
                driver.arm({of_driver ? k : 0});
                failing.arm(of_driver ? 0 : k, false);
                const Status status = file->free_space(info, &sections);
                const bool failed = driver.failures() + failing.failures() != 0;
                driver.disarm();
                failing.disarm();
                if (!failed) {
                    EXPECT_EQ(status, Status::ok);
                    break;
                }
                (of_driver ? reads : allocations) += 1;
                if (status == Status::ok) {
                    EXPECT_FALSE(of_driver);
                    EXPECT_EQ(sections.all, expected.sections);
                } else {
                    EXPECT_EQ(status, of_driver ? Status::io_error : Status::out_of_memory) << k;
                }
                Sections again;
                EXPECT_EQ(file->free_space(info, &again), Status::ok);
                EXPECT_EQ(again.all, expected.sections);
            }
        }
    }
    EXPECT_GT(reads, 2U);
    EXPECT_GT(allocations, 0U);
    auto file = File::open(library, driver, access);
    ASSERT_EQ(file.status(), Status::ok);
    FreeSpaceInfo info;
    Sections three;
    three.most = 3;
    EXPECT_EQ(file->free_space(info, &three), Status::over_budget);
    EXPECT_EQ(three.all, std::vector<Section>(expected.sections.begin(), expected.sections.begin() + 3));
    EXPECT_EQ(file->close(), Status::ok);
    EXPECT_EQ(file->free_space(info), Status::invalid_handle);
}

}  // namespace

#endif
