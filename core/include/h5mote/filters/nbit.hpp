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
class NbitDecoder : public DecodingFilter {
public:
    constexpr NbitDecoder() = default;
    FilterId id() const noexcept override;
    Status decode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                  Bytes scratch) const noexcept override;
};

/// The same for writing, too. set_local() makes the client data that libhdf5 makes of the datatype: numbers are
/// integers and floating-point numbers; everything else but arrays and compounds of them is copied whole. It returns
/// invalid_argument for types that libhdf5 refuses (VAX floating-point numbers, arrays of variable-length data, types
/// of more than 4,096 values).
///
/// encode() needs no scratch. invalid_argument: the bytes are not a chunk of the type, or members follow an array of
/// arrays or compounds in the same compound: libhdf5 packs those members wrongly and loses them, so that an optional
/// filter is skipped here, and for a mandatory one the dataset is not created.
class NbitFilter final : public NbitDecoder {
public:
    constexpr NbitFilter() = default;
    /// invalid_argument: encode() may get other than all bytes of a chunk.
    Status can_apply(const FilterSpec& spec, const FilterTarget& target) const noexcept override;
    Status set_local(FilterSpec& spec, const FilterTarget& target) const noexcept override;
    Status encode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                  Bytes scratch) const noexcept override;
};

/// Pass `&nbit_filter` to a Library to link this filter, or `&nbit_decoder` in a program that only reads.
inline constexpr BuiltFilter<H5MOTE_FILTER_NBIT != 0, NbitDecoder> nbit_decoder{};
inline constexpr BuiltFilter<H5MOTE_FILTER_NBIT != 0, WritingFilter<NbitFilter, NbitDecoder>> nbit_filter{};

}  // namespace h5mote
