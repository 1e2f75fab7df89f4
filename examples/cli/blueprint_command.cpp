// h5mote blueprint: the command line.
#include "blueprint.hpp"
#include "commands.hpp"
#include "cpp_types.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace h5mote::cli {

namespace {

int run_blueprint(const BlueprintOptions& options) {
    Report report("h5mote blueprint");
    Session session(CommonOptions{});
    BlueprintModel model;
    Status status = session.open(options.file.c_str());
    if (status == Status::ok) {
        status = collect_blueprint(session, options, report, model);
    }
    if (status != Status::ok) {
        report.failure(session.context(), status, options.file.c_str());
        return 2;
    }
    print_blueprint(model, options, report);
    return report.exit_code();
}

}  // namespace

Command add_blueprint(CLI::App& tool) {
    const auto options = std::make_shared<BlueprintOptions>();
    CLI::App* const command = tool.add_subcommand(
        "blueprint", "Prints the C++ text of a blueprint for the recorder, from a file as it shall be");
    command->footer(
        "Rows of the file are not looked at. What a blueprint cannot have is left out: a comment, and a line on the\n"
        "standard error, say what and why.\n"
        "Exit code: 0 the blueprint has everything, 1 something is left out or different, 2 the file cannot be read.");
    command->add_option("FILE", options->file, "The file, made with h5py for instance")->required();
    command
        ->add_option("--setting", options->settings,
                     "An attribute whose value the program sets while it runs: /GROUP/DATASET@NAME, @NAME of the root "
                     "group. May be given several times")
        ->option_text("PATH@NAME")
        ->expected(1)
        ->take_all();
    command->add_option("--namespace", options->name_space, "The namespace of the text; without it the file's name")
        ->option_text("NAME")
        ->check([](const std::string& name) { return is_identifier(name) ? "" : name + " is no name in C++"; });
    command->add_flag("--fixed-text", options->fixed_text,
                      "Attributes that are texts of variable length, as h5py makes them, become texts of fixed length");
    return {command, [options] { return run_blueprint(*options); }};
}

}  // namespace h5mote::cli
