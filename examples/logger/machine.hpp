// What differs between a board and a host.
#pragma once

#include <cstddef>

namespace logger {

struct StackUse {
    std::size_t used = 0;
    std::size_t size = 0;  ///< 0: this machine does not measure
};

/// The deepest use of the stack so far.
StackUse stack_use() noexcept;

}  // namespace logger

extern "C" {
/// Where toolchains/count-insns begins and ends to count.
void h5mote_count_begin();
void h5mote_count_end();
}
