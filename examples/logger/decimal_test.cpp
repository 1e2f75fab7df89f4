// Compares parse_float() with the C library's strtof(), which rounds correctly; and division with that of the compiler.
#include "decimal.hpp"
#include "division.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <string>

namespace {

using logger::divide;
using logger::parse_float;
using logger::parse_unsigned;

std::uint32_t bits_of(float value) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

// Whether parse_float() gives the same bits as strtof(), and refuses a number that is too large for a float.
bool agrees(const char* text) {
    const float expected = std::strtof(text, nullptr);
    float value = 12345;
    if (std::isinf(expected)) {
        return !parse_float(text, value) && value == 12345;
    }
    return parse_float(text, value) && bits_of(value) == bits_of(expected);
}

TEST(Decimal, Floats) {
    for (const char* text : {"0",
                             "-0",
                             "0.0",
                             ".5",
                             "5.",
                             "1",
                             "-1",
                             "+1",
                             "16777216",
                             "16777217",
                             "16777218",
                             "16777219",
                             "33554434",
                             "3.4028235e38",
                             "3.4028236e38",
                             "3.40282357e38",
                             "-3.4028235e38",
                             "1e38",
                             "1e39",
                             "9e99",
                             "1e999999999999",
                             "1.17549435e-38",
                             "1.17549421e-38",
                             "1e-45",
                             "7e-46",
                             "7.1e-46",
                             "1e-46",
                             "1e-999999999999",
                             "0e99999",
                             "0.000000000000000000000000001",

                             "1234567890123456789",
                             "0.1234567890123456789e-20",
                             "9007199254740993",
                             "1e0",
                             "1E+05",
                             "1e-05",
                             "8388608.5",
                             "8388609.5",
                             "0.00000000000000000000000000000000000001175494351"}) {
        EXPECT_TRUE(agrees(text)) << text;
    }
}

TEST(Decimal, NotFloats) {
    for (const char* text : {"",    "-",  "+",  ".",  "-.",  "e5",  "1e",   "1e+", "1e-",   "1.2.3",
                             "1,2", " 1", "1 ", "1x", "nan", "inf", "0x10", "--1", "1e5.0", "12345678901234567890"}) {
        float value = 7;
        EXPECT_FALSE(parse_float(text, value)) << text;
        EXPECT_EQ(value, 7.0F) << text;
    }
}

TEST(Decimal, RandomFloats) {
    std::mt19937 random(20);
    std::uniform_int_distribution<int> exponent(-55, 45);
    char text[64];
    for (int i = 0; i < 400000; ++i) {
        const unsigned long long digits = (static_cast<unsigned long long>(random()) << 32 | random()) >> 1;
        const int keep = 1 + i % 19;
        std::snprintf(text, sizeof text, "%.*se%d", keep, std::to_string(digits).c_str(), exponent(random));
        ASSERT_TRUE(agrees(text)) << text;
    }
}

// A random float printed with nine digits, as sensors' values are, must be read back as the same float; the middle
// between two floats, printed with various numbers of digits, must be rounded correctly.
TEST(Decimal, RoundTripsAndTies) {
    std::mt19937 random(21);
    char text[64];
    for (int i = 0; i < 200000; ++i) {
        const std::uint32_t bits = random() & 0x7fffffffU;
        float value = 0;
        std::memcpy(&value, &bits, sizeof value);
        if (!std::isfinite(value)) {
            continue;
        }
        std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
        float back = 0;
        ASSERT_TRUE(parse_float(text, back)) << text;
        ASSERT_EQ(bits_of(back), bits) << text;
        const double next = static_cast<double>(std::nextafterf(value, INFINITY));
        for (const int digits : {9, 16, 17, 18}) {
            std::snprintf(text, sizeof text, "%.*e", digits, (static_cast<double>(value) + next) / 2);
            ASSERT_TRUE(agrees(text)) << text;
        }
    }
    // Exact ties.
    for (std::uint32_t i = 16777216; i < 16777216 + 20000; ++i) {
        ASSERT_TRUE(agrees(std::to_string(i).c_str()));
    }
}

TEST(Decimal, Recording) {
    const char* const named = std::getenv("H5MOTE_FLIGHT");
    std::size_t count = 0;
    for (const char* path : {H5MOTE_FLIGHT_CSV, named != nullptr ? named : H5MOTE_RECORDING_CSV}) {
        std::ifstream file(path);
        std::string line;
        std::getline(file, line);
        while (std::getline(file, line)) {
            for (std::size_t at = line.find(','); at != std::string::npos;) {
                const std::size_t next = line.find(',', at + 1);
                const std::string field = line.substr(at + 1, next == std::string::npos ? next : next - at - 1);
                ASSERT_TRUE(agrees(field.c_str())) << path << ": " << field;
                ++count;
                at = next;
            }
        }
    }
    EXPECT_GE(count, 6000U * 9);
}

TEST(Decimal, Unsigned) {
    std::uint64_t value = 0;
    EXPECT_TRUE(parse_unsigned("0", value));
    EXPECT_EQ(value, 0U);
    EXPECT_TRUE(parse_unsigned("112614307", value));
    EXPECT_EQ(value, 112614307U);
    EXPECT_TRUE(parse_unsigned("18446744073709551615", value));
    EXPECT_EQ(value, 18446744073709551615U);
    for (const char* text :
         {"", "-1", "+1", "1.0", " 1", "18446744073709551616", "18446744073709551625", "100000000000000000000", "x"}) {
        EXPECT_FALSE(parse_unsigned(text, value)) << text;
        EXPECT_EQ(value, 18446744073709551615U);
    }
}

TEST(Decimal, Division) {
    for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{9}, std::uint64_t{10}, std::uint64_t{112614307},
                                       std::uint64_t{0xffffffff}, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
        for (const std::uint32_t divisor : {1U, 7U, 10U, 1000000U, 0x7fffffffU, 0x80000000U}) {
            std::uint64_t quotient = number;
            EXPECT_EQ(divide(quotient, divisor), number % divisor);
            EXPECT_EQ(quotient, number / divisor);
        }
    }
}

}  // namespace
