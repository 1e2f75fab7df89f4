#include <h5mote/port/stack.hpp>

#include <cstdint>

// From the linker script. The stack grows down from the top to the limit.
extern "C" {
extern std::uint32_t __stack_limit[];  // NOLINT(bugprone-reserved-identifier)
extern std::uint32_t __stack_top[];    // NOLINT(bugprone-reserved-identifier)
}

namespace h5mote {
namespace {

constexpr std::uint32_t kPaint = 0xa5a5a5a5U;  // as in the start-up code

std::uintptr_t address(const void* pointer) noexcept { return reinterpret_cast<std::uintptr_t>(pointer); }

}  // namespace

std::size_t painted_stack_used(const void* from) noexcept {
    const std::uint32_t* deepest = __stack_limit;
    while (deepest < __stack_top && *deepest == kPaint) {
        ++deepest;
    }
    return address(from) > address(deepest) ? address(from) - address(deepest) : 0;
}

std::size_t painted_stack_used() noexcept { return painted_stack_used(__stack_top); }

__attribute__((noinline)) void paint_stack() noexcept {
    // Volatile: the compiler must not make this a call of memset, whose frame would lie where it paints.
    volatile std::uint32_t* at = __stack_limit;
    const std::uintptr_t end = address(__builtin_frame_address(0)) - 32;  // registers that this function has saved
    while (address(const_cast<const std::uint32_t*>(at)) < end) {
        *at = kPaint;
        ++at;
    }
}

__attribute__((noinline)) const void* stack_pointer() noexcept { return __builtin_frame_address(0); }

std::size_t stack_size() noexcept { return address(__stack_top) - address(__stack_limit); }

}  // namespace h5mote
