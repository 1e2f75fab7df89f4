// H5D (H5D_COPS_BT2) - chunks in a version 2 B-tree: datasets with more than one unlimited dimension.

#include "btree2_changes.hpp"
#include "btree2_record.hpp"
#include "chunk_index.hpp"

#if H5MOTE_ALL_FORMATS

namespace h5mote {
namespace {

// A version 2 B-tree orders its records by their chunk coordinates, the slowest dimension first. The location of the
// chunk that is looked for is taken from its record.
class ChunkCompare final : public RecordCompare {
public:
    ChunkCompare(const ChunkElementFormat& element, const std::uint64_t* wanted, unsigned rank) noexcept
        : element_(element), wanted_(wanted), rank_(rank) {}
    Status compare(ConstBytes record, int& order) noexcept override {
        order = 0;
        for (unsigned i = 0; order == 0 && i < rank_; ++i) {
            const std::uint64_t there = ChunkRecord::coordinate(record, rank_, i);
            order = wanted_[i] < there ? -1 : wanted_[i] > there ? 1 : 0;
        }
        if (order == 0) {
            location = element_.load(record.data());
        }
        return Status::ok;
    }

    ChunkLocation location;

private:
    const ChunkElementFormat element_;
    const std::uint64_t* wanted_;
    unsigned rank_;
};

// Reads and changes the tree. Builds that write nothing link only what reads.
using Tree = BTree2Changes;

// The tree is too large to be kept in every dataset: its memory is allocated.
Tree*& tree(OpenChunkIndex& index) noexcept { return index.as<Tree*>(); }

BTree2Type type_of(const OpenChunkIndex& index) noexcept {
    return index.shape.filtered ? BTree2Type::chunk_filtered : BTree2Type::chunk;
}

// A record begins with the fields of an array element: address and, if chunks are filtered, size and filter mask.
std::size_t record_size(const OpenChunkIndex& index) noexcept {
    return index.element().size() + std::size_t{8} * index.shape.rank;
}

Status open(OpenChunkIndex& index, const LayoutMessage& layout, const std::uint64_t* /*chunk_dims*/) noexcept {
    FileState& file = *index.file;
    BTree2* const made = index.make<Tree*>(file.context.create<Tree>(MemoryKind::handle));
    if (made == nullptr) {
        return Status::out_of_memory;
    }
    H5MOTE_TRY(made->open(file, layout.address));
    return made->type() == type_of(index) && made->record_size() == record_size(index)
               ? Status::ok
               : file.context.fail(Module::index, H5MOTE_HERE, Status::corrupt_file, 0, layout.address);
}

void close(OpenChunkIndex& index) noexcept { index.file->context.destroy(MemoryKind::handle, tree(index)); }

Status find_chunk(OpenChunkIndex& index, const ChunkKey& chunk, ChunkLocation& location) noexcept {
    const ChunkPlace place(chunk);
    ChunkCompare compare(index.element(), place.scaled(), index.shape.rank);
    const Status status = tree(index)->find(compare, {});
    location = compare.location;
    return status == Status::not_found ? Status::ok : status;
}

Status find(OpenChunkIndex& index, ChunkLookup& /*lookup*/, const ChunkKey& chunk, ChunkLocation& location) noexcept {
    return find_chunk(index, chunk, location);
}

// Records without an address were made for chunks that were never stored.
Status next(OpenChunkIndex& index, ChunkLookup& lookup, ChunkCursor& cursor, ChunkNumber& /*number*/,
            std::uint64_t* scaled, ChunkLocation& location) noexcept {
    const Bytes record(lookup.record, tree(index)->record_size());
    do {
        H5MOTE_TRY(tree(index)->record(cursor.next, record));
        ++cursor.next;
        location = index.element().load(record.data());
    } while (location.address == kUndefinedAddress);
    index.add_size(location);
    for (unsigned i = 0; i < index.shape.rank; ++i) {
        scaled[i] = ChunkRecord::coordinate(record, index.shape.rank, i);
    }
    return Status::ok;
}

Status space(OpenChunkIndex& index, std::uint64_t& bytes) noexcept {
    BlockSum sum;
    const Status status = tree(index)->walk(sum);
    bytes = sum.bytes;
    return status;
}

// ---- changes -----------------------------------------------------------------------------------------------------

Status create(OpenChunkIndex& index, LayoutMessage& layout) noexcept {
    FileState& file = *index.file;
    BTree2Create create;
    create.type = type_of(index);
    create.node_size = LayoutMessage::kBTree2NodeSize;
    create.split_percent = LayoutMessage::kBTree2Split;
    create.merge_percent = LayoutMessage::kBTree2Merge;
    create.record_size = static_cast<std::uint16_t>(record_size(index));
    Tree* const made = index.make<Tree*>(file.context.create<Tree>(MemoryKind::handle));
    if (made == nullptr) {
        return Status::out_of_memory;
    }
    layout.address = kUndefinedAddress;
    H5MOTE_TRY(BTree2Changes::create(file, create, layout.address));
    return made->BTree2::open(file, layout.address);
}

// Enters a chunk, or its new location. Without an address the chunk's record is removed, unless `keep` is set.
Status store(OpenChunkIndex& index, const ChunkKey& chunk, const ChunkLocation& location, Phase phase,
             bool keep) noexcept {
    const unsigned rank = index.shape.rank;
    const ChunkElementFormat element = index.element();
    const ChunkPlace place(chunk);
    ChunkCompare compare(element, place.scaled(), rank);
    Tree& changed = *tree(index);
    changed.set_phase(phase);
    if (location.address == kUndefinedAddress && !keep) {
        const Status status = changed.remove(compare);
        return status == Status::not_found ? Status::ok : status;
    }
    std::byte record[BTree2::kMaxRecordSize];
    element.store(record, location);
    for (unsigned i = 0; i < rank; ++i) {
        store_le<std::uint64_t>(record + element.size() + std::size_t{8} * i, place.scaled()[i]);
    }
    return changed.set(compare, {record, changed.record_size()});
}

Status set(OpenChunkIndex& index, const ChunkKey& chunk, const ChunkLocation& location, Address /*stride*/,
           std::uint32_t /*count*/, Phase phase) noexcept {
    return store(index, chunk, location, phase, false);
}

Status check_room(OpenChunkIndex& index) noexcept { return tree(index)->check_room(); }

// A record without an address holds the place of a chunk that is stored later: libhdf5 takes such a chunk for missing.
Status make_place(OpenChunkIndex& index, const ChunkKey& chunk, Phase phase) noexcept {
    H5MOTE_TRY(check_room(index));
    const ChunkPlace place(chunk);
    ChunkCompare compare(index.element(), place.scaled(), index.shape.rank);
    const Status status = tree(index)->find(compare, {});
    return status == Status::not_found ? store(index, chunk, ChunkLocation{}, phase, true) : status;
}

// Nodes do not hold the address of the header, so that it can be copied alone.
Status copy_header(OpenChunkIndex& index, LayoutMessage& layout) noexcept {
    return tree(index)->copy_header(layout.address);
}

void use_header(OpenChunkIndex& index, Address used, Address unused) noexcept { tree(index)->use_header(used, unused); }

bool switches_at_once(OpenChunkIndex& index) noexcept { return tree(index)->switches_at_once(); }

Status dispose(OpenChunkIndex& index, Disposal& disposal) noexcept {
    BTree2& whole = *tree(index);
    std::byte record[BTree2::kMaxRecordSize];
    for (std::uint64_t i = 0; i < whole.size() && disposal.takes_chunks(); ++i) {
        H5MOTE_TRY(whole.record(i, {record, whole.record_size()}));
        ChunkLocation location = index.element().load(record);
        index.add_size(location);
        H5MOTE_TRY(disposal.give(location.address, location.size, SpaceKind::raw_data));
    }
    return BTree2Changes::dispose(*index.file, whole.address(), disposal);
}

constexpr ChunkIndexChanges kChanges = {
    &create,           nullptr,  &find_chunk,  nullptr,     &make_place, &set,    nullptr,     nullptr,
    &switches_at_once, &dispose, &copy_header, &use_header, nullptr,     nullptr, &check_room,
};

}  // namespace

const ChunkIndexFormat formats::chunk_btree2 = {
    &open, &close, &find, &next, nullptr, &space, true, changes_if_written(kChanges),
};

}  // namespace h5mote

#endif
