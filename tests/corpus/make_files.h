/* What the makers of test files share. Every file comes in three forms: libhdf5 writes as old, as 1.8, as new as it
 * can. */
#pragma once

#include <hdf5.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct Form {
    const char* name; /* "old", "v18", "new" */
    H5F_libver_t low;
    H5F_libver_t high;
} Form;

typedef void (*Maker)(const Form* form);

typedef struct Listed {
    const char* name;
    Maker make;
} Listed;

extern const Listed kStructureMakers[];
extern const Listed kDatasetMakers[];

/* The result of a libhdf5 call, which must not be negative. */
#define CHECK(call) checked((long long)(call), #call, __FILE__, __LINE__)

static inline hid_t checked(long long result, const char* call, const char* file, int line) {
    if (result < 0) {
        fprintf(stderr, "%s:%d: %s\n", file, line, call);
        exit(1);
    }
    return (hid_t)result;
}

static inline int is_old(const Form* form) { return form->low == H5F_LIBVER_EARLIEST; }
static inline int is_new(const Form* form) { return form->low == H5F_LIBVER_LATEST; }

/* A file access property list of that form. */
hid_t access_of(const Form* form);
/* "name-form.h5" in a buffer that the next call uses again. */
const char* file_name(const Form* form, const char* name);
/* Creates a file; `fcpl` and `fapl` are closed unless they are defaults (0 for the form's own access). */
hid_t make_file(const Form* form, const char* name, hid_t fcpl, hid_t fapl);
/* A dataspace of that rank, the maximum as the sizes unless given. */
hid_t simple_space(int rank, const hsize_t* sizes, const hsize_t* most);
/* Creates a dataset, writes `data` unless NULL, closes all that is passed (dcpl, space) but not the type. */
void put(hid_t at, const char* name, hid_t type, hid_t space, hid_t dcpl, hid_t memory, const void* data);
/* The same for an attribute. */
void put_attribute(hid_t at, const char* name, hid_t type, hid_t space, hid_t memory, const void* data);
/* A group that is created and closed. */
void put_group(hid_t at, const char* name);
/* Scalar integer attribute. */
void put_number(hid_t at, const char* name, int value);
