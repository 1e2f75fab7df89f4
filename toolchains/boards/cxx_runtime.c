/*
 * What code refers to that is compiled with exceptions and run-time type information, for images that are linked
 * without the C++ runtime library. Nothing here runs: a program that throws or asks for a type does not link, since
 * __cxa_throw and __dynamic_cast are missing. Sections that nothing refers to are left out of the image.
 */
#include <stddef.h>

void _exit(int code);

/* Clean-up while the stack is unwound, and the routine that finds it: there is no unwinding. */
void __cxa_end_cleanup(void) { _exit(134); }
int __gxx_personality_v0(void) { return 9; /* _URC_FAILURE */ }

/* Type information begins with a pointer to the third entry of one of these tables. */
void* _ZTVN10__cxxabiv117__class_type_infoE[8];     /* a class without bases */
void* _ZTVN10__cxxabiv120__si_class_type_infoE[8];  /* with one */
void* _ZTVN10__cxxabiv121__vmi_class_type_infoE[8]; /* with several */
