// A random workload: a list of steps. Everything about a step follows from a seed of its own, so that other steps can
// be left out when a failure is reduced.
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
    shrink,
    make_dataset,
    make_group,
    set_attribute,
    replace_attribute,  ///< in one call, or removed and made again, of another size
    remove_attribute,
    rename_attribute,
    move_link,  ///< a link gets another name, perhaps in another group
    soft_link,
    hard_link,
    copy,  ///< an object and all below it, as H5Ocopy
    unlink,
    remake,  ///< unlinked, and something else made under the same name
    leave,   ///< the handles of all open datasets are closed
    flush,
    reopen,
    kill,
};

struct Step {
    Action action;
    std::uint64_t seed;
};

/// What all workloads of a trial have in common: the first one, and those that go on after a cut.
struct Setting {
    /// Whether there are committed datatypes, virtual datasets and a user block, too. Not with all seeds: then the
    /// workloads of earlier faults stay what they were.
    bool wide = false;
    /// Whether some steps find no memory for a while. Not with all seeds, either.
    bool refuses_memory = false;
    /// Whether a call of the driver fails in some steps. Not with all seeds, either.
    bool fails = false;
    /// Whether strings of variable length are written over others where a cut may leave any part of a write, too. Not
    /// with all seeds, either.
    bool overwrites_texts = false;
    /// FileCreate::user_block. What goes on after a cut has the same, for that is where it looks for the superblock.
    std::uint64_t user_block = 0;
};

struct Plan {
    std::uint64_t seed = 0;  ///< chooses the cache sizes of the first opening, and how the file is created
    Setting setting;
    std::vector<Step> steps;
};

/// `count`: about how many steps.
Plan draw_plan(Random& random, std::size_t count);
/// Draws cache sizes, from the smallest that are allowed; with `everything` also the versions of what is made.
h5mote::FileAccess draw_access(Random& random, bool everything);
const char* name_of(Action action);

}  // namespace h5mote_test
