#include "attribute_order.hpp"

namespace h5mote {
namespace {

// Finds the attribute info message of a header, and decodes it. not_found: there is none.
Status find_info(FileState& file, MessageIterator& message, AttributeInfoMessage& info) noexcept {
    H5MOTE_TRY(message.next(MessageType::attribute_info));
    return info.decode(file.context, file.shape(), message.body());
}

}  // namespace

Status read_next_order(FileState& file, Address header, std::uint16_t& next) noexcept {
    MessageIterator message(file, header);
    AttributeInfoMessage info;
    const Status status = find_info(file, message, info);
    next = status == Status::ok && (info.flags & kOrderTracked) != 0 ? info.max_order : 0;
    return status == Status::not_found ? Status::ok : status;
}

Status raise_next_order(FileState& file, Address header, std::uint16_t next) noexcept {
    if (next == 0) {
        return Status::ok;
    }
    MessageIterator message(file, header);
    AttributeInfoMessage info;
    const Status status = find_info(file, message, info);
    if (status == Status::not_found) {
        const std::uint8_t flags = message.header_flags();
        return (flags & HeaderPrefix::kAttributesTracked) == 0
                   ? Status::ok
                   : add_message(file, header, MessageType::attribute_info, 0, 0,
                                 AttributeInfoContent(file.shape(), attribute_info_flags(flags), next));
    }
    H5MOTE_TRY(status);
    return (info.flags & kOrderTracked) != 0 && info.max_order < next
               ? message.store(AttributeInfoMessage::kOrderOffset, next, 2, Phase::index)
               : Status::ok;
}

}  // namespace h5mote
