// The contents of a file as a value (Tree): the writing test builds one as its model, and either library can read one
// from a file.
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

inline constexpr std::size_t kNoObject = ~std::size_t{0};

struct AttributeValue {
    Type type;
    Extent extent;
    Blob values;
    std::size_t type_object = kNoObject;  ///< index in Tree::objects of the committed datatype
};

struct LinkValue {
    bool soft = false;       ///< soft, external or user-defined
    std::string path;        ///< such a link: the path that it names, or link_text()
    std::size_t object = 0;  ///< hard link: index in Tree::objects of the object that it leads to
};
/// What an external link says, and a user-defined one.
std::string link_text(std::string_view file, std::string_view path);
std::string link_text(unsigned link_class, const std::byte* data, std::size_t size);

/// Elements of a virtual dataset that are those of another one.
struct VirtualPart {
    std::size_t source = 0;  ///< index in Tree::objects
    Sizes from;              ///< elements of the source
    std::uint64_t to = 0;    ///< the first of the elements, side by side, of the virtual dataset
};

struct ObjectValue {
    enum class Kind { group, dataset, datatype };

    Kind kind = Kind::group;
    std::map<std::string, AttributeValue> attributes;
    bool attributes_ordered = false;           ///< the object tracks the creation order of its attributes
    std::vector<std::string> attribute_order;  ///< their names in creation order
    std::string comment;
    // Groups.
    std::map<std::string, LinkValue> links;
    bool ordered = false;            ///< the group tracks the creation order of its links
    std::vector<std::string> order;  ///< names of the links in creation order
    // Datasets and committed datatypes.
    Type type;
    // Datasets.
    std::size_t type_object = kNoObject;  ///< index in Tree::objects of the committed datatype
    Extent extent;
    Blob values;                          ///< all elements in their stored form, unless they are references
    bool is_reference = false;            ///< the elements are references to objects ...
    std::vector<std::size_t> references;  ///< ... with these indices in Tree::objects; kNoObject: to none
    bool is_region = false;               ///< they are references to regions ...
    std::vector<Sizes> regions;           ///< ... of these elements, in ascending order
    std::vector<VirtualPart> parts;       ///< in a model, of a virtual dataset
    bool external = false;                ///< in a model: the elements stand in other files
    bool unknown = false;                 ///< in a model: a write that was refused may have left a part of its strings
    Blob known;  ///< in a model: 0xff for each byte of `values` that both libraries must agree about
};

struct Tree {
    /// libhdf5 makes every object track the order of its attributes, because the file shares attributes, or one whose
    /// objects were copied.
    bool tracks_all = false;
    std::vector<ObjectValue> objects = std::vector<ObjectValue>(1);  ///< the root group first

    /// The first path that leads to an object: "" for the root, "?" if there is none.
    std::string path_of(std::size_t object) const;
    /// Number of hard links to an object.
    std::size_t links_to(std::size_t object) const;
};

/// The elements of a region: the numbers of the bytes that are not zero.
Sizes marked(const Blob& marks);
/// Reads the whole file with libhdf5. Throws Difference if anything cannot be read.
Tree read_libhdf5(hid_t file);
/// Reads the whole file with h5mote; the file stays open. Throws Difference if anything cannot be read.
Tree read_h5mote(h5mote::Library& library, h5mote::File& file);
/// Throws Difference if `seen` differs from `model`. `who` says for the message whose file was read by whom.
void compare(const Tree& model, const Tree& seen, const std::string& who);

/// A status and the newest record of the error trail, as text.
std::string say(h5mote::Library& library, h5mote::Status status);

}  // namespace differential
