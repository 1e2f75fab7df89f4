/* What the firmware in C (main.c) and the one file of C++ (flight_file.cpp) share: the rows of the log, and which
 * numbers its datasets and settings have. */
#ifndef FLIGHT_H
#define FLIGHT_H

#include <h5mote/recorder.h>

#include <stdint.h>

struct sample {
    uint32_t t_ms;
    int16_t accel[3];
    float temp_c;
};

enum flight_dataset { FLIGHT_IMU = 0, FLIGHT_EVENTS = 1 };
enum flight_setting { FLIGHT_SERIAL = 0 };

#ifdef __cplusplus
extern "C" {
#endif
h5mote_recorder* flight_recorder(void);
#ifdef __cplusplus
}
#endif

#endif
