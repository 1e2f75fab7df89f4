// H5FS - the space map: which parts of a file are free, as extents that are found again.
//
// It knows nothing of where blocks may be placed, of the end of the file or of the storage: that is FileSpace, which
// reaches the extents through this interface only. The map forgets what it holds when the file is closed; what a file
// keeps from one opening to the next is the matter of a SpaceKeeper.
//
// H5MOTE_FREE_EXTENTS extents have room in any case. More of them need memory from the allocator, which is given back
// when others need it. Extents for which there is no memory go to the SpaceOverflow, which keeps them in the file
// itself. Only a map without one forgets the smallest extents.
#pragma once

#include "size_hints.hpp"

#include <h5mote/address.hpp>
#include <h5mote/context.hpp>

#include <type_traits>

namespace h5mote {

/// What a free extent was used for, and will be used for again where the file keeps both apart.
enum class SpaceKind : std::uint8_t {
    metadata,
    raw_data,
    pages,  ///< whole pages, for either (FileSpaceStrategy::paged)
};

/// A run of free bytes, [address, address + size).
struct FreeExtent {
    Address address;
    Address size;
    std::uint8_t pending;  ///< commits until it can be used: FileSpace::settle() counts them down
    SpaceKind kind;
};

class SpaceMap;

/// Takes part in the functions of a map for whose extents memory has no room. Its extents are numbered from 0; their
/// numbers in the map follow those of the extents in memory. Only the map calls it. Spilling implements it.
class SpaceOverflow {
public:
    virtual FreeExtent get(SpaceMap& map, std::size_t i) noexcept = 0;
    virtual void set(SpaceMap& map, std::size_t i, const FreeExtent& extent) noexcept = 0;
    /// Erases an extent of the map, whose number is that of the map, while some are kept here.
    virtual void erase(SpaceMap& map, std::size_t i) noexcept = 0;
    /// Adds an extent for which memory has no room. false: it is not kept.
    virtual bool insert(SpaceMap& map, const FreeExtent& extent) noexcept = 0;
    /// Takes the smallest extent out of memory. false: it has stayed there, or it is lost.
    virtual bool take_smallest(SpaceMap& map) noexcept = 0;

protected:
    ~SpaceOverflow() = default;
};

class SpaceMap final : public Reclaimer {
    using Hints = std::conditional_t<H5MOTE_ALL_FORMATS != 0, SizeHints, NoSizeHints>;

public:
    explicit SpaceMap(Context& context) noexcept : context_(context) { context_.add_reclaimer(*this); }
    SpaceMap(const SpaceMap&) = delete;
    SpaceMap& operator=(const SpaceMap&) = delete;
    ~SpaceMap() {
        clear();
        context_.remove_reclaimer(*this);
    }

    /// Forgets all extents, and gives back the memory in which they were remembered.
    void clear() noexcept {
        count_ = 0;
        spilled_ = 0;
        complete_ = true;
        reclaim();
    }
    /// From now on extents without room in memory go there; nullptr: they are forgotten.
    void set_overflow(SpaceOverflow* overflow) noexcept { overflow_ = overflow; }
    /// Whether no extent was forgotten since clear(), and nobody said anything else since.
    bool is_complete() const noexcept { return complete_; }
    /// Says that the file has free space of which the map does not know, or that all lost space is about to be added.
    void set_complete(bool complete) noexcept { complete_ = complete; }
    /// How many of the extents are kept by the SpaceOverflow.
    std::size_t spilled() const noexcept { return spilled_; }

    /// Extents are numbered from 0: those in memory by their addresses, then those of the SpaceOverflow in no
    /// particular order. insert(), erase() and absorb() change the numbers.
    std::size_t count() const noexcept { return count_ + spilled_; }
    /// An empty extent that is pending for ever if the storage failed.
    FreeExtent get(std::size_t i) noexcept { return i < count_ ? extents_[i] : get_spilled(i - count_); }
    void set(std::size_t i, const FreeExtent& extent) noexcept;
    void erase(std::size_t i) noexcept;
    /// The number of the first extent in memory that ends at `address` or behind it; if there is none, one more than
    /// the last of them has.
    std::size_t first_ending_at(Address address) const noexcept;
    /// Whether all extents are in memory, and so many that find_smallest() is much faster than to look at all of them.
    bool finds_smallest() noexcept { return hints().valid() && spilled_ == 0; }
    /// The number of the smallest extent that is not pending, has at least `size` bytes and for which `fits` is true;
    /// of equal ones the first. count() if there is none. Call only if finds_smallest().
    template <typename Fits>
    std::size_t find_smallest(Address size, const Fits& fits) noexcept;
    /// The number of the first extent, `from` or a later one, that may be pending: if there are hints, those in memory
    /// are passed that are not. count() if there is none.
    std::size_t next_pending(std::size_t from) noexcept {
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            return find_pending(from);
        } else {
            return from;
        }
    }
    /// Whether the extent has bytes in common with one that is in the map.
    bool overlaps(const FreeExtent& extent) noexcept;
    /// Takes out of the map the neighbours of `extent` that are as `pending` as it is, and makes them part of it. It
    /// takes the kind of the largest of them. With `page` bytes that are not 0, only what belongs to one page, or whole
    /// pages, become one extent. false: the extent has bytes in common with one in the map, and nothing has changed.
    bool absorb(FreeExtent& extent, Address page = 0) noexcept;
    /// Adds an extent, not empty, that overlaps none. If nobody has room for it, the smallest extent is forgotten: the
    /// new one or another. Its space stays unused until File::reclaim() finds it.
    void insert(const FreeExtent& extent) noexcept;

    Context& context() noexcept { return context_; }

    /// Gives back the memory for more than H5MOTE_FREE_EXTENTS extents if no more than that are left.
    void reclaim() noexcept override;
    /// Gives that memory back in any case, if the SpaceOverflow takes the extents, or, where there is none, by
    /// forgetting the smallest ones. false: nothing was given back.
    bool reclaim_used() noexcept override;

    /// How many bytes of memory a longer list takes, with room for so many extents.
    static constexpr std::size_t bytes_of(std::size_t room) noexcept {
        return room * sizeof(FreeExtent) + Hints::bytes(room);
    }

private:
    friend class Spilling;

    static constexpr std::size_t kFew = H5MOTE_TEST_FREE_EXTENTS;

    // About the extents in memory while these are too many for few_; they follow the extents.
    Hints hints() noexcept { return Hints(extents_ == few_ ? nullptr : extents_ + room_); }

    FreeExtent get_spilled(std::size_t i) noexcept;
    // In memory one place is left for what the overflow releases while it makes room for itself and takes nothing.
    std::size_t room_in_memory(std::size_t room) const noexcept { return overflow_ == nullptr ? room : room - 1; }
    std::size_t smallest() const noexcept;
    // Adds an extent, for which there is room, to those in memory, or takes one out.
    void put_in(const FreeExtent& extent) noexcept;
    void take_out(std::size_t at) noexcept;
    void note_moved([[maybe_unused]] std::size_t from) noexcept {
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            note_ends(from);
        }
    }
    void note_ends(std::size_t from) noexcept;
    std::size_t find_pending(std::size_t from) noexcept;
    void use(FreeExtent* extents, std::size_t room) noexcept;
    bool grow() noexcept;

    Context& context_;
    std::size_t count_ = 0;    // extents in memory
    std::size_t spilled_ = 0;  // extents that the overflow keeps
    std::size_t room_ = kFew;
    SpaceOverflow* overflow_ = nullptr;
    bool complete_ = true;
    FreeExtent* extents_ = few_;  // few_, or a larger array from the allocator
    FreeExtent few_[H5MOTE_FREE_EXTENTS];
};

template <typename Fits>
std::size_t SpaceMap::find_smallest(Address size, const Fits& fits) noexcept {
    std::size_t best = count_;
    const unsigned first = Hints::class_of(size);
    const std::uint64_t least = Hints::least_of(first);
    for (std::size_t run = 0; run * Hints::kRun < count_; ++run) {
        const unsigned found = hints().next_class(run, first);
        if (found == Hints::kClasses || (best < count_ && Hints::least_of(found) >= extents_[best].size)) {
            continue;  // nothing large enough is there, or nothing better
        }
        const std::size_t begin = run * Hints::kRun;
        const std::size_t end = begin + Hints::kRun < count_ ? begin + Hints::kRun : count_;
        bool any = false;
        for (std::size_t i = begin; i < end; ++i) {
            const FreeExtent& each = extents_[i];
            any = any || (each.size >= least && each.pending == 0);
            if (each.size >= size && each.pending == 0 && (best == count_ || each.size < extents_[best].size) &&
                fits(each)) {
                best = i;
            }
        }
        if (!any) {
            hints().clear_classes(run, first);
        }
        if (best < count_ && extents_[best].size == size) {
            break;  // none can be better
        }
    }
    return best;
}

}  // namespace h5mote
