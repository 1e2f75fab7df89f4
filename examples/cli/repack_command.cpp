// h5mote repack: copies a whole file through the library into a new one.
#include "commands.hpp"
#include "report.hpp"

#include <h5mote/copy.hpp>
#include <h5mote/vfd/posix.hpp>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>

namespace h5mote::cli {
namespace {

struct RepackArguments {
    CommonOptions common;
    std::string in;
    std::string out;
};

// Bytes of chunk cache for a file that is written: any filtered chunk that a host can hold.
constexpr std::size_t kChunkCache = std::size_t{1} << 30;

Status copy_to(Session& session, const std::string& path) {
    PosixDriver storage;
    Status status = storage.open(path.c_str(), PosixDriver::Mode::truncate);
    if (status != Status::ok) {
        return status;
    }
    FileAccess access;
    access.metadata_cache = 65536;
    access.chunk_cache = kChunkCache;
    Result<File> copy = File::create(session.library(), storage, access);
    status = copy.status();
    if (status == Status::ok) {
        CopyOptions options;
        options.buffer = session.piece_budget();
        status = copy_file(session.file(), *copy, options);
    }
    const Status closed = copy->close();
    return status == Status::ok ? closed : status;
}

int run_repack(const RepackArguments& arguments) {
    Report report("h5mote repack");
    Session session(arguments.common);
    Status status = session.open(arguments.in.c_str());
    if (status != Status::ok) {
        report.error("%s: %s", arguments.in.c_str(), to_string(status));
        return report.exit_code();
    }
    // The new file gets its name when it is complete, so that a file that was there stays until then.
    const std::string part = arguments.out + ".part";
    status = copy_to(session, part);
    if (status == Status::ok && std::rename(part.c_str(), arguments.out.c_str()) != 0) {
        status = Status::io_error;
    }
    if (status != Status::ok) {
        (void)std::remove(part.c_str());
        report.failure(session.context(), status, arguments.in.c_str());
    }
    session.close();
    return report.exit_code();
}

}  // namespace

Command add_repack(CLI::App& tool) {
    const auto arguments = std::make_shared<RepackArguments>();
    CLI::App* const command =
        tool.add_subcommand("repack", "Copies everything that a file has into a new file, without unused space");
    command->footer(
        "Groups, links of every kind, attributes, committed datatypes and datasets are copied with their properties, "
        "filtered chunks as they are stored; references lead to the copies.\n"
        "Exit code: 0 the copy is complete, 1 it is not, and OUT is as it was.");
    command->add_option("IN", arguments->in, "The HDF5 file")->required();
    command->add_option("OUT", arguments->out, "The new file; replaced if it is there")->required();
    add_common_options(*command, arguments->common);
    return {command, [arguments] { return run_repack(*arguments); }};
}

}  // namespace h5mote::cli
