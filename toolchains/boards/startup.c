/*
 * Start-up of a Cortex-M image under an emulator or a debugger with semihosting: vector table, memory, FPU, stack
 * paint, static constructors, main(argc, argv), exit code.
 *
 * Nothing here needs a heap. Semihosting is asked for the command line once and for the exit.
 */
#include <stddef.h>
#include <stdint.h>

extern uint32_t __data_start[], __data_end[], __data_load[], __bss_start[], __bss_end[];
extern uint32_t __stack_limit[], __stack_top[];
extern char __argument_start[], __argument_size[], __heap_start[], __heap_end[];
extern void (*__preinit_array_start[])(void), (*__preinit_array_end[])(void);
extern void (*__init_array_start[])(void), (*__init_array_end[])(void);

int main(int argc, char** argv);

/* In the image only when something else of newlib's stdio is. */
__attribute__((weak)) int fflush(void*);

/* A board's own way to end after success; returns if there is none. */
__attribute__((weak)) void h5mote_power_off(void);

enum { SYS_WRITE0 = 0x04, SYS_GET_CMDLINE = 0x15, SYS_EXIT_EXTENDED = 0x20 };
enum { APPLICATION_EXIT = 0x20026 };
#define PAINT 0xa5a5a5a5u

static uintptr_t semihosting(uintptr_t operation, const void* parameters) {
    register uintptr_t r0 __asm__("r0") = operation;
    register const void* r1 __asm__("r1") = parameters;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

__attribute__((noreturn)) void _exit(int code) {
    if (code == 0 && h5mote_power_off) {
        h5mote_power_off();
    }
    const uintptr_t parameters[2] = {APPLICATION_EXIT, (uintptr_t)code};
    for (;;) {
        semihosting(SYS_EXIT_EXTENDED, parameters);
    }
}

/* ---- what compilers and newlib expect of a platform ---- */

/* The heap is what the board asked for, by default nothing: malloc then fails. */
void* _sbrk(ptrdiff_t increment) {
    static char* top = __heap_start;
    char* const old = top;
    if (increment > __heap_end - top || increment < __heap_start - top) {
        return (void*)-1;
    }
    top += increment;
    return old;
}

/* Statics are never destroyed: an image ends by power or by _exit(). */
void* __dso_handle = NULL;
int __aeabi_atexit(void* object, void (*destructor)(void*), void* handle) {
    (void)object, (void)destructor, (void)handle;
    return 0;
}
int __cxa_atexit(void (*destructor)(void*), void* object, void* handle) {
    (void)object, (void)destructor, (void)handle;
    return 0;
}

/* Nothing unwinds; without these the linker fetches libgcc's unwinder, and with it abort and malloc. */
void __aeabi_unwind_cpp_pr0(void) {}
void __aeabi_unwind_cpp_pr1(void) {}

__attribute__((noreturn)) void __cxa_pure_virtual(void) {
    semihosting(SYS_WRITE0, "pure virtual function called\n");
    _exit(134);
}

/* ---- faults ---- */

static void put_hex(const char* label, uint32_t value) {
    char text[12];
    text[10] = '\0';
    for (int i = 9; i >= 2; --i, value >>= 4) {
        text[i] = "0123456789abcdef"[value & 15];
    }
    text[0] = '0';
    text[1] = 'x';
    semihosting(SYS_WRITE0, label);
    semihosting(SYS_WRITE0, text);
}

/* Says where and ends with 139, as a shell says of a program killed by a segmentation fault. */
__attribute__((noreturn, used)) static void report_fault(const uint32_t* frame) {
    /* What the exception saved: r0-r3 r12 lr pc xpsr. A stack that has left RAM cannot be read. */
    if (frame >= __data_start && frame + 8 <= (uint32_t*)(__argument_start + (size_t)__argument_size)) {
        put_hex("fault: pc ", frame[6]);
        put_hex(" lr ", frame[5]);
    } else {
        put_hex("fault: stack ", (uint32_t)(uintptr_t)frame);
    }
    semihosting(SYS_WRITE0, frame < __stack_limit ? " (stack overflow)\n" : "\n");
    _exit(139);
}

__attribute__((naked, noreturn)) static void fault(void) {
    /* The handler runs on fresh stack: the program's may be exhausted. */
    __asm__ volatile(
        "mov r0, sp\n"
        "ldr r1, =__stack_top\n"
        "mov sp, r1\n"
        "ldr r1, =report_fault\n"
        "bx r1\n");
}

/* ---- reset ---- */

/* Splits the host's command line at blanks; argv and text share the memory that the linker script set aside. */
static int get_arguments(char*** result) {
    enum { MAX_ARGUMENTS = 24 };
    const size_t size = (size_t)__argument_size;
    char** argv = (char**)(void*)__argument_start;
    size_t most = size / 16;
    if (most > MAX_ARGUMENTS) {
        most = MAX_ARGUMENTS;
    }
    char* text = __argument_start + most * sizeof(char*);
    *result = argv;
    if (most < 2) {
        return 0;
    }
    text[0] = '\0';
    const uintptr_t parameters[2] = {(uintptr_t)text, size - most * sizeof(char*)};
    if (semihosting(SYS_GET_CMDLINE, parameters) != 0) {
        semihosting(SYS_WRITE0, "command line too long for this image (ARGUMENTS of h5mote_board_executable)\n");
        _exit(126);
    }
    int argc = 0;
    for (char* at = text; *at != '\0';) {
        if (*at == ' ') {
            *at++ = '\0';
            continue;
        }
        if ((size_t)argc + 1 == most) {
            semihosting(SYS_WRITE0, "too many arguments for this image (ARGUMENTS of h5mote_board_executable)\n");
            _exit(126);
        }
        argv[argc++] = at;
        while (*at != ' ' && *at != '\0') {
            ++at;
        }
    }
    argv[argc] = NULL;
    return argc;
}

__attribute__((noreturn, used)) static void start(void) {
    const uint32_t* from = __data_load;
    for (uint32_t* to = __data_start; to < __data_end;) {
        *to++ = *from++;
    }
    for (uint32_t* to = __bss_start; to < __bss_end;) {
        *to++ = 0;
    }
#if defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__) || defined(__ARM_ARCH_8M_MAIN__)
    volatile uint32_t* const ccr = (volatile uint32_t*)0xe000ed14;
    *ccr |= 1u << 4; /* DIV_0_TRP */
#ifndef __ARM_FEATURE_UNALIGNED
    *ccr |= 1u << 3; /* UNALIGN_TRP: code made without unaligned accesses must not contain any */
#endif
#endif
    for (void (**function)(void) = __preinit_array_start; function < __preinit_array_end; ++function) {
        (*function)();
    }
    for (void (**function)(void) = __init_array_start; function < __init_array_end; ++function) {
        (*function)();
    }
    char** argv;
    const int argc = get_arguments(&argv);
    const int code = main(argc, argv);
    if (fflush) {
        fflush(NULL);
    }
    if (__stack_limit[0] != PAINT || __stack_limit[1] != PAINT) {
        semihosting(SYS_WRITE0, "stack overflow\n");
        _exit(139);
    }
    _exit(code);
}

/* Paints the whole stack before anything stands on it, so that the deepest use can be read off afterwards
 * (h5mote/port/stack.hpp). The FPU is enabled first: the compiler may use its registers anywhere. */
__attribute__((naked, noreturn)) void h5mote_reset(void) {
    __asm__ volatile(
#ifdef __ARM_FP
        "ldr r0, =0xe000ed88\n" /* CPACR: full access to coprocessors 10 and 11 */
        "ldr r1, [r0]\n"
        "ldr r2, =0x00f00000\n"
        "orr r1, r2\n"
        "str r1, [r0]\n"
        "dsb\n"
        "isb\n"
#endif
        "ldr r0, =__stack_limit\n"
        "ldr r1, =__stack_top\n"
        "mov sp, r1\n"
        "ldr r2, =0xa5a5a5a5\n"
        "b 2f\n"
        "1: str r2, [r0]\n"
        ".syntax unified\n"
        "adds r0, #4\n"
        "2: cmp r0, r1\n"
        "blo 1b\n"
        "ldr r0, =start\n"
        "bx r0\n");
}

__attribute__((section(".vectors"), used)) static const void* const vectors[16] = {
    __stack_top, h5mote_reset, fault, fault, fault, fault, fault, fault,
    fault,       fault,        fault, fault, fault, fault, fault, fault,
};
