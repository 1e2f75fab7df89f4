// A random workload: a list of steps, each with a seed of its own from which everything about it follows, so that steps
// can be left out when a failure is reduced.
#pragma once

#include "../random.hpp"

#include <h5mote/file_access.hpp>

#include <string>
#include <vector>

namespace h5mote_test {

enum class Action : std::uint8_t {
    append,
    write,
    grow,
    make_dataset,
    make_group,
    set_attribute,
    replace_attribute,  ///< removed and made again, of another size
    remove_attribute,
    soft_link,
    hard_link,
    unlink,
    remake,  ///< unlinked, and something else made under the same name
    leave,   ///< handles are closed
    flush,
    reopen,
    kill,
};

struct Step {
    Action action;
    std::uint64_t seed;
};

struct Plan {
    std::uint64_t seed = 0;  ///< of the caches at the first opening, and how the file is made
    std::vector<Step> steps;
};

/// `count`: about how many steps.
Plan draw_plan(Random& random, std::size_t count);
/// Caches, from the smallest that are allowed.
h5mote::FileAccess draw_access(Random& random);
const char* name_of(Action action);

}  // namespace h5mote_test
