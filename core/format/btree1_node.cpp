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

}  // namespace h5mote
