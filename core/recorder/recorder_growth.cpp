// The chunks of a recorder's datasets: where they are, and how more are placed.
//
// The chunk index is an extensible array (specification VII.C). Its index block holds the addresses of the first four
// chunks, then those of six data blocks, then those of super blocks, which hold the addresses of all other data blocks.
// A data block is written once and whole: with it, as many chunks are placed at the end of the file as it has
// elements, one behind the other. From super block to super block the number of data blocks and their length double in
// turn. So a file of n chunks has grown about sqrt(n / 4) times.
//
// A growth that a power cut ends anywhere loses nothing:
//   - the chunks, the data block behind them and, if it is in one, a copy of its super block behind it are on the
//     storage before the superblock says that the file is longer;
//   - this is on the storage before the index block leads to them, by one write within a sector;
//   - that is on the storage before a dimension counts rows in the new chunks.
#include "block_writer.hpp"
#include "checked.hpp"
#include "extensible_array_blocks.hpp"
#include "recorder_rule.hpp"

namespace h5mote {

using Format = ExtensibleArrayFormat;
using Parameters = blueprint::ArrayParameters;

namespace {

// Super blocks and data blocks begin alike: signature, version, client, address of the header, number of the first
// element.
constexpr Address block_prefix(unsigned width) noexcept { return 6 + width + Parameters::kOffsetWidth; }
constexpr Address block_size(unsigned width, std::uint32_t addresses) noexcept {
    return block_prefix(width) + Address{addresses} * width + 4;
}
constexpr unsigned kMinElementsLog2 = 4;
static_assert(Parameters::kMinElements == 1U << kMinElementsLog2);

constexpr std::uint32_t data_block_elements(unsigned super_block) noexcept {
    return Parameters::kMinElements << Format::length_shift(super_block);
}
// The number of the first element of a super block.
constexpr std::uint32_t start_of(unsigned super_block) noexcept {
    return ((1U << super_block) - 1) << kMinElementsLog2;
}

}  // namespace

// The element of the chunk index that belongs to a chunk.
struct RecorderBase::Place {
    std::uint32_t elements;  // of the block with the element, in all
    std::uint32_t element;   // in the block
    std::uint32_t first;     // number of the block's first element; those of the index block are not counted
    unsigned super_block;    // number of the super block, those that are part of the index block among them
    std::uint32_t in_super;  // number of the data block in its super block
    std::uint32_t pointer;   // which address of the index block is the element, or leads to it
    Address super;           // addresses in the super block, undefined if there is none yet or none is needed
    Address block;           // address of the data block or index block with the element; undefined: none yet
    Address contents;        // of the block's elements, undefined like `block`

    bool direct() const noexcept { return super_block == kIndexBlock; }
    bool needs_super() const noexcept { return !direct() && super_block >= Parameters::kDirectSuperBlocks; }
    // Bytes of the data block, and of the super block behind it, as write_blocks() writes them.
    Address blocks_size(unsigned width) const noexcept {
        return (direct() ? 0 : block_size(width, elements)) +
               (needs_super() ? block_size(width, Format::data_blocks(super_block)) : 0);
    }
    // The address to which the index block leads, where write_blocks() wrote a data block at `at`.
    Address outermost(Address at, unsigned width) const noexcept {
        return needs_super() ? at + block_size(width, elements) : at;
    }
    static constexpr unsigned kIndexBlock = ~0U;
};

Status RecorderBase::locate(const Slot& slot, Place& place) noexcept {
    const blueprint::RecordedDataset& dataset = dataset_of(slot);
    const unsigned width = table_->sizeof_addr;
    const Address index = dataset.index_block + Parameters::index_block_prefix(width);
    place.super = place.block = place.contents = kUndefinedAddress;
    if (slot.chunk < Parameters::kIndexElements) {
        place.elements = Parameters::kIndexElements;
        place.element = place.pointer = static_cast<std::uint32_t>(slot.chunk);
        place.super_block = Place::kIndexBlock;
        place.block = dataset.index_block;
        place.contents = index;
        return Status::ok;
    }
    // The array ends before its last super block does.
    constexpr std::uint32_t kMost = start_of(Parameters::kMaxBits - kMinElementsLog2);
    if (slot.chunk - Parameters::kIndexElements >= kMost) {
        return Status::no_space;
    }
    const auto number = static_cast<std::uint32_t>(slot.chunk - Parameters::kIndexElements);
    unsigned u = 0;
    while (number >= start_of(u + 1)) {
        ++u;
    }
    const std::uint32_t within_super = number - start_of(u);
    place.super_block = u;
    place.elements = data_block_elements(u);
    place.element = within_super & (place.elements - 1);
    place.first = number - place.element;
    place.in_super = within_super / place.elements;
    Address pointer = index;
    if (place.needs_super()) {
        place.pointer = Parameters::kIndexElements + Parameters::kDataPointers + u - Parameters::kDirectSuperBlocks;
        H5MOTE_TRY(read_address(index + place.pointer * width, place.super));
        if (place.super == kUndefinedAddress) {
            return Status::ok;
        }
        H5MOTE_TRY(verify(place.super, block_size(width, Format::data_blocks(u))));
        place.super += block_prefix(width);
        pointer = place.super + place.in_super * width;
    } else {
        // The first four super blocks have 1, 1, 2 and 2 data blocks.
        place.pointer = Parameters::kIndexElements + (u < 2 ? u : 2 * u - 2 + place.in_super);
        pointer += place.pointer * width;
    }
    H5MOTE_TRY(read_address(pointer, place.block));
    if (place.block == kUndefinedAddress) {
        return Status::ok;
    }
    place.contents = place.block + block_prefix(width);
    return verify(place.block, block_size(width, place.elements));
}

// Finds the chunk's place in the file, or gives it one.
Status RecorderBase::place(Slot& slot) noexcept {
    Place place;
    H5MOTE_TRY(locate(slot, place));
    if (place.block != kUndefinedAddress) {
        H5MOTE_TRY(count_run(slot, place));
    }
    return slot.run == 0 ? grow(slot, place) : Status::ok;
}

// Finds out how many chunks from this one on have places behind each other.
Status RecorderBase::count_run(Slot& slot, const Place& place) noexcept {
    const Address chunk_bytes = chunk_size(dataset_of(slot));
    std::uint32_t run = 0;
    for (; place.element + run < place.elements; ++run) {
        Address address = 0;
        H5MOTE_TRY(read_address(place.contents + Address{place.element + run} * table_->sizeof_addr, address));
        if (address == kUndefinedAddress || (run != 0 && address != slot.address + run * chunk_bytes)) {
            break;
        }
        if (!within(address, chunk_bytes, end_)) {
            return Status::corrupt_file;
        }
        if (run == 0) {
            slot.address = address;
        }
    }
    // A power cut may have kept the elements and lost the change of the header that counts them.
    if (keep(RecorderRule::count_found)) {
        H5MOTE_TRY(count_chunks(slot, slot.chunk + run));
    }
    slot.run = run;
    return Status::ok;
}

// Places as many chunks as the block still has elements for, or as the storage has room for. Each call is a step whose
// memory on the stack is free when the next one begins.
Status RecorderBase::grow(Slot& slot, const Place& place) noexcept {
    const blueprint::RecordedDataset& dataset = dataset_of(slot);
    std::uint32_t count = place.elements - place.element;
    Address end = 0;
    H5MOTE_TRY(reserve(chunk_size(dataset), place.blocks_size(table_->sizeof_addr), count, end));
    slot.address = end_;
    const Address behind = end_ + count * chunk_size(dataset);
    Change change{place.element, count, end_};
    H5MOTE_TRY(write_blocks(slot, place, behind, change));
    if (!place.direct()) {
        change = {place.pointer, 1, place.outermost(behind, table_->sizeof_addr)};
    }
    H5MOTE_TRY(lengthen(end));
    H5MOTE_TRY(count_chunks(slot, slot.chunk + count));
    H5MOTE_TRY(linker_(*this, slot, change));
    slot.run = count;
    std::byte* const first = begin(slot, dataset);
    if (slot.saved != first) {
        // The dataset had rows in this chunk that nobody ever wrote: they are zero.
        std::memset(first, 0, static_cast<std::size_t>(slot.saved - first));
        slot.saved = first;
    }
    return Status::ok;
}

// Makes room at the end of the file for `count` chunks, or fewer, and for `blocks` bytes behind them, up to `end`.
Status RecorderBase::reserve(Address chunk_bytes, Address blocks, std::uint32_t& count, Address& end) noexcept {
    const Address limit = table_->sizeof_addr == 4 ? Address{0xfffffffeU} : kUndefinedAddress - 1;
    for (; count != 0; count /= 2) {
        if (checked_multiply<Address>(chunk_bytes, count, end) && checked_add<Address>(end, blocks, end) &&
            checked_add<Address>(end, end_, end) && end <= limit) {
            const Status status = extend(end);
            if (status != Status::no_space) {
                return status;
            }
        }
    }
    return Status::no_space;
}

// Writes a data block or super block to `at`: its addresses are those at `old` (undefined: none is defined), but for
// `count` from `first` on, which are `value`, and the chunk's size more each time unless that is undefined.
Status RecorderBase::write_block(const Slot& slot, Address at, std::uint32_t signature, std::uint32_t offset,
                                 Address old, std::uint32_t addresses, const Change& change) noexcept {
    const blueprint::RecordedDataset& dataset = dataset_of(slot);
    const unsigned width = table_->sizeof_addr;
    BlockWriter block(*this, at, block_size(width, addresses));
    block.field(4, signature);
    block.field(2, 0);
    block.field(width, dataset.array);
    block.field(Parameters::kOffsetWidth, offset);
    for (std::uint32_t i = 0; i < addresses; ++i) {
        Address address = kUndefinedAddress;
        if (i - change.first < change.count) {
            address = change.at(i - change.first, chunk_size(dataset));
        } else if (old != kUndefinedAddress) {
            H5MOTE_TRY(read_address(old + Address{i} * width, address));
        }
        block.field(width, address);
    }
    return block.finish();
}

// Writes a data block with a change, and behind it the copy of its super block that leads to it.
Status RecorderBase::write_blocks(const Slot& slot, const Place& place, Address at, const Change& change) noexcept {
    if (place.direct()) {
        return Status::ok;
    }
    const unsigned width = table_->sizeof_addr;
    H5MOTE_TRY(write_block(slot, at, Format::kDataBlock, place.first, place.contents, place.elements, change));
    if (!place.needs_super()) {
        return Status::ok;
    }
    return write_block(slot, at + block_size(width, place.elements), Format::kSuperBlock, start_of(place.super_block),
                       place.super, Format::data_blocks(place.super_block), {place.in_super, 1, at});
}

Status RecorderBase::link(const Slot& slot, const Change& change, std::byte* block) noexcept {
    const blueprint::RecordedDataset& dataset = dataset_of(slot);
    const unsigned width = table_->sizeof_addr;
    const std::uint32_t size = Parameters::index_block_size(width) - 4;
    H5MOTE_TRY(read(dataset.index_block, block, size + 4));
    if (load_le<std::uint32_t>(block + size) != lookup3({block, size})) {
        return Status::corrupt_file;
    }
    const std::uint32_t pointer = Parameters::index_block_prefix(width) + change.first * width;
    for (std::uint32_t i = 0; i < change.count; ++i) {
        store_field(block + pointer + i * width, width, change.at(i, chunk_size(dataset)));
    }
    store_le(block + size, lookup3({block, size}));
    return write(dataset.index_block + pointer, block + pointer, size + 4 - pointer);
}

// Makes the array's header count `chunks` chunks, those before among them, unless it counts more. libhdf5 takes chunks
// that the header does not count for missing.
Status RecorderBase::count_chunks(const Slot& slot, Address chunks) noexcept {
    const blueprint::RecordedDataset& dataset = dataset_of(slot);
    Address counted = 0;
    H5MOTE_TRY(read_field(dataset.array + 12 + 4 * Parameters::kSize, Parameters::kSize, counted));
    return counted >= chunks ? Status::ok : write_statistics(slot, chunks);
}

// Statistics: super blocks, their bytes; data blocks, their bytes; elements counted; elements that have a place.
Status RecorderBase::write_statistics(const Slot& slot, Address chunks) noexcept {
    const blueprint::RecordedDataset& dataset = dataset_of(slot);
    const unsigned width = table_->sizeof_addr;
    Address values[6] = {0, 0, 0, 0, chunks, Parameters::kIndexElements};
    for (unsigned u = 0; values[5] < chunks; ++u) {
        if (u >= Parameters::kDirectSuperBlocks) {
            ++values[0];
            values[1] += block_size(width, Format::data_blocks(u));
        }
        for (std::uint32_t i = 0; i < Format::data_blocks(u) && values[5] < chunks; ++i) {
            ++values[2];
            values[3] += block_size(width, data_block_elements(u));
            values[5] += data_block_elements(u);
        }
    }
    return rewrite(dataset.array, dataset.array_bytes, Parameters::header_size(width), 12, values, 6,
                   Parameters::kSize);
}

// Gives back the chunks at the end of the file that have no rows, if they are this dataset's. All rows are on the
// storage. The index block leads to a shorter copy of the data block before the file becomes shorter.
Status RecorderBase::give_back(const Slot& slot) noexcept {
    Change change{};
    Address end = 0;
    H5MOTE_TRY(prepare_to_give_back(slot, change, end));
    if (end == 0) {
        return Status::ok;
    }
    H5MOTE_TRY(linker_(*this, slot, change));
    H5MOTE_TRY(write_statistics(slot, slot.chunk + used(slot)));
    if (keep(RecorderRule::unlink_first)) {
        H5MOTE_TRY(barrier());
    }
    return shorten(end);
}

// How many chunks from that in memory on have rows: one or none.
std::uint32_t RecorderBase::used(const Slot& slot) const noexcept {
    return slot.next != begin(slot, dataset_of(slot)) ? 1 : 0;
}

// Finds the new end of the file, 0 if it stays, and the change of the index block that comes before.
Status RecorderBase::prepare_to_give_back(const Slot& slot, Change& change, Address& end) noexcept {
    if (slot.run == 0) {
        return Status::ok;
    }
    const unsigned width = table_->sizeof_addr;
    const Address chunk_bytes = chunk_size(dataset_of(slot));
    Place place;
    H5MOTE_TRY(locate(slot, place));
    const std::uint32_t kept = place.element + used(slot);
    const Address free = slot.address + chunk_bytes * used(slot);
    const Address behind = slot.address + chunk_bytes * slot.run;
    const Address blocks = place.blocks_size(width);
    const bool last = behind + blocks == end_ && (place.direct() || place.block == behind);
    if (!last || behind - free <= blocks) {
        return Status::ok;
    }
    change = {kept, place.elements - kept, kUndefinedAddress};
    if (!place.direct()) {
        H5MOTE_TRY(write_blocks(slot, place, free, change));
        if (keep(RecorderRule::copy_first)) {
            H5MOTE_TRY(barrier());
        }
        change = {place.pointer, 1, place.outermost(free, width)};
    }
    end = free + blocks;
    return Status::ok;
}

}  // namespace h5mote
