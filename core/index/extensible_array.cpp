#include "extensible_array.hpp"

#include "index_walk.hpp"

#include <cstring>

namespace h5mote {
Status ExtensibleArray::create(FileState& file, const ExtensibleArrayParameters& chosen, std::uint8_t size_width,
                               Address& address) noexcept {
    element = {file.shape(), size_width};
    parameters = chosen;
    if (!sound()) {
        return file.context.fail(Module::index, H5MOTE_HERE, Status::corrupt_file);
    }
    Pinned header;
    H5MOTE_TRY(file.create_block(file.space.index_usage(Usage::object_header), header_size(), header_size(), header));
    blocks_ = BlockMover(file, header->address());
    Writer writer(header->image());
    encode(writer);
    Pinned block;
    const std::size_t pointer = index_block_pointer();
    const Status status = make(*header, pointer, index_block(), block);
    if (status != Status::ok) {
        header.reset();
        file.give_up(root(), header_size(), true);
        return status;
    }
    index_block_ = block->address();
    MetadataCache::mark_dirty(*header, 0, blocks_.phase());
    address = root();
    return Status::ok;
}

Status ExtensibleArray::open(FileState& file, Address address, std::uint8_t size_width) noexcept {
    blocks_ = BlockMover(file, address);
    element = {file.shape(), size_width};
    Pinned header;
    H5MOTE_TRY(protect_header(header));
    index_block_ = file.shape().load_addr(header->at(index_block_pointer()));
    return decode(header->image()) ? Status::ok : damaged(H5MOTE_HERE, address);
}

Status ExtensibleArray::protect_header(Pinned& header) noexcept {
    if (!file().contains(root(), header_size())) {
        return damaged(H5MOTE_HERE, root());
    }
    return file().cache.protect(Usage::btree, root(), header_size(), header);
}

void ExtensibleArray::add_stat(CacheEntry& header, std::size_t field, std::uint64_t amount) noexcept {
    const unsigned width = element.shape.sizeof_size;
    const std::size_t at = kStatsOffset + field * width;
    store_uint(header.at(at), width, load_uint(header.at(at), width) + amount);
    MetadataCache::mark_dirty(header, at, blocks_.phase_of(header));
}

Status ExtensibleArray::make(CacheEntry& holder, std::size_t pointer, const Block& wanted, Pinned& block) noexcept {
    Pinned header;
    H5MOTE_TRY(protect_header(header));
    H5MOTE_TRY(blocks_.allow_change(*header, kStatsOffset));
    const Usage usage = file().space.index_usage(wanted.signature == kIndexBlock  ? Usage::object_header
                                                 : wanted.signature == kDataBlock ? Usage::local_heap
                                                                                  : Usage::btree);
    H5MOTE_TRY(file().create_block(usage, wanted.size, wanted.space, block));
    const Status status = blocks_.allow_change(holder, pointer);
    if (status != Status::ok) {
        const Address made = block->address();
        block.reset();
        file().give_up(made, wanted.space, true);
        return status;
    }
    Writer writer(block->image());
    encode_block(writer, wanted, root());
    if (wanted.signature != kIndexBlock) {
        add_stat(*header, wanted.stats, 1);
        add_stat(*header, wanted.stats + 1, wanted.space);
    }
    add_stat(*header, kRealized, wanted.realized);
    element.fill_undefined(block->at(wanted.contents), wanted.elements);
    const std::size_t addresses = wanted.contents + std::size_t{wanted.elements} * element.size();
    std::memset(block->at(addresses), 0xff, wanted.size - kChecksumSize - addresses);
    MetadataCache::mark_dirty(*block, 0, blocks_.phase());
    blocks_.set_pointer(holder, pointer, block->address());
    return Status::ok;
}

Status ExtensibleArray::follow(CacheEntry& holder, std::size_t pointer, const Block& wanted, Pinned& block) noexcept {
    const Address address = element.shape.load_addr(holder.at(pointer));
    if (address == kUndefinedAddress) {
        return make(holder, pointer, wanted, block);
    }
    if (!file().contains(address, wanted.space)) {
        return damaged(H5MOTE_HERE, address);
    }
    H5MOTE_TRY(file().cache.protect(Usage::btree, address, wanted.size, block));
    if (load_le<std::uint32_t>(block->at(0)) != wanted.signature) {
        return damaged(H5MOTE_HERE, address);
    }
    hold_back(holder, pointer, *block);
    // A data block with pages is moved only when one of its pages changes: locate_page().
    return wanted.space == wanted.size ? blocks_.secure(holder, pointer, block, 0) : Status::ok;
}

// A fresh block may be written before the header counts the elements that are now set in it. The pointer to the block
// must therefore wait for the header: libhdf5 takes elements that the header does not count for missing.
void ExtensibleArray::hold_back(CacheEntry& holder, std::size_t pointer, const CacheEntry& block) noexcept {
    if (blocks_.phase() == Phase::element && block.fresh()) {
        MetadataCache::mark_dirty(holder, pointer, blocks_.phase_of(holder));
    }
}

std::uint32_t ExtensibleArray::reach(Address index) const noexcept {
    if (index < parameters.index_block_elements) {
        return parameters.index_block_elements - static_cast<std::uint32_t>(index);
    }
    const Position at = position(index - parameters.index_block_elements);
    const std::uint32_t unit = at.elements < page_elements() ? at.elements : page_elements();
    return unit - (at.element & (unit - 1));
}

// The index block may be missing: libhdf5 makes it together with the first element.
Status ExtensibleArray::protect_index_block(Pinned& block) noexcept {
    Pinned header;
    H5MOTE_TRY(protect_header(header));
    H5MOTE_TRY(follow(*header, index_block_pointer(), index_block(), block));
    index_block_ = block->address();
    return Status::ok;
}

Status ExtensibleArray::find_pointer(const Position& at, Pinned& holder, std::size_t& pointer) noexcept {
    pointer = pointer_offset(at);
    if (at.super_block >= direct_super_blocks()) {
        const Block wanted = super_block(at);
        Pinned super;
        H5MOTE_TRY(follow(*holder, pointer, wanted, super));
        holder = static_cast<Pinned&&>(super);
        pointer = wanted.contents + std::size_t{at.data_block} * addr_size();
    }
    return Status::ok;
}

Status ExtensibleArray::locate(Address index, Pinned& block, std::size_t& offset) noexcept {
    return walk_again(file().context, index, block, [&] { return walk(index, block, offset); });
}

Status ExtensibleArray::walk(Address index, Pinned& block, std::size_t& offset) noexcept {
    if ((std::uint64_t{index} >> parameters.max_bits) != 0) {
        return file().context.fail(Module::index, H5MOTE_HERE, Status::no_space, 0, index);
    }
    Pinned holder;
    H5MOTE_TRY(protect_index_block(holder));
    if (index < parameters.index_block_elements) {
        offset = prefix_size() + static_cast<std::size_t>(index) * element.size();
        block = static_cast<Pinned&&>(holder);
        return Status::ok;
    }
    const Position at = position(index - parameters.index_block_elements);
    std::size_t pointer = 0;
    H5MOTE_TRY(find_pointer(at, holder, pointer));
    offset = block_prefix_size() + std::size_t{at.element} * element.size();
    H5MOTE_TRY(follow(*holder, pointer, data_block(at), block));
    if (pages(at) != 0) {
        block.reset();
        return locate_page(at, *holder, pointer, block, offset);
    }
    return Status::ok;
}

// The super block has a bit for every page of its data blocks.
ExtensibleArray::DataPage ExtensibleArray::data_page(const Position& at) const noexcept {
    const std::uint32_t number = at.element >> parameters.page_bits;
    const std::size_t first_bit = 8 * block_prefix_size() + std::size_t{at.data_block} * pages(at);
    const std::size_t bit = first_bit + number;
    return {number, first_bit, bit / 8, static_cast<std::byte>(0x80U >> (bit % 8)),
            block_prefix_size() + kChecksumSize + number * page_size()};
}

Status ExtensibleArray::locate_page(const Position& at, CacheEntry& super, std::size_t pointer, Pinned& block,
                                    std::size_t& offset) noexcept {
    const std::uint32_t count = pages(at);
    const DataPage page = data_page(at);
    const std::size_t size = page_size();
    const Address address = element.shape.load_addr(super.at(pointer)) + page.offset;
    offset = std::size_t{at.element & (page_elements() - 1)} * element.size();
    if ((*super.at(page.byte) & page.mask) != std::byte{0}) {
        H5MOTE_TRY(file().cache.protect(Usage::btree, address, size, block));
        hold_back(super, page.byte, *block);
        if (!file().one_write(*block, offset)) {
            block.reset();
            const std::size_t first = block_prefix_size() + kChecksumSize;
            const BlockPages all{first, first + Address{count} * size, size, count, page.number, page.first_bit, true};
            return blocks_.move(super, pointer, block, &all);
        }
    } else {
        H5MOTE_TRY(file().space.keep_metadata(size));
        H5MOTE_TRY(file().cache.create(Usage::btree, address, size, block));
        const Status status = blocks_.allow_change(super, page.byte);
        if (status != Status::ok) {
            block.reset();
            file().cache.discard(address);
            file().space.unkeep_metadata(size);
            return status;
        }
        element.fill_undefined(block->at(0), page_elements());
        MetadataCache::mark_dirty(*block, 0, blocks_.phase());
        *super.at(page.byte) |= page.mask;
        MetadataCache::mark_dirty(super, page.byte, blocks_.phase());
    }
    return Status::ok;
}

// Other writers make blocks of any size. They are read through a window: the cache may have no room for a whole one.
Status ExtensibleArray::find(Address index, ChunkLocation& location) noexcept {
    ElementBlock block;
    const Status status = block_of(index, block);
    if (status == Status::not_found) {
        return file().context.fail(Module::index, H5MOTE_HERE, Status::no_space, 0, index);
    }
    H5MOTE_TRY(status);
    return load_element(file(), block, element, index, location);
}

Status ExtensibleArray::free_run(Address index, std::uint32_t& count) noexcept {
    const std::uint32_t most = reach(index);
    count = most < count ? most : count;
    ElementBlock block;
    H5MOTE_TRY(block_of(index, block));
    if (block.address == kUndefinedAddress) {
        return Status::ok;
    }
    MetadataWindow window;
    H5MOTE_TRY(file().window(Usage::btree, block.address, block.size, true, window));
    ChunkLocation location;
    for (std::uint32_t i = 1; i < count; ++i) {
        H5MOTE_TRY(block.load(window, element, index + i, location));
        count = location.address == kUndefinedAddress ? count : i;
    }
    return Status::ok;
}

Status ExtensibleArray::next(Address& index, ChunkLocation& location) noexcept {
    ElementBlock block;
    for (std::uint64_t i = index; (i >> parameters.max_bits) == 0;) {
        index = narrow(i);
        H5MOTE_TRY(block_of(index, block));
        if (block.address == kUndefinedAddress) {
            i = std::uint64_t{block.first} + block.count;
            continue;
        }
        H5MOTE_TRY(load_element(file(), block, element, index, location));
        if (location.address != kUndefinedAddress) {
            return Status::ok;
        }
        ++i;
    }
    return Status::not_found;
}

// make_place() calls this as well, so that the set() that follows is not refused because of the header.
Status ExtensibleArray::begin_change(Address end, Phase phase, Pinned& header) noexcept {
    blocks_.set_phase(phase);
    H5MOTE_TRY(protect_header(header));
    return end > highest(*header)
               ? blocks_.allow_change(*header, kStatsOffset + kHighestSet * element.shape.sizeof_size)
               : Status::ok;
}

Status ExtensibleArray::make_place(Address index, Phase phase) noexcept {
    Pinned header;
    H5MOTE_TRY(begin_change(index + 1, phase, header));
    if constexpr (H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0) {
        if (is_large(index)) {
            ElementBlock large;
            return place_large(index, large);
        }
    }
    Pinned block;
    std::size_t offset = 0;
    return locate(index, block, offset);
}

Status ExtensibleArray::set(Address index, const ChunkLocation& location, Address stride, std::uint32_t count,
                            Phase phase) noexcept {
    // The header is pinned first: to make room for it later, the cache could commit a block that lacks the element.
    Pinned header;
    H5MOTE_TRY(begin_change(index + count, phase, header));
    if constexpr (H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0) {
        if (is_large(index)) {
            H5MOTE_TRY(set_large(index, location, stride, count));
            count_to(*header, index + count);
            return Status::ok;
        }
    }
    Pinned block;
    std::size_t offset = 0;
    H5MOTE_TRY(locate(index, block, offset));
    ChunkLocation each = location;
    const std::size_t start = offset;
    for (std::uint32_t i = 0; i < count; ++i, offset += element.size()) {
        element.store(block->at(offset), each);
        each.address += stride;
    }
    MetadataCache::mark_dirty(*block, start, blocks_.phase());
    count_to(*header, index + count);
    return Status::ok;
}

std::uint64_t ExtensibleArray::highest(CacheEntry& header) const noexcept {
    const unsigned width = element.shape.sizeof_size;
    return load_uint(header.at(kStatsOffset + kHighestSet * width), width);
}

void ExtensibleArray::count_to(CacheEntry& header, Address end) noexcept {
    const std::uint64_t counted = highest(header);
    if (end > counted) {
        add_stat(header, kHighestSet, end - counted);
    }
}

Status ExtensibleArray::cover(Address index) noexcept {
    Pinned header;
    H5MOTE_TRY(begin_change(index + 1, Phase::index, header));
    count_to(*header, index + 1);
    return Status::ok;
}

// ---- giving up the array -----------------------------------------------------------------------------------------

Status ExtensibleArray::dispose_chunks(Disposal& disposal, Address first, Address count, Address chunk_bytes) noexcept {
    for (Address i = 0; i < count && disposal.takes_chunks(); ++i) {
        ChunkLocation location;
        H5MOTE_TRY(find(first + i, location));
        H5MOTE_TRY(disposal.give(location.address, element.size_width != 0 ? location.size : chunk_bytes,
                                 SpaceKind::raw_data));
    }
    return Status::ok;
}

// Each block is given up before the block that points to it, without which it could not be found.
Status ExtensibleArray::dispose(Disposal& disposal, Address chunk_bytes) noexcept {
    if (index_block_ != kUndefinedAddress) {
        H5MOTE_TRY(dispose_chunks(disposal, 0, parameters.index_block_elements, chunk_bytes));
        // The elements of a super block beyond these have no numbers on this machine, and nobody has set one.
        constexpr unsigned kMost = 8 * sizeof(Address);
        for (unsigned u = 0; u < super_blocks() && u < kMost; ++u) {
            Position at = position(start_of(u));
            Address super = kUndefinedAddress;
            for (; at.data_block < data_blocks(u); ++at.data_block) {
                Address data = kUndefinedAddress;
                MetadataWindow holder;
                H5MOTE_TRY(find_data_block(at, holder, data, super));
                holder.close();
                const Block block = data_block(at);
                if (data != kUndefinedAddress) {
                    H5MOTE_TRY(dispose_chunks(disposal, parameters.index_block_elements + block.first, at.elements,
                                              chunk_bytes));
                    H5MOTE_TRY(disposal.give(data, block.space));
                } else if (super == kUndefinedAddress && u >= direct_super_blocks()) {
                    break;
                }
            }
            H5MOTE_TRY(disposal.give(super, super_block(at).size));
        }
        H5MOTE_TRY(disposal.give(index_block_, index_block().size));
    }
    return disposal.give(root(), header_size());
}

}  // namespace h5mote
