// Datasets of damaged files are changed: writes that would go outside the file or the dataset's space are refused, and
// the rest of the file stays as it is.
#ifdef H5MOTE_TEST_HDF5

#include "world.hpp"

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS

#include "hdf5_files.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

namespace {

using namespace h5mote;
using namespace h5mote_test;

struct Rig {
    explicit Rig(const Image& image, const Formats& formats = formats::standard)
        : library(memory, port, world_filters(), formats) {
        EXPECT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
    }
    Status open(bool read_only = false) {
        FileAccess access;
        access.read_only = read_only;
        auto opened = File::open(library, storage, access);
        file = static_cast<File&&>(*opened);
        return opened.status();
    }
    Image image() const { return Image(storage.contents().begin(), storage.contents().end()); }

    MallocAllocator memory;
    MallocAllocator bytes;
    GrowingMemoryDriver storage{bytes, std::size_t{1} << 24};
    NullPort port;
    Library library;
    File file;
};

std::size_t place_of(const Image& image, const Image& pattern) {
    const auto found = std::search(image.begin(), image.end(), pattern.begin(), pattern.end());
    EXPECT_NE(found, image.end());
    return static_cast<std::size_t>(found - image.begin());
}

Image bytes_of_number(std::uint64_t number, unsigned width = 8) {
    Image bytes(width);
    store_uint(bytes.data(), width, number);
    return bytes;
}

// Replaces the number at `at` and repairs the checksum of the block around it, which begins with `signature`.
void change(Image& image, const Image& sound, std::size_t at, std::uint64_t number, const char* signature) {
    const auto* text = reinterpret_cast<const std::byte*>(signature);
    const auto end = sound.begin() + static_cast<std::ptrdiff_t>(at);
    const auto found = std::find_end(sound.begin(), end, text, text + 4);
    ASSERT_NE(found, end);
    const auto begin = static_cast<std::size_t>(found - sound.begin());
    std::size_t size = 4;
    while (lookup3({sound.data() + begin, size}) != load_le<std::uint32_t>(sound.data() + begin + size)) {
        ASSERT_LE(begin + ++size + 4, sound.size());
    }
    store_le<std::uint64_t>(image.data() + at, number);
    store_le<std::uint32_t>(image.data() + begin + size, lookup3({image.data() + begin, size}));
}

const std::int32_t kValues[] = {1, 2, 3, 4, 5, 6, 7, 8};

ConstBytes values(std::size_t count) { return as_bytes(Span<const std::int32_t>(kValues, count)); }

// A contiguous dataset of 4 numbers without data, whose layout message names fewer bytes than they need.
TEST(DatasetDamage, SpaceThatIsTooSmallForTheElements) {
    Hdf5Maker maker(Hdf5Maker::Format::newest);
    {
        const hsize_t size = 4;
        const Hdf5Id space(H5Screate_simple(1, &size, nullptr), H5Sclose);
        const Hdf5Id made(H5Dcreate2(maker.file(), "d", H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                          H5Dclose);
        ASSERT_GE(made, 0);
    }
    const Image sound = maker.finish();
    Image layout = {std::byte{4}, std::byte{1}};
    for (const std::uint64_t number : {kUnlimited, std::uint64_t{16}}) {
        const Image field = bytes_of_number(number);
        layout.insert(layout.end(), field.begin(), field.end());
    }
    const std::size_t at = place_of(sound, layout) + 2 + 8;
    for (const std::uint64_t size : {16U, 15U, 4U, 0U}) {
        SCOPED_TRACE(size);
        Image image = sound;
        change(image, sound, at, size, "OHDR");
        for (const std::uint64_t first : {0U, 1U}) {
            Rig rig(image);
            ASSERT_EQ(rig.open(), Status::ok);
            auto data = rig.file.root().open_dataset("d");
            const Status opened = data.status();
            EXPECT_EQ(opened, size == 16 ? Status::ok : Status::corrupt_file);
            if (opened == Status::ok) {
                EXPECT_EQ(data->write(Selection::hyperslab({first}, {3}), kNumber.view(), values(3)), Status::ok);
                EXPECT_EQ(data->close(), Status::ok);
            }
            EXPECT_TRUE(size != 16 || findings_in(rig.file).none());
            EXPECT_EQ(rig.file.close(), Status::ok);
            EXPECT_TRUE(opened == Status::ok || rig.image() == image);
        }
        // Reading takes nothing from that space: elements without data are the fill value.
        Rig rig(image);
        ASSERT_EQ(rig.open(true), Status::ok);
        std::int32_t read[4] = {9, 9, 9, 9};
        auto data = rig.file.root().open_dataset("d");
        ASSERT_EQ(data.status(), Status::ok);
        EXPECT_EQ(data->read(Selection::all(), kNumber.view(), {reinterpret_cast<std::byte*>(read), sizeof read}),
                  Status::ok);
        EXPECT_EQ(read[3], 0);
    }
}

struct Made {
    Image image;
    std::uint64_t last = 0;  // address of the last chunk
};

// Makes a dataset in chunks of 4 numbers.
Made make_chunks(bool filtered, unsigned count) {
    Made made;
    Rig rig({});
    auto created = File::create(rig.library, rig.storage);
    EXPECT_EQ(created.status(), Status::ok);
    rig.file = static_cast<File&&>(*created);
    DatasetCreate create;
    create.chunk = {4};
    if (filtered) {
        create.filters = {filters::fletcher32};
    }
    auto data = rig.file.root().create_dataset("d", kNumber.view(), Dataspace::unlimited(), create);
    for (unsigned i = 0; i < count; ++i) {
        EXPECT_EQ(data->append_records(kValues, 4), Status::ok);
    }
    EXPECT_EQ(rig.file.flush(), Status::ok);
    ChunkIterator chunks(*data);
    ChunkInfo chunk;
    for (unsigned i = 0; i < count; ++i) {
        EXPECT_EQ(chunks.next(chunk), Status::ok);
    }
    made.last = chunk.address;
    EXPECT_EQ(data->close(), Status::ok);
    EXPECT_EQ(rig.file.close(), Status::ok);
    made.image = rig.image();
    return made;
}

// The second of two chunks has an address outside the file: writing it is refused, also when it is written whole and
// need not be read first.
TEST(DatasetDamage, ChunksOutsideOfTheFileAreNotWritten) {
    for (const bool filtered : {false, true}) {
        SCOPED_TRACE(filtered);
        const Made made = make_chunks(filtered, 2);
        const Image& sound = made.image;
        for (const std::uint64_t wrong : {std::uint64_t{sound.size() - 15}, std::uint64_t{sound.size()} + 4096,
                                          std::uint64_t{1} << 40, kUnlimited - 4}) {
            SCOPED_TRACE(wrong);
            Image image = sound;
            change(image, sound, place_of(sound, bytes_of_number(made.last)), wrong, "EAIB");
            Rig rig(image);
            ASSERT_EQ(rig.open(), Status::ok);
            auto data = rig.file.root().open_dataset("d");
            ASSERT_EQ(data.status(), Status::ok);
            EXPECT_EQ(data->write(Selection::hyperslab({4}, {4}), kNumber.view(), values(4)), Status::corrupt_file);
            EXPECT_EQ(data->write(Selection::hyperslab({5}, {1}), kNumber.view(), values(1)), Status::corrupt_file);
            EXPECT_EQ(data->write(Selection::hyperslab({0}, {4}), kNumber.view(), values(4)), Status::ok);
            EXPECT_EQ(data->close(), Status::ok);
            EXPECT_EQ(rig.file.close(), Status::ok);
            std::uint64_t end = 0;
            EXPECT_EQ(rig.storage.end_of_file(end), Status::ok);
            EXPECT_LE(end, sound.size() + (filtered ? 100U : 0U));
        }
    }
}

// A chunk beyond the extent, as a power cut leaves it, is freed by the next change. If it lies outside the file, its
// bytes must not become free space.
TEST(DatasetDamage, ChunksOutsideOfTheFileAreNoSpace) {
    for (const bool filtered : {false, true}) {
        SCOPED_TRACE(filtered);
        const Made made = make_chunks(filtered, 3);
        Image shorter = made.image;
        // Find the dataspace message by its 12 rows and unlimited maximum size.
        Image size = bytes_of_number(12);
        size.insert(size.end(), 8, std::byte{0xff});
        change(shorter, made.image, place_of(made.image, size), 8, "OHDR");
        Image image = shorter;
        change(image, shorter, place_of(shorter, bytes_of_number(made.last)), shorter.size() + 4096, "EAIB");
        Rig rig(image);
        ASSERT_EQ(rig.open(), Status::ok);
        auto data = rig.file.root().open_dataset("d");
        ASSERT_EQ(data.status(), Status::ok);
        ASSERT_EQ(data->size(), 8U);
        EXPECT_EQ(data->write(Selection::hyperslab({0}, {1}), kNumber.view(), values(1)), Status::ok);
        EXPECT_EQ(data->close(), Status::ok);
        EXPECT_EQ(rig.file.flush(), Status::ok);
        EXPECT_EQ(rig.file.flush(), Status::ok);
        auto other = rig.file.root().create_dataset("e", kNumber.view(), Dataspace::simple({4}));
        ASSERT_EQ(other.status(), Status::ok);
        EXPECT_EQ(other->write(Selection::all(), kNumber.view(), values(4)), Status::ok);
        EXPECT_EQ(other->close(), Status::ok);
        EXPECT_TRUE(findings_in(rig.file).none());
        EXPECT_EQ(rig.file.close(), Status::ok);
        ASSERT_EQ(rig.open(), Status::ok);
        EXPECT_TRUE(findings_in(rig.file).none());
        std::int32_t read[4] = {};
        auto again = rig.file.root().open_dataset("e");
        ASSERT_EQ(again.status(), Status::ok);
        EXPECT_EQ(again->read(Selection::all(), kNumber.view(), {reinterpret_cast<std::byte*>(read), sizeof read}),
                  Status::ok);
        EXPECT_EQ(read[3], 4);
    }
}

// ---- only read ---------------------------------------------------------------------------------------------------

// Layouts that a program only reads because it does not name what changes them: each change is refused by name and
// leaves the file as it was.
TEST(DatasetDamage, LayoutsThatAreOnlyRead) {
    Hdf5Maker maker(Hdf5Maker::Format::newest);
    {
        const hsize_t size[] = {5, 5}, no_end[] = {H5S_UNLIMITED, H5S_UNLIMITED}, chunk[] = {2, 2};
        const Hdf5Id space(H5Screate_simple(2, size, nullptr), H5Sclose);
        const Hdf5Id growing(H5Screate_simple(2, size, no_end), H5Sclose);
        std::int32_t numbers[25] = {};
        const auto put = [&](const char* name, hid_t extent, hid_t list, bool written) {
            const Hdf5Id data(H5Dcreate2(maker.file(), name, H5T_STD_I32LE, extent, H5P_DEFAULT, list, H5P_DEFAULT),
                              H5Dclose);
            ASSERT_GE(data, 0);
            ASSERT_TRUE(!written || H5Dwrite(data, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) >= 0);
        };
        const Hdf5Id chunks(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        H5Pset_chunk(chunks, 2, chunk);
        put("source", growing, chunks, true);
        const Hdf5Id edges(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        H5Pset_chunk(edges, 2, chunk);
        H5Pset_fletcher32(edges);
        H5Pset_chunk_opts(edges, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
        put("edges without filters", space, edges, true);
        const Hdf5Id away(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        H5Pset_external(away, "elsewhere", 0, 100);
        put("external", space, away, false);
        const Hdf5Id mapped(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        H5Pset_virtual(mapped, space, ".", "source", space);
        put("virtual", space, mapped, false);
    }
    const Image image = maker.finish();
    Formats reading = formats::standard;
    reading.unfiltered_edges = nullptr;
    reading.external_changes = nullptr;
    reading.virtual_changes = nullptr;
    for (const char* name : {"edges without filters", "external", "virtual"}) {
        for (unsigned how = 0; how < 4; ++how) {
            SCOPED_TRACE(std::string(name) + " " + std::to_string(how));
            Rig rig(image, reading);
            ASSERT_EQ(rig.open(), Status::ok);
            auto data = rig.file.root().open_dataset(name);
            ASSERT_EQ(data.status(), Status::ok);
            Status status = Status::ok;
            if (how == 0) {
                status = data->write(Selection::hyperslab({0, 0}, {1, 5}), kNumber.view(), values(5));
            } else if (how == 1) {
                status = data->append_records(kValues, 1);
            } else if (how == 2) {
                status = data->set_extent({6, 6});
            } else {
                EXPECT_EQ(data->close(), Status::ok);
                status = rig.file.root().unlink(name);
            }
            // Only unlinking the dataset with unfiltered edge chunks succeeds.
            const bool goes = how == 3 && name[0] == 'e' && name[1] == 'd';
            EXPECT_EQ(status, goes ? Status::ok : Status::unsupported);
            EXPECT_EQ(how == 3 ? Status::ok : data->close(), Status::ok);
            EXPECT_EQ(rig.file.close(), Status::ok);
            EXPECT_EQ(rig.image() == image, !goes);
            EXPECT_EQ(rig.memory.blocks(), 0U);
        }
    }
}

// A dataset without elements gets no space, not even with early allocation.
TEST(DatasetDamage, NothingIsAllocatedForNothing) {
    Rig rig({});
    auto created = File::create(rig.library, rig.storage);
    ASSERT_EQ(created.status(), Status::ok);
    rig.file = static_cast<File&&>(*created);
    DatasetCreate create;
    create.allocation = AllocationTime::early;
    auto data = rig.file.root().create_dataset("d", kNumber.view(), Dataspace::simple({0, 4}), create);
    ASSERT_EQ(data.status(), Status::ok);
    std::uint64_t bytes = 1;
    EXPECT_EQ(data->storage_size(bytes), Status::ok);
    EXPECT_EQ(bytes, 0U);
    EXPECT_EQ(data->write(Selection::all(), kNumber.view(), {}), Status::ok);
    EXPECT_EQ(data->close(), Status::ok);
    EXPECT_TRUE(findings_in(rig.file).none());
    EXPECT_EQ(rig.file.close(), Status::ok);
}

// ---- every bit ---------------------------------------------------------------------------------------------------

// Blocks of metadata in the newest format with their checksums, in the order of their addresses.
struct Block {
    std::size_t begin, size;
};

std::vector<Block> blocks_of(const Image& image) {
    std::vector<Block> blocks;
    for (std::size_t at = 48; at + 8 < image.size(); ++at) {
        const std::string name(reinterpret_cast<const char*>(image.data() + at), 4);
        const char* const names[] = {"OHDR", "EAHD", "EAIB", "EADB", "FAHD", "FADB", "BTHD", "BTIN", "BTLF"};
        if (std::find(std::begin(names), std::end(names), name) == std::end(names)) {
            continue;
        }
        for (std::size_t size = 8; size < 700 && at + size + 4 <= image.size(); ++size) {
            if (lookup3({image.data() + at, size}) == load_le<std::uint32_t>(image.data() + at + size)) {
                blocks.push_back({at, size});
                break;
            }
        }
    }
    return blocks;
}

bool is_of_damage(Status status) {
    return status == Status::ok || status == Status::corrupt_file || status == Status::unsupported ||
           status == Status::out_of_memory || status == Status::over_budget || status == Status::no_space ||
           status == Status::not_found || status == Status::type_mismatch || status == Status::invalid_argument ||
           status == Status::overflow;
}

// Queries everything about a dataset of numbers and changes all that can be changed.
void use(Dataset& data) {
    const auto fine = [](Status status, const char* what) {
        EXPECT_TRUE(is_of_damage(status)) << what << " " << to_string(status);
        return status == Status::ok;
    };
    std::byte bytes[512];
    DatatypeView type;
    DatasetInfo info;
    FilterInfo filter;
    std::uint64_t number = 0;
    std::uint64_t other = 0;
    (void)fine(data.info(info), "info");
    (void)fine(data.datatype(bytes, type), "datatype");
    (void)fine(data.filter(0, filter), "filter");
    (void)fine(data.fill_value(kNumber.view(), {bytes, 4}), "fill_value");
    (void)fine(data.stored_fill_value({bytes, 4}), "stored_fill_value");
    (void)fine(data.heap_size(number), "heap_size");
    ChunkIterator chunks(data);
    ChunkInfo chunk;
    for (unsigned i = 0; i < 50 && fine(chunks.next(chunk), "next"); ++i) {
    }
    // Skip these queries if a damaged extent has too many chunks to walk through.
    if (data.size() < 1000) {
        (void)fine(data.storage_size(number), "storage_size");
        (void)fine(data.index_size(number, other), "index_size");
    }
    std::int32_t rows[3] = {7, 8, 9};
    const Bytes three{reinterpret_cast<std::byte*>(rows), sizeof rows};
    (void)fine(data.read(Selection::hyperslab({0}, {3}), kNumber.view(), three), "read");
    (void)fine(data.write(Selection::hyperslab({1}, {3}), kNumber.view(), three), "write");
    (void)fine(data.set_memory_type(kNumber.view()), "set_memory_type");
    (void)fine(data.append_records(rows, 3), "append");
    (void)fine(data.set_extent({data.size() + 2}), "set_extent");
    (void)fine(data.close(), "close");
}

TEST(DatasetDamage, EveryBitOfHeadersAndIndexes) {
    unsigned refused = 0;
    unsigned flips = 0;
    for (const MadeFile& made : files_of_chunks()) {
        // The larger indexes of each kind take longer and test nothing more.
        const auto is = [&made](const char* what) { return made.name.find(what) != std::string::npos; };
        if (made.image[8] < std::byte{2} || is("paged") || is("super") || is("deep")) {
            continue;
        }
        SCOPED_TRACE(made.name);
        Image image = made.image;
        for (const Block& block : blocks_of(image)) {
            for (std::size_t bit = 32; bit < 8 * block.size && !HasFailure(); ++bit) {
                SCOPED_TRACE(std::to_string(block.begin) + ", bit " + std::to_string(bit));
                std::byte* const begin = image.data() + block.begin;
                const auto seal = [&] { store_le<std::uint32_t>(begin + block.size, lookup3({begin, block.size})); };
                begin[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
                seal();
                {
                    Rig rig(image);
                    const Status status = rig.open();
                    EXPECT_TRUE(is_of_damage(status)) << to_string(status);
                    if (status == Status::ok) {
                        auto data = rig.file.root().open_dataset("d");
                        EXPECT_TRUE(is_of_damage(data.status())) << to_string(data.status());
                        refused += data.status() == Status::ok ? 0U : 1U;
                        if (data.status() == Status::ok) {
                            use(*data);
                        }
                        (void)rig.file.close();
                    }
                    EXPECT_EQ(rig.memory.blocks(), 0U);
                }
                begin[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
                seal();
                ++flips;
            }
        }
    }
    std::printf("%u bits, %u refused\n", flips, refused);
    EXPECT_GT(refused, 1000U);
}

}  // namespace

#endif
#endif
