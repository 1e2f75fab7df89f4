// Random datasets for the comparison of the filters that compress.
#pragma once

#include "libhdf5.hpp"

#include <h5mote/filter.hpp>

namespace differential {

/// What a dataset is filtered by: n-bit, scale-offset of integers or floats, szip.
enum class Kind { nbit, integers, floats, szip };

/// A dataset to be made by both libraries.
struct Draw {
    Kind kind = Kind::nbit;
    Type type;
    std::vector<hsize_t> dims;
    std::vector<hsize_t> chunk;
    h5mote::FilterSpec spec;
    int digits = 0;          // of floats
    unsigned roundings = 1;  // how often a float may have been rounded to them
    double largest = 0;      // of the floats that a chunk may have had: all are rounded at its size
    bool mandatory = false;
    bool undefined = false;
    Blob fill;
    Blob values;

    std::size_t elements() const {
        std::size_t count = 1;
        for (const hsize_t dim : dims) {
            count *= dim;
        }
        return count;
    }
};

/// A dataset with values: the type, the shape, the filter and the values are random.
Draw draw_dataset(Random& random);
/// Other values of the same dataset.
void draw_values(Random& random, Draw& draw);
/// Element `i` of floating-point values.
double number_at(const Draw& draw, const Blob& values, std::size_t i);

}  // namespace differential
