// Names stand in files as bytes and in the interface as text.
#pragma once

#include <h5mote/span.hpp>

#include <string_view>

namespace h5mote {

inline std::string_view text_of(ConstBytes bytes) noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline ConstBytes bytes_of(std::string_view text) noexcept {
    return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

/// `text` without its first `count` characters, of which it has as many. string_view::substr() would throw, and brings
/// the C++ library with it.
inline std::string_view text_after(std::string_view text, std::size_t count) noexcept {
    return {text.data() + count, text.size() - count};
}
/// `text` up to the first `end`, all of it where there is none.
inline std::string_view text_before(std::string_view text, char end) noexcept {
    const std::size_t length = text.find(end);
    return {text.data(), length < text.size() ? length : text.size()};
}

/// Whether a link or an attribute can have that name: 1 to 65,535 bytes, none of them zero, for other readers take
/// names for text that ends with a zero byte.
inline bool is_name(std::string_view text) noexcept {
    bool sound = !text.empty() && text.size() <= 0xffff;
    for (const char c : text) {
        sound = sound && c != '\0';
    }
    return sound;
}

/// Whether a name in a file means another file: these two stand for the file itself, which nobody has to look for.
inline bool names_other_file(std::string_view name) noexcept { return !name.empty() && name != "."; }

}  // namespace h5mote
