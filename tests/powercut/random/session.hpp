// Shared by the two sources of Player: the open file with its handles, and the functions that draw datasets.
#pragma once

#include "../workload_allocator.hpp"
#include "player.hpp"

namespace h5mote_test {

struct Player::Session {
    explicit Session(h5mote::Driver& inner) : driver(inner) { allocator.prepare(library); }

    Killable driver;
    FrugalAllocator allocator;
    h5mote::NullPort port;
    h5mote::Library library{allocator, port, all_filters()};
    h5mote::File file;
    h5mote::Group root;
    std::map<unsigned, h5mote::Dataset> datasets;  // open datasets, by their number in World::objects
};

/// Random bytes.
Blob draw_bytes(std::size_t size, Random& random);
/// Encodes an opaque datatype of `size` bytes, or a compound of opaque members (those of `sizes` that are `chosen`).
/// The tag of an opaque type is the dataset's `mark`, by which the dataset is recognised under whatever name it is
/// found.
Blob encode_opaque(std::uint32_t size, unsigned mark);
Blob encode_compound(const std::vector<std::uint32_t>& sizes, const std::vector<bool>& chosen, unsigned mark);

/// How a random dataset is created.
struct DatasetDraw {
    World::Shape shape;
    h5mote::DatasetCreate create;
    Dims dims;
    Dims max_dims;
};
/// In the result, `create.fill` borrows from `shape.fill`. `largest_compact`: bytes that a compact dataset may have.
void draw_dataset(Random& random, std::uint32_t largest_compact, unsigned mark, DatasetDraw& draw);

}  // namespace h5mote_test
