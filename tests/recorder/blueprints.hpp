// Descriptions of files for the tests of blueprints and recorders.
#pragma once

#include <h5mote/filters/fletcher32.hpp>
#include <h5mote/recorder.hpp>

namespace h5mote_test {

struct Sample {
    std::uint32_t t_ms;
    std::int16_t accel[3];
    float temp_c;
};
H5MOTE_COMPOUND(Sample, t_ms, accel, temp_c)

enum class Mode : std::uint16_t { idle = 1, run = 700 };
H5MOTE_ENUM(Mode, idle, run)

struct Padded {
    std::uint8_t kind;
    double value;
    Mode mode;
    h5mote::FixedString<5> name;
};
H5MOTE_COMPOUND(Padded, kind, value, mode, name)

namespace described {

namespace bp = h5mote::blueprint;

template <typename T, std::size_t N>
constexpr std::array<T, N> counted() noexcept {
    std::array<T, N> result{};
    for (std::size_t i = 0; i < N; ++i) {
        result[i] = static_cast<T>(3 * i + 1);
    }
    return result;
}

/// One dataset, as the smallest logger has it.
inline constexpr auto kOne = bp::file(bp::dataset<Sample>("imu", 64));
/// Chunks of one byte: the chunk index grows fastest.
inline constexpr auto kBytes = bp::file(bp::FileOptions{4, false}, bp::dataset<std::uint8_t>("b", 1));
inline constexpr auto kBytes8 = bp::file(bp::FileOptions{8, true}, bp::dataset<std::uint8_t>("b", 1));

/// Chunks that are larger than their addresses, so that unused ones are given back.
inline constexpr auto kTall = bp::file(bp::FileOptions{4, false}, bp::dataset<std::array<std::uint8_t, 40>>("t", 1));
inline constexpr auto kTall8 = bp::file(bp::FileOptions{8, true}, bp::dataset<std::array<std::uint8_t, 40>>("t", 1));

/// What a logger's file has, in every width of addresses, with and without creation order.
template <int Width, bool Order>
inline constexpr auto kFlight = bp::file(
    bp::FileOptions{Width, Order}, bp::setting<std::uint32_t>("serial", 7), bp::attribute("firmware", "2.1"),
    bp::group("flight",
              bp::dataset<Sample>("imu", 8, bp::setting<float>("gain", 1.5F), bp::attribute("accel_units", "mg")),
              bp::constant("calibration", std::array<std::array<float, 3>, 2>{{{1, 2, 3}, {4, 5, 6}}},
                           bp::attribute("at", "lab")),
              bp::dataset<std::uint64_t>("t_us", 3)),
    bp::group("empty"), bp::dataset<Padded>("odd", 5));

/// As much of everything as needs several sectors.
template <int Width, bool Order>
inline constexpr auto kLarge = bp::file(
    bp::FileOptions{Width, Order}, bp::attribute("a1", std::int8_t{-1}), bp::attribute("a2", std::uint16_t{2}),
    bp::attribute("a3", -3), bp::attribute("a4", std::int64_t{-4}), bp::attribute("a5", 5.5F),
    bp::attribute("a6", 6.25), bp::attribute("a7", Mode::run), bp::attribute("a8", Sample{8, {1, -2, 3}, 8.5F}),
    bp::attribute("a9", "\xc3\xa4\xc3\xb6"), bp::attribute("a10", ""),
    bp::attribute("a11", counted<std::uint16_t, 40>()),
    bp::setting<std::array<std::uint32_t, 100>>("s1", counted<std::uint32_t, 100>()),
    bp::attribute("a12", std::array<std::array<std::array<std::uint8_t, 2>, 3>, 4>{}),
    bp::setting<h5mote::FixedString<508>>("s2"), bp::setting<std::uint8_t>("s3", 3),
    bp::attribute("a13", h5mote::FixedString<3>{{'x', 'y', '\0'}}),
    bp::attribute("a14", std::array<std::byte, 3>{std::byte{1}, std::byte{2}, std::byte{3}}),
    bp::group("g1", bp::group("g2",
                              bp::group("g3", bp::dataset<std::uint16_t>("deep", 100),
                                        bp::constant("table", counted<std::uint16_t, 700>(),
                                                     bp::setting<double>("scale", 0.5), bp::attribute("u", "V"))),
                              bp::constant("one", std::uint8_t{200}))),
    bp::group("many", bp::dataset<std::uint8_t>("d01", 1), bp::dataset<std::int8_t>("d02", 2),
              bp::dataset<std::uint16_t>("d03", 3), bp::dataset<std::int16_t>("d04", 4),
              bp::dataset<std::uint32_t>("d05", 5), bp::dataset<std::int32_t>("d06", 6),
              bp::dataset<std::uint64_t>("d07", 7), bp::dataset<std::int64_t>("d08", 8), bp::dataset<float>("d09", 9),
              bp::dataset<double>("d10", 10), bp::dataset<Mode>("d11", 11),
              bp::dataset<std::array<float, 3>>("d12", 12), bp::dataset<Padded>("d13", 13),
              bp::dataset<h5mote::FixedString<7>>("d14", 14, bp::setting<std::uint64_t>("s14", 14)),
              bp::dataset<std::array<Sample, 2>>("d15", 300, bp::attribute("long", counted<double, 80>()))),
    bp::group("\xce\xb1\xce\xb2", bp::attribute("\xce\xb3", 1)),
    bp::group("a name that is rather long, so that the links of this group take their space as well 0123456789 "
              "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 "
              "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789"));

/// Datasets that grow in turns, with settings.
inline constexpr auto kTurns =
    bp::file(bp::FileOptions{4, false}, bp::setting<std::uint32_t>("start", 1), bp::dataset<std::uint8_t>("a", 1),
             bp::dataset<Sample>("b", 2),
             bp::dataset<std::array<std::uint8_t, 100>>("c", 7, bp::setting<std::array<std::uint8_t, 40>>("note")));
#if H5MOTE_FILTER_DEFLATE && H5MOTE_FILTER_SHUFFLE && H5MOTE_FILTER_FLETCHER32
/// Datasets with filters, and one without. A chunk of the first has more than a sector, of the second less.
template <int Width>
inline constexpr auto kFiltered = bp::file(
    bp::FileOptions{Width, Width == 8}, bp::setting<std::uint32_t>("start", 1),
    bp::dataset<std::array<std::uint8_t, 100>>("a", 7, bp::shuffle(), bp::deflate(), bp::attribute("units", "mg")),
    bp::dataset<std::uint8_t>("b", 3),
    bp::dataset<Sample>("c", 6, bp::deflate(9), bp::filter(h5mote::fletcher32_filter, h5mote::filters::fletcher32, 0),
                        bp::setting<float>("gain", 2)));
/// Chunks of one row: the chunk index grows fastest.
template <int Width>
inline constexpr auto kFine = bp::file(bp::FileOptions{Width, false},
                                       bp::dataset<std::array<std::uint8_t, 40>>("t", 1, bp::deflate()));
#endif

/// No dataset that could grow.
inline constexpr auto kNothing = bp::file(bp::setting<std::uint8_t>("only", 9));
inline constexpr auto kEmpty = bp::file();

}  // namespace described

}  // namespace h5mote_test
