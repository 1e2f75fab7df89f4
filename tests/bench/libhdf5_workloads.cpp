// The workloads of workloads.hpp with libhdf5, through its C API as its documentation shows it, with the newest format
// of version 1.10 and default caches.
#include "libhdf5_check.hpp"
#include "workloads.hpp"

#include <hdf5.h>

#include <cstdio>
#include <cstring>

namespace bench {
namespace {

hid_t make_type() {
    const hsize_t three = 3;
    const hid_t array = check(H5Tarray_create2(H5T_NATIVE_INT16, 1, &three), "array type");
    const hid_t type = check(H5Tcreate(H5T_COMPOUND, sizeof(Sample)), "type");
    check(H5Tinsert(type, "t_ms", HOFFSET(Sample, t_ms), H5T_NATIVE_UINT32), "member");
    check(H5Tinsert(type, "accel", HOFFSET(Sample, accel), array), "member");
    check(H5Tinsert(type, "temp_c", HOFFSET(Sample, temp_c), H5T_NATIVE_FLOAT), "member");
    H5Tclose(array);
    return type;
}

class Libhdf5 final : public Subject {
public:
    Libhdf5() : type_(make_type()), access_(make_access(false)), core_access_(make_access(true)) {}
    ~Libhdf5() override {
        H5Tclose(type_);
        H5Pclose(access_);
        H5Pclose(core_access_);
    }
    const char* name() const override { return "libhdf5"; }

    void begin_append(const std::string& path, Storage storage) override {
        file_ = check(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access(storage)), "create");
        const hsize_t none = 0;
        const hsize_t unlimited = H5S_UNLIMITED;
        const hsize_t chunk = reference::kChunkRows;
        const hid_t space = check(H5Screate_simple(1, &none, &unlimited), "space");
        const hid_t create = check(H5Pcreate(H5P_DATASET_CREATE), "properties");
        check(H5Pset_chunk(create, 1, &chunk), "chunk");
        dataset_ = check(H5Dcreate2(file_, reference::kPath, type_, space, H5P_DEFAULT, create, H5P_DEFAULT),
                         "create dataset");
        H5Pclose(create);
        H5Sclose(space);
    }

    void append(const Sample* rows, std::size_t count, std::size_t at_once) override {
        for (std::size_t i = 0; i < count; i += at_once) {
            const hsize_t start = i;
            const hsize_t add = count - i < at_once ? count - i : at_once;
            const hsize_t size = start + add;
            check(H5Dset_extent(dataset_, &size), "extent");
            const hid_t space = check(H5Dget_space(dataset_), "space");
            check(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &add, nullptr), "select");
            const hid_t memory = check(H5Screate_simple(1, &add, nullptr), "memory space");
            check(H5Dwrite(dataset_, type_, memory, space, H5P_DEFAULT, rows + i), "write");
            H5Sclose(memory);
            H5Sclose(space);
        }
    }

    void end_append() override { close(); }

    void begin_read(const std::string& path, Storage storage) override {
        file_ = check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access(storage)), "open");
        dataset_ = check(H5Dopen2(file_, reference::kPath, H5P_DEFAULT), "open dataset");
    }

    void read(Sample* rows, std::size_t count, std::size_t stride) override {
        if (stride == 1) {
            check(H5Dread(dataset_, type_, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows), "read");
            return;
        }
        const hsize_t start = 0;
        const hsize_t step = stride;
        const hsize_t many = count;
        const hid_t space = check(H5Dget_space(dataset_), "space");
        check(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, &step, &many, nullptr), "select");
        const hid_t memory = check(H5Screate_simple(1, &many, nullptr), "memory space");
        check(H5Dread(dataset_, type_, memory, space, H5P_DEFAULT, rows), "read");
        H5Sclose(memory);
        H5Sclose(space);
    }

    void end_read() override { close(); }

    void create_with_attributes(const std::string& path) override {
        begin_append(path, Storage::file);
        Sample sample;
        reference::make_row(0, sample);
        append(&sample, 1, 1);
        const hid_t scalar = check(H5Screate(H5S_SCALAR), "space");
        const hid_t text = check(H5Tcopy(H5T_C_S1), "type");
        check(H5Tset_size(text, 4), "size");
        const double rate = 250;
        const std::int32_t serial = 7;
        write_attribute("units", text, scalar, "m/s2");
        write_attribute("rate", H5T_NATIVE_DOUBLE, scalar, &rate);
        write_attribute("serial", H5T_NATIVE_INT32, scalar, &serial);
        H5Tclose(text);
        H5Sclose(scalar);
        close();
    }

    double read_attribute(const std::string& path) override {
        begin_read(path, Storage::file);
        const hid_t attribute = check(H5Aopen(dataset_, "rate", H5P_DEFAULT), "open attribute");
        double rate = 0;
        check(H5Aread(attribute, H5T_NATIVE_DOUBLE, &rate), "read attribute");
        H5Aclose(attribute);
        close();
        return rate;
    }

    void create_datasets(const std::string& path, unsigned count) override {
        file_ = check(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access_), "create");
        const hsize_t sixteen = 16;
        const hid_t space = check(H5Screate_simple(1, &sixteen, nullptr), "space");
        for (unsigned k = 0; k < count; ++k) {
            char name[16];
            std::snprintf(name, sizeof name, "d%04u", k);
            dataset_ = check(H5Dcreate2(file_, name, H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                             "create dataset");
            std::int32_t values[16];
            for (int i = 0; i < 16; ++i) {
                values[i] = i + static_cast<int>(k);
            }
            check(H5Dwrite(dataset_, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "write");
            check(H5Dclose(dataset_), "close dataset");
        }
        H5Sclose(space);
        check(H5Fclose(file_), "close");
    }

private:
    static hid_t make_access(bool in_memory) {
        const hid_t access = check(H5Pcreate(H5P_FILE_ACCESS), "properties");
        check(H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110), "version bounds");
        if (in_memory) {
            check(H5Pset_fapl_core(access, 1 << 20, false), "core driver");
        }
        return access;
    }

    hid_t access(Storage storage) const { return storage == Storage::memory ? core_access_ : access_; }

    void write_attribute(const char* name, hid_t type, hid_t space, const void* value) {
        const hid_t attribute = check(H5Acreate2(dataset_, name, type, space, H5P_DEFAULT, H5P_DEFAULT), "attribute");
        check(H5Awrite(attribute, type, value), "attribute");
        H5Aclose(attribute);
    }

    void close() {
        check(H5Dclose(dataset_), "close dataset");
        check(H5Fclose(file_), "close");
    }

    hid_t type_;
    hid_t access_;
    hid_t core_access_;
    hid_t file_ = -1;
    hid_t dataset_ = -1;
};

}  // namespace

bool check_datasets(const std::string& path, unsigned count) {
    const hid_t file = check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "open");
    H5G_info_t info;
    check(H5Gget_info(file, &info), "group");
    bool good = info.nlinks == count;
    for (unsigned k = 0; k < count && good; ++k) {
        char name[16];
        std::snprintf(name, sizeof name, "d%04u", k);
        const hid_t dataset = check(H5Dopen2(file, name, H5P_DEFAULT), "open dataset");
        std::int32_t values[16] = {};
        check(H5Dread(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "read");
        check(H5Dclose(dataset), "close dataset");
        for (int i = 0; i < 16; ++i) {
            good = good && values[i] == i + static_cast<int>(k);
        }
    }
    check(H5Fclose(file), "close");
    return good;
}

std::unique_ptr<Subject> make_libhdf5() { return std::make_unique<Libhdf5>(); }

}  // namespace bench
