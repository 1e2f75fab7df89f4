// H5D (virtual) - a transfer between a buffer and the sources of a virtual dataset, mapping by mapping.
#pragma once

#include "transfer.hpp"
#include "virtual_layout.hpp"

namespace h5mote {

/// Longest chain of virtual datasets of which each is a source of the one before.
constexpr unsigned kMaxVirtualDepth = 4;
/// Most blocks of a mapping that has a source for each of its blocks.
constexpr std::uint64_t kMaxVirtualBlocks = std::uint64_t{1} << 32;

/// A source dataset, open.
class VirtualSource {
public:
    explicit VirtualSource(FileState& file) noexcept : file_(file) {}
    VirtualSource(const VirtualSource&) = delete;
    VirtualSource& operator=(const VirtualSource&) = delete;
    ~VirtualSource() { close(); }

    /// not_found: there is none. A file that was open already is found again rather than opened anew. `writing`: the
    /// source is to be changed.
    Status open(const VirtualMapping& names, bool same_file, unsigned depth, bool writing = false) noexcept;
    void close() noexcept;
    /// Stores what was written to the source: if it is in another file, durably.
    Status commit() noexcept;
    DatasetState& operator*() const noexcept { return *state_; }
    DatasetState* operator->() const noexcept { return state_; }

private:
    FileState& file_;
    FileState* held_ = nullptr;
    DatasetState* state_ = nullptr;
};

/// Whether an error only means that a source does not exist.
inline bool is_missing_source(Status status) noexcept {
    return status == Status::not_found || status == Status::not_hdf5;
}

class VirtualTransfer {
public:
    /// What is done with each piece of the selection that a source has, once the source is open.
    using Piece = Status (*)(VirtualTransfer& transfer);

    VirtualTransfer(DatasetState& dataset, const TransferRequest& request, const Dataspace& space, Piece piece) noexcept
        : dataset_(dataset),
          context_(dataset.file().context),
          request_(request),
          space_(space),
          piece_(piece),
          mappings_(dataset.file()),
          message_(dataset.file(), dataset.address()),
          source_(dataset.file()),
          in_source_(context_),
          in_memory_(context_),
          beyond_(context_),
          counted_(context_),
          block_(context_),
          extent_(context_) {
        counted_.select_none();
    }
    VirtualTransfer(const VirtualTransfer&) = delete;
    VirtualTransfer& operator=(const VirtualTransfer&) = delete;

    Status run() noexcept;
    /// Transfers the piece at hand between its source and the buffer. Elements that the mapping selects beyond the
    /// extent of the source read as the fill value of the source, as libhdf5 reads them.
    H5MOTE_STEP Status transfer_piece() noexcept;
    /// The same for a request that writes, and the source is stored. Values of variable length may go to the heap
    /// collection that has the mappings: no window over it is open meanwhile, which would keep its old content.
    H5MOTE_STEP Status write_piece() noexcept;

    /// Counts the elements of the piece at hand, without those of pieces that were counted before: mappings may
    /// overlap. The memory of the request is the extent itself, or a single element.
    Status count_piece() noexcept;

    VirtualSource& source() noexcept { return source_; }
    /// How many elements were counted.
    std::uint64_t elements() const noexcept { return elements_; }

private:
    H5MOTE_STEP Status take_mapping() noexcept;
    Status take_unlimited() noexcept;
    Status take_blocks() noexcept;
    H5MOTE_STEP Status make_room(std::size_t d) noexcept;
    Status take_piece(const Selection& destination, std::uint64_t block) noexcept;
    /// `missing`: there is no source, which leaves what is there.
    Status open_source(std::uint64_t block, bool& missing) noexcept;
    H5MOTE_STEP Status locate(const Selection& shown) noexcept;
    Status reach_of_source() noexcept;
    H5MOTE_STEP Status part_with_source() noexcept;
    H5MOTE_STEP Status fill_beyond() noexcept;

    DatasetState& dataset_;
    Context& context_;
    const TransferRequest& request_;
    const Dataspace& space_;
    const Piece piece_;
    std::uint64_t wanted_ = 0;  // elements of the request
    std::uint64_t elements_ = 0;
    VirtualLayout mappings_;
    HeaderMessage message_;
    VirtualMapping names_;
    VirtualSource source_;
    SelectionSet in_source_;
    SelectionSet in_memory_;
    SelectionSet beyond_;  // in memory: what the mapping selects beyond the extent of the source
    SelectionSet counted_;
    SelectionSet block_;
    SelectionSet extent_;  // all of the extent, for a request of it that is used with block_space_
    // In which the piece at hand and the request are selected: space_ or block_space_; and the request there.
    const Dataspace* piece_space_ = &space_;
    Selection piece_request_ = request_.selection;
    Dataspace block_space_;  // the extent, enlarged to a block that it has in part
    Dataspace source_space_;
    Dataspace reach_;  // the source's extent, enlarged to all that the mapping selects
    Dataspace memory_space_;
    Selection memory_selection_;
    DatatypeView type_;
    std::uint64_t low_[H5MOTE_MAX_RANK];
    std::uint64_t high_[H5MOTE_MAX_RANK];
    std::uint64_t piece_low_[H5MOTE_MAX_RANK];
    std::uint64_t piece_high_[H5MOTE_MAX_RANK];
};

/// The caller's selections have been checked before. If selections do not fit now, the mappings in the file are wrong:
/// corrupt_file.
Status blame_mappings(DatasetState& dataset, Status status) noexcept;

/// Does `piece` for every piece of a request. The elements that it counts are added to `elements`. A list of points has
/// an order of its own, but mappings are projected in the order of the extent: it is taken point by point.
Status visit_sources(DatasetState& dataset, const TransferRequest& request, const Dataspace& space, PairedRuns& pairs,
                     std::uint32_t memory_size, VirtualTransfer::Piece piece, std::uint64_t& elements) noexcept;

/// What VirtualDataFormat::update_extent does.
Status update_virtual_extent(DatasetState& dataset, unsigned depth) noexcept;
/// Whether `dims` have room for all that mappings of an open virtual dataset select in dimensions that are not
/// unlimited. invalid_argument: they have not; errors of reading the mappings.
Status check_virtual_extent(DatasetState& dataset, const std::uint64_t* dims) noexcept;

}  // namespace h5mote
