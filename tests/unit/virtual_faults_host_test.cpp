// Virtual datasets and external data: memory and storage fail at every call, and every bit of the mappings is damaged,
// in files that libhdf5 makes in memory.
#include <h5mote/config.hpp>

#if defined(H5MOTE_TEST_HDF5) && H5MOTE_ALL_FORMATS && H5MOTE_OTHER_FILES

#include "checksum.hpp"
#include "cursor.hpp"
#include "faulty_files.hpp"

#include <h5mote/arena.hpp>
#include <h5mote/selection_set.hpp>

#include <algorithm>
#include <cstring>

namespace {

using namespace h5mote;
using namespace h5mote_test;

// ---- files -------------------------------------------------------------------------------------------------------

constexpr hsize_t kRows = 4, kColumns = 5;

void put(hid_t file, const char* name, const Hdf5Id& space, hid_t list, const int* values) {
    const Hdf5Id dataset(H5Dcreate2(file, name, H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT), H5Dclose);
    EXPECT_GE(dataset, 0);
    EXPECT_TRUE(values == nullptr || H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
}

// "data": 4 rows of 5 values from `first` on, unlimited. "elsewhere": the same size, but its external file is missing.
Image source(int first) {
    return made([first](hid_t file) {
        int values[kRows * kColumns];
        std::iota(std::begin(values), std::end(values), first);
        const Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        const hsize_t chunk[] = {2, kColumns};
        EXPECT_GE(H5Pset_chunk(list, 2, chunk), 0);
        put(file, "data", {simple({kRows, kColumns}, {H5S_UNLIMITED, kColumns}), H5Sclose}, list, values);
        const Hdf5Id away(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        EXPECT_GE(H5Pset_external(away, "nowhere.bin", 0, sizeof values), 0);
        put(file, "elsewhere", {simple({kRows, kColumns}), H5Sclose}, away, nullptr);
    });
}

void select(hid_t space, std::vector<hsize_t> start, std::vector<hsize_t> stride, std::vector<hsize_t> count,
            std::vector<hsize_t> block, H5S_seloper_t op = H5S_SELECT_SET) {
    EXPECT_GE(H5Sselect_hyperslab(space, op, start.data(), stride.data(), count.data(), block.data()), 0);
}

constexpr char kFirst[] = "first file with a name.h5", kSecond[] = "second.h5";

// "fixed": mappings of two files, of a missing file and of the file itself, some of them irregular.
void put_fixed(hid_t file) {
    const Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    const int fill = -1;
    EXPECT_GE(H5Pset_fill_value(list, H5T_NATIVE_INT, &fill), 0);
    const Hdf5Id space(simple({4 * kRows, kColumns}), H5Sclose);
    const Hdf5Id from(simple({kRows, kColumns}, {H5S_UNLIMITED, kColumns}), H5Sclose);
    for (const hsize_t row : {hsize_t{0}, kRows}) {
        // A block and a single element that does not touch it.
        select(space, {row, 0}, {1, 1}, {1, 1}, {2, 3});
        select(space, {row + 3, 4}, {1, 1}, {1, 1}, {1, 1}, H5S_SELECT_OR);
        select(from, {0, 2}, {1, 1}, {1, 1}, {2, 3});
        select(from, {3, 0}, {1, 1}, {1, 1}, {1, 1}, H5S_SELECT_OR);
        EXPECT_GE(H5Pset_virtual(list, space, kFirst, "data", from), 0);
    }
    select(space, {2 * kRows, 0}, {1, 1}, {1, 1}, {kRows, kColumns});
    EXPECT_GE(H5Sselect_all(from), 0);
    EXPECT_GE(H5Pset_virtual(list, space, "missing.h5", "data", from), 0);
    select(space, {3 * kRows, 0}, {2, 1}, {2, 1}, {1, kColumns});
    select(from, {0, 0}, {3, 1}, {2, 1}, {1, kColumns});
    EXPECT_GE(H5Pset_virtual(list, space, ".", "here", from), 0);
    EXPECT_GE(H5Sselect_all(space), 0);
    put(file, "fixed", {H5Scopy(space), H5Sclose}, list, nullptr);
}

// Makes a dataset with one unlimited mapping, from one file or from one file for each block.
void put_endless(hid_t file, const char* name, const char* from_file, bool blocks) {
    const Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    const Hdf5Id space(simple({kRows, kColumns}, {H5S_UNLIMITED, kColumns}), H5Sclose);
    const Hdf5Id from(simple({kRows, kColumns}, {H5S_UNLIMITED, kColumns}), H5Sclose);
    const hsize_t rows = blocks ? kRows : 1;
    select(space, {0, 0}, {rows, 1}, {H5S_UNLIMITED, 1}, {rows, kColumns});
    select(from, {0, 0}, {1, 1}, {blocks ? 1 : H5S_UNLIMITED, 1}, {rows, kColumns});
    EXPECT_GE(H5Pset_virtual(list, space, from_file, "data", from), 0);
    EXPECT_GE(H5Sselect_all(space), 0);
    put(file, name, {H5Scopy(space), H5Sclose}, list, nullptr);
}

Images make_images() {
    Images images;
    images[kFirst] = source(100);
    images[kSecond] = source(200);
    images["block0.h5"] = source(300);
    images["block1.h5"] = source(400);
    Image raw(64 * sizeof(int));
    for (int i = 0; i < 64; ++i) {
        store_le<std::uint32_t>(raw.data() + sizeof(int) * static_cast<std::size_t>(i), static_cast<unsigned>(500 + i));
    }
    images["raw.bin"] = raw;
    images["main"] = made([](hid_t file) {
        int values[kRows * kColumns];
        std::iota(std::begin(values), std::end(values), 600);
        put(file, "here", {simple({kRows, kColumns}), H5Sclose}, H5P_DEFAULT, values);
        put_fixed(file);
        put_endless(file, "grows", kSecond, false);
        put_endless(file, "blocks", "block%b.h5", true);
        const Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        EXPECT_GE(H5Pset_external(list, "raw.bin", 8, 6 * sizeof(int)), 0);
        EXPECT_GE(H5Pset_external(list, "raw.bin", 100, H5F_UNLIMITED), 0);
        put(file, "external", {simple({50}), H5Sclose}, list, nullptr);
        const Hdf5Id away(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        const Hdf5Id all(simple({kRows, kColumns}), H5Sclose);
        EXPECT_GE(H5Pset_virtual(away, all, kFirst, "elsewhere", all), 0);
        put(file, "of a missing file", all, away, nullptr);
    });
    return images;
}

const Images& images() {
    static const Images all = make_images();
    return all;
}

// ---- what is done ------------------------------------------------------------------------------------------------

struct Seen {
    std::vector<int> values;
    std::string names;
    std::vector<std::uint64_t> numbers;

    bool operator==(const Seen& other) const {
        return values == other.values && names == other.names && numbers == other.numbers;
    }
};

// Opens a dataset and queries everything. Reads `rows` rows at most, into a buffer filled with -2.
Status look_at(Library& library, Driver& driver, DriverOpener& opener, const char* name, Seen& seen,
               std::uint64_t rows = 1000) {
    seen = {};
    FileAccess access;
    access.read_only = true;
    access.opener = &opener;
    auto file = File::open(library, driver, access);
    H5MOTE_TRY(file.status());
    auto dataset = file->root().open_dataset(name);
    H5MOTE_TRY(dataset.status());
    DatasetInfo info;
    H5MOTE_TRY(dataset->info(info));
    std::uint64_t heap = 0;
    H5MOTE_TRY(dataset->heap_size(heap));
    seen.numbers = {info.external_files, info.virtual_mappings, heap};
    for (std::uint32_t i = 0; i < info.virtual_mappings; ++i) {
        VirtualMapping mapping;
        SelectionSet from(library);
        SelectionSet to(library);
        H5MOTE_TRY(dataset->virtual_mapping(i, mapping, &from, &to));
        seen.names += std::string(mapping.file_name()) + "|" + std::string(mapping.dataset_name()) + "|";
        seen.numbers.push_back(from.rank());
        seen.numbers.push_back(static_cast<std::uint64_t>(to.type()));
    }
    for (std::uint32_t i = 0; i < info.external_files; ++i) {
        ExternalFile each;
        char text[32];
        H5MOTE_TRY(dataset->external_file(i, each, text));
        seen.names += std::string(text, std::min(each.name_length, sizeof text)) + "|";
        seen.numbers.push_back(each.offset);
        seen.numbers.push_back(each.size);
    }
    if (info.layout == Layout::virtual_dataset) {
        H5MOTE_TRY(dataset->set_virtual_view(VirtualView::first_missing));
        H5MOTE_TRY(dataset->set_virtual_view(VirtualView::last_available, 2));
    }
    Dataspace space;
    H5MOTE_TRY(dataset->dataspace(space));
    const std::uint64_t zero[] = {0, 0};
    std::uint64_t count[] = {0, 0};
    std::uint64_t size = 1;
    for (std::size_t d = 0; d < space.rank(); ++d) {
        count[d] = std::min(space.dims()[d], rows);
        size *= count[d];
        seen.numbers.push_back(space.dims()[d]);
    }
    seen.values.assign(static_cast<std::size_t>(size), -2);
    const Selection first = Selection::hyperslab({zero, space.rank()}, {count, space.rank()});
    return dataset->read(space.rank() == 0 ? Selection::all() : first, datatype_of<int>(),
                         {reinterpret_cast<std::byte*>(seen.values.data()), seen.values.size() * sizeof(int)});
}

struct Expected {
    const char* name;
    std::vector<int> begin;
};

const Expected kExpected[] = {
    {"fixed", {102, 103, 104, -1, -1, 107, 108, 109, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 115}},
    {"grows", {200, 201, 202}},
    {"blocks", {300, 301, 302}},
    {"external", {502, 503, 504, 505, 506, 507, 525, 526}},
};

// Queries everything about a dataset, with the library and files of `file`.
Status look(FaultyFile& file, const char* name, Seen& seen) {
    Library library(file.failing, file.port);
    return look_at(library, file.main, file.shelf, name, seen);
}

TEST(VirtualFaults, MemoryAndStorageThatFail) {
    for (const Expected& each : kExpected) {
        SCOPED_TRACE(each.name);
        FaultyFile file(images(), "main");
        Seen expected;
        ASSERT_EQ(look(file, each.name, expected), Status::ok);
        ASSERT_TRUE(std::equal(each.begin.begin(), each.begin.end(), expected.values.begin()));
        const unsigned refused = file.sweep<Seen>([&](Library& library, FaultyFile& with, Seen& seen) {
            return look_at(library, with.main, with.shelf, each.name, seen);
        });
        EXPECT_GT(refused, 30U);
    }
}

// A source that exists but cannot be read is an error; only a missing source leaves the fill value.
TEST(VirtualFaults, SourceWhoseDataIsMissing) {
    FaultyFile file(images(), "main");
    Seen seen;
    EXPECT_EQ(look(file, "of a missing file", seen), Status::not_found);
    EXPECT_EQ(file.shelf.open_files(), 0);
    EXPECT_EQ(file.tracking.blocks(), 0U);
}

// external_file() gives the files by number, and their names if there is room.
TEST(VirtualFaults, ExternalFilesThatAreAskedFor) {
    FaultyFile with(images(), "main");
    Library library(with.failing, with.port);
    auto file = File::open(library, with.main, with.access());
    ASSERT_EQ(file.status(), Status::ok);
    auto dataset = file->root().open_dataset("external");
    ASSERT_EQ(dataset.status(), Status::ok);
    ExternalFile each;
    char name[8];
    EXPECT_EQ(dataset->external_file(1, each, name), Status::ok);
    EXPECT_EQ(std::string(name, each.name_length), "raw.bin");
    EXPECT_EQ(dataset->external_file(1, each, {}), Status::ok);
    EXPECT_EQ(each.name_length, 7U);
    EXPECT_EQ(dataset->external_file(1, each, {name, 6}), Status::invalid_argument);
    EXPECT_EQ(dataset->external_file(2, each, name), Status::not_found);
    // Elements beyond the end of an external file read as zeros, wherever the read begins.
    const std::uint64_t points[] = {49, 5, 49, 6, 0};
    int values[5];
    EXPECT_EQ(dataset->read(Selection::points(1, points), datatype_of<int>(),
                            {reinterpret_cast<std::byte*>(values), sizeof values}),
              Status::ok);
    EXPECT_EQ(std::vector<int>(values, values + 5), (std::vector<int>{0, 507, 0, 525, 502}));
}

// After a failure the dataset is unchanged, and the same handle can be used again.
TEST(VirtualFaults, TheHandleStaysUsable) {
    for (const char* name : {"grows", "blocks"}) {
        FaultyFile with(images(), "main");
        Library library(with.failing, with.port);
        auto file = File::open(library, with.main, with.access());
        ASSERT_EQ(file.status(), Status::ok);
        auto dataset = file->root().open_dataset(name);
        ASSERT_EQ(dataset.status(), Status::ok);
        Dataspace before;
        Dataspace after;
        ASSERT_EQ(dataset->dataspace(before), Status::ok);
        for (std::uint64_t k = 1;; ++k) {
            with.failing.arm(k, true);
            const Status status = dataset->set_virtual_view(VirtualView::first_missing);
            with.failing.disarm();
            ASSERT_EQ(dataset->dataspace(after), Status::ok);
            if (status == Status::ok) {
                break;
            }
            ASSERT_EQ(status, Status::out_of_memory);
            ASSERT_TRUE(before == after);
        }
        ASSERT_EQ(dataset->set_virtual_view(VirtualView::last_available), Status::ok);
        SelectionSet from(library);
        const std::uint64_t points[] = {7, 7, 8, 8};
        for (std::uint64_t k = 1;; ++k) {
            VirtualMapping mapping;
            ASSERT_EQ(from.select_points(2, points), Status::ok);
            with.failing.arm(k, true);
            const Status status = dataset->virtual_mapping(0, mapping, &from);
            with.failing.disarm();
            if (status == Status::ok) {
                break;
            }
            ASSERT_EQ(status, Status::out_of_memory);
            ASSERT_EQ(from.type(), SelectionType::points);
        }
        EXPECT_EQ(from.type(), SelectionType::hyperslabs);
    }
}

// ---- damage ------------------------------------------------------------------------------------------------------

// The global heap object with the mappings: it begins with a version, their number and, in version 1, flags (`before`
// bytes up to the first name), and ends with a checksum.
struct Mappings {
    Mappings(Image& in, const char* first_name, std::size_t before = 9) : image(in) {
        const auto* text = reinterpret_cast<const std::byte*>(first_name);
        const auto found = std::search(image.begin(), image.end(), text, text + std::strlen(first_name) + 1);
        begin = static_cast<std::size_t>(found - image.begin()) - before;
        size = static_cast<std::size_t>(load_le<std::uint64_t>(image.data() + begin - 8));
    }
    std::byte* data() const { return image.data() + begin; }
    void seal() const { store_le<std::uint32_t>(data() + size - 4, lookup3({data(), size - 4})); }

    Image& image;
    std::size_t begin = 0;
    std::size_t size = 0;
};

// Opens the file and reads in bounded memory.
Status look_at_damaged(const Image& image, const char* name, Seen& seen) {
    static std::vector<std::byte> memory(1U << 20);
    Faults faults;
    NullPort port;
    Arena arena({memory.data(), memory.size()});
    Shelf shelf(images(), faults);
    Status status = Status::ok;
    {
        Stored main(image, faults);
        Library library(arena, port);
        status = look_at(library, main, shelf, name, seen, 20);
    }
    EXPECT_EQ(arena.usage().now, Arena({memory.data(), memory.size()}).usage().now);
    EXPECT_EQ(shelf.open_files(), 0);
    return status;
}

// Flips every bit of the mappings and repairs the checksum. The error must not blame the caller (invalid_argument).
void damage_every_bit(Image image, const char* name, const char* first_name, std::size_t before = 9) {
    const Mappings mappings(image, first_name, before);
    ASSERT_LT(mappings.size, 1000U);
    unsigned refused = 0;
    Seen seen;
    for (std::size_t i = 0; i < mappings.size - 4; ++i) {
        for (unsigned bit = 0; bit < 8; ++bit) {
            mappings.data()[i] ^= static_cast<std::byte>(1U << bit);
            mappings.seal();
            const Status status = look_at_damaged(image, name, seen);
            mappings.data()[i] ^= static_cast<std::byte>(1U << bit);
            refused += status == Status::ok ? 0 : 1;
            ASSERT_TRUE(status == Status::ok || status == Status::corrupt_file || status == Status::unsupported ||
                        status == Status::out_of_memory)
                << name << ": byte " << i << " bit " << bit << " " << to_string(status);
        }
    }
    EXPECT_GT(refused, 30U) << name;
}

TEST(VirtualFaults, DamagedMappings) {
    const Image& main = images().at("main");
    damage_every_bit(main, "fixed", kFirst);
    damage_every_bit(main, "grows", kSecond);
    damage_every_bit(main, "blocks", "block%b.h5");
}

// Flips every bit of an object header that has a list of external files.
TEST(VirtualFaults, DamagedExternalFiles) {
    Image image = images().at("main");
    const auto head = [&image] {
        const Hdf5Id file = open_image({image.data(), image.size()});
        const Hdf5Id dataset(H5Dopen2(file, "external", H5P_DEFAULT), H5Dclose);
        H5O_info_t info;
        EXPECT_GE(H5Oget_info2(dataset, &info, H5O_INFO_BASIC | H5O_INFO_HDR), 0);
        return std::pair<std::size_t, std::size_t>(info.addr, info.hdr.space.total);
    }();
    unsigned refused = 0;
    Seen seen;
    for (std::size_t i = head.first; i < head.first + head.second; ++i) {
        for (unsigned bit = 0; bit < 8; ++bit) {
            image[i] ^= static_cast<std::byte>(1U << bit);
            const Status status = look_at_damaged(image, "external", seen);
            image[i] ^= static_cast<std::byte>(1U << bit);
            refused += status == Status::ok ? 0 : 1;
            ASSERT_TRUE(status == Status::ok || status == Status::corrupt_file || status == Status::unsupported ||
                        status == Status::out_of_memory || status == Status::not_found ||
                        status == Status::type_mismatch)
                << "byte " << i - head.first << " bit " << bit << " " << to_string(status);
        }
    }
    EXPECT_GT(refused, 100U);
}

// Version 1 of the mappings stores the name of a file or dataset once, and no name for the file itself.
Image with_shared_names() {
    Image image = images().at("main");
    const Mappings mappings(image, kFirst);
    const Image old(mappings.data(), mappings.data() + mappings.size);
    Image made(old.begin(), old.begin() + 9);
    made[0] = std::byte{1};
    const std::size_t names = sizeof kFirst + sizeof "data";
    std::size_t at = 9;
    const auto copy = [&](std::size_t bytes) {
        made.insert(made.end(), old.begin() + static_cast<std::ptrdiff_t>(at),
                    old.begin() + static_cast<std::ptrdiff_t>(at + bytes));
        at += bytes;
    };
    // Four mappings of two selections each, whose size in version 1 is 16 bytes and the length that these contain.
    for (unsigned i = 0; i < 4; ++i) {
        made.push_back(std::byte(i == 1 ? 3 : i == 2 ? 1 : i == 3 ? 4 : 0));
        if (i == 0) {
            copy(names);
        } else if (i == 1) {
            made.resize(made.size() + 16);  // file and dataset names of mapping 0
            at += names;
        } else if (i == 2) {
            copy(sizeof "missing.h5");
            made.resize(made.size() + 8);
            at += sizeof "data";
        } else {
            at += sizeof ".";
            copy(sizeof "here");
        }
        for (unsigned k = 0; k < 2; ++k) {
            copy(16 + load_le<std::uint32_t>(old.data() + at + 12));
        }
    }
    EXPECT_EQ(at, old.size() - 4);
    EXPECT_LE(made.size() + 4, old.size());
    made.resize(old.size());
    std::copy(made.begin(), made.end(), mappings.data());
    mappings.seal();
    return image;
}

TEST(VirtualFaults, SharedNames) {
    Seen expected;
    Seen seen;
    ASSERT_EQ(look_at_damaged(images().at("main"), "fixed", expected), Status::ok);
    const Image image = with_shared_names();
    ASSERT_EQ(look_at_damaged(image, "fixed", seen), Status::ok);
    EXPECT_EQ(seen.names, expected.names);
    EXPECT_TRUE(seen == expected);
    damage_every_bit(image, "fixed", kFirst, 10);
}

}  // namespace

#endif
