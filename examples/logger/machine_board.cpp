#include "machine.hpp"

#include <h5mote/port/stack.hpp>

extern "C" {
__attribute__((naked, noinline)) void h5mote_count_begin() { __asm__ volatile("bx lr"); }
__attribute__((naked, noinline)) void h5mote_count_end() { __asm__ volatile("bx lr"); }
}

namespace logger {

StackUse stack_use() noexcept { return {h5mote::painted_stack_used(), h5mote::stack_size()}; }

}  // namespace logger
