#include "output.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace h5mote::cli {

void TextSink::put_unsigned(std::uint64_t number) {
    char digits[20];
    char* at = digits + sizeof(digits);
    do {
        *--at = static_cast<char>('0' + number % 10);
        number /= 10;
    } while (number != 0);
    put(std::string_view(at, static_cast<std::size_t>(digits + sizeof(digits) - at)));
}

void TextSink::put_signed(std::int64_t number) {
    if (number < 0) {
        put('-');
        put_unsigned(std::uint64_t{0} - static_cast<std::uint64_t>(number));
    } else {
        put_unsigned(static_cast<std::uint64_t>(number));
    }
}

void TextSink::print(const char* format, ...) {
    char text[501];
    va_list arguments;
    va_start(arguments, format);
    const int length = std::vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (length > 0) {
        const auto size = static_cast<std::size_t>(length);
        put(std::string_view(text, size < sizeof(text) ? size : sizeof(text) - 1));
    }
}

void Output::put(std::string_view text) {
    while (!text.empty()) {
        const std::size_t room = sizeof(buffer_) - used_;
        const std::size_t part = text.size() < room ? text.size() : room;
        std::memcpy(buffer_ + used_, text.data(), part);
        used_ += part;
        text.remove_prefix(part);
        if (used_ == sizeof(buffer_)) {
            flush();
        }
    }
}

void Output::flush() {
    if (used_ != 0) {
        good_ = std::fwrite(buffer_, 1, used_, stdout) == used_ && std::fflush(stdout) == 0 && good_;
        used_ = 0;
    }
}

}  // namespace h5mote::cli
