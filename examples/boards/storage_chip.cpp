// The logger's storage: the board's flash as it is, for a recorder that keeps its log there.
#include "board.hpp"
#include "flash_copy.hpp"

#include "../logger/storage.hpp"

#ifdef BOARD_FORGETFUL
#include "forgetful_chip.hpp"
#endif

namespace logger {
namespace {

h5mote::FlashDevice* flash = nullptr;

}  // namespace

const char kStorageUsage[] = "[--format] [--out FILE]";

bool storage_accepts(const StorageOptions&) noexcept { return true; }

h5mote::Status open_storage(const StorageOptions&, h5mote::FlashDevice*& chip) noexcept {
    H5MOTE_TRY(board::start_flash(flash));
#ifdef BOARD_FORGETFUL
    static board::ForgetfulChip forgetful(*flash);
    flash = &forgetful;
#endif
    chip = flash;
    return h5mote::Status::ok;
}

h5mote::Status close_storage(const StorageOptions& options) noexcept {
#ifdef BOARD_FORGETFUL
    std::byte byte{};
    (void)flash->read(0, 0, {&byte, 1});  // a program that comes to its end loses nothing
#endif
    return flash != nullptr && options.out != nullptr ? board::copy_flash(*flash, options.out) : h5mote::Status::ok;
}

void report_storage() noexcept {}

}  // namespace logger
