// H5O (H5Odtype) - the datatype message, HDF5 File Format Specification IV.A.2.d.
//
//   0  1  version (high 4 bits), class (low 4 bits)
//   1  3  class bit field, little-endian
//   4  4  size of one value in bytes
//   8     properties, by class
//     integer, bitfield   bit offset 2, bit precision 2
//     floating            bit offset 2, precision 2, exponent location 1, size 1, mantissa location 1, size 1, bias 4
//     time                bit precision 2
//     string, reference   none
//     opaque              tag, NUL-padded to a multiple of 8; its length is bits 0-7 of the bit field
//     compound            members; their number is bits 0-15 of the bit field. Each: name with NUL (padded to a
//                         multiple of 8 before version 3), offset (4 bytes; from version 3 as many as the size
//                         of the compound needs), in version 1 rank 1, 3 zero, permutation 4, 4 zero, 4 dimensions
//                         of 4; then the member's type
//     enumeration         base type, names as above, values; their number is bits 0-15 of the bit field
//     variable length     base type
//     array               rank 1, before version 3: 3 zero; dimensions of 4; before version 3: permutation of 4 each;
//                         then the base type
//     complex             base type
#pragma once

#include <h5mote/datatype.hpp>
#include <h5mote/span.hpp>
#include <h5mote/status.hpp>

#include <cstddef>

namespace h5mote {

/// Checks that `bytes` start with a datatype message that agrees with the format in everything, so that every accessor
/// of DatatypeView is safe on its first `length` bytes; what follows them is not looked at. A datatype can be valid
/// although this library does not convert it to any other (time and references, for instance).
///
/// corrupt_file: the bytes contradict the format or end too early. unsupported: `feature` is datatype_version (a
/// version beyond 5) or datatype_class (a class that the format does not define, or nesting of more than
/// H5MOTE_MAX_TYPE_DEPTH compounds, arrays and sequences). Without H5MOTE_ALL_FORMATS more is unsupported: time,
/// reference, variable-length and complex types; compounds, arrays and enumerations of versions 1 and 2. `length` and
/// `feature` are unchanged otherwise.
Status validate_datatype(ConstBytes bytes, std::size_t& length, Feature& feature) noexcept;

/// Bytes of the valid message at `message`.
std::size_t datatype_length(const std::byte* message) noexcept;

}  // namespace h5mote
