// Runs the tests of an image without heap: prints failures, a summary, and ends with 1 if any failed.
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

}  // namespace h5mote_test

// Arguments: none for all tests, --list for their names, or the beginning of the suites to run.
int main(int argc, char** argv) {
    using namespace h5mote_test;
    using h5mote::semihosting::print;
    unsigned passed = 0;
    for (const TestCase* test = first_case; test != nullptr; test = test->next) {
        if (argc > 1 && std::strcmp(argv[1], "--list") == 0) {
            print(test->suite);
            print(".");
            print(test->name);
            print("\n");
            continue;
        }
        if (argc > 1 && std::strncmp(argv[1], test->suite, std::strlen(argv[1])) != 0) {
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
    // No test at all is a broken build, not a success.
    return failures == 0 && (passed > 0 || argc > 1) ? 0 : 1;
}
