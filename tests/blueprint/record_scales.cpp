// record_scales FOLDER: records files of blueprints with dimension scales, for scales_test.py.
// record_scales FILE WIDTH ORDERED: goes on with one of them.
#include <h5mote/recorder.hpp>
#include <h5mote/vfd/posix.hpp>

#include <cstdint>
#include <cstdio>
#include <string>

namespace {

using namespace h5mote;

struct Sample {
    std::int16_t accel[3];
    std::int16_t temperature;
};
H5MOTE_COMPOUND(Sample, accel, temperature)

// In files with addresses of `Width` bytes references and lists have other forms.
template <std::uint8_t Width, bool Order>
constexpr auto kFlight = blueprint::file(
    blueprint::FileOptions{Width, Order},
    blueprint::group("flight", blueprint::dataset<std::uint64_t>("t_us", 64, blueprint::attribute("unit", "us")),
                     blueprint::dataset<Sample>("imu", 64, blueprint::scale("t_us"), blueprint::label("time"),
                                                blueprint::setting<std::uint32_t>("serial")),
                     blueprint::dataset<std::uint8_t>("humidity", 100, blueprint::scale("t_us")),
                     blueprint::dataset<float>("pressure", 32, blueprint::scale("/flight/t_us"),
                                               blueprint::scale("/flight/index")),
                     blueprint::dataset<std::uint32_t>("index", 32)),
    blueprint::constant("axis", std::array<std::int8_t, 3>{{0, 1, 2}},
                        blueprint::attribute("NAME", "axes of the chip")),
    // Only the second dimension has a scale, and a label.
    blueprint::constant("gains", std::array<std::array<float, 3>, 2>{{{{1, 2, 3}}, {{4, 5, 6}}}},
                        blueprint::scale("axis", 1), blueprint::label("axis", 1)));

// Labels of more than 4,096 bytes need a larger heap collection than the least.
template <unsigned Length>
struct LongText {
    char text[Length + 1]{};
    constexpr LongText() {
        for (unsigned i = 0; i < Length; ++i) {
            text[i] = 'a';
        }
    }
};
constexpr LongText<4071> kFitting;
constexpr LongText<5001> kLong;
constexpr auto kFull = blueprint::file(blueprint::dataset<float>("data", 8, blueprint::label(kFitting.text)));
constexpr auto kLarge = blueprint::file(blueprint::dataset<float>("data", 8, blueprint::label(kLong.text)));

template <const auto& Blueprint>
Status record(Driver& driver, unsigned first, unsigned count) {
    static Recorder<Blueprint> recorder;
    constexpr std::size_t kTime = blueprint::dataset_number<Blueprint>("flight/t_us");
    constexpr std::size_t kImu = blueprint::dataset_number<Blueprint>("flight/imu");
    constexpr std::size_t kPressure = blueprint::dataset_number<Blueprint>("flight/pressure");
    constexpr std::size_t kHumidity = blueprint::dataset_number<Blueprint>("flight/humidity");
    constexpr std::size_t kIndex = blueprint::dataset_number<Blueprint>("flight/index");
    H5MOTE_TRY(recorder.open(driver));
    for (unsigned i = first; i < first + count; ++i) {
        const auto small = static_cast<std::int16_t>(i);
        H5MOTE_TRY(recorder.template append<kTime>(std::uint64_t{4000} * i));
        H5MOTE_TRY(recorder.template append<kImu>(Sample{{small, 1, 2}, 20}));
        H5MOTE_TRY(recorder.template append<kPressure>(0.5F * static_cast<float>(i)));
        H5MOTE_TRY(recorder.template append<kHumidity>(static_cast<std::uint8_t>(i)));
        H5MOTE_TRY(recorder.template append<kIndex>(i));
    }
    H5MOTE_TRY(recorder.template set<blueprint::setting_number<Blueprint>("flight/imu", "serial")>(first));
    return recorder.close();
}

template <const auto& Blueprint>
Status record_twice(const std::string& path) {
    PosixDriver driver;
    H5MOTE_TRY(driver.open(path.c_str(), PosixDriver::Mode::truncate));
    H5MOTE_TRY(record<Blueprint>(driver, 0, 150));
    return record<Blueprint>(driver, 150, 250);
}

template <const auto& Blueprint>
Status make(const std::string& path) {
    static Recorder<Blueprint> recorder;
    PosixDriver driver;
    H5MOTE_TRY(driver.open(path.c_str(), PosixDriver::Mode::truncate));
    H5MOTE_TRY(recorder.open(driver));
    H5MOTE_TRY(recorder.template append<0>(1.5F));
    return recorder.close();
}

Status run(const std::string& folder) {
    H5MOTE_TRY((record_twice<kFlight<8, false>>(folder + "/flight_8.h5")));
    H5MOTE_TRY((record_twice<kFlight<8, true>>(folder + "/flight_8_ordered.h5")));
    H5MOTE_TRY((record_twice<kFlight<4, false>>(folder + "/flight_4.h5")));
    H5MOTE_TRY((record_twice<kFlight<4, true>>(folder + "/flight_4_ordered.h5")));
    H5MOTE_TRY(make<kFull>(folder + "/full.h5"));
    return make<kLarge>(folder + "/large.h5");
}

template <const auto& Blueprint>
Status go_on(const char* path) {
    PosixDriver driver;
    H5MOTE_TRY(driver.open(path, PosixDriver::Mode::read_write));
    return record<Blueprint>(driver, 400, 100);
}

Status go_on(const char* path, bool is_wide, bool is_ordered) {
    if (is_wide) {
        return is_ordered ? go_on<kFlight<8, true>>(path) : go_on<kFlight<8, false>>(path);
    }
    return is_ordered ? go_on<kFlight<4, true>>(path) : go_on<kFlight<4, false>>(path);
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2 && count != 4) {
        std::fprintf(stderr, "usage: record_scales FOLDER | FILE WIDTH ORDERED\n");
        return 2;
    }
    const Status status =
        count == 2 ? run(arguments[1]) : go_on(arguments[1], arguments[2][0] == '8', arguments[3][0] == '1');
    std::printf("%s\n", to_string(status));
    return status == Status::ok ? 0 : 1;
}
