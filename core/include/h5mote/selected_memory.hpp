// H5D (H5Dgather, H5Dscatter, H5Dfill) - the selected elements of an array in memory.
#pragma once

#include <h5mote/dataspace.hpp>
#include <h5mote/datatype.hpp>
#include <h5mote/library.hpp>

namespace h5mote {

// `extent` is that of an array in memory, whose elements are packed in row-major order. All functions return
// invalid_argument if the selection does not fit it, or a buffer has not exactly the size of its elements;
// out_of_memory; overflow: the extent has more elements than 64 bits hold.

/// Copies the selected elements, of `element_size` bytes each, from the array `from` to `to`, where they stand packed
/// in the order of the selection (H5Dgather).
Status gather(Library& library, const Dataspace& extent, const Selection& selection, std::size_t element_size,
              ConstBytes from, Bytes to) noexcept;
/// Copies packed elements to the selected places of the array `to` (H5Dscatter). The others stay as they are.
Status scatter(Library& library, const Dataspace& extent, const Selection& selection, std::size_t element_size,
               ConstBytes from, Bytes to) noexcept;
/// Gives all selected elements of the array `to`, which have the datatype `type`, one value (H5Dfill): `value`, of the
/// datatype `value_type`, which is converted. An empty `value` makes all their bytes zero. type_mismatch: there is no
/// such conversion; unsupported: variable-length data.
Status fill(Library& library, const Dataspace& extent, const Selection& selection, DatatypeView value_type,
            ConstBytes value, DatatypeView type, Bytes to) noexcept;

}  // namespace h5mote
