// Finding chunks for reading: in every kind of chunk index, with index blocks of any size.

#include "chunk_table.hpp"

#include "btree2_record.hpp"
#include "checked.hpp"

namespace h5mote {
namespace {

// A version 2 B-tree orders its records by their chunk coordinates, the slowest dimension first.
class ScaledCompare final : public RecordCompare {
public:
    ScaledCompare(const std::uint64_t* wanted, unsigned rank) noexcept : wanted_(wanted), rank_(rank) {}
    Status compare(ConstBytes record, int& order) noexcept override {
        order = 0;
        for (unsigned i = 0; order == 0 && i < rank_; ++i) {
            const std::uint64_t there = ChunkRecord::coordinate(record, rank_, i);
            order = wanted_[i] < there ? -1 : wanted_[i] > there ? 1 : 0;
        }
        return Status::ok;
    }

private:
    const std::uint64_t* wanted_;
    unsigned rank_;
};

}  // namespace

Status ChunkTable::open_btree2(const LayoutMessage& layout) noexcept {
    DenseHandle& tree = make<DenseHandle>(file_->context);
    H5MOTE_TRY(tree.make(Module::index, Feature::chunk_index));
    H5MOTE_TRY(tree->open_index(*file_, layout.address));
    record_width_ = size_width(*file_, layout, shape_);
    const std::size_t size = ChunkElementFormat{file_->shape(), record_width_}.size() + std::size_t{8} * shape_.rank;
    const BTree2Type type = shape_.filtered ? BTree2Type::chunk_filtered : BTree2Type::chunk;
    return btree2()->type() == type && btree2()->record_size() == size
               ? Status::ok
               : file_->context.fail(Module::index, H5MOTE_HERE, Status::corrupt_file, 0, layout.address);
}

Status ChunkTable::block_of(Address index, ElementBlock& block) noexcept {
    return is(ChunkIndex::fixed_array) ? fixed().block_of(index, block) : extensible().block_of(index, block);
}

// Looks up the array block that holds the element, unless the last search ended in the same block. The block is not
// pinned between two calls: in the meantime chunks may be written to make room in the chunk cache, which moves blocks
// of this index, or the file may be closed.
Status ChunkTable::find_element(ChunkLookup& lookup, Address index, ChunkLocation& location) noexcept {
    ElementBlock& block = lookup.block_;
    if (!block.holds(index) || lookup.changes_ != changes_) {
        lookup.changes_ = changes_;
        lookup.window_.close();
        const Status status = block_of(index, block);
        if (status != Status::ok) {
            block = ElementBlock{};
            return status;
        }
    }
    if (block.address == kUndefinedAddress) {
        return Status::ok;
    }
    if (!lookup.window_.valid()) {
        H5MOTE_TRY(file_->window(Usage::btree, block.address, block.size, true, lookup.window_));
    }
    const Status status = block.load(lookup.window_, element(), index, location);
    lookup.window_.unpin();
    return status;
}

// A B-tree record begins with the fields of an array element: address and, if chunks are filtered, size and filter
// mask.
Status ChunkTable::find_record(ChunkLookup& lookup, const std::uint64_t* scaled, ChunkLocation& location) noexcept {
    ScaledCompare compare(scaled, shape_.rank);
    const Bytes record(lookup.record_, btree2()->record_size());
    const Status status = btree2()->find(compare, record);
    if (status == Status::ok) {
        location = ChunkElementFormat{file_->shape(), record_width_}.load(record.data());
    }
    return status == Status::not_found ? Status::ok : status;
}

Status ChunkTable::next_record(ChunkLookup& lookup, Address& next, std::uint64_t* scaled,
                               ChunkLocation& location) noexcept {
    const Bytes record(lookup.record_, btree2()->record_size());
    H5MOTE_TRY(btree2()->record(next, record));
    ++next;
    location = ChunkElementFormat{file_->shape(), record_width_}.load(record.data());
    for (unsigned i = 0; i < shape_.rank; ++i) {
        scaled[i] = ChunkRecord::coordinate(record, shape_.rank, i);
    }
    return Status::ok;
}

Status ChunkTable::find(ChunkLookup& lookup, const std::uint64_t* scaled, Address index,
                        ChunkLocation& location) noexcept {
    location = ChunkLocation{};
    if (missing_) {
        return Status::ok;
    }
    Status status = Status::ok;
    if (is_array()) {
        status = find_element(lookup, index, location);
        // An extensible array of limited size may not be able to hold this element: then the chunk does not exist.
        status = status == Status::not_found ? Status::ok : status;
    } else if (is(ChunkIndex::btree1)) {
        status = btree1().find(scaled, location);
    } else if (is(ChunkIndex::btree2)) {
        status = find_record(lookup, scaled, location);
    } else {
        status = find(index, location);
    }
    location.size = shape_.filtered ? location.size : shape_.chunk_bytes;
    return status;
}

Status ChunkTable::next_element(ChunkLookup& lookup, Address& next, ChunkLocation& location) noexcept {
    const Address end = is(ChunkIndex::fixed_array) ? narrow(fixed().size()) : kUndefinedAddress;
    while (next < end) {
        H5MOTE_TRY(find_element(lookup, next, location));
        const ElementBlock& block = lookup.block_;
        if (block.address == kUndefinedAddress) {
            // The sum may be beyond what an Address can express.
            const std::uint64_t behind = std::uint64_t{block.first} + block.count;
            if (behind >= end) {
                break;
            }
            next = static_cast<Address>(behind);
            continue;
        }
        ++next;
        if (location.address != kUndefinedAddress) {
            return Status::ok;
        }
    }
    return Status::not_found;
}

Status ChunkTable::next(ChunkLookup& lookup, ChunkCursor& cursor, Address& index, std::uint64_t* scaled,
                        ChunkLocation& location) noexcept {
    location = ChunkLocation{};
    if (missing_) {
        return Status::not_found;
    }
    if (is(ChunkIndex::btree1)) {
        return btree1().next(cursor.btree1, scaled, location);
    }
    Status status = Status::ok;
    if (is(ChunkIndex::btree2)) {
        status = next_record(lookup, cursor.next, scaled, location);
    } else if (is_array()) {
        status = next_element(lookup, cursor.next, location);
        index = cursor.next - 1;
    } else {
        // The chunks of an implicit index lie one behind the other: check all of them at once.
        std::uint64_t bytes = 0;
        const std::uint64_t chunks = is(ChunkIndex::single) ? 1 : shape_.chunks;
        if (single().address == kUndefinedAddress || cursor.next >= chunks) {
            return Status::not_found;
        }
        if (is(ChunkIndex::implicit) && (!checked_multiply<std::uint64_t>(chunks, shape_.chunk_bytes, bytes) ||
                                         !file_->contains(single().address, narrow(bytes)))) {
            return file_->context.fail(Module::index, H5MOTE_HERE, Status::corrupt_file, 0, single().address);
        }
        index = cursor.next++;
        status = find(index, location);
    }
    location.size = shape_.filtered ? location.size : shape_.chunk_bytes;
    return status;
}

Status ChunkTable::space(std::uint64_t& bytes) noexcept {
    bytes = 0;
    if (missing_) {
        return Status::ok;
    }
    if (is(ChunkIndex::fixed_array)) {
        return fixed().space(bytes);
    }
    if (is(ChunkIndex::extensible_array)) {
        std::uint64_t elements = 0;
        return extensible().facts(elements, bytes);
    }
    BlockSum sum;
    if (is(ChunkIndex::btree1)) {
        H5MOTE_TRY(btree1().walk(sum));
    } else if (is(ChunkIndex::btree2)) {
        H5MOTE_TRY(btree2()->walk_index(sum));
    }
    bytes = sum.bytes;
    return Status::ok;
}

}  // namespace h5mote
