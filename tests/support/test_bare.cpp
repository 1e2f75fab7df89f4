// main() of the unit tests on a board: runs them, prints failures and a summary, and exits with 1 if any test failed.
#include <h5mote/port/semihosting.hpp>
#include "test.hpp"

#include <cstring>

namespace h5mote_test {
namespace {

TestCase* first_case;
TestCase** last_link = &first_case;
const TestCase* running;
unsigned failures;
bool current_failed;

void print_value(Shown value) noexcept {
    using h5mote::semihosting::print;
    if (!value.known) {
        print("?");
        return;
    }
    if (value.negative) {
        print("-");
    }
    print(value.bits);
}

}  // namespace

TestCase::TestCase(const char* its_suite, const char* its_name, void (*its_body)()) noexcept
    : suite(its_suite), name(its_name), body(its_body) {
    *last_link = this;
    last_link = &next;
}

void fail(const char* file, int line, const char* expression) noexcept {
    using h5mote::semihosting::print;
    current_failed = true;
    print(file);
    print(":");
    print(static_cast<std::uint64_t>(line));
    print(": ");
    print(running->suite);
    print(".");
    print(running->name);
    print(": ");
    print(expression);
    print("\n");
}

void fail(const char* file, int line, const char* expression, Shown left, Shown right) noexcept {
    using h5mote::semihosting::print;
    fail(file, line, expression);
    print("    ");
    print_value(left);
    print(" and ");
    print_value(right);
    print("\n");
}

namespace {

void list() noexcept {
    for (const TestCase* test = first_case; test != nullptr; test = test->next) {
        h5mote::semihosting::print(test->suite);
        h5mote::semihosting::print(".");
        h5mote::semihosting::print(test->name);
        h5mote::semihosting::print("\n");
    }
}

bool chosen(const char* argument, const TestCase& test, unsigned number) noexcept {
    static constexpr char kHalf[] = "--half=";
    constexpr std::size_t length = sizeof kHalf - 1;
    if (std::strncmp(argument, kHalf, length) == 0) {
        return argument[length] == static_cast<char>('0' + number % 2);
    }
    return std::strncmp(argument, test.suite, std::strlen(argument)) == 0;
}

}  // namespace
}  // namespace h5mote_test

// Arguments: none to run all tests, --list to print their names, --half=0 or --half=1 to run every second one, or the
// first letters of the suites to run.
int main(int argc, char** argv) {
    using namespace h5mote_test;
    using h5mote::semihosting::print;
    const char* const argument = argc > 1 ? argv[1] : "";
    if (std::strcmp(argument, "--list") == 0) {
        list();
        return 0;
    }
    unsigned passed = 0;
    unsigned number = 0;
    for (const TestCase* test = first_case; test != nullptr; test = test->next) {
        if (!chosen(argument, *test, number++)) {
            continue;
        }
        running = test;
        current_failed = false;
        test->body();
        current_failed ? ++failures : ++passed;
    }
    print(std::uint64_t{passed});
    print(" passed, ");
    print(std::uint64_t{failures});
    print(" failed\n");
    // If no test ran, the build is broken, unless suites were chosen by name and this image has none of these.
    const bool by_name = argument[0] != '\0' && argument[0] != '-';
    return failures == 0 && (passed > 0 || by_name) ? 0 : 1;
}
