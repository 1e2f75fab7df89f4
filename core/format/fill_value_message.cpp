#include "fill_value_message.hpp"

namespace h5mote {

Status FillValueMessage::decode(Context& context, ConstBytes body) noexcept {
    Reader reader(body);
    const unsigned version = reader.u8();
    value = {};
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        if (version == 1 || version == 2) {
            allocation_time = reader.u8();
            write_time = reader.u8();
            undefined = reader.u8() == 0;
            if (!undefined) {
                const std::uint32_t size = reader.u32();
                undefined = size > 0x7fffffffU;  // libhdf5 stores -1 as the size of an undefined fill value
                value = reader.bytes(undefined ? 0 : size);
            }
            return reader.ok() ? Status::ok : damaged_message(context, H5MOTE_HERE, MessageType::fill_value);
        }
    }
    if (version != 3) {
        return context.unsupported(Module::format, H5MOTE_HERE, Feature::fill_value_version, version);
    }
    const unsigned flags = reader.u8();
    allocation_time = flags & 3U;
    write_time = (flags >> 2) & 3U;
    undefined = (flags & 0x10U) != 0;
    if ((flags & 0x20U) != 0) {
        value = reader.bytes(reader.u32());
    }
    return reader.ok() ? Status::ok : damaged_message(context, H5MOTE_HERE, MessageType::fill_value);
}

Status FillValueMessage::decode_old(Context& context, ConstBytes body) noexcept {
    Reader reader(body);
    const std::uint32_t size = reader.u32();
    allocation_time = 2;  // late
    write_time = 2;
    undefined = size == 0;
    value = reader.bytes(size);
    return reader.ok() ? Status::ok : damaged_message(context, H5MOTE_HERE, MessageType::fill_value_old);
}

void FillValueMessage::encode(Writer& writer) const noexcept {
    writer.u8(3);
    writer.u8(static_cast<unsigned>(allocation_time | write_time << 2) | (undefined ? 0x10U : 0U) |
              (value.empty() ? 0U : 0x20U));
    if (!value.empty()) {
        writer.u32(static_cast<std::uint32_t>(value.size()));
        writer.bytes(value);
    }
}

}  // namespace h5mote
