#include "global_heap.hpp"

#include "checked.hpp"

namespace h5mote {

Status GlobalHeap::damaged(SourcePlace place, Address collection) noexcept {
    return file_.context.fail(Module::heap, place, Status::corrupt_file, 0, collection);
}

// The length of a collection is in its header, which is read first. The first read takes kUsualSize bytes, if the file
// has so many: nearly every collection has this size, so that it is read at once.
Status GlobalHeap::open(Address collection, MetadataWindow& window) noexcept {
    H5MOTE_TRY(file_.show_heap());
    if (collection != place_.collection) {
        ConstBytes bytes;
        GlobalHeapCollection header;
        const std::size_t fields = GlobalHeapCollection::fields_size(file_.shape());
        const bool usual = file_.contains(collection, GlobalHeapCollection::kUsualSize);
        const Address read = usual ? GlobalHeapCollection::kUsualSize : Address{fields};
        H5MOTE_TRY(file_.window(Usage::global_heap, collection, read, false, window));
        H5MOTE_TRY(window.view(0, fields, bytes));
        const bool sound = header.decode(file_.shape(), bytes);
        place_.size = header.size;
        place_.last = Object{};
        place_.collection = kUndefinedAddress;
        if (!sound) {
            return damaged(H5MOTE_HERE, collection);
        }
        if (place_.size == read) {
            place_.collection = collection;
            return Status::ok;
        }
    }
    H5MOTE_TRY(file_.window(Usage::global_heap, collection, place_.size, false, window));
    place_.collection = collection;
    return Status::ok;
}

// Free space that is too short to have a header has no size of its own: it goes to the end of the collection.
Status GlobalHeap::load(MetadataWindow& window, Address at, Object& object) noexcept {
    const FileShape shape = file_.shape();
    const Address room = place_.size - at;
    object = {at, room, room, 0, false};
    if (room < first()) {
        return Status::ok;
    }
    ConstBytes bytes;
    GlobalHeapObject header;
    H5MOTE_TRY(window.view(at, GlobalHeapCollection::fields_size(shape), bytes));
    const bool sound = header.decode(shape, bytes, room);
    object = {at, header.size, header.space(shape), header.index, header.removed()};
    return sound ? Status::ok : damaged(H5MOTE_HERE, place_.collection);
}

// Looks for an object among those that begin in [from, to). not_found.
Status GlobalHeap::find(MetadataWindow& window, std::uint32_t index, Address from, Address to,
                        Object& object) noexcept {
    while (from < to) {
        H5MOTE_TRY(load(window, from, object));
        if (object.index == index) {
            return object.removed ? Status::not_found : Status::ok;
        }
        from += object.space;
    }
    return Status::not_found;
}

Status GlobalHeap::object(Address collection, std::uint32_t index, MetadataWindow& bytes) noexcept {
    H5MOTE_TRY(open(collection, bytes));
    if (index == 0) {
        return damaged(H5MOTE_HERE, collection);
    }
    if (place_.last.index != index) {
        Object found;
        const Address from = place_.last.index == 0 ? first() : place_.last.at + place_.last.space;
        Status status = find(bytes, index, from, place_.size, found);
        if (status == Status::not_found) {
            status = find(bytes, index, first(), from, found);
        }
        if (status != Status::ok) {
            return status == Status::not_found ? damaged(H5MOTE_HERE, collection) : status;
        }
        place_.last = found;
    }
    return bytes.restrict(place_.last.at + first(), place_.last.size);
}

Status GlobalHeap::object(ConstBytes id, MetadataWindow& bytes) noexcept {
    GlobalHeapId place;
    return place.decode(file_.shape(), id) ? object(place.collection, place.index, bytes)
                                           : damaged(H5MOTE_HERE, kUndefinedAddress);
}

Status GlobalHeap::facts(Address collection, Address& size, Address& free_space) noexcept {
    MetadataWindow window;
    H5MOTE_TRY(open(collection, window));
    size = place_.size;
    free_space = 0;
    Object object;
    for (Address at = first(); at < place_.size; at += object.space) {
        H5MOTE_TRY(load(window, at, object));
        free_space += object.index == 0 ? object.space : 0;
    }
    return Status::ok;
}

}  // namespace h5mote
