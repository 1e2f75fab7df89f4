// H5EA - changes of extensible arrays whose data blocks or pages are too large for the metadata cache.
#include "extensible_array.hpp"
#include "index_walk.hpp"
#include "large_elements.hpp"

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {

bool ExtensibleArray::is_large(Address index) const noexcept {
    if (index < parameters.index_block_elements || (std::uint64_t{index} >> parameters.max_bits) != 0) {
        return false;
    }
    const Position at = position(index - parameters.index_block_elements);
    return file().cache.is_large(narrow(pages(at) != 0 ? page_size() : data_block(at).size));
}

Status ExtensibleArray::set_large(Address index, const ChunkLocation& location, Address stride,
                                  std::uint32_t count) noexcept {
    ElementBlock block;
    H5MOTE_TRY(place_large(index, block));
    return LargeElements(file(), element).set(block, index, location, stride, count);
}

Status ExtensibleArray::place_large(Address index, ElementBlock& block) noexcept {
    Pinned none;
    return walk_again(file().context, index, none, [&] { return walk_large(index, block); });
}

Status ExtensibleArray::make_large(CacheEntry& holder, std::size_t pointer, const Block& wanted,
                                   Address& address) noexcept {
    Pinned header;
    H5MOTE_TRY(protect_header(header));
    H5MOTE_TRY(blocks_.allow_change(*header, kStatsOffset));
    std::byte prefix[6 + 8 + 4];
    Writer writer{Bytes(prefix)};
    encode_block(writer, wanted, root());
    LargeElements large(file(), element);
    H5MOTE_TRY(large.make_block({prefix, writer.written()}, wanted.elements, narrow(wanted.size), address));
    const Status status = blocks_.allow_change(holder, pointer);
    if (status != Status::ok) {
        file().give_up(address, narrow(wanted.size), true);
        return status;
    }
    add_stat(*header, wanted.stats, 1);
    add_stat(*header, wanted.stats + 1, wanted.space);
    add_stat(*header, kRealized, wanted.realized);
    blocks_.set_pointer(holder, pointer, address);
    return Status::ok;
}

// As hold_back(), for a block that is not in the cache.
void ExtensibleArray::hold_back_large(CacheEntry& holder, std::size_t pointer, bool fresh) noexcept {
    if (blocks_.phase() == Phase::element && fresh) {
        MetadataCache::mark_dirty(holder, pointer, blocks_.phase_of(holder));
    }
}

Status ExtensibleArray::walk_large(Address index, ElementBlock& block) noexcept {
    const Position at = position(index - parameters.index_block_elements);
    const Block wanted = data_block(at);
    Pinned holder;
    H5MOTE_TRY(protect_index_block(holder));
    std::size_t pointer = 0;
    H5MOTE_TRY(find_pointer(at, holder, pointer));
    block.first = parameters.index_block_elements + wanted.first;
    block.count = at.elements;
    block.offset = narrow(wanted.contents);
    block.size = narrow(wanted.size);
    if (pages(at) != 0) {
        Pinned data;
        const bool missing = element.shape.load_addr(holder->at(pointer)) == kUndefinedAddress;
        H5MOTE_TRY(follow(*holder, pointer, wanted, data));
        if (missing) {
            file().cache.note_fresh(data->address());
        }
        data.reset();
        return walk_large_page(at, *holder, pointer, block);
    }
    block.address = element.shape.load_addr(holder->at(pointer));
    if (block.address == kUndefinedAddress) {
        return make_large(*holder, pointer, wanted, block.address);
    }
    {
        MetadataWindow window;
        H5MOTE_TRY(open_window(block.address, wanted, window));
    }
    LargeElements large(file(), element);
    hold_back_large(*holder, pointer, large.is_fresh(block.address));
    if (!large.in_place(block.address)) {
        const BlockPages whole{wanted.size, narrow(wanted.space), 0, 0, 0, 0, true};
        Pinned none;
        H5MOTE_TRY(large.move(blocks_, *holder, pointer, whole, none));
        block.address = element.shape.load_addr(holder->at(pointer));
    }
    return Status::ok;
}

Status ExtensibleArray::walk_large_page(const Position& at, CacheEntry& super, std::size_t pointer,
                                        ElementBlock& block) noexcept {
    const std::uint32_t count = pages(at);
    const DataPage page = data_page(at);
    const std::size_t size = page_size();
    const std::size_t first = block_prefix_size() + kChecksumSize;
    const Address offset = narrow(page.offset);
    Address data = element.shape.load_addr(super.at(pointer));
    LargeElements large(file(), element);
    if ((*super.at(page.byte) & page.mask) == std::byte{0}) {
        // Nothing leads to the page before its bit is set.
        H5MOTE_TRY(blocks_.allow_change(super, page.byte));
        H5MOTE_TRY(large.make(data + offset, {}, page_elements()));
        if (!large.is_fresh(data)) {
            file().cache.note_fresh(data + offset);
        }
        *super.at(page.byte) |= page.mask;
        MetadataCache::mark_dirty(super, page.byte, blocks_.phase());
    } else {
        hold_back_large(super, page.byte, large.is_fresh(data) || large.is_fresh(data + offset));
        if (!large.in_place(data) && !large.is_fresh(data + offset)) {
            const BlockPages all{first, narrow(first + Address{count} * narrow(size)), size, count, 0, page.first_bit,
                                 true};
            Pinned none;
            H5MOTE_TRY(large.move(blocks_, super, pointer, all, none));
            data = element.shape.load_addr(super.at(pointer));
        }
    }
    block.address = data + offset;
    block.size = narrow(size);
    block.offset = 0;
    block.first += Address{page.number} << parameters.page_bits;
    block.count = page_elements();
    return Status::ok;
}

}  // namespace h5mote

#endif
