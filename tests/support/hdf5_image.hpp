// Helpers for tests that use libhdf5 beside h5mote: identifiers that close themselves, and files held in memory.
#pragma once

#include <h5mote/driver.hpp>

#include <hdf5.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace h5mote_test {

/// Owns an identifier of libhdf5 and closes it.
class Hdf5Id {
public:
    Hdf5Id(hid_t id, herr_t (*close)(hid_t)) noexcept : id_(id), close_(close) {}
    Hdf5Id(const Hdf5Id&) = delete;
    Hdf5Id& operator=(const Hdf5Id&) = delete;
    ~Hdf5Id() {
        if (id_ >= 0) {
            close_(id_);
        }
    }
    operator hid_t() const noexcept { return id_; }

private:
    hid_t id_;
    herr_t (*close_)(hid_t);
};

/// The whole content of a storage; empty when it cannot be read.
inline std::vector<std::byte> image_of(h5mote::Driver& driver) {
    std::uint64_t size = 0;
    std::vector<std::byte> image;
    if (driver.end_of_file(size) == h5mote::Status::ok) {
        image.resize(static_cast<std::size_t>(size));
        if (driver.read(h5mote::Usage::raw_data, 0, {image.data(), image.size()}) != h5mote::Status::ok) {
            image.clear();
        }
    }
    return image;
}

/// The bytes of a file that libhdf5 has closed. The file is removed.
inline std::vector<std::byte> take_file(const std::string& name) {
    std::ifstream stored(name, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stored), std::istreambuf_iterator<char>()};
    std::remove(name.c_str());
    const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
    return std::vector<std::byte>(begin, begin + text.size());
}

/// Lets libhdf5 open a copy of the image; the identifier is negative when libhdf5 refuses it. From the first call on,
/// libhdf5 prints no error messages. `version` is the lower of the file's two version bounds (H5Pset_libver_bounds).
inline Hdf5Id open_image(h5mote::ConstBytes image, unsigned flags = H5F_ACC_RDONLY,
                         H5F_libver_t version = H5F_LIBVER_EARLIEST) {
    static const bool quiet = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr) >= 0;
    const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    const bool set = quiet && !image.empty() && H5Pset_fapl_core(access, 65536, 0) >= 0 &&
                     H5Pset_libver_bounds(access, version, H5F_LIBVER_LATEST) >= 0 &&
                     H5Pset_file_image(access, const_cast<std::byte*>(image.data()), image.size()) >= 0;
    return Hdf5Id(set ? H5Fopen("image", flags, access) : -1, H5Fclose);
}

}  // namespace h5mote_test
