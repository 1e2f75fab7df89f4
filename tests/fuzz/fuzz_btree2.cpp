// Fuzzes version 2 B-trees: reads records by position, finds them by comparison, and decodes them as every record type.
#include "btree2.hpp"
#include "structure.hpp"

namespace h5mote_fuzz {
namespace {

class Wanted final : public RecordCompare {
public:
    explicit Wanted(ConstBytes record) noexcept : record_(record) {}
    Status compare(ConstBytes record, int& order) noexcept override {
        order = std::memcmp(record_.data(), record.data(), record.size());
        return Status::ok;
    }

private:
    ConstBytes record_;
};

void decode(const FileState& file, BTree2Type type, ConstBytes record) noexcept {
    HugeRecord huge;
    LinkNameRecord name;
    LinkOrderRecord order;
    SharedMessageRecord shared;
    AttributeRecord attribute;
    ChunkLocation location;
    (void)huge.decode(file.shape(), type, record);
    (void)name.decode(record);
    (void)order.decode(record);
    (void)shared.decode(file.shape(), record);
    (void)attribute.decode(type, record);
    for (unsigned rank = 1; rank <= 32; ++rank) {
        std::uint64_t scaled[32];
        (void)ChunkRecord::decode(file.shape(), type, rank, record, location, scaled);
    }
}

}  // namespace

void examine(FileState& file, Address address, unsigned parameter) noexcept {
    BTree2 tree;
    if (tree.open(file, address) != Status::ok) {
        return;
    }
    std::byte record[BTree2::kMaxRecordSize];
    std::byte found[BTree2::kMaxRecordSize];
    const std::size_t size = tree.record_size();
    if (tree.size() > file.space.end()) {
        fail();
    }
    for (std::uint64_t i = 0; i < tree.size() && i < 512; ++i) {
        const bool backwards = (parameter & 1U) != 0;
        std::uint64_t index = 0;
        if (tree.record(backwards ? tree.size() - 1 - i : i, {record, size}) != Status::ok) {
            continue;
        }
        decode(file, tree.type(), {record, size});
        Wanted wanted({record, size});
        (void)tree.find(wanted, {found, size}, (parameter & 2U) != 0 ? &index : nullptr);
    }
    Blocks blocks(file);
    (void)tree.walk(blocks);
}

}  // namespace h5mote_fuzz
