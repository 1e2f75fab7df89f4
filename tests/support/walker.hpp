// Walks everything that can be reached in a file and leaves a digest of it, the same on every machine and with every
// memory budget: every link, attribute, property and value, through the public interface only. For files that may be
// damaged: errors are counted and go into the digest, the walk goes on with what comes next.
#pragma once

#include <h5mote/h5mote.hpp>

#if H5MOTE_ALL_FORMATS

#include <h5mote/attribute.hpp>
#include <h5mote/named_datatype.hpp>

namespace h5mote_test {

struct WalkResult {
    h5mote::Status first_error = h5mote::Status::ok;
    std::uint32_t digest = 0;
    std::uint32_t links = 0;
    std::uint32_t objects = 0;
    std::uint32_t attributes = 0;
    std::uint64_t elements = 0;
    std::uint32_t errors = 0;
    /// Work of damaged files ends here: reads of values, links and attributes together.
    std::uint32_t steps = 0;
};

struct WalkLimits {
    /// Of each dataset and attribute, from its beginning; of a variable-length value.
    std::uint32_t elements = 4096;
    std::uint32_t steps = 200000;
};

/// Opens the file that `driver` holds and walks it. `buffer` holds pieces of values: 256 bytes or more; an element that
/// does not fit is left out. `result` says what was found, the return value whether the file could be opened at all.
h5mote::Status walk_file(h5mote::Library& library, h5mote::Driver& driver, const h5mote::FileAccess& access,
                         h5mote::Bytes buffer, const WalkLimits& limits, WalkResult& result) noexcept;

}  // namespace h5mote_test

#endif
