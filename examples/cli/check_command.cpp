// h5mote check: prints one line for each problem of a file.

#include "commands.hpp"
#include "object_paths.hpp"
#include "output.hpp"
#include "report.hpp"

#include <h5mote/check.hpp>

#include <CLI/CLI.hpp>

#include <map>
#include <memory>
#include <tuple>

namespace h5mote::cli {

namespace {

// In the order of the enums.
constexpr const char* kParts[] = {"superblock",
                                  "driver information",
                                  "object header",
                                  "message",
                                  "link",
                                  "attribute",
                                  "symbol table tree",
                                  "symbol table node",
                                  "local heap",
                                  "global heap",
                                  "fractal heap",
                                  "free-space manager",
                                  "version 2 B-tree",
                                  "chunk B-tree",
                                  "fixed array",
                                  "extensible array",
                                  "chunk",
                                  "raw data",
                                  "shared messages"};
static_assert(sizeof kParts / sizeof *kParts == kCheckParts);

struct KindText {
    const char* text;              ///< what is wrong
    const char* number = nullptr;  ///< text between `text` and Problem::number; nullptr: the number is not shown
    const char* unit = "";
    bool hexadecimal = false;
};
constexpr KindText kKinds[] = {{"cannot be read"},
                               {"the file is shorter than it says", ": ", " bytes"},
                               {"is not within the file"},
                               {"checksum is wrong"},
                               {"contradicts the format"},
                               {"is out of order"},
                               {"its neighbours are not those that it names"},
                               {"more blocks than the file has room for"},
                               {"holds another number than it says", ": "},
                               {"reference count is wrong", ": ", " links found"},
                               {"the hash is not that of what it names"},
                               {"does not lie within the dataset"},
                               {"cannot be of that size", ": ", " bytes"},
                               {"what the header says of its blocks is wrong", ": ", " found"},
                               {"the list of free blocks is damaged"},
                               {"overlaps what is at", " ", "", true},
                               {"the data do not pass their filters"},
                               {"there is no such object in the collection", ": "},
                               {"cannot be verified by this program"},
                               {"too little memory to verify it", ": ", " bytes"},
                               {"the file is marked as open for writing"}};
static_assert(sizeof kKinds / sizeof *kKinds == kProblemKinds);

constexpr const char* kMessages[] = {"null",
                                     "dataspace",
                                     "link info",
                                     "datatype",
                                     "old fill value",
                                     "fill value",
                                     "link",
                                     "external files",
                                     "layout",
                                     "bogus",
                                     "group info",
                                     "filter pipeline",
                                     "attribute",
                                     "comment",
                                     "old modification time",
                                     "shared message table",
                                     "continuation",
                                     "symbol table",
                                     "modification time",
                                     "B-tree K values",
                                     "driver information",
                                     "attribute info",
                                     "reference count",
                                     "file space info",
                                     "cache image"};
constexpr unsigned kMessageCount = sizeof kMessages / sizeof *kMessages;

const char* name_of(ChunkIndex index) {
    switch (index) {
        case ChunkIndex::single:
            return "single chunk";
        case ChunkIndex::implicit:
            return "implicit";
        case ChunkIndex::fixed_array:
            return "fixed array";
        case ChunkIndex::extensible_array:
            return "extensible array";
        case ChunkIndex::btree2:
            return "version 2 B-tree";
        case ChunkIndex::btree1:
            return "version 1 B-tree";
        default:
            return "none";
    }
}

// Finds a path to an object whose header cannot be read, so that ObjectPaths does not know it: searches for a hard link
// with the object's address. Depth and number of links are limited, because the file is damaged.
class LinkFinder {
public:
    LinkFinder(Session& session, Address address) : session_(session), address_(address) {}

    /// The absolute path, or an empty string if none is found.
    std::string find() {
        Group root = session_.file().root();
        if (root.address() == address_) {
            return "/";
        }
        std::string path;
        return search(root, path, 0) ? path : std::string();
    }

private:
    static constexpr unsigned kDepth = 32;
    static constexpr unsigned kLinks = 100000;

    bool search(const Group& group, std::string& path, unsigned depth) {
        const std::size_t length = path.size();
        LinkIterator links(group);
        Link link;
        while (links.next(link) == Status::ok && ++links_ < kLinks) {
            if (link.type() != LinkType::hard) {
                continue;
            }
            path.resize(length);
            path.append("/").append(link.name());
            if (link.address() == address_) {
                return true;
            }
            if (depth < kDepth) {
                const Result<Group> below = session_.file().root().open_group(path);
                if (below && search(*below, path, depth + 1)) {
                    return true;
                }
            }
        }
        path.resize(length);
        return false;
    }

    Session& session_;
    Address address_;
    unsigned links_ = 0;
};

class CheckPrinter final : public CheckReporter {
public:
    CheckPrinter(Session& session, Output& output, const std::string& file, ObjectPaths& paths, bool verbose,
                 bool unused)
        : session_(session), output_(output), file_(file), paths_(paths), verbose_(verbose), unused_(unused) {}

    void unused(Address address, std::uint64_t size) noexcept override {
        if (unused_) {
            output_.print("%s: address 0x%llx: unused: %llu bytes\n", file_.c_str(),
                          static_cast<unsigned long long>(address), static_cast<unsigned long long>(size));
        }
    }

    void structure(const Structure& structure) noexcept override {
        ++census_[std::make_tuple(structure.part, structure.message, structure.version, structure.index,
                                  structure.users)];
    }
    /// One line for each kind and version of structure, and one for shared messages with equally many users.
    void print_census() {
        for (const auto& [kind, count] : census_) {
            const auto& [part, message, version, index, users] = kind;
            output_.print("%s: ", file_.c_str());
            if (part == CheckPart::chunk) {
                output_.print("chunks, layout version %u, index %s", version, name_of(static_cast<ChunkIndex>(index)));
            } else if (users != 0) {
                output_.print("shared %s messages in a %s, used %u times",
                              message < kMessageCount ? kMessages[message] : "unknown",
                              index == 0 ? "list" : "version 2 B-tree", users);
            } else {
                put_kind(part, message);
                if (version != 0 || part == CheckPart::superblock) {
                    output_.print(", version %u", version);
                }
            }
            output_.print(": %llu\n", static_cast<unsigned long long>(count));
        }
    }

    void problem(const Problem& problem) noexcept override {
        if (problem.note && !verbose_) {
            return;
        }
        output_.put(file_);
        output_.put(": ");
        if (problem.address != kUndefinedAddress) {
            output_.print("address 0x%llx: ", static_cast<unsigned long long>(problem.address));
        }
        put_part(problem);
        const KindText& kind = kKinds[static_cast<unsigned>(problem.kind)];
        output_.print(": %s%s", problem.note ? "note: " : "", kind.text);
        if (kind.number != nullptr) {
            const auto number = static_cast<unsigned long long>(problem.number);
            output_.put(kind.number);
            output_.print(kind.hexadecimal ? "0x%llx" : "%llu", number);
            output_.put(kind.unit);
        } else if (problem.kind == ProblemKind::unknown) {
            output_.print(": %s", to_string(static_cast<Feature>(problem.number)));
        }
        if (problem.object != kUndefinedAddress) {
            output_.put(": ");
            put_object(problem.object);
        }
        output_.put('\n');
    }

private:
    void put_kind(CheckPart part, unsigned message) {
        if (part == CheckPart::message) {
            output_.put(message < kMessageCount ? kMessages[message] : "unknown");
            output_.put(" ");
        }
        output_.put(kParts[static_cast<unsigned>(part)]);
    }
    void put_object(Address object) {
        if (paths_.put(output_, object) == Status::ok) {
            return;
        }
        const std::string path = LinkFinder(session_, object).find();
        if (path.empty()) {
            output_.print("object 0x%llx", static_cast<unsigned long long>(object));
        } else {
            output_.put(path);
        }
    }
    void put_part(const Problem& problem) {
        const bool message = problem.part == CheckPart::message && problem.kind == ProblemKind::malformed;
        if (message && problem.number < kMessageCount) {
            output_.put(kMessages[problem.number]);
            output_.put(" ");
        }
        output_.put(kParts[static_cast<unsigned>(problem.part)]);
    }

    Session& session_;
    Output& output_;
    const std::string& file_;
    ObjectPaths& paths_;
    bool verbose_;
    bool unused_;
    std::map<std::tuple<CheckPart, unsigned, unsigned, unsigned, std::uint32_t>, std::uint64_t> census_;
};

struct CheckArguments {
    CommonOptions common;
    std::vector<std::string> files;
    bool verbose = false;
    bool quick = false;
    bool unused = false;
    bool census = false;
};

// Checks one file. Returns the exit code: 0 without problems, 1 with problems, 2 if the file could not be checked.
int check_one(Session& session, const CheckArguments& arguments, const std::string& name, Report& report) {
    Status status = session.open(name.c_str());
    if (status != Status::ok) {
        report.failure(session.context(), status, name.c_str());
        return 2;
    }
    CheckSummary summary;
    Output output;
    {
        ObjectPaths paths(session.context(), session.file().root(), session.table_budget() / 2);
        CheckPrinter printer(session, output, name, paths, arguments.verbose, arguments.unused);
        CheckOptions options;
        options.memory = session.table_budget();
        options.data = !arguments.quick;
        status = check_file(session.file(), options, printer, &summary);
        if (arguments.census) {
            printer.print_census();
        }
    }
    if (status == Status::ok) {
        output.print("%s: %llu objects, %llu problems, %llu of %llu bytes belong to nobody, %u walks%s", name.c_str(),
                     static_cast<unsigned long long>(summary.objects),
                     static_cast<unsigned long long>(summary.problems), static_cast<unsigned long long>(summary.unused),
                     static_cast<unsigned long long>(summary.used + summary.unused), summary.walks,
                     arguments.quick ? ", without what is in raw data" : "");
        if (arguments.verbose) {
            output.print(", %llu bytes used, %llu free, %llu lost", static_cast<unsigned long long>(summary.used),
                         static_cast<unsigned long long>(summary.free), static_cast<unsigned long long>(summary.lost));
        }
        output.put('\n');
    }
    output.flush();
    if (status != Status::ok) {
        report.failure(session.context(), status, name.c_str());
    }
    session.close();
    return status != Status::ok ? 2 : summary.problems == 0 ? 0 : 1;
}

int run_check(CheckArguments& arguments) {
    Report report("h5mote check");
    // Open truncated files too: that the end is missing is reported as a problem.
    arguments.common.allow_truncated = true;
    Session session(arguments.common);
    int worst = 0;
    for (const std::string& file : arguments.files) {
        const int code = check_one(session, arguments, file, report);
        worst = code > worst ? code : worst;
    }
    return worst;
}

}  // namespace

Command add_check(CLI::App& tool) {
    const auto arguments = std::make_shared<CheckArguments>();
    CLI::App* const check = tool.add_subcommand("check", "Says what is wrong with a file, and where: one line each");
    check->footer(
        "The last line of each file says what was looked at. Exit code: 0 nothing is wrong, 1 something is, 2 the file "
        "cannot be opened or checked.");
    add_common_options(*check, arguments->common);
    check->add_flag("-v,--verbose", arguments->verbose,
                    "Notes of what is not wrong as well, and how many bytes are used, free, and lost to both");
    check->add_flag("-q,--quick", arguments->quick, "Leaves out what is in raw data: filters, variable-length data");
    check->add_flag("-u,--unused", arguments->unused, "Lists which bytes belong to nobody");
    check->add_flag("-c,--census", arguments->census,
                    "Counts the structures of the file: one line for each kind and version");
    check->add_option("file", arguments->files, "HDF5 files")->required();
    return {check, [arguments] { return run_check(*arguments); }};
}

}  // namespace h5mote::cli
