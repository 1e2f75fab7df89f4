// H5MF - which bytes of a file are in use, as runs in order of their addresses, in bounded memory.
//
// Whoever walks over all blocks of the file adds each of them. Blocks side by side become one run, blocks that overlap
// are an error. Where the memory cannot hold all runs of the file, it keeps those with the lowest addresses: this is
// the part of the file that one walk sees, and another walk over the same blocks sees the next part.
#pragma once

#include <h5mote/address.hpp>
#include <h5mote/context.hpp>

namespace h5mote {

/// The bytes [address, end).
struct ByteRun {
    Address address;
    Address end;
};

class UsedRuns {
public:
    explicit UsedRuns(Context& context) noexcept : context_(context) {}
    UsedRuns(const UsedRuns&) = delete;
    UsedRuns& operator=(const UsedRuns&) = delete;
    ~UsedRuns();

    /// Room for `bytes` of runs, at least four. out_of_memory.
    Status reserve(std::size_t bytes) noexcept;
    /// Begins the first walk over a file of `size` bytes.
    void begin(Address size) noexcept;
    /// Adds [address, address + size), which lies in the file. false: it overlaps with a block that was added before,
    /// or there are more blocks than the file has bytes. `shared`: the block may be added any number of times, and what
    /// it overlaps with is not looked at.
    bool add(Address address, Address size, bool shared = false) noexcept;
    /// Begins the walk for the next part of the file. false: this part reaches the end of the file, and stays.
    bool advance() noexcept;
    /// Bytes of all blocks that were added in this walk, also those outside of its part, and shared ones as often as
    /// they were added; modulo the range of addresses. Walks that meet the same blocks in the same order agree.
    Address bytes() const noexcept { return H5MOTE_ALL_FORMATS != 0 ? bytes_ + shared_ : bytes_; }

    /// The gaps of this part, numbered from 0 to gaps() - 1. They may be empty.
    std::size_t gaps() const noexcept { return count_ + 1; }
    ByteRun gap(std::size_t i) const noexcept {
        return {i == 0 ? from_ : runs_[i - 1].end, i == count_ ? end_ : runs_[i].address};
    }

private:
    void begin_part() noexcept;

    Context& context_;
    ByteRun* runs_ = nullptr;
    std::size_t capacity_ = 0;
    std::size_t count_ = 0;
    Address size_ = 0;    // of the file
    Address from_ = 0;    // first address of this part
    Address end_ = 0;     // end of this part: the end of the file, or where a used block begins
    Address bytes_ = 0;   // of blocks that are not shared
    Address shared_ = 0;  // of the others
};

}  // namespace h5mote
