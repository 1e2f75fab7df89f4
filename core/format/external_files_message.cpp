#include "external_files_message.hpp"

#include "checked.hpp"

namespace h5mote {

Status ExternalFilesMessage::decode(Context& context, FileShape shape, ConstBytes head, Address length) noexcept {
    Reader reader(head);
    const unsigned version = reader.u8();
    reader.skip(3);
    const std::uint16_t allocated = reader.u16();
    slots = reader.u16();
    heap = shape.read_addr(reader);
    if (reader.ok() && version != 1) {
        return context.unsupported(Module::format, H5MOTE_HERE, Feature::message_version, version);
    }
    const bool sound = reader.ok() && slots <= allocated && heap != kUndefinedAddress &&
                       within(head_size(shape), slots * slot_size(shape), length);
    return sound ? Status::ok : damaged_message(context, H5MOTE_HERE, MessageType::external_files);
}

ExternalFilesMessage::Slot ExternalFilesMessage::slot(FileShape shape, ConstBytes bytes) noexcept {
    Reader reader(bytes);
    Slot slot;
    slot.name = shape.read_size(reader);
    slot.offset = reader.uint(shape.sizeof_size);
    const ConstBytes size = reader.bytes(shape.sizeof_size);
    slot.size = size.empty() ? 0 : shape.load_size(size.data());
    return slot;
}

}  // namespace h5mote
