// Paths of objects by their addresses: the first path under which a walk along hard links from a group meets the
// object.
//
// A table keeps as many paths as its memory budget allows. Other paths are found by walking the file again.
#pragma once

#include "output.hpp"

#include <h5mote/group.hpp>

#include <cstddef>
#include <string_view>

namespace h5mote::cli {

class ObjectPaths {
public:
    /// `root`: the group that the walk starts from. `budget`: bytes of the context's memory that the table may take.
    /// `order` and `direction`: in which order the walk takes the links of a group.
    ObjectPaths(Context& context, const Group& root, std::size_t budget, IndexOrder order = IndexOrder::name,
                Direction direction = Direction::increasing);
    ObjectPaths(const ObjectPaths&) = delete;
    ObjectPaths& operator=(const ObjectPaths&) = delete;
    ~ObjectPaths();

    /// Writes the absolute path. not_found: no hard link leads there. Errors of Group::visit().
    Status put(TextSink& sink, Address address);
    /// Whether a hard link leads to the object: ok or not_found. Errors of Group::visit().
    Status find(Address address);

private:
    struct Entry {
        Entry* next;
        Address address;
        std::size_t length;
        // the path follows
    };
    class Collector;
    class Finder;

    Status lookup(TextSink* sink, Address address);
    Status collect();
    Entry** bucket(Address address);

    Context& context_;
    Group root_;
    std::size_t budget_;
    std::size_t used_ = 0;
    IndexOrder order_;
    Direction direction_;
    bool collected_ = false;
    bool complete_ = false;  // the table holds the paths of all objects
    Entry** buckets_ = nullptr;
    std::size_t bucket_count_ = 0;
};

}  // namespace h5mote::cli
