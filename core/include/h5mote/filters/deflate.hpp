// H5Zdeflate - the deflate filter: a zlib stream (RFC 1950, RFC 1951) a chunk.
#pragma once

#include <h5mote/filter.hpp>

namespace h5mote {

/// Filter 1 of the registry. Client data: one value, the level 0 to 9 of zlib, checked by set_local(). The library's
/// own encoder always makes the same effort and ignores the level; the zlib back end (H5MOTE_DEFLATE_ZLIB) obeys it.
///
/// encode() needs at most kEncodeScratch bytes, whatever the size of the chunk. no_space: the stream does not fit. If
/// the filter is optional, its result is kept only if it saves at least one byte. decode() takes every zlib stream
/// without a preset dictionary and needs at most kDecodeScratch bytes, because the output itself serves as the window.
/// corrupt_file: a wrong checksum, a preset dictionary, or a stream that ends early. Bytes after the end of the stream
/// are ignored. Specification: "Data Storage - Filter Pipeline Message", filter identification 1.
class DeflateFilter final : public Filter {
public:
    static constexpr std::size_t kEncodeScratch = 3168;
    static constexpr std::size_t kDecodeScratch = 2176;

    constexpr DeflateFilter() = default;
    FilterId id() const noexcept override;
    Status set_local(FilterSpec& spec, const FilterTarget& target) const noexcept override;
    std::size_t scratch_need(bool encode, std::size_t size) const noexcept override;
    std::size_t encoded_limit(const FilterSpec& spec, std::size_t size) const noexcept override;
    Status encode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                  Bytes scratch) const noexcept override;
    Status decode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                  Bytes scratch) const noexcept override;
};

/// Pass `&deflate_filter` to a Library to link this filter.
inline constexpr BuiltFilter<H5MOTE_FILTER_DEFLATE != 0, DeflateFilter> deflate_filter{};

}  // namespace h5mote
