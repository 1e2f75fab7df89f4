// H5FA H5EA - a run of neighbouring elements in a chunk index's array, for reading arrays whose blocks have any size.
#pragma once

#include "chunk_element.hpp"
#include "file_state.hpp"

namespace h5mote {

/// Elements of an array that stand side by side in one block of the file.
struct ElementBlock {
    Address address = kUndefinedAddress;  ///< of the block; undefined: none of the elements was ever set
    Address size = 0;                     ///< bytes of the block, checksum included
    Address offset = 0;                   ///< offset in the block of the first element
    Address first = 0;                    ///< index in the array of the first element
    Address count = 0;                    ///< number of elements

    bool holds(Address index) const noexcept { return index >= first && index - first < count; }
    /// Loads element `index`, for which holds() is true, from the block that `window` has open.
    Status load(MetadataWindow& window, const ChunkElementFormat& element, Address index,
                ChunkLocation& location) const noexcept {
        ConstBytes bytes;
        H5MOTE_TRY(window.view(offset + (index - first) * element.size(), element.size(), bytes));
        location = element.load(bytes.data());
        return Status::ok;
    }
};

/// Opens the block and loads element `index`, for which holds() is true. The address in `location` is undefined if the
/// block was never made.
inline Status load_element(FileState& file, const ElementBlock& block, const ChunkElementFormat& element, Address index,
                           ChunkLocation& location) noexcept {
    location = ChunkLocation{};
    if (block.address == kUndefinedAddress) {
        return Status::ok;
    }
    MetadataWindow window;
    H5MOTE_TRY(file.window(Usage::btree, block.address, block.size, true, window));
    return block.load(window, element, index, location);
}

}  // namespace h5mote
