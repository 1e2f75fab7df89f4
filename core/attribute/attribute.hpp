// H5A - attributes in object headers.
#pragma once

#include "header.hpp"

#include <h5mote/dataspace.hpp>
#include <h5mote/datatype.hpp>

#include <string_view>

namespace h5mote {

/// An attribute found in a header. Views the bytes of the block that its iterator pins.
struct StoredAttribute {
    StoredAttribute(FileState& file, Address header) noexcept : message(file, header) {}

    /// Goes on to the next attribute. not_found; unsupported (dense storage, shared parts).
    Status next() noexcept;
    /// Goes on to the attribute of that name.
    Status find(std::string_view name) noexcept;
    /// Decodes the datatype and dataspace of the attribute that was found. corrupt_file: its data are shorter than
    /// datatype and dataspace say.
    Status describe() noexcept;

    MessageIterator message;
    AttributeMessage parts;  ///< `shared`: only the name
    /// The datatype or the dataspace is in another place; describe() is then `unsupported`.
    bool shared = false;
    DatatypeView type;  ///< of one element in the file
    DataspaceMessage space;
    std::uint64_t elements = 0;
    std::size_t bytes = 0;  ///< of all elements
};

/// Adds an attribute of a name that no attribute of the object has. Gives it the next creation order, if the object
/// tracks that, and the object the attribute info message that it may lack. Errors of add_message(); overflow.
/// `flags`: of the message.
Status add_attribute(FileState& file, Address header, const MessageContent& content, unsigned flags = 0) noexcept;

/// Removes the attribute info message of an object that has lost its last attribute, or did not get the first one, as
/// libhdf5 does, so that creation orders count from 0 again: there are only 65,535. The last attribute is gone on the
/// storage before: libhdf5 finds none without the message, and a later one could get the same order. busy: there are
/// attributes. not_found: there is no such message.
H5MOTE_STEP Status remove_unused_info(FileState& file, Address header) noexcept;

}  // namespace h5mote
