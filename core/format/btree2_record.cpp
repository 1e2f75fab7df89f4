#include "btree2_record.hpp"

namespace h5mote {

bool HugeRecord::decode(FileShape shape, BTree2Type type, ConstBytes record) noexcept {
    const bool filtered = type == BTree2Type::huge_indirect_filtered || type == BTree2Type::huge_direct_filtered;
    Reader reader(record);
    address = shape.read_addr(reader);
    size = memory_size = shape.read_size(reader);
    mask = 0;
    id = 0;
    if (filtered) {
        mask = reader.u32();
        memory_size = shape.read_size(reader);
    }
    if (type == BTree2Type::huge_indirect || type == BTree2Type::huge_indirect_filtered) {
        id = reader.uint(shape.sizeof_size);
    }
    return reader.ok();
}

bool LinkNameRecord::decode(ConstBytes record) noexcept {
    Reader reader(record);
    hash = reader.u32();
    heap_id = reader.bytes(kHeapIdSize);
    return reader.ok() && reader.remaining() == 0;
}

bool LinkOrderRecord::decode(ConstBytes record) noexcept {
    Reader reader(record);
    order = reader.u64();
    heap_id = reader.bytes(LinkNameRecord::kHeapIdSize);
    return reader.ok() && reader.remaining() == 0;
}

bool SharedMessageRecord::decode(FileShape shape, ConstBytes record) noexcept {
    Reader reader(record);
    const std::uint8_t place = reader.u8();
    hash = reader.u32();
    in_heap = place == 0;
    if (in_heap) {
        references = reader.u32();
        heap_id = reader.bytes(8);
    } else {
        reader.skip(1);
        message_type = reader.u8();
        message_index = reader.u16();
        header = shape.read_addr(reader);
    }
    return reader.ok() && place <= 1;
}

void SharedMessageRecord::encode(FileShape shape, Writer& writer) const noexcept {
    const std::size_t begin = writer.written();
    writer.u8(in_heap ? 0 : 1);
    writer.u32(hash);
    if (in_heap) {
        writer.u32(references);
        writer.bytes(heap_id.first(8));
    } else {
        writer.u8(0);
        writer.u8(message_type);
        writer.u16(message_index);
        shape.write_addr(writer, header);
    }
    writer.fill(std::byte{0}, begin + size(shape) - writer.written());
}

bool AttributeRecord::decode(BTree2Type type, ConstBytes record) noexcept {
    Reader reader(record);
    heap_id = reader.bytes(kHeapIdSize);
    flags = reader.u8();
    order = reader.u32();
    hash = type == BTree2Type::attribute_name ? reader.u32() : 0;
    return reader.ok() && reader.remaining() == 0;
}

bool ChunkRecord::decode(FileShape shape, BTree2Type type, unsigned rank, ConstBytes record, ChunkLocation& location,
                         std::uint64_t* scaled) noexcept {
    const std::size_t fixed = shape.sizeof_addr + std::size_t{8} * rank;
    std::size_t width = 0;
    location = ChunkLocation{};
    if (type == BTree2Type::chunk_filtered) {
        if (record.size() <= fixed + 4 || record.size() > fixed + 4 + 8) {
            return false;
        }
        width = record.size() - fixed - 4;
    } else if (record.size() != fixed) {
        return false;
    }
    Reader reader(record);
    location.address = shape.read_addr(reader);
    if (width != 0) {
        location.size = narrow(reader.uint(static_cast<unsigned>(width)));
        location.mask = reader.u32();
    }
    for (unsigned i = 0; i < rank; ++i) {
        scaled[i] = reader.u64();
    }
    return true;
}

}  // namespace h5mote
