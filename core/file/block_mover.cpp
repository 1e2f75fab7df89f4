#include "block_mover.hpp"

namespace h5mote {
namespace {

// What leads to a moved block waits for everything that the block had to wait for.
Phase later(Phase phase, const CacheEntry& block) noexcept {
    return block.dirty() && block.phase() > phase ? block.phase() : phase;
}

}  // namespace

Status BlockMover::allow_change(const CacheEntry& block, std::size_t from) const noexcept {
    if (file_->one_write(block, from)) {
        return Status::ok;
    }
    return block.address() != root_ ? Status::busy : file_->allow_torn();
}

void BlockMover::set_pointer(CacheEntry& holder, std::size_t pointer, Address to, Phase phase) const noexcept {
    file_->shape().store_addr(holder.at(pointer), to);
    MetadataCache::mark_dirty(holder, pointer, phase_of(holder, phase));
}

Status BlockMover::move(CacheEntry& holder, std::size_t pointer, CacheEntry& block) const noexcept {
    if (block.waits()) {
        // At its new place the block would appear with the block that leads there, before the blocks that it waits for.
        H5MOTE_TRY(file_->order());
    }
    H5MOTE_TRY(allow_change(holder, pointer));
    const Address from = block.address();
    const Phase phase = later(phase_, block);
    Address to = 0;
    H5MOTE_TRY(file_->space.allocate(block.usage(), narrow(block.size()), to));
    file_->cache.move(block, to);
    set_pointer(holder, pointer, to, phase);
    file_->space.release(from, narrow(block.size()), false);
    return Status::ok;
}

Status BlockMover::move(CacheEntry& holder, std::size_t pointer, const BlockPages& pages,
                        Pinned& block) const noexcept {
    H5MOTE_TRY(allow_change(holder, pointer));
    const Address from = file_->shape().load_addr(holder.at(pointer));
    Phase phase = phase_;
    Address to = 0;
    H5MOTE_TRY(file_->space.allocate(Usage::btree, pages.space, to));
    Status status = copy(holder, from, to, pages, block, phase);
    // To make room, the cache may have written the holder, so that a change of it could be torn now.
    status = status == Status::ok ? allow_change(holder, pointer) : status;
    if (status == Status::ok) {
        set_pointer(holder, pointer, to, phase);
    } else {
        block.reset();
    }
    file_->give_up(status == Status::ok ? from : to, pages.space, status != Status::ok);
    return status;
}

Status BlockMover::copy(CacheEntry& holder, Address from, Address to, const BlockPages& pages, Pinned& block,
                        Phase& phase) const noexcept {
    Pinned main;
    H5MOTE_TRY(copy(from, to, pages.block_size, main, phase));
    const std::byte* const map = (pages.map_in_holder ? holder : *main).at(pages.map);
    if (pages.map_in_holder) {
        main.reset();
    }
    for (std::uint32_t i = 1; i <= pages.count; ++i) {
        const std::uint32_t page = pages.last + i < pages.count ? pages.last + i : pages.last + i - pages.count;
        const std::size_t bit = pages.first_bit + page;
        if ((map[bit / 8] & static_cast<std::byte>(0x80U >> (bit % 8))) != std::byte{0}) {
            const Address offset = pages.block_size + Address{page} * pages.page_size;
            const Address left = pages.space - offset;
            block.reset();
            H5MOTE_TRY(copy(from + offset, to + offset,
                            left < pages.page_size ? static_cast<std::size_t>(left) : pages.page_size, block, phase));
        }
    }
    if (main) {
        block = static_cast<Pinned&&>(main);
    }
    return Status::ok;
}

Status BlockMover::copy(Address from, Address to, std::size_t size, Pinned& block, Phase& phase) const noexcept {
    if (const CacheEntry* const old = file_->cache.touch(from)) {
        phase = later(phase, *old);
    }
    return file_->cache.copy(Usage::btree, from, to, size, block);
}

Status BlockMover::split(Pinned& block, std::size_t size, Pinned& first) const noexcept {
    const Address address = block->address();
    const Address space = narrow(block->size());
    const Phase phase = later(phase_, *block);
    Address to = 0;
    H5MOTE_TRY(file_->space.allocate(block->usage(), space, to));
    const Status status = file_->cache.split(block, to, size, first);
    if (status == Status::ok) {
        MetadataCache::mark_dirty(*first, 0, phase);
        file_->space.release(narrow(address + size), narrow(space - size), false);
    } else {
        file_->space.release(to, space, true);
    }
    return status;
}

}  // namespace h5mote
