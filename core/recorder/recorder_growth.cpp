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

namespace h5mote {

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

constexpr std::uint32_t data_blocks(unsigned super_block) noexcept { return 1U << (super_block / 2); }
constexpr std::uint32_t data_block_elements(unsigned super_block) noexcept {
    return Parameters::kMinElements << ((super_block + 1) / 2);
}
// The number of the first element of a super block.
constexpr std::uint32_t start_of(unsigned super_block) noexcept {
    return ((1U << super_block) - 1) << kMinElementsLog2;
}
constexpr unsigned log2_of(std::uint32_t value) noexcept {
    unsigned result = 0;
    while ((value >>= 1) != 0) {
        ++result;
    }
    return result;
}

}  // namespace

// The element of the chunk index that belongs to a chunk.
struct RecorderBase::Place {
    std::uint32_t elements;  // of the block with the element, in all
    std::uint32_t element;   // in the block
    std::uint32_t first;     // number of the block's first element; those of the index block are not counted
    unsigned super_block;    // number of the super block, those that are part of the index block among them
    std::uint32_t in_super;  // number of the data block in its super block
    unsigned pointer;        // offset in the index block of the element, or of the address that leads to it
    Address super;           // of the super block, undefined if there is none yet or none is needed
    Address block;           // of the data block, or of the index block if that has the element; undefined: none yet
    Address contents;        // of the block's first element; valid if `block` is

    bool direct() const noexcept { return super_block == kIndexBlock; }
    bool needs_super() const noexcept { return !direct() && super_block >= Parameters::kDirectSuperBlocks; }
    // Bytes of the data block, and of the super block behind it, as write_blocks() writes them.
    Address blocks_size(unsigned width) const noexcept {
        return (direct() ? 0 : block_size(width, elements)) +
               (needs_super() ? block_size(width, data_blocks(super_block)) : 0);
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
    place.pointer = Parameters::index_block_prefix(width);
    place.super = place.block = kUndefinedAddress;
    if (slot.chunk < Parameters::kIndexElements) {
        place.elements = Parameters::kIndexElements;
        place.element = static_cast<std::uint32_t>(slot.chunk);
        place.super_block = Place::kIndexBlock;
        place.block = dataset.index_block;
        place.contents = dataset.index_block + place.pointer;
        place.pointer += place.element * width;
        return Status::ok;
    }
    // The array ends before its last super block does.
    constexpr std::uint32_t kMost = start_of(Parameters::kMaxBits - kMinElementsLog2);
    if (slot.chunk - Parameters::kIndexElements >= kMost) {
        return Status::no_space;
    }
    const auto number = static_cast<std::uint32_t>(slot.chunk - Parameters::kIndexElements);
    const unsigned u = log2_of((number >> kMinElementsLog2) + 1);
    const std::uint32_t within_super = number - start_of(u);
    place.super_block = u;
    place.elements = data_block_elements(u);
    place.element = within_super & (place.elements - 1);
    place.first = number - place.element;
    place.in_super = within_super >> log2_of(place.elements);
    place.pointer += Parameters::kIndexElements * width;
    Address holder = dataset.index_block;
    Address pointer = 0;
    if (place.needs_super()) {
        place.pointer += (Parameters::kDataPointers + u - Parameters::kDirectSuperBlocks) * width;
        H5MOTE_TRY(read_address(dataset.index_block + place.pointer, place.super));
        if (place.super == kUndefinedAddress) {
            return Status::ok;
        }
        const Address size = block_size(width, data_blocks(u));
        H5MOTE_TRY(verify(place.super, size));
        holder = place.super;
        pointer = block_prefix(width) + Address{place.in_super} * width;
    } else {
        // The data blocks of the first four super blocks are 1, 1, 2, 2.
        place.pointer += (u < 2 ? u : 2 * u - 2 + place.in_super) * width;
        pointer = place.pointer;
    }
    H5MOTE_TRY(read_address(holder + pointer, place.block));
    if (place.block != kUndefinedAddress) {
        const Address size = block_size(width, place.elements);
        H5MOTE_TRY(verify(place.block, size));
        place.contents = place.block + block_prefix(width);
    }
    return Status::ok;
}

// Finds the chunk's place in the file, or gives it one.
Status RecorderBase::place(Slot& slot) noexcept {
    Place place;
    H5MOTE_TRY(locate(slot, place));
    if (place.block != kUndefinedAddress) {
        H5MOTE_TRY(count_run(slot, place));
    }
    if (slot.run == 0) {
        H5MOTE_TRY(grow(slot, place));
        const blueprint::RecordedDataset& dataset = dataset_of(slot);
        std::byte* const first = begin(slot, dataset);
        if (slot.saved != first) {
            // The dataset had rows in this chunk that nobody ever wrote: they are zero.
            std::memset(first, 0, static_cast<std::size_t>(slot.saved - first));
            slot.saved = first;
        }
    }
    return Status::ok;
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
    H5MOTE_TRY(count_chunks(slot, slot.chunk + run));
    slot.run = run;
    return Status::ok;
}

// Places as many chunks as the block still has elements for, or as the storage has room for.
Status RecorderBase::grow(Slot& slot, const Place& place) noexcept {
    const Address chunk_bytes = chunk_size(dataset_of(slot));
    const unsigned width = table_->sizeof_addr;
    const Address blocks = place.blocks_size(width);
    const Address limit = width == 4 ? Address{0xfffffffeU} : kUndefinedAddress - 1;
    std::uint32_t count = place.elements - place.element;
    Address size = 0;
    for (;; count /= 2) {
        if (count == 0) {
            return Status::no_space;
        }
        if (checked_multiply<Address>(chunk_bytes, count, size) && checked_add<Address>(size, blocks, size) &&
            checked_add<Address>(size, end_, size) && size <= limit) {
            const Status status = extend(size);
            if (status != Status::no_space) {
                H5MOTE_TRY(status);
                break;
            }
        }
    }
    const Address first = end_;
    const Address behind = first + chunk_bytes * count;
    H5MOTE_TRY(write_blocks(slot, place, behind, place.element, first, count));
    H5MOTE_TRY(barrier());
    H5MOTE_TRY(set_end(size));
    H5MOTE_TRY(barrier());
    H5MOTE_TRY(count_chunks(slot, slot.chunk + count));
    H5MOTE_TRY(place.direct() ? link(slot, place, first, count) : link(slot, place, place.outermost(behind, width), 1));
    slot.address = first;
    slot.run = count;
    return Status::ok;
}

// Writes a data block, and behind it the copy of its super block that leads to it. `keep` elements are those of the
// block that is there, `count` more are the chunks from `chunks` on, the rest are undefined.
Status RecorderBase::write_blocks(const Slot& slot, const Place& place, Address at, std::uint32_t keep, Address chunks,
                                  std::uint32_t count) noexcept {
    if (place.direct()) {
        return Status::ok;
    }
    const blueprint::RecordedDataset& dataset = dataset_of(slot);
    const unsigned width = table_->sizeof_addr;
    const auto head = [&](BlockWriter& writer, std::uint32_t signature, std::uint32_t first) {
        writer.field(4, signature);
        writer.field(2, 0);
        writer.field(width, dataset.array);
        writer.field(Parameters::kOffsetWidth, first);
    };
    const Address size = block_size(width, place.elements);
    BlockWriter data(*this, at, size);
    head(data, 0x42444145U, place.first);  // "EADB"
    for (std::uint32_t i = 0; i < place.elements; ++i) {
        Address address = kUndefinedAddress;
        if (i < keep && place.block != kUndefinedAddress) {
            H5MOTE_TRY(read_address(place.contents + Address{i} * width, address));
        } else if (i >= keep && i - keep < count) {
            address = chunks + (i - keep) * chunk_size(dataset);
        }
        data.field(width, address);
    }
    H5MOTE_TRY(data.finish());
    if (!place.needs_super()) {
        return Status::ok;
    }
    const std::uint32_t addresses = data_blocks(place.super_block);
    BlockWriter super(*this, at + size, block_size(width, addresses));
    head(super, 0x42534145U, start_of(place.super_block));  // "EASB"
    for (std::uint32_t i = 0; i < addresses; ++i) {
        Address address = at;
        if (i != place.in_super) {
            address = kUndefinedAddress;
            if (place.super != kUndefinedAddress) {
                H5MOTE_TRY(read_address(place.super + block_prefix(width) + Address{i} * width, address));
            }
        }
        super.field(width, address);
    }
    return super.finish();
}

// Changes the index block by one write: the element or address at the place gets the value `first`, unless that is
// undefined plus the chunk's size for each of the `count` elements from there on.
Status RecorderBase::link(const Slot& slot, const Place& place, Address first, std::uint32_t count) noexcept {
    const blueprint::RecordedDataset& dataset = dataset_of(slot);
    const unsigned width = table_->sizeof_addr;
    const std::uint32_t size = Parameters::index_block_size(width) - 4;
    std::byte block[Parameters::index_block_size(8)];
    H5MOTE_TRY(read(dataset.index_block, block, size + 4));
    if (load_le<std::uint32_t>(block + size) != lookup3({block, size})) {
        return Status::corrupt_file;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        store_uint(block + place.pointer + i * width, width,
                   first == kUndefinedAddress ? ~std::uint64_t{0} : first + i * chunk_size(dataset));
    }
    store_le(block + size, lookup3({block, size}));
    return write(dataset.index_block + place.pointer, block + place.pointer, size + 4 - place.pointer);
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
            values[1] += block_size(width, data_blocks(u));
        }
        for (std::uint32_t i = 0; i < data_blocks(u) && values[5] < chunks; ++i) {
            ++values[2];
            values[3] += block_size(width, data_block_elements(u));
            values[5] += data_block_elements(u);
        }
    }
    return rewrite(dataset.array, dataset.array_bytes, Parameters::header_size(width), 12, values, 6,
                   Parameters::kSize);
}

// Gives back the chunks at the end of the file that have no rows, if they are this dataset's. What was flushed is all
// that counts; the index block leads to a shorter copy of the data block before the file becomes shorter.
Status RecorderBase::give_back(Slot& slot) noexcept {
    if (slot.run == 0) {
        return Status::ok;
    }
    const blueprint::RecordedDataset& dataset = dataset_of(slot);
    const unsigned width = table_->sizeof_addr;
    const Address chunk_bytes = chunk_size(dataset);
    Place place;
    H5MOTE_TRY(locate(slot, place));
    const std::uint32_t used = slot.next != begin(slot, dataset) ? 1 : 0;
    const std::uint32_t keep = place.element + used;
    const Address free = slot.address + chunk_bytes * used;
    const Address behind = slot.address + chunk_bytes * slot.run;
    const Address blocks = place.blocks_size(width);
    const bool last = behind + blocks == end_ && (place.direct() || place.block == behind);
    if (!last || behind - free <= blocks || keep == 0) {
        return Status::ok;
    }
    if (place.direct()) {
        place.pointer += used * width;
        H5MOTE_TRY(link(slot, place, kUndefinedAddress, slot.run - used));
    } else {
        H5MOTE_TRY(write_blocks(slot, place, free, keep, 0, 0));
        H5MOTE_TRY(barrier());
        H5MOTE_TRY(link(slot, place, place.outermost(free, width), 1));
    }
    H5MOTE_TRY(write_statistics(slot, slot.chunk + used));
    H5MOTE_TRY(barrier());
    H5MOTE_TRY(set_end(free + blocks));
    H5MOTE_TRY(sync());
    H5MOTE_TRY(driver_->truncate(end_));
    unsynced_ = true;
    return sync();
}

}  // namespace h5mote
