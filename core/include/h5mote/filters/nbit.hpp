// H5Znbit - the n-bit filter: of every number only the bits of its precision, packed.
#pragma once

#include <h5mote/filter.hpp>

namespace h5mote {

/// Filter 5 of the registry, for reading only: encode() is unsupported. Client data: how many values there are, whether
/// nothing is packed, the elements of a chunk, then the datatype: numbers (either byte order, any size, precision and
/// offset), arrays, compounds, and types that are copied whole. Bits outside the precision are decoded as zeros.
///
/// decode() needs no scratch. corrupt_file: types nested deeper than H5MOTE_MAX_TYPE_DEPTH, types that do not fit their
/// own sizes, or packed bits that end early. Specification: "Data Storage - Filter Pipeline Message", filter
/// identification 5.
class NbitFilter final : public DecodingFilter {
public:
    constexpr NbitFilter() = default;
    FilterId id() const noexcept override;
    Status decode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                  Bytes scratch) const noexcept override;
};

/// Pass `&nbit_filter` to a Library to link this filter.
inline constexpr BuiltFilter<H5MOTE_FILTER_NBIT != 0, NbitFilter> nbit_filter{};

}  // namespace h5mote
