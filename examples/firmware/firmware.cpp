#include <h5mote/h5mote.hpp>
#include <h5mote/vfd/posix.hpp>

#include "sensor.hpp"

struct Sample {
    std::uint32_t t_ms;
    std::int16_t accel[3];
    float temp_c;
};
H5MOTE_COMPOUND(Sample, t_ms, accel, temp_c)  // the struct as an HDF5 datatype, made while compiling

alignas(8) static std::byte memory[6 * 1024];  // all the memory that the library gets

static h5mote::Status log_samples(h5mote::Driver& storage) {
    h5mote::Arena arena{memory};
    h5mote::NullPort port;
    h5mote::Library library{arena, port};
    h5mote::FileAccess access;
    access.metadata_cache = 2048;
    access.chunk_cache = 64 * sizeof(Sample);
    h5mote::DatasetCreate layout;
    layout.chunk = {64};

    auto file = h5mote::File::open_or_create(library, storage, access);  // goes on with a file that is there
    auto flight = file->root().open_or_create_group("flight");
    auto imu = flight->open_or_create_dataset<Sample>("imu", layout);
    H5MOTE_TRY(imu.status());
    H5MOTE_TRY(imu->write_attribute("accel_units", "mg"));
    for (int i = 1; i <= 1000; ++i) {
        Sample sample{clock_ms(), {}, 0};
        read_accelerometer(sample.accel);
        sample.temp_c = read_temperature();
        H5MOTE_TRY(imu->append(sample));  // a copy into the chunk in memory
        if (i % 100 == 0) {
            H5MOTE_TRY(file->flush());  // durable when it returns ok
        }
    }
    return file->close();
}

int main(int argc, char** argv) {
    h5mote::PosixDriver card;
    h5mote::Status status = card.open(argc > 1 ? argv[1] : "flight.h5", h5mote::PosixDriver::Mode::open_or_create);
    if (status == h5mote::Status::ok) {
        status = log_samples(card);
    }
    return static_cast<int>(status);
}
