#include "link_message.hpp"

#include "info_fields.hpp"

namespace h5mote {

Status LinkInfoMessage::decode(Context& context, FileShape shape, ConstBytes body) noexcept {
    storage.decode(shape, body, (info_flags(body) & kOrderTracked) != 0 ? 8 : 0);
    return decode_info(shape, body, 8, flags, max_order, dense)
               ? Status::ok
               : damaged_message(context, H5MOTE_HERE, MessageType::link_info);
}

void LinkInfoMessage::encode(Writer& writer, FileShape shape) const noexcept {
    encode_info(writer, shape, 8, flags, max_order);
}

Status LinkMessage::decode(Context& context, FileShape shape, ConstBytes body) noexcept {
    Reader reader(body);
    const unsigned version = reader.u8();
    if (version != 1) {
        return context.unsupported(Module::format, H5MOTE_HERE, Feature::link_version, version);
    }
    const unsigned flags = reader.u8();
    type = (flags & 0x08U) != 0 ? static_cast<LinkType>(reader.u8()) : LinkType::hard;
    has_order = (flags & 0x04U) != 0;
    order = has_order ? reader.u64() : 0;
    character_set = (flags & 0x10U) != 0 ? reader.u8() : std::uint8_t{0};
    keeps_set = H5MOTE_ALL_FORMATS != 0;
    const std::uint64_t length = reader.uint(1U << (flags & 3U));
    if (length == 0 || length > reader.remaining()) {
        return damaged_message(context, H5MOTE_HERE, MessageType::link);
    }
    name = reader.bytes(static_cast<std::size_t>(length));
    // Every field is set anew: the message decoded before may have been another type of link.
    address = kUndefinedAddress;
    target = {};
    if (type == LinkType::hard) {
        address = shape.read_addr(reader);
    } else {
        target = reader.bytes(reader.u16());
    }
    return reader.ok() ? Status::ok : damaged_message(context, H5MOTE_HERE, MessageType::link);
}

bool LinkMessage::has_name(ConstBytes body, ConstBytes name) noexcept {
    if (body.size() < 4 + name.size()) {
        return false;
    }
    const unsigned flags = static_cast<unsigned>(body[1]);
    const unsigned width = 1U << (flags & 3U);
    const std::size_t at =
        2U + ((flags & 0x08U) != 0 ? 1U : 0U) + ((flags & 0x04U) != 0 ? 8U : 0U) + ((flags & 0x10U) != 0 ? 1U : 0U);
    return body.size() >= at + width + name.size() && load_uint(body.data() + at, width) == name.size() &&
           std::memcmp(body.data() + at + width, name.data(), name.size()) == 0;
}

void LinkMessage::encode(Writer& writer, FileShape shape) const noexcept {
    const unsigned wide = H5MOTE_ALL_FORMATS != 0 && name.size() > 0xffff ? 2 : name.size() > 0xff ? 1 : 0;
    const bool keeps = H5MOTE_ALL_FORMATS != 0 && keeps_set;
    const std::uint8_t set = keeps ? character_set : is_ascii(name) ? std::uint8_t{0} : std::uint8_t{1};
    writer.u8(1);
    writer.u8(wide | (has_order ? 0x04U : 0U) | (type != LinkType::hard ? 0x08U : 0U) | (set == 0 ? 0U : 0x10U));
    if (type != LinkType::hard) {
        writer.u8(static_cast<std::uint8_t>(type));
    }
    if (has_order) {
        writer.u64(order);
    }
    if (set != 0) {
        writer.u8(set);
    }
    writer.uint(1U << wide, name.size());
    writer.bytes(name);
    if (type == LinkType::hard) {
        shape.write_addr(writer, address);
    } else {
        writer.u16(target.size());
        writer.bytes(target);
    }
}

}  // namespace h5mote
