#include "block_mover.hpp"

namespace h5mote {

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

Status BlockMover::move(CacheEntry& holder, std::size_t pointer, Pinned& block,
                        const BlockPages* pages) const noexcept {
    FileState& file = *file_;
    bool order = block && block->waits();
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        order = order || (block && block->usage() == Usage::object_header && file.waits_for_number(*block, phase_));
    }
    if (order) {
        // At its new place the block would appear with the block that leads there: before the blocks that it waits for,
        // or after what waits for a number in it.
        H5MOTE_TRY(file.order());
    }
    const Address from = file.shape().load_addr(holder.at(pointer));
    const Usage usage = pages == nullptr ? block->usage() : Usage::btree;  // only chunk indexes have pages
    const Address space = pages == nullptr ? narrow(block->size()) : pages->space;
    Phase phase = file.cache.latest_phase(from, space, phase_);
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        if (holder.usage() == Usage::object_header && file.waits_for_number(holder, phase)) {
            H5MOTE_TRY(file.order());
            phase = phase_;
        }
    }
    H5MOTE_TRY(allow_change(holder, pointer));
    Address to = 0;
    H5MOTE_TRY(file.space.allocate(file.space.usage_at(usage, from), space, to));
    if (pages == nullptr) {
        file.cache.move(*block, to);
    } else {
        Status status = copy(holder, from, to, *pages, block);
        if (status == Status::ok) {
            // To make room, the cache may have written the holder, so that a change of it could be torn now.
            status = allow_change(holder, pointer);
        }
        if (status != Status::ok) {
            block.reset();
            file.give_up(to, space, true);
            return status;
        }
    }
    set_pointer(holder, pointer, to, phase);
    file.give_up(from, space);
    return Status::ok;
}

Status BlockMover::copy(CacheEntry& holder, Address from, Address to, const BlockPages& pages,
                        Pinned& block) const noexcept {
    MetadataCache& cache = file_->cache;
    Pinned main;
    H5MOTE_TRY(cache.copy(Usage::btree, from, to, pages.block_size, main));
    const std::byte* const map = (pages.map_in_holder ? holder : *main).at(0);
    if (pages.map_in_holder) {
        main.reset();
    }
    for (std::uint32_t i = 1; i <= pages.count; ++i) {
        const std::uint32_t page = pages.last + i < pages.count ? pages.last + i : pages.last + i - pages.count;
        const std::size_t bit = pages.map + page;
        if ((map[bit / 8] & static_cast<std::byte>(0x80U >> (bit % 8))) != std::byte{0}) {
            const Address offset = pages.block_size + Address{page} * pages.page_size;
            const Address left = pages.space - offset;
            const std::size_t size = left < pages.page_size ? static_cast<std::size_t>(left) : pages.page_size;
            block.reset();
            H5MOTE_TRY(cache.copy(Usage::btree, from + offset, to + offset, size, block));
        }
    }
    if (main) {
        block = static_cast<Pinned&&>(main);
    }
    return Status::ok;
}

Status BlockMover::split(Pinned& block, std::size_t size, Pinned& first) const noexcept {
    FileState& file = *file_;
    const Address address = block->address();
    const Address space = narrow(block->size());
    const Phase phase = file.cache.latest_phase(address, 1, phase_);
    Address to = 0;
    H5MOTE_TRY(file.space.allocate(file.space.usage_at(block->usage(), address), space, to));
    const Status status = file.cache.split(block, to, size, first);
    if (status == Status::ok) {
        MetadataCache::mark_dirty(*first, 0, phase);
        file.space.release(narrow(address + size), narrow(space - size), false);
    } else {
        file.space.release(to, space, true);
    }
    return status;
}

}  // namespace h5mote
