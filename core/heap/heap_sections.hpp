// H5HF H5FS - the free sections of a fractal heap: which bytes of its direct blocks hold no object. Specification
// III.H.
//
// The heap's free-space manager has them in the file. Every change of the heap stores a new manager beside the old one,
// so that a header and the manager that it names always agree. Only the largest kMost sections are kept, so that this
// takes a bounded time and memory. The rest is lost until the heap is copied (dense_rebuild.hpp).
//
// Sections of whole blocks that do not exist, which libhdf5 stores as well, are not kept: they are addresses, not
// space.
#pragma once

#include "fractal_heap_blocks.hpp"
#include "staged_blocks.hpp"

namespace h5mote {

class HeapSections {
public:
    static constexpr unsigned kMost = FreeHeapSpace::kMost;
    using Section = HeapSection;

    /// Reads the sections of a heap's manager, if it has one and the file does not remember them. corrupt_file,
    /// io_error.
    Status load(FileState& file, const FractalHeapTable& table, Address manager) noexcept;
    /// Takes `size` bytes from the start of the smallest section that has so many and for which `usable` says true.
    /// false: there is none.
    template <typename Usable>
    bool take(Address size, Usable usable, Address& offset) noexcept {
        unsigned best = kMost;
        for (unsigned i = 0; i < now_.count; ++i) {
            const Section& each = now_.sections[i];
            if (each.size >= size && (best == kMost || each.size < now_.sections[best].size) && usable(each)) {
                best = i;
            }
        }
        if (best == kMost) {
            return false;
        }
        offset = now_.sections[best].offset;
        shrink(best, size);
        return true;
    }
    /// Adds a section and joins it with those before and behind it. Returns what it is part of now. Without room the
    /// smallest section is forgotten.
    Section add(Address offset, Address size) noexcept;
    /// Forgets the sections in [offset, offset + size).
    void remove(Address offset, Address size) noexcept;
    /// Stores a new manager with all sections and gives up the old one. `manager` becomes undefined if there are no
    /// sections. no_space, out_of_memory, over_budget, io_error.
    Status store(FileState& file, const FractalHeapTable& table, StagedBlocks& blocks, Address& manager) noexcept;
    /// The heap's header leads to what store() has stored: the file remembers the sections, if it has memory to spare.
    void remember(FileState& file) const noexcept;

private:
    Status read_list(FileState& file, const FractalHeapTable& table, const FreeSpaceHeader& header) noexcept;
    void keep(const Section& section) noexcept;
    void shrink(unsigned i, Address size) noexcept;
    void erase(unsigned i) noexcept { now_.sections[i] = now_.sections[--now_.count]; }
    void sort() noexcept;
    Status write_list(FileState& file, Address header, FreeSpaceHeader& fields, StagedBlocks& blocks) noexcept;

    FreeHeapSpace now_;
    bool changed_ = false;
};

}  // namespace h5mote
