// A journal over two files in memory.
#pragma once

#include <h5mote/vfd/journal.hpp>
#include <h5mote/vfd/memory.hpp>

#include <cstring>

namespace h5mote_test {

using namespace h5mote;

inline constexpr Usage kRaw = Usage::raw_data;

inline std::byte home_bytes[3072];
inline std::byte log_bytes[4096];
alignas(8) inline std::byte work[512];
alignas(8) inline std::byte work_too[512];

inline JournalOptions small() noexcept {
    JournalOptions options;
    options.checkpoint = 2048;
    options.limit = sizeof log_bytes;
    options.lists = 4;
    // Tests leave a driver open where the power "fails"; its lock must not keep the second driver out.
    options.file_locking = false;
    return options;
}

// A journal over an empty home and log. Their memory is full of 0xdd, not of zeros.
struct Files {
    MemoryDriver home{home_bytes};
    MemoryDriver log{log_bytes};
    JournalDriver journal{home, log, work};

    Files() noexcept {
        std::memset(home_bytes, 0xdd, sizeof home_bytes);
        std::memset(log_bytes, 0xdd, sizeof log_bytes);
    }
};

}  // namespace h5mote_test
