// H5FD - helpers of the POSIX drivers: paths in buffers of fixed size, and the signature of HDF5 files.
#pragma once

#include <h5mote/driver.hpp>

#include <cstddef>
#include <string_view>

namespace h5mote::posix {

/// Text that grows in a buffer and is always terminated.
class PathWriter {
public:
    PathWriter(char* buffer, std::size_t size) noexcept : buffer_(buffer), size_(size) { buffer_[0] = '\0'; }
    /// Adds text. fits() becomes false if the path gets too long or the text holds a zero byte.
    void add(std::string_view text) noexcept;
    void add_number(std::uint32_t number, unsigned width, bool zeros) noexcept;
    bool fits() const noexcept { return fits_; }

private:
    char* buffer_;
    std::size_t size_;
    std::size_t length_ = 0;
    bool fits_ = true;
};

/// `path` up to and without its last '/'; "/" for what lies there, empty when there is no '/'.
std::string_view directory_of(std::string_view path) noexcept;

/// Looks for the signature at 0, 512, 1024, 2048 ... not_hdf5: it is not there. Otherwise what the driver returns.
Status find_signature(Driver& driver) noexcept;

}  // namespace h5mote::posix
