// The part of a Player that its two sources share: an open file and the handles in it.
#pragma once

#include "player.hpp"

namespace h5mote_test {

struct Player::Session {
    explicit Session(h5mote::Driver& inner) : driver(inner) {}

    Killable driver;
    h5mote::MallocAllocator allocator;
    h5mote::NullPort port;
    h5mote::Library library{allocator, port, all_filters()};
    h5mote::File file;
    h5mote::Group root;
    std::map<unsigned, h5mote::Dataset> datasets;  // by the number of the object
};

/// Random bytes.
Blob draw_bytes(std::size_t size, Random& random);
/// An opaque type of that many bytes, or a compound of several. Its tag, or that of its members, has a mark of the
/// dataset, so that it is known again under whatever name it is found.
Blob encode_opaque(std::uint32_t size, unsigned mark);
Blob encode_compound(const std::vector<std::uint32_t>& sizes, const std::vector<bool>& chosen, unsigned mark);

/// How a random dataset is made.
struct DatasetDraw {
    World::Shape shape;
    h5mote::DatasetCreate create;
    Dims dims;
    Dims max_dims;
};
/// `fill` of `create` borrows from `shape` of the result.
void draw_dataset(Random& random, std::uint32_t largest_compact, unsigned mark, DatasetDraw& draw);

}  // namespace h5mote_test
