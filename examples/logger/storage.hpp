// Where the recording goes: a file, or what a board has. Which of them is chosen when linking.
#pragma once

#include <h5mote/driver.hpp>

namespace logger {

struct StorageOptions {
    const char* out = nullptr;  ///< a file: its name. A device: of the host's file that gets a copy at the end
    bool format = false;        ///< a device: make it empty first, whatever it holds
};

/// How the options are told.
extern const char kStorageUsage[];
/// Whether the storage has these options, and needs no more.
bool storage_accepts(const StorageOptions& options) noexcept;

/// The driver is good until close_storage(). Errors: as the driver's opening; io_error when the device does not answer.
h5mote::Status open_storage(const StorageOptions& options, h5mote::Driver*& driver) noexcept;
/// After everything, also if open_storage() has failed.
h5mote::Status close_storage(const StorageOptions& options) noexcept;
/// Prints what the storage has to tell, if anything.
void report_storage() noexcept;

}  // namespace logger
