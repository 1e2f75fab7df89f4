// Tells memory checkers which bytes nobody may touch: those of an arena that are free, and idle blocks on free lists.
//
// AddressSanitizer and valgrind know malloc; an arena is one large block to them, inside which they see nothing. So the
// arena says of every byte whether it is in use. Without such a tool all of this is empty. Each of the three headers
// that are included below has:
//  - forbid(memory, size): nobody may read or write [memory, memory + size) from now on.
//  - allow(memory, size): [memory, memory + size) is in use from now on; its contents are undefined. The bytes behind
//  it
//    that round the block up to a multiple of 8 stay forbidden.
//  - Walk: an object that exists while code walks lists inside free blocks, which are forbidden to all other code.
//  - H5MOTE_READS_POISONED: stands before the definition of a function with such code.
#pragma once

#include <h5mote/config.hpp>

#if !H5MOTE_POISON
#include "poison_none.hpp"
#elif H5MOTE_VALGRIND
#include "poison_valgrind.hpp"
#else
#include "poison_address_sanitizer.hpp"
#endif
