// H5HF H5FS - the free sections of a fractal heap: which bytes of its direct blocks hold no object. Specification
// III.H.
//
// The heap's free-space manager has them in the file. Every change of the heap stores a new manager beside the old one,
// so that a header and the manager that it names always agree. Where nothing on the storage leads to the old one,
// memory is plentiful and the list keeps its size, the old one stays, and changes together with the heap's header. Only
// the largest kMost sections are kept, so that this takes a bounded time and memory. The rest is lost until the heap is
// copied (dense_rebuild.hpp).
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
    /// sections. `in_place`: the old one may stay, and then is_stored() has to be asked. no_space, out_of_memory,
    /// over_budget, io_error.
    Status store(FileState& file, const FractalHeapTable& table, StagedBlocks& blocks, bool in_place,
                 Address& manager) noexcept;
    /// Whether apply() may follow: it may not any more when the cache has committed since store(), which comes again.
    bool is_stored(const FileState& file) const noexcept {
        return !manager_ || (file.stays(*manager_) && file.stays(*list_));
    }
    /// The heap's header leads to what store() has stored: changes the manager, if it has stayed, which cannot fail.
    /// The file remembers the sections, if it has memory to spare.
    void apply(FileState& file) noexcept;
    /// store() is taken back.
    void undo() noexcept {
        manager_.reset();
        list_.reset();
    }

private:
    Status read_list(FileState& file, const FractalHeapTable& table, const FreeSpaceHeader& header) noexcept;
    void keep(const Section& section) noexcept;
    void shrink(unsigned i, Address size) noexcept;
    void erase(unsigned i) noexcept { now_.sections[i] = now_.sections[--now_.count]; }
    void sort() noexcept;
    void plan(FileShape shape, const FractalHeapTable& table, FreeSpaceHeader& fields) noexcept;
    bool stays(FileState& file, const FractalHeapTable& table) noexcept;
    void write(FileShape shape, CacheEntry& manager, CacheEntry& list) noexcept;

    FreeHeapSpace now_;
    bool changed_ = false;
    FreeSpaceHeader fields_;  // as the manager is to have them
    Pinned manager_;          // a manager that stays, until apply() ...
    Pinned list_;             // ... and its list
};

}  // namespace h5mote
