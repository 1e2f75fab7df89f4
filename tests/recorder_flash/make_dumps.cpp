// Records on simulated chips and writes their dumps into a folder: plain.nor, ring.nor, ring.nand.
#include "flash_simulator.hpp"

#include <h5mote/flash_recorder.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

namespace blueprint = h5mote::blueprint;
using h5mote::Status;

struct Sample {
    std::uint32_t number;
    std::array<std::int16_t, 3> accel;
    float temperature;
};
H5MOTE_COMPOUND(Sample, number, accel, temperature)

constexpr auto kPlain = blueprint::file(
    blueprint::attribute("device", "simulated"), blueprint::setting<std::uint32_t>("serial"),
    blueprint::setting<std::array<double, 3>>("gains"),
    blueprint::group("flight", blueprint::dataset<Sample>("imu", 64, blueprint::attribute("units", "mg")),
                     blueprint::dataset<std::uint16_t>("battery", 32)),
    blueprint::constant("table", std::array<std::int32_t, 4>{1, 2, 3, 4}));
constexpr auto kRing = blueprint::file(
    blueprint::setting<std::uint32_t>("serial"),
    blueprint::group("flight", blueprint::ring<Sample, 5>("imu", 64, blueprint::attribute("units", "mg")),
                     blueprint::ring<std::uint16_t, 5>("battery", 32)));

void check(Status status, const char* what) {
    if (status != Status::ok) {
        std::fprintf(stderr, "%s: %s\n", what, h5mote::to_string(status));
        std::exit(1);
    }
}

template <const auto& Blueprint, std::uint32_t Window>
void make(const std::string& path, const h5mote::FlashGeometry& geometry, std::uint8_t programs, std::uint32_t rows) {
    constexpr std::size_t kImu = blueprint::dataset_number<Blueprint>("flight/imu");
    constexpr std::size_t kBattery = blueprint::dataset_number<Blueprint>("flight/battery");
    h5mote_test::FlashSimulatorOptions options;
    options.geometry = geometry;
    options.programs_per_page = programs;
    std::vector<std::uint64_t> memory(h5mote_test::FlashSimulator::required_memory(geometry) / 8 + 1);
    h5mote_test::FlashSimulator chip(options, {reinterpret_cast<std::byte*>(memory.data()), memory.size() * 8});
    chip.set_bad(3);
    h5mote::FlashRecorder<Blueprint, Window> recorder;
    check(recorder.open(chip), "open");
    check(recorder.template set<blueprint::setting_number<Blueprint>("", "serial")>(2024), "set");
    if constexpr (Blueprint.options.sizeof_addr == 8 && kImu == 0 && kBattery == 1) {
        check(recorder.template set<blueprint::setting_number<Blueprint>("", "gains")>({1.5, 2.5, -3}), "set");
    }
    for (std::uint32_t i = 0; i < rows; ++i) {
        const auto small = static_cast<std::int16_t>(i % 1000);
        check(recorder.template append<kImu>(
                  {i, {small, static_cast<std::int16_t>(-small), 77}, static_cast<float>(i) / 4}),
              "append");
        if (i % 10 == 9) {
            check(recorder.template append<kBattery>(static_cast<std::uint16_t>(i / 10)), "append");
        }
        if (i % 25 == 24) {
            check(recorder.flush(), "flush");
        }
        if (i % 900 == 899) {
            check(recorder.close(), "close");
            check(recorder.open(chip), "open");
        }
    }
    check(recorder.close(), "close");
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    if (file == nullptr ||
        std::fwrite(chip.contents().data(), 1, chip.contents().size(), file) != geometry.capacity() ||
        std::fclose(file) != 0 || chip.counts().violations != 0) {
        std::fprintf(stderr, "%s: cannot be written\n", path.c_str());
        std::exit(1);
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        return 2;
    }
    const std::string folder = std::string(arguments[1]) + "/";
    make<kPlain, 512>(folder + "plain.nor", {64, 4096, 256, 1, 0xff}, 0, 5000);
    make<kPlain, 512>(folder + "plain.pages", {64, 4096, 256, 256, 0x00}, 0, 2000);
    make<kRing, 512>(folder + "ring.nor", {60, 4096, 256, 4, 0xff}, 0, 40000);
    make<kRing, 2048>(folder + "ring.nand", {40, 32768, 2048, 2048, 0xff}, 1, 30000);
    return 0;
}
