#include "array_search.hpp"

namespace h5mote {

// Looks up the array block that holds the element, unless the last search ended in the same block. The block is not
// pinned between two calls: in the meantime chunks may be written to make room in the chunk cache, which moves blocks
// of this index, or the file may be closed.
Status find_element(OpenChunkIndex& index, BlockOf block_of, ChunkLookup& lookup, ChunkNumber number,
                    ChunkLocation& location) noexcept {
    ElementBlock& block = lookup.block;
    if (!block.holds(number) || lookup.changes != index.changes) {
        lookup.changes = index.changes;
        lookup.window.close();
        const Status status = block_of(index, number, block);
        if (status != Status::ok) {
            block = ElementBlock{};
            return status;
        }
    }
    if (block.address == kUndefinedAddress) {
        return Status::ok;
    }
    if (!lookup.window.valid()) {
        H5MOTE_TRY(index.file->window(Usage::btree, block.address, block.size, true, lookup.window));
    }
    const Status status = block.load(lookup.window, index.element(), number, location);
    lookup.window.unpin();
    return status;
}

}  // namespace h5mote
