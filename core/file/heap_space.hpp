// H5HF - what an open file knows of the space in the fractal heaps that it changes.
#pragma once

#include <h5mote/address.hpp>

#include <cstdint>

namespace h5mote {

/// Free bytes in the address space of a fractal heap.
struct HeapSection {
    Address offset;
    Address size;
};

/// The free sections of a heap, as the free-space manager in the file has them.
struct FreeHeapSpace {
    static constexpr unsigned kMost = 64;

    Address manager = kUndefinedAddress;  ///< header of the manager, if there is one
    Address list = kUndefinedAddress;     ///< its list of sections
    Address list_size = 0;
    unsigned count = 0;
    HeapSection sections[kMost];
};

/// Bytes of a fractal heap that objects gave up since the last commit. What is on the storage still has these objects,
/// so that the bytes are not used again before the commit. One heap at a time has any.
class ReleasedHeapSpace {
public:
    /// Whether [offset, offset + size) of that heap has such bytes. `commits`: the number of commits so far.
    bool has(Address heap, std::uint32_t commits, Address offset, Address size) const noexcept {
        bool found = false;
        for (unsigned i = 0; heap == heap_ && commits == commits_ && i < count_; ++i) {
            found = found || (ranges_[i].offset - offset < size) || (offset - ranges_[i].offset < ranges_[i].size);
        }
        return found;
    }
    /// Whether one more range of that heap can be noted. If not, a commit comes first.
    bool has_room(Address heap, std::uint32_t commits) const noexcept {
        return commits != commits_ || count_ == 0 || (heap == heap_ && count_ < kMost);
    }
    void add(Address heap, std::uint32_t commits, Address offset, Address size) noexcept {
        if (heap != heap_ || commits != commits_ || count_ == kMost) {
            heap_ = heap;
            commits_ = commits;
            count_ = 0;
        }
        ranges_[count_++] = {offset, size};
    }

private:
    static constexpr unsigned kMost = 64;

    Address heap_ = kUndefinedAddress;
    std::uint32_t commits_ = 0;
    unsigned count_ = 0;
    HeapSection ranges_[kMost];
};

}  // namespace h5mote
