// A sidecar (expect.py) in memory: the statements that say what a file is meant to contain.
#pragma once

#include "describe.hpp"

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace h5mote_interop {

/// One statement with its data and, for an object, its attributes.
struct Entry {
    std::string kind;  ///< group dataset datatype attr softlink hardlink externallink
    std::string path;
    std::string name;                           ///< attribute: its name
    std::vector<std::string> target;            ///< link: its target
    std::map<std::string, std::string> fields;  ///< the fields KEY=VALUE: type, shape ...
    Blob data;
    std::string digest;  ///< a data-crc32 or data-sha256 statement in place of data
    bool skip = false;
    bool summarize = false;  ///< print() gives a checksum in place of the data
    std::deque<Entry> attributes;

    std::string field(const char* key, const char* otherwise = "") const;
    h5mote::Dataspace space() const { return parse_space(field("shape"), field("max")); }
};

/// The sidecar of one file, in the order of the statements. References to entries stay valid when others are added.
class Sidecar {
public:
    std::string superblock;
    std::deque<Entry> entries;

    /// Reads a sidecar. Ends the program with a message if the file cannot be read or has an unknown statement.
    static Sidecar load(const std::string& path);
    void save(const std::string& path) const;

    Entry& add(const char* kind, const std::string& path);
    /// The entry with that path, or nullptr if there is none.
    Entry* find(const std::string& path);
    /// The entry with that path. Ends the program if there is none.
    Entry& at(const std::string& path);
    static Entry* find_attribute(Entry& object, const std::string& name);

private:
    void statement(const std::vector<std::string>& words, Entry*& last);
};

std::string parent_of(const std::string& path);
std::string leaf_of(const std::string& path);

/// Prints a message and ends the program with code 1.
[[noreturn]] void die(const char* format, ...) __attribute__((format(printf, 1, 2)));

Blob read_file(const std::string& path);
void write_file(const std::string& path, h5mote::ConstBytes bytes);
std::vector<std::string> read_lines(const std::string& path);

}  // namespace h5mote_interop
