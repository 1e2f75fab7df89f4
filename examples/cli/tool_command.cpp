// The command line as a whole, and the options that all commands have.
#include "commands.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <iostream>
#include <new>

namespace h5mote::cli {

namespace {

// Exit code of any command if its output could not be written completely.
constexpr int kNoOutput = 3;

// Returns true, after reporting it, if the first word should be a command and is none.
bool unknown_command(const CLI::App& tool, const std::vector<std::string>& words) {
    if (words.empty() || words[0].empty() || words[0][0] == '-') {
        return false;
    }
    std::string names;
    for (const CLI::App* command : tool.get_subcommands({})) {
        if (command->get_name() == words[0]) {
            return false;
        }
        names += (names.empty() ? "" : ", ") + command->get_name();
    }
    std::fprintf(stderr, "h5mote error: there is no command '%s'; there are: %s\n", words[0].c_str(), names.c_str());
    return true;
}

int run_command(const Command& command) {
    try {
        return command.run();
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "h5mote error: the system has not as much memory\n");
        return 1;
    }
}

// Returns `code` if everything that was printed could be written to standard output, otherwise kNoOutput.
int with_output(int code) {
    std::cout.flush();
    if (std::cout.good() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0) {
        return code;
    }
    std::fprintf(stderr, "h5mote error: standard output cannot be written\n");
    return kNoOutput;
}

}  // namespace

void add_memory_options(CLI::App& arguments, CommonOptions& options) {
    arguments
        .add_option_function<std::string>(
            "--memory",
            [&options](const std::string& text) {
                if (!parse_size(text, options.memory) || options.memory == 0) {
                    throw CLI::ValidationError("--memory", "a size as 65536, 64K or 2M: " + text);
                }
            },
            "All the memory that is used for the file and what is made of it: bytes, or with K, M, G. Without it as "
            "much as the system gives")
        ->option_text("SIZE");
    arguments.add_flag("--truncated", options.allow_truncated,
                       "Reads a file that is shorter than it says as far as it goes");
}

void add_common_options(CLI::App& arguments, CommonOptions& options) {
    add_memory_options(arguments, options);
    arguments
        .add_option_function<std::string>(
            "-f,--filedriver",
            [&options](const std::string& name) {
                if (!parse_driver(name, options.kind)) {
                    throw CLI::ValidationError("--filedriver", "sec2, family, split or multi: " + name);
                }
            },
            "How the file is laid out: sec2 (one file), family (FILE is a pattern, fam%05d.h5), split (FILE stands for "
            "FILE-m.h5 and FILE-r.h5), multi (FILE-s.h5 and five more). Without it each is tried in turn")
        ->option_text("DRIVER");
}

int run(const std::vector<std::string>& words) {
    CLI::App tool("Looks into HDF5 files within a fixed amount of memory.", "h5mote");
    tool.require_subcommand(1);
    tool.footer("Exit code: what each command says; 3 when standard output cannot be written.");
    tool.set_version_flag("-V,--version", "h5mote: Version " H5MOTE_CLI_VERSION);
    std::vector<Command> commands;
    commands.push_back(add_dump(tool));
    commands.push_back(add_check(tool));
    commands.push_back(add_ls(tool));
    commands.push_back(add_stat(tool));
#if H5MOTE_CLI_WRITE
    commands.push_back(add_repack(tool));
#endif
#if H5MOTE_CLI_JOURNAL
    commands.push_back(add_recover(tool));
#endif
#if H5MOTE_CLI_FLASH
    commands.push_back(add_extract(tool));
    commands.push_back(add_flash_stat(tool));
#endif
    commands.push_back(add_blueprint(tool));
    commands.push_back(add_explain(tool));
    if (unknown_command(tool, words)) {
        return 1;
    }
    try {
        // CLI11 takes the words from the last to the first.
        std::vector<std::string> reversed(words.rbegin(), words.rend());
        tool.parse(reversed);
    } catch (const CLI::ParseError& error) {
        return with_output(tool.exit(error) == 0 ? 0 : 1);
    }
    for (const Command& command : commands) {
        if (command.arguments->parsed()) {
            return with_output(run_command(command));
        }
    }
    return 1;
}

}  // namespace h5mote::cli
