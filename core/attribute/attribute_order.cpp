#include "attribute_order.hpp"

#include "attribute_message.hpp"
#include "header.hpp"

namespace h5mote {
namespace {

class AttributeInfoContent final : public MessageContent {
public:
    AttributeInfoContent(FileShape shape, std::uint8_t flags) noexcept : shape_(shape) {
        info_.flags = flags;
        info_.max_order = 1;
    }
    void write(Writer& writer) const noexcept override { info_.encode(writer, shape_); }

private:
    FileShape shape_;
    AttributeInfoMessage info_;
};

// Adds the attribute info message, without which libhdf5 does not count the attributes of a header. Bits 2 and 3 of the
// header's flags are bits 0 and 1 of the message's.
Status add_info(FileState& file, Address header, unsigned header_flags) noexcept {
    return add_message(file, header, MessageType::attribute_info, 0, 0,
                       AttributeInfoContent(file.shape(), static_cast<std::uint8_t>((header_flags >> 2) & 3U)));
}

// Finds the attribute info message of a header, and decodes it. not_found: there is none.
Status find_info(FileState& file, MessageIterator& message, AttributeInfoMessage& info) noexcept {
    H5MOTE_TRY(message.next(MessageType::attribute_info));
    return info.decode(file.context, file.shape(), message.body());
}

}  // namespace

Status next_order(FileState& file, Address header, std::uint16_t& order, bool dense) noexcept {
    order = 0;
    MessageIterator message(file, header);
    const Status status = message.next(MessageType::attribute_info);
    const std::uint8_t flags = message.header_flags();
    const bool tracked = (flags & HeaderPrefix::kAttributesTracked) != 0;
    if (tracked && H5MOTE_CREATION_ORDER == 0) {
        return file.context.unsupported(Module::attribute, H5MOTE_HERE, Feature::creation_order);
    }
    if (status == Status::not_found) {
        if (message.layout().is_old()) {
            return Status::ok;
        }
        return add_info(file, header, flags);
    }
    H5MOTE_TRY(status);
    if (!tracked || H5MOTE_CREATION_ORDER == 0) {
        return Status::ok;
    }
    AttributeInfoMessage info;
    H5MOTE_TRY(info.decode(file.context, file.shape(), message.body()));
    order = info.max_order;
    if (order == 0xffff) {
        return file.context.fail(Module::attribute, H5MOTE_HERE, Status::overflow, order);
    }
    if ((info.flags & kOrderTracked) != 0) {
        H5MOTE_TRY(message.store(AttributeInfoMessage::kOrderOffset, order + 1U, 2, Phase::index));
        return H5MOTE_ALL_FORMATS != 0 && dense ? number_first(file, header, *message.block()) : Status::ok;
    }
    return Status::ok;
}

void give_back_order(FileState& file, Address header, std::uint16_t order) noexcept {
    MessageIterator message(file, header);
    AttributeInfoMessage info;
    // After an error the number is too high by one, which does no harm.
    if (message.next(MessageType::attribute_info) == Status::ok &&
        info.decode(file.context, file.shape(), message.body()) == Status::ok && (info.flags & kOrderTracked) != 0) {
        (void)message.store(AttributeInfoMessage::kOrderOffset, order, 2, Phase::index);
    }
}

Status read_next_order(FileState& file, Address header, std::uint16_t& next) noexcept {
    next = 0;
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
    AttributeInfoMessage info;
    {
        MessageIterator message(file, header);
        const Status status = find_info(file, message, info);
        if (status != Status::ok && status != Status::not_found) {
            return status;
        }
        const std::uint8_t flags = message.header_flags();
        if ((flags & HeaderPrefix::kAttributesTracked) == 0) {
            return Status::ok;
        }
        H5MOTE_TRY(status == Status::not_found ? add_info(file, header, flags) : Status::ok);
    }
    MessageIterator message(file, header);
    H5MOTE_TRY(find_info(file, message, info));
    return (info.flags & kOrderTracked) != 0 && info.max_order < next
               ? message.store(AttributeInfoMessage::kOrderOffset, next, 2, Phase::index)
               : Status::ok;
}

}  // namespace h5mote
