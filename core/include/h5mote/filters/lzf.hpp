// LZF - the filter that h5py brings along: a fast coding by repetitions (LibLZF's format).
#pragma once

#include <h5mote/filter.hpp>

namespace h5mote {

/// Filter 32000 of the registry, for reading only: encode() is unsupported. Client data: version of the filter, version
/// of the coding, bytes of a chunk; decode() needs none of them, and no scratch. corrupt_file: a repetition that begins
/// before the output does, or a stream that ends early.
class LzfFilter final : public DecodingFilter {
public:
    constexpr LzfFilter() = default;
    FilterId id() const noexcept override;
    const char* name() const noexcept override;
    Status decode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                  Bytes scratch) const noexcept override;
};

/// Pass `&lzf_filter` to a Library to link this filter.
inline constexpr BuiltFilter<H5MOTE_FILTER_LZF != 0, LzfFilter> lzf_filter{};

}  // namespace h5mote
