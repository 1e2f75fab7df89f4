// H5HG - where in the global heap of a file an object was found last. Objects lie in any order in their collection and
// are found by walking through it: who asks for them one after another goes on from here.
#pragma once

#include <h5mote/address.hpp>

#include <cstdint>

namespace h5mote {

/// An object in a collection, or the free space that ends the collection.
struct HeapObject {
    Address at = 0;           ///< offset of its header in the collection
    Address size = 0;         ///< bytes of its data
    Address space = 0;        ///< bytes with its header and padding
    std::uint32_t index = 0;  ///< 0: free space
    bool removed = false;
};

struct HeapPosition {
    Address collection = kUndefinedAddress;
    Address size = 0;  ///< of the collection
    HeapObject last;   ///< index 0: no object was found yet
};

}  // namespace h5mote
