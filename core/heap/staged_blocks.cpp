#include "staged_blocks.hpp"

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {

Status StagedBlocks::note(Address address, Address size, SpaceKind kind) noexcept {
    made_[made_count_++] = {address, size, kind};
    return Status::ok;
}

Status StagedBlocks::create(Usage usage, Address size, Pinned& block, ChecksumPlace checksum) noexcept {
    if (made_count_ == kMost) {
        return file_.context.fail(Module::heap, H5MOTE_HERE, Status::over_budget, kMost);
    }
    H5MOTE_TRY(file_.create_block(usage, static_cast<std::size_t>(size), size, block, checksum));
    return note(block->address(), size, SpaceKind::metadata);
}

Status StagedBlocks::allocate(Usage usage, Address size, Address& address) noexcept {
    if (made_count_ == kMost) {
        return file_.context.fail(Module::heap, H5MOTE_HERE, Status::over_budget, kMost);
    }
    H5MOTE_TRY(file_.space.allocate(usage, size, address));
    if (usage != Usage::raw_data) {
        // Room in the storage is kept for what the cache will write; these bytes are written now.
        file_.space.unkeep_metadata(size);
    }
    return note(address, size, usage == Usage::raw_data ? SpaceKind::raw_data : SpaceKind::metadata);
}

Status StagedBlocks::adopt(Address address, Address size) noexcept {
    return made_count_ == kMost ? file_.context.fail(Module::heap, H5MOTE_HERE, Status::over_budget, kMost)
                                : note(address, size, SpaceKind::metadata);
}

Status StagedBlocks::replace(Address address, Address size, SpaceKind kind) noexcept {
    if (old_count_ == kMost) {
        return file_.context.fail(Module::heap, H5MOTE_HERE, Status::over_budget, kMost);
    }
    old_[old_count_++] = {address, size, kind};
    return Status::ok;
}

void StagedBlocks::give_up(const Block& block, bool is_new) noexcept {
    Pinned pinned = file_.cache.find(block.address);
    const bool fresh = is_new || (pinned && pinned->fresh()) || file_.is_unrecorded(block.address);
    if (fresh && pinned && pinned->dirty()) {
        file_.space.unkeep_metadata(block.size);
    }
    pinned.reset();
    file_.cache.discard(block.address);
    file_.space.release(block.address, block.size, fresh, block.kind);
}

void StagedBlocks::keep() noexcept {
    for (unsigned i = 0; i < old_count_; ++i) {
        give_up(old_[i], false);
    }
    old_count_ = made_count_ = 0;
}

void StagedBlocks::undo() noexcept {
    for (unsigned i = 0; i < made_count_; ++i) {
        give_up(made_[i], true);
    }
    old_count_ = made_count_ = 0;
}

}  // namespace h5mote

#endif
