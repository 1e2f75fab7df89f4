// h5mote ls: the command line.
#include "commands.hpp"
#include "ls.hpp"

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <memory>

namespace h5mote::cli {

namespace {

void add_refused(CLI::App& command, const char* names, bool takes_value) {
    const auto refuse = [names] { throw CLI::ValidationError(names, "is not supported"); };
    CLI::Option* const option =
        takes_value ? command.add_option_function<std::string>(names, [refuse](const std::string&) { refuse(); })
                    : command.add_flag_callback(names, refuse);
    option->group("");
}

void add_arguments(CLI::App& command, LsOptions& options) {
    command
        .add_option("FILE", options.files,
                    "FILE or FILE/OBJECT: a file and what is to be listed of it; a group "
                    "with what is in it")
        ->required();
    add_memory_options(command, options.common);
    command
        .add_option_function<std::string>(
            "--vfd",
            [&options](const std::string& name) {
                if (!parse_driver(name, options.common.kind)) {
                    throw CLI::ValidationError("--vfd", "sec2, family, split or multi: " + name);
                }
            },
            "How the file is laid out: sec2 (one file), family, split or multi. Without it each is tried in turn")
        ->option_text("DRIVER");
    command.add_flag(
        "-r", [&options](std::int64_t) { options.recursive = options.full_names = true; },
        "Lists all groups below, each once, with full names");
    command.add_flag(
        "--recursive", [&options](std::int64_t) { options.recursive = options.full_names = true; }, "The same");
    command.add_flag("-v,--verbose", options.verbose, "Attributes, place, storage, filters and type of each object");
    command.add_flag("-a,--address", options.address, "Where the raw data of each dataset stands (with -v)");
    command.add_flag("-f,--full", options.full_names, "Full names instead of base names");
    command.add_flag("-g,--group", options.group_itself, "A group itself instead of what is in it");
    command.add_flag("-S,--simple", options.simple, "Types without the names of C; times in UTC");
    command.add_flag("-e,--errors,--enable-error-stack", "Accepted; the library's error trail is always shown");
    for (const char* const names : {"-d,--data", "-l,--label", "-s,--string", "-x,--hexdump", "-E,--external",
                                    "--follow-symlinks", "--no-dangling-links"}) {
        add_refused(command, names, false);
    }
    for (const char* const names : {"-w,--width", "--s3-cred", "--hdfs-attrs"}) {
        add_refused(command, names, true);
    }
}

int run_ls(LsOptions& options) {
    Report report("h5mote ls");
    if (options.recursive && options.group_itself) {
        report.error("--recursive and --group do not go together");
        return 1;
    }
    Session session(options.common);
    Lister lister(session, options, report);
    for (const std::string& file : options.files) {
        if (!lister.list(file)) {
            break;
        }
    }
    return report.exit_code();
}

}  // namespace

Command add_ls(CLI::App& tool) {
    const auto options = std::make_shared<LsOptions>();
    CLI::App* const command = tool.add_subcommand("ls", "Lists the objects of files as h5ls does");
    add_arguments(*command, *options);
    return {command, [options] { return run_ls(*options); }};
}

}  // namespace h5mote::cli
