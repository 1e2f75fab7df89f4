// Three logs in one file; for each new one the oldest is deleted, for ever.
#pragma once

#include "inspect.hpp"
#include "storages.hpp"

namespace h5mote_test {

/// When the file is opened and closed.
enum class Sessions : std::uint8_t {
    one,    ///< once for all rotations
    each,   ///< for each log
    killed  ///< for each log, but the power fails at random operations, also while the file is opened again
};

struct RotationPlan {
    std::string storage = "memory";
    std::string folder = ".";
    std::uint64_t capacity = 256 * 1024;
    Sessions sessions = Sessions::each;
    std::uint32_t rotations = 30;
    std::uint32_t share = 80;  ///< percent of the capacity that three logs fill
    std::uint32_t chunk = 64;
    bool filters = false;
    bool text = false;    ///< rows and an attribute have text of any length, which deletion leaves in the file
    bool uneven = false;  ///< the logs have half of the rows that fit, up to all of them
    std::uint32_t flush_rows = 64;
    std::uint32_t reserve = 65536;     ///< DatasetCreate::reserve
    std::uint32_t libhdf5_every = 10;  ///< rotations; 0: never
    std::uint32_t memory = 0;          ///< bytes of the library's arena; 0: by chunk and filters
    std::uint64_t seed = 1;
    bool persist = true;  ///< FileCreate::persist_free_space
    bool reclaim = true;  ///< FileAccess::reclaim
};

/// What goes wrong.
enum class Fault : std::uint8_t {
    none,
    no_space,  ///< what fits what is free was refused
    call,      ///< a call failed
    rows,      ///< a row is missing or wrong
    unsound,   ///< the file is damaged
    libhdf5,   ///< libhdf5 does not read the file as we do
    growth,    ///< the file is larger than its content allows
    live,      ///< a chip keeps pages that the file does not need
    wear,      ///< a chip's blocks are not worn alike
    lost       ///< bytes of the file are free, and nobody knows
};
const char* to_string(Fault fault) noexcept;

struct RotationResult {
    Fault fault = Fault::none;
    std::string text;  ///< what went wrong, and where
    std::uint32_t rotations = 0;
    std::uint32_t rows = 0;  ///< most rows of a log
    std::uint32_t kills = 0;
    std::uint64_t capacity = 0;
    std::uint64_t largest_file = 0;
    std::uint64_t largest_live = 0;     ///< bytes in use in a file, at most
    std::int64_t flash_lost = 0;        ///< bytes of pages that the chip keeps and the file does not need, at most
    std::uint64_t lost_after_kill = 0;  ///< bytes, at most
    std::uint64_t lost_after_reclaim = 0;
    std::uint64_t lost_after_close = 0;
    Wear wear;
};

RotationResult rotate_logs(const RotationPlan& plan);

}  // namespace h5mote_test
