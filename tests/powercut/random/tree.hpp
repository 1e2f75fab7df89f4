// All that a file holds, as one program reads it: the same whoever reads.
#pragma once

#include <h5mote/driver.hpp>

#include <map>
#include <string>
#include <vector>

namespace h5mote_test {

using Blob = std::vector<std::byte>;
using Dims = std::vector<std::uint64_t>;

struct Tree {
    struct Attribute {
        std::string name;
        Blob value;
    };
    struct Link {
        std::string name;
        bool hard = true;
        std::uint64_t address = 0;  ///< of the object that a hard link leads to
        std::string target;         ///< of a soft link
    };
    struct Node {
        bool dataset = false;
        std::vector<Link> links;  ///< of a group, by name; a name that is there twice stands here twice
        std::vector<Attribute> attributes;
        std::uint64_t attribute_count = 0;  ///< as the program counts without looking at each
        Dims dims;
        std::uint32_t element = 0;  ///< bytes of one in the file
        std::string mark;           ///< tag of its opaque type or of the first member
        Blob data;                  ///< all elements as they stand in the file
    };

    std::map<std::uint64_t, Node> nodes;  ///< by the address of the object header
    std::uint64_t root = 0;
};

/// Reads all of a file. Empty when all of it could be read, else what could not.
std::string read_by_libhdf5(h5mote::ConstBytes image, Tree& tree);
/// The same with h5mote, with what its check finds. Only where it reads everything.
std::string read_by_h5mote(h5mote::Driver& driver, Tree& tree);
/// Where two programs disagree; empty when they do not.
std::string difference(const Tree& a, const Tree& b);

}  // namespace h5mote_test
