#include "report.hpp"

#include <h5mote/trail.hpp>

#include <cstdarg>
#include <cstdio>

namespace h5mote::cli {

namespace {

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
        char text[200];
        const std::size_t length = describe(trail.newest(i), text);
        std::fprintf(stderr, "    %.*s\n", static_cast<int>(length), text);
    }
    context.trail().clear();
}

}  // namespace h5mote::cli
