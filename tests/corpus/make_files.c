/* make_files FOLDER: writes the files that the corpus comparison reads, with libhdf5, the same bytes every time. */
#include "make_files.h"

#include <unistd.h>

hid_t access_of(const Form* form) {
    const hid_t fapl = CHECK(H5Pcreate(H5P_FILE_ACCESS));
    CHECK(H5Pset_libver_bounds(fapl, form->low, form->high));
    return fapl;
}

const char* file_name(const Form* form, const char* name) {
    static char text[256];
    snprintf(text, sizeof text, "%s-%s.h5", name, form->name);
    return text;
}

hid_t make_file(const Form* form, const char* name, hid_t fcpl, hid_t fapl) {
    const hid_t access = fapl != 0 ? fapl : access_of(form);
    const hid_t file = CHECK(H5Fcreate(file_name(form, name), H5F_ACC_TRUNC, fcpl, access));
    CHECK(H5Pclose(access));
    if (fcpl != H5P_DEFAULT) {
        CHECK(H5Pclose(fcpl));
    }
    return file;
}

hid_t simple_space(int rank, const hsize_t* sizes, const hsize_t* most) {
    return CHECK(H5Screate_simple(rank, sizes, most));
}

void put(hid_t at, const char* name, hid_t type, hid_t space, hid_t dcpl, hid_t memory, const void* data) {
    const hid_t dataset = CHECK(H5Dcreate2(at, name, type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT));
    if (data != NULL) {
        CHECK(H5Dwrite(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
    }
    CHECK(H5Dclose(dataset));
    CHECK(H5Sclose(space));
    if (dcpl != H5P_DEFAULT) {
        CHECK(H5Pclose(dcpl));
    }
}

void put_attribute(hid_t at, const char* name, hid_t type, hid_t space, hid_t memory, const void* data) {
    const hid_t attribute = CHECK(H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT));
    if (data != NULL) {
        CHECK(H5Awrite(attribute, memory, data));
    }
    CHECK(H5Aclose(attribute));
    CHECK(H5Sclose(space));
}

void put_group(hid_t at, const char* name) {
    CHECK(H5Gclose(CHECK(H5Gcreate2(at, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT))));
}

void put_number(hid_t at, const char* name, int value) {
    put_attribute(at, name, H5T_STD_I32LE, CHECK(H5Screate(H5S_SCALAR)), H5T_NATIVE_INT, &value);
}

int main(int count, char** arguments) {
    static const Form kForms[] = {
        {"old", H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST},
        {"v18", H5F_LIBVER_V18, H5F_LIBVER_V18},
        {"new", H5F_LIBVER_LATEST, H5F_LIBVER_LATEST},
    };
    if (count != 2 || chdir(arguments[1]) != 0) {
        fprintf(stderr, "make_files FOLDER\n");
        return 2;
    }
    for (size_t form = 0; form < sizeof kForms / sizeof kForms[0]; ++form) {
        for (const Listed* listed = kStructureMakers; listed->make != NULL; ++listed) {
            listed->make(&kForms[form]);
        }
        for (const Listed* listed = kDatasetMakers; listed->make != NULL; ++listed) {
            listed->make(&kForms[form]);
        }
    }
    return 0;
}
