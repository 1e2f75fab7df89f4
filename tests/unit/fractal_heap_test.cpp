// Objects of every kind in fractal heaps, and damaged heaps.
#include "fractal_heap.hpp"
#include "structure_file.hpp"
#include "text.hpp"

#if H5MOTE_ALL_FORMATS

using namespace h5mote;
using namespace h5mote_test;

namespace {

constexpr Address kHeader = 512;
constexpr Address kRoot = 1024;   // indirect
constexpr Address kInner = 1536;  // indirect, below the root
constexpr Address kTree = 2048;
constexpr Address kBlocks = 4096;
constexpr unsigned kWidth = 2;
constexpr Address kFirst = 64;     // size of the first direct blocks
constexpr Address kLargest = 128;  // and of the largest: rows 0, 1 and 2 are direct, row 3 has indirect blocks of 256
constexpr unsigned kBits = 16;
constexpr Address kPrefix = 5 + 8 + 2;

// The filter of the test's blocks: every byte is inverted; with a filter mask it was not applied.
class Inverter final : public BlockDecoder {
public:
    Status decode(FileState& file, ConstBytes pipeline, std::uint32_t mask, Address address, Address stored,
                  Bytes to) const noexcept override {
        EXPECT_EQ(text_of(pipeline), std::string_view("pipeline"));
        if (stored != to.size()) {
            return Status::corrupt_file;
        }
        H5MOTE_TRY(file.driver.read(Usage::raw_data, address, to));
        for (std::byte& each : to) {
            each = mask == 0 ? ~each : each;
        }
        return Status::ok;
    }
};

struct Options {
    unsigned id_length = 8;
    bool checksums = true;
    bool filtered = false;
    unsigned root_rows = 4;
    unsigned max_managed = 100;
};

class HeapFile {
public:
    explicit HeapFile(const Options& options = {}) noexcept : file(8, 1024), options_(options) {
        file->block_decoder = &inverter_;
        write_header();
        if (options.root_rows == 0) {
            write_direct(kBlocks, 0, kFirst);
            return;
        }
        // All direct blocks exist except the second of row 1, and the first of the two indirect blocks.
        Writer root = indirect(kRoot, 0);
        Address offset = 0;
        for (unsigned i = 0; i < 6; ++i) {
            const Address size = i < 4 ? kFirst : 2 * kFirst;
            const bool exists = i != 3;
            entry(root, exists ? kBlocks + offset : kUndefinedAddress, size);
            if (exists) {
                write_direct(kBlocks + offset, offset, size);
            }
            offset += size;
        }
        file.write_addr(root, kInner);
        file.write_addr(root, kUndefinedAddress);
        seal(kRoot, root);
        inner_offset = offset;
        Writer inner = indirect(kInner, offset);
        for (unsigned i = 0; i < 4; ++i, offset += kFirst) {
            entry(inner, kBlocks + offset, kFirst);
            write_direct(kBlocks + offset, offset, kFirst);
        }
        seal(kInner, inner);
        end = offset;
    }

    Address overhead() const noexcept { return kPrefix + (options_.checksums ? 4 : 0); }

    // Returns the heap id of a managed object.
    ConstBytes id(Address offset, Address length) noexcept {
        std::memset(id_, 0, sizeof id_);
        store_uint(id_ + 1, 2, offset);
        store_uint(id_ + 3, 1, length);
        return ConstBytes(id_).first(options_.id_length);
    }

    void write_header() noexcept {
        Writer writer = file.write(kHeader);
        writer.bytes(bytes_of("FRHP"));
        writer.u8(0);
        writer.u16(options_.id_length);
        writer.u16(options_.filtered ? 8 : 0);
        writer.u8(options_.checksums ? 2 : 0);
        writer.u32(options_.max_managed);
        writer.u64(0);
        file.write_addr(writer, kTree);
        writer.u64(11);
        file.write_addr(writer, kUndefinedAddress);
        for (std::uint64_t value = 21; value < 29; ++value) {
            writer.u64(value);
        }
        writer.u16(kWidth);
        writer.u64(kFirst);
        writer.u64(kLargest);
        writer.u16(kBits);
        writer.u16(4);
        file.write_addr(writer, options_.root_rows == 0 ? kBlocks : kRoot);
        writer.u16(options_.root_rows);
        if (options_.filtered) {
            writer.u64(kFirst);
            writer.u32(0);
            writer.bytes(bytes_of("pipeline"));
        }
        seal(kHeader, writer);
        header_size = writer.written() + 4;
    }

    void write_direct(Address address, Address offset, Address size) noexcept {
        Writer writer = file.write(address);
        writer.bytes(bytes_of("FHDB"));
        writer.u8(0);
        file.write_addr(writer, kHeader);
        writer.uint(2, offset);
        std::memset(file.at(address + kPrefix), 0, 4);
        for (Address i = overhead(); i < size; ++i) {
            *file.at(address + i) = static_cast<std::byte>(offset + i);
        }
        if (options_.checksums) {
            store_le(file.at(address + kPrefix), lookup3({file.at(address), static_cast<std::size_t>(size)}));
        }
        for (Address i = 0; options_.filtered && i < size; ++i) {
            *file.at(address + i) = ~*file.at(address + i);
        }
    }

    void seal(Address address, const Writer& writer) noexcept { file.seal(address, writer.written() + 4); }

    StructureFile file;
    Address inner_offset = 0;
    Address end = 0;
    std::size_t header_size = 0;

private:
    Writer indirect(Address address, Address offset) noexcept {
        Writer writer = file.write(address);
        writer.bytes(bytes_of("FHIB"));
        writer.u8(0);
        file.write_addr(writer, kHeader);
        writer.uint(2, offset);
        return writer;
    }
    void entry(Writer& writer, Address address, Address size) noexcept {
        file.write_addr(writer, address);
        if (options_.filtered) {
            writer.u64(size);
            writer.u32(0);
        }
    }

    Options options_;
    Inverter inverter_;
    std::byte id_[32];
};

// Whether the heap gives the object with the bytes that the model has at that offset.
bool is_object(FractalHeap& heap, HeapFile& model, Address offset, Address length) noexcept {
    MetadataWindow window;
    bool same = heap.object(model.id(offset, length), window) == Status::ok && window.size() == length;
    for (Address i = 0; i < length && same; ++i) {
        ConstBytes byte;
        same = window.view(i, 1, byte) == Status::ok && byte[0] == static_cast<std::byte>(offset + i);
    }
    return same;
}

}  // namespace

TEST(FractalHeap, ManagedObjects) {
    for (const bool filtered : {false, true}) {
        for (const bool checksums : {false, true}) {
            Options options;
            options.filtered = filtered;
            options.checksums = checksums;
            HeapFile model(options);
            FractalHeap heap;
            ASSERT_EQ(heap.open(*model.file, kHeader), Status::ok);
            EXPECT_EQ(heap.id_length(), 8U);
            const Address overhead = model.overhead();
            for (const Address block : {0U, 64U, 128U, 256U, 384U, 512U, 576U, 640U, 704U}) {
                const Address size = block == 256 || block == 384 ? 128 : 64;
                EXPECT_TRUE(is_object(heap, model, block + overhead, 1));
                EXPECT_TRUE(is_object(heap, model, block + overhead, size - overhead < 100 ? size - overhead : 100));
                EXPECT_TRUE(is_object(heap, model, block + size - 1, 1));
                MetadataWindow window;
                EXPECT_EQ(heap.object(model.id(block, 1), window), Status::corrupt_file);
                EXPECT_EQ(heap.object(model.id(block + overhead - 1, 1), window), Status::corrupt_file);
                EXPECT_EQ(heap.object(model.id(block + overhead, 0), window), Status::corrupt_file);
                EXPECT_EQ(heap.object(model.id(block + size - 1, 2), window), Status::corrupt_file);
                EXPECT_EQ(heap.object(model.id(block + overhead, 101), window), Status::corrupt_file);
            }
            // Offsets in blocks that do not exist, and behind the last row.
            for (const Address offset : {192U, 255U, 768U, 1023U, 1024U, 65535U}) {
                MetadataWindow window;
                EXPECT_EQ(heap.object(model.id(offset, 1), window), Status::corrupt_file);
            }
            BlockSum sum;
            *model.file.at(kHeader + 22) = std::byte{0xff};  // undefined address of the B-tree of huge objects
            std::memset(model.file.at(kHeader + 22), 0xff, 8);
            model.file.seal(kHeader, model.header_size);
            FractalHeap again;
            ASSERT_EQ(again.open(*model.file, kHeader), Status::ok);
            EXPECT_EQ(again.walk(sum), Status::ok);
            EXPECT_EQ(sum.blocks, 1U + 2 + 9);
        }
    }
}

TEST(FractalHeap, RootIsDirectBlock) {
    for (const bool filtered : {false, true}) {
        Options options;
        options.filtered = filtered;
        options.root_rows = 0;
        HeapFile model(options);
        FractalHeap heap;
        ASSERT_EQ(heap.open(*model.file, kHeader), Status::ok);
        EXPECT_TRUE(is_object(heap, model, model.overhead(), 40));
        MetadataWindow window;
        EXPECT_EQ(heap.object(model.id(kFirst, 1), window), Status::corrupt_file);
        FractalHeapHeader header;
        EXPECT_EQ(heap.read_header(header), Status::ok);
        EXPECT_EQ(header.free_space, 11U);
        EXPECT_EQ(header.managed_space, 21U);
        EXPECT_EQ(header.allocated, 22U);
        EXPECT_EQ(header.managed, 24U);
        EXPECT_EQ(header.huge_bytes, 25U);
        EXPECT_EQ(header.huge, 26U);
        EXPECT_EQ(header.tiny_bytes, 27U);
        EXPECT_EQ(header.tiny, 28U);
    }
}

TEST(FractalHeap, FilterThatIsMissing) {
    Options options;
    options.filtered = true;
    HeapFile model(options);
    model.file->block_decoder = nullptr;
    FractalHeap heap;
    ASSERT_EQ(heap.open(*model.file, kHeader), Status::ok);
    MetadataWindow window;
    EXPECT_EQ(heap.object(model.id(30, 1), window), Status::unsupported);
}

TEST(FractalHeap, TinyObjects) {
    for (const unsigned length : {4U, 17U, 18U, 19U, 30U}) {
        Options options;
        options.id_length = length;
        HeapFile model(options);
        FractalHeap heap;
        ASSERT_EQ(heap.open(*model.file, kHeader), Status::ok);
        const bool extended = length > 18;
        const unsigned most = extended ? length - 2 : length == 18 ? 16 : length - 1;
        std::byte id[32];
        for (unsigned i = 0; i < sizeof id; ++i) {
            id[i] = static_cast<std::byte>(i);
        }
        for (const unsigned size : {1U, most, most + 1}) {
            const unsigned stored = size - 1;
            id[0] = static_cast<std::byte>(0x20U | (extended ? stored >> 8 : stored));
            id[1] = extended ? static_cast<std::byte>(stored) : std::byte{1};
            if (stored > 15 && !extended) {
                continue;  // longer than the id's length field allows
            }
            MetadataWindow window;
            const Status status = heap.object(ConstBytes(id).first(length), window);
            EXPECT_EQ(status, size <= most ? Status::ok : Status::corrupt_file);
            ConstBytes bytes;
            if (status == Status::ok) {
                EXPECT_EQ(window.size(), size);
                EXPECT_EQ(window.view(0, size, bytes), Status::ok);
                EXPECT_EQ(std::memcmp(bytes.data(), id + (extended ? 2 : 1), size), 0);
            }
        }
    }
}

namespace {

// Writes the B-tree of huge objects with one record.
void write_tree(HeapFile& model, unsigned type, ConstBytes record) noexcept {
    Writer leaf = model.file.write(kTree + 256);
    leaf.bytes(bytes_of("BTLF"));
    leaf.u8(0);
    leaf.u8(type);
    leaf.bytes(record);
    model.seal(kTree + 256, leaf);
    Writer writer = model.file.write(kTree);
    writer.bytes(bytes_of("BTHD"));
    writer.u8(0);
    writer.u8(type);
    writer.u32(512);
    writer.u16(record.size());
    writer.u16(0);
    writer.u16(0);
    model.file.write_addr(writer, kTree + 256);
    writer.u16(1);
    writer.u64(1);
    model.seal(kTree, writer);
}

}  // namespace

TEST(FractalHeap, HugeObjects) {
    constexpr Address kHuge = 8192;
    for (const bool filtered : {false, true}) {
        for (const bool direct : {false, true}) {
            Options options;
            options.filtered = filtered;
            options.id_length = direct ? 29 : 8;
            HeapFile model(options);
            for (unsigned i = 0; i < 3000; ++i) {
                *model.file.at(kHuge + i) = static_cast<std::byte>(filtered ? ~(i * 7) : i * 7);
            }
            std::byte bytes[40] = {};
            Writer record{Bytes(bytes)};
            model.file.write_addr(record, kHuge);
            record.u64(3000);
            if (filtered) {
                record.u32(0);
                record.u64(3000);
            }
            std::byte id[29] = {std::byte{0x10}};
            if (direct) {
                std::memcpy(id + 1, bytes, record.written());
            } else {
                id[1] = std::byte{42};
                record.u64(42);
            }
            const unsigned type = (direct ? 3U : 1U) + (filtered ? 1U : 0U);
            write_tree(model, type, ConstBytes(bytes).first(record.written()));
            FractalHeap heap;
            ASSERT_EQ(heap.open(*model.file, kHeader), Status::ok);
            MetadataWindow window;
            const ConstBytes wanted = ConstBytes(id).first(options.id_length);
            EXPECT_EQ(heap.object(wanted, window), Status::ok);
            EXPECT_EQ(window.size(), 3000U);
            for (const Address at : {Address{0}, Address{600}, Address{2999}}) {
                ConstBytes byte;
                EXPECT_EQ(window.view(at, 1, byte), Status::ok);
                EXPECT_EQ(byte[0], static_cast<std::byte>(at * 7));
            }
            window.close();
            BlockSum sum;
            EXPECT_EQ(heap.walk(sum), Status::ok);
            EXPECT_EQ(sum.blocks, 1U + 11 + 2 + 1);
            // An unknown id, an object beyond the file, a tree of another type, no tree.
            id[1] = std::byte{43};
            id[8] = std::byte{direct ? std::uint8_t{1} : std::uint8_t{0}};
            EXPECT_EQ(heap.object(wanted, window), Status::corrupt_file);
            window.close();
            if (!direct) {
                id[1] = std::byte{42};
                write_tree(model, 1 + (type & 1), ConstBytes(bytes).first(record.written()));
                EXPECT_EQ(heap.object(wanted, window), Status::corrupt_file);
                std::memset(model.file.at(kHeader + 22), 0xff, 8);
                model.file.seal(kHeader, model.header_size);
                FractalHeap without;
                ASSERT_EQ(without.open(*model.file, kHeader), Status::ok);
                EXPECT_EQ(without.object(wanted, window), Status::corrupt_file);
            }
        }
    }
}

TEST(FractalHeap, DamagedIds) {
    HeapFile model;
    FractalHeap heap;
    ASSERT_EQ(heap.open(*model.file, kHeader), Status::ok);
    MetadataWindow window;
    for (const unsigned first : {0x30U, 0x40U, 0x80U, 0xc0U}) {
        std::byte id[8] = {static_cast<std::byte>(first), std::byte{30}, {}, std::byte{1}};
        EXPECT_EQ(heap.object(id, window), Status::corrupt_file);
    }
    EXPECT_EQ(heap.object(model.id(30, 1).first(7), window), Status::corrupt_file);
    EXPECT_EQ(heap.object({}, window), Status::corrupt_file);
}

TEST(FractalHeap, DamagedHeaders) {
    struct Damage {
        unsigned offset;
        unsigned width;
        std::uint64_t value;
    };
    // Offsets for 8-byte addresses and lengths: id length 5, filter length 7, then from 110 on: table width, first
    // block size, largest block size, heap size in bits, first rows, root address, rows.
    const Damage damages[] = {
        {0, 1, 'f'},          {4, 1, 1},    {5, 2, 3},     {110, 2, 0},   {110, 2, 3},
        {112, 8, 0},          {112, 8, 63}, {112, 8, 256}, {120, 8, 100}, {120, 8, 0},
        {120, 8, 1ULL << 40}, {128, 2, 6},  {128, 2, 64},  {140, 2, 11},  {140, 2, 0xffff},
    };
    HeapFile model;
    EXPECT_EQ(model.header_size, 146U);
    for (const Damage& damage : damages) {
        model.write_header();
        store_uint(model.file.at(kHeader + damage.offset), damage.width, damage.value);
        model.file.seal(kHeader, model.header_size);
        FractalHeap heap;
        EXPECT_EQ(heap.open(*model.file, kHeader), Status::corrupt_file);
    }
    model.write_header();
    *model.file.at(kHeader + 60) ^= std::byte{1};
    FractalHeap heap;
    EXPECT_EQ(heap.open(*model.file, kHeader), Status::corrupt_file);
    EXPECT_EQ(heap.open(*model.file, kUndefinedAddress), Status::corrupt_file);
    EXPECT_EQ(heap.open(*model.file, sizeof bench_storage - 20), Status::corrupt_file);
}

// Two fields at once get values that are valid in other heaps: the blocks that they promise do not exist.
TEST(FractalHeap, HeadersOfOtherHeaps) {
    struct Field {
        unsigned offset;
        unsigned width;
        std::uint64_t value;
    };
    // Offsets as above; also flags 9, largest managed object 10, root address 132.
    const Field fields[] = {
        {5, 2, 5},         {5, 2, 8},          {5, 2, 40},       {9, 1, 0},      {9, 1, 3},          {10, 4, 0},
        {10, 4, 1},        {10, 4, 70000},     {10, 4, ~0U},     {110, 2, 1},    {110, 2, 2},        {110, 2, 8},
        {110, 2, 1024},    {112, 8, 1},        {112, 8, 64},     {112, 8, 4096}, {112, 8, 1U << 31}, {120, 8, 64},
        {120, 8, 4096},    {120, 8, 1U << 31}, {128, 2, 7},      {128, 2, 10},   {128, 2, 40},       {128, 2, 63},
        {132, 8, kHeader}, {132, 8, kBlocks},  {132, 8, kInner}, {140, 2, 0},    {140, 2, 1},        {140, 2, 6},
        {140, 2, 11},      {140, 2, 54},
    };
    HeapFile model;
    unsigned opened = 0;
    for (const Field& first : fields) {
        for (const Field& second : fields) {
            model.write_header();
            store_uint(model.file.at(kHeader + first.offset), first.width, first.value);
            store_uint(model.file.at(kHeader + second.offset), second.width, second.value);
            model.file.seal(kHeader, model.header_size);
            FractalHeap heap;
            const Status status = heap.open(*model.file, kHeader);
            EXPECT_TRUE(status == Status::ok || status == Status::corrupt_file);
            if (status != Status::ok) {
                continue;
            }
            ++opened;
            for (const Address offset : {Address{30}, model.inner_offset + 30, Address{0xfff0}}) {
                std::byte id[40] = {};
                store_uint(id + 1, 2, offset);
                id[3] = id[4] = std::byte{1};
                MetadataWindow window;
                const Status found = heap.object(id, window);
                EXPECT_TRUE(found == Status::ok || found == Status::corrupt_file);
                EXPECT_TRUE(found != Status::ok || window.size() <= 70000);
            }
            BlockSum sum;
            const Status walked = heap.walk(sum);
            EXPECT_TRUE(walked == Status::ok || walked == Status::corrupt_file);
            EXPECT_LT(sum.blocks, 30U);
        }
    }
    EXPECT_GT(opened, 100U);
}

TEST(FractalHeap, DamagedBlocks) {
    struct Damage {
        Address address;
        unsigned width;
        std::uint64_t value;
        Address block;  // indirect block whose checksum is repaired, or 0
    };
    constexpr Address kEntry = kRoot + kPrefix;
    const Damage damages[] = {
        {kRoot, 1, 0, kRoot},                      // signature
        {kRoot + 5, 8, kHeader + 1, kRoot},        // header address of another heap
        {kRoot + 13, 2, 8, kRoot},                 // another block offset
        {kRoot + 20, 1, 99, 0},                    // checksum
        {kEntry, 8, sizeof bench_storage, kRoot},  // first block: beyond the file
        {kEntry, 8, kRoot, kRoot},                 // itself
        {kEntry, 8, kBlocks + 64, kRoot},          // another block
        {kBlocks, 1, 0, 0},                        // a direct block's signature
        {kBlocks + 30, 1, 99, 0},                  // and its checksum
    };
    for (const Damage& damage : damages) {
        HeapFile model;
        store_uint(model.file.at(damage.address), damage.width, damage.value);
        if (damage.block != 0) {
            model.file.seal(damage.block, kPrefix + 8 * 8 + 4);
        }
        FractalHeap heap;
        ASSERT_EQ(heap.open(*model.file, kHeader), Status::ok);
        MetadataWindow window;
        EXPECT_EQ(heap.object(model.id(30, 1), window), Status::corrupt_file);
        BlockSum sum;
        EXPECT_EQ(heap.walk(sum), Status::corrupt_file);
    }
    // An indirect block below the root that is the root, or its own child.
    HeapFile model;
    store_le<std::uint64_t>(model.file.at(kEntry + 6 * 8), kRoot);
    model.file.seal(kRoot, kPrefix + 8 * 8 + 4);
    FractalHeap heap;
    ASSERT_EQ(heap.open(*model.file, kHeader), Status::ok);
    MetadataWindow window;
    EXPECT_EQ(heap.object(model.id(model.inner_offset + 30, 1), window), Status::corrupt_file);
    BlockSum sum;
    EXPECT_EQ(heap.walk(sum), Status::corrupt_file);
    EXPECT_LT(sum.blocks, 20U);
}

#endif
