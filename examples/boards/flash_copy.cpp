#include "flash_copy.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace board {

using h5mote::Status;

Status copy_flash(h5mote::FlashDevice& flash, const char* path) noexcept {
    const int file = ::open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0) {
        return Status::io_error;
    }
    const h5mote::FlashGeometry geometry = flash.geometry();
    Status status = Status::ok;
    std::byte bytes[128];
    for (std::uint32_t block = 0; block < geometry.blocks; ++block) {
        for (std::uint32_t at = 0; status == Status::ok && at < geometry.block_size; at += sizeof bytes) {
            status = flash.read(block, at, bytes);
            if (status == Status::ok && ::write(file, bytes, sizeof bytes) != static_cast<int>(sizeof bytes)) {
                status = Status::io_error;
            }
        }
    }
    return ::close(file) == 0 ? status : Status::io_error;
}

}  // namespace board
