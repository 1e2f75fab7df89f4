// H5HL - names are added to a local heap, and removed from it.
//
// Where all changes between two commits appear at once, the list of free blocks is kept as libhdf5 keeps it: the first
// block with room is taken, what is removed joins its neighbours, and a heap without room gets a data segment of twice
// the size.
//
// Where only a sector is atomic, the storage has a sound list at every instant. A name is cut off the end of a free
// block, of which nothing but the size changes, so that the fields of every block stay where the list leads. After a
// power cut the name may lie in a block that is still free, or bytes may be lost of which nothing knows; neither harms,
// because no link has the name yet. What is removed is lost in the same way, until the data segment is replaced: then
// the bytes that no name has are found again. A new data segment is complete before the header leads to it.
#pragma once

#include "local_heap.hpp"

namespace h5mote {

/// Takes note of a text in a heap.
class LocalHeapNote {
public:
    virtual Status use(Address offset) noexcept = 0;

protected:
    ~LocalHeapNote() = default;
};

/// What a heap is used by.
class LocalHeapUser {
public:
    /// Calls note.use() for each text in the heap, but for the empty one at offset 0.
    virtual Status show(LocalHeapNote& note) noexcept = 0;
    /// Makes what leads to the heap lead to its new place. A commit comes before anything else that leads to its texts.
    virtual Status lead_to(Address header) noexcept = 0;

protected:
    ~LocalHeapUser() = default;
};

class LocalHeapChanges {
public:
    /// `heap` is open and borrowed, as is `user`. The heap shows all changes.
    LocalHeapChanges(FileState& file, LocalHeap& heap, LocalHeapUser& user) noexcept
        : file_(file), heap_(heap), user_(user) {}

    /// Makes a heap to which nothing leads, with the empty name at offset 0 that the keys of a symbol table begin with,
    /// as large as libhdf5 makes it by default. no_space, out_of_memory, over_budget.
    static Status create(FileState& file, Address& header) noexcept;

    /// Adds a text without zero bytes. The user is asked when the data segment has to be replaced. An error leaves
    /// the heap sound, and as it was but for a data segment that may have become larger. corrupt_file, no_space,
    /// out_of_memory, over_budget: the file has no numbers for so large a heap.
    Status insert(ConstBytes text, Address& offset) noexcept;
    /// Takes the last text back that was added, to which nothing leads. An error loses its bytes.
    void take_back(Address offset) noexcept;
    /// Removes a text to which nothing leads any more. An error loses its bytes.
    void remove(Address offset) noexcept;

private:
    struct FreePlace;

    bool keeps_fields() const noexcept;
    Status size_of(Address offset, Address& size) noexcept;
    Status find_room(MetadataWindow& window, Address need, FreePlace& place) noexcept;
    Status take(MetadataWindow& window, const FreePlace& place, Address need, Address& offset) noexcept;
    Status write(MetadataWindow& window, Address offset, ConstBytes bytes) noexcept;
    Status write_text(MetadataWindow& window, Address offset, ConstBytes text) noexcept;
    Status write_number(MetadataWindow& window, Address offset, Address number) noexcept;
    Status write_next(MetadataWindow& window, Address before, Address next) noexcept;
    Status give(Address offset, Address size, bool only_behind) noexcept;
    Status replace_segment(Address need, bool larger) noexcept;
    Status switch_to(const LocalHeapHeader& fields) noexcept;

    FileState& file_;
    LocalHeap& heap_;
    LocalHeapUser& user_;
};

}  // namespace h5mote
