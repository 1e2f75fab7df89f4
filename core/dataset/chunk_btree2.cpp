// H5D (H5D_COPS_BT2) - chunks in a version 2 B-tree: datasets with more than one unlimited dimension. Only read.

#include "btree2_record.hpp"
#include "chunk_index.hpp"

#if H5MOTE_ALL_FORMATS

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

// The tree is too large to be kept in every dataset: its memory is allocated.
BTree2*& tree(OpenChunkIndex& index) noexcept { return index.as<BTree2*>(); }

Status open(OpenChunkIndex& index, const LayoutMessage& layout, const std::uint64_t* /*chunk_dims*/) noexcept {
    FileState& file = *index.file;
    BTree2* const made = index.make<BTree2*>(file.context.create<BTree2>(MemoryKind::handle));
    if (made == nullptr) {
        return Status::out_of_memory;
    }
    H5MOTE_TRY(made->open(file, layout.address));
    const std::size_t size = index.element().size() + std::size_t{8} * index.shape.rank;
    const BTree2Type type = index.shape.filtered ? BTree2Type::chunk_filtered : BTree2Type::chunk;
    return made->type() == type && made->record_size() == size
               ? Status::ok
               : file.context.fail(Module::index, H5MOTE_HERE, Status::corrupt_file, 0, layout.address);
}

void close(OpenChunkIndex& index) noexcept { index.file->context.destroy(MemoryKind::handle, tree(index)); }

// A record begins with the fields of an array element: address and, if chunks are filtered, size and filter mask.
Status find(OpenChunkIndex& index, ChunkLookup& lookup, const ChunkKey& chunk, ChunkLocation& location) noexcept {
    ScaledCompare compare(chunk.scaled(), index.shape.rank);
    const Bytes record(lookup.record, tree(index)->record_size());
    const Status status = tree(index)->find(compare, record);
    if (status == Status::ok) {
        location = index.element().load(record.data());
    }
    return status == Status::not_found ? Status::ok : status;
}

Status next(OpenChunkIndex& index, ChunkLookup& lookup, ChunkCursor& cursor, ChunkNumber& /*number*/,
            std::uint64_t* scaled, ChunkLocation& location) noexcept {
    const Bytes record(lookup.record, tree(index)->record_size());
    H5MOTE_TRY(tree(index)->record(cursor.next, record));
    ++cursor.next;
    location = index.element().load(record.data());
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

}  // namespace

const ChunkIndexFormat formats::chunk_btree2 = {&open, &close, &find, &next, nullptr, &space, true, nullptr};

}  // namespace h5mote

#endif
