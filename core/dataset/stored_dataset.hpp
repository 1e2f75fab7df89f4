// H5D - everything that a dataset says of itself, in the form in which the file of its copy has it.
#pragma once

#include <h5mote/dataset.hpp>

namespace h5mote {

/// What Group::make_copy() creates. All of it is borrowed.
struct StoredDataset {
    DatatypeView type;                        ///< in the form of the file
    Address type_object = kUndefinedAddress;  ///< the header of a committed datatype, which `type` repeats
    const Dataspace& space;
    const DatasetCreate& create;
    ConstBytes pipeline = {};  ///< the message of the filters of `create`, version 2; nothing sets their client data
    bool allocated = false;    ///< the original has data, or an index of its chunks
};

}  // namespace h5mote
