// H5Zscaleoffset - the scale-offset filter: stores the differences of numbers from their minimum in as few bits as they
// need; floating-point numbers are scaled to integers first.
#pragma once

#include <h5mote/filter.hpp>

namespace h5mote {

/// Filter 6 of the registry, for reading only: encode() is unsupported. Client data: 20 values, see packing.hpp.
///
/// decode() needs no scratch. It takes integers of 1, 2, 4 and 8 bytes, signed or not, and IEEE floating-point numbers
/// of 4 and 8 bytes with a decimal scale, in either byte order. A chunk that was not packed because it needs full
/// precision is taken to come from a little-endian machine, as the HDF5 library stores it in the order of the machine
/// that writes. unsupported: the E-scale method, which the HDF5 library never had. corrupt_file: client data that do
/// not fit each other, or packed bits that end early. Specification: "Data Storage - Filter Pipeline Message", filter
/// identification 6.
class ScaleoffsetDecoder : public DecodingFilter {
public:
    constexpr ScaleoffsetDecoder() = default;
    FilterId id() const noexcept override;
    std::size_t encoded_limit(const FilterSpec& spec, std::size_t size) const noexcept override;
    Status decode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                  Bytes scratch) const noexcept override;
};

/// The same for writing, too. set_local() makes of the two values that filters::scaleoffset_integer() or
/// scaleoffset_float() gives the 20 that libhdf5 makes, and returns invalid_argument for other types than decode()
/// takes, and where the kind of scale does not fit the type.
///
/// encode() needs no scratch and writes what libhdf5 writes, except where libhdf5 would lose numbers: a chunk with a
/// NaN or infinity, with integers that need more bits than were asked for, or with a number about as far from the fill
/// value as the last digit, so that libhdf5 takes it for the fill value at one place only. Such a chunk is stored with
/// full precision. invalid_argument: the bytes are not a chunk of the dataset.
class ScaleoffsetFilter final : public ScaleoffsetDecoder {
public:
    constexpr ScaleoffsetFilter() = default;
    /// invalid_argument: encode() may get other than all bytes of a chunk.
    Status can_apply(const FilterSpec& spec, const FilterTarget& target) const noexcept override;
    Status set_local(FilterSpec& spec, const FilterTarget& target) const noexcept override;
    Status encode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                  Bytes scratch) const noexcept override;
};

/// Pass `&scaleoffset_filter` to a Library to link this filter, or `&scaleoffset_decoder` in a program that only reads.
inline constexpr BuiltFilter<H5MOTE_FILTER_SCALEOFFSET != 0, ScaleoffsetDecoder> scaleoffset_decoder{};
inline constexpr BuiltFilter<H5MOTE_FILTER_SCALEOFFSET != 0, WritingFilter<ScaleoffsetFilter, ScaleoffsetDecoder>>
    scaleoffset_filter{};

}  // namespace h5mote
