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

Status StagedBlocks::replace(Address address, Address size, SpaceKind kind) noexcept {
    if (old_count_ == kMost) {
        return file_.context.fail(Module::heap, H5MOTE_HERE, Status::over_budget, kMost);
    }
    old_[old_count_++] = {address, size, kind};
    return Status::ok;
}

bool StagedBlocks::is_unreachable(Address address) noexcept {
    const CacheEntry* const block = file_.cache.touch(address);
    return (block != nullptr && block->fresh()) || address >= file_.superblock().end_of_file;
}

void StagedBlocks::keep() noexcept {
    for (unsigned i = 0; i < old_count_; ++i) {
        const Block& old = old_[i];
        file_.give_up(old.address, old.size, is_unreachable(old.address), old.kind);
    }
    old_count_ = made_count_ = 0;
}

void StagedBlocks::undo() noexcept {
    for (unsigned i = 0; i < made_count_; ++i) {
        file_.give_up(made_[i].address, made_[i].size, true, made_[i].kind);
    }
    old_count_ = made_count_ = 0;
}

}  // namespace h5mote

#endif
