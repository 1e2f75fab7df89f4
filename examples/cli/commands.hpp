// The commands of the tool h5mote. Each command has its own source files (dump_*.cpp, ...) and uses the shared ones.
//
// The shared files are: session (memory, library, opening), report (messages, exit code), output (standard output),
// layout (lines and indices), type_text, value_text and numbers (datatypes and values as text), object_paths (names of
// objects by their addresses), address_set.
#pragma once

#include "session.hpp"

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace h5mote::cli {

/// A command: its part of the command line, and run(), which executes the command and returns the exit code.
struct Command {
    CLI::App* arguments;
    std::function<int()> run;
};

/// Adds --memory and --truncated.
void add_memory_options(CLI::App& arguments, CommonOptions& options);
/// Adds --memory, --truncated and -f, --filedriver.
void add_common_options(CLI::App& arguments, CommonOptions& options);

Command add_blueprint(CLI::App& tool);
Command add_check(CLI::App& tool);
Command add_dump(CLI::App& tool);
Command add_explain(CLI::App& tool);
Command add_extract(CLI::App& tool);     // if vfd/flash is built
Command add_flash_stat(CLI::App& tool);  // if vfd/flash is built
Command add_ls(CLI::App& tool);
Command add_recover(CLI::App& tool);  // if vfd/journal is built
Command add_repack(CLI::App& tool);   // if the build writes
Command add_stat(CLI::App& tool);

/// Some options of h5dump have an optional value: "-n 1", where the next word is the value unless it is an option or
/// the last word, or "--contents=1". Rewrites such options without "=" as "--option=value", with "none" for a missing
/// value, because CLI11 has no such rule.
std::vector<std::string> normalize_dump_arguments(const std::vector<std::string>& arguments);

/// Runs the tool with the words of a command line (without the program's name) and returns the exit code.
int run(const std::vector<std::string>& words);

}  // namespace h5mote::cli
