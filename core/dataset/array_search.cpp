#include "array_search.hpp"

namespace h5mote {

// Looks up the array block that holds the element, unless the last search ended in the same block. The block is not
// pinned between two calls: in the meantime chunks may be written to make room in the chunk cache, which moves blocks
// of this index, or the file may be closed.
Status find_element(const ChunkArray& array, ChunkLookup& lookup, Address number, ChunkLocation& location) noexcept {
    OpenChunkIndex& index = array.index;
    ElementBlock& block = lookup.block;
    if (!block.holds(number) || lookup.changes != index.changes) {
        lookup.changes = index.changes;
        lookup.window.close();
        const Status status = array.block_of(index, number, block);
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
    const Status status = block.load(lookup.window, array.element, number, location);
    lookup.window.unpin();
    return status;
}

Status next_element(const ChunkArray& array, ChunkLookup& lookup, ChunkCursor& cursor, Address& number,
                    ChunkLocation& location) noexcept {
    Address& next = cursor.next;
    while (next < array.end) {
        H5MOTE_TRY(find_element(array, lookup, next, location));
        const ElementBlock& block = lookup.block;
        if (block.address == kUndefinedAddress) {
            // The sum may be beyond what an Address can express.
            const std::uint64_t behind = std::uint64_t{block.first} + block.count;
            if (behind >= array.end) {
                break;
            }
            next = static_cast<Address>(behind);
            continue;
        }
        number = next++;
        if (location.address != kUndefinedAddress) {
            array.index.add_size(location);
            return Status::ok;
        }
    }
    return Status::not_found;
}

}  // namespace h5mote
