// When objects of the global heap reach the storage: before anything there that refers to them.
//
// Metadata that refers to objects is written by phases, which come after the objects. Raw data that overwrites elements
// in place is not: the storage leads to these elements already. An object that such an element comes to refer to has to
// be there before, with the end of file that covers its collection and the header through which it is found.
//
// Only programs that write values of variable length link this, as a part of what writes to the heap.
#pragma once

#include "file_state.hpp"

namespace h5mote {

class HeapOrder : public HeapKeeper {
public:
    Status store(bool durably) noexcept final;
    Status order(Address header) noexcept final;
    Status order_before_chunks() noexcept final;
    void note(Address header) noexcept final;
    Status commit(Address header) noexcept final;

protected:
    explicit HeapOrder(FileState& file) noexcept : file_(file) {}
    ~HeapOrder() = default;

    FileState& file_;

private:
    bool is_live(Address header) noexcept;
    bool may_be_found(Address header) noexcept;
    Status record_end() noexcept;
};

}  // namespace h5mote
