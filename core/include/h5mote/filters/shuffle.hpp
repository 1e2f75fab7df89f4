// H5Zshuffle - the shuffle filter: first all first bytes of the elements, then all second ones, and so on.
#pragma once

#include <h5mote/filter.hpp>

namespace h5mote {

/// Filter 2 of the registry. Client data: one value, the element size in bytes, which set_local() fills in. Bytes at
/// the end that do not fill an element are copied. The filter makes no chunk smaller by itself, but helps a compressor
/// behind it. Specification: "Data Storage - Filter Pipeline Message", filter identification 2.
class ShuffleFilter final : public Filter {
public:
    constexpr ShuffleFilter() = default;
    FilterId id() const noexcept override;
    bool keeps_size() const noexcept override { return true; }
    Status set_local(FilterSpec& spec, const FilterTarget& target) const noexcept override;
    Status encode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                  Bytes scratch) const noexcept override;
    Status decode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                  Bytes scratch) const noexcept override;
};

/// Pass `&shuffle_filter` to a Library to link this filter.
inline constexpr BuiltFilter<H5MOTE_FILTER_SHUFFLE != 0, ShuffleFilter> shuffle_filter{};

}  // namespace h5mote
