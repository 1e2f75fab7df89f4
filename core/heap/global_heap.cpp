#include "global_heap.hpp"

#include "checked.hpp"

namespace h5mote {
namespace {

constexpr std::uint32_t kSignature = 0x4c4f4347U;  // "GCOL"

constexpr Address kUsualSize = 4096;

constexpr Address padded(Address size) noexcept { return (size + 7) & ~Address{7}; }

}  // namespace

Status GlobalHeap::damaged(SourcePlace place, Address collection) noexcept {
    return file_.context.fail(Module::heap, place, Status::corrupt_file, 0, collection);
}

// The length of a collection is in its header, which is read first. The first read takes kUsualSize bytes, if the file
// has so many: libhdf5 gives a collection this size unless an object needs more, so that it is read at once.
Status GlobalHeap::open(Address collection, MetadataWindow& window) noexcept {
    if (collection != collection_) {
        ConstBytes bytes;
        const std::size_t size = 8U + file_.shape().sizeof_size;
        const Address read = file_.contains(collection, kUsualSize) ? kUsualSize : Address{size};
        H5MOTE_TRY(file_.window(Usage::global_heap, collection, read, false, window));
        H5MOTE_TRY(window.view(0, size, bytes));
        Reader reader(bytes);
        const bool signature = reader.u32() == kSignature && reader.u8() == 1;
        reader.skip(3);
        size_ = file_.shape().read_size(reader);
        last_ = Object{};
        collection_ = kUndefinedAddress;
        if (!signature || size_ < first()) {
            return damaged(H5MOTE_HERE, collection);
        }
        if (size_ == read) {
            collection_ = collection;
            return Status::ok;
        }
    }
    H5MOTE_TRY(file_.window(Usage::global_heap, collection, size_, false, window));
    collection_ = collection;
    return Status::ok;
}

// The size of an object does not include its header. That of free space does, and free space may be too short to have a
// header: it then has no size of its own.
Status GlobalHeap::load(MetadataWindow& window, Address at, Object& object) noexcept {
    object = {at, size_ - at, size_ - at, 0};
    if (size_ - at < object_header_size()) {
        return Status::ok;
    }
    ConstBytes bytes;
    H5MOTE_TRY(window.view(at, 8U + file_.shape().sizeof_size, bytes));
    object.index = load_le<std::uint16_t>(bytes.data());
    object.size = narrow(load_uint(bytes.data() + 8, file_.shape().sizeof_size));
    const Address header = object_header_size();
    const Address room = size_ - at - header;
    object.space = object.index == 0 ? object.size : header + padded(object.size);
    const bool sound = object.index == 0 ? object.size >= header && object.size <= room + header
                                         : object.size <= room && padded(object.size) <= room;
    return sound ? Status::ok : damaged(H5MOTE_HERE, collection_);
}

// Looks for an object among those that begin in [from, to). not_found.
Status GlobalHeap::find(MetadataWindow& window, std::uint32_t index, Address from, Address to,
                        Object& object) noexcept {
    while (from < to) {
        H5MOTE_TRY(load(window, from, object));
        if (object.index == index) {
            return Status::ok;
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
    if (last_.index != index) {
        Object found;
        const Address from = last_.index == 0 ? first() : last_.at + last_.space;
        Status status = find(bytes, index, from, size_, found);
        if (status == Status::not_found) {
            status = find(bytes, index, first(), from, found);
        }
        if (status != Status::ok) {
            return status == Status::not_found ? damaged(H5MOTE_HERE, collection) : status;
        }
        last_ = found;
    }
    return bytes.restrict(last_.at + object_header_size(), last_.size);
}

Status GlobalHeap::object(ConstBytes id, MetadataWindow& bytes) noexcept {
    const FileShape shape = file_.shape();
    return id.size() >= shape.sizeof_addr + 4U
               ? object(shape.load_addr(id.data()), load_le<std::uint32_t>(id.data() + shape.sizeof_addr), bytes)
               : damaged(H5MOTE_HERE, kUndefinedAddress);
}

Status GlobalHeap::facts(Address collection, Address& size, Address& free_space) noexcept {
    MetadataWindow window;
    H5MOTE_TRY(open(collection, window));
    size = size_;
    free_space = 0;
    Object object;
    for (Address at = first(); at < size_; at += object.space) {
        H5MOTE_TRY(load(window, at, object));
        free_space += object.index == 0 ? object.space : 0;
    }
    return Status::ok;
}

}  // namespace h5mote
