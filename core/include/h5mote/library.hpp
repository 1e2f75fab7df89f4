// The library context: all that h5mote knows between two calls is in here or in an open file.
#pragma once

#include <h5mote/context.hpp>

namespace h5mote {

/// One allocator, one port, the filters that this program links, the error trail. Borrows what it is given; outlives
/// every file opened with it.
///
/// Threads: with H5MOTE_THREADS and a port that has a lock, threads may call a Library, its files and their objects at
/// the same time; calls wait for each other (LibraryLock). Without, one thread at a time uses all of them. Either way a
/// handle is moved, assigned, closed or destroyed only while no other thread uses that same handle, what a function
/// gives a view of is used before another thread can change it, and nothing is called from an interrupt.
class Library final : public Context {
public:
    /// `filters`: a pointer to each filter that files may need, e.g. `{&shuffle_filter, &deflate_filter}`.
    Library(Allocator& allocator, Port& port, Span<const Filter* const> filters = {}) noexcept
        : Context(allocator, port, filters) {}
};

}  // namespace h5mote
