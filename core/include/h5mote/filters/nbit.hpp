// H5Znbit - the n-bit filter: of every number only the bits of its precision, packed.
#pragma once

#include <h5mote/filter.hpp>

#if H5MOTE_FILTER_NBIT

namespace h5mote {

/// Filter 5 of the registry; reading only, encode() is unsupported. Client data: how many values there are, whether
/// nothing is packed, elements a chunk, then the datatype: numbers (either byte order, any size, precision and offset),
/// arrays, compounds, and types that are copied. Bits outside the precision come back as zeros.
///
/// decode() needs no scratch. Types nested deeper than H5MOTE_MAX_TYPE_DEPTH, or that do not fit their own sizes, and
/// packed bits that end early: corrupt_file.
/// Specification: "Data Storage - Filter Pipeline Message", filter identification 5.
class NbitFilter final : public DecodingFilter {
public:
    constexpr NbitFilter() = default;
    FilterId id() const noexcept override;
    Status decode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                  Bytes scratch) const noexcept override;
};

/// Pass `&nbit_filter` to a Library to link this filter.
inline constexpr NbitFilter nbit_filter{};

}  // namespace h5mote

#endif
