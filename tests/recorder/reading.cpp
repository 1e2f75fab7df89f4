// What a recorder's file holds, as libhdf5 reads it.
#include "recording.hpp"

#include "hdf5_image.hpp"

namespace h5mote_test {

using namespace h5mote;

Contents empty_contents(const Described& described) {
    Contents contents;
    contents.least.resize(described.datasets.size());
    contents.lives.resize(described.datasets.size());
    for (const Described::Setting& setting : described.settings) {
        contents.settings.push_back({setting.value});
    }
    return contents;
}

Contents contents_as(const Contents& contents, const Seen& seen) {
    Contents result = contents;
    result.least = seen.rows;
    for (std::size_t i = 0; i < seen.rows.size(); ++i) {
        result.lives[i].resize(static_cast<std::size_t>(seen.rows[i]));
    }
    for (std::size_t i = 0; i < seen.settings.size(); ++i) {
        result.settings[i] = {contents.settings[i][seen.settings[i]]};
    }
    return result;
}

std::string judge_rows(const Described& described, const Contents& contents, std::size_t dataset, const Blob& rows) {
    const Described::Dataset& what = described.datasets[dataset];
    const std::vector<unsigned>& lives = contents.lives[dataset];
    const std::size_t count = rows.size() / what.row;
    if (count < contents.least[dataset] || count > lives.size()) {
        return what.path + ": " + std::to_string(count) + " rows, not " + std::to_string(contents.least[dataset]) +
               " to " + std::to_string(lives.size()) + "; ";
    }
    Blob row(what.row);
    for (std::size_t i = 0; i < count; ++i) {
        make_row(dataset, i, lives[i], {row.data(), row.size()});
        if (std::memcmp(row.data(), rows.data() + i * what.row, what.row) != 0) {
            return what.path + ": row " + std::to_string(i) + " of " + std::to_string(count) + " is another; ";
        }
    }
    return "";
}

std::string judge_setting(const Described& described, const Contents& contents, std::size_t setting, const Blob& value,
                          Seen& seen) {
    const std::vector<Blob>& values = contents.settings[setting];
    for (std::size_t i = values.size(); i-- > 0;) {
        if (values[i] == value) {
            seen.settings[setting] = i;
            return "";
        }
    }
    return described.settings[setting].path + "@" + described.settings[setting].name + " has another value; ";
}

namespace {

std::string read_rows(hid_t file, const Described::Dataset& what, Blob& rows) {
    const Hdf5Id dataset(H5Dopen2(file, what.path.c_str(), H5P_DEFAULT), H5Dclose);
    const Hdf5Id space(dataset < 0 ? -1 : H5Dget_space(dataset), H5Sclose);
    const Hdf5Id type(dataset < 0 ? -1 : H5Dget_type(dataset), H5Tclose);
    const hssize_t count = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
    if (count < 0 || count > 100000000 || type < 0 || H5Tget_size(type) != what.row) {
        return what.path + " cannot be opened; ";
    }
    rows.resize(static_cast<std::size_t>(count) * what.row);
    return count == 0 || H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data()) >= 0
               ? ""
               : what.path + " cannot be read; ";
}

std::string read_setting(hid_t file, const Described::Setting& what, Blob& value) {
    const Hdf5Id object(H5Oopen(file, what.path.c_str(), H5P_DEFAULT), H5Oclose);
    const Hdf5Id attribute(object < 0 ? -1 : H5Aopen(object, what.name.c_str(), H5P_DEFAULT), H5Aclose);
    const Hdf5Id type(attribute < 0 ? -1 : H5Aget_type(attribute), H5Tclose);
    value.resize(what.value.size());
    return type >= 0 && H5Aget_storage_size(attribute) == value.size() && H5Aread(attribute, type, value.data()) >= 0
               ? ""
               : what.path + "@" + what.name + " cannot be read; ";
}

}  // namespace

std::string compare_by_libhdf5(ConstBytes image, const Described& described, const Contents& contents, Seen& seen) {
    seen.rows.assign(described.datasets.size(), 0);
    seen.settings.assign(described.settings.size(), 0);
    const Hdf5Id file = open_image(image);
    if (file < 0) {
        return contents.created ? "libhdf5 does not open it; " : "";
    }
    std::string bad;
    Blob bytes;
    for (std::size_t i = 0; i < described.datasets.size(); ++i) {
        const std::string why = read_rows(file, described.datasets[i], bytes);
        bad += why.empty() ? judge_rows(described, contents, i, bytes) : why;
        seen.rows[i] = why.empty() ? bytes.size() / described.datasets[i].row : 0;
    }
    for (std::size_t i = 0; i < described.settings.size(); ++i) {
        const std::string why = read_setting(file, described.settings[i], bytes);
        bad += why.empty() ? judge_setting(described, contents, i, bytes, seen) : why;
    }
    return bad.empty() ? bad : "libhdf5: " + bad;
}

}  // namespace h5mote_test
