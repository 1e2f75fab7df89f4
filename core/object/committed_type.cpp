#include "committed_type.hpp"

#include "attribute_message.hpp"
#include "shared_index.hpp"

namespace h5mote {
namespace {

// Whether the header can be deleted without releasing anything else.
Status stands_alone(FileState& file, Address header, bool& alone) noexcept {
    MessageIterator message(file, header);
    Status status;
    while ((status = message.next()) == Status::ok) {
        const ConstBytes body = message.body();
        alone = alone && !message.shared();
        if (message.type() == MessageType::attribute) {
            alone = alone && !AttributeParts::are_shared(body);
        } else if (message.type() == MessageType::attribute_info) {
            AttributeInfoMessage info;
            H5MOTE_TRY(info.decode(file.context, file.shape(), body));
            alone = alone && !info.dense;
        }
    }
    return status == Status::not_found ? Status::ok : status;
}

}  // namespace

Status committed_type_at(FileState& file, ConstBytes reference, Address& header) noexcept {
    SharedReference place;
    const bool sound = place.decode(file.shape(), reference);
    header = kUndefinedAddress;
    if (place.in_heap) {
        return Status::ok;
    }
    if (!place.known_version()) {
        return file.context.unsupported(Module::object, H5MOTE_HERE, Feature::shared_message, place.version);
    }
    header = place.header;
    return sound ? Status::ok : file.context.fail(Module::object, H5MOTE_HERE, Status::corrupt_file);
}

Status committed_type_of(MessageIterator& message, Address& header) noexcept {
    FileState& file = message.file();
    header = kUndefinedAddress;
    const ConstBytes body = message.body();
    if (message.shared()) {
        return message.type() == MessageType::datatype ? committed_type_at(file, body, header) : Status::ok;
    }
    if (message.type() != MessageType::attribute || !AttributeParts::are_shared(body)) {
        return Status::ok;
    }
    AttributeParts parts;
    H5MOTE_TRY(parts.decode(file.context, body, body.size()));
    if ((parts.flags & AttributeParts::kSharedType) == 0) {
        return Status::ok;
    }
    return committed_type_at(file, body.subspan(parts.type, parts.type_size), header);
}

Status use_committed_type(FileState& file, Address header) noexcept {
    std::uint32_t count = 0;
    H5MOTE_TRY(change_reference_count(file, header, 1, count));
    const Status status = file.order();
    if (status != Status::ok) {
        (void)change_reference_count(file, header, -1, count);
    }
    return status;
}

Status release_committed_type(FileState& file, Address header) noexcept {
    std::uint32_t count = 0;
    H5MOTE_TRY(reference_count(file, header, count));
    if (count > 1) {
        return change_reference_count(file, header, -1, count);
    }
    bool alone = true;
    H5MOTE_TRY(stands_alone(file, header, alone));
    Disposal rehearsal(file, true);
    H5MOTE_TRY(dispose_header(file, header, rehearsal));
    if (!alone) {
        file.space.free().set_complete(false);
        return Status::ok;
    }
    H5MOTE_TRY(file.space.begin());
    Disposal disposal(file, false);
    return dispose_header(file, header, disposal);
}

}  // namespace h5mote
