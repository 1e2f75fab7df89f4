// What a random workload did to a file, and what may therefore be found in it after a cut. Of each thing (a link, an
// attribute, an extent, an element) every state is kept that it has been in since the last acknowledgement; the last
// one is what it should become.
#pragma once

#include "tree.hpp"

#include <set>

namespace h5mote_test {

class World {
public:
    struct Link {
        enum class Type { none, hard, soft };
        Type type = Type::none;
        unsigned object = 0;  ///< number of the object that a hard link leads to
        std::string target;   ///< of a soft link

        bool operator==(const Link& other) const {
            return type == other.type && object == other.object && target == other.target;
        }
    };
    struct Value {
        bool there = false;
        Blob bytes;
    };
    /// The first dimension may have any size from `least` on.
    struct Extent {
        Dims dims;
        std::uint64_t least = 0;

        bool allows(const Dims& found) const;
    };
    /// How a dataset was made.
    struct Shape {
        std::uint32_t element = 1;           ///< bytes
        std::vector<std::uint32_t> members;  ///< bytes of each member of a compound, none of an opaque type
        Dims box;                            ///< no dimension grows beyond this
        bool extensible = false;
        bool is_log = false;  ///< append() works
        Blob fill;            ///< one element
        Blob type;            ///< the encoded datatype
        unsigned mark = 0;    ///< stands in its tags
    };
    struct Object {
        bool dataset = false;
        std::map<std::string, std::vector<Link>> links;
        std::map<std::string, std::vector<Value>> attributes;
        Shape shape;
        std::vector<Extent> extents;
        Blob now;                                         ///< the elements of the whole box
        std::map<std::size_t, std::vector<Blob>> before;  ///< what else an element has been, by its place in the box

        const Dims& dims() const { return extents.back().dims; }
        std::size_t place(const Dims& at) const;
        /// Gives an element another value.
        void set(std::size_t place, const std::byte* value);
        /// The same for some of its bytes.
        void set_bytes(std::size_t place, std::size_t offset, std::size_t size, const std::byte* value);
    };

    World();

    std::map<unsigned, Object> objects;
    unsigned made = 1;
    bool created = false;  ///< false: there may be no file yet

    Object& root() { return objects.at(0); }
    /// What stands under the path now; nullptr when nothing or a soft link does.
    Object* find(const std::string& path);
    /// The last state of a link; `path` ends in its name.
    Link link(const std::string& path);
    void set_link(const std::string& path, const Link& link);
    unsigned add(Object&& object);

    /// Every thing is in its last state and in no other.
    void settle();
    /// `found` is what is there and will be gone on from. What may be found after a cut stays what it was, but for what
    /// never reached the storage: the rows behind those that were found.
    void adopt(const World& found);

    /// Empty when the tree is one of those that may be; `found` then has all things as they were found.
    std::string judge(const Tree& tree, World& found) const;

private:
    Object* parent(const std::string& path, std::string& name);
    std::string judge(const Tree& tree, unsigned object, std::uint64_t address, const std::string& path,
                      World& found) const;
    std::string judge_data(const Object& object, const Tree::Node& node, const std::string& path, Object& found) const;
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
