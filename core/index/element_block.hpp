// H5FA H5EA - where elements of a chunk index stand side by side, for reading arrays whose blocks have any size.
#pragma once

#include "chunk_element.hpp"
#include "file_state.hpp"

namespace h5mote {

#if H5MOTE_ALL_FORMATS

/// Elements of an array that stand side by side in one block of the file.
struct ElementBlock {
    Address address = kUndefinedAddress;  ///< of the block, checksum included; undefined: no element was ever set
    Address size = 0;                     ///< bytes of the block
    Address offset = 0;                   ///< of the first element in it
    Address first = 0;                    ///< number of that element
    Address count = 0;                    ///< elements

    bool holds(Address index) const noexcept { return index >= first && index - first < count; }
    /// Element `index`, which it holds, from the block in `window`.
    Status load(MetadataWindow& window, const ChunkElementFormat& element, Address index,
                ChunkLocation& location) const noexcept {
        ConstBytes bytes;
        H5MOTE_TRY(window.view(offset + (index - first) * element.size(), element.size(), bytes));
        location = element.load(bytes.data());
        return Status::ok;
    }
};

/// Element `index` of a block that exists.
inline Status load_element(FileState& file, const ElementBlock& block, const ChunkElementFormat& element, Address index,
                           ChunkLocation& location) noexcept {
    MetadataWindow window;
    H5MOTE_TRY(file.window(Usage::btree, block.address, block.size, true, window));
    return block.load(window, element, index, location);
}

#endif

}  // namespace h5mote
