#include "cpp_types.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <iterator>

namespace h5mote::cli {

namespace {

// Words that are no names in C++17, and macros of its headers and of compilers.
constexpr const char* kWords[] = {
    "alignas",     "alignof",      "and",      "and_eq",    "arm",        "asm",       "assert",
    "auto",        "bitand",       "bitor",    "bool",      "break",      "case",      "catch",
    "char",        "char16_t",     "char32_t", "char8_t",   "class",      "co_await",  "co_return",
    "co_yield",    "compl",        "concept",  "const",     "const_cast", "consteval", "constexpr",
    "constinit",   "continue",     "decltype", "default",   "delete",     "do",        "double",
    "else",        "enum",         "EOF",      "errno",     "explicit",   "export",    "extern",
    "false",       "float",        "for",      "friend",    "goto",       "i386",      "if",
    "inline",      "int",          "linux",    "long",      "mutable",    "namespace", "new",
    "noexcept",    "not",          "not_eq",   "NULL",      "nullptr",    "offsetof",  "operator",
    "or",          "or_eq",        "private",  "protected", "public",     "register",  "reinterpret_cast",
    "requires",    "return",       "short",    "signed",    "sizeof",     "static",    "static_assert",
    "static_cast", "stderr",       "stdin",    "stdout",    "struct",     "switch",    "template",
    "this",        "thread_local", "throw",    "true",      "try",        "typedef",   "typeid",
    "typename",    "union",        "unix",     "unsigned",  "using",      "virtual",   "void",
    "volatile",    "wchar_t",      "while",    "xor",       "xor_eq"};

bool ends_with(std::string_view text, std::string_view end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool is_macro(std::string_view name) {
    return name.substr(0, 7) == "H5MOTE_" || ends_with(name, "_MAX") || ends_with(name, "_MIN") ||
           ends_with(name, "_WIDTH");
}

bool is_utf8(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto first = static_cast<unsigned char>(text[i]);
        const unsigned more = first < 0x80                    ? 0
                              : first >= 0xc2 && first < 0xe0 ? 1
                              : first >= 0xe0 && first < 0xf0 ? 2
                                                              : 3;
        if (more == 3 && (first < 0xf0 || first > 0xf4)) {
            return false;
        }
        for (unsigned k = 1; k <= more; ++k) {
            if (i + k >= text.size() || (static_cast<unsigned char>(text[i + k]) & 0xc0U) != 0x80) {
                return false;
            }
        }
        const unsigned second = more == 0 ? 0 : static_cast<unsigned char>(text[i + 1]);
        if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) || (first == 0xf0 && second < 0x90) ||
            (first == 0xf4 && second > 0x8f)) {
            return false;
        }
        i += more + 1;
    }
    return true;
}

}  // namespace

bool is_identifier(std::string_view name) {
    bool sound = !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0;
    for (const char character : name) {
        sound = sound && (std::isalnum(static_cast<unsigned char>(character)) != 0 || character == '_') &&
                static_cast<unsigned char>(character) < 0x80;
    }
    // Names with two underscores, or with one and a capital letter in front, belong to the compiler.
    return sound && name.find("__") == std::string_view::npos &&
           !(name.size() > 1 && name[0] == '_' && std::isupper(static_cast<unsigned char>(name[1])) != 0) &&
           !is_macro(name) &&
           std::none_of(std::begin(kWords), std::end(kWords), [&](const char* word) { return name == word; });
}

std::string identifier_for(std::string_view name) {
    std::string text;
    for (const char character : name) {
        const bool plain =
            std::isalnum(static_cast<unsigned char>(character)) != 0 && static_cast<unsigned char>(character) < 0x80;
        if (plain || text.empty() || text.back() != '_') {
            text += plain ? character : '_';
        }
    }
    if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) != 0 || text[0] == '_') {
        text.insert(0, "x");
    }
    return is_identifier(text) ? text : text + "_value";
}

std::string octal_escape(char character) {
    char text[8];
    std::snprintf(text, sizeof text, "\\%03o", static_cast<unsigned>(static_cast<unsigned char>(character)));
    return text;
}

std::string string_literal(std::string_view text) {
    const bool raw = is_utf8(text);
    std::string literal = "\"";
    for (const char character : text) {
        const auto byte = static_cast<unsigned char>(character);
        if (character == '"' || character == '\\') {
            literal += '\\';
            literal += character;
        } else if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !raw)) {
            literal += octal_escape(character);
        } else {
            literal += character;
        }
    }
    return literal + '"';
}

}  // namespace h5mote::cli
