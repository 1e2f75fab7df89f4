// What libhdf5 says about the objects of a file beyond their contents (tree.hpp): creation orders, reference counts,
// creation properties, space in the file. Where both libraries made the same calls, all of it has to be the same.
#pragma once

#include "libhdf5.hpp"

#include <string>

namespace differential {

/// Which facts are compared: creation orders of links, those of attributes, the space that datasets have, reference
/// counts. The others always are.
struct ComparedFacts {
    bool links = true;
    bool attributes = true;
    bool space = true;
    bool counts = true;
};

/// Throws Difference if the objects of two files that were opened by libhdf5, found by the same paths, differ in any of
/// these facts.
void compare_facts(hid_t ours, hid_t theirs, ComparedFacts compared);

}  // namespace differential
