// Checks of the start-up code and runner, chosen by the first argument; and loops of known length for counting
// instructions.
#include <h5mote/port/semihosting.hpp>
#include <h5mote/port/stack.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

extern "C" {
// toolchains/count-insns counts the instructions that are executed between calls of these functions.
__attribute__((naked, noinline)) void h5mote_count_begin() { __asm__ volatile("bx lr"); }
__attribute__((naked, noinline)) void h5mote_count_end() { __asm__ volatile("bx lr"); }
__attribute__((naked, noinline)) void h5mote_count_pause() { __asm__ volatile("bx lr"); }
__attribute__((naked, noinline)) void h5mote_count_resume() { __asm__ volatile("bx lr"); }
}

namespace {

using h5mote::semihosting::print;

alignas(8) std::uint32_t words[2];
volatile std::uint32_t sink;
std::uint32_t constructed = 1;
volatile float fraction = 1.5F;

// The constructor must run at start, and must find .data initialised.
struct Static {
    Static() { constructed += 41; }
} instance;

// Executes 2 * rounds + 1 instructions.
void loop(std::uint32_t rounds) {
    __asm__ volatile(
        ".syntax unified\n"
        "nop\n"
        "1: subs %0, #1\n"
        "bne 1b\n"
        : "+l"(rounds)
        :
        : "cc");
}

__attribute__((noinline)) unsigned deep(unsigned calls) {
    volatile unsigned char frame[64];
    frame[0] = static_cast<unsigned char>(calls);
    return calls == 0 ? 0 : deep(calls - 1) + frame[0];
}

// Whether the stack measurement sees 20 nested calls of at least 64 bytes each, at no more than 200 bytes each.
bool measures_stack() {
    h5mote::paint_stack();
    const void* const here = h5mote::stack_pointer();
    const std::size_t before = h5mote::painted_stack_used(here);
    sink = deep(20);
    const std::size_t after = h5mote::painted_stack_used(here);
    return before < 200 && after >= 20 * 64 && after < 20 * 200 && h5mote::painted_stack_used() >= after &&
           h5mote::painted_stack_used() < h5mote::stack_size();
}

// Whether newlib's file calls reach a file of the host: create, write, seek, read, extend, reopen, remove.
bool uses_files(const char* path) {
    char text[8] = {};
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
    bool good = file >= 3 && write(file, "abcdef", 6) == 6 && lseek(file, -4, SEEK_CUR) == 2 &&
                read(file, text, 2) == 2 && std::strcmp(text, "cd") == 0 && ftruncate(file, 200) == 0 &&
                lseek(file, 0, SEEK_CUR) == 4 && lseek(file, 0, SEEK_END) == 200 && ftruncate(file, 100) == 0 &&
                lseek(file, 0, SEEK_CUR) == 200 && lseek(file, 0, SEEK_END) == 100 && close(file) == 0;
    file = open(path, O_RDWR | O_CREAT, 0644);
    good = good && read(file, text, 6) == 6 && std::strcmp(text, "abcdef") == 0 && close(file) == 0;
    good = good && open(path, O_RDWR | O_CREAT | O_EXCL, 0644) < 0;
    return good && unlink(path) == 0 && open(path, O_RDONLY) < 0 && write(1, "console\n", 8) == 8;
}

}  // namespace

int main(int argc, char** argv) {
    const char* const what = argc > 1 ? argv[1] : "";
    const auto is = [what](const char* name) { return std::strcmp(what, name) == 0; };
    if (is("exit")) {
        return argc == 4 ? std::atoi(argv[3]) : 99;
    }
    if (is("start")) {
        fraction = fraction * 2;
        return constructed == 42 && words[0] == 0 && fraction == 3.0F ? 0 : 1;
    }
    if (is("stack")) {
        return measures_stack() ? 0 : 1;
    }
    if (is("unaligned")) {
        const volatile std::uint32_t* volatile at =
            reinterpret_cast<const volatile std::uint32_t*>(reinterpret_cast<std::uintptr_t>(words) + 1);
        sink = *at;
        return 0;
    }
    if (is("overflow")) {
        // Writes down to the end of the stack without moving the stack pointer, as one call with a large frame would.
        volatile unsigned char* at = static_cast<volatile unsigned char*>(const_cast<void*>(h5mote::stack_pointer()));
        for (std::size_t i = 0; i < h5mote::stack_size(); ++i) {
            at[-static_cast<std::ptrdiff_t>(i)] = 0;
        }
        return 0;
    }
    if (is("jump")) {
        reinterpret_cast<void (*)()>(0x01000000U)();
        return 0;
    }
    if (is("files")) {
        return uses_files(argc > 2 ? argv[2] : "") ? 0 : 1;
    }
    if (is("heap")) {
        return std::malloc(1) == nullptr ? 0 : 1;
    }
    if (is("count")) {
        h5mote_count_begin();
        loop(1000);
        h5mote_count_end();
        loop(77);
        h5mote_count_begin();
        h5mote_count_pause();
        loop(500);
        h5mote_count_resume();
        h5mote_count_end();
        return 0;
    }
    print("usage: board_check exit X CODE | start | stack | unaligned | overflow | jump | files PATH | heap | count\n");
    return 2;
}
