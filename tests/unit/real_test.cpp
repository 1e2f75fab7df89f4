// Arithmetic of doubles in integers, compared with the processor's or the compiler's.
#include "real.hpp"

#include "byte_order.hpp"
#include "test.hpp"

#include <cmath>
#include <cstring>
#include <limits>

using h5mote::MostReal;
using h5mote::Real;

namespace {

class Random {
public:
    std::uint64_t next() {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return state_;
    }
    // Any bits, or some that are near in size to those of 1, so that sums cancel and round.
    double number() {
        const std::uint64_t bits = next();
        const std::uint64_t kind = next() % 4;
        if (kind == 0) {
            return of(bits);
        }
        const std::uint64_t exponent = kind == 1 ? 0x3ff - next() % 64 : kind == 2 ? next() % 3 : 0x7fe - next() % 3;
        return of((bits & 0x800fffffffffffff) | exponent << 52);
    }
    static double of(std::uint64_t bits) {
        double value = 0;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }

private:
    std::uint64_t state_ = 88172645463325252;
};

std::uint64_t bits_of(double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

Real real(double value) {
    std::byte bytes[8];
    h5mote::store_uint(bytes, 8, bits_of(value));
    return h5mote::load_real(bytes, 8, false);
}

double number(const Real& real) {
    std::byte bytes[8];
    h5mote::store_real(bytes, real, 8, false, MostReal::nearest);
    return Random::of(h5mote::load_uint(bytes, 8));
}

// The same bits, but for which NaN it is: processors differ in that.
bool same(const Real& result, double expected) {
    const double value = number(result);
    return std::isnan(expected) ? std::isnan(value) : bits_of(value) == bits_of(expected);
}

#ifdef H5MOTE_BARE_TESTS
constexpr unsigned kRounds = 2000;
#else
constexpr unsigned kRounds = 500000;
#endif
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kSpecial[] = {0.0,
                               -0.0,
                               1.0,
                               -1.0,
                               5e-324,
                               -5e-324,
                               2.2250738585072014e-308,
                               1.7976931348623157e308,
                               -1.7976931348623157e308,
                               kInfinity,
                               -kInfinity,
                               kNan};

}  // namespace

TEST(Real, LoadsAndStoresAnyDouble) {
    Random random;
    for (unsigned i = 0; i < kRounds; ++i) {
        const double value = random.number();
        ASSERT_TRUE(same(real(value), value));
    }
}

TEST(Real, SumsAreThoseOfDoubles) {
    Random random;
    for (unsigned i = 0; i < kRounds; ++i) {
        const double a = random.number();
        const double b = i % 4 == 0 ? -a * (1 + 0x1p-52 * static_cast<double>(random.next() % 4)) : random.number();
        ASSERT_TRUE(same(sum(real(a), real(b)), a + b));
    }
    for (const double a : kSpecial) {
        for (const double b : kSpecial) {
            EXPECT_TRUE(same(sum(real(a), real(b)), a + b));
        }
    }
}

TEST(Real, QuotientsAreThoseOfDoubles) {
    Random random;
    for (unsigned i = 0; i < kRounds; ++i) {
        const double a = random.number();
        const double b = random.number();
        if (std::isfinite(a) && !std::isnan(b)) {
            ASSERT_TRUE(same(quotient(real(a), real(b)), a / b));
        }
    }
    for (const double a : kSpecial) {
        for (const double b : kSpecial) {
            if (std::isfinite(a) && !std::isnan(b)) {
                EXPECT_TRUE(same(quotient(real(a), real(b)), a / b));
            }
        }
    }
}

TEST(Real, IntegersRoundToTheNearestDouble) {
    Random random;
    for (unsigned i = 0; i < kRounds; ++i) {
        const auto value = static_cast<std::int64_t>(random.next()) >> i % 64;
        ASSERT_TRUE(same(h5mote::real_of(value), static_cast<double>(value)));
    }
    for (const std::int64_t value : {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(),
                                     std::int64_t{0}, std::int64_t{-1}}) {
        EXPECT_TRUE(same(h5mote::real_of(value), static_cast<double>(value)));
    }
}

TEST(Real, PowersOfTenGoBeyondTheLargestNumber) {
    double expected = 1;
    Real power = h5mote::real_of(1);
    for (unsigned i = 0; i < 320; ++i) {
        ASSERT_TRUE(same(power, expected));
        ASSERT_TRUE(same(quotient(h5mote::real_of(1), power), 1 / expected));
        power = ten_times(power);
        expected *= 10;
    }
    EXPECT_FALSE(power.is_finite());
}

// What a reader of packed chunks does with one number.
TEST(Real, PackedNumbersAreThoseOfDoubles) {
    Random random;
    for (unsigned i = 0; i < kRounds; ++i) {
        const auto packed = static_cast<std::int64_t>(random.next()) >> random.next() % 64;
        double power = 1;
        Real scale = h5mote::real_of(1);
        for (std::uint64_t digits = random.next() % 24; digits > 0; --digits) {
            power *= 10;
            scale = ten_times(scale);
        }
        if (i % 2 == 0) {
            power = 1 / power;
            scale = quotient(h5mote::real_of(1), scale);
        }
        const double minimum = random.number();
        const double expected = static_cast<double>(packed) / power + minimum;
        ASSERT_TRUE(same(sum(quotient(h5mote::real_of(packed), scale), real(minimum)), expected));
    }
}

TEST(Real, SingleNumbersAreRoundedOnce) {
    Random random;
    for (unsigned i = 0; i < kRounds; ++i) {
        const double value = random.number() * (i % 2 == 0 ? 1 : 0x1p-100);
        const auto single = static_cast<float>(value);
        std::byte bytes[4];
        h5mote::store_real(bytes, real(value), 4, true, MostReal::nearest);
        std::uint32_t expected = 0;
        std::memcpy(&expected, &single, sizeof expected);
        ASSERT_TRUE(std::isnan(single) || h5mote::load_ordered(bytes, 4, true) == expected);
    }
}
