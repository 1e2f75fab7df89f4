// H5Zfletcher32 - the checksum filter: appends Fletcher's checksum to a chunk and verifies it on the way back.
#pragma once

#include <h5mote/filter.hpp>

namespace h5mote {

/// Filter 3 of the registry. No client data. The stored chunk is 4 bytes longer than the chunk: the checksum,
/// little-endian. decode() also accepts the checksum with the bytes of both its halves swapped, as the HDF5 library
/// wrote it before 1.6.3 on little-endian machines; any other checksum is corrupt_file. Specification: "Data Storage -
/// Filter Pipeline Message", filter identification 3.
class Fletcher32Filter final : public Filter {
public:
    constexpr Fletcher32Filter() = default;
    FilterId id() const noexcept override;
    std::size_t encoded_limit(const FilterSpec& spec, std::size_t size) const noexcept override;
    bool in_place() const noexcept override { return true; }
    Status encode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                  Bytes scratch) const noexcept override;
    Status decode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                  Bytes scratch) const noexcept override;
};

/// Pass `&fletcher32_filter` to a Library to link this filter.
inline constexpr BuiltFilter<H5MOTE_FILTER_FLETCHER32 != 0, Fletcher32Filter> fletcher32_filter{};

}  // namespace h5mote
