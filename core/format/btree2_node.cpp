#include "btree2_node.hpp"

#include "checked.hpp"

namespace h5mote {
namespace {

constexpr std::uint32_t kHeader = 0x44485442U;    // "BTHD"
constexpr std::uint32_t kLeaf = 0x464c5442U;      // "BTLF"
constexpr std::uint32_t kInternal = 0x4e495442U;  // "BTIN"
constexpr std::uint32_t kFixed = BTree2Node::kPrefixSize + BTree2Node::kChecksumSize;

}  // namespace

bool BTree2Header::decode(FileShape shape, ConstBytes bytes) noexcept {
    Reader reader(bytes);
    const bool signature = reader.u32() == kHeader && reader.u8() == 0;
    type = static_cast<BTree2Type>(reader.u8());
    node_size = reader.u32();
    record_size = reader.u16();
    depth = reader.u16();
    split_percent = reader.u8();
    merge_percent = reader.u8();
    root = shape.read_addr(reader);
    root_records = reader.u16();
    records = shape.read_size(reader);
    return signature && record_size != 0 && node_size >= kFixed + record_size;
}

void BTree2Header::encode(FileShape shape, Writer& writer) const noexcept {
    writer.u32(kHeader);
    writer.u8(0);
    writer.u8(static_cast<std::uint8_t>(type));
    writer.u32(node_size);
    writer.u16(record_size);
    writer.u16(depth);
    writer.u8(split_percent);
    writer.u8(merge_percent);
    shape.write_addr(writer, root);
    writer.u16(root_records);
    shape.write_size(writer, records);
}

bool BTree2Node::is_node(BTree2Type type, unsigned depth, ConstBytes prefix) noexcept {
    return load_le<std::uint32_t>(prefix.data()) == (depth == 0 ? kLeaf : kInternal) && prefix[4] == std::byte{0} &&
           prefix[5] == static_cast<std::byte>(type);
}

void BTree2Node::begin(BTree2Type type, unsigned depth, std::byte* prefix) noexcept {
    store_le(prefix, depth == 0 ? kLeaf : kInternal);
    prefix[4] = std::byte{0};
    prefix[5] = static_cast<std::byte>(type);
}

// A node is split around its middle record, and each half needs one. Two nodes, of which one may have a record more
// than `merge`, are merged around a record of their parent.
bool BTree2Level::can_change(const BTree2Header& header) const noexcept {
    return header.split_percent <= 100 && split(header) >= 3 && merge(header) >= 1 && 2 * merge(header) + 2 <= most &&
           merge(header) < split(header) / 2;
}

bool BTree2Level::compute(FileShape shape, const BTree2Header& header, unsigned depth) noexcept {
    const std::uint32_t record_size = header.record_size;
    const std::uint32_t space = header.node_size - kFixed;
    most = space / record_size;
    most_below = most;
    count_width = static_cast<std::uint8_t>(uint_width(most));
    total_width = 0;
    for (unsigned i = 1; i <= depth; ++i) {
        const auto pointer = static_cast<std::uint32_t>(pointer_size(shape));
        if (space < 2 * pointer + record_size) {
            return false;
        }
        most = (space - pointer) / (record_size + pointer);
        std::uint64_t below = 0;
        if (!checked_multiply(std::uint64_t{most} + 1, most_below, below) ||
            !checked_add(below, std::uint64_t{most}, most_below)) {
            return false;
        }
        total_width = static_cast<std::uint8_t>(uint_width(most_below));
    }
    return true;
}

bool BTree2Pointer::decode(FileShape shape, const BTree2Level& level, ConstBytes bytes) noexcept {
    Reader reader(bytes);
    address = shape.read_addr(reader);
    records = static_cast<std::uint32_t>(reader.uint(level.count_width));
    total = level.total_width == 0 ? records : reader.uint(level.total_width);
    return records <= level.most && total >= records;
}

void BTree2Pointer::store(FileShape shape, const BTree2Level& level, std::byte* to) const noexcept {
    shape.store_addr(to, address);
    store_uint(to + shape.sizeof_addr, level.count_width, records);
    if (level.total_width != 0) {
        store_uint(to + shape.sizeof_addr + level.count_width, level.total_width, total);
    }
}

}  // namespace h5mote
