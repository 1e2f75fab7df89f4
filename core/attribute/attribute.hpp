// H5A - attributes in object headers.
#pragma once

#include "header.hpp"

#include <h5mote/dataspace.hpp>
#include <h5mote/datatype.hpp>

#include <string_view>

namespace h5mote {

/// Stands at the attribute of that name in a header; `attribute` views the bytes of the block that the iterator pins.
/// not_found; unsupported (dense storage, shared parts).
Status find_attribute(MessageIterator& message, std::string_view name, AttributeMessage& attribute) noexcept;

/// Bytes of the elements of an attribute's dataspace in its datatype; fills `shape` with the decoded space.
Status attribute_data_size(FileState& file, const AttributeMessage& attribute, DataspaceMessage& shape,
                           std::uint64_t& elements, std::size_t& bytes) noexcept;

}  // namespace h5mote
