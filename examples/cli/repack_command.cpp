// h5mote repack: copies a whole file through the library into a new one.
#include "commands.hpp"
#include "repack_files.hpp"
#include "report.hpp"

#include <h5mote/copy.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <unistd.h>

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
// Bytes of a user block that are copied at once. Both are powers of two.
constexpr std::size_t kUserBlockPiece = 65536;

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
        return note(storage_.write(usage, address, from));
    }
    Status sync() noexcept override { return Status::ok; }
    Status end_of_file(std::uint64_t& size) noexcept override { return storage_.end_of_file(size); }
    Status truncate(std::uint64_t size) noexcept override { return note(storage_.truncate(size)); }
    std::int32_t last_error() const noexcept override { return storage_.last_error(); }
    StorageId storage_id() const noexcept override { return storage_.storage_id(); }

    /// Whether the storage refused something that was to be written.
    bool has_failed() const { return failed_; }

private:
    Status note(Status status) noexcept {
        failed_ = failed_ || status != Status::ok;
        return status;
    }
    Status do_lock(bool exclusive) noexcept override { return storage_.lock(exclusive); }
    Status do_unlock() noexcept override { return storage_.unlock(); }

    Driver& storage_;
    bool failed_ = false;
};

class Repacking {
public:
    Repacking(Session& session, const RepackArguments& arguments)
        : session_(session), arguments_(arguments), files_(files_of(session, arguments.in)) {}

    void run(Report& report);

private:
    Status plan(Report& report);
    Status make();
    Status make_file();
    Status make_family();
    Status make_parts(const MultiLayout& layout);
    Status copy_to(Driver& driver);
    Status copy_user_block(Driver& driver);
    Status finish(Status status, const std::string& last);
    Status blame(const std::string& file, Status status, std::int32_t error = 0);

    Session& session_;
    const RepackArguments& arguments_;
    NewFiles files_;
    FileCreate create_;
    std::string culprit_;     // the file in which something failed
    std::int32_t error_ = 0;  // and what the system says of it
};

/// Keeps in which file the first error was. Returns `status`.
Status Repacking::blame(const std::string& file, Status status, std::int32_t error) {
    if (status != Status::ok && culprit_.empty()) {
        culprit_ = file;
        error_ = error;
    }
    return status;
}

/// Finds out how IN was created, and says what OUT cannot have of that.
Status Repacking::plan(Report& report) {
    FileInfo info;
    const Status status = blame(arguments_.in, session_.file().info(info));
    if (status != Status::ok) {
        return status;
    }
    const bool in_parts = arguments_.split || arguments_.multi;
    if (info.user_block != 0 && (in_parts || arguments_.member != 0)) {
        report.warning("%s: the user block of %llu bytes is left out: only one file can have one",
                       arguments_.out.c_str(), static_cast<unsigned long long>(info.user_block));
    } else {
        create_.user_block = info.user_block;
    }
    FileCreate space;
    space.file_space = static_cast<SpaceStrategy>(info.file_space_strategy);
    space.persist_free_space = info.persists_free_space;
    space.free_space_threshold = info.free_space_threshold;
    space.page_size = info.page_size;
    const bool usual = space.file_space == create_.file_space && !space.persist_free_space &&
                       space.free_space_threshold == create_.free_space_threshold &&
                       space.page_size == create_.page_size;
    if (!usual && (in_parts || arguments_.high < FormatVersion::v110)) {
        report.warning("%s: the file space strategy is left out: %s", arguments_.out.c_str(),
                       in_parts ? "a file in parts can have none" : "HDF5 1.8 has none");
    } else if (!usual) {
        create_.file_space = space.file_space;
        create_.persist_free_space = space.persist_free_space;
        create_.free_space_threshold = space.free_space_threshold;
        create_.page_size = space.page_size;
    }
    return Status::ok;
}

/// Call before the file is created behind the user block.
Status Repacking::copy_user_block(Driver& driver) {
    std::vector<std::byte> piece(
        static_cast<std::size_t>(std::min<std::uint64_t>(create_.user_block, kUserBlockPiece)));
    for (std::uint64_t at = 0; at < create_.user_block; at += piece.size()) {
        const Bytes bytes(piece.data(), piece.size());
        Status status = session_.driver().read(Usage::superblock, at, bytes);
        H5MOTE_TRY(blame(arguments_.in, status, session_.driver().last_error()));
        status = driver.write(Usage::superblock, at, bytes);
        H5MOTE_TRY(blame(arguments_.out, status, driver.last_error()));
    }
    return Status::ok;
}

/// Returns when the new file is durable.
Status Repacking::copy_to(Driver& driver) {
    UnfinishedFile storage(driver);
    FileAccess access;
    access.metadata_cache = 65536;
    access.chunk_cache = kChunkCache;
    access.low = arguments_.low;
    access.high = arguments_.high;
    H5MOTE_TRY(copy_user_block(driver));
    Result<File> copy = File::create(session_.library(), storage, access, create_);
    if (!copy) {
        return blame(arguments_.out, copy.status(), storage.has_failed() ? driver.last_error() : 0);
    }
    CopyOptions options;
    options.buffer = session_.piece_budget();
    Status status = copy_file(session_.file(), *copy, options);
    const Status closed = copy->close();
    status = status == Status::ok ? closed : status;
    if (status == Status::ok) {
        status = driver.sync();
        return blame(arguments_.out, status, driver.last_error());
    }
    return storage.has_failed() ? blame(arguments_.out, status, driver.last_error()) : blame(arguments_.in, status);
}

// The new file gets its name when it is complete, so that a file that was there stays until then.
Status Repacking::finish(Status status, const std::string& last) {
    return status != Status::ok || files_.finish(last) ? status : Status::io_error;
}

Status Repacking::make_file() {
    const std::string out = without_links(arguments_.out);
    const int descriptor = files_.create(out);
    if (descriptor < 0) {
        return Status::io_error;
    }
    (void)::close(descriptor);
    PosixDriver file;
    Status status = file.open((out + files_.suffix()).c_str(), PosixDriver::Mode::truncate);
    status = status == Status::ok ? copy_to(file) : blame(out, status, file.last_error());
    const Status closed = blame(out, file.close(), file.last_error());
    status = status == Status::ok ? closed : status;
    return finish(status, out);
}

/// Members of a longer family that was there are removed.
Status Repacking::make_family() {
    const std::string& pattern = arguments_.out;
    NewMembers members(files_, pattern);
    FamilyDriver family(members);
    std::error_code ignored;
    for (unsigned i = 0; std::filesystem::exists(member_name(pattern, i), ignored); ++i) {
        if (!files_.may_replace(member_name(pattern, i))) {
            return Status::invalid_argument;
        }
    }
    Status status = members.open();
    status = status == Status::ok ? family.open_or_create(arguments_.member) : status;
    if (status != Status::ok) {
        return blame(pattern, status, members.last_error());
    }
    status = copy_to(family);
    std::uint64_t size = 0;
    status = status == Status::ok ? family.end_of_file(size) : status;
    members.close();
    const auto count = static_cast<unsigned>(size / arguments_.member + (size % arguments_.member != 0 ? 1 : 0));
    for (unsigned i = count; i < family.members() && status == Status::ok; ++i) {
        files_.drop(member_name(pattern, i));
    }
    status = finish(status, member_name(pattern, 0));
    for (unsigned i = count; status == Status::ok && std::remove(member_name(pattern, i).c_str()) == 0; ++i) {
    }
    return status;
}

Status Repacking::make_parts(const MultiLayout& layout) {
    NewParts parts(files_, arguments_.out);
    MultiDriver multi(parts);
    Status status = blame(arguments_.out, multi.open_or_create(layout), parts.last_error());
    status = status == Status::ok ? copy_to(multi) : status;
    multi.close();
    return finish(status, paths_of_parts(layout, arguments_.out).front());
}

Status Repacking::make() {
    return arguments_.member != 0 ? make_family()
           : arguments_.split     ? make_parts(split_layout())
           : arguments_.multi     ? make_parts(multi_layout())
                                  : make_file();
}

void Repacking::run(Report& report) {
    Status status = plan(report);
    status = status == Status::ok ? make() : status;
    if (status == Status::ok) {
        return;
    }
    if (!files_.problem().empty()) {
        report.error("%s", files_.problem().c_str());
    } else if (error_ != 0) {
        report.error("%s: %s (%s)", culprit_.c_str(), to_string(status), std::strerror(error_));
    } else {
        report.failure(session_.context(), status, culprit_.c_str());
    }
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
    const Status status = session.open(arguments.in.c_str());
    if (status != Status::ok) {
        report.error("%s: %s", arguments.in.c_str(), to_string(status));
        return report.exit_code();
    }
    // Opening tries what kind of file it is: what failed on the way is of no interest any more.
    session.context().trail().clear();
    Repacking(session, arguments).run(report);
    session.close();
    return report.exit_code();
}

}  // namespace

Command add_repack(CLI::App& tool) {
    const auto arguments = std::make_shared<RepackArguments>();
    CLI::App* const command = tool.add_subcommand(
        "repack", "Copies everything that a file has into a new file, without the space that it lost");
    command->footer(
        "Groups, links of every kind, attributes, committed datatypes and datasets are copied with their properties, "
        "filtered chunks as they are stored; references lead to the copies.\n"
        "OUT is written under another name and renamed when it is complete; one that is there is replaced, unless it "
        "is "
        "IN, or not a regular file.\n"
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
