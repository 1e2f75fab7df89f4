// H5Zscaleoffset - the scale-offset filter: numbers less their minimum, scaled if they are floating-point, in as few
// bits as that takes.
#pragma once

#include <h5mote/filter.hpp>

#if H5MOTE_FILTER_SCALEOFFSET

namespace h5mote {

/// Filter 6 of the registry; reading only, encode() is unsupported. Client data: 20 values, see scaleoffset.cpp.
///
/// decode() needs no scratch. It takes integers of 1, 2, 4 and 8 bytes, signed or not, and IEEE floating-point of 4 and
/// 8 with a decimal scale, in either byte order. Chunks that were not packed because they need full precision are
/// taken to come from a little-endian machine, for the HDF5 library stores them in its own order. The scaling that it
/// never had (E-scale): unsupported. Values that do not fit each other, or packed bits that end early: corrupt_file.
/// Specification: "Data Storage - Filter Pipeline Message", filter identification 6.
class ScaleoffsetFilter final : public DecodingFilter {
public:
    constexpr ScaleoffsetFilter() = default;
    FilterId id() const noexcept override;
    std::size_t encoded_limit(const FilterSpec& spec, std::size_t size) const noexcept override;
    Status decode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                  Bytes scratch) const noexcept override;
};

/// Pass `&scaleoffset_filter` to a Library to link this filter.
inline constexpr ScaleoffsetFilter scaleoffset_filter{};

}  // namespace h5mote

#endif
