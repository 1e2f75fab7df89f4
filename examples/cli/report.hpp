// Messages on standard error, and the exit code that they lead to.
#pragma once

#include <h5mote/context.hpp>
#include <h5mote/status.hpp>

namespace h5mote::cli {

/// What went wrong so far. One for each run of a command.
class Report {
public:
    /// `command`: stands before each message, e.g. "h5mote dump".
    explicit Report(const char* command) : command_(command) {}

    /// "COMMAND error: MESSAGE", and the exit code is 1 from now on.
    [[gnu::format(printf, 2, 3)]] void error(const char* format, ...);
    /// The same without changing the exit code.
    [[gnu::format(printf, 2, 3)]] void warning(const char* format, ...);
    /// What a call of the library came to: "WHAT: corrupt_file (object, line 120, 3, 0x800)" from the newest records of
    /// the trail, which is emptied.
    void failure(Context& context, Status status, const char* what);
    void fail() { exit_code_ = 1; }
    int exit_code() const { return exit_code_; }

private:
    const char* command_;
    int exit_code_ = 0;
};

}  // namespace h5mote::cli
