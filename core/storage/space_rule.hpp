// H5MF - how a file places its blocks beyond the rules that keep it safe: strategy, pages, alignment, aggregation.
#pragma once

#include "space_map.hpp"

#include <type_traits>

namespace h5mote {

/// The defaults change nothing.
struct SpaceRule {
    bool reuse = true;  ///< false: space that was released is used again only at the end of the file
    Address page = 0;   ///< bytes of a page; 0: the file has none
    Address alignment = 1;
    Address alignment_threshold = 1;  ///< smaller blocks are not aligned
    Address metadata_block = 0;       ///< bytes by which the file grows at least for metadata ...
    Address small_data_block = 0;     ///< ... and for raw data of less than that
};

/// The rule of a file, and what is left of its aggregation blocks.
class RuledSpace {
protected:
    void use(const SpaceRule& rule) noexcept {
        rule_ = rule;
        rule_.alignment = rule.alignment == 0 ? 1 : rule.alignment;
    }
    bool has_pages() const noexcept { return rule_.page != 0; }
    /// Whether the file is asked to place such a block at a multiple of the alignment.
    bool is_aligned(Address size) const noexcept {
        return rule_.alignment > 1 && size >= rule_.alignment_threshold && !has_pages();
    }
    /// Whether a block of this kind and size comes out of an aggregation block.
    bool is_aggregated(SpaceKind kind, Address size) const noexcept {
        return !has_pages() &&
               (kind == SpaceKind::metadata ? rule_.metadata_block != 0 : size < rule_.small_data_block);
    }
    /// Whether a block of this kind and size should rather go into `extent` than into `best`, the best one so far, if
    /// that is not empty.
    bool prefers(const FreeExtent& extent, const FreeExtent& best, SpaceKind kind, Address size) const noexcept {
        const unsigned rank = rank_of(extent.kind, kind, size);
        const unsigned least = best.size == kUndefinedAddress ? kNever : rank_of(best.kind, kind, size);
        return rank < least || (rank == least && rank != kNever && extent.size < best.size);
    }
    /// Free bytes at the end of an aggregation block.
    struct Rest {
        Address address;
        Address size;
    };
    Rest& rest(SpaceKind kind) noexcept { return rests_[kind == SpaceKind::metadata ? 0 : 1]; }
    void forget_rests() noexcept { rests_[0] = rests_[1] = {0, 0}; }

    SpaceRule rule_;

private:
    static constexpr unsigned kNever = 2;

    // 0: best for a block of this kind and size. In a file with pages, small blocks and large ones share no extents.
    unsigned rank_of(SpaceKind extent, SpaceKind kind, Address size) const noexcept {
        if (has_pages()) {
            return extent == SpaceKind::pages            ? (size < rule_.page ? 1 : 0)
                   : size < rule_.page && extent == kind ? 0
                                                         : kNever;
        }
        return is_aggregated(kind, size) && extent != kind ? 1 : 0;
    }

    Rest rests_[2] = {};  // of metadata, of raw data
};

/// Takes its place in builds whose files place blocks in one way only.
class UnruledSpace {
protected:
    static void use(const SpaceRule& /*rule*/) noexcept {}
    static constexpr bool has_pages() noexcept { return false; }
    static constexpr bool is_aggregated(SpaceKind /*kind*/, Address /*size*/) noexcept { return false; }
    static bool prefers(const FreeExtent& extent, const FreeExtent& best, SpaceKind /*kind*/,
                        Address /*size*/) noexcept {
        return extent.size < best.size;
    }
    static void forget_rests() noexcept {}

    static constexpr SpaceRule rule_{};
};

using RuledOrNot = std::conditional_t<H5MOTE_ALL_FORMATS != 0, RuledSpace, UnruledSpace>;

}  // namespace h5mote
