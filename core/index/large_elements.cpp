#include "large_elements.hpp"

#include "metadata_writer.hpp"

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {
namespace {

constexpr unsigned kLargestElement = 8 + 8 + 4;  // address, size, filter mask
static_assert(kLargestElement <= LargeBlocks::kMostUndone);

}  // namespace

Status LargeElements::make(Address address, ConstBytes prefix, Address elements) noexcept {
    std::byte undefined[kLargestElement];
    element_.fill_undefined(undefined, 1);
    const Address size = narrow(prefix.size()) + elements * element_.size();
    MetadataWriter writer(file_, Usage::btree, address, size);
    H5MOTE_TRY(writer.put(prefix));
    for (Address i = 0; i < elements; ++i) {
        H5MOTE_TRY(writer.put({undefined, element_.size()}));
    }
    return writer.end(true);
}

Status LargeElements::make_block(ConstBytes prefix, Address elements, Address size, Address& address) noexcept {
    H5MOTE_TRY(file_.space.allocate(Usage::btree, size, address));
    // Room in the storage is kept for what the cache will write; this block is written now.
    file_.space.unkeep_metadata(size);
    const Status status = make(address, prefix, elements);
    if (status != Status::ok) {
        file_.give_up(address, size, true);
        return status;
    }
    file_.cache.note_fresh(address);
    return Status::ok;
}

// Copies a block or page, whose checksum is verified before and computed anew: that of an unsealed one is out of date.
Status LargeElements::copy(Address from, Address to, Address size) noexcept {
    MetadataWindow window;
    H5MOTE_TRY(file_.window(Usage::btree, from, size, true, window));
    const Address end = size - Address{kChecksumSize};
    MetadataWriter writer(file_, Usage::btree, to, end);
    for (Address done = 0; done < end;) {
        ConstBytes piece;
        const Address left = end - done;
        const Address most = MetadataWindow::kWindow;
        H5MOTE_TRY(window.view(done, static_cast<std::size_t>(left < most ? left : most), piece));
        H5MOTE_TRY(writer.put(piece));
        done += static_cast<Address>(piece.size());
    }
    return writer.end(true);
}

Status LargeElements::copy_all(Address from, Address to, const BlockPages& pages, const std::byte* map) noexcept {
    H5MOTE_TRY(copy(from, to, narrow(pages.block_size)));
    for (std::uint32_t page = 0; page < pages.count; ++page) {
        const std::size_t bit = pages.map + page;
        if ((map[bit / 8] & static_cast<std::byte>(0x80U >> (bit % 8))) != std::byte{0}) {
            const Address offset = narrow(pages.block_size) + Address{page} * narrow(pages.page_size);
            const Address left = pages.space - offset;
            H5MOTE_TRY(copy(from + offset, to + offset, left < pages.page_size ? left : narrow(pages.page_size)));
        }
    }
    return Status::ok;
}

Status LargeElements::move(const BlockMover& mover, CacheEntry& holder, std::size_t pointer, const BlockPages& pages,
                           Pinned& block) noexcept {
    H5MOTE_TRY(mover.allow_change(holder, pointer));
    const Address from = file_.shape().load_addr(holder.at(pointer));
    if (!file_.contains(from, pages.space)) {
        return file_.context.fail(Module::index, H5MOTE_HERE, Status::corrupt_file, 0, from);
    }
    const Phase phase = file_.cache.latest_phase(from, pages.space, mover.phase());
    Address to = 0;
    H5MOTE_TRY(file_.space.allocate(Usage::btree, pages.space, to));
    file_.space.unkeep_metadata(pages.space);
    const std::byte* const map = pages.count == 0 ? nullptr : (pages.map_in_holder ? holder : *block).at(0);
    Status status = copy_all(from, to, pages, map);
    block.reset();
    if (status == Status::ok) {
        // To make room, the cache may have written the holder, so that a change of it could be torn now.
        status = mover.allow_change(holder, pointer);
    }
    if (status != Status::ok) {
        file_.give_up(to, pages.space, true);
        return status;
    }
    mover.set_pointer(holder, pointer, to, phase);
    file_.cache.note_fresh(to);
    file_.give_up(from, pages.space);
    return Status::ok;
}

// Writes elements from address `at` on, and leaves in `location` that of the chunk behind the last one.
Status LargeElements::store(Address at, ChunkLocation& location, Address stride, std::uint32_t count) noexcept {
    std::byte bytes[12 * kLargestElement];
    while (count > 0) {
        const std::uint32_t now = count < 12 ? count : 12;
        for (std::uint32_t i = 0; i < now; ++i) {
            element_.store(bytes + std::size_t{i} * element_.size(), location);
            location.address += stride;
        }
        const std::size_t size = std::size_t{now} * element_.size();
        H5MOTE_TRY(file_.cache.write_past(Usage::btree, at, {bytes, size}));
        at += narrow(size);
        count -= now;
    }
    return Status::ok;
}

Status LargeElements::set(const ElementBlock& block, Address index, ChunkLocation location, Address stride,
                          std::uint32_t count) noexcept {
    const Address offset = block.offset + (index - block.first) * element_.size();
    ChunkLocation old;
    {
        // Verifies the checksum, which would hide damage when it is computed anew.
        MetadataWindow window;
        H5MOTE_TRY(file_.window(Usage::btree, block.address, block.size, true, window));
        H5MOTE_TRY(block.load(window, element_, index, old));
    }
    // The last page of a fixed array may be shorter than the others, and then the cache may have it. Nobody changes it
    // there.
    if (!file_.cache.drop_clean(block.address)) {
        return file_.context.fail(Module::index, H5MOTE_HERE, Status::corrupt_file, 0, block.address);
    }
    // Room in the storage for the checksum, so that the next commit does not fail for want of it.
    const Address room = file_.cache.is_unsealed(block.address) ? 0 : Address{kChecksumSize};
    H5MOTE_TRY(room == 0 ? Status::ok : file_.space.keep_metadata(room));
    const Address at = block.address + offset;
    Status status = file_.cache.unseal(file_.cache, block.address, block.size);
    if (status != Status::ok) {
        if (room != 0) {
            file_.space.unkeep_metadata(room);
        }
        return status;
    }
    status = store(at, location, stride, count);
    if (status != Status::ok) {
        old = count == 1 ? old : ChunkLocation{};
        ChunkLocation back = old;
        if (store(at, back, 0, count) != Status::ok) {
            std::byte bytes[kLargestElement];
            element_.store(bytes, old);
            file_.cache.undo_later(at, {bytes, element_.size()}, count);
        }
    }
    return status;
}

}  // namespace h5mote

#endif
