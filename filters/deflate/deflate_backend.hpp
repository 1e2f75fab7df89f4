// What encodes and decodes for DeflateFilter: the library's own code or, with H5MOTE_DEFLATE_ZLIB, zlib.
#pragma once

#include <h5mote/filter.hpp>

#include <type_traits>

namespace h5mote::deflate {

/// Functions as in Filter; `level` is that of zlib.
struct OwnBackend {
    static std::size_t scratch_need(bool encode) noexcept;
    static Status encode(std::uint32_t level, ConstBytes in, Bytes out, std::size_t& size, Bytes scratch) noexcept;
    static Status decode(ConstBytes in, Bytes out, std::size_t& size, Bytes scratch) noexcept;
};

struct ZlibBackend {
    static std::size_t scratch_need(bool encode) noexcept;
    static Status encode(std::uint32_t level, ConstBytes in, Bytes out, std::size_t& size, Bytes scratch) noexcept;
    static Status decode(ConstBytes in, Bytes out, std::size_t& size, Bytes scratch) noexcept;
};

using Backend = std::conditional_t<H5MOTE_DEFLATE_ZLIB != 0, ZlibBackend, OwnBackend>;

}  // namespace h5mote::deflate
