// What a file holds, as a value: built by the writing test as its model, and read from files by either library.
#pragma once

#include "libhdf5.hpp"

#include <h5mote/file.hpp>

#include <map>
#include <string>

namespace differential {

struct Extent {
    h5mote::DataspaceClass space_class = h5mote::DataspaceClass::scalar;
    Sizes dims;
    Sizes max_dims;

    std::uint64_t count() const noexcept;
    h5mote::Dataspace dataspace() const noexcept;
    Id id() const;
    bool operator==(const Extent& other) const noexcept {
        return space_class == other.space_class && dims == other.dims && max_dims == other.max_dims;
    }
};

struct AttributeValue {
    Type type;
    Extent extent;
    Blob values;
};

struct LinkValue {
    bool soft = false;
    std::string path;        ///< of a soft link
    std::size_t object = 0;  ///< of a hard link: its place in Tree::objects
};

struct ObjectValue {
    enum class Kind { group, dataset };

    Kind kind = Kind::group;
    std::map<std::string, AttributeValue> attributes;
    // Groups.
    std::map<std::string, LinkValue> links;
    bool ordered = false;            ///< keeps the order in which its links were made
    std::vector<std::string> order;  ///< names in that order
    // Datasets.
    Type type;
    Extent extent;
    Blob values;  ///< all elements as they stand in the file
    Blob known;   ///< a model's: 0xff for each byte of `values` that both libraries must agree about
};

struct Tree {
    std::vector<ObjectValue> objects = std::vector<ObjectValue>(1);  ///< the root group first

    /// Where an object stands: the first path that leads to it, "" for the root, "?" if none does.
    std::string path_of(std::size_t object) const;
    /// Hard links to it.
    std::size_t links_to(std::size_t object) const;
};

/// Reads everything. Throws Difference for what cannot be read.
Tree read_libhdf5(hid_t file);
/// `library` borrows; the file stays open.
Tree read_h5mote(h5mote::Library& library, h5mote::File& file);
/// Throws Difference where `seen` is not what `model` says; `who` tells whose file was read by whom.
void compare(const Tree& model, const Tree& seen, const std::string& who);

/// A status with the newest record of the trail, for people.
std::string say(h5mote::Library& library, h5mote::Status status);

}  // namespace differential
