#include "others.hpp"

#include "hdf5_image.hpp"

#include <unistd.h>

namespace h5mote_test {

using namespace h5mote;

namespace {

// The object that gets or loses an attribute: one of the blueprint's.
std::string object_of(const Described& described, Random& random) {
    const std::size_t n = random.below(1 + described.datasets.size() + described.settings.size());
    return n == 0                           ? "/"
           : n <= described.datasets.size() ? described.datasets[n - 1].path
                                            : described.settings[n - 1 - described.datasets.size()].path;
}

bool append(hid_t file, const Described& described, Contents& contents, unsigned life, Random& random) {
    const std::size_t which = random.below(described.datasets.size());
    const Described::Dataset& what = described.datasets[which];
    const std::size_t count = 1 + random.below(2 * what.chunk + 3);
    const std::size_t first = contents.lives[which].size();
    Blob rows(count * what.row);
    for (std::size_t i = 0; i < count; ++i) {
        make_row(which, first + i, life, {rows.data() + i * what.row, what.row});
        contents.lives[which].push_back(life);
    }
    contents.least[which] = first + count;
    const Hdf5Id dataset(H5Dopen2(file, what.path.c_str(), H5P_DEFAULT), H5Dclose);
    const Hdf5Id type(H5Dget_type(dataset), H5Tclose);
    const hsize_t size = first + count;
    const hsize_t start = first;
    const hsize_t length = count;
    if (H5Dset_extent(dataset, &size) < 0) {
        return false;
    }
    const Hdf5Id space(H5Dget_space(dataset), H5Sclose);
    const Hdf5Id memory(H5Screate_simple(1, &length, nullptr), H5Sclose);
    return H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &length, nullptr) >= 0 &&
           H5Dwrite(dataset, type, memory, space, H5P_DEFAULT, rows.data()) >= 0;
}

bool add_attribute(hid_t file, const std::string& path, const std::string& name, std::size_t bytes) {
    const Hdf5Id object(H5Oopen(file, path.c_str(), H5P_DEFAULT), H5Oclose);
    const hsize_t size = bytes;
    const Hdf5Id space(H5Screate_simple(1, &size, nullptr), H5Sclose);
    const Hdf5Id attribute(H5Acreate2(object, name.c_str(), H5T_STD_U8LE, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    const Blob value(bytes, std::byte{0x5a});
    return attribute >= 0 && H5Awrite(attribute, H5T_STD_U8LE, value.data()) >= 0;
}

bool remove_attribute(hid_t file, const std::string& path) {
    const Hdf5Id object(H5Oopen(file, path.c_str(), H5P_DEFAULT), H5Oclose);
    std::string found;
    (void)H5Aiterate2(
        object, H5_INDEX_NAME, H5_ITER_INC, nullptr,
        [](hid_t, const char* name, const H5A_info_t*, void* to) -> herr_t {
            if (std::strncmp(name, "added", 5) == 0) {
                *static_cast<std::string*>(to) = name;
                return 1;
            }
            return 0;
        },
        &found);
    return found.empty() || H5Adelete(object, found.c_str()) >= 0;
}

bool add_dataset(hid_t file, const std::string& name, Random& random) {
    const hsize_t size = 1 + random.below(400);
    const Hdf5Id space(H5Screate_simple(1, &size, nullptr), H5Sclose);
    const Hdf5Id dataset(H5Dcreate2(file, name.c_str(), H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                         H5Dclose);
    const std::vector<std::int32_t> values(static_cast<std::size_t>(size), 77);
    return dataset >= 0 && H5Dwrite(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0;
}

bool remove_link(hid_t file) {
    std::string found;
    (void)H5Literate(
        file, H5_INDEX_NAME, H5_ITER_INC, nullptr,
        [](hid_t, const char* name, const H5L_info_t*, void* to) -> herr_t {
            if (std::strncmp(name, "added", 5) == 0) {
                *static_cast<std::string*>(to) = name;
                return 1;
            }
            return 0;
        },
        &found);
    return found.empty() || H5Ldelete(file, found.c_str(), H5P_DEFAULT) >= 0;
}

bool set(hid_t file, const Described& described, Contents& contents, unsigned life, Random& random) {
    const std::size_t which = random.below(described.settings.size());
    const Described::Setting& what = described.settings[which];
    Blob value(what.value.size());
    make_row(2000 + which, 0, life, {value.data(), value.size()});
    const Hdf5Id object(H5Oopen(file, what.path.c_str(), H5P_DEFAULT), H5Oclose);
    const Hdf5Id attribute(H5Aopen(object, what.name.c_str(), H5P_DEFAULT), H5Aclose);
    const Hdf5Id type(H5Aget_type(attribute), H5Tclose);
    contents.settings[which] = {value};
    return H5Awrite(attribute, type, value.data()) >= 0;
}

}  // namespace

std::string change_by_libhdf5(Blob& image, const Described& described, Contents& contents, unsigned life, Change change,
                              Random& random) {
    static const bool quiet = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr) >= 0;
    (void)quiet;
    const std::string path = "changed_" + std::to_string(getpid()) + ".h5";
    FILE* const out = std::fopen(path.c_str(), "wb");
    const bool stored = out != nullptr && std::fwrite(image.data(), 1, image.size(), out) == image.size();
    if (out == nullptr || std::fclose(out) != 0 || !stored) {
        return "a file cannot be written; ";
    }
    const std::string name = "added" + std::to_string(life);
    bool done = false;
    {
        const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        (void)H5Pset_libver_bounds(access, random.one_in(2) ? H5F_LIBVER_EARLIEST : H5F_LIBVER_LATEST,
                                   H5F_LIBVER_LATEST);
        const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, access);
        if (file < 0) {
            return "libhdf5 does not open it for writing; ";
        }
        switch (change) {
            case Change::append:
                done = described.datasets.empty() || append(file, described, contents, life, random);
                break;
            case Change::attribute:
                done = add_attribute(file, object_of(described, random), name, 1 + random.below(20));
                break;
            case Change::large:
                done = add_attribute(file, object_of(described, random), name, 3000);
                break;
            case Change::group: {
                const Hdf5Id group(H5Gcreate2(file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
                done = group >= 0;
                break;
            }
            case Change::dataset:
                done = add_dataset(file, name, random);
                break;
            case Change::remove:
                done = remove_attribute(file, object_of(described, random));
                break;
            case Change::unlink:
                done = remove_link(file);
                break;
            case Change::set:
                done = described.settings.empty() || set(file, described, contents, life, random);
                break;
        }
        done = H5Fclose(file) >= 0 && done;
    }
    image = take_file(path);
    return done ? "" : "libhdf5 fails to do change " + std::to_string(static_cast<unsigned>(change)) + "; ";
}

}  // namespace h5mote_test
