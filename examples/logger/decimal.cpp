#include "decimal.hpp"

#include <cstring>

namespace logger {
namespace {

constexpr int kMostDigits = 19;

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// A natural number of up to 192 bits: enough for 19 decimal digits times the power of five of their exponent.
class Natural {
public:
    explicit Natural(std::uint32_t value) noexcept { limbs_[0] = value; }

    void multiply_add(std::uint32_t factor, std::uint32_t summand) noexcept {
        std::uint64_t carry = summand;
        for (std::uint32_t& limb : limbs_) {
            carry += std::uint64_t{limb} * factor;
            limb = static_cast<std::uint32_t>(carry);
            carry >>= 32;
        }
    }
    void shift_left(int bits) noexcept {
        for (; bits >= 31; bits -= 31) {
            multiply_add(std::uint32_t{1} << 31, 0);
        }
        multiply_add(std::uint32_t{1} << bits, 0);
    }
    int bits() const noexcept {
        int limb = kLimbs - 1;
        while (limb > 0 && limbs_[limb] == 0) {
            --limb;
        }
        int count = 32 * limb;
        for (std::uint32_t rest = limbs_[limb]; rest != 0; rest >>= 1) {
            ++count;
        }
        return count;
    }

    // For the division in nearest_float(), these functions work on the lowest `limbs` limbs only: mostly one or two.
    void double_it(int limbs) noexcept {
        std::uint32_t carry = 0;
        for (int i = 0; i < limbs; ++i) {
            const std::uint32_t limb = limbs_[i];
            limbs_[i] = limb << 1 | carry;
            carry = limb >> 31;
        }
    }
    int compare(const Natural& other, int limbs) const noexcept {
        for (int i = limbs - 1; i >= 0; --i) {
            if (limbs_[i] != other.limbs_[i]) {
                return limbs_[i] < other.limbs_[i] ? -1 : 1;
            }
        }
        return 0;
    }
    void subtract(const Natural& other, int limbs) noexcept {
        std::uint32_t borrow = 0;
        for (int i = 0; i < limbs; ++i) {
            const std::uint64_t difference = std::uint64_t{limbs_[i]} - other.limbs_[i] - borrow;
            limbs_[i] = static_cast<std::uint32_t>(difference);
            borrow = static_cast<std::uint32_t>(difference >> 63);
        }
    }

private:
    static constexpr int kLimbs = 6;
    std::uint32_t limbs_[kLimbs] = {};
};

// A number in decimal notation: digits * 10^exponent.
struct Decimal {
    Natural digits{0};
    int count = 0;  // significant digits
    int exponent = 0;
    bool negative = false;
};

bool scan_exponent(const char* at, int& exponent) noexcept {
    const bool down = *at == '-';
    if (*at == '-' || *at == '+') {
        ++at;
    }
    if (!is_digit(*at)) {
        return false;
    }
    int value = 0;
    for (; is_digit(*at); ++at) {
        value = value < 1000 ? 10 * value + (*at - '0') : value;
    }
    exponent += down ? -value : value;
    return *at == '\0';
}

bool scan(const char* at, Decimal& number) noexcept {
    number.negative = *at == '-';
    if (*at == '-' || *at == '+') {
        ++at;
    }
    bool any = false;
    bool fraction = false;
    for (;; ++at) {
        if (*at == '.' && !fraction) {
            fraction = true;
            continue;
        }
        if (!is_digit(*at)) {
            break;
        }
        any = true;
        number.exponent -= fraction ? 1 : 0;
        if (number.count == 0 && *at == '0') {
            continue;
        }
        if (++number.count > kMostDigits) {
            return false;
        }
        number.digits.multiply_add(10, static_cast<std::uint32_t>(*at - '0'));
    }
    if (!any) {
        return false;
    }
    return *at == '\0' || ((*at == 'e' || *at == 'E') && scan_exponent(at + 1, number.exponent));
}

// Returns the bits of the float nearest to numerator / denominator * 2^exponent, which must be positive. A value too
// large for a float gives infinity.
std::uint32_t nearest_float(Natural& numerator, Natural& denominator, int exponent) noexcept {
    // Scale the numerator or denominator by a power of two, so that the quotient is at least 1 and less than 2.
    const int difference = numerator.bits() - denominator.bits();
    (difference < 0 ? numerator : denominator).shift_left(difference < 0 ? -difference : difference);
    exponent += difference;
    const int limbs = (denominator.bits() + 1 + 31) / 32;
    if (numerator.compare(denominator, limbs) < 0) {
        numerator.double_it(limbs);
        --exponent;
    }
    // A float below 2^-126 has fewer than 24 significant bits; values below 2^-150 are rounded to zero.
    const int bits = exponent >= -126 ? 24 : 150 + exponent;
    if (bits < 0) {
        return 0;
    }
    if (exponent > 127) {
        return 0x7f800000U;
    }
    std::uint32_t quotient = 0;
    for (int i = 0; i < bits; ++i) {
        quotient <<= 1;
        if (numerator.compare(denominator, limbs) >= 0) {
            numerator.subtract(denominator, limbs);
            quotient |= 1;
        }
        numerator.double_it(limbs);
    }
    // Round to nearest: the remainder, which the loop has doubled already, is compared with the denominator.
    const int half = numerator.compare(denominator, limbs);
    quotient += half > 0 || (half == 0 && (quotient & 1) != 0) ? 1 : 0;
    // The leading one of a normal number adds 1 to the exponent's field, and so does a carry out of the mantissa.
    return quotient + (exponent >= -126 ? static_cast<std::uint32_t>(exponent + 126) << 23 : 0);
}

}  // namespace

bool parse_unsigned(const char* text, std::uint64_t& value) noexcept {
    constexpr std::uint64_t kMost = ~std::uint64_t{0};
    std::uint64_t number = 0;
    const char* at = text;
    for (; is_digit(*at); ++at) {
        const auto digit = static_cast<std::uint64_t>(*at - '0');
        if (number > kMost / 10 || (number == kMost / 10 && digit > kMost % 10)) {
            return false;
        }
        number = 10 * number + digit;
    }
    if (at == text || *at != '\0') {
        return false;
    }
    value = number;
    return true;
}

bool parse_float(const char* text, float& value) noexcept {
    Decimal number;
    if (!scan(text, number) || (number.count > 0 && number.count + number.exponent > 40)) {
        return false;
    }
    std::uint32_t bits = 0;
    if (number.count > 0 && number.count + number.exponent > -50) {
        // 10^n is 5^n * 2^n: only 5^n is multiplied out, 2^n goes into the binary exponent.
        Natural denominator{1};
        Natural& fives = number.exponent < 0 ? denominator : number.digits;
        for (int i = number.exponent; i != 0; i += i < 0 ? 1 : -1) {
            fives.multiply_add(5, 0);
        }
        bits = nearest_float(number.digits, denominator, number.exponent);
    }
    if (bits >= 0x7f800000U) {
        return false;
    }
    bits |= number.negative ? 0x80000000U : 0;
    std::memcpy(&value, &bits, sizeof value);
    return true;
}

}  // namespace logger
