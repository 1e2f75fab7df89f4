// Helpers for names of links, attributes and files: a file holds them as bytes, the interface as std::string_view.
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

/// `text` without its first `count` characters; `count` is at most its size. string_view::substr() can throw, which
/// would link parts of the C++ library.
inline std::string_view text_after(std::string_view text, std::size_t count) noexcept {
    return {text.data() + count, text.size() - count};
}
/// `text` up to the first character `end`; all of `text` if it does not contain that character.
inline std::string_view text_before(std::string_view text, char end) noexcept {
    const std::size_t length = text.find(end);
    return {text.data(), length < text.size() ? length : text.size()};
}

/// Whether `text` can be the name of a link or an attribute: 1 to 65,535 bytes, none of them zero, because other
/// readers take a zero byte for the end of the name.
inline bool is_name(std::string_view text) noexcept {
    bool sound = !text.empty() && text.size() <= 0xffff;
    for (const char c : text) {
        sound = sound && c != '\0';
    }
    return sound;
}

/// Whether a file name that is stored in a file can name another file. An empty name and "." stand for the file itself,
/// so they are not searched for.
inline bool names_other_file(std::string_view name) noexcept { return !name.empty() && name != "."; }

}  // namespace h5mote
