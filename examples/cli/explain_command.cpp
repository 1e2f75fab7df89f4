// h5mote explain: decodes the number of an error record.
#include "commands.hpp"
#include "output.hpp"
#include "report.hpp"

#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdlib>
#include <memory>

namespace h5mote::cli {

namespace {

bool parse_number(const std::string& text, std::uint32_t& number) {
    char* end = nullptr;
    errno = 0;
    const unsigned long long value = std::strtoull(text.c_str(), &end, 0);
    number = static_cast<std::uint32_t>(value);
    return errno == 0 && end != text.c_str() && *end == '\0' && text[0] != '-' && value <= 0xffffffffU;
}

int run_explain(const std::vector<std::string>& numbers) {
    Report report("h5mote explain");
    Output output;
    for (const std::string& text : numbers) {
        std::uint32_t number = 0;
        if (!parse_number(text, number)) {
            report.error("%s: not a number of 32 bits", text.c_str());
            continue;
        }
        const ErrorRecord record = error_record(number);
        const char* const source = source_name(record);
        if (source == nullptr || record.status > Status::foreign_changes || record.status == Status::ok) {
            report.error("%s: no error record of this version of the library", text.c_str());
            continue;
        }
        output.print("%s: %s in %s, line %u (%s)\n", text.c_str(), to_string(record.status), source,
                     static_cast<unsigned>(record.line), to_string(record.module));
    }
    return report.exit_code();
}

}  // namespace

Command add_explain(CLI::App& tool) {
    const auto numbers = std::make_shared<std::vector<std::string>>();
    CLI::App* const command = tool.add_subcommand(
        "explain", "Says which error, source file and line the number of an error record stands for");
    command->footer(
        "Numbers are those of ErrorRecord::number, decimal or with 0x, from a program with this version.\n"
        "Exit code: 0 all of them were explained, 1 not all.");
    command->add_option("NUMBER", *numbers, "Numbers of error records")->required();
    return {command, [numbers] { return run_explain(*numbers); }};
}

}  // namespace h5mote::cli
