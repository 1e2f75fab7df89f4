#include "extension_messages.hpp"

namespace h5mote {

bool BTreeKMessage::decode(ConstBytes body, BTreeK& k) noexcept {
    Reader reader(body);
    const unsigned version = reader.u8();
    k.chunk = reader.u16();
    k.group_internal = reader.u16();
    k.group_leaf = reader.u16();
    return version == 0 && k.chunk != 0 && k.group_internal != 0 && k.group_leaf != 0;
}

void BTreeKMessage::encode(Writer& writer, const BTreeK& k) noexcept {
    writer.u8(0);
    writer.u16(k.chunk);
    writer.u16(k.group_internal);
    writer.u16(k.group_leaf);
}

bool SharedTableMessage::decode(FileShape shape, ConstBytes body, Address& table, std::uint8_t& indexes) noexcept {
    Reader reader(body);
    const unsigned version = reader.u8();
    table = shape.read_addr(reader);
    indexes = reader.u8();
    return version == 0 && reader.ok() && indexes <= kMaxIndexes;
}

void SharedTableMessage::encode(FileShape shape, Writer& writer, Address table, std::uint8_t indexes) noexcept {
    writer.u8(0);
    shape.write_addr(writer, table);
    writer.u8(indexes);
}

bool DriverInfoMessage::decode(ConstBytes body) noexcept {
    Reader reader(body);
    const unsigned version = reader.u8();
    name = reader.bytes(kNameSize);
    info = reader.bytes(reader.u16());
    return version == 0 && reader.ok();
}

void DriverInfoMessage::encode(Writer& writer) const noexcept {
    writer.u8(0);
    writer.bytes(name);
    writer.u16(static_cast<std::uint16_t>(info.size()));
    writer.bytes(info);
}

bool DriverInfoBlock::decode(ConstBytes prefix) noexcept {
    size = load_le<std::uint32_t>(prefix.data() + 4);
    name = prefix.subspan(8, DriverInfoMessage::kNameSize);
    return prefix[0] == std::byte{0};
}

void DriverInfoBlock::encode(Writer& writer) const noexcept {
    writer.u32(0);  // the version and what is reserved
    writer.u32(size);
    writer.bytes(name);
}

bool CacheImageMessage::decode(FileShape shape, ConstBytes body) noexcept {
    Reader reader(body);
    const unsigned version = reader.u8();
    address = shape.read_addr(reader);
    size = shape.read_size(reader);
    return version == 0 && reader.ok();
}

bool FileSpaceStrategy::decode(ConstBytes body) noexcept {
    Reader reader(body);
    version = reader.u8();
    strategy = reader.u8();
    const unsigned third = reader.u8();  // version 0: of the threshold
    persistent = version == 0 ? strategy == 1 : third != 0;
    return reader.ok() && version <= 1;
}

bool FileSpaceInfoMessage::decode(FileShape shape, ConstBytes body) noexcept {
    const bool known = FileSpaceStrategy::decode(body);
    Reader reader(body);
    reader.skip(version == 0 ? 2 : 3);
    threshold = reader.uint(shape.sizeof_size);
    page_size = version == 0 ? 0 : reader.uint(shape.sizeof_size);
    const bool sound = known && reader.ok();
    if (version != 0) {
        least_page_end = reader.u16();
        end = shape.read_addr(reader);
        end = reader.ok() ? end : kUndefinedAddress;
    }
    managers = persistent ? reader.rest() : ConstBytes{};
    return sound;
}

// As libhdf5 takes it: HDF5 1.10.0, which alone wrote version 0, had no pages, and the later releases have no strategy
// of its own for free space that is recorded.
bool FileSpaceInfoMessage::renew() noexcept {
    constexpr std::uint8_t kStrategies[] = {0, 0, 2, 3};  // of version 1, for those from 1 on of version 0
    constexpr std::uint64_t kPageSize = 4096;             // for files without pages, too
    if (strategy == 0 || strategy > sizeof kStrategies) {
        return false;
    }
    version = 1;
    strategy = kStrategies[strategy - 1];
    page_size = kPageSize;
    managers = {};
    return true;
}

void FileSpaceInfoMessage::encode(FileShape shape, Writer& writer) const noexcept {
    writer.u8(1);
    writer.u8(strategy);
    writer.u8(persistent ? 1 : 0);
    writer.uint(shape.sizeof_size, threshold);
    writer.uint(shape.sizeof_size, page_size);
    writer.u16(0);
    writer.fill(std::byte{0xff}, (persistent ? 1 + kMaxManagers : 1) * std::size_t{shape.sizeof_addr});
}

Address FileSpaceInfoMessage::manager(FileShape shape, unsigned i) const noexcept {
    const std::size_t at = std::size_t{i} * shape.sizeof_addr;
    return i < (version == 0 ? kOldManagers : kMaxManagers) && at + shape.sizeof_addr <= managers.size()
               ? shape.load_addr(managers.data() + at)
               : kUndefinedAddress;
}

Address FileSpaceInfoMessage::tail(FileShape shape, Address end_of_file) const noexcept {
    for (unsigned i = 0; i < kMaxManagers && end < end_of_file; ++i) {
        if (manager(shape, i) == end) {
            return end;
        }
    }
    return kUndefinedAddress;
}

}  // namespace h5mote
