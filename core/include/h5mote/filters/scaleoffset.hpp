// H5Zscaleoffset - the scale-offset filter: stores the differences of numbers from their minimum in as few bits as they
// need; floating-point numbers are scaled to integers first.
#pragma once

#include <h5mote/filter.hpp>

namespace h5mote {

/// Filter 6 of the registry, for reading only: encode() is unsupported. Client data: 20 values, see scaleoffset.cpp.
///
/// decode() needs no scratch. It takes integers of 1, 2, 4 and 8 bytes, signed or not, and IEEE floating-point numbers
/// of 4 and 8 bytes with a decimal scale, in either byte order. A chunk that was not packed because it needs full
/// precision is taken to come from a little-endian machine, as the HDF5 library stores it in the order of the machine
/// that writes. unsupported: the E-scale method, which the HDF5 library never had. corrupt_file: client data that do
/// not fit each other, or packed bits that end early. Specification: "Data Storage - Filter Pipeline Message", filter
/// identification 6.
class ScaleoffsetFilter final : public DecodingFilter {
public:
    constexpr ScaleoffsetFilter() = default;
    FilterId id() const noexcept override;
    std::size_t encoded_limit(const FilterSpec& spec, std::size_t size) const noexcept override;
    Status decode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                  Bytes scratch) const noexcept override;
};

/// Pass `&scaleoffset_filter` to a Library to link this filter.
inline constexpr BuiltFilter<H5MOTE_FILTER_SCALEOFFSET != 0, ScaleoffsetFilter> scaleoffset_filter{};

}  // namespace h5mote
