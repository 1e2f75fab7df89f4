// H5E - the error trail as text for people. Only programs that include this contain the names.
#pragma once

#include <h5mote/context.hpp>

#include <string_view>

namespace h5mote {

/// Where lines of text go: a console, a log.
class LineSink {
public:
    /// One line without its end. The text is gone after the call.
    virtual void line(std::string_view text) noexcept = 0;

protected:
    LineSink() = default;
    LineSink(const LineSink&) = delete;
    LineSink& operator=(const LineSink&) = delete;
    ~LineSink() = default;
};

/// One record as text, such as "io_error in core/file/base_driver.cpp, line 30: the storage's code 5, address 4096".
/// What does not fit is cut off. Returns the characters written.
std::size_t describe(const ErrorRecord& record, Span<char> to) noexcept;

/// Gives the trail's records to `sink`, the newest first, one line each. The trail stays as it is: see
/// ErrorTrail::clear(). `library`: a Library.
void print_trail(Context& library, LineSink& sink) noexcept;

}  // namespace h5mote
