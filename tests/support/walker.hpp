// Walks everything that can be reached in a file (every link, attribute, property and value) through the public
// interface only, and computes a digest that is the same on every machine and with every memory budget. Works on
// damaged files, too: errors are counted and go into the digest, and the walk continues with the next item.
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
    /// Links, objects, attributes, properties and values handled so far. The walk ends when WalkLimits::steps is
    /// reached, which bounds the work that a damaged file can cause.
    std::uint32_t steps = 0;
};

struct WalkLimits {
    /// At most this many elements of each dataset and attribute are read, from the first on, at most this many chunks
    /// of a dataset, and of each variable-length value at most this many bytes.
    std::uint32_t elements = 4096;
    std::uint32_t steps = 200000;
};

/// Opens the file that `driver` holds and walks it. `buffer`, of 256 bytes or more, holds pieces of values; elements
/// larger than half of it are left out. `result` says what was found, the return value whether the file could be
/// opened.
h5mote::Status walk_file(h5mote::Library& library, h5mote::Driver& driver, const h5mote::FileAccess& access,
                         h5mote::Bytes buffer, const WalkLimits& limits, WalkResult& result) noexcept;

}  // namespace h5mote_test

#endif
