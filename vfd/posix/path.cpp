#include "path.hpp"

#include "checked.hpp"

#include <cstring>

namespace h5mote::posix {

void PathWriter::add(std::string_view text) noexcept {
    if (text.size() >= size_ - length_ || text.find('\0') != std::string_view::npos) {
        fits_ = false;
        return;
    }
    if (!text.empty()) {
        std::memcpy(buffer_ + length_, text.data(), text.size());
        length_ += text.size();
    }
    buffer_[length_] = '\0';
}

void PathWriter::add_number(std::uint32_t number, unsigned width, bool zeros) noexcept {
    char digits[10];
    unsigned count = 0;
    do {
        digits[count++] = static_cast<char>('0' + number % 10);
        number /= 10;
    } while (number != 0);
    for (unsigned i = count; i < width; ++i) {
        add(zeros ? "0" : " ");
    }
    while (count > 0) {
        add({&digits[--count], 1});
    }
}

std::string_view directory_of(std::string_view path) noexcept {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash == 0 ? 1 : slash);
}

Status find_signature(Driver& driver) noexcept {
    static constexpr char kSignature[] = "\211HDF\r\n\032\n";
    std::uint64_t end = 0;
    H5MOTE_TRY(driver.end_of_file(end));
    std::byte bytes[8];
    for (std::uint64_t at = 0; within(at, sizeof bytes, end); at = at == 0 ? 512 : at * 2) {
        H5MOTE_TRY(driver.read(Usage::superblock, at, bytes));
        if (std::memcmp(bytes, kSignature, 8) == 0) {
            return Status::ok;
        }
        if (at > end / 2) {
            break;
        }
    }
    return Status::not_hdf5;
}

}  // namespace h5mote::posix
