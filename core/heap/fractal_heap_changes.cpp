#include "fractal_heap_changes.hpp"

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {
namespace {

constexpr std::uint16_t kWidth = 4;
constexpr std::uint8_t kDirectBits = 16;
constexpr std::uint16_t kStartRows = 1;
// The heap is copied when its blocks take more than this and four times what the objects need.
constexpr Address kMostWaste = 16384;
// New direct blocks are cached up to this part of the cache.
constexpr std::size_t kCachedShare = 8;
// An object of several parts that is no longer than this is written at once.
constexpr std::size_t kJoined = 128;

// Copies all bytes of a content.
Status copy_content(HeapContent& content, std::byte* to) noexcept {
    for (Address done = 0; done < content.size();) {
        ConstBytes piece;
        H5MOTE_TRY(content.peek(done, piece));
        std::memcpy(to + done, piece.data(), piece.size());
        done += static_cast<Address>(piece.size());
    }
    return Status::ok;
}

}  // namespace

Status put_content(MetadataWriter& writer, HeapContent& content, Address begin, Address end) noexcept {
    while (begin < end) {
        ConstBytes piece;
        H5MOTE_TRY(content.peek(begin, piece));
        piece = piece.first(end - begin < piece.size() ? static_cast<std::size_t>(end - begin) : piece.size());
        H5MOTE_TRY(writer.put(piece));
        begin += static_cast<Address>(piece.size());
    }
    return Status::ok;
}

Status FractalHeapChanges::create(FileState& file, const HeapKind& kind, Address header) noexcept {
    FractalHeapHeader fields;
    fields.id_length = kind.id_length;
    fields.max_managed = kMaxManaged;
    fields.width = kWidth;
    fields.start_bits = kind.start_bits;
    fields.width_bits = 2;
    fields.direct_bits = kDirectBits;
    fields.heap_bits = kind.heap_bits;
    fields.start_rows = kStartRows;
    Pinned block;
    H5MOTE_TRY(
        file.cache.create(Usage::object_header, header, static_cast<std::size_t>(header_size(file.shape())), block));
    Writer writer(block->image());
    fields.encode(file.shape(), writer);
    StagedBlocks::mark(*block);
    return Status::ok;
}

bool FractalHeapChanges::is_ours(const HeapKind& kind) const noexcept {
    return (kind.checksums || !header_.checksums) && header_.id_length == kind.id_length && header_.width == kWidth &&
           header_.start_bits == kind.start_bits && header_.direct_bits == kDirectBits &&
           header_.heap_bits == kind.heap_bits && header_.start_rows == kStartRows &&
           header_.max_managed == kMaxManaged;
}

Status FractalHeapChanges::open(const HeapKind& kind, Address header) noexcept {
    const FileShape shape = file_.shape();
    MetadataWindow window;
    ConstBytes prefix;
    std::uint16_t filters = 0;
    H5MOTE_TRY(file_.window(Usage::object_header, header, FractalHeapHeader::kPrefixSize, false, window));
    H5MOTE_TRY(window.view(0, FractalHeapHeader::kPrefixSize, prefix));
    if (!FractalHeapHeader::decode_prefix(prefix, filters)) {
        return damaged(H5MOTE_HERE, header);
    }
    if (filters != 0) {
        return Status::not_found;
    }
    H5MOTE_TRY(file_.window(Usage::object_header, header, header_size(shape), true, window));
    H5MOTE_TRY(window.pin());
    if (!header_.decode(shape, window.block()->image())) {
        return damaged(H5MOTE_HERE, header);
    }
    if (!is_ours(kind)) {
        return Status::not_found;
    }
    header_block_ = static_cast<Pinned&&>(window.block());
    return sections_.load(file_, header_, header_.free_space_manager);
}

Address FractalHeapChanges::payload(unsigned row) const noexcept {
    return header_.row_size(row) - static_cast<Address>(overhead());
}

// Bytes that objects can have in the blocks of so many rows, and in the blocks below these.
Address FractalHeapChanges::capacity(unsigned rows) const noexcept {
    Address totals[32] = {};  // of the first rows, up to 29 of them
    for (unsigned row = 0; row < rows; ++row) {
        const Address each = row < header_.direct_rows() ? payload(row) : totals[row - header_.width_bits];
        totals[row + 1] = totals[row] + each * header_.width;
    }
    return totals[rows];
}

Address FractalHeapChanges::used() const noexcept {
    const Address all = header_.root == kUndefinedAddress ? 0
                        : header_.root_rows == 0          ? payload(0)
                                                          : capacity(header_.root_rows);
    return all < header_.free_space ? 0 : all - header_.free_space;
}

bool FractalHeapChanges::wants_copy() const noexcept {
    return (header_.allocated > kMostWaste && header_.allocated / 4 > used()) ||
           header_.iterator >> (header_.heap_bits - 1U) != 0;
}

FractalHeapChanges::Slot FractalHeapChanges::root() const noexcept {
    Slot slot;
    slot.address = header_.root;
    slot.rows = header_.root_rows;
    slot.size = slot.rows == 0 ? header_.row_size(0) : header_.row_offset(slot.rows);
    return slot;
}

// The block at an offset among those directly below an indirect block, but for its address.
FractalHeapChanges::Slot FractalHeapChanges::slot_at(const Slot& parent, Address offset) const noexcept {
    const Address relative = offset - parent.offset;
    const unsigned row = header_.row_of(relative);
    const auto column = static_cast<unsigned>((relative - header_.row_offset(row)) >> header_.row_bits(row));
    Slot slot;
    slot.entry = row * header_.width + column;
    slot.size = header_.row_size(row);
    slot.offset = parent.offset + header_.row_offset(row) + column * slot.size;
    slot.rows = row < header_.direct_rows() ? 0 : row - header_.width_bits;
    return slot;
}

std::size_t FractalHeapChanges::entry_offset(unsigned entry) const noexcept {
    return header_.prefix_size(file_.shape()) + std::size_t{entry} * file_.shape().sizeof_addr;
}

Status FractalHeapChanges::pin(const Slot& slot, Pinned& block) noexcept {
    const FileShape shape = file_.shape();
    const Address size = header_.indirect_size(shape, slot.rows);
    if (!file_.contains(slot.address, size)) {
        return damaged(H5MOTE_HERE, slot.address);
    }
    H5MOTE_TRY(file_.cache.protect(Usage::object_header, slot.address, static_cast<std::size_t>(size), block));
    const HeapBlockPrefix prefix{HeapBlockPrefix::kIndirect, header_block_->address(), slot.offset};
    return prefix.is(shape, header_, block->image()) ? Status::ok : damaged(H5MOTE_HERE, slot.address);
}

// Finds the way to the direct block at an offset. Blocks on it that do not exist have no address.
Status FractalHeapChanges::descend(Address offset) noexcept {
    path_[0] = root();
    for (depth_ = 0; path_[depth_].rows != 0;) {
        const Slot& parent = path_[depth_];
        Slot slot = slot_at(parent, offset);
        if (offset - parent.offset >= parent.size || depth_ == kMostDepth) {
            return damaged(H5MOTE_HERE, header_block_->address());
        }
        if (parent.address != kUndefinedAddress) {
            Pinned block;
            H5MOTE_TRY(pin(parent, block));
            slot.address = file_.shape().load_addr(block->at(entry_offset(slot.entry)));
        }
        path_[++depth_] = slot;
    }
    return Status::ok;
}

// Whether an indirect block has no entry but the one for the next block of the path.
bool FractalHeapChanges::is_empty(CacheEntry& block, const Slot& slot) const noexcept {
    bool empty = true;
    for (unsigned i = 0; i < slot.rows * header_.width; ++i) {
        empty = empty && (i == path_[&slot - path_ + 1].entry ||
                          file_.shape().load_addr(block.at(entry_offset(i))) == kUndefinedAddress);
    }
    return empty;
}

// Makes the block of the path at `level` lead to `address`, in a copy, and all above it to their copies. A block that
// leads nowhere any more is given up.
Status FractalHeapChanges::set_entry(unsigned level, Address address) noexcept {
    const FileShape shape = file_.shape();
    for (unsigned i = level + 1; i-- > 0;) {
        Slot& slot = path_[i];
        const Address size = header_.indirect_size(shape, slot.rows);
        Pinned old;
        if (slot.address != kUndefinedAddress) {
            H5MOTE_TRY(pin(slot, old));
            H5MOTE_TRY(blocks_.replace(slot.address, size));
        }
        if (address == kUndefinedAddress && is_empty(*old, slot)) {
            slot.address = kUndefinedAddress;
            continue;
        }
        Pinned block;
        H5MOTE_TRY(blocks_.create(Usage::object_header, size, block));
        if (old) {
            std::memcpy(block->at(0), old->at(0), static_cast<std::size_t>(size));
        } else {
            Writer writer(block->image());
            HeapBlockPrefix{HeapBlockPrefix::kIndirect, header_block_->address(), slot.offset}.encode(shape, header_,
                                                                                                      writer);
            writer.fill(std::byte{0xff}, static_cast<std::size_t>(size) - writer.written());
        }
        shape.store_addr(block->at(entry_offset(path_[i + 1].entry)), address);
        StagedBlocks::mark(*block);
        slot.address = address = block->address();
    }
    header_.root = address;
    return Status::ok;
}

// The first offset, from the iterator on, at which a direct block of at least `least` bytes has its place. false: there
// is none.
bool FractalHeapChanges::next_slot(Address least, Address& offset) const noexcept {
    const unsigned wanted = least <= header_.row_size(0) ? 0 : floor_log2(least) - header_.start_bits + 1U;
    Slot block;
    block.rows = most_rows();
    while (block.rows != 0) {
        const unsigned row = header_.row_of(offset - block.offset);
        if (row >= block.rows) {
            return false;
        }
        if (row >= header_.direct_rows()) {
            block = slot_at(block, offset);
        } else if (row >= wanted) {
            return true;
        } else if (wanted < block.rows) {
            offset = block.offset + header_.row_offset(wanted);
            return true;
        } else {
            // Nothing as large as that here: from the top to what comes behind this block.
            offset = block.offset + header_.row_offset(block.rows);
            block = Slot{};
            block.rows = most_rows();
        }
    }
    return false;
}

// Makes an indirect root with so many rows, which begins like the present one, or with the direct block that is the
// root now.
Status FractalHeapChanges::resize_root(unsigned rows) noexcept {
    const FileShape shape = file_.shape();
    const Address objects = used();
    const Slot old = root();
    const Address size = header_.indirect_size(shape, rows);
    Pinned block;
    H5MOTE_TRY(blocks_.create(Usage::object_header, size, block));
    Writer writer(block->image());
    HeapBlockPrefix{HeapBlockPrefix::kIndirect, header_block_->address(), 0}.encode(shape, header_, writer);
    writer.fill(std::byte{0xff}, static_cast<std::size_t>(size) - writer.written());
    if (old.rows != 0) {
        Pinned present;
        H5MOTE_TRY(pin(old, present));
        const unsigned common = (rows < old.rows ? rows : old.rows) * header_.width;
        std::memcpy(block->at(0), present->at(0), entry_offset(common));
        H5MOTE_TRY(blocks_.replace(old.address, header_.indirect_size(shape, old.rows)));
    } else if (old.address != kUndefinedAddress) {
        shape.store_addr(block->at(entry_offset(0)), old.address);
        header_.iterator = header_.row_size(0);
    }
    StagedBlocks::mark(*block);
    header_.root = block->address();
    header_.root_rows = static_cast<std::uint16_t>(rows);
    header_.managed_space = header_.row_offset(rows);
    header_.free_space = capacity(rows) - objects;
    return Status::ok;
}

// Makes a direct block that has room for an object of `size` bytes: the last one of the path.
Status FractalHeapChanges::new_block(Address size, Address& offset) noexcept {
    const auto prefix_size = static_cast<Address>(overhead());
    Address least = header_.row_size(0);
    while (least - prefix_size < size) {
        least *= 2;
    }
    if (header_.root == kUndefinedAddress && least == header_.row_size(0)) {
        path_[0] = root();
        header_.managed_space = least;
        header_.free_space = payload(0);
        header_.iterator = 0;
        depth_ = 0;
    } else {
        if (header_.root_rows == 0) {
            H5MOTE_TRY(resize_root(least == header_.row_size(0) ? kStartRows : header_.row_of(least * 4) + 1U));
        }
        Address place = header_.iterator;
        if (!next_slot(least, place)) {
            return file_.context.fail(Module::heap, H5MOTE_HERE, Status::no_space, 0, header_block_->address());
        }
        unsigned rows = header_.root_rows;
        while (header_.row_offset(rows) <= place) {
            rows = 2 * rows < most_rows() ? 2 * rows : most_rows();
        }
        if (rows != header_.root_rows) {
            H5MOTE_TRY(resize_root(rows));
        }
        H5MOTE_TRY(descend(place));
        if (path_[depth_].address != kUndefinedAddress) {
            return damaged(H5MOTE_HERE, header_block_->address());
        }
        header_.iterator = place + path_[depth_].size;
    }
    Slot& slot = path_[depth_];
    offset = slot.offset;
    // With memory to spare the cache keeps the block, and writes it once with all objects that it gets until then.
    const bool cached =
        !header_.checksums && file_.cache.is_generous() && slot.size <= file_.cache.budget() / kCachedShare;
    Pinned block;
    if (cached) {
        H5MOTE_TRY(blocks_.create(Usage::local_heap, slot.size, block, ChecksumPlace::none));
        slot.address = block->address();
    } else {
        H5MOTE_TRY(blocks_.allocate(Usage::local_heap, slot.size, slot.address));
    }
    header_.allocated += slot.size;
    if (depth_ == 0) {
        header_.root = slot.address;
    } else {
        H5MOTE_TRY(set_entry(depth_ - 1, slot.address));
    }
    std::byte bytes[5 + 8 + 8];
    Writer writer{Bytes(bytes)};
    HeapBlockPrefix{HeapBlockPrefix::kDirect, header_block_->address(), slot.offset}.encode(file_.shape(), header_,
                                                                                            writer);
    if (cached) {
        std::memcpy(block->at(0), bytes, writer.written());
        StagedBlocks::mark(*block);
        return Status::ok;
    }
    return write(Usage::local_heap, slot.address, {bytes, writer.written()});
}

Status FractalHeapChanges::write(Usage usage, Address address, ConstBytes bytes) noexcept {
    file_.unsynced = true;
    return told(file_.context, file_.driver, H5MOTE_HERE, file_.driver.write(usage, address, bytes), address);
}

// Writes an object to free bytes of the last block of the path. The cache may have the block. Only if that is a new
// one, which is still to be written as a whole, the cache writes the object as well.
Status FractalHeapChanges::write_object(HeapContent& object, Address offset) noexcept {
    const Slot& slot = path_[depth_];
    const Address from = offset - slot.offset;
    for (Address done = 0; done < object.size();) {
        ConstBytes piece;
        H5MOTE_TRY(object.peek(done, piece));
        std::byte joined[kJoined];
        if (piece.size() < object.size() && object.size() <= kJoined) {
            H5MOTE_TRY(copy_content(object, joined));
            piece = {joined, static_cast<std::size_t>(object.size())};
        }
        CacheEntry* const block = file_.cache.touch(slot.address);
        if (block == nullptr || !block->fresh() || !block->dirty() || block->size() != slot.size) {
            H5MOTE_TRY(write(Usage::local_heap, slot.address + from + done, piece));
        }
        if (block != nullptr && within(from + done, piece.size(), block->size())) {
            std::memcpy(block->at(static_cast<std::size_t>(from + done)), piece.data(), piece.size());
        }
        done += static_cast<Address>(piece.size());
    }
    return Status::ok;
}

// Writes an object to free bytes of the last block of the path, which has a checksum: a copy takes the block's place.
Status FractalHeapChanges::replace_block(HeapContent& object, Address offset, bool is_new) noexcept {
    Slot& slot = path_[depth_];
    if (is_new) {
        return write_block(object, offset, kUndefinedAddress);
    }
    const Address old = slot.address;
    H5MOTE_TRY(blocks_.replace(old, slot.size));
    H5MOTE_TRY(blocks_.allocate(Usage::local_heap, slot.size, slot.address));
    H5MOTE_TRY(write_block(object, offset, old));
    if (depth_ == 0) {
        header_.root = slot.address;
        return Status::ok;
    }
    return set_entry(depth_ - 1, slot.address);
}

// Writes the last block of the path with an object at `offset`, and otherwise as the block at `old` is, if there is
// one.
Status FractalHeapChanges::write_block(HeapContent& object, Address offset, Address old) noexcept {
    const Slot& slot = path_[depth_];
    const auto prefix = static_cast<Address>(header_.prefix_size(file_.shape()));
    const Address from = offset - slot.offset;
    MetadataWindow window;
    if (old != kUndefinedAddress) {
        H5MOTE_TRY(file_.window(Usage::local_heap, old, slot.size, static_cast<ChecksumPlace>(prefix), window));
    }
    MetadataWriter block(file_, Usage::local_heap, slot.address, slot.size);
    WindowContent present(window);
    const auto put_present = [&](Address begin, Address end) noexcept {
        return old == kUndefinedAddress ? block.put_zeros(end - begin) : put_content(block, present, begin, end);
    };
    std::byte bytes[5 + 8 + 8 + FractalHeapTable::kChecksumSize] = {};
    Writer writer{Bytes(bytes)};
    HeapBlockPrefix{HeapBlockPrefix::kDirect, header_block_->address(), slot.offset}.encode(file_.shape(), header_,
                                                                                            writer);
    H5MOTE_TRY(block.put({bytes, overhead()}));
    H5MOTE_TRY(put_present(static_cast<Address>(overhead()), from));
    H5MOTE_TRY(put_content(block, object, 0, object.size()));
    H5MOTE_TRY(put_present(from + object.size(), slot.size));
    H5MOTE_TRY(block.end(false));
    store_le<std::uint32_t>(bytes, block.checksum());
    return write(Usage::local_heap, slot.address + prefix, {bytes, FractalHeapTable::kChecksumSize});
}

Status FractalHeapChanges::insert_managed(HeapContent& object, Bytes id) noexcept {
    const Address size = object.size();
    const auto prefix_size = static_cast<Address>(overhead());
    Address offset = 0;
    const auto usable = [this](const HeapSections::Section& section) {
        return !is_released(section.offset, section.size);
    };
    const bool is_new = !sections_.take(size, usable, offset);
    if (!is_new) {
        H5MOTE_TRY(descend(offset));
        const Slot& slot = path_[depth_];
        if (slot.address == kUndefinedAddress || offset - slot.offset < prefix_size ||
            !within(offset - slot.offset, size, slot.size) || !file_.contains(slot.address, slot.size)) {
            return damaged(H5MOTE_HERE, header_.free_space_manager);
        }
    } else {
        Address block = 0;
        H5MOTE_TRY(new_block(size, block));
        offset = block + prefix_size;
        const Address rest = path_[depth_].size - prefix_size - size;
        if (rest != 0) {
            (void)sections_.add(offset + size, rest);
        }
    }
    H5MOTE_TRY(header_.checksums ? replace_block(object, offset, is_new) : write_object(object, offset));
    ++header_.managed;
    header_.free_space -= size;
    FractalHeapId::encode_managed(header_, id, offset, size);
    return Status::ok;
}

Status FractalHeapChanges::insert(HeapContent& object, Bytes id) noexcept {
    const Address size = object.size();
    if (size > header_.max_managed) {
        return insert_huge(object, id);
    }
    if (size > FractalHeapId::max_tiny(header_.id_length)) {
        return insert_managed(object, id);
    }
    std::byte bytes[16];
    H5MOTE_TRY(copy_content(object, bytes));
    ++header_.tiny;
    header_.tiny_bytes += size;
    FractalHeapId::encode_tiny(id, {bytes, static_cast<std::size_t>(size)});
    return Status::ok;
}

Status FractalHeapChanges::replace(HeapContent& object, ConstBytes old, Bytes id) noexcept {
    old = old.first(header_.id_length);
    if (object.size() > header_.max_managed && FractalHeapId::kind(old) == FractalHeapId::Kind::huge) {
        return replace_huge(object, old, id);
    }
    H5MOTE_TRY(insert(object, id));
    return remove(old);
}

Status FractalHeapChanges::prepare(bool in_place) noexcept {
    return sections_.store(file_, header_, blocks_, in_place, header_.free_space_manager);
}

void FractalHeapChanges::apply() noexcept {
    Writer writer(header_block_->image());
    header_.encode(file_.shape(), writer);
    MetadataCache::mark_dirty(*header_block_, 0, Phase::object);
    huge_.apply();
    blocks_.keep();
    sections_.apply(file_);
    // Since the bytes were noted, the cache may have committed to make room: they are given up with the next commit.
    ForeignState& state = *file_.foreign();
    if (removed_size_ != 0 && state.released != nullptr && !is_released(removed_, removed_size_)) {
        state.released->add(header_block_->address(), state.commits, removed_, removed_size_);
    }
    removed_size_ = 0;
}

void FractalHeapChanges::undo() noexcept {
    removed_size_ = 0;
    sections_.undo();
    huge_.undo();
    blocks_.undo();
}

}  // namespace h5mote

#endif
