// What formats::shared_message_changes consists of.

#include "shared_changes.hpp"

namespace h5mote {

const SharedMessageChangesFormat formats::shared_message_changes = {
    &check_shared_indexes,
    &create_shared_indexes,
    &create_sharing_header,
    &release_shared_messages,
    &own_messages,
    &change_sharing_attribute,
    &add_shared_attribute,
    &replace_shared_attribute,
    &remove_shared_attribute,
    &own_attribute,
};

}  // namespace h5mote
