// H5E - the error trail as text for people. Only programs that include this header contain the names of statuses,
// modules and source files.
#pragma once

#include <h5mote/context.hpp>

#include <string_view>

namespace h5mote {

/// Receives lines of text, for a console or a log.
class LineSink {
public:
    /// Takes one line, without its line end. The text is gone after the call.
    virtual void line(std::string_view text) noexcept = 0;

protected:
    LineSink() = default;
    LineSink(const LineSink&) = delete;
    LineSink& operator=(const LineSink&) = delete;
    ~LineSink() = default;
};

/// Writes one record as text, such as "io_error in core/file/base_driver.cpp, line 30: the storage's code 5, address
/// 4096". What does not fit is cut off. Returns the number of characters written.
std::size_t describe(const ErrorRecord& record, Span<char> to) noexcept;

/// Gives the trail's records to `sink`, the newest first, one line each. `library`: a Library. The trail keeps its
/// records; ErrorTrail::clear() empties it.
void print_trail(Context& library, LineSink& sink) noexcept;

}  // namespace h5mote
