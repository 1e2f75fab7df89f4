// How deep the stack has been: start-up code fills it with a pattern, and what has lost the pattern was used.
#pragma once

#include <cstddef>

namespace h5mote {

/// Bytes of stack used at the deepest since it was painted, counted from the top (`__stack_top`). Equal to
/// stack_size() when the stack was used up: it may then have grown into what lies below.
std::size_t painted_stack_used() noexcept;

/// The same, counted from `from`, a value of stack_pointer(): what the calls made from there have used.
std::size_t painted_stack_used(const void* from) noexcept;

/// Paints what lies below the caller's frame again, so that a part of the program can be measured by itself.
void paint_stack() noexcept;

/// The stack pointer of the caller.
const void* stack_pointer() noexcept;

/// Bytes from `__stack_limit` to `__stack_top`.
std::size_t stack_size() noexcept;

}  // namespace h5mote
