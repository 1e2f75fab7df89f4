#include "machine.hpp"

extern "C" {
void h5mote_count_begin() {}
void h5mote_count_end() {}
}

namespace logger {

StackUse stack_use() noexcept { return {}; }

}  // namespace logger
