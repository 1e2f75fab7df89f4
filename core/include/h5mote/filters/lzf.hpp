// LZF - the filter that h5py brings along: a fast coding by repetitions (LibLZF's format).
#pragma once

#include <h5mote/filter.hpp>

namespace h5mote {

/// Filter 32000 of the registry, for reading only: encode() is unsupported. Client data: version of the filter, version
/// of the coding, bytes of a chunk; decode() needs none of them, and no scratch. corrupt_file: a repetition that begins
/// before the output does, or a stream that ends early.
class LzfDecoder : public DecodingFilter {
public:
    constexpr LzfDecoder() = default;
    FilterId id() const noexcept override;
    const char* name() const noexcept override;
    Status decode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                  Bytes scratch) const noexcept override;
};

/// The same for writing, too. set_local() makes the client data that h5py makes. encode() needs kEncodeScratch bytes,
/// whatever the size of the chunk. no_space: the result does not fit. If the filter is optional, its result is kept
/// only if it saves at least one byte.
class LzfFilter final : public LzfDecoder {
public:
    static constexpr std::size_t kEncodeScratch = 2048;

    constexpr LzfFilter() = default;
    Status can_apply(const FilterSpec& spec, const FilterTarget& target) const noexcept override;
    Status set_local(FilterSpec& spec, const FilterTarget& target) const noexcept override;
    std::size_t scratch_need(bool encode, std::size_t size) const noexcept override;
    std::size_t encoded_limit(const FilterSpec& spec, std::size_t size) const noexcept override;
    Status encode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                  Bytes scratch) const noexcept override;
};

/// Pass `&lzf_filter` to a Library to link this filter, or `&lzf_decoder` in a program that only reads.
inline constexpr BuiltFilter<H5MOTE_FILTER_LZF != 0, LzfDecoder> lzf_decoder{};
inline constexpr BuiltFilter<H5MOTE_FILTER_LZF != 0, WritingFilter<LzfFilter, LzfDecoder>> lzf_filter{};

}  // namespace h5mote
