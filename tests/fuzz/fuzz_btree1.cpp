// Fuzzes version 1 B-trees of groups and of chunks: reads all entries (those of groups in both directions) and looks up
// keys.
#include "btree1.hpp"
#include "structure.hpp"

namespace h5mote_fuzz {
namespace {

// Takes the offset of a name in the local heap as the name itself, so that no heap is needed.
class Offsets final : public SymbolNames {
public:
    Status compare(Address offset, ConstBytes name, int& order) noexcept override {
        const auto wanted = load_le<std::uint32_t>(name.data());
        order = wanted < offset ? -1 : wanted > offset ? 1 : 0;
        return Status::ok;
    }
};

void walk_group(FileState& file, Address address, unsigned parameter) noexcept {
    Offsets names;
    GroupBTree1 tree;
    tree.open(file, address, names);
    // Bytes in the file: no walk may find more entries than that.
    const Address most = file.space.end();
    for (const bool backwards : {false, true}) {
        GroupBTree1::Cursor cursor;
        cursor.backwards = backwards;
        SymbolEntry symbol;
        for (Address i = 0; tree.next(cursor, symbol) == Status::ok && i < 4096; ++i) {
            if (i > most) {
                fail();
            }
        }
    }
    for (unsigned i = 0; i < 16; ++i) {
        SymbolEntry symbol;
        std::byte name[4];
        store_le<std::uint32_t>(name, i * (parameter + 1));
        (void)tree.find(name, symbol);
    }
    unsigned levels = 0;
    (void)tree.height(levels);
    Blocks blocks(file);
    (void)tree.walk(blocks);
}

void walk_chunks(FileState& file, Address address, unsigned parameter) noexcept {
    const unsigned rank = 1 + parameter % 3;
    const std::uint64_t chunk[3] = {1 + (parameter >> 2) % 4, 2, 3};
    ChunkBTree1 tree;
    tree.open(file, address, rank, chunk);
    ChunkBTree1::Cursor cursor;
    std::uint64_t scaled[3] = {};
    ChunkLocation location;
    const Address most = file.space.end();
    for (Address i = 0; tree.next(cursor, scaled, location) == Status::ok && i < 4096; ++i) {
        ChunkLocation found;
        if (i > most) {
            fail();
        }
        (void)tree.find(scaled, found);
    }
    for (std::uint64_t i = 0; i < 16; ++i) {
        const std::uint64_t wanted[3] = {i, i / 2, i / 3};
        (void)tree.find(wanted, location);
    }
    unsigned levels = 0;
    (void)tree.height(levels);
    Blocks blocks(file);
    (void)tree.walk(blocks);
}

}  // namespace

void examine(FileState& file, Address address, unsigned parameter) noexcept {
    file.btree_k.group_leaf = static_cast<std::uint16_t>(4 + (parameter >> 4 & 3));
    if ((parameter & 0x80U) != 0) {
        walk_chunks(file, address, parameter & 0x7fU);
    } else {
        walk_group(file, address, parameter);
    }
}

}  // namespace h5mote_fuzz
