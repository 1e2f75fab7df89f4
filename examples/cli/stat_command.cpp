// h5mote stat: the command line.
#include "commands.hpp"
#include "stat.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace h5mote::cli {

namespace {

// Limit of the thresholds, because a table of counters has an entry for each number below them.
constexpr unsigned kMostThreshold = 1U << 20;

void add_threshold(CLI::App& command, const char* names, unsigned& value, const char* help) {
    command.add_option(names, value, help)->option_text("N")->check(CLI::Range(1U, kMostThreshold));
}

void add_arguments(CLI::App& command, StatOptions& options) {
    command.add_option("FILE", options.name, "The file")->required();
    add_memory_options(command, options.common);
    command
        .add_option_function<std::string>(
            "--filedriver",
            [&options](const std::string& name) {
                if (!parse_driver(name, options.common.kind)) {
                    throw CLI::ValidationError("--filedriver", "sec2, family, split or multi: " + name);
                }
            },
            "How the file is laid out: sec2 (one file), family, split or multi. Without it each is tried in turn")
        ->option_text("DRIVER");
    command.add_flag("-f,--file", options.file, "How many objects of each kind");
    command.add_flag("-F,--filemetadata", options.file_metadata, "Space that metadata takes, by what it is");
    command.add_flag("-g,--group", options.groups, "How many links groups have");
    command.add_flag("-G,--groupmetadata", options.group_metadata, "Space of the metadata of groups");
    command.add_flag("-d,--dset", options.datasets, "Shapes, layouts and filters of datasets");
    command.add_flag("-D,--dsetmetadata", options.dataset_metadata, "Space of the metadata of datasets");
    command.add_flag("-T,--dtypemetadata", options.types, "Datatypes of datasets");
    command.add_flag("-A,--attribute", options.attributes, "How many attributes objects have");
    command.add_flag("-s,--freespace", options.free_space, "Free space that the file knows of");
    command.add_flag("-S,--summary", options.summary, "What the space of the file is used for");
    add_threshold(command, "-l,--links", options.small_links, "Groups with fewer links are counted one by one; 10");
    add_threshold(command, "-m,--dims", options.small_dims, "Datasets with fewer elements are counted one by one; 10");
    add_threshold(command, "-a,--numattrs", options.small_attributes,
                  "Objects with up to so many attributes are counted one by one; 10");
    command.add_flag("--enable-error-stack", "Accepted; the library's error trail is always shown");
    for (const char* const name : {"--s3-cred", "--hdfs-attrs"}) {
        command
            .add_option_function<std::string>(
                name, [name](const std::string&) { throw CLI::ValidationError(name, "is not supported"); })
            ->group("");
    }
}

int run_stat(const StatOptions& options) {
    Report report("h5mote stat");
    Session session(options.common);
    Output out;
    out.put("Filename: ");
    out.put(options.name);
    out.put("\n");
    Status status = session.open(options.name.c_str());
    if (status != Status::ok) {
        report.failure(session.context(), status, ("unable to open file \"" + options.name + "\"").c_str());
        return report.exit_code();
    }
    FileStatistics statistics(session.context());
    status = collect_statistics(session.file(), options, statistics);
    if (status != Status::ok) {
        report.failure(session.context(), status, "unable to traverse objects/links");
        return report.exit_code();
    }
    print_statistics(out, options, statistics);
    return report.exit_code();
}

}  // namespace

Command add_stat(CLI::App& tool) {
    const auto options = std::make_shared<StatOptions>();
    CLI::App* const command = tool.add_subcommand("stat", "Prints counts and sizes of a file as h5stat does");
    add_arguments(*command, *options);
    return {command, [options] { return run_stat(*options); }};
}

}  // namespace h5mote::cli
