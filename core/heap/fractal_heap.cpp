#include "fractal_heap.hpp"

#include "checked.hpp"

#include <cstring>

#if H5MOTE_ALL_FORMATS

namespace h5mote {
namespace {

constexpr std::uint32_t kHeader = 0x50485246U;     // "FRHP"
constexpr std::uint32_t kDirect = 0x42444846U;     // "FHDB"
constexpr std::uint32_t kIndirect = 0x42494846U;   // "FHIB"
constexpr std::uint32_t kFreeSpace = 0x44485346U;  // "FSHD"
constexpr std::size_t kChecksum = 4;
constexpr std::uint8_t kChecksums = 2;  // flag: direct blocks have checksums

bool power_of_two(Address value) noexcept { return value != 0 && (value & (value - 1)) == 0; }

}  // namespace

void FractalHeap::close() noexcept {
    decoded_.close();
    decoded_from_ = kUndefinedAddress;
}

Status FractalHeap::open_header(MetadataWindow& window) noexcept {
    return file_->window(Usage::object_header, header_, header_size_, true, window);
}

Status FractalHeap::open(FileState& file, Address header) noexcept {
    close();
    file_ = &file;
    header_ = header;
    const FileShape shape = file.shape();
    header_size_ = 22U + 12U * shape.sizeof_size + 3U * shape.sizeof_addr + kChecksum;
    // The header ends with a filter pipeline message, whose length has to be known before the header can be opened.
    MetadataWindow window;
    ConstBytes prefix;
    H5MOTE_TRY(file.window(Usage::object_header, header, 9, false, window));
    H5MOTE_TRY(window.view(0, 9, prefix));
    filters_length_ = load_le<std::uint16_t>(prefix.data() + 7);
    if (load_le<std::uint32_t>(prefix.data()) != kHeader || prefix[4] != std::byte{0}) {
        return damaged(H5MOTE_HERE, header);
    }
    header_size_ += filtered() ? shape.sizeof_size + 4U + filters_length_ : 0U;
    H5MOTE_TRY(open_header(window));
    FractalHeapFacts facts;
    return decode_header(window, facts);
}

Status FractalHeap::decode_header(MetadataWindow& window, FractalHeapFacts& facts) noexcept {
    const FileShape shape = file_->shape();
    const std::size_t fixed = 22U + 12U * shape.sizeof_size + 3U * shape.sizeof_addr;
    ConstBytes bytes;
    H5MOTE_TRY(window.view(0, fixed + (filtered() ? shape.sizeof_size + 4U : 0U), bytes));
    Reader reader(bytes);
    reader.skip(5);
    id_length_ = reader.u16();
    reader.skip(2);
    checksums_ = (reader.u8() & kChecksums) != 0;
    max_managed_ = reader.u32();
    facts.largest_managed = max_managed_;
    (void)shape.read_size(reader);
    huge_index_ = shape.read_addr(reader);
    facts.free_space = shape.read_size(reader);
    facts.free_space_manager = shape.read_addr(reader);
    facts.managed_space = shape.read_size(reader);
    facts.allocated = shape.read_size(reader);
    (void)shape.read_size(reader);
    facts.managed = shape.read_size(reader);
    facts.huge_bytes = shape.read_size(reader);
    facts.huge = shape.read_size(reader);
    facts.tiny_bytes = shape.read_size(reader);
    facts.tiny = shape.read_size(reader);
    width_ = reader.u16();
    const Address start = shape.read_size(reader);
    const Address most = shape.read_size(reader);
    const unsigned bits = reader.u16();
    reader.skip(2);
    root_ = shape.read_addr(reader);
    facts.rows = root_rows_ = reader.u16();
    root_stored_ = filtered() ? shape.read_size(reader) : 0;
    root_mask_ = filtered() ? reader.u32() : 0;
    if (!power_of_two(width_) || !power_of_two(start) || !power_of_two(most) || most < start ||
        (std::uint64_t{most} >> 32) != 0 || bits > 63) {
        return damaged(H5MOTE_HERE, header_);
    }
    start_bits_ = static_cast<std::uint8_t>(floor_log2(start));
    width_bits_ = static_cast<std::uint8_t>(floor_log2(width_));
    direct_bits_ = static_cast<std::uint8_t>(floor_log2(most));
    heap_bits_ = static_cast<std::uint8_t>(bits);
    const unsigned offset_bytes = (direct_bits_ + 7U) / 8U;
    const unsigned length_bytes = uint_width(max_managed_);
    length_width_ = static_cast<std::uint8_t>(offset_bytes < length_bytes ? offset_bytes : length_bytes);
    const unsigned first_row = 0U + start_bits_ + width_bits_;
    const bool sound = first_row <= bits && direct_bits_ <= bits && root_rows_ <= bits - first_row + 1U &&
                       1U + offset_width() + length_width_ <= id_length_ && length_width_ != 0;
    return sound ? Status::ok : damaged(H5MOTE_HERE, header_);
}

Status FractalHeap::facts(FractalHeapFacts& facts) noexcept {
    MetadataWindow window;
    H5MOTE_TRY(open_header(window));
    facts.header_size = header_size_;
    return decode_header(window, facts);
}

// The offset of a row in the doubling table, whose rows have `width_` blocks each. The blocks of the first two rows
// have the starting block size; from then on the size doubles with each row.
Address FractalHeap::row_offset(unsigned row) const noexcept {
    return row == 0 ? 0 : Address{1} << (0U + start_bits_ + width_bits_ + row - 1U);
}

FractalHeap::Block FractalHeap::root() const noexcept {
    Block block;
    block.address = root_;
    block.rows = root_rows_;
    block.size = root_rows_ == 0 ? row_size(0) : row_offset(root_rows_);
    block.stored = filtered() ? root_stored_ : block.size;
    block.mask = root_mask_;
    return block;
}

Status FractalHeap::check_prefix(MetadataWindow& window, std::uint32_t signature, const Block& block) noexcept {
    ConstBytes bytes;
    H5MOTE_TRY(window.view(0, prefix_size(), bytes));
    Reader reader(bytes);
    const bool sound = reader.u32() == signature && reader.u8() == 0 && file_->shape().read_addr(reader) == header_ &&
                       reader.uint(offset_width()) == block.offset;
    return sound ? Status::ok : damaged(H5MOTE_HERE, block.address);
}

Status FractalHeap::open_indirect(const Block& block, MetadataWindow& window) noexcept {
    const unsigned direct = block.rows < direct_rows() ? block.rows : direct_rows();
    const Address size = prefix_size() + Address{direct} * width_ * direct_entry_size() +
                         Address{block.rows - direct} * width_ * file_->shape().sizeof_addr + kChecksum;
    H5MOTE_TRY(file_->window(Usage::object_header, block.address, size, true, window));
    return check_prefix(window, kIndirect, block);
}

// Reads the entry for the child of an indirect block in a row and column. `window` has the indirect block open.
Status FractalHeap::entry(MetadataWindow& window, const Block& parent, unsigned row, unsigned column,
                          Block& block) noexcept {
    const FileShape shape = file_->shape();
    const bool direct = row < direct_rows();
    const Address at =
        prefix_size() + (direct ? (Address{row} * width_ + column) * direct_entry_size()
                                : Address{direct_rows()} * width_ * direct_entry_size() +
                                      (Address{row - direct_rows()} * width_ + column) * shape.sizeof_addr);
    const std::size_t size = direct ? direct_entry_size() : shape.sizeof_addr;
    ConstBytes bytes;
    H5MOTE_TRY(window.view(at, size, bytes));
    Reader reader(bytes);
    block = Block{};
    block.address = shape.read_addr(reader);
    block.size = row_size(row);
    block.offset = parent.offset + row_offset(row) + column * block.size;
    block.stored = direct && filtered() ? shape.read_size(reader) : block.size;
    block.mask = direct && filtered() ? reader.u32() : 0;
    if (!direct) {
        if (row <= width_bits_) {
            return damaged(H5MOTE_HERE, parent.address);
        }
        block.rows = row - width_bits_;  // so many rows add up to the block's size
    }
    return Status::ok;
}

// Finds the direct block at an offset of the address space. Where there is none, `block` is the part of the address
// space without blocks, and has no address. A visitor is shown the indirect blocks that begin at the offset.
Status FractalHeap::find_block(Address offset, Block& block, BlockVisitor* visitor) noexcept {
    block = root();
    if (root_ == kUndefinedAddress || offset >= block.size) {
        return damaged(H5MOTE_HERE, header_);
    }
    while (block.rows != 0 && block.address != kUndefinedAddress) {
        MetadataWindow window;
        H5MOTE_TRY(open_indirect(block, window));
        const Address relative = offset - block.offset;
        if (relative == 0 && visitor != nullptr) {
            H5MOTE_TRY(visitor->block(BlockKind::indirect_block, block.address, window.size()));
        }
        const unsigned first_row = 0U + start_bits_ + width_bits_;
        const unsigned high = floor_log2(relative);
        const unsigned row = relative >> first_row == 0 ? 0 : high - first_row + 1;
        const Address column = (relative - row_offset(row)) >> row_bits(row);
        if (row >= block.rows) {
            return damaged(H5MOTE_HERE, block.address);
        }
        Block below;
        H5MOTE_TRY(entry(window, block, row, static_cast<unsigned>(column), below));
        block = below;
    }
    return Status::ok;
}

// The checksum of a direct block follows the prefix.
ChecksumPlace FractalHeap::direct_checksum() const noexcept {
    return checksums_ ? static_cast<ChecksumPlace>(prefix_size()) : ChecksumPlace::none;
}

Status FractalHeap::open_direct(const Block& block, MetadataWindow& window) noexcept {
    if (!filtered()) {
        H5MOTE_TRY(file_->window(Usage::local_heap, block.address, block.size, direct_checksum(), window));
        return check_prefix(window, kDirect, block);
    }
    if (decoded_from_ == block.address) {
        return Status::ok;
    }
    decoded_from_ = kUndefinedAddress;
    std::size_t size = 0;
    Bytes to;
    if (!to_size(block.size, size)) {
        return damaged(H5MOTE_HERE, block.address);
    }
    H5MOTE_TRY(decoded_.allocate(file_->context, size, to));
    H5MOTE_TRY(decode(block.address, block.stored, block.mask, to));
    if (checksums_) {
        H5MOTE_TRY(decoded_.verify(direct_checksum(), block.address));
    }
    H5MOTE_TRY(check_prefix(decoded_, kDirect, block));
    decoded_from_ = block.address;
    return Status::ok;
}

Status FractalHeap::decode(Address address, Address stored, std::uint32_t mask, Bytes to) noexcept {
    if (file_->foreign()->block_decoder == nullptr) {
        return file_->context.unsupported(Module::heap, H5MOTE_HERE, Feature::filter);
    }
    if (stored == 0 || !file_->contains(address, stored)) {
        return damaged(H5MOTE_HERE, address);
    }
    MetadataWindow window;
    ConstBytes pipeline;
    H5MOTE_TRY(open_header(window));
    H5MOTE_TRY(window.view(header_size_ - kChecksum - filters_length_, filters_length_, pipeline));
    return file_->foreign()->block_decoder->decode(*file_, pipeline, mask, address, stored, to);
}

Status FractalHeap::object(ConstBytes id, MetadataWindow& bytes) noexcept {
    const unsigned first = id.empty() ? 0xffU : std::to_integer<unsigned>(id[0]);
    if (id.size() < id_length_ || (first & 0xc0U) != 0) {
        return damaged(H5MOTE_HERE, header_);
    }
    switch (first >> 4) {
        case 0:
            return managed(id, bytes);
        case 1:
            return huge(id, bytes);
        case 2:
            return tiny(id, bytes);
        default:
            return damaged(H5MOTE_HERE, header_);
    }
}

Status FractalHeap::managed(ConstBytes id, MetadataWindow& bytes) noexcept {
    const Address offset = narrow(load_uint(id.data() + 1, offset_width()));
    const Address length = narrow(load_uint(id.data() + 1 + offset_width(), length_width_));
    Block block;
    H5MOTE_TRY(find_block(offset, block, nullptr));
    const Address overhead = prefix_size() + (checksums_ ? kChecksum : 0);
    if (block.address == kUndefinedAddress || length == 0 || length > max_managed_ ||
        offset - block.offset < overhead || !within(offset - block.offset, length, block.size)) {
        return damaged(H5MOTE_HERE, header_);
    }
    H5MOTE_TRY(open_direct(block, bytes));
    if (!filtered()) {
        return bytes.restrict(offset - block.offset, length);
    }
    Bytes to;
    H5MOTE_TRY(bytes.allocate(file_->context, static_cast<std::size_t>(length), to));
    return decoded_.read(offset - block.offset, to);
}

namespace {

class WantedId final : public RecordCompare {
public:
    WantedId(FileShape shape, BTree2Type type, std::uint64_t id) noexcept : shape_(shape), type_(type), id_(id) {}
    Status compare(ConstBytes record, int& order) noexcept override {
        HugeRecord huge;
        (void)huge.decode(shape_, type_, record);  // cannot fail: open_huge_index() has checked the record's length
        order = id_ < huge.id ? -1 : id_ > huge.id ? 1 : 0;
        return Status::ok;
    }

private:
    FileShape shape_;
    BTree2Type type_;
    std::uint64_t id_;
};

}  // namespace

// Whether heap ids are long enough to tell where a huge object is, so that it need not be looked up in the B-tree.
bool FractalHeap::huge_ids_direct() const noexcept {
    const FileShape shape = file_->shape();
    const unsigned place = 0U + shape.sizeof_addr + shape.sizeof_size + (filtered() ? 4U + shape.sizeof_size : 0U);
    return place + 1 <= id_length_;
}

BTree2Type FractalHeap::huge_type() const noexcept {
    return huge_ids_direct() ? (filtered() ? BTree2Type::huge_direct_filtered : BTree2Type::huge_direct)
                             : (filtered() ? BTree2Type::huge_indirect_filtered : BTree2Type::huge_indirect);
}

Status FractalHeap::open_huge_index(BTree2& tree) noexcept {
    H5MOTE_TRY(tree.open(*file_, huge_index_));
    HugeRecord record;
    const std::byte zeros[40] = {};
    const bool sound = tree.type() == huge_type() && tree.record_size() <= sizeof zeros &&
                       record.decode(file_->shape(), huge_type(), {zeros, tree.record_size()});
    return sound ? Status::ok : damaged(H5MOTE_HERE, huge_index_);
}

Status FractalHeap::find_huge(std::uint64_t id, HugeRecord& record) noexcept {
    BTree2 tree;
    std::byte bytes[40];
    H5MOTE_TRY(open_huge_index(tree));
    WantedId wanted(file_->shape(), tree.type(), id);
    const Status status = tree.find(wanted, bytes);
    if (status != Status::ok) {
        return status == Status::not_found ? damaged(H5MOTE_HERE, huge_index_) : status;
    }
    (void)record.decode(file_->shape(), tree.type(), {bytes, tree.record_size()});
    return Status::ok;
}

Status FractalHeap::huge(ConstBytes id, MetadataWindow& bytes) noexcept {
    HugeRecord record;
    if (huge_ids_direct()) {
        (void)record.decode(file_->shape(), huge_type(), id.subspan(1));
    } else {
        H5MOTE_TRY(find_huge(load_uint(id.data() + 1, id_length_ - 1U < 8U ? id_length_ - 1U : 8U), record));
    }
    if (!filtered()) {
        return file_->window(Usage::raw_data, record.address, record.size, false, bytes);
    }
    std::size_t size = 0;
    Bytes to;
    if (!to_size(record.memory_size, size)) {
        return damaged(H5MOTE_HERE, record.address);
    }
    H5MOTE_TRY(bytes.allocate(file_->context, size, to));
    return decode(record.address, record.size, record.mask, to);
}

// The object's length minus one is in the low four bits of the first byte; where ids are long enough, the next byte is
// the low part of it.
Status FractalHeap::tiny(ConstBytes id, MetadataWindow& bytes) noexcept {
    const bool extended = id_length_ > 18;
    std::size_t length = std::to_integer<std::size_t>(id[0] & std::byte{0x0f});
    if (extended) {
        length = length << 8 | std::to_integer<std::size_t>(id[1]);
    }
    ++length;
    const std::size_t at = extended ? 2 : 1;
    if (length > id_length_ - at) {
        return damaged(H5MOTE_HERE, header_);
    }
    Bytes to;
    H5MOTE_TRY(bytes.allocate(file_->context, length, to));
    std::memcpy(to.data(), id.data() + at, length);
    return Status::ok;
}

Status FractalHeap::walk(BlockVisitor& visitor) noexcept {
    FractalHeapFacts facts_now;
    H5MOTE_TRY(facts(facts_now));
    H5MOTE_TRY(visitor.block(BlockKind::fractal_heap_header, header_, header_size_));
    H5MOTE_TRY(walk_blocks(visitor));
    if (huge_index_ != kUndefinedAddress) {
        H5MOTE_TRY(walk_huge(visitor));
    }
    return facts_now.free_space_manager == kUndefinedAddress ? Status::ok
                                                             : walk_free_space(facts_now.free_space_manager, visitor);
}

// Every block is checked to hold its own offset in the address space: no block can therefore be met at two offsets.
Status FractalHeap::walk_blocks(BlockVisitor& visitor) noexcept {
    if (root_ == kUndefinedAddress) {
        return Status::ok;
    }
    const Address end = root().size;
    for (Address offset = 0; offset < end;) {
        Block block;
        H5MOTE_TRY(find_block(offset, block, &visitor));
        if (block.address != kUndefinedAddress) {
            MetadataWindow window;
            H5MOTE_TRY(open_direct(block, window));
            H5MOTE_TRY(visitor.block(BlockKind::direct_block, block.address, block.stored));
        }
        offset = block.offset + block.size;
    }
    return Status::ok;
}

Status FractalHeap::walk_huge(BlockVisitor& visitor) noexcept {
    BTree2 tree;
    std::byte bytes[40];
    H5MOTE_TRY(open_huge_index(tree));
    H5MOTE_TRY(tree.walk(visitor));
    for (std::uint64_t i = 0; i < tree.size(); ++i) {
        HugeRecord record;
        H5MOTE_TRY(tree.record(i, bytes));
        (void)record.decode(file_->shape(), tree.type(), {bytes, tree.record_size()});
        H5MOTE_TRY(visitor.block(BlockKind::huge_object, record.address, record.size));
    }
    return Status::ok;
}

// The header of the free space manager:
// "FSHD" | version 0 | client | four sizes | four numbers of 2 | largest section L | sections: address O, bytes L,
// allocated L | checksum.
Status FractalHeap::walk_free_space(Address header, BlockVisitor& visitor) noexcept {
    const FileShape shape = file_->shape();
    const std::size_t size = 6U + 7U * shape.sizeof_size + 8U + shape.sizeof_addr + kChecksum;
    MetadataWindow window;
    ConstBytes bytes;
    H5MOTE_TRY(file_->window(Usage::object_header, header, size, true, window));
    H5MOTE_TRY(window.view(0, size, bytes));
    Reader reader(bytes);
    if (reader.u32() != kFreeSpace || reader.u8() != 0) {
        return damaged(H5MOTE_HERE, header);
    }
    reader.skip(1U + 5U * shape.sizeof_size + 8U);
    const Address sections = shape.read_addr(reader);
    (void)shape.read_size(reader);
    const Address allocated = shape.read_size(reader);
    H5MOTE_TRY(visitor.block(BlockKind::free_space_header, header, size));
    return sections == kUndefinedAddress ? Status::ok
                                         : visitor.block(BlockKind::free_space_sections, sections, allocated);
}

}  // namespace h5mote

#endif
