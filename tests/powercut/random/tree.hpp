// The whole content of a file, in a form that is the same whether libhdf5 or h5mote has read it.
#pragma once

#include <h5mote/driver.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace h5mote_test {

using Blob = std::vector<std::byte>;
using Dims = std::vector<std::uint64_t>;

struct Tree {
    /// Bytes that a string of variable length has here, in datasets and attributes: padded with zeros.
    static constexpr std::uint32_t kTextWidth = 48;
    /// The name under which a comment stands among the attributes of its object, and bytes that it has at most.
    static constexpr const char* kComment = "<comment>";
    static constexpr std::size_t kMostComment = 300;

    struct Attribute {
        std::string name;
        Blob value;
    };
    struct Link {
        std::string name;
        bool hard = true;
        std::uint64_t address = 0;  ///< of a hard link: the address of its object
        std::string target;         ///< of a soft link: its target; of an external one: file, colon and target
    };
    struct Node {
        bool dataset = false;
        bool datatype = false;    ///< a committed datatype
        std::vector<Link> links;  ///< of a group, sorted by name; a name that the file has twice is listed twice
        std::vector<Attribute> attributes;
        std::uint64_t attribute_count = 0;  ///< the number that the library reports without listing them
        Dims dims;
        std::uint32_t element = 0;  ///< bytes of an element in the file
        std::string mark;           ///< tag of its opaque type or of the first member; of datasets libhdf5 only
        Blob data;                  ///< all elements, in the datatype that the file has
    };

    std::map<std::uint64_t, Node> nodes;  ///< by the address of the object header
    std::uint64_t root = 0;
};

/// Adds the comment of an object to its attributes; an empty text is none.
void put_comment(std::string_view text, Tree::Node& node);
/// Adds a string, which may be nullptr, in the form in which a Tree has it.
void put_text(const char* text, Blob& padded);
/// Reads a whole file with libhdf5. Returns what could not be read; empty: nothing.
std::string read_by_libhdf5(h5mote::ConstBytes image, Tree& tree);
/// The same with h5mote, and what check_file() finds in the file. Only in profile full, which can read everything.
std::string read_by_h5mote(h5mote::Driver& driver, Tree& tree);
/// Describes where two trees differ; empty when they do not.
std::string difference(const Tree& a, const Tree& b);

}  // namespace h5mote_test
