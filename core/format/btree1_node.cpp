#include "btree1_node.hpp"

namespace h5mote {

bool BTree1Node::decode(FileShape shape, ConstBytes prefix) noexcept {
    Reader reader(prefix);
    const bool signature = reader.u32() == 0x45455254U;  // "TREE"
    type = reader.u8();
    level = reader.u8();
    entries = reader.u16();
    left = shape.read_addr(reader);
    right = shape.read_addr(reader);
    return signature && reader.ok();
}

void BTree1Node::encode(FileShape shape, Writer& writer) const noexcept {
    writer.u32(0x45455254U);
    writer.u8(type);
    writer.u8(level);
    writer.u16(entries);
    shape.write_addr(writer, left);
    shape.write_addr(writer, right);
}

}  // namespace h5mote
