// H5T (H5Tvlen) - variable-length data in memory: the form in which a program reads and writes sequences and strings of
// any length.
#pragma once

#include <h5mote/context.hpp>
#include <h5mote/datatype.hpp>
#include <h5mote/status.hpp>

#include <cstddef>

namespace h5mote {

/// A sequence in memory, like libhdf5's hvl_t. An empty one has no data. A variable-length string in memory is a
/// `char*` to text that ends with NUL; nullptr where the file has no string.
struct VariableLength {
    std::size_t count = 0;  ///< elements of the base type
    void* data = nullptr;   ///< aligned to 8
};

/// Releases all sequences and strings, nested to any depth, of `count` values of `type` that begin `stride` bytes apart
/// at `data`, and makes them empty (H5Treclaim). `type` is the memory type that they were read with. The count of a
/// sequence and the length of a string tell how much memory to release, so the program must not have changed them.
/// invalid_argument: `stride` is less than the size of the type, or `type` does not have the form of a memory type.
Status reclaim(Context& context, DatatypeView type, std::size_t count, std::size_t stride, void* data) noexcept;

}  // namespace h5mote
