#include "rows.hpp"

#include "hdf5_image.hpp"

namespace h5mote_test {

struct RowReader::Open {
    explicit Open(const std::vector<std::byte>& image) : file(open_image({image.data(), image.size()})) {}
    Hdf5Id file;
};

RowReader::RowReader(h5mote::Driver& driver) : open_(std::make_unique<Open>(image_of(driver))) {}
RowReader::~RowReader() = default;

bool RowReader::read(const std::string& path, void* rows, std::size_t bytes) {
    const Hdf5Id log(open_->file < 0 ? -1 : H5Dopen2(open_->file, path.c_str(), H5P_DEFAULT), H5Dclose);
    const Hdf5Id type(log < 0 ? -1 : H5Dget_type(log), H5Tclose);
    const Hdf5Id space(log < 0 ? -1 : H5Dget_space(log), H5Sclose);
    if (type < 0 || space < 0 ||
        static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)) * H5Tget_size(type) != bytes) {
        return false;
    }
    return bytes == 0 || H5Dread(log, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0;
}

}  // namespace h5mote_test
