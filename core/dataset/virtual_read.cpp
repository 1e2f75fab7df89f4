// H5D (virtual) - transfers through the mappings, and the extent of a virtual dataset that follows from them.

#include "checked.hpp"
#include "dataspace_editor.hpp"
#include "place.hpp"
#include "selection_project.hpp"
#include "unlimited.hpp"
#include "virtual_transfer.hpp"

namespace h5mote {
namespace {

// Longest chain of virtual datasets of which each is a source of the one before.
constexpr unsigned kMaxDepth = 4;
// Most blocks of a mapping that has a source for each of its blocks.
constexpr std::uint64_t kMaxBlocks = std::uint64_t{1} << 32;

}  // namespace

void VirtualSource::close() noexcept {
    (void)DatasetState::release(state_);
    state_ = nullptr;
    FileState::release(held_);
    held_ = nullptr;
}

Status VirtualSource::commit() noexcept {
    DatasetState* const state = state_;
    state_ = nullptr;
    H5MOTE_TRY(DatasetState::release(state));
    return held_ != nullptr && held_ != &file_ ? held_->commit() : Status::ok;
}

Status VirtualSource::open(const VirtualMapping& names, bool same_file, unsigned depth, bool writing) noexcept {
    (void)DatasetState::release(state_);
    state_ = nullptr;
    FileState* file = &file_;
    if (same_file) {
        file->retain();
    } else {
        H5MOTE_TRY(file_.open_other(names.file_name(), OpenPurpose::virtual_source, file, writing));
    }
    // Release the file of the previous source only now: if it is the same file, it stays open.
    FileState::release(held_);
    held_ = file;
    Place place(*file, file->root());
    H5MOTE_TRY(place.follow(names.dataset_name()));
    H5MOTE_TRY(DatasetState::open(place.file(), place.header(), state_, depth));
    state_->count_appended();
    return Status::ok;
}

Status blame_mappings(DatasetState& dataset, Status status) noexcept {
    return status == Status::invalid_argument || status == Status::overflow
               ? dataset.file().context.fail(Module::dataset, H5MOTE_HERE, Status::corrupt_file, 0, dataset.address())
               : status;
}

// ---- transfers ------------------------------------------------------------------------------------------------------

Status VirtualTransfer::run() noexcept {
    if (request_.depth >= kMaxDepth) {
        return context_.unsupported(Module::dataset, H5MOTE_HERE, Feature::layout_class, request_.depth);
    }
    type_ = request_.type;
    if (request_.stored && type_.empty()) {
        ConstBytes body;
        H5MOTE_TRY(message_.find(MessageType::datatype));
        H5MOTE_TRY(message_.body(body));
        type_ = DatatypeView(body);
    }
    std::uint64_t count = 0;
    H5MOTE_TRY(request_.selection.element_count(space_, count));
    H5MOTE_TRY(request_.selection.bounds(space_, low_, high_));
    if (request_.memory != nullptr) {
        memory_space_ = *request_.memory;
        memory_selection_ = *request_.memory_selection;
    } else {
        const auto size = [count](unsigned /*d*/) { return count; };
        DataspaceEditor::set(memory_space_, false, 1, size, size);
    }
    H5MOTE_TRY(mappings_.open(dataset_.data_address(), dataset_.mappings_index()));
    Status status;
    while ((status = mappings_.next()) == Status::ok) {
        H5MOTE_TRY(take_mapping());
    }
    return status == Status::not_found ? Status::ok : status;
}

Status VirtualTransfer::open_source(std::uint64_t block, bool& missing) noexcept {
    bool numbered = false;
    H5MOTE_TRY(mappings_.resolve(block, names_, numbered));
    const Status status = source_.open(names_, mappings_.same_file(), request_.depth + 1, request_.write);
    missing = is_missing_source(status);
    if (status == Status::ok) {
        source_->copy_dataspace(source_space_);
    }
    return missing ? Status::ok : status;
}

Status VirtualTransfer::take_mapping() noexcept {
    if (mappings_.destination().unlimited_dimension() < 0) {
        return take_piece(mappings_.destination(), 0);
    }
    return mappings_.source().unlimited_dimension() >= 0 ? take_unlimited() : take_blocks();
}

// Source and virtual selection are both unlimited: takes as many slices as the extents of both datasets have.
Status VirtualTransfer::take_unlimited() noexcept {
    SelectionSet& source = mappings_.source();
    SelectionSet& destination = mappings_.destination();
    const auto to = static_cast<std::size_t>(destination.unlimited_dimension());
    const auto from = static_cast<std::size_t>(source.unlimited_dimension());
    bool missing = false;
    H5MOTE_TRY(open_source(0, missing));
    if (missing) {
        return Status::ok;
    }
    if (from >= source_space_.rank() || to >= space_.rank()) {
        return context_.fail(Module::dataset, H5MOTE_HERE, Status::corrupt_file, 0, dataset_.address());
    }
    const std::uint64_t there = slices_below(source, source_space_.dims()[from]);
    const std::uint64_t shown = slices_below(destination, space_.dims()[to]);
    const std::uint64_t slices = there < shown ? there : shown;
    const std::uint64_t source_size = clip_extent(source, slices, false);
    const std::uint64_t destination_size = clip_extent(destination, slices, false);
    H5MOTE_TRY(source.clip_unlimited(source_size));
    H5MOTE_TRY(destination.clip_unlimited(destination_size));
    return take_piece(destination, 0);
}

// Takes a mapping that has a source for each block of the virtual selection.
Status VirtualTransfer::take_blocks() noexcept {
    const Selection destination = mappings_.destination();
    const auto d = static_cast<std::size_t>(mappings_.destination().unlimited_dimension());
    if (d >= space_.rank()) {
        return context_.fail(Module::dataset, H5MOTE_HERE, Status::corrupt_file, 0, dataset_.address());
    }
    bool partial = false;
    std::uint64_t block = first_incomplete_block(destination, low_[d], partial);
    std::uint64_t end = first_incomplete_block(destination, high_[d] + 1, partial);
    end += partial ? 1 : 0;
    for (; block < end && block < kMaxBlocks; ++block) {
        H5MOTE_TRY(unlimited_block(destination, block, block_));
        H5MOTE_TRY(take_piece(block_, block));
    }
    return Status::ok;
}

Status VirtualTransfer::take_piece(const Selection& destination, std::uint64_t block) noexcept {
    Selection shown = destination;
    const Status bounded = shown.bounds(space_, piece_low_, piece_high_);
    if (bounded == Status::not_found) {
        return Status::ok;
    }
    H5MOTE_TRY(bounded);
    for (std::size_t d = 0; d < space_.rank(); ++d) {
        if (piece_high_[d] < low_[d] || piece_low_[d] > high_[d]) {
            return Status::ok;
        }
    }
    H5MOTE_TRY(project_intersection(request_.selection, space_, memory_selection_, memory_space_, shown, in_memory_));
    std::uint64_t count = 0;
    H5MOTE_TRY(in_memory_.view().element_count(memory_space_, count));
    if (count == 0) {
        return Status::ok;
    }
    bool missing = false;
    H5MOTE_TRY(open_source(block, missing));
    if (missing) {
        return Status::ok;
    }
    H5MOTE_TRY(project_intersection(shown, space_, mappings_.source(), source_space_, request_.selection, in_source_));
    elements_ += count;
    return piece_(*this);
}

Status VirtualTransfer::transfer_piece() noexcept {
    const Selection in_source = in_source_;
    const Selection in_memory = in_memory_;
    return transfer(*source_, {in_source, type_, &memory_space_, &in_memory, request_.data, request_.write,
                               request_.stored, static_cast<std::uint8_t>(request_.depth + 1)});
}

namespace {

Status visit_boxes(DatasetState& dataset, const TransferRequest& request, const Dataspace& space,
                   VirtualTransfer::Piece piece, std::uint64_t& elements) noexcept {
    Context& context = dataset.file().context;
    auto* const work = context.create<VirtualTransfer>(MemoryKind::other, dataset, request, space, piece);
    if (work == nullptr) {
        return Status::out_of_memory;
    }
    const Status status = work->run();
    elements += work->elements();
    context.destroy(MemoryKind::other, work);
    return blame_mappings(dataset, status);
}

Status visit_points(DatasetState& dataset, const TransferRequest& request, const Dataspace& space, PairedRuns& pairs,
                    std::uint32_t memory_size, VirtualTransfer::Piece piece, std::uint64_t& elements) noexcept {
    Context& context = dataset.file().context;
    const Selection& points = request.selection;
    const std::size_t rank = points.rank();
    const std::size_t size = 2 * rank * sizeof(std::uint64_t);
    auto* const at = static_cast<std::uint64_t*>(context.allocate(MemoryKind::other, size));
    if (at == nullptr) {
        return Status::out_of_memory;
    }
    const Selection point = Selection::hyperslab({at, rank}, {at + rank, rank});
    TransferRequest one{point, request.type, nullptr, nullptr, {}, request.write, request.stored, request.depth};
    Status status = Status::ok;
    for (std::size_t i = 0; i < points.point_count() && status == Status::ok; ++i) {
        for (std::size_t d = 0; d < rank; ++d) {
            at[d] = points.point_list()[i * rank + d] + points.offset(d);
            at[rank + d] = 1;
        }
        PairedRun run;
        pairs.take({0, i, 1});
        if (pairs.next(run)) {
            one.data = {request.data.data() + static_cast<std::size_t>(run.memory * memory_size), memory_size};
            status = visit_boxes(dataset, one, space, piece, elements);
        }
    }
    context.release(MemoryKind::other, at, size);
    return status;
}

}  // namespace

Status visit_sources(DatasetState& dataset, const TransferRequest& request, const Dataspace& space, PairedRuns& pairs,
                     std::uint32_t memory_size, VirtualTransfer::Piece piece, std::uint64_t& elements) noexcept {
    elements = 0;
    return request.selection.type() == SelectionType::points
               ? visit_points(dataset, request, space, pairs, memory_size, piece, elements)
               : visit_boxes(dataset, request, space, piece, elements);
}

namespace {

Status read_virtual(DatasetState& dataset, const TransferRequest& request, const Dataspace& space, PairedRuns& pairs,
                    std::uint32_t memory_size) noexcept {
    std::uint64_t elements = 0;
    return visit_sources(
        dataset, request, space, pairs, memory_size, [](VirtualTransfer& piece) { return piece.transfer_piece(); },
        elements);
}

// ---- the extent --------------------------------------------------------------------------------------------------

class VirtualExtent {
public:
    VirtualExtent(DatasetState& dataset, unsigned depth) noexcept
        : dataset_(dataset), mappings_(dataset.file()), source_(dataset.file()), depth_(depth) {}

    Status run() noexcept;
    // Whether `dims` have room for what is selected in limited dimensions.
    Status check(const std::uint64_t* dims) noexcept;

private:
    void make_widest() noexcept;
    Status limits() noexcept;
    Status unlimited_size(std::uint64_t& size) noexcept;
    Status blocks_size(std::uint64_t& size) noexcept;

    DatasetState& dataset_;
    VirtualLayout mappings_;
    VirtualMapping names_;
    VirtualSource source_;
    unsigned depth_;
    Dataspace widest_;
    std::uint64_t least_[H5MOTE_MAX_RANK] = {};  // sizes that limited selections need
    std::uint64_t size_[H5MOTE_MAX_RANK];        // sizes from unlimited selections; kUnlimited: there are none
    std::uint64_t low_[H5MOTE_MAX_RANK];
    std::uint64_t high_[H5MOTE_MAX_RANK];
};

// Raises least_ to what a mapping needs in the dimensions in which its virtual selection is limited.
Status VirtualExtent::limits() noexcept {
    SelectionSet& destination = mappings_.destination();
    const int unlimited = destination.unlimited_dimension();
    if (destination.type() == SelectionType::all || destination.type() == SelectionType::none) {
        return Status::ok;
    }
    if (destination.rank() != dataset_.rank()) {
        return dataset_.file().context.fail(Module::dataset, H5MOTE_HERE, Status::corrupt_file, 0, dataset_.address());
    }
    SelectionSet clipped(dataset_.file().context);
    H5MOTE_TRY(clipped.combine(SelectionOp::set, destination, widest_));
    if (unlimited >= 0) {
        const Selection whole = destination.view();
        H5MOTE_TRY(clipped.clip_unlimited(whole.hyperslab().start[static_cast<std::size_t>(unlimited)] + 1));
    }
    const Status status = clipped.view().bounds(widest_, low_, high_);
    for (unsigned d = 0; status == Status::ok && d < dataset_.rank(); ++d) {
        if (static_cast<int>(d) != unlimited && high_[d] >= least_[d]) {
            least_[d] = high_[d] + 1;
        }
    }
    return status == Status::not_found ? Status::ok : status;
}

Status VirtualExtent::unlimited_size(std::uint64_t& size) noexcept {
    bool numbered = false;
    H5MOTE_TRY(mappings_.resolve(0, names_, numbered));
    H5MOTE_TRY(source_.open(names_, mappings_.same_file(), depth_ + 1));
    const auto from = static_cast<std::size_t>(mappings_.source().unlimited_dimension());
    if (from >= source_->rank()) {
        return dataset_.file().context.fail(Module::dataset, H5MOTE_HERE, Status::corrupt_file, 0, dataset_.address());
    }
    const std::uint64_t slices = slices_below(mappings_.source(), source_->dims()[from]);
    size = clip_extent(mappings_.destination(), slices, dataset_.virtual_view() == VirtualView::first_missing);
    return Status::ok;
}

// The size that a mapping with a source for each block needs. Looks for the sources in turn, until more than `gap` are
// missing in a row. The extent ends with the last block found or, in the view first_missing, before the first one
// missing.
Status VirtualExtent::blocks_size(std::uint64_t& size) noexcept {
    const bool first_missing = dataset_.virtual_view() == VirtualView::first_missing;
    const std::uint64_t gap = first_missing ? 0 : dataset_.virtual_gap();
    std::uint64_t blocks = 0;
    for (std::uint64_t block = 0; block - blocks <= gap && block < kMaxBlocks; ++block) {
        bool numbered = false;
        H5MOTE_TRY(mappings_.resolve(block, names_, numbered));
        if (!numbered) {
            return dataset_.file().context.fail(Module::dataset, H5MOTE_HERE, Status::corrupt_file, 0,
                                                dataset_.address());
        }
        const Status status = source_.open(names_, mappings_.same_file(), depth_ + 1);
        if (status == Status::ok) {
            blocks = block + 1;
        } else if (!is_missing_source(status)) {
            return status;
        }
    }
    size = 0;
    if (blocks == 0) {
        return Status::ok;
    }
    SelectionSet block(dataset_.file().context);
    const auto d = static_cast<std::size_t>(mappings_.destination().unlimited_dimension());
    H5MOTE_TRY(unlimited_block(mappings_.destination(), first_missing ? blocks : blocks - 1, block));
    H5MOTE_TRY(block.view().bounds(widest_, low_, high_));
    size = first_missing ? low_[d] : high_[d] + 1;
    return Status::ok;
}

void VirtualExtent::make_widest() noexcept {
    const auto size = [](unsigned) { return kUnlimited >> 1; };
    DataspaceEditor::set(widest_, false, dataset_.rank(), size, size);
}

Status VirtualExtent::check(const std::uint64_t* dims) noexcept {
    make_widest();
    H5MOTE_TRY(mappings_.open(dataset_.data_address(), dataset_.mappings_index()));
    Status status;
    while ((status = mappings_.next()) == Status::ok) {
        H5MOTE_TRY(limits());
    }
    for (unsigned d = 0; status == Status::not_found && d < dataset_.rank(); ++d) {
        if (dims[d] < least_[d]) {
            return dataset_.file().context.fail(Module::dataset, H5MOTE_HERE, Status::invalid_argument, d, least_[d]);
        }
    }
    return status == Status::not_found ? Status::ok : status;
}

Status VirtualExtent::run() noexcept {
    const unsigned rank = dataset_.rank();
    for (unsigned d = 0; d < rank; ++d) {
        size_[d] = kUnlimited;
    }
    make_widest();
    H5MOTE_TRY(mappings_.open(dataset_.data_address(), dataset_.mappings_index()));
    Status status;
    while ((status = mappings_.next()) == Status::ok) {
        H5MOTE_TRY(limits());
        const int unlimited = mappings_.destination().unlimited_dimension();
        if (unlimited < 0) {
            continue;
        }
        std::uint64_t size = 0;
        status = mappings_.source().unlimited_dimension() >= 0 ? unlimited_size(size) : blocks_size(size);
        if (status == Status::unsupported && !mappings_.same_file() && dataset_.file().opener() == nullptr) {
            // Without an opener the file of this source cannot be opened: keep the size that this file has recorded.
            size = dataset_.dims()[unlimited];
        } else if (status != Status::ok && !is_missing_source(status)) {
            return status;
        }
        std::uint64_t& here = size_[unlimited];
        const bool smaller = dataset_.virtual_view() == VirtualView::first_missing;
        here = here == kUnlimited || (smaller ? size < here : size > here) ? size : here;
    }
    if (status != Status::not_found) {
        return status;
    }
    std::uint64_t bytes = dataset_.element_size();
    bool sound = true;
    for (unsigned d = 0; d < rank; ++d) {
        std::uint64_t& size = size_[d];
        size = size == kUnlimited ? dataset_.dims()[d] : size < least_[d] ? least_[d] : size;
        size = size > dataset_.max_dims()[d] ? dataset_.max_dims()[d] : size;
        sound = sound && checked_multiply(bytes, size, bytes);
    }
    if (!sound) {
        return Status::overflow;
    }
    for (unsigned d = 0; d < rank; ++d) {
        dataset_.dims()[d] = size_[d];
    }
    return Status::ok;
}

template <typename Step>
Status with_extent(DatasetState& dataset, unsigned depth, Step step) noexcept {
    Context& context = dataset.file().context;
    auto* const work = context.create<VirtualExtent>(MemoryKind::other, dataset, depth);
    if (work == nullptr) {
        return Status::out_of_memory;
    }
    const Status status = step(*work);
    context.destroy(MemoryKind::other, work);
    return status;
}

Status update_virtual_extent(DatasetState& dataset, unsigned depth) noexcept {
    if (depth >= kMaxDepth) {
        return dataset.file().context.unsupported(Module::dataset, H5MOTE_HERE, Feature::layout_class, depth);
    }
    return blame_mappings(dataset, with_extent(dataset, depth, [](VirtualExtent& extent) { return extent.run(); }));
}

}  // namespace

Status check_virtual_extent(DatasetState& dataset, const std::uint64_t* dims) noexcept {
    return with_extent(dataset, 0, [dims](VirtualExtent& extent) { return extent.check(dims); });
}

const VirtualDataFormat formats::virtual_data = {&read_virtual, &update_virtual_extent};

}  // namespace h5mote
