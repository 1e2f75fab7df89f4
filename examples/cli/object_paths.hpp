// Paths of objects by their addresses: the first under which an object is met by hard links from the root group on.
//
// Paths are kept in a table as far as its budget goes. Those that did not fit are found by walking the file again.
#pragma once

#include "output.hpp"

#include <h5mote/group.hpp>

#include <cstddef>
#include <string_view>

namespace h5mote::cli {

class ObjectPaths {
public:
    /// `budget`: bytes that the table may take of the context's memory. Objects are met in this order.
    ObjectPaths(Context& context, const Group& root, std::size_t budget, IndexOrder order = IndexOrder::name,
                Direction direction = Direction::increasing);
    ObjectPaths(const ObjectPaths&) = delete;
    ObjectPaths& operator=(const ObjectPaths&) = delete;
    ~ObjectPaths();

    /// Writes the absolute path. not_found: no hard link leads there. Errors of Group::visit().
    Status put(TextSink& sink, Address address);
    /// ok, or not_found.
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
    bool complete_ = false;  // the table has all
    Entry** buckets_ = nullptr;
    std::size_t bucket_count_ = 0;
};

}  // namespace h5mote::cli
