// The logger's storage: the board's flash, without a file system.
#include "board.hpp"
#include "flash_copy.hpp"

#include "../logger/console.hpp"
#include "../logger/storage.hpp"

#include <h5mote/vfd/flash.hpp>

namespace logger {
namespace {

using h5mote::FlashDevice;
using h5mote::FlashDriver;
using h5mote::FlashGeometry;
using h5mote::FlashUsage;
using h5mote::Status;

// Of the geometry, only the program unit decides how much memory the driver needs: 1, 2 or 4 bytes on these boards.
constexpr FlashGeometry kAny{1, 1024, 256, 4, 0xff};

alignas(8) std::byte memory[FlashDriver::required_memory(kAny)];
FlashDevice* flash = nullptr;
FlashDriver* mounted = nullptr;

}  // namespace

const char kStorageUsage[] = "[--format] [--out FILE]";

bool storage_accepts(const StorageOptions&) noexcept { return true; }

Status open_storage(const StorageOptions& options, h5mote::Driver*& driver) noexcept {
    H5MOTE_TRY(board::start_flash(flash));
    static FlashDriver file(*flash, memory);
    H5MOTE_TRY(options.format ? file.format() : file.mount());
    mounted = &file;
    driver = &file;
    return Status::ok;
}

Status close_storage(const StorageOptions& options) noexcept {
    return flash != nullptr && options.out != nullptr ? board::copy_flash(*flash, options.out) : Status::ok;
}

void report_storage() noexcept {
    if (mounted == nullptr) {
        return;
    }
    const FlashUsage usage = mounted->usage();
    Line{} << "mount " << usage.mount_reads << " reads, " << usage.mount_bytes << " bytes";
    Line{} << "flash " << usage.written << " bytes written, " << usage.programmed << " programmed, " << usage.collected
           << " of them to free blocks, " << usage.erased_blocks << " erases";
    Line{} << "live " << usage.live << " of " << usage.capacity << " bytes";
    Line{} << "blocks " << usage.blocks_used << " used, " << usage.blocks_free << " free, " << usage.blocks_bad
           << " bad";
}

}  // namespace logger
