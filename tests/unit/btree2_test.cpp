// Version 2 B-trees of several levels, and damaged ones.
#include "btree2.hpp"
#include "structure_file.hpp"
#include "text.hpp"

#if H5MOTE_ALL_FORMATS

using namespace h5mote;
using namespace h5mote_test;

namespace {

constexpr Address kHeader = 512;
constexpr Address kNodes = 1024;
constexpr std::size_t kRecord = 15;  // record: link by creation order
constexpr std::size_t kNodeSize = 70;
constexpr unsigned kLeafRecords = 4;  // (70 - 10) / 15
constexpr std::size_t kMost = 250;

// Compares records with the creation order that is looked for.
class Wanted final : public RecordCompare {
public:
    explicit Wanted(std::uint64_t order) noexcept : order_(order) {}
    Status compare(ConstBytes record, int& order) noexcept override {
        const auto its = load_le<std::uint64_t>(record.data());
        order = order_ < its ? -1 : order_ > its ? 1 : 0;
        return Status::ok;
    }

private:
    std::uint64_t order_;
};

// A tree whose nodes are full, or have one record each: record i has the creation order 2 * i.
class RecordTree {
public:
    RecordTree(unsigned depth, bool full, std::uint8_t sizeof_addr = 8) noexcept
        : file(sizeof_addr, 1024), depth_(depth), full_(full) {
        Node node = make(depth);
        root = node.address;
        Writer writer = file.write(kHeader);
        writer.bytes(bytes_of("BTHD"));
        writer.u8(0);
        writer.u8(6);
        writer.u32(kNodeSize);
        writer.u16(kRecord);
        writer.u16(depth);
        writer.u8(98);
        writer.u8(40);
        file.write_addr(writer, node.address);
        writer.u16(node.records);
        writer.u64(node.total);
        header_size = writer.written() + 4;
        file.seal(kHeader, header_size);
    }

    struct Node {
        Address address;
        unsigned records;
        std::uint64_t total;
    };

    // Records in a node: one, or in a full internal node two. A pointer to a child is its address, its record count (1
    // byte) and, above the lowest internal level, the total below it (1 byte).
    unsigned records_at(unsigned depth) const noexcept {
        if (!full_) {
            return 1;
        }
        const std::size_t pointer = file_width() + 1U + (depth > 1 ? 1U : 0U);
        return depth == 0 ? kLeafRecords : static_cast<unsigned>((kNodeSize - 10 - pointer) / (kRecord + pointer));
    }
    std::size_t file_width() const noexcept { return const_cast<StructureFile&>(file)->shape().sizeof_addr; }

    void put_record(Writer& writer) noexcept {
        writer.u64(2 * count++);
        writer.fill(std::byte{0x55}, 7);
    }

    // Writes the nodes in the order of their records; a node's own records come between those of its children.
    Node make(unsigned depth) noexcept {
        const unsigned records = records_at(depth);
        Node children[6];
        std::byte own[6 * kRecord];
        Writer records_writer{Bytes(own)};
        std::uint64_t total = 0;
        for (unsigned i = 0; i <= records; ++i) {
            if (depth > 0) {
                children[i] = make(depth - 1);
                total += children[i].total;
            }
            if (i < records) {
                put_record(records_writer);
                ++total;
            }
        }
        const Node made{kNodes + nodes++ * Address{kNodeSize}, records, total};
        Writer writer = file.write(made.address);
        writer.bytes(bytes_of(depth == 0 ? "BTLF" : "BTIN"));
        writer.u8(0);
        writer.u8(6);
        writer.bytes(ConstBytes(own).first(records * kRecord));
        for (unsigned i = 0; depth > 0 && i <= records; ++i) {
            file.write_addr(writer, children[i].address);
            writer.u8(children[i].records);
            if (depth > 1) {
                writer.uint(depth > 4 ? 2 : 1, children[i].total);  // a full child of depth 4 has 404 records below it
            }
        }
        file.seal(made.address, writer.written() + 4);
        size_of_last = writer.written() + 4;
        return made;
    }

    StructureFile file;
    std::uint64_t count = 0;
    Address nodes = 0;
    Address root = 0;
    std::size_t header_size = 0;
    std::size_t size_of_last = 0;  // size of the node written last, in the end the root

private:
    unsigned depth_;
    bool full_;
};

// Reads all records by position forwards and backwards, and looks each up by comparing. Returns how many calls failed.
unsigned failures(BTree2& tree, std::uint64_t count) noexcept {
    unsigned failed = 0;
    std::byte record[BTree2::kMaxRecordSize];
    for (std::uint64_t i = 0; i < 2 * count; ++i) {
        const std::uint64_t at = i < count ? i : 2 * count - 1 - i;
        failed += tree.record(at, record) != Status::ok || load_le<std::uint64_t>(record) != 2 * at ? 1U : 0U;
    }
    for (std::uint64_t i = 0; i < 2 * count + 1; ++i) {
        Wanted wanted(i);
        std::uint64_t index = kMost + 1;
        const Status status = tree.find(wanted, record, &index);
        const bool exists = i % 2 == 0 && i < 2 * count;
        failed += status != (exists ? Status::ok : Status::not_found) || (exists && index != i / 2) ? 1U : 0U;
        failed += exists && tree.find(wanted, record) != Status::ok ? 1U : 0U;
    }
    return failed;
}

}  // namespace

TEST(BTree2, RecordsOfEveryDepth) {
    for (const std::uint8_t width : {std::uint8_t{4}, std::uint8_t{8}}) {
        for (const bool full : {false, true}) {
            for (unsigned depth = 0; depth <= (full ? 2U : 5U); ++depth) {
                RecordTree model(depth, full, width);
                ASSERT_LT(model.count, kMost);
                BTree2 tree;
                ASSERT_EQ(tree.open(*model.file, kHeader), Status::ok);
                EXPECT_EQ(tree.type(), BTree2Type::link_order);
                EXPECT_EQ(tree.record_size(), kRecord);
                EXPECT_EQ(tree.depth(), depth);
                EXPECT_EQ(tree.size(), model.count);
                EXPECT_EQ(failures(tree, model.count), 0U);
                std::byte record[BTree2::kMaxRecordSize];
                EXPECT_EQ(tree.record(model.count, record), Status::not_found);
                EXPECT_EQ(tree.record(~std::uint64_t{0}, record), Status::not_found);
                BlockSum sum;
                EXPECT_EQ(tree.walk(sum), Status::ok);
                EXPECT_EQ(sum.blocks, 1 + model.nodes);
            }
        }
    }
}

TEST(BTree2, EmptyTree) {
    RecordTree model(0, false);
    const std::size_t address = 16;
    store_le<std::uint64_t>(model.file.at(kHeader + address), ~std::uint64_t{0});
    store_le<std::uint16_t>(model.file.at(kHeader + address + 8), 0);
    store_le<std::uint64_t>(model.file.at(kHeader + address + 10), 0);
    model.file.seal(kHeader, model.header_size);
    BTree2 tree;
    EXPECT_EQ(tree.open(*model.file, kHeader), Status::ok);
    EXPECT_EQ(failures(tree, 0), 0U);
    BlockSum sum;
    EXPECT_EQ(tree.walk(sum), Status::ok);
    EXPECT_EQ(sum.blocks, 1U);
}

TEST(BTree2, DamagedHeaders) {
    struct Damage {
        unsigned offset;
        unsigned width;
        std::uint64_t value;
    };
    const Damage damages[] = {
        {0, 1, 'b'}, {4, 1, 1},       {6, 4, 0},    {6, 4, 24},   {10, 2, 0},        {10, 2, 0xffff},
        {10, 2, 62}, {12, 2, 0xffff}, {12, 2, 200}, {24, 2, 200}, {26, 8, 1U << 30}, {26, 8, ~std::uint64_t{0}},
    };
    for (const Damage& damage : damages) {
        RecordTree model(2, false);
        store_uint(model.file.at(kHeader + damage.offset), damage.width, damage.value);
        model.file.seal(kHeader, model.header_size);
        BTree2 tree;
        EXPECT_EQ(tree.open(*model.file, kHeader), Status::corrupt_file);
    }
    RecordTree model(2, false);
    *model.file.at(kHeader + 20) ^= std::byte{1};  // wrong checksum
    BTree2 tree;
    EXPECT_EQ(tree.open(*model.file, kHeader), Status::corrupt_file);
    EXPECT_EQ(tree.open(*model.file, sizeof bench_storage - 4), Status::corrupt_file);
    EXPECT_EQ(tree.open(*model.file, kUndefinedAddress), Status::corrupt_file);
}

TEST(BTree2, DamagedNodes) {
    struct Damage {
        unsigned offset;  // in the root, of depth 2 with one record: prefix 6, record 15, pointers of 8 + 1 + 1
        unsigned width;
        std::uint64_t value;
        bool sealed;
    };
    const Damage damages[] = {
        {0, 4, 0x464c5442, true},  // leaf signature
        {4, 1, 1, true},           // version
        {5, 1, 5, true},           // type
        {10, 1, 77, false},        // checksum
        {21, 8, kNodes, true},     // a child of another depth
        {21, 8, sizeof bench_storage, true},
        {21, 8, ~std::uint64_t{0}, true},
        {29, 1, 9, true},    // more records than fit
        {29, 1, 2, true},    // not as many as there are
        {30, 1, 0, true},    // fewer below than in the child
        {30, 1, 200, true},  // more below than in the tree
        {30, 1, 5, true},    // more below than there are
        {40, 1, 1, true},    // fewer below than there are: the last are missing
    };
    for (const Damage& damage : damages) {
        RecordTree model(2, false);
        store_uint(model.file.at(model.root + damage.offset), damage.width, damage.value);
        if (damage.sealed) {
            model.file.seal(model.root, model.size_of_last);
        }
        BTree2 tree;
        EXPECT_EQ(tree.open(*model.file, kHeader), Status::ok);
        EXPECT_GT(failures(tree, model.count), 0U);
        BlockSum sum;
        EXPECT_EQ(tree.walk(sum), Status::corrupt_file);
        EXPECT_LT(sum.blocks, 20U);
    }
    // A node that is its own child is refused, because it does not have the depth of a child.
    RecordTree model(3, false);
    store_le<std::uint64_t>(model.file.at(model.root + 21), model.root);
    model.file.seal(model.root, model.size_of_last);
    BTree2 tree;
    EXPECT_EQ(tree.open(*model.file, kHeader), Status::ok);
    EXPECT_GT(failures(tree, model.count), 0U);
}

TEST(BTree2, RecordsOfEveryType) {
    const FileShape shape;
    std::byte bytes[64];
    for (unsigned i = 0; i < sizeof bytes; ++i) {
        bytes[i] = static_cast<std::byte>(i);
    }
    const ConstBytes all(bytes);
    HugeRecord huge;
    EXPECT_TRUE(huge.decode(shape, BTree2Type::huge_direct, all.first(16)));
    EXPECT_EQ(huge.address, h5mote::narrow(0x0706050403020100U));
    EXPECT_EQ(huge.memory_size, h5mote::narrow(0x0f0e0d0c0b0a0908U));
    EXPECT_TRUE(huge.decode(shape, BTree2Type::huge_indirect, all.first(24)));
    EXPECT_EQ(huge.id, 0x1716151413121110U);
    EXPECT_FALSE(huge.decode(shape, BTree2Type::huge_indirect, all.first(23)));
    EXPECT_TRUE(huge.decode(shape, BTree2Type::huge_indirect_filtered, all.first(36)));
    EXPECT_EQ(huge.mask, 0x13121110U);
    EXPECT_EQ(huge.memory_size, h5mote::narrow(0x1b1a191817161514U));
    EXPECT_EQ(huge.id, 0x232221201f1e1d1cU);
    LinkNameRecord name;
    EXPECT_TRUE(name.decode(all.first(11)));
    EXPECT_EQ(name.hash, 0x03020100U);
    EXPECT_EQ(name.heap_id[0], std::byte{4});
    EXPECT_FALSE(name.decode(all.first(12)));
    LinkOrderRecord order;
    EXPECT_TRUE(order.decode(all.first(15)));
    EXPECT_FALSE(order.decode(all.first(14)));
    AttributeRecord attribute;
    EXPECT_TRUE(attribute.decode(BTree2Type::attribute_name, all.first(17)));
    EXPECT_EQ(attribute.flags, 8U);
    EXPECT_EQ(attribute.order, 0x0c0b0a09U);
    EXPECT_EQ(attribute.hash, 0x100f0e0dU);
    EXPECT_TRUE(attribute.decode(BTree2Type::attribute_order, all.first(13)));
    EXPECT_FALSE(attribute.decode(BTree2Type::attribute_order, all.first(17)));
    SharedMessageRecord shared;
    EXPECT_TRUE(shared.decode(shape, all.first(17)));
    EXPECT_TRUE(shared.in_heap);
    EXPECT_EQ(shared.hash, 0x04030201U);
    EXPECT_EQ(shared.references, 0x08070605U);
    EXPECT_EQ(shared.heap_id[0], std::byte{9});
    EXPECT_TRUE(shared.decode(shape, all.subspan(1, 17)));
    EXPECT_FALSE(shared.in_heap);
    EXPECT_EQ(shared.message_type, 7U);
    EXPECT_EQ(shared.message_index, 0x0908U);
    EXPECT_EQ(shared.header, h5mote::narrow(0x11100f0e0d0c0b0aU));
    EXPECT_FALSE(shared.decode(shape, all.subspan(2, 17)));
    EXPECT_EQ(SharedMessageRecord::size(shape), 17U);
    ChunkLocation location;
    std::uint64_t scaled[2];
    EXPECT_TRUE(ChunkRecord::decode(shape, BTree2Type::chunk, 2, all.first(24), location, scaled));
    EXPECT_EQ(scaled[1], 0x1716151413121110U);
    EXPECT_FALSE(ChunkRecord::decode(shape, BTree2Type::chunk, 2, all.first(25), location, scaled));
    EXPECT_TRUE(ChunkRecord::decode(shape, BTree2Type::chunk_filtered, 1, all.first(23), location, scaled));
    EXPECT_EQ(location.size, 0x0a0908U);
    EXPECT_EQ(location.mask, 0x0e0d0c0bU);
    EXPECT_EQ(scaled[0], 0x161514131211100fU);
    EXPECT_EQ(ChunkRecord::coordinate(all.first(23), 1, 0), scaled[0]);
    EXPECT_FALSE(ChunkRecord::decode(shape, BTree2Type::chunk_filtered, 1, all.first(20), location, scaled));
    EXPECT_FALSE(ChunkRecord::decode(shape, BTree2Type::chunk_filtered, 1, all.first(29), location, scaled));
}

#endif
