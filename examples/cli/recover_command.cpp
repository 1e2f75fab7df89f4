// h5mote recover: after a power cut, replays the transactions in a file's journal into the file.
#include "commands.hpp"
#include "output.hpp"
#include "report.hpp"

#include <h5mote/vfd/journal.hpp>
#include <h5mote/vfd/posix.hpp>

#include <CLI/CLI.hpp>

#include <memory>
#include <vector>

namespace h5mote::cli {

namespace {

struct RecoverArguments {
    std::string file;
    std::string journal;
    bool look = false;
    bool raw = false;
};

// The reason why a journal is not replayed, or nullptr if the journal is not the reason.
const char* reason(JournalState state) {
    switch (state) {
        case JournalState::other_file:
            return "belongs to another file, or the file was changed since; nothing is replayed";
        case JournalState::not_a_journal:
            return "is not a journal";
        case JournalState::damaged:
            return "is a journal whose beginning is damaged";
        case JournalState::newer:
            return "is a journal of a later version";
        default:
            return nullptr;
    }
}

int run_recover(const RecoverArguments& arguments) {
    Report report("h5mote recover");
    const bool named = !arguments.journal.empty();
    const std::string name = named ? arguments.journal : arguments.file + "-journal";
    const auto mode = arguments.look ? PosixDriver::Mode::read_only : PosixDriver::Mode::read_write;
    PosixDriver home;
    PosixDriver log;
    Status status = home.open(arguments.file.c_str(), mode);
    if (status != Status::ok) {
        report.error("%s: %s", arguments.file.c_str(), to_string(status));
        return report.exit_code();
    }
    status = log.open(name.c_str(), mode);
    if (status == Status::not_found && !named) {
        Output().print("%s: there is no journal %s\n", arguments.file.c_str(), name.c_str());
        return report.exit_code();
    }
    if (status != Status::ok) {
        report.error("%s: %s", name.c_str(), to_string(status));
        return report.exit_code();
    }
    JournalOptions options;
    options.read_only = arguments.look;
    options.home_has_end = !arguments.raw;
    // Enough memory for a log written with any number of lists.
    std::vector<std::uint64_t> memory((1U << 18) / sizeof(std::uint64_t) + 8192);
    JournalDriver journal(home, log, {reinterpret_cast<std::byte*>(memory.data()), memory.size() * sizeof memory[0]});
    status = journal.open(options);
    const JournalReport& found = journal.report();
    if (status != Status::ok) {
        const char* const why = reason(found.state);
        report.error("%s %s (%s)", name.c_str(), why != nullptr ? why : "cannot be replayed", to_string(status));
        return report.exit_code();
    }
    if (arguments.raw && !arguments.look) {
        status = home.truncate(found.file_size);
        status = status == Status::ok ? home.sync() : status;
        if (status != Status::ok) {
            report.error("%s: %s", arguments.file.c_str(), to_string(status));
            return report.exit_code();
        }
    }
    Output out;
    out.put(arguments.file);
    if (found.transactions == 0) {
        out.print(": nothing to replay, the file has all that was committed: %llu bytes",
                  static_cast<unsigned long long>(found.file_size));
    } else {
        out.print(": %u transaction%s, %u records, %u bytes of journal %s: %llu bytes",
                  static_cast<unsigned>(found.transactions), found.transactions == 1 ? "" : "s",
                  static_cast<unsigned>(found.records), static_cast<unsigned>(found.log_bytes),
                  arguments.look ? "to be replayed" : "replayed", static_cast<unsigned long long>(found.file_size));
    }
    out.put(found.unfinished ? "; one that was not finished left out\n" : "\n");
    return report.exit_code();
}

}  // namespace

Command add_recover(CLI::App& tool) {
    const auto arguments = std::make_shared<RecoverArguments>();
    CLI::App* const command = tool.add_subcommand(
        "recover", "Brings into a file what its journal holds, after a power cut or when it was not closed");
    command->footer(
        "A file that was written through a JournalDriver is complete only together with its journal. Afterwards the "
        "journal is empty, and any program can read the file. A journal of another file is refused.\n"
        "Exit code: 0 the file has all that was committed (with --look: or would have), 1 it could not be done; then "
        "nothing was changed, unless writing failed, and it can be tried again.");
    command->add_option("FILE", arguments->file, "The HDF5 file")->required();
    command->add_option("JOURNAL", arguments->journal, "Its journal; FILE-journal if not given");
    command->add_flag("-n,--look", arguments->look, "Only says what would be done");
    command->add_flag("--raw", arguments->raw,
                      "FILE and JOURNAL are copies of regions of a card without a file system: the journal tells how "
                      "long the file is, and FILE is cut there");
    return {command, [arguments] { return run_recover(*arguments); }};
}

}  // namespace h5mote::cli
