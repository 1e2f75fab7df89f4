#include <h5mote/port/semihosting.hpp>

extern "C" [[noreturn]] void _exit(int code);  // NOLINT(bugprone-reserved-identifier)

namespace h5mote {
namespace semihosting {

void print(const char* text) noexcept {
    register std::uintptr_t r0 __asm__("r0") = 0x04;  // SYS_WRITE0
    register const char* r1 __asm__("r1") = text;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

void print(std::uint64_t number) noexcept {
    char text[21];
    char* at = text + sizeof text - 1;
    *at = '\0';
    do {
        *--at = static_cast<char>('0' + number % 10);
        number /= 10;
    } while (number != 0);
    print(at);
}

void exit(int code) noexcept { _exit(code); }

}  // namespace semihosting
}  // namespace h5mote
