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

#include <h5mote/address.hpp>
#include <h5mote/context.hpp>

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

/// Keeps the extents for which the map has no memory, numbered from 0.
class SpaceOverflow {
public:
    /// false: the storage failed. The map then forgets all that is kept here.
    virtual bool read(std::size_t i, FreeExtent& extent) noexcept = 0;
    /// Makes room for so many extents. That may allocate and release space, which changes the map. false: there is
    /// less.
    virtual bool reserve(std::size_t count) noexcept = 0;
    /// Replaces the extent with that number, for which there is room. false: it is not kept.
    virtual bool write(std::size_t i, const FreeExtent& extent) noexcept = 0;

protected:
    ~SpaceOverflow() = default;
};

class SpaceMap final : public Reclaimer {
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

    /// Extents are numbered from 0 in no particular order. insert(), erase() and absorb() change the numbers.
    std::size_t count() const noexcept { return count_ + spilled_; }
    /// An empty extent that is pending for ever if the storage failed.
    FreeExtent get(std::size_t i) noexcept { return i < count_ ? extents_[i] : get_spilled(i - count_); }
    void set(std::size_t i, const FreeExtent& extent) noexcept;
    void erase(std::size_t i) noexcept;
    /// Whether the extent has bytes in common with one that is in the map.
    bool overlaps(const FreeExtent& extent) noexcept;
    /// Takes out of the map the neighbours of `extent` that are as `pending` as it is, and makes them part of it. It
    /// takes the kind of the largest of them. With `page` bytes that are not 0, only what belongs to one page, or whole
    /// pages, become one extent.
    void absorb(FreeExtent& extent, Address page = 0) noexcept;
    /// Adds an extent, not empty, that overlaps none. If nobody has room for it, the smallest extent is forgotten: the
    /// new one or another. Its space stays unused until File::reclaim() finds it.
    void insert(const FreeExtent& extent) noexcept;

    Context& context() noexcept { return context_; }

    /// Gives back the memory for more than H5MOTE_FREE_EXTENTS extents if no more than that are left.
    void reclaim() noexcept override;
    /// Gives that memory back in any case, if the SpaceOverflow takes the extents, or, where there is none, by
    /// forgetting the smallest ones. false: nothing was given back.
    bool reclaim_used() noexcept override;

private:
    FreeExtent get_spilled(std::size_t i) noexcept;
    bool spill(const FreeExtent& extent) noexcept;
    bool spill_smallest() noexcept;
    std::size_t smallest() const noexcept;
    void use(FreeExtent* extents, std::size_t room) noexcept;
    bool grow() noexcept;

    Context& context_;
    std::size_t count_ = 0;    // extents in memory
    std::size_t spilled_ = 0;  // extents that the overflow keeps
    std::size_t room_ = H5MOTE_FREE_EXTENTS;
    SpaceOverflow* overflow_ = nullptr;
    bool complete_ = true;
    FreeExtent* extents_ = few_;  // few_, or a larger array from the allocator
    FreeExtent few_[H5MOTE_FREE_EXTENTS];
};

}  // namespace h5mote
