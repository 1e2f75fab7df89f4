// The other side: libhdf5 opens the image in memory and looks at what append workloads make.
#include "session.hpp"
#include "verify.hpp"

#include "hdf5_image.hpp"

namespace h5mote_test {

namespace {

struct Types {
    Types() {
        const hsize_t three = 3;
        const hid_t accel = H5Tarray_create2(H5T_NATIVE_INT16, 1, &three);
        imu = H5Tcreate(H5T_COMPOUND, sizeof(Imu));
        H5Tinsert(imu, "t_ms", HOFFSET(Imu, t_ms), H5T_NATIVE_UINT32);
        H5Tinsert(imu, "accel", HOFFSET(Imu, accel), accel);
        H5Tinsert(imu, "temp_c", HOFFSET(Imu, temp_c), H5T_NATIVE_FLOAT);
        health = H5Tcreate(H5T_COMPOUND, sizeof(Health));
        H5Tinsert(health, "t_s", HOFFSET(Health, t_s), H5T_NATIVE_UINT32);
        H5Tinsert(health, "rows", HOFFSET(Health, rows), H5T_NATIVE_UINT32);
    }
    hid_t imu;
    hid_t health;
};

bool must(const Item& item) {
    for (const State& state : item.states) {
        if (state.generation == 0) {
            return false;
        }
    }
    return true;
}

template <typename T>
std::string rows(hid_t file, const std::string& path, const Item& item, hid_t type) {
    const Hdf5Id log(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose);
    const Hdf5Id space(log < 0 ? -1 : H5Dget_space(log), H5Sclose);
    if (space < 0) {
        return path + ": cannot be opened; ";
    }
    const hssize_t size = H5Sget_simple_extent_npoints(space);
    if (size < 0 || size > 1000000) {
        return path + ": size; ";
    }
    std::vector<T> values(static_cast<std::size_t>(size));
    if (size > 0 && H5Dread(log, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) {
        return path + ": cannot be read; ";
    }
    for (const State& each : item.states) {
        std::uint64_t i = 0;
        while (each.generation != 0 && i < values.size() && values[i] == row_at<T>(each.generation, i)) {
            ++i;
        }
        if (i == values.size() && each.allows({each.generation, i, i})) {
            return "";
        }
    }
    return path + ": other rows, " + std::to_string(size) + "; ";
}

std::string attribute(hid_t file, const std::string& key, const Item& item) {
    const std::size_t at = key.find('@');
    const Hdf5Id object(H5Oopen(file, key.substr(0, at).c_str(), H5P_DEFAULT), H5Oclose);
    const Hdf5Id found(object < 0 ? -1 : H5Aopen(object, key.substr(at + 1).c_str(), H5P_DEFAULT), H5Aclose);
    std::int32_t value = 0;
    if (found < 0 || H5Aread(found, H5T_NATIVE_INT32, &value) < 0) {
        return key + ": cannot be read; ";
    }
    for (const State& each : item.states) {
        if (each.generation != 0 && attribute_value(key, each.least) == value) {
            return "";
        }
    }
    return key + ": value " + std::to_string(value) + "; ";
}

}  // namespace

std::string compare_by_libhdf5(h5mote::ConstBytes image, const History::Interval& allowed) {
    static const Types types;
    const Hdf5Id file = open_image(image);
    if (file < 0) {
        return "libhdf5 does not open it; ";
    }
    std::string bad;
    for (const auto& [key, item] : allowed.items) {
        // What may be missing is h5mote's to judge.
        if (!must(item)) {
            continue;
        }
        switch (item.kind) {
            case Kind::group: {
                const Hdf5Id group(H5Gopen2(file, key.c_str(), H5P_DEFAULT), H5Gclose);
                bad += group < 0 ? key + ": no group; " : "";
                break;
            }
            case Kind::imu:
                bad += rows<Imu>(file, key, item, types.imu);
                break;
            case Kind::health:
                bad += rows<Health>(file, key, item, types.health);
                break;
            case Kind::attribute:
                bad += attribute(file, key, item);
                break;
            case Kind::soft_link:
                break;
        }
    }
    return bad.empty() ? bad : "libhdf5: " + bad;
}

}  // namespace h5mote_test
