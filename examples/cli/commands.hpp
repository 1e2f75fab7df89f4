// The commands of the tool. Each is its own set of files (dump_*.cpp, ...) over the shared ones.
//
// Shared are: session (memory, library, opening), report (messages, exit code), output (standard output), layout (lines
// and indices), type_text, value_text and numbers (datatypes and values as text), object_paths (names of objects by
// their addresses), address_set.
#pragma once

#include "session.hpp"

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace h5mote::cli {

/// A command: its part of the command line, and what runs when it was given. run() returns the exit code.
struct Command {
    CLI::App* arguments;
    std::function<int()> run;
};

/// Adds --memory and --truncated.
void add_memory_options(CLI::App& arguments, CommonOptions& options);
/// The same and -f, --filedriver.
void add_common_options(CLI::App& arguments, CommonOptions& options);

Command add_check(CLI::App& tool);
Command add_dump(CLI::App& tool);
Command add_explain(CLI::App& tool);
Command add_extract(CLI::App& tool);     // if vfd/flash is built
Command add_flash_stat(CLI::App& tool);  // if vfd/flash is built
Command add_ls(CLI::App& tool);
Command add_recover(CLI::App& tool);  // if vfd/journal is built
Command add_stat(CLI::App& tool);

/// h5dump takes the value of some options only if more follows on the command line. Makes it "--option=value".
std::vector<std::string> normalize_dump_arguments(const std::vector<std::string>& arguments);

/// The tool: does what the words of its command line ask for, and returns the exit code.
int run(const std::vector<std::string>& words);

}  // namespace h5mote::cli
