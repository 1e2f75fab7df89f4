// Version 1 B-trees of several levels, and damaged ones.
#include "btree1.hpp"
#include "structure_file.hpp"
#include "text.hpp"

#if H5MOTE_ALL_FORMATS

using namespace h5mote;
using namespace h5mote_test;

namespace {

// Replaces the local heap: symbol i has the three-digit name 2 * i + 1, and key k is the name of the last symbol below
// it.
class Digits final : public SymbolNames {
public:
    Status compare(Address offset, ConstBytes name, int& order) noexcept override {
        char text[4] = {};
        print(offset, text);
        const std::string_view mine = text_of(name);
        order = mine.compare(offset == 0 ? std::string_view() : std::string_view(text, 3));
        return Status::ok;
    }
    static void print(Address value, char* to) noexcept {
        to[0] = static_cast<char>('0' + value / 100 % 10);
        to[1] = static_cast<char>('0' + value / 10 % 10);
        to[2] = static_cast<char>('0' + value % 10);
    }
};

constexpr unsigned kK = 1;
constexpr Address kNodes = 512;
constexpr unsigned kSymbols = 40;  // 2 symbols in a symbol table node, 2 of those under a leaf, ...

// A B-tree of a group whose nodes have two children. Built bottom up, with all nodes of a level side by side.
class GroupTree {
public:
    explicit GroupTree(std::uint8_t sizeof_addr = 8) noexcept : file(sizeof_addr, 1024) {
        file->btree_k = {kK, kK, kK};
        Address children = kSymbols / 2;
        Address below = kNodes;
        Address below_size = 8 + 2 * SymbolEntry::size(file->shape());
        for (unsigned i = 0; i < children; ++i) {
            Writer writer = file.write(below + i * below_size);
            writer.bytes(bytes_of("SNOD"));
            writer.u8(1);
            writer.u8(0);
            writer.u16(2);
            for (unsigned k = 2 * i; k < 2 * i + 2; ++k) {
                file->shape().write_size(writer, 2 * k + 1);
                file.write_addr(writer, 10000 + k);
                writer.fill(std::byte{0}, 24);
            }
        }
        node_size = 8 + 2 * sizeof_addr + 3 * 8 + 2 * sizeof_addr;
        Address at = below + children * below_size;
        std::uint64_t symbols_below = 2;
        for (unsigned level = 0; children > 1 || level == 0; ++level) {
            const Address nodes = (children + 1) / 2;
            levels[level] = at;
            for (Address i = 0; i < nodes; ++i) {
                const unsigned entries = children - 2 * i < 2 ? 1 : 2;
                Writer writer = file.write(at + i * node_size);
                writer.bytes(bytes_of("TREE"));
                writer.u8(0);
                writer.u8(level);
                writer.u16(entries);
                file.write_addr(writer, i == 0 ? kUndefinedAddress : at + (i - 1) * node_size);
                file.write_addr(writer, i + 1 == nodes ? kUndefinedAddress : at + (i + 1) * node_size);
                for (Address k = 0; k <= entries; ++k) {
                    const std::uint64_t before = (2 * i + k) * symbols_below;
                    const std::uint64_t last = before > kSymbols ? kSymbols : before;
                    file->shape().write_size(writer, last == 0 ? 0 : 2 * (last - 1) + 1);
                    if (k < entries) {
                        file.write_addr(writer, below + (2 * i + k) * below_size);
                    }
                }
            }
            below = at;
            below_size = node_size;
            at += nodes * node_size;
            children = nodes;
            symbols_below *= 2;
            top = level;
        }
        tree.open(*file, levels[top], names);
    }

    // Returns how many symbols an iteration gives before it ends with `status`.
    unsigned count(bool backwards, Status& status) noexcept {
        GroupBTree1::Cursor cursor;
        cursor.backwards = backwards;
        SymbolEntry symbol;
        unsigned symbols = 0;
        while ((status = tree.next(cursor, symbol)) == Status::ok) {
            EXPECT_EQ(symbol.header, 10000 + (backwards ? kSymbols - 1 - symbols : symbols));
            ++symbols;
        }
        return symbols;
    }
    Status find(unsigned value) noexcept {
        char text[3];
        Digits::print(value, text);
        SymbolEntry symbol;
        const Status status = tree.find(bytes_of(std::string_view(text, 3)), symbol);
        EXPECT_TRUE(status != Status::ok || symbol.header == 10000 + value / 2);
        return status;
    }

    StructureFile file;
    Digits names;
    GroupBTree1 tree;
    Address node_size = 0;
    Address levels[8] = {};
    unsigned top = 0;
};

}  // namespace

TEST(BTree1, GroupOfSeveralLevels) {
    for (const std::uint8_t width : {std::uint8_t{4}, std::uint8_t{8}}) {
        GroupTree group(width);
        EXPECT_EQ(group.top, 4U);
        for (unsigned i = 0; i < 2 * kSymbols + 2; ++i) {
            EXPECT_EQ(group.find(i), i % 2 == 1 && i < 2 * kSymbols ? Status::ok : Status::not_found);
        }
        Status status;
        EXPECT_EQ(group.count(false, status), kSymbols);
        EXPECT_EQ(status, Status::not_found);
        EXPECT_EQ(group.count(true, status), kSymbols);
        EXPECT_EQ(status, Status::not_found);
        BlockSum sum;
        EXPECT_EQ(group.tree.walk(sum), Status::ok);
        EXPECT_EQ(sum.blocks, 20U + 10 + 5 + 3 + 2 + 1);
        unsigned levels = 0;
        EXPECT_EQ(group.tree.height(levels), Status::ok);
        EXPECT_EQ(levels, 4U);
    }
}

TEST(BTree1, EmptyGroup) {
    GroupTree group;
    store_le<std::uint16_t>(group.file.at(group.levels[0] + 6), 0);
    store_le<std::uint64_t>(group.file.at(group.levels[0] + 16), ~std::uint64_t{0});
    group.tree.open(*group.file, group.levels[0], group.names);
    Status status;
    EXPECT_EQ(group.count(false, status), 0U);
    EXPECT_EQ(status, Status::not_found);
    EXPECT_EQ(group.count(true, status), 0U);
    EXPECT_EQ(status, Status::not_found);
    EXPECT_EQ(group.find(1), Status::not_found);
}

// Each damage is noticed by a lookup of a name, by iterating forwards or by iterating backwards.
TEST(BTree1, DamagedGroups) {
    struct Damage {
        unsigned level;
        unsigned node;
        unsigned offset;  // within the node
        std::uint64_t value;
        unsigned width;
        bool forwards;  // noticed by iterating forwards
        bool backwards;
        bool lookup;
    };
    const GroupTree model;
    const Address leaf = model.levels[0];
    const Address size = model.node_size;
    const Damage damages[] = {
        {4, 0, 0, 0x65657274, 4, true, true, true},             // signature
        {4, 0, 4, 1, 1, true, true, true},                      // type
        {4, 0, 5, 3, 1, true, true, true},                      // level
        {4, 0, 5, 255, 1, true, true, true},                    // level, which is too high for an iteration
        {4, 0, 6, 3, 2, true, true, true},                      // more entries than fit
        {4, 0, 32, model.levels[4], 8, true, true, true},       // its own child
        {3, 0, 32, model.levels[4], 8, true, true, true},       // a child on a higher level
        {4, 0, 32, leaf, 8, true, true, true},                  // a level is missing
        {4, 0, 32, sizeof bench_storage, 8, true, true, true},  // behind the file
        {4, 0, 32, ~std::uint64_t{0}, 8, true, true, true},     // undefined address
        // Siblings, which nobody follows: where there is none, a cycle, backwards, on another level.
        {0, 0, 8, leaf + size, 8, false, false, false},
        {0, 0, 16, leaf, 8, false, false, false},
        {0, 1, 16, leaf, 8, false, false, false},
        {0, 5, 16, leaf + size, 8, false, false, false},
        {0, 5, 8, leaf + 2 * size, 8, false, false, false},
        {0, 5, 16, model.levels[1], 8, false, false, false},
        {0, 0, 32, leaf, 8, true, true, true},  // no symbol table node
        {3, 0, 6, 0, 2, true, true, false},     // no children
    };
    for (const Damage& damage : damages) {
        GroupTree group;
        store_uint(group.file.at(group.levels[damage.level] + damage.node * size + damage.offset), damage.width,
                   damage.value);
        const Status noticed = damage.value == 255 ? Status::unsupported : Status::corrupt_file;
        Status status;
        const unsigned forwards = group.count(false, status);
        EXPECT_EQ(status, damage.forwards ? noticed : Status::not_found);
        EXPECT_TRUE(damage.forwards || forwards == kSymbols);
        const unsigned backwards = group.count(true, status);
        EXPECT_EQ(status, damage.backwards ? noticed : Status::not_found);
        EXPECT_TRUE(damage.backwards || backwards == kSymbols);
        if (damage.lookup) {
            EXPECT_EQ(group.find(1), Status::corrupt_file);
        }
        BlockSum sum;
        (void)group.tree.walk(sum);
        EXPECT_LT(sum.blocks, 100U);
    }
    // Symbol table nodes with more symbols than fit, or of an unknown version.
    for (const unsigned offset : {4U, 6U}) {
        GroupTree group;
        *group.file.at(kNodes + offset) = std::byte{99};
        Status status;
        (void)group.count(false, status);
        EXPECT_EQ(status, Status::corrupt_file);
    }
    GroupTree group;
    *group.file.at(kNodes + 8 + 16) = std::byte{3};  // cache type of a symbol
    EXPECT_EQ(group.find(1), Status::corrupt_file);
}

namespace {

void write_chunk_leaf(StructureFile& file, Address address, Span<const std::uint64_t> keys, Address left,
                      Address right) noexcept {
    Writer writer = file.write(address);
    writer.bytes(bytes_of("TREE"));
    writer.u8(1);
    writer.u8(0);
    writer.u16(keys.size() / 2 - 1);
    file->shape().write_addr(writer, left);
    file->shape().write_addr(writer, right);
    for (std::size_t i = 0; i < keys.size(); i += 2) {
        writer.u32(static_cast<std::uint32_t>(100 + keys[i]));
        writer.u32(static_cast<std::uint32_t>(keys[i] & 3));
        writer.u64(keys[i]);
        writer.u64(keys[i + 1]);
        writer.u64(5000 + keys[i]);
    }
}

}  // namespace

// All children of each node are one node: the tree would have 64 * 64 * 64 leaves, more than the file has room for.
TEST(BTree1, EndsWhereAFileHasNoMoreNodes) {
    StructureFile file;
    constexpr unsigned kWidth = 64;
    constexpr Address kSize = 4096;
    const std::uint64_t chunk = 1;
    for (unsigned level = 0; level < 4; ++level) {
        Writer writer = file.write(kSize * (level + 1));
        writer.bytes(bytes_of("TREE"));
        writer.u8(1);
        writer.u8(level);
        writer.u16(kWidth);
        writer.fill(std::byte{0xff}, 16);
        for (unsigned i = 0; i <= kWidth; ++i) {
            writer.u64(100);
            writer.u64(i);
            writer.u64(0);
            writer.u64(level == 0 ? 9 : kSize * level);
        }
    }
    ChunkBTree1 tree;
    tree.open(*file, 4 * kSize, 1, &chunk);
    ChunkBTree1::Cursor cursor;
    std::uint64_t scaled = 0;
    ChunkLocation location;
    unsigned count = 0;
    Status status = Status::ok;
    while (status == Status::ok && count < 10000) {
        status = tree.next(cursor, &scaled, location);
        ++count;
    }
    EXPECT_EQ(status, Status::corrupt_file);
    EXPECT_LT(count, 1000U);
    BlockSum sum;
    EXPECT_EQ(tree.walk(sum), Status::corrupt_file);
    EXPECT_LT(sum.blocks, 100U);
}

TEST(BTree1, Chunks) {
    StructureFile file;
    file->btree_k.chunk = 2;
    const std::uint64_t chunk = 10;
    // The last key of a node may differ from the last chunk only in the extra coordinate behind the last dimension.
    const std::uint64_t keys[] = {0, 0, 20, 0, 30, 0, 30, 1};
    write_chunk_leaf(file, 1024, keys, kUndefinedAddress, kUndefinedAddress);
    ChunkBTree1 tree;
    tree.open(*file, 1024, 1, &chunk);
    for (std::uint64_t at = 0; at < 6; ++at) {
        ChunkLocation location;
        EXPECT_EQ(tree.find(&at, location), Status::ok);
        const bool exists = at == 0 || at == 2 || at == 3;
        EXPECT_EQ(location.address, exists ? 5000 + 10 * at : kUndefinedAddress);
        if (exists) {
            EXPECT_EQ(location.size, 100 + 10 * at);
            EXPECT_EQ(location.mask, 10 * at & 3);
        }
    }
    ChunkBTree1::Cursor cursor;
    std::uint64_t scaled = 0;
    ChunkLocation location;
    for (const std::uint64_t each : {0U, 2U, 3U}) {
        EXPECT_EQ(tree.next(cursor, &scaled, location), Status::ok);
        EXPECT_EQ(scaled, each);
        EXPECT_EQ(location.address, 5000 + 10 * each);
    }
    EXPECT_EQ(tree.next(cursor, &scaled, location), Status::not_found);
    // The second chunk's coordinate is not a multiple of the chunk's size.
    store_le<std::uint64_t>(file.at(1024 + 24 + 32 + 8), 25);
    cursor = {};
    EXPECT_EQ(tree.next(cursor, &scaled, location), Status::ok);
    EXPECT_EQ(tree.next(cursor, &scaled, location), Status::corrupt_file);
    // The dataset has no B-tree.
    tree.open(*file, kUndefinedAddress, 1, &chunk);
    EXPECT_EQ(tree.find(&scaled, location), Status::corrupt_file);
}

#endif
