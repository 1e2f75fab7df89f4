#include "shared_index.hpp"

#include <cstring>

namespace h5mote {
namespace {

constexpr std::uint32_t kTable = 0x42544d53U;  // "SMTB"
constexpr std::uint32_t kList = 0x494c4d53U;   // "SMLI"

}  // namespace

bool SharedIndex::decode(FileShape shape, ConstBytes bytes) noexcept {
    constexpr unsigned kFill = 1U << static_cast<unsigned>(MessageType::fill_value);
    constexpr unsigned kOldFill = 1U << static_cast<unsigned>(MessageType::fill_value_old);
    Reader reader(bytes);
    const unsigned version = reader.u8();
    const unsigned type = reader.u8();
    btree = type == 1;
    kinds = reader.u16();
    // Fill value messages of the old form have no bit of their own: they are shared together with those of the new form
    // (H5SM_type_to_flag).
    if ((kinds & kFill) != 0) {
        kinds = static_cast<std::uint16_t>(kinds | kOldFill);
    }
    least_size = reader.u32();
    list_max = reader.u16();
    btree_min = reader.u16();
    messages = reader.u16();
    index = shape.read_addr(reader);
    heap = shape.read_addr(reader);
    return version == 0 && type <= 1;
}

void SharedIndex::encode(FileShape shape, Writer& writer) const noexcept {
    writer.u8(0);
    writer.u8(btree ? 1 : 0);
    writer.u16(kinds);
    writer.u32(least_size);
    writer.u16(list_max);
    writer.u16(btree_min);
    writer.u16(messages);
    shape.write_addr(writer, index);
    shape.write_addr(writer, heap);
}

void SharedIndex::store(FileShape shape, std::byte* to) const noexcept {
    to[1] = std::byte{btree};
    store_le<std::uint16_t>(to + 12, messages);
    shape.store_addr(to + 14, index);
    shape.store_addr(to + 14 + shape.sizeof_addr, heap);
}

bool SharedTable::is_table(ConstBytes prefix) noexcept { return load_le<std::uint32_t>(prefix.data()) == kTable; }

void SharedTable::encode_prefix(Writer& writer) noexcept { writer.u32(kTable); }

bool SharedList::is_list(ConstBytes prefix) noexcept { return load_le<std::uint32_t>(prefix.data()) == kList; }

void SharedList::encode_prefix(Writer& writer) noexcept { writer.u32(kList); }

void SharedReference::encode_heap(Bytes to, ConstBytes id) noexcept {
    to[0] = std::byte{kNewest};
    to[1] = std::byte{kHeap};
    std::memcpy(to.data() + kHeapPrefix, id.data(), kHeapIdSize);
}

bool SharedReference::decode(FileShape shape, ConstBytes bytes) noexcept {
    Reader reader(bytes);
    version = reader.u8();
    in_heap = (reader.u8() == kHeap) & (version == kNewest);
    heap_id = reader.rest();
    reader.skip(version == 1 ? 6U + shape.sizeof_size : 0U);
    header = shape.read_addr(reader);
    return in_heap || reader.ok();
}

}  // namespace h5mote
