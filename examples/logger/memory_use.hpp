// How much memory the logger's recorder uses.
#pragma once

#include <cstddef>

namespace logger {

/// Bytes, those for chunks in memory among them.
struct MemoryUse {
    std::size_t peak = 0;
    std::size_t size = 0;  ///< what was set aside
};

}  // namespace logger
