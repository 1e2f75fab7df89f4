// Division of 64-bit numbers bit by bit, which small machines use, compared with the compiler's.
#include "checked.hpp"

#include "test.hpp"

namespace {

// Numbers of every length, with few and with many bits.
std::uint64_t number(unsigned i) {
    static constexpr std::uint64_t kParts[] = {0, 1, 3, 10, 0x1234567, 0xfffffffe, 0xffffffff, 0xdeadbeef12345678};
    return kParts[i % 8] << (i / 8) % 64;
}

}  // namespace

TEST(Checked, DividesNumbersOfEveryLength) {
    for (unsigned i = 0; i < 512; ++i) {
        for (unsigned j = 0; j < 512; j += 1 + i % 3) {
            const std::uint64_t n = number(i) - j % 2;
            const std::uint64_t divisor = number(j) | 1;
            std::uint64_t rest = 0;
            ASSERT_TRUE(h5mote::divide_long(n, divisor, rest) == n / divisor && rest == n % divisor);
            rest = 0;
            ASSERT_TRUE(h5mote::divide(n, divisor, rest) == n / divisor && rest == n % divisor);
        }
    }
}

TEST(Checked, QuotientAndRemainderByThemselves) {
    EXPECT_EQ(h5mote::quotient_of(~std::uint64_t{0}, 10), ~std::uint64_t{0} / 10);
    EXPECT_EQ(h5mote::remainder_of(~std::uint64_t{0}, 1000), ~std::uint64_t{0} % 1000);
    EXPECT_EQ(h5mote::remainder_of(5, std::uint64_t{1} << 63), 5U);
}

TEST(Checked, RoundsUp) {
    EXPECT_EQ(h5mote::divide_up(0, 7), 0U);
    EXPECT_EQ(h5mote::divide_up(14, 7), 2U);
    EXPECT_EQ(h5mote::divide_up(15, 7), 3U);
    EXPECT_EQ(h5mote::divide_up((std::uint64_t{1} << 40) + 1, std::uint64_t{1} << 39), 3U);
}
