// H5HF - removing objects from a fractal heap, and the blocks that have none any more.
#include "fractal_heap_changes.hpp"

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {

Status FractalHeapChanges::remove(ConstBytes id) noexcept {
    id = id.first(header_.id_length);
    switch (FractalHeapId::kind(id)) {
        case FractalHeapId::Kind::managed:
            return remove_managed(id);
        case FractalHeapId::Kind::huge:
            return remove_huge(id);
        case FractalHeapId::Kind::tiny:
            header_.tiny -= header_.tiny == 0 ? 0U : 1U;
            header_.tiny_bytes -= narrow(FractalHeapId::tiny(id).size());
            return Status::ok;
        default:
            return damaged(H5MOTE_HERE, header_block_->address());
    }
}

Status FractalHeapChanges::remove_managed(ConstBytes id) noexcept {
    const auto prefix_size = static_cast<Address>(overhead());
    Address offset = 0;
    Address size = 0;
    FractalHeapId::managed(header_, id, offset, size);
    if (header_.root == kUndefinedAddress || header_.managed == 0) {
        return damaged(H5MOTE_HERE, header_block_->address());
    }
    H5MOTE_TRY(note_released(offset, size));
    H5MOTE_TRY(descend(offset));
    const Slot slot = path_[depth_];
    if (slot.address == kUndefinedAddress || size == 0 || size > header_.max_managed ||
        offset - slot.offset < prefix_size || !within(offset - slot.offset, size, slot.size) ||
        !file_.contains(slot.address, slot.size)) {
        return damaged(H5MOTE_HERE, header_block_->address());
    }
    --header_.managed;
    header_.free_space += size;
    const HeapSections::Section section = sections_.add(offset, size);
    return section.size == slot.size - prefix_size ? remove_block() : Status::ok;
}

// Gives up the last block of the path, which has no object.
Status FractalHeapChanges::remove_block() noexcept {
    const Slot slot = path_[depth_];
    sections_.remove(slot.offset, slot.size);
    H5MOTE_TRY(blocks_.replace(slot.address, slot.size));
    header_.allocated -= slot.size;
    if (depth_ == 0) {
        header_.root = kUndefinedAddress;
    } else {
        H5MOTE_TRY(set_entry(depth_ - 1, kUndefinedAddress));
    }
    if (header_.root != kUndefinedAddress) {
        return shrink();
    }
    header_.root_rows = 0;
    header_.managed_space = header_.allocated = header_.free_space = header_.iterator = 0;
    return Status::ok;
}

// Finds the end of the last direct block, the row in which the root has its last entry, and whether that is the first
// of all blocks.
Status FractalHeapChanges::last_block(Address& end, unsigned& row, bool& only_first) noexcept {
    Slot block = root();
    for (unsigned level = 0; block.rows != 0; ++level) {
        Pinned pinned;
        H5MOTE_TRY(pin(block, pinned));
        unsigned entry = block.rows * header_.width;
        Address address = kUndefinedAddress;
        while (entry != 0 && address == kUndefinedAddress) {
            --entry;
            address = file_.shape().load_addr(pinned->at(entry_offset(entry)));
        }
        if (address == kUndefinedAddress || level == kMostDepth) {
            return damaged(H5MOTE_HERE, block.address);
        }
        const unsigned its_row = entry / header_.width;
        if (level == 0) {
            row = its_row;
            only_first = entry == 0;
        }
        block = slot_at(block,
                        block.offset + header_.row_offset(its_row) + entry % header_.width * header_.row_size(its_row));
        block.address = address;
    }
    end = block.offset + block.size;
    path_[0] = block;
    depth_ = 0;
    return Status::ok;
}

// After a block was given up: new blocks go behind the last one that is left, and the root becomes smaller, as in
// libhdf5.
Status FractalHeapChanges::shrink() noexcept {
    unsigned row = 0;
    bool only_first = false;
    const Slot old = root();
    H5MOTE_TRY(last_block(header_.iterator, row, only_first));
    if (only_first) {
        const Address objects = used();
        H5MOTE_TRY(blocks_.replace(old.address, header_.indirect_size(file_.shape(), old.rows)));
        header_.root = path_[0].address;
        header_.root_rows = 0;
        header_.managed_space = header_.row_size(0);
        header_.free_space = payload(0) - objects;
        return Status::ok;
    }
    const unsigned rows = 2U << floor_log2(row);
    return rows < old.rows ? resize_root(rows) : Status::ok;
}

bool FractalHeapChanges::is_released(Address offset, Address size) const noexcept {
    const ReleasedHeapSpace* const released = file_.foreign()->released;
    return released != nullptr && released->has(header_block_->address(), file_.foreign()->commits, offset, size);
}

// The bytes are free in what is committed next, and in use in what is on the storage now.
Status FractalHeapChanges::note_released(Address offset, Address size) noexcept {
    if (file_.is_atomic()) {
        return Status::ok;
    }
    ForeignState& state = *file_.foreign();
    if (state.released == nullptr) {
        state.released = file_.context.create<ReleasedHeapSpace>(MemoryKind::file);
        if (state.released == nullptr) {
            return Status::out_of_memory;
        }
    }
    const Address heap = header_block_->address();
    if (!state.released->has_room(heap, state.commits)) {
        H5MOTE_TRY(file_.order());
    }
    state.released->add(heap, state.commits, offset, size);
    removed_ = offset;
    removed_size_ = size;
    return Status::ok;
}

}  // namespace h5mote

#endif
