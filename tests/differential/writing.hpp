// The case "writing": random calls are applied to h5mote and to libhdf5, each on a file of its own, and to a model.
//
// A run is a list of steps. What a step does follows from its seed and from the state of the model when its turn comes.
// So a list from which steps were taken out is still a run; that is how a failing run is shrunk.
#pragma once

#include "random.hpp"

#include <cstdio>

namespace differential {

enum class StepKind : std::uint8_t {
    create_group,
    create_dataset,
    append,
    write,
    read,
    set_extent,
    attribute,
    remove_attribute,
    rename_attribute,
    move_link,
    copy_link,
    soft_link,
    other_link,  ///< external or user-defined
    hard_link,
    unlink,
    copy_object,
    comment,
    commit_datatype,
    external,         ///< make a dataset whose elements stand in other files
    virtual_dataset,  ///< make one of elements of others
    write_through,    ///< write to such a dataset
    references,       ///< make a dataset of references to objects, or write others to one
    variable_length,  ///< make a dataset of variable-length values, or write other values to one
    flush,
    close_dataset,
    reclaim,  ///< find space that is lost, which h5mote then uses for what follows
    reopen,   ///< close both files, compare both with the model, open again, perhaps each other's
};

struct Step {
    StepKind kind;
    std::uint64_t seed;
};

struct WritingOptions {
    std::string storage;       ///< name of the storage; empty: chosen by the seed
    std::FILE* log = nullptr;  ///< where each call is printed, or nullptr
};

/// The numbers of calls in a run.
struct WritingCounts {
    std::uint64_t operations = 0;  ///< calls that both libraries carried out
    std::uint64_t refused = 0;     ///< calls that h5mote does not support
};

std::vector<Step> random_steps(std::uint64_t seed);
/// Throws Difference.
WritingCounts run_writing(std::uint64_t seed, const std::vector<Step>& steps, const WritingOptions& options);

/// The same with two files that are open at the same time in one library, each with a model. Objects are copied from
/// one to the other.
std::vector<Step> random_steps_for_two_files(std::uint64_t seed);
WritingCounts run_two_files(std::uint64_t seed, const std::vector<Step>& steps, const WritingOptions& options);

}  // namespace differential
