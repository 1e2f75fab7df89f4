// The file that the firmware records, as the compiler makes it. This is the only C++ of the program.
#include "flight.h"

#include <h5mote/recorder_c.hpp>

H5MOTE_COMPOUND(sample, t_ms, accel, temp_c)  // the C struct as an HDF5 datatype

namespace {

namespace blueprint = h5mote::blueprint;

constexpr auto kFlight = blueprint::file(
    blueprint::attribute("firmware", "2.1"), blueprint::setting<std::uint32_t>("serial"),
    blueprint::group("flight", blueprint::dataset<sample>("imu", 64, blueprint::attribute("accel_units", "mg")),
                     blueprint::dataset<std::uint32_t>("events", 16)));

static_assert(blueprint::dataset_number<kFlight>("flight/imu") == FLIGHT_IMU);
static_assert(blueprint::dataset_number<kFlight>("flight/events") == FLIGHT_EVENTS);

}  // namespace

H5MOTE_RECORDER_FOR_C(flight_recorder, kFlight)
