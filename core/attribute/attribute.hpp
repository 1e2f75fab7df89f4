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
    AttributeMessage parts;
    DatatypeView type;  ///< of one element in the file
    DataspaceMessage space;
    std::uint64_t elements = 0;
    std::size_t bytes = 0;  ///< of all elements
};

}  // namespace h5mote
