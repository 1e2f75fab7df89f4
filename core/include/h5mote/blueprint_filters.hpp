// H5Z H5D - the datasets of a blueprint whose chunks go through filters: filter pipeline, layout and chunk index.
//
// The index is a version 1 B-tree (specification III.A.1), whose nodes are made to fit into a sector. The superblock
// extension says how large they are.
#pragma once

#include <h5mote/blueprint_parts.hpp>

namespace h5mote::blueprint::detail {

/// Writes what a Composer's datasets with filters have in place of others' chunk index.
template <typename Composer>
class FilterWriter {
public:
    constexpr explicit FilterWriter(Composer& to) noexcept : to_(to) {}

    /// The nodes of groups, which a file of a blueprint has none of, are of the usual sizes.
    constexpr void superblock_extension() noexcept {
        to_.begin();
        to_.header_head(2);
        to_.message(0x13, 7);
        to_.uint(1, 0);
        to_.uint(2, ChunkTreeParameters::most_children(to_.width_) / 2);
        to_.uint(2, 16);
        to_.uint(2, 4);
        to_.end_header(true);
    }

    /// The root of a B-tree without chunks. It stays where it is, however high the tree grows.
    constexpr void tree_root() noexcept {
        const unsigned width = to_.width_;
        to_.begin();
        to_.text("TREE", 4);
        to_.uint(1, 1);
        to_.is_changing_ = true;
        to_.uint(1, 0);
        to_.uint(2, 0);
        to_.address(Composer::kUndefined);
        to_.address(Composer::kUndefined);
        to_.uint(ChunkTreeParameters::node_size(width) - ChunkTreeParameters::prefix(width), 0);
        to_.is_changing_ = false;
        to_.close(0);
    }

    constexpr void layout(const ObjectPart& part, std::uint32_t root) noexcept {
        to_.message(8, 3 + to_.width_ + 8);
        to_.uint(1, 3);
        to_.uint(1, 2);
        to_.uint(1, 2);
        to_.address(to_.blocks_[root].address);
        to_.uint(4, part.chunk);
        to_.uint(4, part.row);
    }

    constexpr void pipeline(const RecordedFilters& filters) noexcept {
        std::size_t length = 2;
        for (std::size_t i = 0; i < filters.count; ++i) {
            const FilterSpec& spec = filters.specs[i];
            length += 6U + (is_named(spec) ? 2U : 0U) + 4U * spec.value_count;
            if (spec.id == FilterId::deflate && spec.values[0] > 9) {
                to_.fault_ = Fault::filter_level;
            }
        }
        to_.message(0xb, length, 1);
        to_.uint(1, 2);
        to_.uint(1, filters.count);
        for (std::size_t i = 0; i < filters.count; ++i) {
            const FilterSpec& spec = filters.specs[i];
            to_.uint(2, static_cast<unsigned>(spec.id));
            if (is_named(spec)) {
                to_.uint(2, 0);  // bytes of the name: the number tells which filter it is
            }
            to_.uint(2, spec.optional ? 1 : 0);
            to_.uint(2, spec.value_count);
            for (std::size_t k = 0; k < spec.value_count; ++k) {
                to_.uint(4, spec.values[k]);
            }
        }
    }

private:
    static constexpr bool is_named(const FilterSpec& spec) noexcept { return static_cast<unsigned>(spec.id) >= 256; }

    Composer& to_;
};

}  // namespace h5mote::blueprint::detail
