#include "global_heap_writer.hpp"

#include "checked.hpp"

#include <cstring>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {

GlobalHeapWriter::GlobalHeapWriter(FileState& file) noexcept : HeapOrder(file) { file_.context.add_reclaimer(*this); }

GlobalHeapWriter::~GlobalHeapWriter() {
    Context& context = file_.context;
    context.remove_reclaimer(*this);
    context.release(MemoryKind::metadata, buffer_, capacity_);
    context.release(MemoryKind::metadata, discarded_, discarded_room_ * sizeof(GlobalHeapId));
}

// ---- new objects -------------------------------------------------------------------------------------------------

Status GlobalHeapWriter::insert(Address size, Place& place) noexcept {
    const Address padded = GlobalHeapObject::padded(size);
    const Address space = kHeader + padded;
    if (padded < size || space < padded || space + kHeader < space) {
        return file_.context.fail(Module::heap, H5MOTE_HERE, Status::no_space, 0, size);
    }
    for (Collection& each : collections_) {
        if (each.room() >= space && each.next <= GlobalHeapObject::kMaxIndex && !each.resting &&
            (!waits(each) || one_write(each.address + each.free))) {
            return append(each, size, place);
        }
    }
    for (Collection& each : collections_) {
        while (each.hole >= space && waiting_count_ < kWaiting && !each.resting) {
            const Status status = fill_hole(each, size, place);
            if (status != Status::not_found) {
                return status;
            }
        }
    }
    Collection* created = nullptr;
    H5MOTE_TRY(create(space, created));
    return append(*created, size, place);
}

Status GlobalHeapWriter::create(Address space, Collection*& collection) noexcept {
    Collection fresh;
    fresh.size = kHeader + space;
    fresh.size = fresh.size < GlobalHeapCollection::kUsualSize ? GlobalHeapCollection::kUsualSize : fresh.size;
    fresh.free = kHeader;
    fresh.changed = true;
    collection = &least_room();
    H5MOTE_TRY(put_free(*collection));
    H5MOTE_TRY(flush());
    drop_cached();
    H5MOTE_TRY(file_.space.allocate(Usage::global_heap, fresh.size, fresh.address));
    GlobalHeapCollection header;
    header.size = fresh.size;
    std::byte bytes[kHeader];
    header.encode(file_.shape(), bytes);
    const Status status = put(fresh.address, {bytes, kHeader});
    if (status != Status::ok) {
        file_.space.release(fresh.address, fresh.size, true);
        return status;
    }
    *collection = fresh;
    return Status::ok;
}

// Puts an object where the free space of the collection begins.
Status GlobalHeapWriter::append(Collection& collection, Address size, Place& place) noexcept {
    GlobalHeapObject object;
    object.index = static_cast<std::uint16_t>(collection.next);
    object.size = size;
    const Address at = collection.address + collection.free;
    if (waits(collection) && waiting_count_ == kWaiting) {
        H5MOTE_TRY(file_.show_heap());
    }
    const bool waiting = waits(collection);
    if (!waiting) {
        // The header takes the place of that of the free space, which has to come back if what follows fails.
        collection.changed = true;
        H5MOTE_TRY(put_header(at, object));
    }
    H5MOTE_TRY(put_zeros(at + kHeader, size));
    if (waiting) {
        wait(collection.address, at, object);
        collection.waiting = true;
    }
    unstored = true;
    collection.free += kHeader + object.padded(size);
    ++collection.next;
    collection.changed = true;
    place = {{collection.address, object.index}, at + kHeader};
    return Status::ok;
}

// Writes the header of the free space that ends the collection, where the free space has room for one.
Status GlobalHeapWriter::put_free(Collection& collection) noexcept {
    if (!collection.changed) {
        return Status::ok;
    }
    GlobalHeapObject header;
    if (collection.room() >= 2 * kHeader && !one_write(collection.address + collection.free) &&
        collection.next <= GlobalHeapObject::kMaxIndex) {
        header.index = static_cast<std::uint16_t>(collection.next);
        header.references = GlobalHeapObject::kRemoved;
        H5MOTE_TRY(put_header(collection.address + collection.free, header));
        collection.free += kHeader;
        ++collection.next;
        header = GlobalHeapObject();
    }
    if (collection.room() >= kHeader) {
        header.size = collection.room();
        H5MOTE_TRY(put_header(collection.address + collection.free, header));
    }
    collection.changed = false;
    return Status::ok;
}

Status GlobalHeapWriter::put_header(Address at, const GlobalHeapObject& header) noexcept {
    std::byte bytes[kHeader];
    header.encode(file_.shape(), bytes);
    return put(at, {bytes, kHeader});
}

// ---- the space of removed objects --------------------------------------------------------------------------------

// Finds a removed object of exactly `space` bytes, or with room for another header behind them.
Status GlobalHeapWriter::find_hole(Collection& collection, Address space, GlobalHeap::Object& hole) noexcept {
    GlobalHeap heap(file_);
    MetadataWindow window;
    Address size = 0;
    Address largest = 0;
    H5MOTE_TRY(heap.open(collection.address, window, size));
    for (Address at = kHeader; at < collection.free; at += hole.space) {
        H5MOTE_TRY(heap.load(window, at, hole));
        const Address address = collection.address + at;
        if (!hole.removed || is_waiting(address) || !one_write(address)) {
            continue;
        }
        if (hole.space == space || (hole.space >= space + kHeader && collection.next <= GlobalHeapObject::kMaxIndex)) {
            return Status::ok;
        }
        largest = hole.space > largest ? hole.space : largest;
    }
    collection.hole = largest < space ? largest : space - 1;
    return Status::not_found;
}

Status GlobalHeapWriter::fill_hole(Collection& collection, Address size, Place& place) noexcept {
    GlobalHeap::Object hole;
    const Address space = kHeader + GlobalHeapObject::padded(size);
    H5MOTE_TRY(find_hole(collection, space, hole));
    const Address at = collection.address + hole.at;
    GlobalHeapObject object;
    if (hole.space > space) {
        object.index = static_cast<std::uint16_t>(collection.next);
        object.references = GlobalHeapObject::kRemoved;
        object.size = hole.space - space - kHeader;
        H5MOTE_TRY(put_header(at + space, object));
        ++collection.next;
        object.references = 0;
    }
    object.index = static_cast<std::uint16_t>(hole.index);
    object.size = size;
    H5MOTE_TRY(put_zeros(at + kHeader, size));
    unstored = true;
    wait(collection.address, at, object);
    place = {{collection.address, object.index}, at + kHeader};
    return Status::ok;
}

// ---- bytes -------------------------------------------------------------------------------------------------------

bool GlobalHeapWriter::is_waiting(Address at) const noexcept {
    for (std::size_t i = 0; i < waiting_count_; ++i) {
        if (waiting_[i].at == at) {
            return true;
        }
    }
    return false;
}

void GlobalHeapWriter::wait(Address collection, Address at, const GlobalHeapObject& header) noexcept {
    WaitingHeader& waiting = waiting_[waiting_count_++];
    waiting.collection = collection;
    waiting.at = at;
    header.encode(file_.shape(), waiting.bytes);
}

Status GlobalHeapWriter::write(Address at, ConstBytes bytes) noexcept {
    file_.unsynced = true;
    return told(file_.context, file_.driver, H5MOTE_HERE, file_.driver.write(Usage::global_heap, at, bytes), at);
}

// Whether `size` bytes from `at` on are in the buffer, or can be put there behind what it has.
bool GlobalHeapWriter::reach(Address at, Address size) const noexcept {
    return buffered_ != 0 && at >= buffer_at_ && at - buffer_at_ <= buffered_ &&
           within(at - buffer_at_, size, capacity_ - kHeader);
}

// Bytes that follow each other wait for one write. Writes what is in the buffer, unless `size` bytes from `at` on go
// there, too. false: there is no buffer for so many bytes.
Status GlobalHeapWriter::begin(Address at, Address size, bool& buffered) noexcept {
    buffered = reach(at, size);
    if (buffered) {
        return Status::ok;
    }
    H5MOTE_TRY(flush());
    if (buffer_ == nullptr) {
        // An eighth of what the metadata cache may have, from 512 bytes to 4 KiB.
        const std::size_t wanted = file_.cache.budget() / 8;
        capacity_ = kHeader + (wanted < 512 ? 512 : wanted > 4096 ? 4096 : wanted);
        buffer_ = static_cast<std::byte*>(file_.context.allocate_spare(MemoryKind::metadata, capacity_));
        capacity_ = buffer_ == nullptr ? 0 : capacity_;
    }
    buffered = capacity_ != 0 && size <= capacity_ - kHeader;
    buffer_at_ = at;
    return Status::ok;
}

std::byte* GlobalHeapWriter::buffer_for(Address at, std::size_t size) noexcept {
    const auto offset = static_cast<std::size_t>(at - buffer_at_);
    buffered_ = offset + size > buffered_ ? offset + size : buffered_;
    return buffer_ + kHeader + offset;
}

Status GlobalHeapWriter::put(Address at, ConstBytes bytes) noexcept {
    bool buffered = false;
    if (bytes.empty()) {
        return Status::ok;
    }
    unstored = true;  // a commit since the object was inserted has stored it without these
    H5MOTE_TRY(begin(at, bytes.size(), buffered));
    if (!buffered) {
        return write(at, bytes);
    }
    std::memcpy(buffer_for(at, bytes.size()), bytes.data(), bytes.size());
    return Status::ok;
}

// Makes room for the data of an object: so that they and what follows are one write, or at least with zeros as padding.
Status GlobalHeapWriter::put_zeros(Address at, Address size) noexcept {
    static constexpr std::byte kZeros[8] = {};
    const Address padded = GlobalHeapObject::padded(size);
    bool buffered = false;
    if (padded == 0) {
        return Status::ok;
    }
    if (padded <= kMostZeros) {
        H5MOTE_TRY(begin(at, padded, buffered));
    }
    if (!buffered) {
        return padded == size ? Status::ok : write(at + size, {kZeros, static_cast<std::size_t>(padded - size)});
    }
    const auto bytes = static_cast<std::size_t>(padded);
    std::memset(buffer_for(at, bytes), 0, bytes);
    return Status::ok;
}

Status GlobalHeapWriter::flush() noexcept {
    if (buffered_ != 0) {
        H5MOTE_TRY(write(buffer_at_, {buffer_ + kHeader, buffered_}));
        buffered_ = 0;
    }
    return Status::ok;
}

Status GlobalHeapWriter::store_objects() noexcept {
    bool changed = buffered_ != 0 || waiting_count_ != 0;
    for (Collection& each : collections_) {
        changed = changed || each.changed;
        H5MOTE_TRY(put_free(each));
    }
    if (!changed) {
        return Status::ok;
    }
    ++stores_;
    // Objects behind others need no order if all that is new of them is one write inside a sector.
    const Collection* const grown = waiting_count_ == 1 ? known(waiting_[0].collection) : nullptr;
    if (grown != nullptr && grown->waiting && buffered_ != 0 && waiting_[0].at + kHeader == buffer_at_ &&
        file_.one_write(waiting_[0].at, std::uint64_t{buffer_at_} + buffered_)) {
        std::memcpy(buffer_, waiting_[0].bytes, kHeader);
        H5MOTE_TRY(or_leave(write(waiting_[0].at, {buffer_, kHeader + buffered_})));
        buffered_ = 0;
        clear_waiting();
    }
    H5MOTE_TRY(flush());
    drop_cached();
    return Status::ok;
}

Status GlobalHeapWriter::finish() noexcept { return file_.is_atomic() ? store_objects() : Status::ok; }

// Returns the status with which waiting headers were written. After an error each of them may be on the storage or not.
// They are written again; until then nothing may come behind their objects, and so these collections get no more.
Status GlobalHeapWriter::or_leave(Status status) noexcept {
    for (std::size_t i = 0; status != Status::ok && i < waiting_count_; ++i) {
        if (Collection* const left = known(waiting_[i].collection)) {
            *left = Collection();
        }
    }
    return status;
}

void GlobalHeapWriter::clear_waiting() noexcept {
    for (; waiting_count_ != 0; --waiting_count_) {
        file_.cache.discard(waiting_[waiting_count_ - 1].collection);
    }
    for (Collection& each : collections_) {
        each.waiting = false;
    }
}

Status GlobalHeapWriter::store_headers() noexcept {
    for (std::size_t i = 0; i < waiting_count_; ++i) {
        H5MOTE_TRY(or_leave(write(waiting_[i].at, {waiting_[i].bytes, kHeader})));
    }
    clear_waiting();
    return Status::ok;
}

// The metadata cache may have blocks of these collections from before the change.
void GlobalHeapWriter::drop_cached() noexcept {
    for (const Collection& each : collections_) {
        if (each.size != 0) {
            file_.cache.discard(each.address);
        }
    }
}

void GlobalHeapWriter::settle() noexcept {
    for (Collection& each : collections_) {
        each.live = true;
    }
}

GlobalHeapWriter::Collection* GlobalHeapWriter::known(Address address) noexcept {
    for (Collection& each : collections_) {
        if (each.size != 0 && each.address == address) {
            return &each;
        }
    }
    return nullptr;
}

GlobalHeapWriter::Collection& GlobalHeapWriter::least_room() noexcept {
    Collection* least = collections_;
    for (Collection& each : collections_) {
        const Address room = each.room() > each.hole ? each.room() : each.hole;
        const Address other = least->room() > least->hole ? least->room() : least->hole;
        if (room < other || each.size == 0) {
            least = &each;
        }
        if (least->size == 0) {
            break;
        }
    }
    return *least;
}

void GlobalHeapWriter::mark(Mark& mark) const noexcept {
    std::memcpy(mark.collections, collections_, sizeof collections_);
    mark.waiting = waiting_count_;
    mark.discarded = discarded();
    mark.stores = stores_;
}

bool GlobalHeapWriter::undo(const Mark& mark) noexcept {
    keep_discarded(mark.discarded);
    if (stores_ != mark.stores) {
        return false;
    }
    waiting_count_ = mark.waiting;
    for (std::size_t i = 0; i < kCollections; ++i) {
        Collection& now = collections_[i];
        const Collection& before = mark.collections[i];
        if (now.address == before.address) {
            const bool changed = now.changed || now.free != before.free;
            now = before;
            now.changed = changed;
        } else {
            now.free = kHeader;
            now.next = 1;
            now.changed = true;
        }
    }
    return true;
}

void GlobalHeapWriter::forget() noexcept {
    if (file_.show_heap() != Status::ok) {
        return;
    }
    for (Collection& each : collections_) {
        if (each.size != 0 && each.free == kHeader) {
            file_.give_up(each.address, each.size);
        }
        each = Collection();
    }
}

}  // namespace h5mote

#endif
