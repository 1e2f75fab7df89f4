// The library context: all that h5mote knows between two calls is in here or in an open file.
#pragma once

#include <h5mote/context.hpp>

namespace h5mote {

/// One allocator, one port, the filters that this program links, the error trail. Borrows what it is given; outlives
/// every file opened with it. Calls on one Library and its files come from one thread at a time.
class Library final : public Context {
public:
    /// `filters`: a pointer to each filter that files may need, e.g. `{&shuffle_filter, &deflate_filter}`.
    Library(Allocator& allocator, Port& port, Span<const Filter* const> filters = {}) noexcept
        : Context(allocator, port, filters) {}
};

}  // namespace h5mote
