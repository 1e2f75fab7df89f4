// Removing objects of the global heap.

#include "global_heap_writer.hpp"

#include <algorithm>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {
namespace {

bool before(const GlobalHeapId& a, const GlobalHeapId& b) noexcept {
    return a.collection != b.collection ? a.collection < b.collection : a.index < b.index;
}

// A heap sort: it takes no more memory and has no slow worst case.
void sift(GlobalHeapId* ids, std::size_t at, std::size_t count) noexcept {
    for (std::size_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && before(ids[child], ids[child + 1])) {
            ++child;
        }
        if (!before(ids[at], ids[child])) {
            return;
        }
        std::swap(ids[at], ids[child]);
        at = child;
    }
}

void sort(GlobalHeapId* ids, std::size_t count) noexcept {
    for (std::size_t i = count / 2; i-- > 0;) {
        sift(ids, i, count);
    }
    for (std::size_t left = count; left > 1;) {
        std::swap(ids[0], ids[--left]);
        sift(ids, 0, left);
    }
}

bool contains(const GlobalHeapId* ids, std::size_t count, std::uint32_t index) noexcept {
    std::size_t from = 0;
    while (count > 0) {
        const std::size_t half = count / 2;
        if (ids[from + half].index < index) {
            from += half + 1;
            count -= half + 1;
        } else if (ids[from + half].index == index) {
            return true;
        } else {
            count = half;
        }
    }
    return false;
}

}  // namespace

// The memory comes from what is free, so that no reclaimer is asked for it, this one included.
bool GlobalHeapWriter::reserve_discarded() noexcept {
    if (discarded_count_ < discarded_room_) {
        return true;
    }
    const std::size_t room = discarded_room_ == 0 ? 32 : 2 * discarded_room_;
    auto* const larger =
        static_cast<GlobalHeapId*>(file_.context.allocate_spare(MemoryKind::metadata, room * sizeof(GlobalHeapId)));
    if (larger == nullptr) {
        return false;
    }
    std::copy(discarded_, discarded_ + discarded_count_, larger);
    file_.context.release(MemoryKind::metadata, discarded_, discarded_room_ * sizeof(GlobalHeapId));
    discarded_ = larger;
    discarded_room_ = room;
    return true;
}

void GlobalHeapWriter::discard(const GlobalHeapId& id) noexcept {
    if (!id.is_nil() && id.index != 0 && reserve_discarded()) {
        discarded_[discarded_count_++] = id;
    }
}

// The list is gone, and its memory belongs to the caller.
void GlobalHeapWriter::empty_discarded() noexcept {
    first_discarded_ += discarded_count_;
    discarded_ = nullptr;
    discarded_count_ = discarded_room_ = 0;
}

bool GlobalHeapWriter::reclaim_used() noexcept {
    if (discarded_ == nullptr) {
        return false;
    }
    file_.context.release(MemoryKind::metadata, discarded_, discarded_room_ * sizeof(GlobalHeapId));
    empty_discarded();
    return true;
}

// What cannot be removed because of an error stays in the file, and its collection gets no further objects. The commit
// before was complete, and is what counts.
void GlobalHeapWriter::give_up_discarded() noexcept {
    for (Collection& each : collections_) {
        each.resting = false;
    }
    // While the heap is read, memory may be asked for: the list belongs to this function meanwhile.
    GlobalHeapId* const ids = discarded_;
    const std::size_t count = discarded_count_;
    const std::size_t room = discarded_room_;
    empty_discarded();
    sort(ids, count);
    for (std::size_t i = 0; i < count;) {
        std::size_t end = i + 1;
        while (end < count && ids[end].collection == ids[i].collection) {
            ++end;
        }
        if (remove(ids[i].collection, ids + i, end - i) == Status::io_error) {
            break;
        }
        i = end;
    }
    file_.context.release(MemoryKind::metadata, ids, room * sizeof(GlobalHeapId));
}

/// Removes objects of one collection.
class GlobalHeapWriter::Removal {
public:
    Removal(GlobalHeapWriter& writer, Address collection, const GlobalHeapId* ids, std::size_t count) noexcept
        : writer_(writer), heap_(writer.file_), collection_(collection), ids_(ids), count_(count) {}

    Status run() noexcept {
        bool empty = true;
        H5MOTE_TRY(heap_.open(collection_, window_, size_));
        for (Address at = kHeader; empty && at < size_; at += object_.space) {
            H5MOTE_TRY(heap_.load(window_, at, object_));
            empty = object_.index == 0 || is_removed();
        }
        if (empty) {
            window_.close();
            give_up();
            return Status::ok;
        }
        const Status status = merge();
        if (status != Status::ok && touched_) {
            forget();
        }
        return status;
    }

private:
    bool is_new() const noexcept { return !object_.removed && contains(ids_, count_, object_.index); }
    bool is_removed() const noexcept { return object_.removed || is_new(); }

    void give_up() noexcept {
        place_no_more();
        writer_.file_.give_up(collection_, size_);
    }

    void place_no_more() noexcept {
        if (Collection* const known = writer_.known(collection_)) {
            *known = Collection();
        }
    }

    // Where the free space of the collection begins on the storage is not known after an error: a header that was
    // written may be there or not. An object behind the wrong place would not be found.
    void forget() noexcept {
        window_.close();
        writer_.file_.cache.discard(collection_);
        place_no_more();
    }

    // Joins neighbours that were removed, with the free space at the end if they reach there.
    Status merge() noexcept {
        GlobalHeap::Object first;  // of the neighbours so far
        bool any = false;          // of these is removed now
        free_ = size_;
        for (Address at = kHeader; at < size_; at += object_.space) {
            H5MOTE_TRY(heap_.load(window_, at, object_));
            const bool last = object_.index == 0 && at + object_.space == size_;
            next_ = object_.index >= next_ ? object_.index + 1 : next_;
            free_ = last ? at : free_;
            if (first.space == 0 && is_removed() && !writer_.one_write(collection_ + at)) {
                H5MOTE_TRY(is_new() ? mark(collection_ + at) : Status::ok);
            } else if (last || is_removed()) {
                first = first.space == 0 ? object_ : first;
                any = any || is_new();
            } else {
                H5MOTE_TRY(store(first, at, any));
                first = GlobalHeap::Object();
                any = false;
            }
        }
        H5MOTE_TRY(store(first, size_, any));
        free_ = first.space != 0 && any && stored_ ? first.at : free_;
        window_.close();
        writer_.file_.cache.discard(collection_);
        remember();
        return Status::ok;
    }

    // Says of one object that it was removed, whose header crosses the end of a sector: all of that cannot be written
    // at once. Nothing takes its place, but its collection is given up when all others are removed as well.
    Status mark(Address at) noexcept {
        const Address from = at + GlobalHeapObject::kReferencesOffset;
        std::byte bytes[2];
        if (!writer_.file_.one_write(from, std::uint64_t{from} + sizeof bytes)) {
            return Status::ok;
        }
        store_le(bytes, GlobalHeapObject::kRemoved);
        touched_ = true;
        return writer_.write(from, {bytes, sizeof bytes});
    }

    // Writes the header of what the objects from `first` to `end` have become. Where that would cross the end of a
    // sector, they stay.
    Status store(const GlobalHeap::Object& first, Address end, bool any) noexcept {
        const Address space = end - first.at;
        if (first.space == 0) {
            return Status::ok;
        }
        if (end != size_) {
            hole_ = space > hole_ ? space : hole_;
        }
        if (!any) {
            return Status::ok;
        }
        GlobalHeapObject header;
        header.size = space;
        if (end != size_) {
            header.index = static_cast<std::uint16_t>(first.index);
            header.references = GlobalHeapObject::kRemoved;
            header.size = space - kHeader;
        }
        const Address at = collection_ + first.at;
        std::byte bytes[kHeader];
        header.encode(writer_.file_.shape(), bytes);
        stored_ = writer_.one_write(at);
        touched_ = touched_ || stored_;
        const Status status = stored_ ? writer_.write(at, {bytes, kHeader}) : Status::ok;
        // After an error the storage may have anything there. The next commit writes the header once more.
        if (status != Status::ok && writer_.waiting_count_ < kWaiting) {
            writer_.wait(collection_, at, header);
        }
        return status;
    }

    // From now on objects can be placed here.
    void remember() noexcept {
        Collection* known = writer_.known(collection_);
        if (known == nullptr) {
            known = &writer_.least_room();
            const Address room = size_ - free_ > hole_ ? size_ - free_ : hole_;
            if (known->size != 0 && (known->room() >= room || known->hole >= room)) {
                return;
            }
            *known = Collection();
        }
        known->address = collection_;
        known->size = size_;
        known->free = free_;
        known->hole = hole_;
        known->next = next_ > known->next ? next_ : known->next;
        known->live = true;
        known->resting = !writer_.file_.is_atomic();
    }

    GlobalHeapWriter& writer_;
    GlobalHeap heap_;
    MetadataWindow window_;
    GlobalHeap::Object object_;
    Address collection_;
    Address size_ = 0;
    Address free_ = 0;
    Address hole_ = 0;
    std::uint32_t next_ = 1;
    bool stored_ = false;
    bool touched_ = false;  // the storage need not have the collection any more as it was
    const GlobalHeapId* ids_;
    std::size_t count_;
};

Status GlobalHeapWriter::remove(Address collection, const GlobalHeapId* ids, std::size_t count) noexcept {
    return Removal(*this, collection, ids, count).run();
}

}  // namespace h5mote

#endif
