// Messages on standard error, and the exit code that they lead to.
#pragma once

#include <h5mote/context.hpp>
#include <h5mote/status.hpp>

namespace h5mote::cli {

/// Prints messages and keeps the exit code. Each run of a command has one.
class Report {
public:
    /// `command`: printed before each message, e.g. "h5mote dump".
    explicit Report(const char* command) : command_(command) {}

    /// Prints "COMMAND error: MESSAGE" and sets the exit code to 1.
    [[gnu::format(printf, 2, 3)]] void error(const char* format, ...);
    /// Prints the same, but leaves the exit code as it is.
    [[gnu::format(printf, 2, 3)]] void warning(const char* format, ...);
    /// Reports that a call of the library failed, with the newest records of the error trail, e.g.
    /// "WHAT: corrupt_file (object, line 120, 3, 0x800)", and clears the trail.
    void failure(Context& context, Status status, const char* what);
    void fail() { exit_code_ = 1; }
    int exit_code() const { return exit_code_; }

private:
    const char* command_;
    int exit_code_ = 0;
};

}  // namespace h5mote::cli
