// A model of what a random workload did to a file, and so of what may be found in the file after a cut. For each link,
// attribute, extent and element it keeps every state since the last acknowledgement; the last one is the newest.
#pragma once

#include "tree.hpp"

#include <set>

namespace h5mote_test {

class World {
public:
    static constexpr unsigned kNoObject = ~0U;
    struct Link {
        enum class Type { none, hard, soft };
        Type type = Type::none;
        unsigned object = 0;  ///< of a hard link: the number of its object
        std::string target;   ///< of a soft link: its target; of an external one: file, colon and target

        bool operator==(const Link& other) const {
            return type == other.type && object == other.object && target == other.target;
        }
    };
    struct Value {
        bool there = false;
        Blob bytes;
    };
    /// The dimensions of a dataset; the first one may be found with any size from `least` to dims[0].
    struct Extent {
        Dims dims;
        std::uint64_t least = 0;

        bool allows(const Dims& found) const;
    };
    /// How a dataset was made.
    struct Shape {
        std::uint32_t element = 1;           ///< bytes of an element
        std::vector<std::uint32_t> members;  ///< bytes of each member of a compound; empty for an opaque type
        Dims box;                            ///< no dimension grows beyond this
        Dims chunk;                          ///< dimensions of a chunk, if it is chunked
        std::size_t filters = 0;             ///< how many there are
        bool chunked = false;                ///< set_extent() works
        bool is_log = false;                 ///< append() works: one dimension, which is unlimited
        /// A virtual dataset whose sources are not there: all elements have the fill value.
        bool is_virtual = false;
        /// The elements are strings of variable length. Here each is a text of `element` bytes, padded with zeros.
        bool texts = false;
        Blob fill;          ///< the fill value
        Blob type;          ///< the encoded datatype
        unsigned mark = 0;  ///< the tag of its opaque types, by which the dataset is recognised
    };
    struct Object {
        bool dataset = false;
        bool datatype = false;  ///< a committed one; `shape` has its size and mark
        std::map<std::string, std::vector<Link>> links;
        std::map<std::string, std::vector<Value>> attributes;
        /// Old and new names of attributes that were there for certain when they were renamed: one of both is found,
        /// unless more was done with one.
        std::vector<std::pair<std::string, std::string>> renamed;
        Shape shape;
        std::vector<Extent> extents;
        Blob now;                                         ///< the newest elements of the whole box
        std::map<std::size_t, std::vector<Blob>> before;  ///< earlier values of elements, by their place in the box
        /// Elements that a smaller extent has cut off and that were not written since: the first of `extents` without
        /// them. Where an earlier extent is found they have an earlier value.
        std::map<std::size_t, std::size_t> cut_off;

        bool is_group() const { return !dataset && !datatype; }
        /// Whether nothing but what is stored in an object tells it from this one.
        bool looks_like(const Object& other) const {
            return dataset == other.dataset && datatype == other.datatype && shape.mark == other.shape.mark;
        }
        const Dims& dims() const { return extents.back().dims; }
        std::size_t place(const Dims& at) const;
        /// Gives an element another value.
        void set(std::size_t place, const std::byte* value);
        /// The same for some of its bytes.
        void set_bytes(std::size_t place, std::size_t offset, std::size_t size, const std::byte* value);
        /// Gives the dataset a smaller extent. What it cuts off has the fill value when the extent grows again.
        void shrink(const Dims& dims);
        /// Whether one of the extents is smaller than the one before it.
        bool was_shrunk() const;
        /// Gives an attribute another state.
        void set_attribute(const std::string& name, const Value& value);
        /// Gives the newest state of an attribute to another name.
        void rename_attribute(const std::string& from, const std::string& to);
    };

    World();

    std::map<unsigned, Object> objects;  ///< by number; 0 is the root group
    /// The same for links that were moved: the number of the group and the name.
    using Place = std::pair<unsigned, std::string>;
    std::vector<std::pair<Place, Place>> moved;
    unsigned made = 1;     ///< the number of the next object
    bool created = false;  ///< false: there may be no file yet

    Object& root() { return objects.at(0); }
    /// The object of this path now; nullptr when there is none, or a soft or external link.
    Object* find(const std::string& path);
    /// The newest state of a link; `path` ends in its name.
    Link link(const std::string& path);
    void set_link(const std::string& path, const Link& link);
    /// Whether the name has stood for another object that looks like `object` since the last acknowledgement: the same
    /// dataset copied, or both groups. What is found under that name could not be told apart. `copied`: it would stand
    /// for a copy of `object`, so that this one looks like it, too.
    bool ambiguous(const std::string& path, unsigned object, bool copied = false);
    /// The same for an object that is going to be made. `itself`: a number that is no other object's.
    bool ambiguous(const std::string& path, const Object& object, unsigned itself = kNoObject);
    /// Gives the newest state of a link to another path.
    void move_link(const std::string& from, const std::string& to);
    unsigned add(Object&& object);
    /// Makes a link to a copy of the newest state of an object and of all below it. `shallow`: a group's groups are
    /// copied without their content.
    void copy(const std::string& from, const std::string& to, bool shallow, bool with_attributes);

    /// Forgets all states but the newest ones, which an acknowledgement made certain.
    void settle();
    /// Goes on with `found`, which a killed session left on the storage. Nothing was acknowledged, so a cut may still
    /// bring back earlier states; only rows beyond those that were found cannot be, since they never reached the
    /// storage.
    void adopt(const World& found);

    /// Compares a tree with this world. Returns what is wrong; empty: nothing, and `found` is the world that was found.
    std::string judge(const Tree& tree, World& found) const;

private:
    Object* parent(const std::string& path, std::string& name);
    unsigned copy(unsigned number, unsigned levels, bool with_attributes, std::map<unsigned, unsigned>& copies);
    unsigned number_of(const Object& object) const;
    std::string judge(const Tree& tree, unsigned object, std::uint64_t address, const std::string& path,
                      World& found) const;
    std::string judge_data(const Object& object, const Tree::Node& node, const std::string& path, Object& found) const;
    static bool is_marked(const Object& object, const Tree::Node& node);
    void keep_reachable();
};

/// Calls `each` with the coordinates of every element of an extent, in row-major order.
template <typename Each>
void for_each_element(const Dims& dims, const Each& each) {
    Dims at(dims.size());
    for (const std::uint64_t dim : dims) {
        if (dim == 0) {
            return;
        }
    }
    for (;;) {
        each(at);
        std::size_t d = dims.size();
        while (d > 0 && ++at[d - 1] == dims[d - 1]) {
            at[--d] = 0;
        }
        if (d == 0) {
            return;
        }
    }
}

}  // namespace h5mote_test
