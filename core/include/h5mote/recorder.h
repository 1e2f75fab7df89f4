/* H5F H5D - the recorder for programs in C.
 *
 * The blueprint of the file, and the recorder that fills it, are one file of C++, which ends with
 * H5MOTE_RECORDER_FOR_C() of <h5mote/recorder_c.hpp>. Everything else of the program may be C. Functions return 0
 * (H5MOTE_OK) or the number of a status; what each status means, and what a call does, stands at the function of the
 * same name in <h5mote/recorder.hpp>. */
#ifndef H5MOTE_RECORDER_H
#define H5MOTE_RECORDER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Names of C have the library's name in them, and small letters; the checker of names knows those of C++ only. */
/* NOLINTBEGIN(readability-identifier-naming) */

/* The numbers of h5mote::Status that these functions return. */
enum h5mote_status {
    H5MOTE_OK = 0,
    H5MOTE_OVER_BUDGET = 2,
    H5MOTE_INVALID_ARGUMENT = 5,
    H5MOTE_INVALID_HANDLE = 6,
    H5MOTE_CORRUPT_FILE = 7,
    H5MOTE_UNSUPPORTED = 8,
    H5MOTE_NOT_HDF5 = 9,
    H5MOTE_READ_ONLY = 10,
    H5MOTE_IO_ERROR = 11,
    H5MOTE_NO_SPACE = 12,
    H5MOTE_BUSY = 13,
    H5MOTE_OTHER_BLUEPRINT = 16,
    H5MOTE_FOREIGN_CHANGES = 17
};

/* Name of a status ("no_space"). Static storage. Only a program that calls it contains the names. */
const char* h5mote_status_text(int status);

/* A storage of bytes addressed from 0: what h5mote::Driver is in C++. Each function gets `context` first and returns a
 * status; H5MOTE_IO_ERROR when the storage fails, H5MOTE_NO_SPACE when it is full. */
struct h5mote_storage {
    void* context;
    /* Fills `to` with the bytes from `address` on. They lie within the storage's size. */
    int (*read)(void* context, uint64_t address, void* to, size_t count);
    /* Stores bytes, and makes the storage longer if need be. */
    int (*write)(void* context, uint64_t address, const void* from, size_t count);
    /* What was written before is on the storage for good when this returns H5MOTE_OK. */
    int (*sync)(void* context);
    /* The number of bytes that the storage holds now. */
    int (*size)(void* context, uint64_t* size);
    /* Makes the storage so long; new bytes read as zero. */
    int (*truncate)(void* context, uint64_t size);
    /* Bytes that are written wholly or not at all if they lie in one aligned unit: 512 for media with sectors. */
    uint32_t atomic_unit;
    /* Not 0: all writes between two syncs appear wholly or not at all. */
    uint8_t sync_is_commit;
    /* Value of bytes that were never written: 0 or 0xff. */
    uint8_t erased_value;
};

/* One recorder with its blueprint: static memory of the C++ file. */
typedef struct h5mote_recorder h5mote_recorder;

/* `storage` is borrowed until the recorder is closed. */
int h5mote_recorder_open(h5mote_recorder* recorder, const struct h5mote_storage* storage);
/* `rows`: `count` rows as the C struct that the C++ file describes. H5MOTE_INVALID_ARGUMENT: there is no such dataset;
 * they are numbered in the order of the blueprint, from 0. After an error some of the rows may have been taken:
 * h5mote_recorder_rows() tells. */
int h5mote_recorder_append(h5mote_recorder* recorder, unsigned dataset, const void* rows, size_t count);
/* `value`: the setting's value; settings are numbered in the order of the blueprint, from 0. */
int h5mote_recorder_set(h5mote_recorder* recorder, unsigned setting, const void* value);
int h5mote_recorder_flush(h5mote_recorder* recorder);
int h5mote_recorder_close(h5mote_recorder* recorder);
/* Closes the recorder without writing anything. */
void h5mote_recorder_abandon(h5mote_recorder* recorder);
/* Rows of a dataset, those in memory among them. 0: the recorder is not open, or there is no such dataset. */
uint64_t h5mote_recorder_rows(const h5mote_recorder* recorder, unsigned dataset);
/* Where the file on the storage differs, after H5MOTE_OTHER_BLUEPRINT or H5MOTE_FOREIGN_CHANGES: an address. */
uint64_t h5mote_recorder_difference(const h5mote_recorder* recorder);

/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif
