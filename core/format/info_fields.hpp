// H5O - what several messages have in common.
#pragma once

#include "file_shape.hpp"

namespace h5mote {

/// Creation order bits of link info and attribute info messages.
inline constexpr std::uint8_t kOrderTracked = 1;
inline constexpr std::uint8_t kOrderIndexed = 2;

#if H5MOTE_ALL_FORMATS
/// Where dense storage stands.
struct DenseStorage {
    Address heap = kUndefinedAddress;
    Address name_index = kUndefinedAddress;
    Address order_index = kUndefinedAddress;

    /// Reads a link info or attribute info message; what is missing in it stays undefined.
    void decode(FileShape shape, ConstBytes body, unsigned order_width) noexcept;
};

inline std::uint8_t info_flags(ConstBytes body) noexcept {
    return body.size() < 2 ? std::uint8_t{0} : static_cast<std::uint8_t>(body[1]);
}
#endif

/// Link info and attribute info messages, which differ in the width of the creation order only. false: damaged.
bool decode_info(FileShape shape, ConstBytes body, unsigned order_width, std::uint8_t& flags, std::uint64_t& max_order,
                 bool& dense) noexcept;
void encode_info(Writer& writer, FileShape shape, unsigned order_width, unsigned flags,
                 std::uint64_t max_order) noexcept;

/// Whether a name needs no character set but ASCII.
bool is_ascii(ConstBytes text) noexcept;

}  // namespace h5mote
