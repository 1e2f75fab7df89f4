// h5mote dump: the command line.
#include "commands.hpp"
#include "dump.hpp"

#include <CLI/CLI.hpp>

#include <cctype>
#include <cstdlib>
#include <map>
#include <memory>

namespace h5mote::cli {

namespace {

// Options whose value may be missing; kNoValue then stands for the value.
struct OptionalValue {
    const char* short_name;
    const char* long_name;
};
constexpr OptionalValue kOptionalValues[] = {
    {"-A", "--onlyattr"}, {"-n", "--contents"}, {"-E", "--enable-error-stack"},
    {"-o", "--output"},   {"-b", "--binary"},   {"-O", "--ddl"},
};
constexpr const char* kNoValue = "none";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Parses decimal numbers up to ';' or ']'. Anything that is no digit separates them.
std::vector<std::uint64_t> parse_numbers(const std::string& text) {
    std::vector<std::uint64_t> numbers;
    for (std::size_t i = 0; i < text.size() && text[i] != ';' && text[i] != ']';) {
        if (!is_digit(text[i])) {
            ++i;
            continue;
        }
        numbers.push_back(std::strtoull(text.c_str() + i, nullptr, 0));
        while (i < text.size() && is_digit(text[i])) {
            ++i;
        }
    }
    return numbers;
}

/// Parses "NAME[START;STRIDE;COUNT;BLOCK]": returns the subset in brackets, if there is one, and cuts it off `path`.
std::optional<Subset> parse_compact_subset(std::string& path) {
    const std::size_t bracket = path.rfind('[');
    if (bracket == std::string::npos) {
        return std::nullopt;
    }
    std::string rest = path.substr(bracket + 1);
    path.erase(bracket);
    Subset subset;
    for (std::vector<std::uint64_t>* const part : {&subset.start, &subset.stride, &subset.count, &subset.block}) {
        *part = parse_numbers(rest);
        const std::size_t next = rest.find(';');
        rest = next == std::string::npos ? std::string() : rest.substr(next + 1);
    }
    return subset;
}

/// Parses "OFFSET,LENGTH,OFFSET,LENGTH...".
std::vector<PackedBits> parse_packed_bits(const std::string& text) {
    const auto refuse = [&] { throw CLI::ValidationError("--packedbits", "a list of offset,length: " + text); };
    std::vector<unsigned long> numbers;
    std::size_t at = 0;
    while (at < text.size()) {
        if (!is_digit(text[at])) {
            refuse();
        }
        char* end = nullptr;
        numbers.push_back(std::strtoul(text.c_str() + at, &end, 10));
        at = static_cast<std::size_t>(end - text.c_str());
        if (at < text.size() && (text[at] != ',' || ++at == text.size())) {
            refuse();
        }
    }
    std::vector<PackedBits> bits;
    for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) {
        if (numbers[i] >= 64 || numbers[i + 1] == 0 || numbers[i] + numbers[i + 1] > 64) {
            refuse();
        }
        bits.push_back({static_cast<unsigned>(numbers[i]), static_cast<unsigned>(numbers[i + 1])});
    }
    if (bits.empty() || numbers.size() % 2 != 0 || bits.size() > 8) {
        refuse();
    }
    return bits;
}

/// The options of `dump`. They are kept in the order in which they were given, because -s, -S, -c and -k apply to the
/// dataset of the -d before them.
class DumpArguments {
public:
    explicit DumpArguments(CLI::App& tool)
        : dump_(tool.add_subcommand("dump", "Prints a file as h5dump does (HDF5's data description language)")) {
        dump_->add_option("FILE", options.files, "Files to print, one after the other")->required();
        add_common_options(*dump_, options.common);
        file_options();
        item_options();
        property_options();
        format_options();
        refused_options();
    }

    CLI::App* command() { return dump_; }
    /// Call after the command line was parsed.
    void apply();

    DumpOptions options;

private:
    using Action = std::function<void(const std::string&)>;

    void flag(const std::string& names, const std::string& help, Action action) {
        actions_[dump_->add_flag(names, help)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)] = action;
    }
    void value(const std::string& names, const std::string& type, const std::string& help, Action action) {
        CLI::Option* const option = dump_->add_option(names, help);
        option->option_text(type)->type_size(1)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
        option->take_all();
        option->allow_extra_args(false);
        actions_[option] = action;
    }
    void file_options();
    void item_options();
    void property_options();
    void format_options();
    void refused_options();
    void item(const std::string& names, const std::string& help, DumpItem::Kind kind);
    void subset(const std::string& names, const std::string& help, std::vector<std::uint64_t> Subset::*part);

    CLI::App* dump_;
    std::map<const CLI::Option*, Action> actions_;
    bool compact_subset_ = true;
    bool after_dataset_ = false;
    std::size_t last_dataset_ = 0;
};

void DumpArguments::file_options() {
    value("-n,--contents", "[1]", "Lists the objects of the file, with 1 also their attributes, and ends",
          [this](const std::string& text) {
              options.contents = true;
              options.contents_attributes = std::atoi(text.c_str()) > 0;
              after_dataset_ = false;
          });
    flag("-B,--superblock,--boot-block", "Prints the superblock as well", [this](const std::string&) {
        options.superblock = true;
        after_dataset_ = false;
    });
    flag("-H,--header", "Prints no data, only what describes it", [this](const std::string&) {
        options.data = false;
        options.attribute_data = false;
        after_dataset_ = false;
    });
    value("-A,--onlyattr", "[0]", "Prints data of attributes only; with 0 no attributes at all",
          [this](const std::string& text) {
              if (text == kNoValue) {
                  options.data = false;
                  options.attribute_data = true;
                  after_dataset_ = false;
              } else if (std::atoi(text.c_str()) == 0) {
                  options.attributes = false;
              }
          });
}

void DumpArguments::item(const std::string& names, const std::string& help, DumpItem::Kind kind) {
    value(names, "PATH", help, [this, kind](const std::string& text) {
        DumpItem wanted{kind, text, std::nullopt};
        after_dataset_ = kind == DumpItem::Kind::dataset;
        if (after_dataset_) {
            if (compact_subset_) {
                wanted.subset = parse_compact_subset(wanted.path);
            }
            last_dataset_ = options.items.size();
        }
        options.items.push_back(wanted);
    });
}

void DumpArguments::subset(const std::string& names, const std::string& help,
                           std::vector<std::uint64_t> Subset::*part) {
    value(names, "LIST", help, [this, names, part](const std::string& text) {
        if (!after_dataset_) {
            throw CLI::ValidationError(names, "can only be used after --dataset");
        }
        DumpItem& dataset = options.items[last_dataset_];
        if (!dataset.subset) {
            dataset.subset = Subset{};
        }
        (*dataset.subset).*part = parse_numbers(text);
    });
}

void DumpArguments::item_options() {
    item("-a,--attribute", "Prints that attribute; \"\\/\" stands for a slash in its name", DumpItem::Kind::attribute);
    item("-d,--dataset",
         "Prints that dataset. PATH[START;STRIDE;COUNT;BLOCK] prints a part of it, each a list of numbers, one a "
         "dimension",
         DumpItem::Kind::dataset);
    item("-g,--group", "Prints that group and all that is in it", DumpItem::Kind::group);
    item("-l,--soft-link", "Prints where that link leads to", DumpItem::Kind::link);
    item("-t,--datatype", "Prints that committed datatype; \"/#ADDRESS\" for one without a name",
         DumpItem::Kind::datatype);
    item("-N,--any_path", "Prints whatever has that path, or attributes of that name", DumpItem::Kind::any);
    subset("-s,--start", "After -d: first element, 0 in each dimension if not given", &Subset::start);
    subset("-S,--stride", "After -d: distance of blocks, 1 if not given", &Subset::stride);
    subset("-c,--count", "After -d: number of blocks, 1 if not given", &Subset::count);
    subset("-k,--block", "After -d: size of blocks, 1 if not given", &Subset::block);
    flag("-C,--no-compact-subset", "Brackets in the path of -d are part of the name",
         [this](const std::string&) { compact_subset_ = false; });
    value("-M,--packedbits", "LIST", "After -d: prints some bits of integers as numbers; up to 8 pairs offset,length",
          [this](const std::string& text) {
              if (!after_dataset_) {
                  throw CLI::ValidationError("--packedbits", "can only be used after --dataset");
              }
              options.packed_bits = parse_packed_bits(text);
          });
}

void DumpArguments::property_options() {
    flag("-i,--object-ids", "Prints the numbers that h5dump gives to open objects", [this](const std::string&) {
        options.object_ids = true;
        after_dataset_ = false;
    });
    flag("-p,--properties", "Prints storage layout, filters, fill value of datasets",
         [this](const std::string&) { options.properties = true; });
    flag("-v,--vds-view-first-missing", "Virtual datasets end before the first data that are missing",
         [this](const std::string&) { options.virtual_first_missing = true; });
    value("-G,--vds-gap-size", "N", "Virtual datasets go on beyond as many missing files",
          [this](const std::string& text) {
              const int gap = std::atoi(text.c_str());
              if (gap < 0) {
                  throw CLI::ValidationError("--vds-gap-size", "not a number: " + text);
              }
              options.virtual_gap = static_cast<std::uint64_t>(gap);
          });
    value("-q,--sort_by", "INDEX", "Order of links and attributes: name or creation_order",
          [this](const std::string& text) {
              if (text != "name" && text != "creation_order") {
                  throw CLI::ValidationError("--sort_by", "name or creation_order: " + text);
              }
              options.sort_by = text == "name" ? IndexOrder::name : IndexOrder::creation;
          });
    value("-z,--sort_order", "ORDER", "ascending or descending", [this](const std::string& text) {
        if (text != "ascending" && text != "descending") {
            throw CLI::ValidationError("--sort_order", "ascending or descending: " + text);
        }
        options.sort_order = text == "ascending" ? Direction::increasing : Direction::decreasing;
    });
}

void DumpArguments::format_options() {
    flag("-e,--escape", "Writes special characters of strings as C does",
         [this](const std::string&) { options.escape = true; });
    flag("-r,--string", "Prints integers of one byte as text",
         [this](const std::string&) { options.characters = true; });
    flag("-y,--noindex", "Prints no indices with the data", [this](const std::string&) { options.indices = false; });
    value("-m,--format", "FORMAT", "printf format of floating-point numbers, e.g. %.3f; each value has its line then",
          [this](const std::string& text) {
              options.number_format = text;
              options.columns = 0;
          });
    value("-w,--width", "N", "Columns of a line, 80 if not given; 0: as many as there can be",
          [this](const std::string& text) {
              const int columns = std::atoi(text.c_str());
              options.columns = columns <= 0 ? 65535 : static_cast<unsigned>(columns);
              after_dataset_ = false;
          });
}

// Options of h5dump that this tool does not have: it refuses them.
void DumpArguments::refused_options() {
    const auto refuse = [](const std::string& names) {
        return [names](const std::string&) { throw CLI::ValidationError(names, "is not supported"); };
    };
    for (const char* const names : {"-o,--output", "-b,--binary", "-O,--ddl", "-D,--xml-dtd", "-X,--xml-ns",
                                    "-F,--form", "--s3-cred", "--hdfs-attrs"}) {
        value(names, "", "", refuse(names));
    }
    for (const char* const names : {"-x,--xml", "-u,--use-dtd", "-R,--region"}) {
        flag(names, "", refuse(names));
    }
    for (auto& [option, action] : actions_) {
        if (option->get_description().empty()) {
            const_cast<CLI::Option*>(option)->group("");
        }
    }
    value("-E,--enable-error-stack", "[2]", "Accepted; the library's error trail is always shown",
          [](const std::string&) {});
}

void DumpArguments::apply() {
    std::map<const CLI::Option*, std::size_t> seen;
    for (const CLI::Option* const option : dump_->parse_order()) {
        const auto action = actions_.find(option);
        if (action == actions_.end()) {
            continue;
        }
        const std::size_t i = seen[option]++;
        const std::vector<std::string>& results = option->results();
        action->second(i < results.size() ? results[i] : std::string());
    }
}

int run_dump(DumpArguments& arguments) {
    Report report("h5mote dump");
    try {
        arguments.apply();
    } catch (const CLI::ParseError& error) {
        report.error("%s", error.what());
        return 1;
    }
    Session session(arguments.options.common);
    Dumper dumper(session, arguments.options, report);
    for (const std::string& file : arguments.options.files) {
        if (!dumper.dump(file.c_str())) {
            break;
        }
    }
    return report.exit_code();
}

}  // namespace

std::vector<std::string> normalize_dump_arguments(const std::vector<std::string>& arguments) {
    std::vector<std::string> result;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const OptionalValue* found = nullptr;
        for (const OptionalValue& option : kOptionalValues) {
            if (arguments[i] == option.short_name || arguments[i] == option.long_name) {
                found = &option;
            }
        }
        if (found == nullptr) {
            result.push_back(arguments[i]);
            continue;
        }
        // A short option takes the next word unless that is an option or the last word, the file.
        std::string text = kNoValue;
        if (arguments[i] == found->short_name && i + 2 < arguments.size() && arguments[i + 1][0] != '-') {
            text = arguments[++i];
        }
        result.push_back(std::string(found->long_name) + "=" + text);
    }
    return result;
}

Command add_dump(CLI::App& tool) {
    const auto arguments = std::make_shared<DumpArguments>(tool);
    return {arguments->command(), [arguments] { return run_dump(*arguments); }};
}

}  // namespace h5mote::cli
