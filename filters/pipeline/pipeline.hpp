// H5Z - the filter pipeline: a chunk on its way through all filters of a dataset, in memory lent by the caller.
//
// Encoding goes chunk -> buffer A -> buffer B -> A ..., the chunk itself stays as it is. Decoding uses the chunk as one
// of the two buffers and ends in it, so that a single buffer of work memory is enough where no stage grows beyond the
// chunk. Filters that work in place save a step. Work memory holds the state of the neediest filter, then the buffers.
#pragma once

#include <h5mote/filter.hpp>

#include <cstddef>
#include <cstdint>

namespace h5mote {

/// One stage: what the dataset asks for, and the filter that does it; nullptr when this program has none of that id.
struct FilterEntry {
    FilterSpec spec;
    const Filter* filter = nullptr;
};

/// A view over the stages of one dataset, in the order in which a chunk is written. Allocates nothing, keeps nothing.
class FilterPipeline {
public:
    /// The entries are borrowed and outlive the view; at most 32, the filter mask has no more bits.
    explicit FilterPipeline(Span<FilterEntry> entries) noexcept : entries_(entries) {}

    bool empty() const noexcept { return entries_.empty(); }
    /// Filter mask of a chunk that passed no filter at all.
    std::uint32_t skip_all() const noexcept;

    /// Whether chunks can be encoded (H5Z_can_apply): unsupported, or what the filter said, where one that is not
    /// optional is missing or cannot. `failed` names it.
    Status can_encode(const FilterTarget& target, FilterId& failed) const noexcept;
    /// The same at dataset creation, and completes the client data (H5Z_set_local). Those of more than
    /// FilterSpec::kMaxValues numbers are written to target.client_data and borrowed from there. over_budget: it has
    /// less than `need` bytes; the call can be repeated.
    Status prepare(FilterTarget target, FilterId& failed, std::size_t& need) noexcept;

    /// Bytes of work memory, aligned to 8, with which any chunk of `chunk_bytes` can be encoded, or decoded again when
    /// it was encoded by this library. SIZE_MAX when the machine cannot express it.
    std::size_t scratch_need(std::size_t chunk_bytes, bool encode) const noexcept;
    /// The same for decoding one chunk as its index describes it. Larger than scratch_need() only when another writer
    /// kept a "compressed" chunk that had grown.
    std::size_t decode_need(std::size_t chunk_bytes, std::size_t stored_bytes,
                            std::uint32_t filter_mask) const noexcept;

    /// Passes `chunk` through all filters. `result` lies in `work`, or is `chunk` when every filter was skipped; bit i
    /// of `filter_mask` says that filter i was. An optional filter that is missing, does not shrink the bytes or cannot
    /// process them is skipped; a mandatory one fails the call: unsupported when missing, else no_space or
    /// invalid_argument. over_budget: `work` is smaller than scratch_need(). `failed` names the filter of any failure.
    Status encode(ConstBytes chunk, Bytes work, ConstBytes& result, std::uint32_t& filter_mask,
                  FilterId& failed) const noexcept;

    /// The place to which the caller reads the stored bytes, so that decode() finds them without a copy: a part of
    /// `work`, or of `chunk`. If no filter is to be undone it is all of `chunk`, even if more bytes are stored.
    /// over_budget: `work` is smaller than decode_need(). corrupt_file: the size cannot be right.
    Status stored_place(std::size_t stored_bytes, std::uint32_t filter_mask, Bytes chunk, Bytes work,
                        Bytes& place) const noexcept;
    /// Undoes all filters but those in `filter_mask`, in reverse order, into `chunk`. `stored` and the other arguments
    /// are as stored_place() had them. unsupported: a filter is missing. corrupt_file: the bytes are damaged or the
    /// result is not exactly the chunk, whose bytes are then undefined. `failed` names the filter of any failure.
    Status decode(Bytes stored, std::uint32_t filter_mask, Bytes chunk, Bytes work, FilterId& failed) const noexcept;

private:
    // How work memory is divided: state of filters, then one or two buffers; sizes are rounded up to 8.
    struct Plan {
        std::size_t state = 0;
        std::size_t first = 0;
        std::size_t second = 0;
        std::uint32_t in_second = 0;  // decoding: bit i: the input of stage i is in the second buffer or the chunk

        std::size_t total() const noexcept;
    };
    Plan any_plan(std::size_t chunk_bytes, bool encode) const noexcept;
    Plan decode_plan(std::size_t chunk_bytes, std::size_t stored_bytes, std::uint32_t filter_mask) const noexcept;
    Status locate(const Plan& plan, std::uint32_t run, std::size_t stored_bytes, Bytes chunk, Bytes work,
                  Bytes& place) const noexcept;
    std::uint32_t active(std::uint32_t filter_mask) const noexcept { return skip_all() & ~filter_mask; }

    Span<FilterEntry> entries_;
};

}  // namespace h5mote
