#include "dense_storage_changes.hpp"

#include "fractal_heap.hpp"

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {
namespace {

Address tree_size(FileState& file) noexcept { return static_cast<Address>(BTree2Header::size(file.shape())); }

class Giver final : public BlockVisitor {
public:
    explicit Giver(Disposal& disposal) noexcept : disposal_(disposal) {}
    Status block(BlockKind kind, Address address, Address size) noexcept override {
        return disposal_.give(address, size,
                              kind == BlockKind::huge_object ? SpaceKind::raw_data : SpaceKind::metadata);
    }

private:
    Disposal& disposal_;
};

// A block that is given up goes from the cache without being written, but the walk may still have to read it.
Status write_unwritten(FileState& file) noexcept {
    return file.is_atomic() ? file.write_changes() : file.cache.flush(Phase::fresh);
}

}  // namespace

bool DenseStorageChanges::is_possible(const FileState& file) noexcept {
    const FileShape shape = file.shape();
    // The header of a heap states the size of the largest direct blocks, 64 KiB.
    if (!file.space.keeps_together() || shape.sizeof_size < 4) {
        return false;
    }
    return file.is_atomic() ||
           file.space.in_one_unit(0, FractalHeapChanges::header_size(shape) + 2 * BTree2Header::size(shape));
}

Status DenseStorageChanges::create(FileState& file, const DenseKind& kind, bool indexed,
                                   DenseAddresses& addresses) noexcept {
    const Address heap_size = FractalHeapChanges::header_size(file.shape());
    const Address size = heap_size + (indexed ? 2 : 1) * tree_size(file);
    Address place = 0;
    H5MOTE_TRY(file.space.allocate(Usage::object_header, size, place));
    file.foreign()->dense_made_at = file.foreign()->commits;
    DenseAddresses made;
    made.heap = place;
    made.name_index = place + heap_size;
    BTree2Create names;
    names.type = kind.name;
    names.record_size = kind.name_record;
    BTree2Create orders;
    orders.type = kind.order;
    orders.record_size = kind.order_record;
    Status status = FractalHeapChanges::create(file, kind.heap, made.heap);
    status = status == Status::ok ? BTree2Changes::create(file, names, made.name_index) : status;
    if (indexed) {
        made.order_index = made.name_index + tree_size(file);
        status = status == Status::ok ? BTree2Changes::create(file, orders, made.order_index) : status;
    }
    if (status != Status::ok) {
        file.give_up(place, size, true);
        return status;
    }
    addresses = made;
    return Status::ok;
}

Status DenseStorageChanges::complete(FileState& file, const DenseAddresses& addresses) noexcept {
    for (const Address header : {addresses.heap, addresses.name_index, addresses.order_index}) {
        if (header != kUndefinedAddress) {
            H5MOTE_TRY(file.complete_first(header));
        }
    }
    return Status::ok;
}

Status DenseStorageChanges::dispose(FileState& file, const DenseAddresses& addresses, Disposal& disposal) noexcept {
    H5MOTE_TRY(write_unwritten(file));
    Giver giver(disposal);
    if (addresses.heap != kUndefinedAddress) {
        FractalHeap heap;
        H5MOTE_TRY(heap.open(file, addresses.heap));
        H5MOTE_TRY(heap.walk(giver));
    }
    for (const Address index : {addresses.name_index, addresses.order_index}) {
        if (index != kUndefinedAddress) {
            H5MOTE_TRY(BTree2Changes::dispose(file, index, disposal));
        }
    }
    return Status::ok;
}

// Whether one write can change all headers.
bool DenseStorageChanges::lies_well(const DenseAddresses& addresses) const noexcept {
    const Address heap_size = FractalHeapChanges::header_size(file_.shape());
    const Address size = tree_size(file_);
    const bool beside = addresses.name_index == addresses.heap + heap_size &&
                        (!has_orders_ || addresses.order_index == addresses.name_index + size);
    const std::uint64_t end = std::uint64_t{addresses.heap} + heap_size + (has_orders_ ? 2U : 1U) * size;
    return file_.is_atomic() || (beside && file_.one_write(addresses.heap, end));
}

Status DenseStorageChanges::open(const DenseAddresses& addresses) noexcept {
    has_orders_ = addresses.order_index != kUndefinedAddress;
    if (!lies_well(addresses)) {
        return Status::not_found;
    }
    // What leads to storage that was made since the last commit may not be written yet, and may be before its headers.
    if (file_.foreign()->dense_made_at == file_.foreign()->commits) {
        H5MOTE_TRY(complete(file_, addresses));
    }
    H5MOTE_TRY(heap.open(kind_.heap, addresses.heap));
    H5MOTE_TRY(names.open(file_, addresses.name_index, Phase::object));
    if (has_orders_) {
        H5MOTE_TRY(orders.open(file_, addresses.order_index, Phase::object));
    }
    if (names.type() != kind_.name || names.record_size() != kind_.name_record ||
        (has_orders_ && (orders.type() != kind_.order || orders.record_size() != kind_.order_record))) {
        return file_.context.fail(Module::heap, H5MOTE_HERE, Status::corrupt_file, 0, addresses.heap);
    }
    file_.cache.join_writes();
    names.stage(true);
    orders.stage(true);
    open_ = true;
    return Status::ok;
}

// What one part stores may make the cache commit. After that the other parts have to make copies of what they were to
// change where it is, once each.
Status DenseStorageChanges::prepare() noexcept {
    do {
        H5MOTE_TRY(heap.prepare(true));
        H5MOTE_TRY(names.prepare());
        H5MOTE_TRY(orders.prepare());
    } while (!heap.is_prepared() || !names.is_prepared());
    return Status::ok;
}

void DenseStorageChanges::apply() noexcept {
    heap.apply();
    names.apply();
    orders.apply();
}

void DenseStorageChanges::undo() noexcept {
    if (open_) {
        heap.undo();
        names.undo();
        orders.undo();
    }
}

Status OpenDenseStorage::open(const DenseAddresses& addresses) noexcept {
    if (changes_ != nullptr && heap_ == addresses.heap) {
        return Status::ok;
    }
    close();
    changes_ = file_.context.create<DenseStorageChanges>(MemoryKind::other, file_, kind_);
    if (changes_ == nullptr) {
        return Status::out_of_memory;
    }
    heap_ = addresses.heap;
    const Status status = changes_->open(addresses);
    if (status != Status::ok) {
        close();
    }
    return status;
}

Status OpenDenseStorage::open(const DenseAddresses& addresses, bool& as_it_is) noexcept {
    const Status status = open(addresses);
    as_it_is = status == Status::ok && !changes_->wants_copy();
    if (!as_it_is) {
        close();
    }
    return status == Status::not_found ? Status::ok : status;
}

Status OpenDenseStorage::finish(Status staged) noexcept {
    const Status status = staged == Status::ok ? changes_->prepare() : staged;
    if (status == Status::ok) {
        changes_->apply();
    }
    close();
    return status;
}

void OpenDenseStorage::close() noexcept {
    file_.context.destroy(MemoryKind::other, changes_);
    changes_ = nullptr;
}

}  // namespace h5mote

#endif
