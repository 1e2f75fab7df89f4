#include "checked.hpp"

namespace h5mote {

std::uint64_t divide_long(std::uint64_t n, std::uint64_t divisor, std::uint64_t& remainder) noexcept {
    std::uint64_t rest = 0;
    for (unsigned bit = 0; bit < 64; ++bit) {
        // The quotient's bits come in at the low end of `n` as those of the dividend leave it at the other.
        const bool beyond = rest >> 63 != 0;
        rest = rest << 1 | n >> 63;
        n <<= 1;
        if (beyond || rest >= divisor) {
            rest -= divisor;
            n |= 1;
        }
    }
    remainder = rest;
    return n;
}

std::uint64_t divide(std::uint64_t n, std::uint64_t divisor, std::uint64_t& remainder) noexcept {
    std::size_t low = 0;
    std::size_t by = 0;
    if (to_size(n, low) && to_size(divisor, by)) {
        remainder = low % by;
        return low / by;
    }
    return divide_long(n, divisor, remainder);
}

std::uint64_t quotient_of(std::uint64_t n, std::uint64_t divisor) noexcept {
    std::uint64_t rest = 0;
    return divide(n, divisor, rest);
}

std::uint64_t remainder_of(std::uint64_t n, std::uint64_t divisor) noexcept {
    std::uint64_t rest = 0;
    (void)divide(n, divisor, rest);
    return rest;
}

std::uint64_t divide_up(std::uint64_t n, std::uint64_t divisor) noexcept {
    std::uint64_t rest = 0;
    const std::uint64_t quotient = divide(n, divisor, rest);
    return rest == 0 ? quotient : quotient + 1;
}

#if __SIZEOF_SIZE_T__ <= 4
[[gnu::noinline]] bool multiply_long(std::uint64_t a, std::uint64_t b, std::uint64_t& result) noexcept {
    return !__builtin_mul_overflow(a, b, &result);
}
#endif

}  // namespace h5mote
