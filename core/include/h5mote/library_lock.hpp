// The lock of a Library: held by every public call while it runs.
#pragma once

#include <h5mote/context.hpp>

namespace h5mote {

/// Holds the lock of a Library as long as it lives. Every public function takes it for itself. A program takes it
/// where several calls belong together, such as a call that failed and the reading of the error trail behind it.
///
/// The lock is Port::lock(); a thread that has it may take it again. Without H5MOTE_THREADS the object does nothing.
class LibraryLock {
public:
    /// A Library is a Context. nullptr: nothing is locked.
    [[gnu::always_inline]] explicit LibraryLock(Context* context) noexcept {
        if constexpr (H5MOTE_THREADS != 0) {
            if (context != nullptr) {
                port_ = &context->port();
                port_->lock();
            }
        }
    }
    [[gnu::always_inline]] explicit LibraryLock(Context& context) noexcept : LibraryLock(&context) {}
    [[gnu::always_inline]] ~LibraryLock() {
        if constexpr (H5MOTE_THREADS != 0) {
            if (port_ != nullptr) {
                port_->unlock();
            }
        }
    }
    LibraryLock(const LibraryLock&) = delete;
    LibraryLock& operator=(const LibraryLock&) = delete;

private:
    Port* port_ = nullptr;
};

}  // namespace h5mote
