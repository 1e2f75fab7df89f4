#include "checked.hpp"

namespace h5mote {

std::uint64_t divide(std::uint64_t n, std::uint32_t divisor, std::uint32_t& remainder) noexcept {
    if (n <= 0xffffffffU) {
        const std::uint32_t low = static_cast<std::uint32_t>(n);
        remainder = low % divisor;
        return low / divisor;
    }
    std::uint64_t quotient = 0;
    std::uint64_t rest = 0;
    for (unsigned bit = 64; bit-- > 0;) {
        rest = rest << 1 | (n >> bit & 1U);
        quotient <<= 1;
        if (rest >= divisor) {
            rest -= divisor;
            quotient |= 1;
        }
    }
    remainder = static_cast<std::uint32_t>(rest);
    return quotient;
}

#if __SIZEOF_SIZE_T__ <= 4
[[gnu::noinline]] bool multiply_long(std::uint64_t a, std::uint64_t b, std::uint64_t& result) noexcept {
    return !__builtin_mul_overflow(a, b, &result);
}
#endif

}  // namespace h5mote
