// compare_by_libhdf5(): libhdf5 opens the image in memory and reads the items that the scenarios make.
#include "judge.hpp"
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

class Reader {
public:
    explicit Reader(hid_t file) : file_(file) {}

    bool state_of(const std::string& key, const Item& item, State& state, std::string& why) const {
        static const Types types;
        const std::size_t at = key.find('@');
        state = {};
        if (!exists(key.substr(0, at))) {
            return true;
        }
        for (const State& each : item.states) {
            state = each.generation != 0 ? each : state;
        }
        switch (item.kind) {
            case Kind::attribute:
                return attribute(key.substr(0, at), key.substr(at + 1), item, state, why);
            case Kind::soft_link: {
                char target[64] = {};
                why = "another link";
                return H5Lget_val(file_, key.c_str(), target, sizeof target - 1, H5P_DEFAULT) >= 0 &&
                       item.target == target;
            }
            case Kind::group: {
                const Hdf5Id group(H5Gopen2(file_, key.c_str(), H5P_DEFAULT), H5Gclose);
                why = "no group";
                state = {state.generation, 0, 0};
                return group >= 0;
            }
            case Kind::imu:
                return rows<Imu>(key, item, types.imu, state, why);
            case Kind::health:
                break;
        }
        return rows<Health>(key, item, types.health, state, why);
    }

private:
    bool exists(const std::string& path) const {
        for (std::size_t end = 1; path != "/" && end != std::string::npos;) {
            end = path.find('/', end + 1);
            if (H5Lexists(file_, path.substr(0, end).c_str(), H5P_DEFAULT) <= 0) {
                return false;
            }
        }
        return true;
    }

    template <typename T>
    bool rows(const std::string& path, const Item& item, hid_t type, State& state, std::string& why) const {
        const Hdf5Id log(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), H5Dclose);
        const Hdf5Id space(log < 0 ? -1 : H5Dget_space(log), H5Sclose);
        const hssize_t size = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
        if (size < 0 || size > 1000000) {
            why = "cannot be opened";
            return false;
        }
        std::vector<T> values(static_cast<std::size_t>(size));
        if (size > 0 && H5Dread(log, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) {
            why = "cannot be read";
            return false;
        }
        for (const State& each : item.states) {
            std::uint64_t i = 0;
            while (each.generation != 0 && i < values.size() && values[i] == row_at<T>(each.generation, i)) {
                ++i;
            }
            state = {each.generation, i, i};
            if (i == values.size() && each.generation != 0 && each.allows(state)) {
                return true;
            }
        }
        why = "other rows, " + std::to_string(size);
        return false;
    }

    bool attribute(const std::string& path, const std::string& name, const Item& item, State& state,
                   std::string& why) const {
        const Hdf5Id object(H5Oopen(file_, path.c_str(), H5P_DEFAULT), H5Oclose);
        const htri_t there = object < 0 ? -1 : H5Aexists(object, name.c_str());
        if (there == 0) {
            state = {};
            return true;
        }
        const Hdf5Id found(there < 0 ? -1 : H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose);
        std::int32_t value = 0;
        if (found < 0 || H5Aread(found, H5T_NATIVE_INT32, &value) < 0) {
            why = "cannot be read";
            return false;
        }
        const std::string key = path + "@" + name;
        for (const State& each : item.states) {
            if (each.generation != 0 && attribute_value(item.values.empty() ? key : item.values, each.least) == value) {
                state = each;
                return true;
            }
        }
        why = "value " + std::to_string(value);
        return false;
    }

    hid_t file_;
};

}  // namespace

std::string compare_by_libhdf5(h5mote::ConstBytes image, const History::Interval& allowed, Found& found) {
    const Hdf5Id file = open_image(image);
    if (file < 0) {
        for (const auto& [key, item] : allowed.items) {
            found[key] = {};
        }
        return allowed.created ? "libhdf5 does not open it; " : "";
    }
    const Reader reader(file);
    const std::string bad =
        judge(allowed, found, [&](const std::string& key, const Item& item, State& state, std::string& why) {
            return reader.state_of(key, item, state, why);
        });
    return bad.empty() ? bad : "libhdf5: " + bad;
}

}  // namespace h5mote_test
