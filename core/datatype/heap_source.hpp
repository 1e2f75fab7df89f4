// H5T H5HG - variable-length data of a file: objects in its global heap.
#pragma once

#include "global_heap.hpp"
#include "variable_data.hpp"

namespace h5mote {

/// Used for the time of one read: it remembers where in the heap the last object was, but holds no memory.
class HeapSource final : public VariableSource {
public:
    /// The file is borrowed.
    explicit HeapSource(FileState& file) noexcept : heap_(file) {}
    /// Goes on where another one was; nothing has changed in the heap since.
    HeapSource(FileState& file, const HeapPosition& from) noexcept : heap_(file, from) {}
    const HeapPosition& position() const noexcept { return heap_.position(); }

    Status size(ConstBytes heap_id, std::uint64_t& bytes) noexcept override {
        MetadataWindow window;
        H5MOTE_TRY(heap_.object(heap_id, window));
        bytes = window.size();
        return Status::ok;
    }
    Status read(ConstBytes heap_id, std::uint64_t offset, Bytes to) noexcept override {
        MetadataWindow window;
        H5MOTE_TRY(heap_.object(heap_id, window));
        return window.read(narrow(offset), to);
    }

private:
    GlobalHeap heap_;
};

}  // namespace h5mote
