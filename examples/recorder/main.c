/* A logger in C: records samples into flight.h5. Everything but the description of the file (flight_file.cpp) is C.
 *
 *   recorder_in_c FILE   records 1000 rows, or 1000 more into a file that is there */
#include "flight.h"

#include <stdio.h>
#include <string.h>

/* The storage: a file of the C library. A firmware has the functions of its SD card or file system here. fflush() hands
 * the bytes to the operating system; a storage that has to survive a power cut needs more, fsync() for instance. */
static int file_read(void* context, uint64_t address, void* to, size_t count) {
    FILE* const file = context;
    return fseek(file, (long)address, SEEK_SET) == 0 && fread(to, 1, count, file) == count ? H5MOTE_OK
                                                                                           : H5MOTE_IO_ERROR;
}

static int file_write(void* context, uint64_t address, const void* from, size_t count) {
    FILE* const file = context;
    return fseek(file, (long)address, SEEK_SET) == 0 && fwrite(from, 1, count, file) == count ? H5MOTE_OK
                                                                                              : H5MOTE_IO_ERROR;
}

static int file_sync(void* context) { return fflush(context) == 0 ? H5MOTE_OK : H5MOTE_IO_ERROR; }

static int file_size(void* context, uint64_t* size) {
    FILE* const file = context;
    long end = 0;
    if (fseek(file, 0, SEEK_END) != 0 || (end = ftell(file)) < 0) {
        return H5MOTE_IO_ERROR;
    }
    *size = (uint64_t)end;
    return H5MOTE_OK;
}

/* The C library cannot make a file shorter, and the recorder does without: the superblock says how much of it counts.
 */
static int file_truncate(void* context, uint64_t size) {
    static const char zeros[256];
    uint64_t now = 0;
    int status = file_size(context, &now);
    while (status == H5MOTE_OK && now < size) {
        const size_t count = size - now < sizeof zeros ? (size_t)(size - now) : sizeof zeros;
        status = file_write(context, now, zeros, count);
        now += count;
    }
    return status;
}

static int record(h5mote_recorder* recorder) {
    const uint32_t serial = 1013;
    const uint32_t first = (uint32_t)h5mote_recorder_rows(recorder, FLIGHT_IMU);
    int status = h5mote_recorder_set(recorder, FLIGHT_SERIAL, &serial);
    for (uint32_t i = first; i < first + 1000 && status == H5MOTE_OK; ++i) {
        struct sample sample;
        memset(&sample, 0, sizeof sample); /* the gap between the members, too */
        sample.t_ms = 4 * i;
        sample.accel[0] = (int16_t)(i % 100);
        sample.temp_c = 20.0F;
        status = h5mote_recorder_append(recorder, FLIGHT_IMU, &sample, 1);
        if (status == H5MOTE_OK && (i + 1) % 100 == 0) {
            status = h5mote_recorder_append(recorder, FLIGHT_EVENTS, &i, 1);
        }
        if (status == H5MOTE_OK && (i + 1) % 100 == 0) {
            status = h5mote_recorder_flush(recorder); /* durable when it returns H5MOTE_OK */
        }
    }
    return status;
}

int main(int argc, char** argv) {
    const char* const path = argc > 1 ? argv[1] : "flight.h5";
    FILE* file = fopen(path, "r+b");
    if (file == NULL) {
        file = fopen(path, "w+b");
    }
    if (file == NULL) {
        return 1;
    }
    const struct h5mote_storage storage = {file, file_read, file_write, file_sync, file_size, file_truncate, 512, 0, 0};
    h5mote_recorder* const recorder = flight_recorder();
    int status = h5mote_recorder_open(recorder, &storage);
    if (status == H5MOTE_OK) {
        const int recorded = record(recorder);
        const int closed = h5mote_recorder_close(recorder);
        status = recorded != H5MOTE_OK ? recorded : closed;
    }
    if (status != H5MOTE_OK) {
        fprintf(stderr, "%s: %s\n", path, h5mote_status_text(status));
    }
    return fclose(file) == 0 && status == H5MOTE_OK ? 0 : 1;
}
