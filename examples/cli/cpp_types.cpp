#include "cpp_types.hpp"

#include <h5mote/encoded_type.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

namespace h5mote::cli {

namespace {

std::string key(DatatypeView type) { return {reinterpret_cast<const char*>(type.bytes().data()), type.bytes().size()}; }

// The enumeration as which h5py and h5mote store a bool.
bool is_bool(DatatypeView type) {
    static constexpr auto kBool =
        make_enum<std::int8_t>(ByteOrder::little, enumerator("FALSE", 0), enumerator("TRUE", 1));
    return type.type_class() == TypeClass::enumeration && equal(type, kBool);
}

std::string no_number(DatatypeView type) {
    if (type.order() != ByteOrder::little) {
        return "are not little-endian";
    }
    static constexpr auto kSingle = make_float(4);
    static constexpr auto kDouble = make_float(8);
    if (type.type_class() == TypeClass::floating) {
        return equal(type, kSingle) || equal(type, kDouble) ? "" : "are no IEEE numbers of 32 or 64 bits";
    }
    const std::uint32_t size = type.size();
    const bool sound = (size == 1 || size == 2 || size == 4 || size == 8) && type.precision() == 8 * size;
    return sound ? "" : "are integers that C++ does not have";
}

std::string no_compound(DatatypeView type) {
    if (type.member_count() > 64) {
        return "have more than 64 members";
    }
    std::vector<std::pair<std::uint32_t, std::uint32_t>> places;
    CompoundMembers walk(type);
    CompoundMember member;
    while (walk.next(member)) {
        DatatypeView part = member.type;
        if (part.type_class() == TypeClass::array && member.dimensions.empty()) {
            part = part.base();
        }
        if (part.type_class() == TypeClass::array) {
            return "have arrays of arrays";
        }
        std::string why = no_cpp_type(part, false);
        if (!why.empty()) {
            return "have the member \"" + std::string(member.name) + "\" whose values " + why;
        }
        places.emplace_back(member.offset, member.size());
    }
    std::sort(places.begin(), places.end());
    for (std::size_t i = 1; i < places.size(); ++i) {
        if (places[i].first < places[i - 1].first + places[i - 1].second) {
            return "have members that overlap";
        }
    }
    return "";
}

std::string hexadecimal(std::uint64_t number) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%02llx", static_cast<unsigned long long>(number));
    return text;
}

std::uint64_t bits_of(const std::byte* at, std::uint32_t size) {
    std::uint64_t bits = 0;
    for (std::uint32_t i = 0; i < size; ++i) {
        bits |= static_cast<std::uint64_t>(at[i]) << (8 * i);
    }
    return bits;
}

std::string integer(DatatypeView type, const std::byte* at) {
    const std::uint32_t size = type.size();
    std::uint64_t bits = bits_of(at, size);
    if (!type.is_signed()) {
        return std::to_string(bits) + (bits > 0x7fffffffffffffffU ? "U" : "");
    }
    if (size != 0 && size < 8 && (bits >> (8 * size - 1)) != 0) {
        bits |= ~std::uint64_t{0} << (8 * size);
    }
    const auto number = static_cast<std::int64_t>(bits);
    // There are no negative literals, and none for the absolute value of this number.
    return number == INT64_MIN ? "-9223372036854775807 - 1" : std::to_string(number);
}

template <typename Bits, typename Float>
Bits to_bits(Float number) {
    Bits bits;
    static_assert(sizeof bits == sizeof number);
    std::memcpy(&bits, &number, sizeof bits);
    return bits;
}

// A short decimal number from which the compiler gets the same bits.
template <typename Float, typename Bits>
std::string floating(Bits bits, const char* type, const char* bits_type, const char* suffix) {
    Float number;
    std::memcpy(&number, &bits, sizeof number);
    const std::string limits = std::string("std::numeric_limits<") + type + ">::";
    if (std::isinf(number)) {
        return (number < 0 ? "-" : "") + limits + "infinity()";
    }
    if (std::isnan(number)) {
        return bits == to_bits<Bits>(std::numeric_limits<Float>::quiet_NaN())
                   ? limits + "quiet_NaN()"
                   : std::string("__builtin_bit_cast(") + type + ", " + bits_type + "{" + hexadecimal(bits) + "U})";
    }
    std::string text;
    for (int digits = 6; digits <= 17; ++digits) {
        char buffer[64];
        std::snprintf(buffer, sizeof buffer, "%.*g", digits, static_cast<double>(number));
        text = buffer;
        const Float read = sizeof(Float) == 4 ? static_cast<Float>(std::strtof(buffer, nullptr))
                                              : static_cast<Float>(std::strtod(buffer, nullptr));
        if (to_bits<Bits>(read) == bits) {
            break;
        }
    }
    if (text.find_first_of(".e") == std::string::npos) {
        text += ".0";
    }
    return text + suffix;
}

std::string characters(const std::byte* at, std::uint32_t size, bool braced) {
    std::string_view text(reinterpret_cast<const char*>(at), size);
    if (text.back() == '\0') {
        while (!text.empty() && text.back() == '\0') {
            text.remove_suffix(1);
        }
        return braced ? "{" + string_literal(text) + "}" : string_literal(text);
    }
    // A string literal would have one byte more than the array.
    std::string list = braced ? "{{" : "{";
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto character = static_cast<unsigned char>(text[i]);
        const bool plain = character >= 0x20 && character < 0x7f && character != '\'' && character != '\\';
        list += i == 0 ? "'" : ", '";
        list += plain ? std::string(1, text[i]) : octal_escape(text[i]);
        list += '\'';
    }
    return list + (braced ? "}}" : "}");
}

std::string opaque(const std::byte* at, std::uint32_t size, const char* begin, const char* end) {
    std::string list = begin;
    for (std::uint32_t i = 0; i < size; ++i) {
        list += i == 0 ? "" : ", ";
        list += "std::byte{" + hexadecimal(static_cast<std::uint64_t>(at[i])) + "}";
    }
    return list + end;
}

bool is_plain_text(DatatypeView type) {
    return type.type_class() == TypeClass::string && type.padding() == StringPadding::null_padded &&
           type.character_set() == CharacterSet::ascii;
}

std::string integer_type(DatatypeView type) {
    return std::string("std::") + (type.is_signed() ? "int" : "uint") + std::to_string(8 * type.size()) + "_t";
}

}  // namespace

std::string no_cpp_type(DatatypeView type, bool is_row) {
    switch (type.type_class()) {
        case TypeClass::integer:
        case TypeClass::floating:
            return no_number(type);
        case TypeClass::string:
            return "";
        case TypeClass::opaque:
            return type.tag().empty() ? "" : "are opaque with a tag";
        case TypeClass::compound:
            return no_compound(type);
        case TypeClass::enumeration:
            if (type.member_count() == 0 || type.member_count() > 64) {
                return "are of an enumeration without names, or with more than 64";
            }
            return no_number(type.base());
        case TypeClass::array:
            if (!is_row) {
                return "are arrays";
            }
            return type.base().type_class() == TypeClass::array ? "are arrays of arrays"
                                                                : no_cpp_type(type.base(), false);
        case TypeClass::variable_length:
            return type.is_variable_string() ? "are strings of variable length" : "are of variable length";
        case TypeClass::reference:
            return "are references";
        case TypeClass::bitfield:
            return "are bit fields";
        case TypeClass::time:
            return "are times";
        case TypeClass::complex:
            return "are complex numbers";
        default:
            return "are of an unknown datatype";
    }
}

std::string no_cpp_value(DatatypeView type, const std::byte* value) {
    if (is_bool(type)) {
        return static_cast<unsigned>(*value) > 1 ? "has a value that is neither FALSE nor TRUE" : "";
    }
    if (type.type_class() != TypeClass::compound) {
        return "";
    }
    CompoundMembers walk(type);
    CompoundMember member;
    while (walk.next(member)) {
        const bool is_array = member.type.type_class() == TypeClass::array;
        const DatatypeView part = is_array ? member.type.base() : member.type;
        for (std::uint32_t at = 0; at + part.size() <= member.size(); at += part.size()) {
            std::string why = no_cpp_value(part, value + member.offset + at);
            if (!why.empty()) {
                return why;
            }
        }
    }
    return "";
}

void CppTypes::reserve(DatatypeView type) {
    if (type.type_class() == TypeClass::array) {
        reserve(type.base());
    }
    CompoundMembers walk(type);
    CompoundMember member;
    while (walk.next(member)) {
        used_.insert(std::string(member.name));
        reserve(member.type);
    }
}

std::string CppTypes::new_name(const std::string& hint) {
    std::string name;
    bool begins = true;
    for (const char character : hint) {
        const auto byte = static_cast<unsigned char>(character);
        if (byte >= 0x80 || std::isalnum(byte) == 0) {
            begins = true;
            continue;
        }
        name += begins ? static_cast<char>(std::toupper(byte)) : character;
        begins = false;
    }
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) {
        name.insert(0, "Record");
    }
    std::string free = name;
    for (unsigned i = 2; !used_.insert(free).second || !is_identifier(free); ++i) {
        free = name + std::to_string(i);
    }
    return free;
}

std::string CppTypes::member_name(DatatypeView type, std::string_view name, std::set<std::string>& used) {
    const std::string in_file(name);
    std::string in_cpp = identifier_for(name);
    if (in_cpp != in_file) {
        while (used.count(in_cpp) != 0) {
            in_cpp += '_';
        }
    }
    used.insert(in_cpp);
    members_[key(type)][in_file] = in_cpp;
    return in_cpp;
}

unsigned CppTypes::alignment(DatatypeView type) {
    switch (type.type_class()) {
        case TypeClass::integer:
        case TypeClass::floating:
        case TypeClass::enumeration:
            return type.size();
        case TypeClass::array:
            return alignment(type.base());
        case TypeClass::compound: {
            unsigned all = 1;
            CompoundMembers walk(type);
            CompoundMember member;
            while (walk.next(member)) {
                const unsigned one = alignment(member.type);
                if (one == 0 || member.offset % one != 0) {
                    return 1;  // the struct is packed
                }
                all = one > all ? one : all;
            }
            return type.size() % all == 0 ? all : 1;
        }
        default:
            return 1;
    }
}

// The members by their offset, with the bytes between and behind them as members of their own.
std::vector<CppTypes::Member> CppTypes::members(DatatypeView type) {
    const std::map<std::string, std::string>& names = members_[key(type)];
    std::vector<Member> list;
    std::set<std::string> used;
    CompoundMembers walk(type);
    CompoundMember from;
    while (walk.next(from)) {
        Member member;
        member.name = names.at(std::string(from.name));
        used.insert(member.name);
        member.type = from.type;
        member.offset = from.offset;
        member.size = from.size();
        for (std::size_t i = 0; i + 4 <= from.dimensions.size(); i += 4) {
            member.dims.push_back(static_cast<std::uint32_t>(bits_of(from.dimensions.data() + i, 4)));
        }
        if (from.type.type_class() == TypeClass::array) {
            for (unsigned i = 0; i < from.type.rank(); ++i) {
                member.dims.push_back(from.type.dimension(i));
            }
            member.type = from.type.base();
        }
        list.push_back(member);
    }
    std::stable_sort(list.begin(), list.end(), [](const Member& a, const Member& b) { return a.offset < b.offset; });
    std::vector<Member> all;
    std::uint32_t end = 0;
    const auto pad = [&](std::uint32_t to) {
        if (to > end) {
            Member padding;
            padding.name = "padding_" + std::to_string(end);
            while (used.count(padding.name) != 0) {
                padding.name += '_';
            }
            padding.offset = end;
            padding.size = to - end;
            padding.is_padding = true;
            all.push_back(padding);
        }
    };
    for (const Member& member : list) {
        pad(member.offset);
        all.push_back(member);
        end = member.offset + member.size;
    }
    pad(type.size());
    return all;
}

std::string CppTypes::declare_struct(DatatypeView type, const std::string& hint) {
    std::string list;
    std::set<std::string> used;
    CompoundMembers names(type);
    CompoundMember from;
    while (names.next(from)) {
        if (is_identifier(from.name)) {
            used.insert(std::string(from.name));
        }
    }
    CompoundMembers walk(type);
    std::string renamed;
    while (walk.next(from)) {
        const std::string name = member_name(type, from.name, used);
        if (name != from.name) {
            renamed_(std::string(from.name), name);
            renamed += "    // \"" + std::string(from.name) + "\" is no name in C++: " + name + "\n";
        }
        list += ", " + name;
    }
    std::string body;
    std::string checks;
    std::string own = new_name(hint);
    for (const Member& member : members(type)) {
        std::string declared = "std::byte";
        std::string behind;
        if (member.is_padding) {
            behind = "[" + std::to_string(member.size) + "]";
        } else {
            const bool is_text = is_plain_text(member.type) && member.dims.empty();
            const bool is_opaque = member.type.type_class() == TypeClass::opaque;
            declared = is_text ? "char" : is_opaque ? "std::byte" : this->type(member.type, hint + "_" + member.name);
            for (const std::uint32_t dimension : member.dims) {
                behind += "[" + std::to_string(dimension) + "]";
            }
            if (is_text || is_opaque) {
                behind += "[" + std::to_string(member.type.size()) + "]";
            }
            checks +=
                "static_assert(offsetof(" + own + ", " + member.name + ") == " + std::to_string(member.offset) + ");\n";
        }
        body.append("    ").append(declared).append(" ").append(member.name).append(behind).append(";\n");
    }
    const bool is_packed = alignment(type) == 1;
    bool needs_packing = false;
    for (const Member& member : members(type)) {
        needs_packing = needs_packing || (!member.is_padding && alignment(member.type) != 1);
    }
    declarations_ += std::string("struct ") + (is_packed && needs_packing ? "[[gnu::packed]] " : "") + own + " {\n" +
                     renamed + body + "};\nstatic_assert(sizeof(" + own + ") == " + std::to_string(type.size()) +
                     ");\n" + checks + "H5MOTE_COMPOUND(" + own + list + ")\n\n";
    return own;
}

std::string CppTypes::declare_enum(DatatypeView type, const std::string& hint) {
    std::string own = new_name(hint);
    std::set<std::string> used;
    EnumMembers names(type);
    EnumMember from;
    while (names.next(from)) {
        if (is_identifier(from.name)) {
            used.insert(std::string(from.name));
        }
    }
    std::string body;
    std::string list;
    EnumMembers walk(type);
    while (walk.next(from)) {
        const std::string name = member_name(type, from.name, used);
        if (name != from.name) {
            renamed_(std::string(from.name), name);
            body += "    // \"" + std::string(from.name) + "\" is no name in C++: " + name + "\n";
        }
        body += "    " + name + " = " + integer(type.base(), from.value.data()) + ",\n";
        list += ", " + name;
    }
    declarations_ += "enum class " + own + " : " + integer_type(type.base()) + " {\n" + body + "};\nH5MOTE_ENUM(" +
                     own + list + ")\n\n";
    return own;
}

std::string CppTypes::type(DatatypeView type, const std::string& hint) {
    switch (type.type_class()) {
        case TypeClass::integer:
            return integer_type(type);
        case TypeClass::floating:
            return type.size() == 4 ? "float" : "double";
        case TypeClass::string: {
            std::string name = "h5mote::FixedString<" + std::to_string(type.size());
            if (!is_plain_text(type)) {
                name += type.padding() == StringPadding::null_terminated ? ", h5mote::StringPadding::null_terminated"
                        : type.padding() == StringPadding::space_padded  ? ", h5mote::StringPadding::space_padded"
                                                                         : ", h5mote::StringPadding::null_padded";
                name += type.character_set() == CharacterSet::utf8 ? ", h5mote::CharacterSet::utf8" : "";
            }
            return name + ">";
        }
        case TypeClass::opaque:
            return "std::array<std::byte, " + std::to_string(type.size()) + ">";
        case TypeClass::array: {
            std::string name = this->type(type.base(), hint);
            for (unsigned i = type.rank(); i-- > 0;) {
                name.insert(0, "std::array<").append(", ").append(std::to_string(type.dimension(i))).append(">");
            }
            return name;
        }
        default:
            break;
    }
    if (is_bool(type)) {
        return "bool";
    }
    const auto known = names_.find(key(type));
    if (known != names_.end()) {
        return known->second;
    }
    std::string name = type.type_class() == TypeClass::compound ? declare_struct(type, hint) : declare_enum(type, hint);
    names_[key(type)] = name;
    return name;
}

std::string CppTypes::member_value(const Member& member, const std::byte* at, std::size_t dimension) {
    if (member.is_padding) {
        return "{}";
    }
    if (dimension < member.dims.size()) {
        std::uint32_t step = member.size;
        for (std::size_t i = 0; i <= dimension; ++i) {
            step /= member.dims[i];
        }
        std::string list = "{";
        for (std::uint32_t i = 0; i < member.dims[dimension]; ++i) {
            list += (i == 0 ? "" : ", ") + member_value(member, at + i * step, dimension + 1);
        }
        return list + "}";
    }
    if (member.type.type_class() == TypeClass::opaque) {
        return opaque(at, member.type.size(), "{", "}");
    }
    return is_plain_text(member.type) && member.dims.empty() ? characters(at, member.type.size(), false)
                                                             : value(member.type, at, false);
}

std::string CppTypes::value(DatatypeView type, const std::byte* at, bool is_typed) {
    const std::string name = is_typed ? this->type(type, "value") : "";
    switch (type.type_class()) {
        case TypeClass::integer:
            return is_typed ? name + "{" + integer(type, at) + "}" : integer(type, at);
        case TypeClass::floating:
            return type.size() == 4
                       ? floating<float>(static_cast<std::uint32_t>(bits_of(at, 4)), "float", "std::uint32_t", "F")
                       : floating<double>(bits_of(at, 8), "double", "std::uint64_t", "");
        case TypeClass::string:
            return name + characters(at, type.size(), true);
        case TypeClass::opaque:
            return name + opaque(at, type.size(), "{{", "}}");
        case TypeClass::compound: {
            std::string list = name + "{";
            bool first = true;
            for (const Member& member : members(type)) {
                list += (first ? "" : ", ") + member_value(member, at + member.offset, 0);
                first = false;
            }
            return list + "}";
        }
        default:
            break;
    }
    if (is_bool(type)) {
        return static_cast<unsigned>(*at) != 0 ? "true" : "false";
    }
    const std::string own = this->type(type, "value");
    EnumMember found;
    return type.find_enum_value(at, found) ? own + "::" + members_[key(type)][std::string(found.name)]
                                           : "static_cast<" + own + ">(" + integer(type.base(), at) + ")";
}

}  // namespace h5mote::cli
