// The depth of the stack: start-up code fills the stack with a pattern, and bytes without the pattern have been used.
#pragma once

#include <cstddef>

namespace h5mote {

/// Most bytes of stack that were in use at once since it was painted, counted from the top (`__stack_top`). Equal to
/// stack_size() when all of the stack was used: it may then have grown into the memory below it.
std::size_t painted_stack_used() noexcept;

/// The same, counted from `from`, a value of stack_pointer(): what calls made from there have used.
std::size_t painted_stack_used(const void* from) noexcept;

/// Paints the stack below the caller's frame again, so that a part of the program can be measured by itself.
void paint_stack() noexcept;

/// The stack pointer of the caller.
const void* stack_pointer() noexcept;

/// Bytes from `__stack_limit` to `__stack_top`.
std::size_t stack_size() noexcept;

}  // namespace h5mote
