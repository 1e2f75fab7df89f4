// H5MF - file space: allocated from free space, of which the smallest extent is taken that has room, or at the end of
// the file.
//
// A metadata block that fits in an atomic unit of the storage is placed inside one unit. Of a larger one the first
// bytes lie in one unit and the last bytes in one unit, so that most changes up to the checksum are one atomic write.
// Space that the committed file still uses is `pending` when released: it is given out again only after the commit that
// made it unreachable. The driver is told of released space together with the free space next to it, because it can
// give up only whole pages or blocks.
//
// In builds that read all formats a SpaceRule adds the strategies, pages, alignment and aggregation of libhdf5
// (file_space_rule.cpp). Where a rule and the atomic units cannot both be had, the first bytes of a block still lie in
// one unit, and the rule decides about the last bytes: a change of those then moves the block.
//
// Which space is free is known to the SpaceMap; where blocks are placed, and when space can be used again, to
// FileSpace. What outlives the session, and what memory has no room for, is the matter of a SpaceKeeper, which only
// some programs link.
#pragma once

#include "checked.hpp"
#include "space_keeper.hpp"
#include "space_map.hpp"
#include "space_ranges.hpp"
#include "space_rule.hpp"

#include <h5mote/driver.hpp>

namespace h5mote {

/// Where the file ended at the last commit: what lies behind was allocated since.
class CommittedEnd {
public:
    void set(Address end) noexcept { end_ = end; }
    bool is_behind(Address address) const noexcept { return address >= end_; }

private:
    Address end_ = 0;
};

/// Takes its place in builds whose transactions are short.
class NoCommittedEnd {
public:
    static void set(Address /*end*/) noexcept {}
    static constexpr bool is_behind(Address /*address*/) noexcept { return false; }
};

/// Extends the storage of a large file by more than a block needs, so that most blocks find the room that they need,
/// and that of a file in which removals need room by a spare, so that they succeed when the storage is full. What is
/// not used is cut off when the file is closed, and after a power cut it does no harm.
class StorageSteps {
public:
    /// `keeps`: the driver's keep_room() keeps room of the storage.
    void set(bool in_steps, Address stored, bool keeps) noexcept {
        in_steps_ = in_steps;
        keeps_ = keeps;
        unused_ = stored;
    }
    /// How far to extend the storage when space up to `end` is needed.
    Address extended(Address end, Address limit) const noexcept {
        const Address step = end / 16 < kMostStep ? end / 16 : kMostStep;
        return in_steps_ && end >= kLeastFile && step <= limit - end ? end + step : end;
    }
    /// Whether nothing behind `address` was used since the storage got these bytes; use() says what is.
    bool is_unused(Address address) const noexcept { return address >= unused_; }
    void use(Address end) noexcept { unused_ = end > unused_ ? end : unused_; }
    /// From now on there is a spare, which nothing takes but what is done while `removing` is set.
    void keep_spare() noexcept { has_spare_ = true; }
    void set_removing(bool removing) noexcept { removing_ = removing; }
    Address spare() const noexcept { return has_spare_ && !removing_ ? kSpare : 0; }
    /// What of it the driver has to keep, beyond what else is kept.
    Address kept_spare() const noexcept { return keeps_ ? spare() : 0; }

private:
    static constexpr Address kLeastFile = Address{1} << 20;
    static constexpr Address kMostStep = Address{1} << 20;
    static constexpr Address kSpare = 4096;

    bool in_steps_ = false;
    bool keeps_ = false;
    bool has_spare_ = false;
    bool removing_ = false;
    Address unused_ = 0;
};

/// Takes its place in builds that extend the storage as far as is needed.
class NoStorageSteps {
public:
    static void set(bool /*in_steps*/, Address /*stored*/, bool /*keeps*/) noexcept {}
    static void keep_spare() noexcept {}
    static void set_removing(bool /*removing*/) noexcept {}
    static constexpr Address spare() noexcept { return 0; }
    static constexpr Address kept_spare() noexcept { return 0; }
};

class FileSpace : RuledOrNot, RangedOrNot {
public:
    /// Blocks are placed for units of at most this many bytes, whatever larger unit a driver promises: the file may be
    /// copied to a disk or card with sectors.
    static constexpr std::uint16_t kMostUnit = 512;
    /// The smallest atomic unit with which the order of writes can keep a file sound. Half of it holds the superblock,
    /// or the first block of an object header that consists of nothing but a continuation message.
    static constexpr std::uint32_t kLeastUnit = 128;

    /// The unit by which blocks are placed on a storage whose aligned units of `atomic_unit` bytes are atomic: the
    /// largest power of two that divides `atomic_unit`, at most kMostUnit. A driver may promise any number, and aligned
    /// units whose size divides it are atomic as well.
    static constexpr std::uint16_t unit_of(std::uint32_t atomic_unit) noexcept {
        const std::uint32_t unit = atomic_unit & (~atomic_unit + 1);
        return unit < kMostUnit ? static_cast<std::uint16_t>(unit) : kMostUnit;
    }

    /// Whether the bytes [from, to) lie in one atomic unit.
    bool in_one_unit(std::uint64_t from, std::uint64_t to) const noexcept {
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            return in_one_unit_of_range(from, to);
        } else {
            return (from ^ (to - 1)) < unit_;
        }
    }

    FileSpace(Context& context, Driver& driver) noexcept : driver_(driver), free_(context) {}

    /// Starts with a file of `end` bytes whose addresses stay below `limit`. The storage has `stored` bytes: those
    /// beyond `end` may have been written before a power cut and cannot be taken for zeros.
    void open(Address end, Address limit, Address stored) noexcept;

    /// How the file places its blocks from now on. What is allocated stays where it is. Only builds with
    /// H5MOTE_ALL_FORMATS have rules: others refuse files and settings that ask for them before.
    void set_rule(const SpaceRule& rule) noexcept { RuledOrNot::use(rule); }
    SpaceRule rule() const noexcept { return rule_; }
    /// Makes free space of what is left of the aggregation blocks, and begins no new ones. Call when the file is
    /// closed, before anything at its end is given back.
    void end_aggregation() noexcept {
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            give_back_rests(true);
        }
    }
    /// The file ends at `end` again, although what lies before it has become free since. Call when the file is closed.
    void stay_until(Address end) noexcept { end_ = end; }
    /// What is left of the aggregation block for metadata or raw data. It is free, but not part of free().
    FreeExtent aggregation_rest(SpaceKind kind) noexcept {
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            return rest_of(kind);
        } else {
            return {0, 0, 0, kind};
        }
    }
    /// How many blocks of raw data, `size` bytes each, may be allocated as one block so that each of them lies where
    /// the rule wants it.
    std::uint32_t most_together([[maybe_unused]] Address size) const noexcept {
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            return count_together(size);
        } else {
            return ~std::uint32_t{0};
        }
    }

    /// From now on space is allocated in the range of its usage, each of which has an end of its own. Call right after
    /// open(). nullptr: no longer.
    void set_ranges(SpaceRanges* ranges) noexcept { RangedOrNot::use(ranges); }
    /// The ranges, if the file has several; otherwise nullptr.
    SpaceRanges* ranges() const noexcept { return RangedOrNot::ranges(); }
    /// The usage with which space for the block at `address` is allocated in another place: in the same range.
    Usage usage_at(Usage usage, Address address) const noexcept {
        return ranges() == nullptr ? usage : ranges()->usage_at(usage, address);
    }
    /// The usage of a block of a chunk index, which for libhdf5 is `usage`. That matters only where the usages have
    /// ranges: libhdf5 reads no block of this usage behind the end of its range.
    Usage index_usage(Usage usage) const noexcept { return ranges() == nullptr ? Usage::btree : usage; }
    /// Whether blocks of all kinds of metadata but the global heap can lie side by side in one sector.
    bool keeps_together() const noexcept { return ranges() == nullptr || ranges()->keeps_together(); }
    /// For SpaceRanges: the range in which space is allocated at this time, and another one to allocate in from now on.
    RangeEnd current_range() const noexcept { return {limit_, end_, stored_}; }
    void set_current_range(const RangeEnd& range) noexcept {
        limit_ = range.limit;
        end_ = range.end;
        stored_ = range.stored;
    }

    /// Hands in the keeper of the file's free space. It owns itself: close() tells it to go.
    void set_keeper(SpaceKeeper& keeper) noexcept {
        keeper_ = &keeper;
        waiting_ = true;
        free_.set_overflow(keeper.overflow());
    }
    SpaceKeeper* keeper() const noexcept { return keeper_; }
    /// Lets the keeper make ready for changes of the free space, once: SpaceKeeper::begin().
    Status begin() noexcept;
    /// Call before changes are written: lets the keeper make ready if they have released space, although nothing was
    /// allocated. If the keeper cannot, the space is lost when the program does not close the file.
    void begin_if_released() noexcept {
        if (free_.count() != 0) {
            (void)begin();
        }
    }
    /// Forgets all free space, and gives back the memory in which it was remembered. The keeper ends.
    void close() noexcept;

    /// Allocates `size` bytes. The storage is extended at once, so that a full device is found (no_space) before
    /// anything is changed, if extending takes the room; that of a file with ftruncate() does not (PosixDriver). For
    /// metadata, which is written later, room is kept in it as well: keep_metadata(). `zeros`, if given, says whether
    /// the new bytes are known to read as zero.
    Status allocate(Usage usage, Address size, Address& address, bool* zeros = nullptr) noexcept;
    /// Allocates `size` bytes for raw data out of free space. false: no free extent has room.
    bool allocate_free(Address size, Address& address) noexcept {
        if (begin() != Status::ok) {
            return false;
        }
        enter(Usage::raw_data);
        return reuse(Usage::raw_data, size, address);
    }
    /// Takes free space at a given place. false: some of it is not free, or lies in pages.
    bool take_free(Address address, Address size) noexcept;
    /// Allocates at the end of the file, whatever is free before it. For keepers, whose own space must not come out of
    /// what they keep. `usage` counts for the placement.
    Status extend(Usage usage, Address size, Address& address, bool* zeros = nullptr) noexcept;
    /// Gives back [address, address + size). `fresh`: no commit has made these bytes reachable, so that they can be
    /// used again at once; if they are the last ones of the file, end() moves down. Where sync() is a commit, space
    /// that was allocated at the end of the file since the last one counts as fresh in any case: a long transaction
    /// that copies blocks again and again would otherwise fill the storage.
    void release(Address address, Address size, bool fresh, SpaceKind kind = SpaceKind::metadata) noexcept;
    /// Adds space that the file itself says to be free. false: it overlaps with what is known to be free, and is left
    /// out.
    bool add_free(Address address, Address size, SpaceKind kind) noexcept;
    /// Adds what nothing in the file uses of [address, end), apart from what is known to be free. Returns how many
    /// bytes were lost, and are free now.
    Address add_unused(Address address, Address end) noexcept;
    /// Tells a driver whose sync() is a commit that the next one makes the keeper's own space free, and with it the
    /// pages that this space has in common with what is free beside it. For keepers, which read it no more.
    void tell_own(const FreeExtent& own) noexcept;
    /// What is known to be free.
    SpaceMap& free() noexcept { return free_; }
    /// While on, space that is released waits for two calls of settle() instead of one, because the change that makes
    /// it unreachable (Phase::prepared) is written not by the next commit but by the one after it.
    void hold(bool on) noexcept { held_ = on; }
    /// Call after a commit: pending space becomes usable, with `all` also space that was released under hold(). True
    /// when a driver whose sync() is a commit was told of space: it gives that space up with its next commit.
    bool settle(bool all = true) noexcept;

    /// Keeps room in the storage for `size` bytes that are so far in memory only, wherever they will be written.
    /// no_space: there is none. Call unkeep() before they are written. Only a driver whose sync() is a commit keeps
    /// room, and only in builds with H5MOTE_KEEP_ROOM.
    Status keep(Address size) noexcept { return keep(ranges_ + 1, bytes_ + size); }
    void unkeep(Address size) noexcept { (void)keep(ranges_ - 1, bytes_ - size); }
    /// The same for a new metadata block. unkeep_metadata() gives back the room of all such blocks, before they are
    /// written.
    Status keep_metadata(Address size) noexcept;
    void unkeep_metadata() noexcept;
    /// Gives back the room of one block that was given up before it was written.
    void unkeep_metadata(Address size) noexcept;
    /// Keeps room for all blocks that a small metadata cache of that size can hold, so that the next commit finds room
    /// for blocks that are about to change as well.
    Status keep_cache(Address size) noexcept;

    /// Removals will need room: what else is allocated leaves them 4 KiB of the storage.
    void keep_spare() noexcept { steps_.keep_spare(); }
    /// While there is one of these, room is found in what keep_spare() has kept.
    class Removal {
    public:
        explicit Removal(FileSpace& space) noexcept : space_(space) { space_.steps_.set_removing(true); }
        Removal(const Removal&) = delete;
        Removal& operator=(const Removal&) = delete;
        ~Removal() { space_.steps_.set_removing(false); }

    private:
        FileSpace& space_;
    };

    /// End of the allocated part of the file (H5FD "end of address"); of several ranges, that of the last one.
    Address end() const noexcept {
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            return last_end();
        } else {
            return end_;
        }
    }
    /// Whether the file, or one of its ranges, ends behind the end that is recorded for it; `recorded`: that of the
    /// file.
    bool has_grown(Address recorded) const noexcept {
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            return ends_behind(recorded);
        } else {
            return end_ > recorded;
        }
    }
    /// Whether [address, address + size) lies in the allocated part of the file.
    bool contains(Address address, Address size) const noexcept {
        return ranges() == nullptr ? within(address, size, end_) : ranges()->contains(address, size);
    }
    /// Bytes that the storage has, at least end(). Only allocate() makes it larger. Not for files with ranges.
    Address stored() const noexcept { return stored_; }

private:
    // The largest page of a driver for which tell() makes whole pages of what is released in several parts.
    static constexpr Address kPage = 4096;

    // Of a block of this usage and size, how many of its first bytes lie in one atomic unit.
    Address head_of(Usage usage, Address size) const noexcept {
        return size <= unit_ ? size : usage == Usage::object_header ? kLeastUnit / 2 : 0;
    }
    // The first address at or after `address` where a block of this usage and size may be placed. It can be larger than
    // an Address can express.
    std::uint64_t place(Usage usage, Address address, Address size) const noexcept {
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            const std::uint64_t placed = place_by_rule(usage, address - first(), size);
            return placed < ~std::uint64_t{first()} ? first() + placed : ~std::uint64_t{0};
        } else {
            return place_in_units(usage, address, size);
        }
    }
    // The same in a free extent.
    std::uint64_t place(Usage usage, const FreeExtent& extent, Address size) const noexcept {
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            return place(usage, first_in(extent), size);
        } else {
            return place(usage, extent.address, size);
        }
    }
    // Whether the block finds room in a free extent.
    bool fits(Usage usage, Address size, const FreeExtent& extent) const noexcept {
        if (!is_current(extent.address, limit_)) {
            return false;
        }
        const std::uint64_t placed = place(usage, extent, size);
        bool room = within(placed - extent.address, size, extent.size);
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            room = room && last_page_is_free(placed + size, extent);
        }
        return room;
    }
    // The first of these functions without a rule.
    std::uint64_t place_in_units(Usage usage, Address address, Address size) const noexcept;
    std::uint64_t place_by_rule(Usage usage, Address address, Address size) const noexcept;
    std::uint64_t place_in_page(Usage usage, Address address, Address size) const noexcept;
    std::uint64_t place_aligned(Usage usage, Address address, Address size, Address step) const noexcept;
    bool last_page_is_free(std::uint64_t end, const FreeExtent& extent) const noexcept;
    Address first_in(const FreeExtent& extent) const noexcept;
    std::uint32_t count_together(Address size) const noexcept;
    Address last_end() const noexcept;
    bool ends_behind(Address recorded) const noexcept;
    bool in_one_unit_of_range(std::uint64_t from, std::uint64_t to) const noexcept;
    Status find_space(Usage usage, Address size, Address& address, bool* zeros) noexcept;
    // Adds free space to the map; `extent` becomes the larger one of which it is part then. A usable extent at the end
    // of the file does not go into the map, end() moves down instead: there, blocks of any size find room.
    // false: it has bytes in common with what is known to be free, and is left out, because two structures of a damaged
    // file may name the same space, which is not given out twice.
    bool add(FreeExtent& extent) noexcept;
    void tell(Address address, Address size, const FreeExtent& merged) noexcept;
    Status keep(std::uint32_t ranges, Address bytes) noexcept;
    bool reuse(Usage usage, Address size, Address& address) noexcept;
    static constexpr SpaceKind kind_of(Usage usage) noexcept {
        return usage == Usage::raw_data ? SpaceKind::raw_data : SpaceKind::metadata;
    }
    // Gives back what the block [address, address + size) leaves of `extent`, which is no longer in the map.
    void add_beside(const FreeExtent& extent, Usage usage, Address address, Address size) noexcept;
    void add_to_pages(FreeExtent& extent) noexcept;
    void add_by_page(FreeExtent& extent) noexcept;
    FreeExtent rest_of(SpaceKind kind) noexcept;
    bool take_rest(Usage usage, Address size, Address& address) noexcept;
    Status begin_block(Usage usage, Address size, Address& address, bool* zeros) noexcept;
    void give_back_rests(bool last) noexcept;
    Status fill_last_page() noexcept;
    Status extend_by_pages(Usage usage, Address size, Address& address, bool* zeros) noexcept;
    Status grow_storage(Address end) noexcept;
    Address with_spare(Address end) const noexcept;
    Status grow_in_steps(Address start, Address end, bool* zeros) noexcept;

    SpaceKeeper* keeper_ = nullptr;
    bool waiting_ = false;  // the keeper has not begun
    Driver& driver_;
    bool extends_with_zeros_ = false;
    bool held_ = false;
    std::uint16_t unit_ = kMostUnit;
    bool commits_ = false;  // sync() of the driver is a commit; a release that no sync() follows has no effect
    std::conditional_t<H5MOTE_ALL_FORMATS != 0, CommittedEnd, NoCommittedEnd> committed_;
    std::conditional_t<H5MOTE_ALL_FORMATS != 0, StorageSteps, NoStorageSteps> steps_;
    Address end_ = 0;
    Address limit_ = 0;
    Address stored_ = 0;
    // Bytes and number of the writes for which room is kept in the storage, and how much of both is metadata.
    Address bytes_ = 0;
    Address metadata_bytes_ = 0;
    std::uint32_t ranges_ = 0;
    std::uint32_t metadata_ranges_ = 0;
    SpaceMap free_;
};

/// SpaceRanges::keeps_together() of a file whose usages lie in these ranges.
inline bool keeps_together(const UsageRanges& ranges) noexcept {
    const unsigned range = ranges.map[static_cast<unsigned>(Usage::object_header)];
    return range == ranges.map[static_cast<unsigned>(Usage::btree)] &&
           range == ranges.map[static_cast<unsigned>(Usage::local_heap)] && range < ranges.count &&
           ranges.list[range].start % FileSpace::kMostUnit == 0;
}

}  // namespace h5mote
