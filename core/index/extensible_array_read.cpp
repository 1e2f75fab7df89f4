// H5EA - reading extensible arrays with blocks of any size, as other writers make them. They are read through windows,
// because the metadata cache may have no room for a whole block.
#include "extensible_array.hpp"

namespace h5mote {

bool ExtensibleArray::switches_at_once() const noexcept {
    return file().one_write(std::uint64_t{root()} + kStatsOffset, std::uint64_t{root()} + header_size());
}

Status ExtensibleArray::open_window(Address address, const Block& wanted, MetadataWindow& window) noexcept {
    if (!file().contains(address, wanted.space)) {
        return damaged(H5MOTE_HERE, address);
    }
    H5MOTE_TRY(file().window(Usage::btree, address, wanted.size, true, window));
    ConstBytes signature;
    H5MOTE_TRY(window.view(0, 4, signature));
    return load_le<std::uint32_t>(signature.data()) == wanted.signature ? Status::ok : damaged(H5MOTE_HERE, address);
}

Status ExtensibleArray::find_data_block(const Position& at, MetadataWindow& holder, Address& data,
                                        Address& super) noexcept {
    data = super = kUndefinedAddress;
    ConstBytes bytes;
    Address pointer = pointer_offset(at);
    H5MOTE_TRY(open_window(index_block_, index_block(), holder));
    if (at.super_block >= direct_super_blocks()) {
        H5MOTE_TRY(holder.view(pointer, addr_size(), bytes));
        super = element.shape.load_addr(bytes.data());
        if (super == kUndefinedAddress) {
            return Status::ok;
        }
        const Block wanted = super_block(at);
        H5MOTE_TRY(open_window(super, wanted, holder));
        pointer = wanted.contents + Address{at.data_block} * addr_size();
    }
    H5MOTE_TRY(holder.view(pointer, addr_size(), bytes));
    data = element.shape.load_addr(bytes.data());
    return Status::ok;
}

Status ExtensibleArray::block_of(Address index, ElementBlock& block) noexcept {
    const std::uint32_t direct = parameters.index_block_elements;
    block = {kUndefinedAddress, 0, 0, 0, narrow(std::uint64_t{1} << parameters.max_bits)};
    if ((std::uint64_t{index} >> parameters.max_bits) != 0) {
        return Status::not_found;
    }
    if (index_block_ == kUndefinedAddress) {
        return Status::ok;
    }
    MetadataWindow holder;
    if (index < direct) {
        H5MOTE_TRY(open_window(index_block_, index_block(), holder));
        block = {index_block_, holder.size(), prefix_size(), 0, direct};
        return Status::ok;
    }
    const Position at = position(index - direct);
    const Block data = data_block(at);
    Address address = kUndefinedAddress;
    Address super = kUndefinedAddress;
    H5MOTE_TRY(find_data_block(at, holder, address, super));
    block.first = data.first + direct;
    block.count = at.elements;
    if (address == kUndefinedAddress) {
        if (super == kUndefinedAddress && at.super_block >= direct_super_blocks()) {
            // The last super block would reach beyond the array, and its size may need more bits than an Address has.
            block.first = start_of(at.super_block) + direct;
            const std::uint64_t left = (std::uint64_t{1} << parameters.max_bits) - block.first;
            const std::uint64_t all = std::uint64_t{at.elements} * data_blocks(at.super_block);
            block.count = narrow(all < left ? all : left);
        }
        return Status::ok;
    }
    if (pages(at) != 0) {
        return page_of(at, holder, address, block);
    }
    MetadataWindow window;
    H5MOTE_TRY(open_window(address, data, window));
    block.address = address;
    block.size = data.size;
    block.offset = data.contents;
    return Status::ok;
}

std::size_t ExtensibleArray::super_block_size(Address index) const noexcept {
    if (index < parameters.index_block_elements) {
        return 0;
    }
    const Position at = position(index - parameters.index_block_elements);
    return at.super_block < direct_super_blocks() ? 0 : super_block(at).size;
}

Status ExtensibleArray::page_of(const Position& at, MetadataWindow& super, Address data, ElementBlock& block) noexcept {
    const Block wanted = data_block(at);
    const std::uint32_t page = at.element >> parameters.page_bits;
    const std::uint32_t bit = at.data_block * pages(at) + page;
    block.first += Address{page} << parameters.page_bits;
    block.count = page_elements();
    ConstBytes bytes;
    H5MOTE_TRY(super.view(block_prefix_size() + bit / 8, 1, bytes));
    if ((static_cast<unsigned>(bytes[0]) & (0x80U >> (bit % 8))) == 0) {
        return Status::ok;
    }
    MetadataWindow window;
    H5MOTE_TRY(open_window(data, wanted, window));
    block.address = data + wanted.size + Address{page} * page_size();
    block.size = page_size();
    return Status::ok;
}

Status ExtensibleArray::facts(std::uint64_t& elements, std::uint64_t& bytes) noexcept {
    const unsigned width = element.shape.sizeof_size;
    MetadataWindow window;
    ConstBytes stats;
    H5MOTE_TRY(file().window(Usage::btree, root(), header_size(), true, window));
    H5MOTE_TRY(window.view(kStatsOffset, kStats * width, stats));
    const auto stat = [&](std::size_t field) { return load_uint(stats.data() + field * width, width); };
    elements = stat(kHighestSet);
    bytes = header_size() + stat(kSuperBlockStats + 1) + stat(kDataBlockStats + 1) +
            (index_block_ == kUndefinedAddress ? 0 : index_block().size);
    return Status::ok;
}

}  // namespace h5mote
