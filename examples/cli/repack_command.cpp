// h5mote repack: copies a whole file through the library into a new one.
#include "commands.hpp"
#include "report.hpp"

#include <h5mote/copy.hpp>
#include <h5mote/vfd/multi.hpp>
#include <h5mote/vfd/posix_files.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace h5mote::cli {
namespace {

struct RepackArguments {
    CommonOptions common;
    std::string in;
    std::string out;
    FormatVersion low = FormatVersion::standard;
    FormatVersion high = FormatVersion::latest;
    std::uint64_t member = 0;  // bytes of each member of a family; 0: no family
    bool split = false;        // metadata and raw data apart
    bool multi = false;        // each usage apart
};

const std::map<std::string, FormatVersion> kVersions{
    {"earliest", FormatVersion::earliest}, {"v18", FormatVersion::v18},   {"v110", FormatVersion::v110},
    {"v112", FormatVersion::v112},         {"v114", FormatVersion::v114}, {"v200", FormatVersion::v200},
    {"latest", FormatVersion::latest}};

// Bytes of chunk cache for a file that is written: any filtered chunk that a host can hold.
constexpr std::size_t kChunkCache = std::size_t{1} << 30;

/// The storage of the new file while it is written. Until it is complete nobody uses it, whatever a power cut leaves of
/// it, so that nothing need be in order on the storage before the end. That is said by `sync_is_commit`, which a file
/// in parts cannot have: there the order in which the library writes costs nothing, because nothing is synced.
class UnfinishedFile final : public Driver {
public:
    explicit UnfinishedFile(Driver& storage) noexcept : storage_(storage) { forward_superblock_info(storage); }

    Capabilities capabilities() const noexcept override {
        Capabilities promised = storage_.capabilities();
        promised.sync_is_commit = storage_.usage_ranges() == nullptr;
        return promised;
    }
    Status read(Usage usage, std::uint64_t address, Bytes to) noexcept override {
        return storage_.read(usage, address, to);
    }
    Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept override {
        return storage_.write(usage, address, from);
    }
    Status sync() noexcept override { return Status::ok; }
    Status end_of_file(std::uint64_t& size) noexcept override { return storage_.end_of_file(size); }
    Status truncate(std::uint64_t size) noexcept override { return storage_.truncate(size); }
    std::int32_t last_error() const noexcept override { return storage_.last_error(); }
    StorageId storage_id() const noexcept override { return storage_.storage_id(); }

private:
    Status do_lock(bool exclusive) noexcept override { return storage_.lock(exclusive); }
    Status do_unlock() noexcept override { return storage_.unlock(); }

    Driver& storage_;
};

/// Returns when the new file is durable.
Status copy_to(Session& session, const RepackArguments& arguments, Driver& driver) {
    UnfinishedFile storage(driver);
    FileAccess access;
    access.metadata_cache = 65536;
    access.chunk_cache = kChunkCache;
    access.low = arguments.low;
    access.high = arguments.high;
    Result<File> copy = File::create(session.library(), storage, access);
    Status status = copy.status();
    if (status == Status::ok) {
        CopyOptions options;
        options.buffer = session.piece_budget();
        status = copy_file(session.file(), *copy, options);
    }
    const Status closed = copy->close();
    status = status == Status::ok ? closed : status;
    return status == Status::ok ? driver.sync() : status;
}

// The new file gets its name when it is complete, so that a file that was there stays until then.
constexpr char kUnfinished[] = ".part";

Status make_file(Session& session, const RepackArguments& arguments) {
    const std::string part = arguments.out + kUnfinished;
    PosixDriver file;
    Status status = file.open(part.c_str(), PosixDriver::Mode::truncate);
    status = status == Status::ok ? copy_to(session, arguments, file) : status;
    const Status closed = file.close();
    status = status == Status::ok ? closed : status;
    if (status == Status::ok && std::rename(part.c_str(), arguments.out.c_str()) != 0) {
        status = Status::io_error;
    }
    if (status != Status::ok) {
        (void)std::remove(part.c_str());
    }
    return status;
}

/// The name of a member of a family: `pattern` has "%d", as for printf() and with zeros and a width if need be, in the
/// place of its number. Empty: the pattern has no such place.
std::string member_name(const std::string& pattern, unsigned number) {
    const std::size_t begin = pattern.find('%');
    const std::size_t end = begin == std::string::npos ? begin : pattern.find_first_not_of("0123456789", begin + 1);
    if (end == std::string::npos || pattern[end] != 'd' || end - begin > 3) {
        return "";
    }
    const std::string width = pattern.substr(begin + 1, end - begin - 1);
    std::string digits = std::to_string(number);
    const std::size_t wanted = width.empty() ? 0 : std::stoul(width);
    digits.insert(0, digits.size() < wanted ? wanted - digits.size() : 0, width[0] == '0' ? '0' : ' ');
    return pattern.substr(0, begin) + digits + pattern.substr(end + 1);
}

/// Removes the members of a family from number `first` on.
void remove_members(const std::string& pattern, unsigned first) {
    while (std::remove(member_name(pattern, first).c_str()) == 0) {
        ++first;
    }
}

/// Members of a longer family that was there are removed.
Status make_family(Session& session, const RepackArguments& arguments) {
    const std::string part = arguments.out + kUnfinished;
    remove_members(part, 0);
    PosixFamily members;
    FamilyDriver family(members);
    Status status = members.set_pattern(part.c_str(), true);
    status = status == Status::ok ? family.open_or_create(arguments.member) : status;
    status = status == Status::ok ? copy_to(session, arguments, family) : status;
    std::uint64_t size = 0;
    status = status == Status::ok ? family.end_of_file(size) : status;
    members.close();
    const auto count = static_cast<unsigned>(size / arguments.member + (size % arguments.member != 0 ? 1 : 0));
    for (unsigned i = count; i-- > 0 && status == Status::ok;) {
        const bool renamed = std::rename(member_name(part, i).c_str(), member_name(arguments.out, i).c_str()) == 0;
        status = renamed ? Status::ok : Status::io_error;
    }
    remove_members(part, status == Status::ok ? count : 0);
    if (status == Status::ok) {
        remove_members(arguments.out, count);
    }
    return status;
}

/// The paths of the parts of a file, without those that hold no usage; that with the superblock, which makes the file
/// exist, is the last one.
std::vector<std::string> paths_of_parts(const MultiLayout& layout, const std::string& whole) {
    std::vector<std::string> paths;
    for (unsigned i = kMostParts; i-- > 0;) {
        if (layout.map[i] == i) {
            const std::string_view name = layout.parts[i].name;
            const std::size_t place = name.find("%s");
            paths.push_back(std::string(name.substr(0, place)) + whole + std::string(name.substr(place + 2)));
        }
    }
    return paths;
}

Status make_parts(Session& session, const RepackArguments& arguments, const MultiLayout& layout) {
    const std::string part = arguments.out + kUnfinished;
    const std::vector<std::string> unfinished = paths_of_parts(layout, part);
    const std::vector<std::string> finished = paths_of_parts(layout, arguments.out);
    const auto remove = [](const std::vector<std::string>& paths) {
        for (auto path = paths.rbegin(); path != paths.rend(); ++path) {
            (void)std::remove(path->c_str());
        }
    };
    remove(unfinished);
    PosixParts parts;
    MultiDriver multi(parts);
    parts.set_path(part.c_str(), true);
    Status status = multi.open_or_create(layout);
    status = status == Status::ok ? copy_to(session, arguments, multi) : status;
    multi.close();
    for (std::size_t i = 0; i < finished.size() && status == Status::ok; ++i) {
        status = std::rename(unfinished[i].c_str(), finished[i].c_str()) == 0 ? Status::ok : Status::io_error;
    }
    remove(unfinished);
    return status;
}

Status make(Session& session, const RepackArguments& arguments) {
    return arguments.member != 0 ? make_family(session, arguments)
           : arguments.split     ? make_parts(session, arguments, split_layout())
           : arguments.multi     ? make_parts(session, arguments, multi_layout())
                                 : make_file(session, arguments);
}

int run_repack(const RepackArguments& arguments) {
    Report report("h5mote repack");
    Session session(arguments.common);
    if (arguments.member != 0 && member_name(arguments.out, 0).empty()) {
        report.error("%s: the name of a family has %%d in the place of the member's number", arguments.out.c_str());
        return report.exit_code();
    }
    if (arguments.member % FamilyDriver::kSector != 0) {
        report.error("the size of the members of a family is a multiple of %u", unsigned{FamilyDriver::kSector});
        return report.exit_code();
    }
    Status status = session.open(arguments.in.c_str());
    if (status != Status::ok) {
        report.error("%s: %s", arguments.in.c_str(), to_string(status));
        return report.exit_code();
    }
    status = make(session, arguments);
    if (status != Status::ok) {
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
    command
        ->add_option("--low", arguments->low,
                     "The oldest versions of structures that OUT gets: earliest, v18, v110, v112, v114, v200, latest")
        ->transform(CLI::CheckedTransformer(kVersions));
    command->add_option("--high", arguments->high, "The newest versions that OUT may get")
        ->transform(CLI::CheckedTransformer(kVersions));
    CLI::Option* const family =
        command
            ->add_option(
                "--family", arguments->member,
                "OUT is a family of files of so many bytes each, a multiple of 512, which the family driver of "
                "libhdf5 opens; its name has %d, or %05d, in the place of the member's number")
            ->transform(CLI::AsSizeValue(false))
            ->check(CLI::PositiveNumber);
    CLI::Option* const split =
        command
            ->add_flag(
                "--split", arguments->split,
                "OUT stands for OUT-m.h5, with the metadata, and OUT-r.h5, with the data, which the split driver of "
                "libhdf5 opens")
            ->excludes(family);
    command
        ->add_flag("--multi", arguments->multi,
                   "OUT stands for OUT-s.h5, -b, -r, -g, -l and -o, which the multi driver of libhdf5 opens")
        ->excludes(family)
        ->excludes(split);
    add_common_options(*command, arguments->common);
    return {command, [arguments] { return run_repack(*arguments); }};
}

}  // namespace h5mote::cli
