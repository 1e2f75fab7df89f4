// H5HG - the global heap: values of variable-length data, region references. Specification III.E.
//
// Objects stand in any order in their collection. The place of the last object that was found is remembered and the
// search goes on from there, so that objects that are asked for in the order in which they were written are found at
// once.
#pragma once

#include "file_state.hpp"
#include "global_heap_collection.hpp"
#include "heap_position.hpp"

namespace h5mote {

class GlobalHeap {
public:
    explicit GlobalHeap(FileState& file) noexcept : file_(file) {}
    /// Goes on where another one was; nothing has changed in the heap since.
    GlobalHeap(FileState& file, const HeapPosition& from) noexcept : file_(file), place_(from) {}
    const HeapPosition& position() const noexcept { return place_; }

    /// The bytes of object `index` of the collection at `collection`, in a window: no copy. corrupt_file: no such
    /// collection or object. io_error, out_of_memory.
    Status object(Address collection, std::uint32_t index, MetadataWindow& bytes) noexcept;
    /// The object that a heap id in variable-length data names.
    Status object(ConstBytes id, MetadataWindow& bytes) noexcept;
    /// The bytes of the collection, and of the free space in it. Errors of object().
    Status facts(Address collection, Address& size, Address& free_space) noexcept;

    using Object = HeapObject;
    /// To walk over a collection: opens it, and tells its size. Errors of object().
    Status open(Address collection, MetadataWindow& window, Address& size) noexcept {
        const Status status = open(collection, window);
        size = place_.size;
        return status;
    }
    /// The object that begins `at` bytes from the start of the collection in `window`, which was opened last.
    Status load(MetadataWindow& window, Address at, Object& object) noexcept;

private:
    Status open(Address collection, MetadataWindow& window) noexcept;
    Status find(MetadataWindow& window, std::uint32_t index, Address from, Address to, Object& object) noexcept;
    // Where the first object begins. The header of every object is as long.
    Address first() const noexcept { return GlobalHeapCollection::header_size(file_.shape()); }
    Status damaged(SourcePlace place, Address collection) noexcept;

    FileState& file_;
    HeapPosition place_;
};

}  // namespace h5mote
