// What libhdf5 says about the objects of a file beyond their contents (tree.hpp): creation orders, reference counts,
// creation properties, space in the file. Where both libraries made the same calls, all of it has to be the same.
#pragma once

#include "libhdf5.hpp"

#include <string>

namespace differential {

/// Throws Difference if the objects of two files that were opened by libhdf5, found by the same paths, differ in any of
/// these facts. `numbers`: creation orders are compared as well; they may differ after calls that were refused.
void compare_facts(hid_t ours, hid_t theirs, bool numbers);

}  // namespace differential
