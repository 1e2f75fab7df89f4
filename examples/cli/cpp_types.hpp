// Datatypes and values as C++: structs and enumerations that H5MOTE_COMPOUND and H5MOTE_ENUM describe, and constants.
#pragma once

#include <h5mote/datatype.hpp>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace h5mote::cli {

/// Whether a name can be that of a member, an enumerator or a namespace.
bool is_identifier(std::string_view name);
/// The name if it can be one, else one that resembles it.
std::string identifier_for(std::string_view name);
/// A string literal with these bytes.
std::string string_literal(std::string_view text);
/// A character as an escape sequence of three octal digits, within a literal.
std::string octal_escape(char character);

/// Why a file of a blueprint cannot have values of this datatype, as the end of a sentence about them; empty: it can.
/// `is_row`: of an extensible dataset, whose rows may be arrays.
std::string no_cpp_type(DatatypeView type, bool is_row);
/// The same for a value of the datatype.
std::string no_cpp_value(DatatypeView type, const std::byte* value);

class CppTypes {
public:
    /// `renamed` is told each name that cannot be one in C++, and the name that stands for it.
    explicit CppTypes(std::function<void(const std::string& name, const std::string& in_cpp)> renamed)
        : renamed_(std::move(renamed)) {}

    /// Keeps the names of members for them: no type gets such a name. To be called for all types before type().
    void reserve(DatatypeView type);
    /// The C++ type of an element. A type that has to be declared gets a name like `hint`.
    std::string type(DatatypeView type, const std::string& hint);
    /// An element as an expression of that type; without `is_typed` as an initializer for one.
    std::string value(DatatypeView type, const std::byte* at, bool is_typed = true);
    /// What type() has declared.
    const std::string& declarations() const { return declarations_; }

private:
    struct Member {
        std::string name;  // in C++
        DatatypeView type;
        std::vector<std::uint32_t> dims;
        std::uint32_t offset = 0;
        std::uint32_t size = 0;
        bool is_padding = false;
    };

    std::string declare_struct(DatatypeView type, const std::string& hint);
    std::string declare_enum(DatatypeView type, const std::string& hint);
    std::vector<Member> members(DatatypeView type);
    std::string member_name(DatatypeView type, std::string_view name, std::set<std::string>& used);
    std::string new_name(const std::string& hint);
    std::string member_value(const Member& member, const std::byte* at, std::size_t dimension);
    static unsigned alignment(DatatypeView type);

    std::function<void(const std::string&, const std::string&)> renamed_;
    std::map<std::string, std::string> names_;                           // of declared types, by their message
    std::map<std::string, std::map<std::string, std::string>> members_;  // of them: names in the file and in C++
    std::set<std::string> used_;
    std::string declarations_;
};

}  // namespace h5mote::cli
