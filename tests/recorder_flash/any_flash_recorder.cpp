#include "any_flash_recorder.hpp"

#include "flash_blueprints.hpp"

namespace h5mote_test {

namespace {

constexpr MakeFlashRecorder kRecorders[] = {
    make_flash_recorder<flash_blueprints::kOne, 64>,
    make_flash_recorder<flash_blueprints::kOne, 256>,
    make_flash_recorder<flash_blueprints::kOne, 2048>,
    make_flash_recorder<flash_blueprints::kThree, 128>,
    make_flash_recorder<flash_blueprints::kThree, 512>,
    make_flash_recorder<flash_blueprints::kManySettings, 256>,
    make_flash_recorder<flash_blueprints::kManySettings, 1024>,
    make_flash_recorder<flash_blueprints::kLong, 128>,
    make_flash_recorder<flash_blueprints::kLong, 512>,
    make_flash_recorder<flash_blueprints::kRing<2>, 64>,
    make_flash_recorder<flash_blueprints::kRing<2>, 512>,
    make_flash_recorder<flash_blueprints::kRing<3>, 256>,
    make_flash_recorder<flash_blueprints::kRings<2>, 256>,
    make_flash_recorder<flash_blueprints::kRings<3>, 128>,
    make_flash_recorder<flash_blueprints::kRings<3>, 1024>,
    make_flash_recorder<flash_blueprints::kRings<7>, 256>,
    make_flash_recorder<flash_blueprints::kLongRing<2>, 128>,
    make_flash_recorder<flash_blueprints::kLongRing<3>, 512>,
};

}  // namespace

h5mote::Span<const MakeFlashRecorder> flash_recorders() noexcept { return {kRecorders, std::size(kRecorders)}; }

}  // namespace h5mote_test
