// Descriptions of what a FlashRecorder fills, for tests that choose them at random. Rows and settings are arrays of
// bytes, which are the same in memory and in the file on every machine.
#pragma once

#include <h5mote/flash_recorder.hpp>

namespace h5mote_test {

namespace flash_blueprints {

namespace bp = h5mote::blueprint;

template <std::size_t N>
using Bytes = std::array<std::uint8_t, N>;
template <std::size_t N>
constexpr Bytes<N> table() noexcept {
    Bytes<N> result{};
    for (std::size_t i = 0; i < N; ++i) {
        result[i] = static_cast<std::uint8_t>(i * i + 3 * i);
    }
    return result;
}

inline constexpr bp::FileOptions kSmall{4, false};
inline constexpr auto kOne = bp::file(kSmall, bp::dataset<Bytes<12>>("a", 16));
inline constexpr auto kThree = bp::file(
    kSmall, bp::setting<Bytes<4>>("serial", table<4>()), bp::dataset<Bytes<4>>("a", 32),
    bp::group("g", bp::dataset<Bytes<20>>("b", 8, bp::setting<Bytes<37>>("note")), bp::dataset<Bytes<90>>("c", 3)));
inline constexpr auto kManySettings =
    bp::file(kSmall, bp::setting<Bytes<180>>("s", table<180>()), bp::dataset<Bytes<9>>("a", 16));
inline constexpr auto kLong = bp::file(kSmall, bp::setting<Bytes<2>>("serial", table<2>()),
                                       bp::constant("table", table<900>()), bp::dataset<Bytes<16>>("a", 16));
template <std::size_t N>
inline constexpr auto kRing = bp::file(kSmall, bp::ring<Bytes<12>, N>("a", 16));
template <std::size_t N>
inline constexpr auto kRings = bp::file(kSmall, bp::setting<Bytes<4>>("serial", table<4>()),
                                        bp::ring<Bytes<5>, N>("a", 16),
                                        bp::ring<Bytes<33>, N>("b", 4, bp::setting<Bytes<19>>("note")));
template <std::size_t N>
inline constexpr auto kLongRing = bp::file(kSmall, bp::constant("table", table<900>()),
                                           bp::ring<Bytes<16>, N>("a", 16));

}  // namespace flash_blueprints

}  // namespace h5mote_test
