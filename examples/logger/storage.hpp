// The storage that the recording is written to: a file, or a device of the board. It is chosen at link time: each kind
// of storage is a source file that defines these functions.
#pragma once

#include <h5mote/status.hpp>

namespace h5mote {
class Driver;
class FlashDevice;
}  // namespace h5mote

namespace logger {

struct StorageOptions {
    /// If the storage is a file: its name. If it is a device: the name of a file on the host that gets a copy at the
    /// end.
    const char* out = nullptr;
    bool format = false;  ///< for a device: format it first, whatever it holds
};

/// The options that this storage has, as text for the usage message.
extern const char kStorageUsage[];
/// Whether this storage has all the given options, and no option that it needs is missing.
bool storage_accepts(const StorageOptions& options) noexcept;

/// Opens the storage and sets `driver`, which is valid until close_storage(). Errors: those of opening the driver;
/// io_error when the device does not answer.
h5mote::Status open_storage(const StorageOptions& options, h5mote::Driver*& driver) noexcept;
/// The same for a recorder that works on a flash chip itself, and formats it itself. A kind of storage defines one of
/// the two functions.
h5mote::Status open_storage(const StorageOptions& options, h5mote::FlashDevice*& chip) noexcept;
/// Closes the storage. Call it last, even if open_storage() has failed.
h5mote::Status close_storage(const StorageOptions& options) noexcept;
/// Prints statistics of the storage, if it has any.
void report_storage() noexcept;

}  // namespace logger
