// Links in a fractal heap whose blocks are filtered, as libhdf5 makes it: with failing memory and storage, and damaged.
#include <h5mote/config.hpp>

#if defined(H5MOTE_TEST_HDF5) && H5MOTE_ALL_FORMATS && H5MOTE_FILTERS

#include "checksum.hpp"
#include "cursor.hpp"
#include "faulty_files.hpp"

#include "../reading/all_filters.hpp"

#include <algorithm>

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr unsigned kLinks = 40;

// Makes a group with more links than a header holds, so that they are stored in a heap.
Image make_group() {
    return made(
        [](hid_t file) {
            const Hdf5Id list(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
            EXPECT_GE(H5Pset_link_phase_change(list, 2, 1), 0);
            EXPECT_GE(H5Pset_deflate(list, 6), 0);
            EXPECT_GE(H5Pset_fletcher32(list), 0);
            const Hdf5Id group(H5Gcreate2(file, "group", H5P_DEFAULT, list, H5P_DEFAULT), H5Gclose);
            for (unsigned i = 0; i < kLinks; ++i) {
                const std::string name = "a soft link that leads nowhere " + std::to_string(i);
                EXPECT_GE(H5Lcreate_soft("/nowhere", group, name.c_str(), H5P_DEFAULT, H5P_DEFAULT), 0);
            }
        },
        H5P_DEFAULT, H5F_LIBVER_LATEST);
}

Status list_links(Library& library, Driver& driver, const FileAccess& access, std::string& names) {
    names.clear();
    auto file = File::open(library, driver, access);
    H5MOTE_TRY(file.status());
    auto group = file->root().open_group("group");
    H5MOTE_TRY(group.status());
    LinkIterator links(*group);
    Link link;
    Status status = Status::ok;
    // A damaged file may seem to have any number of links: stop after 1000.
    for (unsigned i = 0; i < 1000 && (status = links.next(link)) == Status::ok; ++i) {
        names += link.name();
    }
    return status == Status::not_found ? Status::ok : status;
}

TEST(FilteredHeap, LinksWhateverFails) {
    Images images;
    images["main"] = make_group();
    FaultyFile with(images, "main");
    const unsigned refused = with.sweep<std::string>([](Library& /*bare*/, FaultyFile& file, std::string& names) {
        Library library(file.failing, file.port, kAllFilters);
        library.set_free_list_limits({0, 0});
        const Status status = list_links(library, file.main, file.access(), names);
        EXPECT_TRUE(status != Status::ok || names.size() > std::size_t{30} * kLinks);
        return status;
    });
    EXPECT_GT(refused, 30U);
    // A library without these filters cannot read the links.
    std::string names;
    Library bare(with.failing, with.port);
    EXPECT_EQ(list_links(bare, with.main, with.access(), names), Status::unsupported);
}

// Flips every bit of the heap's header, which has the filter pipeline of its blocks, and repairs the checksum.
TEST(FilteredHeap, DamagedHeader) {
    Images images;
    Image& image = images["main"];
    image = make_group();
    const std::byte signature[] = {std::byte{'F'}, std::byte{'R'}, std::byte{'H'}, std::byte{'P'}};
    const auto found = std::search(image.begin(), image.end(), std::begin(signature), std::end(signature));
    ASSERT_NE(found, image.end());
    std::byte* const begin = &*found;
    std::size_t size = 8;
    while (lookup3({begin, size}) != load_le<std::uint32_t>(begin + size)) {
        ASSERT_LT(++size, 400U);
    }
    unsigned refused = 0;
    for (std::size_t i = 4; i < size; ++i) {
        for (unsigned bit = 0; bit < 8; ++bit) {
            begin[i] ^= static_cast<std::byte>(1U << bit);
            store_le<std::uint32_t>(begin + size, lookup3({begin, size}));
            FaultyFile with(images, "main");
            Status status = Status::ok;
            {
                Library library(with.failing, with.port, kAllFilters);
                std::string names;
                status = list_links(library, with.main, with.access(), names);
            }
            begin[i] ^= static_cast<std::byte>(1U << bit);
            EXPECT_TRUE(status == Status::ok || status == Status::corrupt_file || status == Status::unsupported ||
                        status == Status::out_of_memory)
                << "byte " << i << " bit " << bit << " " << to_string(status);
            EXPECT_EQ(with.tracking.blocks(), 0U);
            refused += status == Status::ok ? 0U : 1U;
        }
    }
    EXPECT_GT(refused, 100U);
}

}  // namespace

#endif
