// The logger's storage as a file: on this machine or, for a program on an emulated board, on the host.
#include "storage.hpp"

#include <h5mote/vfd/posix.hpp>

namespace logger {
namespace {

h5mote::PosixDriver file;
bool opened = false;

}  // namespace

const char kStorageUsage[] = "--out FILE";

bool storage_accepts(const StorageOptions& options) noexcept { return options.out != nullptr && !options.format; }

h5mote::Status open_storage(const StorageOptions& options, h5mote::Driver*& driver) noexcept {
    H5MOTE_TRY(file.open(options.out, h5mote::PosixDriver::Mode::open_or_create));
    opened = true;
    driver = &file;
    return h5mote::Status::ok;
}

h5mote::Status close_storage(const StorageOptions&) noexcept { return opened ? file.close() : h5mote::Status::ok; }

void report_storage() noexcept {}

}  // namespace logger
