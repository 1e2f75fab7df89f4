// The reading workloads with libhdf5, through its C API as its documentation shows it; and the file that both libraries
// read.
#include "change_workloads.hpp"
#include "libhdf5_check.hpp"
#include "read_workloads.hpp"

#include <hdf5.h>

#include <cstdio>
#include <cstring>

namespace bench {
namespace {

void make_matrix(hid_t file, const char* name, hid_t create) {
    const hsize_t dims[2] = {kRows, kColumns};
    const hid_t space = check(H5Screate_simple(2, dims, nullptr), "space");
    const hid_t dataset =
        check(H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, create, H5P_DEFAULT), "create dataset");
    std::vector<double> values(kRows * kColumns);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = matrix_value(i / kColumns, i % kColumns);
    }
    check(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "write");
    H5Dclose(dataset);
    H5Sclose(space);
}

void make_chunked_matrix(hid_t file, const char* name, bool deflate) {
    const hid_t create = check(H5Pcreate(H5P_DATASET_CREATE), "properties");
    const hsize_t chunk[2] = {64, 64};
    check(H5Pset_chunk(create, 2, chunk), "chunk");
    if (deflate) {
        check(H5Pset_shuffle(create), "shuffle");
        check(H5Pset_deflate(create, 6), "deflate");
    }
    make_matrix(file, name, create);
    H5Pclose(create);
}

void make_strings(hid_t file) {
    const hsize_t count = kStrings;
    const hid_t space = check(H5Screate_simple(1, &count, nullptr), "space");
    const hid_t type = check(H5Tcopy(H5T_C_S1), "type");
    check(H5Tset_size(type, H5T_VARIABLE), "size");
    std::vector<std::string> texts(kStrings);
    std::vector<const char*> pointers(kStrings);
    for (std::size_t i = 0; i < kStrings; ++i) {
        texts[i] = "text " + std::to_string(i * 7919) + std::string(i % 23, 'x');
        pointers[i] = texts[i].c_str();
    }
    const hid_t dataset =
        check(H5Dcreate2(file, "strings", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "create dataset");
    check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()), "write");
    H5Dclose(dataset);
    H5Tclose(type);
    H5Sclose(space);
}

// Hard links to one empty group, so that only the search for a link is measured.
void make_links(hid_t file, const char* name, unsigned max_compact, unsigned min_dense) {
    const hid_t create = check(H5Pcreate(H5P_GROUP_CREATE), "properties");
    if (max_compact != 0) {
        check(H5Pset_link_phase_change(create, max_compact, min_dense), "phase change");
    }
    const hid_t group = check(H5Gcreate2(file, name, H5P_DEFAULT, create, H5P_DEFAULT), "create group");
    for (std::size_t i = 0; i < kLinks; ++i) {
        check(H5Lcreate_hard(file, "target", group, numbered("link", i).c_str(), H5P_DEFAULT, H5P_DEFAULT), "link");
    }
    H5Gclose(group);
    H5Pclose(create);
}

void make_attributes(hid_t file) {
    const hid_t create = check(H5Pcreate(H5P_GROUP_CREATE), "properties");
    const hid_t group = check(H5Gcreate2(file, "attributes", H5P_DEFAULT, create, H5P_DEFAULT), "create group");
    const hid_t space = check(H5Screate(H5S_SCALAR), "space");
    for (std::size_t i = 0; i < kAttributes; ++i) {
        const hid_t attribute =
            check(H5Acreate2(group, numbered("attribute", i).c_str(), H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT),
                  "attribute");
        const std::int32_t value = static_cast<std::int32_t>(i);
        check(H5Awrite(attribute, H5T_NATIVE_INT32, &value), "attribute");
        H5Aclose(attribute);
    }
    H5Sclose(space);
    H5Gclose(group);
    H5Pclose(create);
}

class Libhdf5Reading final : public Reading {
public:
    void open(const std::string& path) override {
        file_ = check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "open");
    }
    void close() override { check(H5Fclose(file_), "close"); }

    void read_all(const std::string& name, double* to) override {
        const hid_t dataset = check(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), "open dataset");
        check(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, to), "read");
        H5Dclose(dataset);
    }

    void read_strided(const std::string& name, double* to) override {
        const hsize_t start[2] = {1, 1};
        const hsize_t stride[2] = {3, 2};
        const hsize_t count[2] = {kRows / 3, kColumns / 2};
        const hid_t dataset = check(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), "open dataset");
        const hid_t space = check(H5Dget_space(dataset), "space");
        check(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, nullptr), "select");
        read_selection(dataset, space, count[0] * count[1], to);
    }

    void read_points(const std::string& name, const std::vector<std::uint64_t>& points, double* to) override {
        const hid_t dataset = check(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), "open dataset");
        const hid_t space = check(H5Dget_space(dataset), "space");
        const std::vector<hsize_t> coordinates(points.begin(), points.end());
        check(H5Sselect_elements(space, H5S_SELECT_SET, points.size() / 2, coordinates.data()), "select");
        read_selection(dataset, space, points.size() / 2, to);
    }

    std::uint64_t open_each(const std::vector<std::string>& paths) override {
        std::uint64_t sum = 0;
        for (const std::string& path : paths) {
            const hid_t object = check(H5Oopen(file_, path.c_str(), H5P_DEFAULT), "open object");
            H5O_info_t info;
            check(H5Oget_info2(object, &info, H5O_INFO_BASIC), "object info");
            sum += info.addr;
            H5Oclose(object);
        }
        return sum;
    }

    std::int64_t read_attributes(const std::string& name) override {
        const hid_t group = check(H5Gopen2(file_, name.c_str(), H5P_DEFAULT), "open group");
        std::int64_t sum = 0;
        const auto visit = [](hid_t object, const char* attribute_name, const H5A_info_t*, void* data) -> herr_t {
            const hid_t attribute = H5Aopen(object, attribute_name, H5P_DEFAULT);
            std::int32_t value = 0;
            if (attribute < 0 || H5Aread(attribute, H5T_NATIVE_INT32, &value) < 0) {
                return -1;
            }
            H5Aclose(attribute);
            *static_cast<std::int64_t*>(data) += value;
            return 0;
        };
        check(H5Aiterate2(group, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, visit, &sum), "iterate");
        H5Gclose(group);
        return sum;
    }

    std::uint64_t read_strings(const std::string& name) override {
        const hid_t dataset = check(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), "open dataset");
        const hid_t space = check(H5Dget_space(dataset), "space");
        const hid_t type = check(H5Dget_type(dataset), "type");
        std::vector<char*> texts(kStrings);
        check(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts.data()), "read");
        std::uint64_t characters = 0;
        for (const char* text : texts) {
            characters += std::strlen(text);
        }
        check(H5Dvlen_reclaim(type, space, H5P_DEFAULT, texts.data()), "reclaim");
        H5Tclose(type);
        H5Sclose(space);
        H5Dclose(dataset);
        return characters;
    }

private:
    static void read_selection(hid_t dataset, hid_t space, hsize_t count, double* to) {
        const hid_t memory = check(H5Screate_simple(1, &count, nullptr), "memory space");
        check(H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, to), "read");
        H5Sclose(memory);
        H5Sclose(space);
        H5Dclose(dataset);
    }

    hid_t file_ = -1;
};

}  // namespace

void make_read_file(const std::string& path) {
    const hid_t access = check(H5Pcreate(H5P_FILE_ACCESS), "properties");
    const auto open_as = [&](H5F_libver_t low, bool create) {
        check(H5Pset_libver_bounds(access, low, H5F_LIBVER_LATEST), "version bounds");
        return create ? check(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), "create")
                      : check(H5Fopen(path.c_str(), H5F_ACC_RDWR, access), "open");
    };
    hid_t file = open_as(H5F_LIBVER_EARLIEST, true);
    H5Gclose(check(H5Gcreate2(file, "target", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "create group"));
    make_matrix(file, "contiguous", H5P_DEFAULT);
    make_chunked_matrix(file, "chunked", false);
    make_chunked_matrix(file, "deflated", true);
    make_strings(file);
    make_links(file, "symbol_table", 0, 0);
    check(H5Fclose(file), "close");
    file = open_as(H5F_LIBVER_LATEST, false);
    make_chunked_matrix(file, "fixed", false);
    make_links(file, "compact", 65535, 0);
    make_links(file, "dense", 8, 6);
    make_attributes(file);
    check(H5Fclose(file), "close");
    H5Pclose(access);
}

std::unique_ptr<Reading> make_libhdf5_reading() { return std::make_unique<Libhdf5Reading>(); }

}  // namespace bench
