// The lock of a Library: held by every public call while it runs.
#pragma once

#include <h5mote/context.hpp>

namespace h5mote {

/// Holds the lock of a Library as long as this object lives. Every public function takes the lock for itself. A program
/// takes it where several calls belong together, such as a call that failed and the reading of the error trail after
/// it.
///
/// The lock is Port::lock(); a thread that holds it may take it again. Without H5MOTE_THREADS this object does nothing.
class LibraryLock {
public:
    /// `context`: a Library, which is a Context. nullptr: nothing is locked.
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
