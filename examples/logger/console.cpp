#include "console.hpp"

#include "division.hpp"

#include <unistd.h>

namespace logger {

Line::~Line() {
    text_[length_++] = '\n';
    // A console that is gone must not stop the recording.
    const auto written = ::write(static_cast<int>(to_), text_, length_);
    (void)written;
}

Line& Line::operator<<(const char* text) noexcept {
    while (*text != '\0' && length_ + 1U < sizeof text_) {
        text_[length_++] = *text++;
    }
    return *this;
}

Line& Line::operator<<(std::uint64_t number) noexcept {
    char digits[21];
    char* at = digits + sizeof digits - 1;
    *at = '\0';
    do {
        *--at = static_cast<char>('0' + divide(number, 10));
    } while (number != 0);
    return *this << at;
}

}  // namespace logger
