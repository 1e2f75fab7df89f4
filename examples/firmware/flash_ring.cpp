#include <h5mote/flash_recorder.hpp>

#include "chip.hpp"
#include "sensor.hpp"

// Eight datasets, temp_c_0 to temp_c_7, take turns: when the chip is full, the one with the oldest rows is emptied.
namespace blueprint = h5mote::blueprint;
constexpr auto kFile = blueprint::file(blueprint::ring<float, 8>("temp_c", 256));

static Chip chip;
static h5mote::FlashRecorder<kFile> recorder;

int main() {
    h5mote::Status status = recorder.open(chip);
    while (status == h5mote::Status::ok && clock_ms() < 400000) {
        status = recorder.append<0>(read_temperature());
    }
    const h5mote::Status closed = recorder.close();
    return static_cast<int>(status == h5mote::Status::ok ? closed : status);
}
