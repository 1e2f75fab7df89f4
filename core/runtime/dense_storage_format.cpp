// What formats::dense_storage consists of.

#include "attribute_storage.hpp"
#include "block_decoder.hpp"
#include "link_storage.hpp"
#include "stored_message.hpp"

#if H5MOTE_ALL_FORMATS

namespace h5mote {

const DenseStorageFormat formats::dense_storage = {
    &make_dense_reader,  &pipeline_block_decoder, &find_dense_link,     &find_dense_attribute,
    &dense_attribute_at, &open_dense_attribute,   &open_shared_message,
};

}  // namespace h5mote

#endif
