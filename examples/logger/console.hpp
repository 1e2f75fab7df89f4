// Lines of text to the console, each by one write(): no stdio, which needs a heap, and no buffer that a crash would
// lose.
#pragma once

#include <cstddef>
#include <cstdint>

namespace logger {

/// `Line{} << "rows " << 5;` prints when the line goes out of scope. What does not fit in 100 characters is cut.
class Line {
public:
    enum class To : std::uint8_t { output = 1, errors = 2 };

    explicit Line(To to = To::output) noexcept : to_(to) {}
    Line(const Line&) = delete;
    Line& operator=(const Line&) = delete;
    ~Line();

    Line& operator<<(const char* text) noexcept;
    Line& operator<<(std::uint64_t number) noexcept;

private:
    To to_;
    std::uint8_t length_ = 0;
    char text_[101];
};

}  // namespace logger
