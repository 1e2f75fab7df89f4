#include "inspect.hpp"

#include "hdf5_image.hpp"

namespace h5mote_test {

namespace {

hid_t row_type() {
    const hsize_t count = 14;
    const Hdf5Id values(H5Tarray_create2(H5T_NATIVE_UINT32, 1, &count), H5Tclose);
    const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(Row));
    H5Tinsert(type, "log", HOFFSET(Row, log), H5T_NATIVE_UINT32);
    H5Tinsert(type, "number", HOFFSET(Row, number), H5T_NATIVE_UINT32);
    H5Tinsert(type, "values", HOFFSET(Row, values), values);
    return type;
}

bool read_log(hid_t file, hid_t type, const FoundLog& log) {
    const Hdf5Id dataset(H5Dopen2(file, name_of(log.log).c_str(), H5P_DEFAULT), H5Dclose);
    const Hdf5Id space(dataset < 0 ? -1 : H5Dget_space(dataset), H5Sclose);
    if (space < 0 || H5Sget_simple_extent_npoints(space) != static_cast<hssize_t>(log.rows)) {
        return false;
    }
    std::vector<Row> rows(static_cast<std::size_t>(log.rows));
    if (!rows.empty() && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data()) < 0) {
        return false;
    }
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
        if (!(rows[i] == row_of(log.log, i))) {
            return false;
        }
    }
    return true;
}

}  // namespace

std::string read_by_libhdf5(h5mote::ConstBytes image, const std::vector<FoundLog>& logs) {
    const Hdf5Id file = open_image(image);
    if (file < 0) {
        return "libhdf5 cannot open the file";
    }
    const Hdf5Id type(row_type(), H5Tclose);
    H5G_info_t group;
    if (H5Gget_info(file, &group) < 0 || group.nlinks != logs.size()) {
        return "libhdf5 finds another number of logs";
    }
    for (const FoundLog& each : logs) {
        if (!read_log(file, type, each)) {
            return "libhdf5 reads something else from " + name_of(each.log);
        }
    }
    return "";
}

}  // namespace h5mote_test
