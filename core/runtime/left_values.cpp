#include "left_values.hpp"

#include "attribute_content.hpp"
#include "shared_changes.hpp"

namespace h5mote {
namespace {

H5MOTE_STEP bool leaves_elements(FileState& file, Address header) noexcept {
    StoredMessage message;
    ConstBytes body;
    DatatypeView type;
    const Status status = message.find(file, header, MessageType::datatype);
    return status != Status::not_found &&
           (status != Status::ok || message.view(body) != Status::ok ||
            view_datatype(file.context, body, type) != Status::ok || !may_be_shared(type));
}

H5MOTE_STEP bool leaves_attribute_values(FileState& file, Address header) noexcept {
    AttributeCursor cursor(file);
    Status status = cursor.open(header);
    while (status == Status::ok) {
        StoredAttributeMessage attribute;
        status = cursor.next(attribute);
        if (status == Status::ok) {
            OwnedBytes bytes(file.context, MemoryKind::type);
            DatatypeView type;
            if (read_type(file, attribute, bytes, type) != Status::ok || !may_be_shared(type)) {
                return true;
            }
        }
    }
    return status != Status::not_found;
}

}  // namespace

bool leaves_values(FileState& file, Address header) noexcept {
    return leaves_elements(file, header) || leaves_attribute_values(file, header);
}

}  // namespace h5mote
