// h5check - which bytes of the file belong to whom: finds blocks that overlap, however many there are, in bounded
// memory.
//
// The table keeps the blocks with the lowest addresses from `from` on. When it is full the upper half is dropped and
// left to the next walk over the file, which begins where this one ended.
#pragma once

#include <h5mote/check.hpp>
#include <h5mote/context.hpp>

namespace h5mote {

struct CheckExtent {
    Address address;
    Address size;
    Address object;  ///< header of the object that it belongs to
    CheckPart part;
    bool shared;        ///< may belong to many objects: the same block again does not overlap with itself
    bool free = false;  ///< belongs to nobody: a manager of free space names it
};

class ExtentTable {
public:
    explicit ExtentTable(Context& context) noexcept : context_(context) {}
    ExtentTable(const ExtentTable&) = delete;
    ExtentTable& operator=(const ExtentTable&) = delete;
    ~ExtentTable();

    /// Room for `bytes` of blocks, at least four. out_of_memory.
    Status reserve(std::size_t bytes) noexcept;
    /// Adds a block that lies in the file. Blocks outside of the addresses of this walk are left out.
    void add(const CheckExtent& extent) noexcept;
    /// Ends a walk: sorts the blocks by address, in which order operator[] gives them.
    void finish() noexcept;
    std::size_t size() const noexcept { return count_; }
    const CheckExtent& operator[](std::size_t i) const noexcept { return extents_[i]; }
    /// Begins the next walk; false if this one has seen all blocks.
    bool advance() noexcept;

private:
    void sort() noexcept;
    void shrink() noexcept;

    Context& context_;
    CheckExtent* extents_ = nullptr;
    std::size_t capacity_ = 0;
    std::size_t count_ = 0;
    Address from_ = 0;                 // first address of this walk
    Address end_ = kUndefinedAddress;  // end of this walk: blocks from here on are left to the next
};

}  // namespace h5mote
