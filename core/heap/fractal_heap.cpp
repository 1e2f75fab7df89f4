#include "fractal_heap.hpp"

#include "checked.hpp"
#include "free_space_header.hpp"

#include <cstring>

#if H5MOTE_ALL_FORMATS

namespace h5mote {
namespace {

constexpr std::size_t kChecksum = FractalHeapTable::kChecksumSize;

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
    MetadataWindow window;
    ConstBytes prefix;
    FractalHeapHeader fields;
    std::uint16_t& filters = table_.filters_length;
    H5MOTE_TRY(file.window(Usage::object_header, header, FractalHeapHeader::kPrefixSize, false, window));
    H5MOTE_TRY(window.view(0, FractalHeapHeader::kPrefixSize, prefix));
    if (!FractalHeapHeader::decode_prefix(prefix, filters)) {
        return damaged(H5MOTE_HERE, header);
    }
    header_size_ = FractalHeapHeader::fixed_size(file.shape(), filters != 0) + filters + kChecksum;
    window.close();  // the whole header is another block at the same address
    H5MOTE_TRY(read_header(fields));
    table_ = fields;
    return Status::ok;
}

Status FractalHeap::read_header(FractalHeapHeader& header) noexcept {
    MetadataWindow window;
    ConstBytes bytes;
    H5MOTE_TRY(open_header(window));
    const Address fixed = header_size_ - kChecksum - table_.filters_length;
    H5MOTE_TRY(window.view(0, static_cast<std::size_t>(fixed), bytes));
    return header.decode(file_->shape(), bytes) ? Status::ok : damaged(H5MOTE_HERE, header_);
}

FractalHeap::Block FractalHeap::root() const noexcept {
    Block block;
    block.address = table_.root;
    block.rows = table_.root_rows;
    block.size = block.rows == 0 ? table_.row_size(0) : table_.row_offset(block.rows);
    block.stored = table_.filtered() ? table_.root_stored : block.size;
    block.mask = table_.root_mask;
    return block;
}

Status FractalHeap::check_prefix(MetadataWindow& window, std::uint32_t signature, const Block& block) noexcept {
    ConstBytes bytes;
    const HeapBlockPrefix prefix{signature, header_, block.offset};
    H5MOTE_TRY(window.view(0, prefix_size(), bytes));
    return prefix.is(file_->shape(), table_, bytes) ? Status::ok : damaged(H5MOTE_HERE, block.address);
}

Status FractalHeap::open_indirect(const Block& block, MetadataWindow& window) noexcept {
    const Address size = table_.indirect_size(file_->shape(), block.rows);
    H5MOTE_TRY(file_->window(Usage::object_header, block.address, size, true, window));
    return check_prefix(window, HeapBlockPrefix::kIndirect, block);
}

// Reads the entry for the child of an indirect block in a row and column. `window` has the indirect block open.
Status FractalHeap::entry(MetadataWindow& window, const Block& parent, unsigned row, unsigned column,
                          Block& block) noexcept {
    const FileShape shape = file_->shape();
    const bool direct = row < table_.direct_rows();
    const std::size_t size = direct ? table_.direct_entry_size(shape) : shape.sizeof_addr;
    ConstBytes bytes;
    HeapBlockEntry entry;
    H5MOTE_TRY(window.view(table_.row_entries(shape, row) + Address{column} * size, size, bytes));
    const bool filtered = direct && table_.filtered();
    (void)entry.decode(shape, filtered, bytes);  // cannot fail: the size of an entry was asked for
    block = Block{};
    block.address = entry.address;
    block.size = table_.row_size(row);
    block.offset = parent.offset + table_.row_offset(row) + column * block.size;
    block.stored = filtered ? entry.stored : block.size;
    block.mask = entry.mask;
    if (!direct) {
        if (row <= table_.width_bits) {
            return damaged(H5MOTE_HERE, parent.address);
        }
        block.rows = row - table_.width_bits;  // so many rows add up to the block's size
    }
    return Status::ok;
}

// Finds the block at an offset of the address space: the direct block when `rows` is 0, otherwise the smallest indirect
// block of at least `rows` rows. Where there is none, `block` is the part of the address space without blocks, and has
// no address.
Status FractalHeap::find_block(Address offset, unsigned rows, Block& block) noexcept {
    block = root();
    if (table_.root == kUndefinedAddress || offset >= block.size) {
        return damaged(H5MOTE_HERE, header_);
    }
    while (block.rows != 0 && block.address != kUndefinedAddress) {
        MetadataWindow window;
        H5MOTE_TRY(open_indirect(block, window));
        const Address relative = offset - block.offset;
        const unsigned row = table_.row_of(relative);
        const Address column = (relative - table_.row_offset(row)) >> table_.row_bits(row);
        if (row >= block.rows) {
            return damaged(H5MOTE_HERE, block.address);
        }
        Block below;
        H5MOTE_TRY(entry(window, block, row, static_cast<unsigned>(column), below));
        if (below.rows < rows) {
            break;
        }
        block = below;
    }
    return Status::ok;
}

// The checksum of a direct block follows the prefix.
ChecksumPlace FractalHeap::direct_checksum() const noexcept {
    return table_.checksums ? static_cast<ChecksumPlace>(prefix_size()) : ChecksumPlace::none;
}

Status FractalHeap::open_direct(const Block& block, MetadataWindow& window) noexcept {
    if (!table_.filtered()) {
        if (!file_->contains(block.address, block.size)) {
            return damaged(H5MOTE_HERE, block.address);
        }
        // Objects are small, and found in no order.
        H5MOTE_TRY(window.open(file_->cache, Usage::local_heap, block.address, block.size, direct_checksum(), true));
        return check_prefix(window, HeapBlockPrefix::kDirect, block);
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
    if (table_.checksums) {
        H5MOTE_TRY(decoded_.verify(direct_checksum(), block.address));
    }
    H5MOTE_TRY(check_prefix(decoded_, HeapBlockPrefix::kDirect, block));
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
    H5MOTE_TRY(window.view(header_size_ - kChecksum - table_.filters_length, table_.filters_length, pipeline));
    return file_->foreign()->block_decoder->decode(*file_, pipeline, mask, address, stored, to);
}

Status FractalHeap::object(ConstBytes id, MetadataWindow& bytes) noexcept {
    if (id.size() < table_.id_length) {
        return damaged(H5MOTE_HERE, header_);
    }
    id = id.first(table_.id_length);
    switch (FractalHeapId::kind(id)) {
        case FractalHeapId::Kind::managed:
            return managed(id, bytes);
        case FractalHeapId::Kind::huge:
            return huge(id, bytes);
        case FractalHeapId::Kind::tiny:
            return tiny(id, bytes);
        default:
            return damaged(H5MOTE_HERE, header_);
    }
}

Status FractalHeap::managed(ConstBytes id, MetadataWindow& bytes) noexcept {
    Address offset = 0;
    Address length = 0;
    FractalHeapId::managed(table_, id, offset, length);
    Block block;
    H5MOTE_TRY(find_block(offset, 0, block));
    const Address overhead = prefix_size() + (table_.checksums ? kChecksum : 0);
    if (block.address == kUndefinedAddress || length == 0 || length > table_.max_managed ||
        offset - block.offset < overhead || !within(offset - block.offset, length, block.size)) {
        return damaged(H5MOTE_HERE, header_);
    }
    H5MOTE_TRY(open_direct(block, bytes));
    if (!table_.filtered()) {
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

BTree2Type FractalHeap::huge_type() const noexcept {
    return table_.huge_ids_direct(file_->shape())
               ? (table_.filtered() ? BTree2Type::huge_direct_filtered : BTree2Type::huge_direct)
               : (table_.filtered() ? BTree2Type::huge_indirect_filtered : BTree2Type::huge_indirect);
}

Status FractalHeap::open_huge_index(BTree2& tree) noexcept {
    H5MOTE_TRY(tree.open(*file_, table_.huge_index));
    HugeRecord record;
    const std::byte zeros[40] = {};
    const bool sound = tree.type() == huge_type() && tree.record_size() <= sizeof zeros &&
                       record.decode(file_->shape(), huge_type(), {zeros, tree.record_size()});
    return sound ? Status::ok : damaged(H5MOTE_HERE, table_.huge_index);
}

Status FractalHeap::find_huge(std::uint64_t id, HugeRecord& record) noexcept {
    BTree2 tree;
    std::byte bytes[40];
    H5MOTE_TRY(open_huge_index(tree));
    WantedId wanted(file_->shape(), tree.type(), id);
    const Status status = tree.find(wanted, bytes);
    if (status != Status::ok) {
        return status == Status::not_found ? damaged(H5MOTE_HERE, table_.huge_index) : status;
    }
    (void)record.decode(file_->shape(), tree.type(), {bytes, tree.record_size()});
    return Status::ok;
}

Status FractalHeap::huge(ConstBytes id, MetadataWindow& bytes) noexcept {
    HugeRecord record;
    if (table_.huge_ids_direct(file_->shape())) {
        (void)record.decode(file_->shape(), huge_type(), id.subspan(1));
    } else {
        H5MOTE_TRY(find_huge(FractalHeapId::huge(id), record));
    }
    if (!table_.filtered()) {
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

Status FractalHeap::tiny(ConstBytes id, MetadataWindow& bytes) noexcept {
    const ConstBytes object = FractalHeapId::tiny(id);
    if (object.empty()) {
        return damaged(H5MOTE_HERE, header_);
    }
    Bytes to;
    H5MOTE_TRY(bytes.allocate(file_->context, object.size(), to));
    std::memcpy(to.data(), object.data(), object.size());
    return Status::ok;
}

Status FractalHeap::walk(BlockVisitor& visitor) noexcept {
    FractalHeapHeader header;
    H5MOTE_TRY(read_header(header));
    H5MOTE_TRY(walk_blocks(visitor));
    if (table_.huge_index != kUndefinedAddress) {
        H5MOTE_TRY(walk_huge(visitor));
    }
    if (header.free_space_manager != kUndefinedAddress) {
        H5MOTE_TRY(walk_free_space(header.free_space_manager, visitor));
    }
    return visitor.block(BlockKind::fractal_heap_header, header_, header_size_);
}

// Every block is checked to hold its own offset in the address space: no block can therefore be met at two offsets.
Status FractalHeap::walk_blocks(BlockVisitor& visitor) noexcept {
    if (table_.root == kUndefinedAddress) {
        return Status::ok;
    }
    const Address end = root().size;
    for (Address offset = 0; offset < end;) {
        Block block;
        H5MOTE_TRY(find_block(offset, 0, block));
        if (block.address != kUndefinedAddress) {
            {
                MetadataWindow window;
                H5MOTE_TRY(open_direct(block, window));
            }
            H5MOTE_TRY(visitor.block(BlockKind::direct_block, block.address, block.stored));
        }
        const Address next = block.offset + block.size;
        H5MOTE_TRY(walk_ended(offset, next, block.rows, visitor));
        offset = next;
    }
    return Status::ok;
}

// Shows the indirect blocks that hold `offset`, have more than `rows` rows and end at `end`. The smallest is shown
// first: finding the larger ones does not read it again.
Status FractalHeap::walk_ended(Address offset, Address end, unsigned rows, BlockVisitor& visitor) noexcept {
    while (rows < table_.root_rows) {
        Block block;
        H5MOTE_TRY(find_block(offset, rows + 1, block));
        if (block.offset + block.size != end) {
            return Status::ok;
        }
        H5MOTE_TRY(
            visitor.block(BlockKind::indirect_block, block.address, table_.indirect_size(file_->shape(), block.rows)));
        rows = block.rows;
    }
    return Status::ok;
}

Status FractalHeap::walk_huge(BlockVisitor& visitor) noexcept {
    BTree2 tree;
    std::byte bytes[40];
    H5MOTE_TRY(open_huge_index(tree));
    for (std::uint64_t i = 0; i < tree.size(); ++i) {
        HugeRecord record;
        H5MOTE_TRY(tree.record(i, bytes));
        (void)record.decode(file_->shape(), tree.type(), {bytes, tree.record_size()});
        H5MOTE_TRY(visitor.block(BlockKind::huge_object, record.address, record.size));
    }
    return tree.walk(visitor);
}

Status FractalHeap::walk_free_space(Address header, BlockVisitor& visitor) noexcept {
    const FileShape shape = file_->shape();
    const std::size_t size = FreeSpaceListPlace::size(shape);
    MetadataWindow window;
    ConstBytes bytes;
    FreeSpaceListPlace manager;
    H5MOTE_TRY(file_->window(Usage::object_header, header, size, true, window));
    H5MOTE_TRY(window.view(0, size, bytes));
    if (!manager.decode(shape, bytes)) {
        return damaged(H5MOTE_HERE, header);
    }
    window.close();
    H5MOTE_TRY(visitor.block(BlockKind::free_space_header, header, size));
    return manager.list == kUndefinedAddress
               ? Status::ok
               : visitor.block(BlockKind::free_space_sections, manager.list, manager.list_size);
}

}  // namespace h5mote

#endif
