#include "attribute_message.hpp"

#include "info_fields.hpp"

namespace h5mote {

Status AttributeInfoMessage::decode(Context& context, FileShape shape, ConstBytes body) noexcept {
    std::uint64_t order = 0;
    const bool sound = decode_info(shape, body, 2, flags, order, dense);
    storage.decode(shape, body, (flags & kOrderTracked) != 0 ? 2 : 0);
    max_order = static_cast<std::uint16_t>(order);
    return sound ? Status::ok : damaged_message(context, H5MOTE_HERE, MessageType::attribute_info);
}

void AttributeInfoMessage::encode(Writer& writer, FileShape shape) const noexcept {
    encode_info(writer, shape, 2, flags, max_order);
}

Status AttributeMessage::decode(Context& context, ConstBytes body) noexcept {
    Reader reader(body);
    const unsigned version = reader.u8();
    const unsigned flags = reader.u8();
    if (H5MOTE_ALL_FORMATS != 0 && version != 3) {
        return decode_old(context, body);
    }
    if (version != 3) {
        return context.unsupported(Module::format, H5MOTE_HERE, Feature::attribute_version, version);
    }
    if (flags != 0) {
        return context.unsupported(Module::format, H5MOTE_HERE, Feature::shared_message, flags);
    }
    const std::size_t name_size = reader.u16();
    const std::size_t type_size = reader.u16();
    const std::size_t space_size = reader.u16();
    reader.skip(1);
    name = reader.bytes(name_size);
    type = reader.bytes(type_size);
    space = reader.bytes(space_size);
    data = reader.rest();
    if (!reader.ok() || name_size < 2 || name[name_size - 1] != std::byte{0}) {
        return damaged_message(context, H5MOTE_HERE, MessageType::attribute);
    }
    name = name.first(name_size - 1);
    return Status::ok;
}

Status AttributeMessage::decode_old(Context& context, ConstBytes body) noexcept {
    AttributeParts parts;
    H5MOTE_TRY(parts.decode(context, body, body.size()));
    if (parts.flags != 0) {
        return context.unsupported(Module::format, H5MOTE_HERE, Feature::shared_message, parts.flags);
    }
    name = body.subspan(parts.name, parts.name_size);
    std::size_t length = 0;
    while (length < name.size() && name[length] != std::byte{0}) {
        ++length;
    }
    if (length == 0 || length == name.size()) {
        return damaged_message(context, H5MOTE_HERE, MessageType::attribute);
    }
    name = name.first(length);
    type = body.subspan(parts.type, parts.type_size);
    space = body.subspan(parts.space, parts.space_size);
    data = body.subspan(parts.data);
    return Status::ok;
}

Status AttributeParts::decode(Context& context, ConstBytes head, Address length) noexcept {
    Reader reader(head);
    const unsigned version = reader.u8();
    if (version == 0 || version > 3) {
        return context.unsupported(Module::format, H5MOTE_HERE, Feature::attribute_version, version);
    }
    flags = version == 1 ? static_cast<std::uint8_t>(reader.u8() & 0U) : reader.u8();
    name_size = reader.u16();
    type_size = reader.u16();
    space_size = reader.u16();
    character_set = version == 3 ? reader.u8() : std::uint8_t{0};
    const std::uint32_t alignment = version == 1 ? 8 : 1;
    const auto after = [&](std::uint32_t at, std::uint32_t size) {
        return at + (size + alignment - 1) / alignment * alignment;
    };
    name = version == 3 ? 9 : 8;
    type = after(name, name_size);
    space = after(type, type_size);
    data = after(space, space_size);
    // Where no value follows the dataspace, the dataspace is not padded.
    const bool sound = reader.ok() && (flags & ~3U) == 0 && name_size != 0 && space + space_size <= length;
    if (data > length) {
        data = static_cast<std::uint32_t>(length);
    }
    return sound ? Status::ok : damaged_message(context, H5MOTE_HERE, MessageType::attribute);
}

void AttributeMessage::encode(Writer& writer, std::size_t space_size, std::uint8_t flags) const noexcept {
    writer.u8(3);
    writer.u8(flags);
    writer.u16(name.size() + 1);
    writer.u16(type.size());
    writer.u16(space_size);
    writer.u8(name_set != kByName ? name_set : is_ascii(name) ? std::uint8_t{0} : std::uint8_t{1});
    writer.bytes(name);
    writer.u8(0);
    writer.bytes(type);
}

}  // namespace h5mote
