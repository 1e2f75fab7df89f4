// H5T (H5Tvlen) - variable-length data in memory: what a program reads sequences and strings of any length into.
#pragma once

#include <h5mote/context.hpp>
#include <h5mote/datatype.hpp>
#include <h5mote/status.hpp>

#include <cstddef>

namespace h5mote {

/// A sequence in memory, as libhdf5's hvl_t. An empty one has no data. The memory form of a variable-length string is
/// a `char*` to text that ends with NUL, nullptr where the file has none.
struct VariableLength {
    std::size_t count = 0;  ///< elements of the base type
    void* data = nullptr;   ///< aligned to 8
};

/// Releases all sequences and strings, nested to any depth, of `count` values of `type` that begin `stride` bytes
/// apart at `data`, and makes them empty (H5Treclaim). `type` is the memory type that they were read with. Sequences
/// keep the count, and strings the length, that they were read with, or must be emptied by other means.
/// invalid_argument: `stride` is less than the size of the type, or the type has not the form that memory has.
Status reclaim(Context& context, DatatypeView type, std::size_t count, std::size_t stride, void* data) noexcept;

}  // namespace h5mote
