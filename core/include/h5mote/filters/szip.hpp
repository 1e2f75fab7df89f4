// H5Zszip - the szip filter: the lossless coding of CCSDS 121.0-B (extended Rice coding) with szip's arrangement of
// samples around it.
#pragma once

#include <h5mote/filter.hpp>

namespace h5mote {

/// Filter 4 of the registry, for reading only: encode() is unsupported. Client data: four values, namely the coding
/// options, pixels in a block (even, 2 to 32), bits of a pixel, pixels in a scanline.
///
/// decode() needs no scratch, as samples are written while they are decoded. It takes 1 to 31 bits a pixel, and 32 and
/// 64, which szip codes as planes of bytes. corrupt_file: a stream that ends early or does not fit its options.
/// Specification: "Data Storage - Filter Pipeline Message", filter identification 4.
class SzipDecoder : public DecodingFilter {
public:
    constexpr SzipDecoder() = default;
    FilterId id() const noexcept override;
    std::size_t encoded_limit(const FilterSpec& spec, std::size_t size) const noexcept override;
    Status decode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                  Bytes scratch) const noexcept override;
};

/// The same for writing, too. set_local() makes of the two values that filters::szip() gives the four that libhdf5
/// makes. It returns invalid_argument for what libhdf5 refuses: types without one byte order and precision (compounds,
/// strings, opaque data), and chunks of fewer elements than a block has.
///
/// encode() needs no scratch and writes the bytes that libaec writes. no_space: the code is longer than the chunk.
/// invalid_argument: the bytes are not whole pixels, or a pixel has other bits than those that are coded.
class SzipFilter final : public SzipDecoder {
public:
    constexpr SzipFilter() = default;
    /// invalid_argument: encode() may get bytes that are not whole pixels.
    Status can_apply(const FilterSpec& spec, const FilterTarget& target) const noexcept override;
    Status set_local(FilterSpec& spec, const FilterTarget& target) const noexcept override;
    Status encode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                  Bytes scratch) const noexcept override;
};

/// Pass `&szip_filter` to a Library to link this filter, or `&szip_decoder` in a program that only reads.
inline constexpr BuiltFilter<H5MOTE_FILTER_SZIP != 0, SzipDecoder> szip_decoder{};
inline constexpr BuiltFilter<H5MOTE_FILTER_SZIP != 0, WritingFilter<SzipFilter, SzipDecoder>> szip_filter{};

}  // namespace h5mote
