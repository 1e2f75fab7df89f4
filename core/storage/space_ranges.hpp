// H5MF H5FD_multi - file space of which each usage has its own range of addresses, with its own end.
//
// FileSpace allocates in one range at a time: the one that its members describe. A SpaceRanges, which only programs
// with formats::multi_changes link, keeps the others, and exchanges them when space of another usage is asked for.
#pragma once

#include <h5mote/address.hpp>
#include <h5mote/driver.hpp>

#include <type_traits>

namespace h5mote {

/// A range, and how much of it is used.
struct RangeEnd {
    Address limit;   ///< its addresses are smaller than this
    Address end;     ///< end of what is allocated
    Address stored;  ///< end of what the storage has
};

class SpaceRanges {
public:
    /// Makes FileSpace allocate in the range of that usage from now on.
    virtual void enter(Usage usage) noexcept = 0;
    /// The same for the range that has the address.
    virtual void enter_at(Address address) noexcept = 0;
    /// The first address of the range in which FileSpace allocates.
    virtual Address first() const noexcept = 0;
    /// The first address of the range that has the address.
    virtual Address start_of(Address address) const noexcept = 0;
    /// `usage`, if its range has the address, else another usage of metadata whose range does.
    virtual Usage usage_at(Usage usage, Address address) const noexcept = 0;
    /// Whether blocks of all kinds of metadata but the global heap can lie side by side in one sector.
    virtual bool keeps_together() const noexcept = 0;
    /// Whether [address, address + size) is allocated.
    virtual bool contains(Address address, Address size) const noexcept = 0;
    /// The end of the last range that is not empty.
    virtual Address end() const noexcept = 0;
    /// The end of the range with the superblock, which the superblock records.
    virtual Address first_end() const noexcept = 0;
    /// Whether a range ends behind the end that is recorded for it, or before it.
    virtual bool has_grown() const noexcept = 0;
    virtual bool has_shrunk() const noexcept = 0;
    /// Writes the ends into the driver information, in one write. What lies before them must be on the storage.
    virtual Status record() noexcept = 0;
    /// Cuts the storage to the ends.
    virtual Status cut() noexcept = 0;
    /// Called last, before the metadata cache is closed: gives back all memory, this object included.
    virtual void close() noexcept = 0;

protected:
    SpaceRanges() noexcept = default;
    SpaceRanges(const SpaceRanges&) = delete;
    SpaceRanges& operator=(const SpaceRanges&) = delete;
    ~SpaceRanges() = default;
};

/// What FileSpace has of ranges.
class RangedSpace {
protected:
    void use(SpaceRanges* ranges) noexcept { ranges_ = ranges; }
    SpaceRanges* ranges() const noexcept { return ranges_; }
    /// The first address of the range in which space is allocated.
    Address first() const noexcept { return ranges_ == nullptr ? 0 : ranges_->first(); }
    bool is_current(Address address, Address limit) const noexcept {
        const Address start = first();
        return address - start < limit - start;
    }
    void enter(Usage usage) noexcept {
        if (ranges_ != nullptr) {
            ranges_->enter(usage);
        }
    }
    void enter_at(Address address) noexcept {
        if (ranges_ != nullptr) {
            ranges_->enter_at(address);
        }
    }

private:
    SpaceRanges* ranges_ = nullptr;
};

/// Takes its place in builds whose files have one range, or are only read.
class UnrangedSpace {
protected:
    static void use(SpaceRanges* /*ranges*/) noexcept {}
    static constexpr SpaceRanges* ranges() noexcept { return nullptr; }
    static constexpr Address first() noexcept { return 0; }
    static constexpr bool is_current(Address /*address*/, Address /*limit*/) noexcept { return true; }
    static void enter(Usage /*usage*/) noexcept {}
    static void enter_at(Address /*address*/) noexcept {}
};

using RangedOrNot = std::conditional_t<H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0, RangedSpace, UnrangedSpace>;

}  // namespace h5mote
