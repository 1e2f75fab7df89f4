// Lines of text for the console, each printed by one write(). stdio is not used, because it needs a heap and because a
// crash would lose what is in its buffer.
#pragma once

#include <cstddef>
#include <cstdint>

namespace logger {

/// A line of text: `Line{} << "rows " << 5;` prints it when the object goes out of scope. Text beyond 100 characters is
/// cut off.
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
