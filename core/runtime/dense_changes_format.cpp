// What formats::dense_changes consists of.

#include "dense_changes.hpp"

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {

const DenseChangesFormat formats::dense_changes = {
    &insert_dense_link,     &remove_dense_link,      &is_dense_group_empty,   &wants_dense_attributes,
    &write_dense_attribute, &rename_dense_attribute, &remove_dense_attribute, &release_dense_attribute_types,
    &dispose_dense_storage, &make_dense_links,
};

}  // namespace h5mote

#endif
