// H5FA - changes of fixed arrays whose blocks or pages are too large for the metadata cache.
#include "fixed_array.hpp"

#include "checked.hpp"
#include "index_walk.hpp"
#include "large_elements.hpp"

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {

Status FixedArray::set_large(Address index, const ChunkLocation& location) noexcept {
    ElementBlock block;
    Pinned none;
    H5MOTE_TRY(walk_again(file().context, index, none, [&] { return walk_large(index, block); }));
    return LargeElements(file(), element).set(block, index, location, 0, 1);
}

Status FixedArray::make_large(CacheEntry& header, Address& address) noexcept {
    std::byte prefix[6 + 8];
    Writer writer{Bytes(prefix)};
    encode_data_block(writer, root());
    LargeElements large(file(), element);
    H5MOTE_TRY(blocks_.allow_change(header, pointer()));
    H5MOTE_TRY(large.make_block({prefix, writer.written()}, elements, data_block_size(), address));
    const Status status = blocks_.allow_change(header, pointer());
    if (status != Status::ok) {
        file().give_up(address, data_block_size(), true);
        return status;
    }
    blocks_.set_pointer(header, pointer(), address);
    return Status::ok;
}

Status FixedArray::walk_large(Address index, ElementBlock& block) noexcept {
    if (index >= elements) {
        return file().context.fail(Module::index, H5MOTE_HERE, Status::corrupt_file, 0, index);
    }
    Pinned header;
    H5MOTE_TRY(file().cache.protect(Usage::btree, root(), header_size(), header));
    Address address = element.shape.load_addr(header->at(pointer()));
    LargeElements large(file(), element);
    Pinned data;
    if (pages() != 0) {
        if (address != kUndefinedAddress) {
            H5MOTE_TRY(pin_data_block(address, data));
        } else {
            H5MOTE_TRY(make_data_block(*header, data));
            file().cache.note_fresh(data->address());
        }
        return walk_large_page(*header, index, data, block);
    }
    if (address == kUndefinedAddress) {
        H5MOTE_TRY(make_large(*header, address));
    } else if (!large.in_place(address)) {
        H5MOTE_TRY(block_of(index, block));  // checks the signature
        std::size_t size = 0;
        if (!to_size(data_block_size(), size)) {
            return file().context.fail(Module::index, H5MOTE_HERE, Status::corrupt_file, 0, address);
        }
        H5MOTE_TRY(large.move(blocks_, *header, pointer(), {size, data_block_size(), 0, 0, 0, 0, true}, data));
    }
    return block_of(index, block);
}

Status FixedArray::walk_large_page(CacheEntry& header, Address index, Pinned& data, ElementBlock& block) noexcept {
    const Page page = page_of(index);
    const Address address = data->address() + narrow(data->size()) + page.offset;
    const std::size_t byte = prefix_size() + static_cast<std::size_t>(page.number / 8);
    const bool made = (*data->at(byte) & page.mask()) != std::byte{0};
    LargeElements large(file(), element);
    const bool fresh = data->fresh() || large.is_fresh(data->address());
    if (fresh) {
        // The cache may have written and dropped the block since.
        MetadataCache::set_fresh(*data);
    } else if (made ? !large.in_place(address) : !file().one_write(*data, byte)) {
        const auto count = static_cast<std::uint32_t>(pages());
        const BlockPages all{data->size(), data_block_space(), page_of(0).size, count, 0, 8 * prefix_size(), false};
        H5MOTE_TRY(large.move(blocks_, header, pointer(), all, data));
        return Status::busy;
    }
    if (!made) {
        // Nothing leads to the page before its bit is set.
        H5MOTE_TRY(large.make(address, {}, page.elements));
        if (!fresh) {
            file().cache.note_fresh(address);
        }
        *data->at(byte) |= page.mask();
        MetadataCache::mark_dirty(*data, byte, Phase::index);
    }
    block.address = address;
    block.size = narrow(page.size);
    block.offset = 0;
    block.first = page.number << page_bits;
    block.count = page.elements;
    return Status::ok;
}

}  // namespace h5mote

#endif
