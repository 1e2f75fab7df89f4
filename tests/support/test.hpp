// The header that unit tests include for their macros: GoogleTest on hosts; on boards (H5MOTE_BARE_TESTS) a look-alike
// without heap, streams or exceptions, with TEST, and EXPECT_ / ASSERT_ TRUE FALSE EQ NE LT LE GT GE.
#pragma once

#ifndef H5MOTE_BARE_TESTS
#include <gtest/gtest.h>
#else

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

namespace h5mote_test {

/// One test; links itself into the list of all when it is constructed, before main() runs.
class TestCase {
public:
    TestCase(const char* suite, const char* name, void (*body)()) noexcept;

    const char* suite;
    const char* name;
    void (*body)();
    TestCase* next = nullptr;
};

/// An operand in the form in which it is printed. Integers, enums, bools and pointers are `known`, with their absolute
/// value in `bits`; other types are printed as "?".
struct Shown {
    std::uint64_t bits;
    bool negative;
    bool known;
};

template <typename T>
Shown shown(const T& value) noexcept {
    if constexpr (std::is_enum_v<T>) {
        return shown(static_cast<std::underlying_type_t<T> >(value));
    } else if constexpr (std::is_integral_v<T>) {
        const bool negative = std::is_signed_v<T> && value < T{};
        const auto bits = static_cast<std::uint64_t>(value);
        return {negative ? std::uint64_t{0} - bits : bits, negative, true};
    } else if constexpr (std::is_pointer_v<T>) {
        return {reinterpret_cast<std::uintptr_t>(value), false, true};
    } else {
        return {0, false, false};
    }
}

/// Records and prints a failure of the running test.
void fail(const char* file, int line, const char* expression) noexcept;
void fail(const char* file, int line, const char* expression, Shown left, Shown right) noexcept;

}  // namespace h5mote_test

#define TEST(suite, name)                                                                                     \
    static void h5mote_test_##suite##_##name();                                                               \
    static ::h5mote_test::TestCase h5mote_case_##suite##_##name(#suite, #name, h5mote_test_##suite##_##name); \
    static void h5mote_test_##suite##_##name()

// do ... while (0) makes each check one statement, which is safe under an `if` without braces.
#define H5MOTE_TEST_CHECK_(condition, text, on_failure)    \
    do {                                                   \
        if (!(condition)) {                                \
            ::h5mote_test::fail(__FILE__, __LINE__, text); \
            on_failure;                                    \
        }                                                  \
    } while (0)
#define H5MOTE_TEST_COMPARE_(left, right, op, on_failure)                                                        \
    do {                                                                                                         \
        const auto& h5mote_left = (left);                                                                        \
        const auto& h5mote_right = (right);                                                                      \
        if (!(h5mote_left op h5mote_right)) {                                                                    \
            ::h5mote_test::fail(__FILE__, __LINE__, #left " " #op " " #right, ::h5mote_test::shown(h5mote_left), \
                                ::h5mote_test::shown(h5mote_right));                                             \
            on_failure;                                                                                          \
        }                                                                                                        \
    } while (0)

#define EXPECT_TRUE(condition) H5MOTE_TEST_CHECK_(condition, #condition, (void)0)
#define EXPECT_FALSE(condition) H5MOTE_TEST_CHECK_(!(condition), "!(" #condition ")", (void)0)
#define EXPECT_EQ(left, right) H5MOTE_TEST_COMPARE_(left, right, ==, (void)0)
#define EXPECT_NE(left, right) H5MOTE_TEST_COMPARE_(left, right, !=, (void)0)
#define EXPECT_LT(left, right) H5MOTE_TEST_COMPARE_(left, right, <, (void)0)
#define EXPECT_LE(left, right) H5MOTE_TEST_COMPARE_(left, right, <=, (void)0)
#define EXPECT_GT(left, right) H5MOTE_TEST_COMPARE_(left, right, >, (void)0)
#define EXPECT_GE(left, right) H5MOTE_TEST_COMPARE_(left, right, >=, (void)0)
#define ASSERT_TRUE(condition) H5MOTE_TEST_CHECK_(condition, #condition, return )
#define ASSERT_FALSE(condition) H5MOTE_TEST_CHECK_(!(condition), "!(" #condition ")", return )
#define ASSERT_EQ(left, right) H5MOTE_TEST_COMPARE_(left, right, ==, return )
#define ASSERT_NE(left, right) H5MOTE_TEST_COMPARE_(left, right, !=, return )
#define ASSERT_LT(left, right) H5MOTE_TEST_COMPARE_(left, right, <, return )
#define ASSERT_LE(left, right) H5MOTE_TEST_COMPARE_(left, right, <=, return )
#define ASSERT_GT(left, right) H5MOTE_TEST_COMPARE_(left, right, >, return )
#define ASSERT_GE(left, right) H5MOTE_TEST_COMPARE_(left, right, >=, return )

#endif
