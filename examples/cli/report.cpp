#include "report.hpp"

#include <cstdarg>
#include <cstdio>

namespace h5mote::cli {

namespace {

// Standard output first, so that both are in order on a terminal.
void say(const char* command, const char* format, va_list arguments) {
    std::fprintf(stderr, "%s error: ", command);
    std::vfprintf(stderr, format, arguments);
    std::fputc('\n', stderr);
}

}  // namespace

void Report::error(const char* format, ...) {
    exit_code_ = 1;
    va_list arguments;
    va_start(arguments, format);
    say(command_, format, arguments);
    va_end(arguments);
}

void Report::warning(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(command_, format, arguments);
    va_end(arguments);
}

void Report::failure(Context& context, Status status, const char* what) {
    exit_code_ = 1;
    std::fprintf(stderr, "%s error: %s: %s\n", command_, what, to_string(status));
    const ErrorTrail& trail = context.trail();
    for (std::size_t i = 0; i < trail.size(); ++i) {
        const ErrorRecord record = trail.newest(i);
        const char* const source = source_name(record);
        std::fprintf(stderr, "    %s in %s, line %u", to_string(record.status), source != nullptr ? source : "?",
                     static_cast<unsigned>(record.line));
        if (record.status == Status::unsupported) {
            std::fprintf(stderr, ": %s (%lu)", to_string(static_cast<Feature>(record.value)),
                         static_cast<unsigned long>(record.detail));
        } else if (record.detail != 0 || record.value != 0) {
            std::fprintf(stderr, ": %lu, %llu", static_cast<unsigned long>(record.detail),
                         static_cast<unsigned long long>(record.value));
        }
        std::fputc('\n', stderr);
    }
    context.trail().clear();
}

}  // namespace h5mote::cli
