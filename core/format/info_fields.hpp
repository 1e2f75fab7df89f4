// H5O - the fields that link info and attribute info messages have in common.
#pragma once

#include "file_shape.hpp"

#include <h5mote/config.hpp>

#include <type_traits>

namespace h5mote {

/// Creation order bits of link info and attribute info messages.
inline constexpr std::uint8_t kOrderTracked = 1;
inline constexpr std::uint8_t kOrderIndexed = 2;

/// Addresses of the fractal heap and the B-trees that hold links or attributes in dense storage.
struct DenseAddresses {
    Address heap = kUndefinedAddress;
    Address name_index = kUndefinedAddress;
    Address order_index = kUndefinedAddress;

    /// Reads a link info or attribute info message in which the next creation order takes `order_width` bytes (0: it is
    /// missing). Nothing changes if the message is too short; order_index is undefined if there is no such index.
    void decode(FileShape shape, ConstBytes body, unsigned order_width) noexcept;
};

/// Takes its place in builds without H5MOTE_ALL_FORMATS, which do not read dense storage: constants, which need no
/// memory.
struct NoDenseAddresses {
    static constexpr Address heap = kUndefinedAddress;
    static constexpr Address name_index = kUndefinedAddress;
    static constexpr Address order_index = kUndefinedAddress;

    static void decode(FileShape /*shape*/, ConstBytes /*body*/, unsigned /*order_width*/) noexcept {}
};

using DenseStorage = std::conditional_t<H5MOTE_ALL_FORMATS != 0, DenseAddresses, NoDenseAddresses>;

inline std::uint8_t info_flags(ConstBytes body) noexcept {
    return body.size() < 2 ? std::uint8_t{0} : static_cast<std::uint8_t>(body[1]);
}

/// Decodes and encodes link info and attribute info messages, which differ only in the width in bytes of the next
/// creation order (`order_width`, `max_order`). decode_info(): false for a damaged message. encode_info() writes
/// undefined addresses: no dense storage.
bool decode_info(FileShape shape, ConstBytes body, unsigned order_width, std::uint8_t& flags, std::uint64_t& max_order,
                 bool& dense) noexcept;
void encode_info(Writer& writer, FileShape shape, unsigned order_width, unsigned flags,
                 std::uint64_t max_order) noexcept;

/// The same with dense storage.
void encode_dense_info(Writer& writer, FileShape shape, unsigned order_width, unsigned flags, std::uint64_t max_order,
                       const DenseAddresses& addresses) noexcept;

/// Whether `text` consists of ASCII characters only.
bool is_ascii(ConstBytes text) noexcept;

}  // namespace h5mote
