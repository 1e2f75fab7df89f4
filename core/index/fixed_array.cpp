#include "fixed_array.hpp"

#include "checked.hpp"
#include "index_walk.hpp"

#include <cstring>

namespace h5mote {
Status FixedArray::create(FileState& file, std::uint64_t count, std::uint8_t bits, std::uint8_t size_width,
                          Address& address) noexcept {
    element = {file.shape(), size_width};
    elements = narrow(count);
    page_bits = bits;
    if (!sound()) {
        return file.context.fail(Module::index, H5MOTE_HERE, Status::overflow, 0, count);
    }
    H5MOTE_TRY(check_cache(file));
    Pinned header;
    H5MOTE_TRY(file.create_block(file.space.index_usage(Usage::object_header), header_size(), header_size(), header));
    blocks_ = BlockMover(file, header->address());
    Writer writer(header->image());
    encode(writer);
    MetadataCache::mark_dirty(*header, 0, Phase::index);
    address = header->address();
    return Status::ok;
}

// A change of an array with pages holds three blocks in the cache: the header, the one with the bits of all pages, and
// a page that is not large for it.
Status FixedArray::check_cache(FileState& file) const noexcept {
    constexpr Address kRecord = 32;  // of a block in the cache
    const Address page = pages() == 0 ? 0 : narrow(page_of(0).size);
    const Address need =
        header_size() + data_block_size() + (file.cache.is_large(page) ? 0 : page + kRecord) + 2 * kRecord;
    return pages() == 0 || need <= file.cache.budget()
               ? Status::ok
               : file.context.fail(Module::index, H5MOTE_HERE, Status::over_budget, 0, need);
}

Status FixedArray::open(FileState& file, Address address, std::uint8_t size_width) noexcept {
    blocks_ = BlockMover(file, address);
    element = {file.shape(), size_width};
    if (!file.contains(address, header_size())) {
        return file.context.fail(Module::index, H5MOTE_HERE, Status::corrupt_file, 0, address);
    }
    Pinned header;
    H5MOTE_TRY(file.cache.protect(Usage::btree, address, header_size(), header));
    return decode(header->image()) && sound()
               ? Status::ok
               : file.context.fail(Module::index, H5MOTE_HERE, Status::corrupt_file, 0, address);
}

Status FixedArray::make_data_block(CacheEntry& header, Pinned& data) noexcept {
    std::size_t size = 0;
    if (!to_size(data_block_size(), size)) {
        return file().context.fail(Module::index, H5MOTE_HERE, Status::over_budget, 0, data_block_size());
    }
    H5MOTE_TRY(blocks_.allow_change(header, pointer()));
    H5MOTE_TRY(file().create_block(file().space.index_usage(Usage::local_heap), size, data_block_space(), data));
    Writer writer(data->image());
    encode_data_block(writer, root());
    if (pages() == 0) {
        element.fill_undefined(data->at(writer.written()), static_cast<std::size_t>(elements));
    }
    MetadataCache::mark_dirty(*data, 0, Phase::index);
    blocks_.set_pointer(header, pointer(), data->address());
    return Status::ok;
}

Status FixedArray::pin_data_block(Address address, Pinned& data) noexcept {
    std::size_t size = 0;
    if (!file().contains(address, data_block_space()) || !to_size(data_block_size(), size)) {
        return file().context.fail(Module::index, H5MOTE_HERE, Status::corrupt_file, 0, address);
    }
    H5MOTE_TRY(file().cache.protect(Usage::btree, address, size, data));
    return load_le<std::uint32_t>(data->at(0)) == kDataBlock
               ? Status::ok
               : file().context.fail(Module::index, H5MOTE_HERE, Status::corrupt_file, 0, address);
}

Status FixedArray::locate(Address index, Pinned& block, std::size_t& offset) noexcept {
    return walk_again(file().context, index, block, [&] { return walk(index, block, offset); });
}

Status FixedArray::walk(Address index, Pinned& block, std::size_t& offset) noexcept {
    if (index >= elements) {
        return file().context.fail(Module::index, H5MOTE_HERE, Status::corrupt_file, 0, index);
    }
    Pinned header;
    H5MOTE_TRY(file().cache.protect(Usage::btree, root(), header_size(), header));
    const Address address = element.shape.load_addr(header->at(pointer()));
    Pinned data;
    H5MOTE_TRY(address != kUndefinedAddress ? pin_data_block(address, data) : make_data_block(*header, data));
    if (must_move(*data, index)) {
        H5MOTE_TRY(move(*header, data));
    }
    if (pages() != 0) {
        return locate_page(*data, index, block, offset);
    }
    offset = prefix_size() + static_cast<std::size_t>(index) * element.size();
    block = static_cast<Pinned&&>(data);
    return Status::ok;
}

// Whether the data block has to be moved because a power cut could tear the write of a changed element, or of the
// page's bit, up to the checksum.
bool FixedArray::must_move(CacheEntry& data, Address index) noexcept {
    if (data.fresh() || (data_block_space() > kMostMoved && file().context.formats().any_placement == nullptr)) {
        return false;
    }
    if (pages() == 0) {
        return !file().one_write(data, prefix_size() + static_cast<std::size_t>(index) * element.size());
    }
    const Page page = page_of(index);
    const std::size_t byte = prefix_size() + static_cast<std::size_t>(page.number / 8);
    if ((*data.at(byte) & page.mask()) == std::byte{0}) {
        return !file().one_write(data, byte);
    }
    const Address address = data.address() + data.size() + page.offset;
    const Pinned cached = file().cache.find(address);
    return !(cached && cached->fresh()) && !file().one_write(address + page.element, address + page.size);
}

// Moves the data block with all its pages.
Status FixedArray::move(CacheEntry& header, Pinned& data) noexcept {
    if (pages() == 0) {
        return blocks_.move(header, pointer(), data);
    }
    const auto count = static_cast<std::uint32_t>(pages());
    const BlockPages all{data->size(), data_block_space(), page_of(0).size, count, count - 1, 8 * prefix_size(), false};
    data.reset();
    return blocks_.move(header, pointer(), data, &all);
}

Status FixedArray::check_space() noexcept {
    const Address size = data_block_space();
    if (size <= kMostMoved || file().is_atomic() || file().context.formats().any_placement == nullptr) {
        return Status::ok;
    }
    Address address = 0;
    H5MOTE_TRY(file().space.allocate(Usage::btree, size, address));
    file().space.unkeep_metadata(size);
    file().give_up(address, size, true);
    return Status::ok;
}

FixedArray::Page FixedArray::page_of(Address index) const noexcept {
    Page page{};
    page.number = index >> page_bits;
    const Address full = Address{1} << page_bits;
    // The last page has only as many elements as are left.
    page.elements = page.number + 1 == pages() ? elements - page.number * full : full;
    page.offset = page.number * (full * element.size() + kChecksumSize);
    page.size = static_cast<std::size_t>(page.elements * element.size() + kChecksumSize);
    page.element = static_cast<std::size_t>(index & (full - 1)) * element.size();
    return page;
}

Status FixedArray::locate_page(CacheEntry& data, Address index, Pinned& block, std::size_t& offset) noexcept {
    const Page page = page_of(index);
    const Address address = data.address() + data.size() + page.offset;
    const std::size_t byte = prefix_size() + static_cast<std::size_t>(page.number / 8);
    offset = page.element;
    if ((*data.at(byte) & page.mask()) != std::byte{0}) {
        H5MOTE_TRY(file().cache.protect(Usage::btree, address, page.size, block));
        if (data.fresh()) {
            MetadataCache::set_fresh(*block);
        }
        return must_move(data, index) ? Status::busy : Status::ok;
    }
    H5MOTE_TRY(file().space.keep_metadata(page.size));
    H5MOTE_TRY(file().cache.create(Usage::btree, address, page.size, block));
    if (must_move(data, index)) {
        block.reset();
        file().cache.discard(address);
        file().space.unkeep_metadata(page.size);
        return Status::busy;
    }
    element.fill_undefined(block->at(0), static_cast<std::size_t>(page.elements));
    MetadataCache::mark_dirty(*block, 0, Phase::index);
    *data.at(byte) |= page.mask();
    MetadataCache::mark_dirty(data, byte, Phase::index);
    return Status::ok;
}

// Other writers make blocks of any size. They are read through a window: the cache may have no room for a whole one.
Status FixedArray::find(Address index, ChunkLocation& location) noexcept {
    ElementBlock block;
    H5MOTE_TRY(block_of(index, block));
    return load_element(file(), block, element, index, location);
}

bool FixedArray::switches_at_once() const noexcept {
    return file().one_write(root() + pointer(), root() + header_size());
}

Status FixedArray::block_of(Address index, ElementBlock& block) noexcept {
    const FileShape shape = element.shape;
    block = {kUndefinedAddress, 0, 0, 0, elements};
    MetadataWindow window;
    ConstBytes bytes;
    H5MOTE_TRY(file().window(Usage::btree, root(), header_size(), true, window));
    H5MOTE_TRY(window.view(pointer(), shape.sizeof_addr, bytes));
    const Address address = shape.load_addr(bytes.data());
    if (index >= elements) {
        return file().context.fail(Module::index, H5MOTE_HERE, Status::corrupt_file, 0, index);
    }
    if (address == kUndefinedAddress) {
        return Status::ok;
    }
    if (!file().contains(address, data_block_space())) {
        return file().context.fail(Module::index, H5MOTE_HERE, Status::corrupt_file, 0, address);
    }
    H5MOTE_TRY(file().window(Usage::btree, address, data_block_size(), true, window));
    H5MOTE_TRY(window.view(0, 4, bytes));
    if (load_le<std::uint32_t>(bytes.data()) != kDataBlock) {
        return file().context.fail(Module::index, H5MOTE_HERE, Status::corrupt_file, 0, address);
    }
    if (pages() == 0) {
        block.address = address;
        block.size = data_block_size();
        block.offset = prefix_size();
        return Status::ok;
    }
    const Address page = index >> page_bits;
    const Address in_page = Address{1} << page_bits;
    block.first = page << page_bits;
    block.count = page + 1 == pages() ? elements - block.first : in_page;
    H5MOTE_TRY(window.view(prefix_size() + page / 8, 1, bytes));
    if ((static_cast<unsigned>(bytes[0]) & (0x80U >> (page % 8))) != 0) {
        block.address = address + data_block_size() + page * (in_page * element.size() + kChecksumSize);
        block.size = block.count * element.size() + kChecksumSize;
    }
    return Status::ok;
}

Status FixedArray::space(std::uint64_t& bytes) noexcept {
    const FileShape shape = element.shape;
    MetadataWindow window;
    ConstBytes field;
    H5MOTE_TRY(file().window(Usage::btree, root(), header_size(), true, window));
    H5MOTE_TRY(window.view(pointer(), shape.sizeof_addr, field));
    bytes = header_size() + (shape.load_addr(field.data()) == kUndefinedAddress ? 0 : data_block_space());
    return Status::ok;
}

Status FixedArray::dispose(Disposal& disposal, Address chunk_bytes) noexcept {
    Address data = kUndefinedAddress;
    {
        Pinned header;
        H5MOTE_TRY(file().cache.protect(Usage::btree, root(), header_size(), header));
        data = element.shape.load_addr(header->at(pointer()));
    }
    for (Address i = 0; i < elements && data != kUndefinedAddress && disposal.takes_chunks(); ++i) {
        ChunkLocation location;
        H5MOTE_TRY(find(i, location));
        H5MOTE_TRY(disposal.give(location.address, element.size_width != 0 ? location.size : chunk_bytes,
                                 SpaceKind::raw_data));
    }
    H5MOTE_TRY(disposal.give(data, data_block_space()));
    return disposal.give(root(), header_size());
}

Status FixedArray::set(Address index, const ChunkLocation& location) noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0) {
        if (is_large()) {
            return set_large(index, location);
        }
    }
    Pinned block;
    std::size_t offset = 0;
    H5MOTE_TRY(locate(index, block, offset));
    element.store(block->at(offset), location);
    MetadataCache::mark_dirty(*block, offset, Phase::index);
    return Status::ok;
}

}  // namespace h5mote
