// What formats::shared_message_changes consists of.

#include "shared_changes.hpp"
#include "stored_message.hpp"

namespace h5mote {

const SharedMessageChangesFormat formats::shared_message_changes = {
    &create_shared_indexes,
    &create_sharing_header,
    &release_shared_messages,
    &own_messages,
    &take_attributes_out,
    &add_sharing_attribute,
    [](FileState& file, ConstBytes id, MetadataWindow& message) {
        return open_shared_message(file, MessageType::attribute, id, message);
    },
    &own_attribute,
};

}  // namespace h5mote
