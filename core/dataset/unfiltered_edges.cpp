#include "unfiltered_edges.hpp"

#include "checked.hpp"
#include "dataset_state.hpp"

#include <cstring>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {

/// The rules that keep a power cut from losing chunks. A test build leaves one of them out (H5MOTE_TEST_OMIT).
enum class EdgeRule {
    none,
    unfiltered_first,  // a chunk that is at the edge of one extent only can be read with both before the extent changes
    extent_first,      // the extent is on the storage before a chunk that was at its edge is filtered
};

constexpr bool keep(EdgeRule rule) noexcept { return rule != EdgeRule::H5MOTE_TEST_OMIT; }

class UnfilteredEdges {
public:
    explicit UnfilteredEdges(DatasetState& dataset) noexcept : dataset_(dataset) {}

    Status begin() noexcept;
    void end() noexcept;
    bool skips(const ChunkKey& key, std::uint32_t& mask) noexcept;
    Status adapt(const std::uint64_t* wanted) noexcept;
    Status store() noexcept;
    Status filter() noexcept;

private:
    // A walk over the chunks of the file. In memory, because it is too large for a small stack.
    struct Walk {
        ChunkLookup lookup;
        ChunkCursor cursor;
        std::uint64_t scaled[H5MOTE_MAX_RANK];
    };

    std::size_t bytes() const noexcept { return 3 * dataset_.rank() * sizeof(std::uint64_t); }
    std::uint64_t* stored() const noexcept { return dataset_.edge_numbers_; }
    std::uint64_t* before() const noexcept { return stored() + dataset_.rank(); }
    std::uint64_t* scratch() const noexcept { return before() + dataset_.rank(); }
    std::uint32_t all_filters() const noexcept { return dataset_.all_filters(); }
    bool is_unfiltered(const ChunkLocation& location) const noexcept {
        return location.mask == all_filters() && location.size == dataset_.chunk_bytes();
    }

    bool reaches_into(const std::uint64_t* scaled, const std::uint64_t* dims) const noexcept;
    bool is_edge(const std::uint64_t* scaled, const std::uint64_t* dims) const noexcept {
        return dataset_.reaches_beyond(scaled, dims);
    }
    bool is_filled(const std::uint64_t* from, const std::uint64_t* to) const noexcept;
    template <typename Visit>
    Status walk(const std::uint64_t* from, const std::uint64_t* to, Visit visit) noexcept;
    Status adapt_chunk(const std::uint64_t* scaled, const ChunkLocation& location,
                       const std::uint64_t* wanted) noexcept;
    Status settle_chunk(const std::uint64_t* scaled, const ChunkLocation& location) noexcept;
    Status store_anew(const ChunkKey& key) noexcept;
    Status set_mask(const ChunkKey& key, const ChunkLocation& location, std::uint32_t mask) noexcept;

    DatasetState& dataset_;
};

Status UnfilteredEdges::begin() noexcept {
    if (dataset_.has_edge_numbers()) {
        return Status::ok;
    }
    Context& context = dataset_.file().context;
    dataset_.edge_numbers_ = static_cast<std::uint64_t*>(context.allocate(MemoryKind::handle, bytes()));
    if (!dataset_.has_edge_numbers()) {
        return Status::out_of_memory;
    }
    const std::size_t size = bytes() / 3;
    std::memcpy(stored(), dataset_.dims(), size);
    std::memcpy(before(), dataset_.dims(), size);
    return Status::ok;
}

void UnfilteredEdges::end() noexcept {
    dataset_.file().context.release(MemoryKind::handle, dataset_.edge_numbers_, bytes());
}

// Whether the chunk has elements within `dims`.
bool UnfilteredEdges::reaches_into(const std::uint64_t* scaled, const std::uint64_t* dims) const noexcept {
    bool within = true;
    for (unsigned i = 0; i < dataset_.rank(); ++i) {
        within = within && scaled[i] * dataset_.chunk_dims()[i] < dims[i];
    }
    return within;
}

// Whether chunks that are at the edge of `from` may be whole in `to`.
bool UnfilteredEdges::is_filled(const std::uint64_t* from, const std::uint64_t* to) const noexcept {
    bool filled = false;
    for (unsigned i = 0; i < dataset_.rank(); ++i) {
        std::uint64_t rest = 0;
        const std::uint64_t whole = divide(from[i], dataset_.chunk_dims()[i], rest);
        filled = filled || (rest != 0 && quotient_of(to[i], dataset_.chunk_dims()[i]) > whole);
    }
    return filled;
}

bool UnfilteredEdges::skips(const ChunkKey& key, std::uint32_t& mask) noexcept {
    const std::uint64_t* const scaled = scratch();
    dataset_.coordinates_of(key, scratch());
    const bool was_edge = reaches_into(scaled, stored()) && is_edge(scaled, stored());
    const bool was_whole = reaches_into(scaled, stored()) && !was_edge;
    const bool edge = !reaches_into(scaled, dataset_.dims()) || is_edge(scaled, dataset_.dims());
    mask = edge && !was_whole && !dataset_.edges_unsure_ ? 0 : all_filters();
    return edge || dataset_.edges_unsure_ || (was_edge && keep(EdgeRule::unfiltered_first));
}

// Visits the chunks of the file that may be at the edge of `from` or of `to`.
template <typename Visit>
Status UnfilteredEdges::walk(const std::uint64_t* from, const std::uint64_t* to, Visit visit) noexcept {
    ChunkTable& table = dataset_.table();
    Context& context = dataset_.file().context;
    auto* const walk = context.create<Walk>(MemoryKind::other);
    if (walk == nullptr) {
        return Status::out_of_memory;
    }
    if (!table.by_coordinates()) {
        const ChunkNumber first = dataset_.first_beyond(from);
        const ChunkNumber other = dataset_.first_beyond(to);
        walk->cursor.next = first < other ? first : other;
    }
    Status status = Status::ok;
    while (status == Status::ok) {
        ChunkNumber number = 0;
        ChunkLocation location;
        status = table.next(walk->lookup, walk->cursor, number, walk->scaled, location);
        if (status == Status::ok) {
            if (!table.by_coordinates()) {
                dataset_.scaled_of(number, walk->scaled);
            }
            status = visit(walk->scaled, location);
        }
    }
    context.destroy(MemoryKind::other, walk);
    return status == Status::not_found ? Status::ok : status;
}

// Writes a chunk of the file once more, in the form that skips() asks for.
Status UnfilteredEdges::store_anew(const ChunkKey& key) noexcept {
    ChunkSlot* slot = nullptr;
    H5MOTE_TRY(dataset_.chunk(key, false, slot));
    slot->touch(0, slot->size);
    const Status status = dataset_.write_back(*slot);
    if (status != Status::ok) {
        // The file has the same elements, so that nothing is lost with the slot.
        dataset_.evicted(*slot);
        dataset_.file().chunks.drop(*slot);
    }
    return status;
}

Status UnfilteredEdges::adapt_chunk(const std::uint64_t* scaled, const ChunkLocation& location,
                                    const std::uint64_t* wanted) noexcept {
    const std::uint64_t* const dims = dataset_.dims();
    if (!reaches_into(scaled, dims) || !reaches_into(scaled, wanted) ||
        is_edge(scaled, dims) == is_edge(scaled, wanted) || is_unfiltered(location)) {
        return Status::ok;
    }
    const ChunkKey key = dataset_.key_of(scaled);
    if (!is_edge(scaled, dims)) {
        dataset_.edges_unsure_ = true;
        const Status status = store_anew(key);
        dataset_.edges_unsure_ = false;
        return status;
    }
    return set_mask(key, location, all_filters());
}

// The bytes of the chunk stay where they are.
Status UnfilteredEdges::set_mask(const ChunkKey& key, const ChunkLocation& location, std::uint32_t mask) noexcept {
    ChunkLocation masked = location;
    masked.size = dataset_.chunk_bytes();
    masked.mask = mask;
    H5MOTE_TRY(dataset_.table().make_place(key, Phase::element));
    return dataset_.table().set(key, masked, 0, 1, Phase::element);
}

Status UnfilteredEdges::adapt(const std::uint64_t* wanted) noexcept {
    H5MOTE_TRY(dataset_.store_chunks());
    if (dataset_.edges_unsure_ || is_filled(dataset_.dims(), wanted)) {
        // If the extent becomes what it was again, because rows could not be written, then what is at its edge on the
        // storage has to be at its edge now.
        H5MOTE_TRY(store());
        H5MOTE_TRY(filter());
    }
    return keep(EdgeRule::unfiltered_first)
               ? walk(dataset_.dims(), wanted,
                      [this, wanted](const std::uint64_t* scaled, const ChunkLocation& location) {
                          return adapt_chunk(scaled, location, wanted);
                      })
               : Status::ok;
}

Status UnfilteredEdges::store() noexcept {
    if (!dataset_.dims_changed_ && !dataset_.edges_unsure_) {
        return Status::ok;
    }
    dataset_.edges_mixed_ = dataset_.edges_mixed_ || dataset_.edges_unsure_;
    dataset_.dims_changed_ = dataset_.edges_unsure_ = true;
    H5MOTE_TRY(dataset_.store_dims());
    H5MOTE_TRY(keep(EdgeRule::extent_first) ? dataset_.file().order() : Status::ok);
    const std::size_t size = bytes() / 3;
    std::memcpy(before(), stored(), size);
    std::memcpy(stored(), dataset_.dims(), size);
    dataset_.edges_unsure_ = false;
    return Status::ok;
}

Status UnfilteredEdges::settle_chunk(const std::uint64_t* scaled, const ChunkLocation& location) noexcept {
    const bool was_edge = reaches_into(scaled, before()) && is_edge(scaled, before());
    if (!reaches_into(scaled, stored()) || !is_unfiltered(location)) {
        return Status::ok;
    }
    const ChunkKey key = dataset_.key_of(scaled);
    if (is_edge(scaled, stored())) {
        return set_mask(key, location, 0);
    }
    return was_edge || dataset_.edges_mixed_ ? store_anew(key) : Status::ok;
}

Status UnfilteredEdges::filter() noexcept {
    if (!is_filled(before(), stored()) && !is_filled(stored(), before()) && !dataset_.edges_mixed_) {
        return Status::ok;
    }
    if (dataset_.edges_mixed_) {
        std::memset(before(), 0, bytes() / 3);  // the walk begins with the first chunk
    }
    const Status status = walk(before(), stored(), [this](const std::uint64_t* scaled, const ChunkLocation& location) {
        return settle_chunk(scaled, location);
    });
    if (status != Status::ok && status != Status::no_space && status != Status::over_budget) {
        return status;
    }
    std::memcpy(before(), stored(), bytes() / 3);
    dataset_.edges_mixed_ = false;
    return Status::ok;
}

const UnfilteredEdgesFormat formats::unfiltered_edges = {
    [](DatasetState& dataset) { return UnfilteredEdges(dataset).begin(); },
    [](DatasetState& dataset) { UnfilteredEdges(dataset).end(); },
    [](DatasetState& dataset, const ChunkKey& key, std::uint32_t& mask) {
        return UnfilteredEdges(dataset).skips(key, mask);
    },
    [](DatasetState& dataset, const std::uint64_t* wanted) { return UnfilteredEdges(dataset).adapt(wanted); },
    [](DatasetState& dataset) { return UnfilteredEdges(dataset).store(); },
    [](DatasetState& dataset) { return UnfilteredEdges(dataset).filter(); }};

}  // namespace h5mote

#endif
