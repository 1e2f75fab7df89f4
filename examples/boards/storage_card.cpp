// The logger's storage: the board's SD card.
#include "board.hpp"
#include "sd_driver.hpp"

#include "../logger/storage.hpp"

namespace logger {
namespace {

#ifdef BOARD_FORGETFUL
// A sync() without effect, for a test that must notice the loss of data.
class File final : public board::SdDriver {
public:
    using SdDriver::SdDriver;
    h5mote::Status sync() noexcept override { return h5mote::Status::ok; }
};
#else
using File = board::SdDriver;
#endif

}  // namespace

const char kStorageUsage[] = "[--format]";

bool storage_accepts(const StorageOptions& options) noexcept { return options.out == nullptr; }

h5mote::Status open_storage(const StorageOptions& options, h5mote::Driver*& driver) noexcept {
    board::SdCard* card = nullptr;
    H5MOTE_TRY(board::start_card(card));
    static File file(*card);
    driver = &file;
    return options.format ? file.format() : h5mote::Status::ok;
}

h5mote::Status close_storage(const StorageOptions&) noexcept { return h5mote::Status::ok; }

void report_storage() noexcept {}

}  // namespace logger
