// The functions of the logger that differ between a board and a host.
#pragma once

#include <cstddef>

namespace logger {

struct StackUse {
    std::size_t used = 0;
    std::size_t size = 0;  ///< 0: the use of the stack is not measured on this machine
};

/// The most bytes of the stack that were in use so far.
StackUse stack_use() noexcept;

}  // namespace logger

extern "C" {
/// toolchains/count-insns counts the instructions between calls of these two functions.
void h5mote_count_begin();
void h5mote_count_end();
}
