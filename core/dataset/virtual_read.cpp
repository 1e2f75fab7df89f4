// H5D (virtual) - transfers through the mappings of a virtual dataset.

#include "checked.hpp"
#include "dataspace_editor.hpp"
#include "place.hpp"
#include "selection_project.hpp"
#include "unlimited.hpp"
#include "virtual_transfer.hpp"

#include <cstring>

namespace h5mote {

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
    if (request_.depth >= kMaxVirtualDepth) {
        return context_.unsupported(Module::dataset, H5MOTE_HERE, Feature::layout_class, request_.depth);
    }
    type_ = request_.type;
    if (request_.stored && type_.empty()) {
        ConstBytes body;
        H5MOTE_TRY(message_.find(MessageType::datatype));
        H5MOTE_TRY(message_.body(body));
        type_ = DatatypeView(body);
    }
    H5MOTE_TRY(request_.selection.element_count(space_, wanted_));
    H5MOTE_TRY(request_.selection.bounds(space_, low_, high_));
    if (request_.memory != nullptr) {
        memory_space_ = *request_.memory;
        memory_selection_ = *request_.memory_selection;
    } else {
        const auto size = [this](unsigned /*d*/) { return wanted_; };
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

// Source and virtual selection are both unlimited: takes as many slices as the extents of both datasets have. In the
// view first_missing all that the virtual dataset has counts as part of the source, as with libhdf5.
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
    const bool clipped = there < shown && dataset_.virtual_view() != VirtualView::first_missing;
    const std::uint64_t slices = clipped ? there : shown;
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
    for (; block < end && block < kMaxVirtualBlocks; ++block) {
        H5MOTE_TRY(unlimited_block(destination, block, block_));
        H5MOTE_TRY(make_room(d));
        H5MOTE_TRY(take_piece(block_, block));
    }
    piece_space_ = &space_;
    piece_request_ = request_.selection;
    return Status::ok;
}

// The extent may end within block_: its elements are those of the source all the same, from the first one on.
Status VirtualTransfer::make_room(std::size_t d) noexcept {
    const Selection block = block_;
    const std::uint64_t end = block.hyperslab().start[d] + block.hyperslab().block[d];
    if (end <= space_.dims()[d]) {
        return Status::ok;
    }
    const auto size = [&](unsigned i) { return i == d ? end : space_.dims()[i]; };
    DataspaceEditor::set(block_space_, false, static_cast<unsigned>(space_.rank()), size, size);
    piece_space_ = &block_space_;
    if (request_.selection.type() == SelectionType::all) {
        H5MOTE_TRY(extent_.select_hyperslab(SelectionOp::set, {{low_, space_.rank()}, {}, space_.dims(), {}}, space_));
        piece_request_ = extent_;
    }
    return Status::ok;
}

Status VirtualTransfer::take_piece(const Selection& destination, std::uint64_t block) noexcept {
    Selection shown = destination;
    const Status bounded = shown.bounds(*piece_space_, piece_low_, piece_high_);
    if (bounded == Status::not_found) {
        return Status::ok;
    }
    H5MOTE_TRY(bounded);
    for (std::size_t d = 0; d < space_.rank(); ++d) {
        if (piece_high_[d] < low_[d] || piece_low_[d] > high_[d]) {
            return Status::ok;
        }
    }
    H5MOTE_TRY(
        project_intersection(piece_request_, *piece_space_, memory_selection_, memory_space_, shown, in_memory_));
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
    H5MOTE_TRY(locate(shown));
    H5MOTE_TRY(in_memory_.view().element_count(memory_space_, count));
    return request_.write && count == 0 ? Status::ok : piece_(*this);
}

// Finds out where in the source the elements of in_memory_ are.
Status VirtualTransfer::locate(const Selection& shown) noexcept {
    beyond_.select_none();
    const Selection source = mappings_.source();
    if (source.type() == SelectionType::all) {
        // The source may have more elements by now than when it was mapped, or fewer. As in libhdf5, it does as long as
        // it has those that are wanted.
        return project_counterparts(shown, *piece_space_, source, source_space_, piece_request_, in_source_);
    }
    H5MOTE_TRY(reach_of_source());
    H5MOTE_TRY(project_intersection(shown, *piece_space_, source, reach_, piece_request_, in_source_));
    return part_with_source();
}

Status VirtualTransfer::reach_of_source() noexcept {
    const Selection source = mappings_.source();
    const auto rank = static_cast<unsigned>(source_space_.rank());
    if (source.rank() != rank) {
        reach_ = source_space_;  // for which a selection of another rank is refused
        return Status::ok;
    }
    DataspaceEditor::set_widest(reach_, rank);
    const Status bounded = source.bounds(reach_, piece_low_, piece_high_);
    if (bounded != Status::ok && bounded != Status::not_found) {
        return bounded;
    }
    const auto size = [&](unsigned d) {
        const std::uint64_t there = source_space_.dims()[d];
        return bounded == Status::ok && piece_high_[d] >= there ? piece_high_[d] + 1 : there;
    };
    DataspaceEditor::set(reach_, false, rank, size, size);
    return Status::ok;
}

// Leaves in in_source_ and in_memory_ what lies in the extent of the source. beyond_ becomes the rest.
Status VirtualTransfer::part_with_source() noexcept {
    H5MOTE_TRY(in_source_.view().bounds(reach_, piece_low_, piece_high_));
    bool all = true;
    for (std::size_t d = 0; d < source_space_.rank(); ++d) {
        all = all && piece_high_[d] < source_space_.dims()[d];
    }
    if (all) {
        return Status::ok;
    }
    SelectionSet part(context_);
    SelectionSet there(context_);
    SelectionSet kept(context_);
    H5MOTE_TRY(part.combine(SelectionOp::set, in_source_, reach_));
    H5MOTE_TRY(part.combine(SelectionOp::not_b, Selection::all(), source_space_));
    H5MOTE_TRY(project_intersection(in_source_, reach_, in_memory_, memory_space_, part, beyond_));
    H5MOTE_TRY(there.combine(SelectionOp::set, in_source_, reach_));
    H5MOTE_TRY(there.combine(SelectionOp::and_, Selection::all(), source_space_));
    H5MOTE_TRY(project_intersection(in_source_, reach_, in_memory_, memory_space_, there, kept));
    in_source_ = static_cast<SelectionSet&&>(there);
    in_memory_ = static_cast<SelectionSet&&>(kept);
    return Status::ok;
}

namespace {

// The fill value of a source, put into the caller's buffer.
class SourceFill {
public:
    explicit SourceFill(DatasetState& source) noexcept : source_(source), values_(source.file()) {}

    // `type`: of the elements in memory; `stored`: which have the form of the file.
    Status prepare(DatatypeView type, bool stored) noexcept;
    Status put(const Selection& selection, const Dataspace& memory, Bytes data) noexcept;

private:
    Status put_run(const std::byte* element, std::uint64_t count, std::byte* to) noexcept;

    DatasetState& source_;
    FileSource values_;
    Conversion conversion_;
    SelectionRuns runs_;
    std::uint32_t memory_size_ = 0;
};

Status SourceFill::prepare(DatatypeView type, bool stored) noexcept {
    FileState& file = source_.file();
    HeaderMessage message(file, source_.address());
    ConstBytes body;
    DatatypeView from;
    H5MOTE_TRY(message.find(MessageType::datatype));
    H5MOTE_TRY(message.body(body));
    H5MOTE_TRY(view_datatype(file.context, body, from));
    memory_size_ = type.size();
    const Status status = stored ? conversion_.prepare_identical(from, type) : Status::type_mismatch;
    if (status != Status::type_mismatch) {
        return status;
    }
    return prepare_conversion(file.context, conversion_, from, type,
                              stored ? FileValues() : values_.values(file, FileValues::Side::from));
}

Status SourceFill::put(const Selection& selection, const Dataspace& memory, Bytes data) noexcept {
    H5MOTE_TRY(runs_.reset(selection, memory));
    Context& context = source_.file().context;
    const std::size_t size = source_.element_size();
    auto* const element = static_cast<std::byte*>(context.allocate(MemoryKind::other, size));
    if (element == nullptr) {
        return Status::out_of_memory;
    }
    Status status = source_.fill(element, 1);
    SelectionRun run{0, 0, 0};
    while (status == Status::ok && runs_.next(run)) {
        status = put_run(element, run.length, data.data() + static_cast<std::size_t>(run.offset) * memory_size_);
    }
    context.release(MemoryKind::other, element, size);
    return status;
}

Status SourceFill::put_run(const std::byte* element, std::uint64_t count, std::byte* to) noexcept {
    // The sequences of the virtual dataset's own fill value are there.
    conversion_.empty(static_cast<std::size_t>(count), to, memory_size_, true);
    if (source_.reads_as_zeros()) {
        std::memset(to, 0, static_cast<std::size_t>(count) * memory_size_);
        return Status::ok;
    }
    Status status = Status::ok;
    for (; count > 0 && status == Status::ok; --count, to += memory_size_) {
        status = conversion_.run(1, element, source_.element_size(), to, memory_size_);
    }
    return status;
}

}  // namespace

Status VirtualTransfer::fill_beyond() noexcept {
    auto* const fill = context_.create<SourceFill>(MemoryKind::other, *source_);
    if (fill == nullptr) {
        return Status::out_of_memory;
    }
    Status status = fill->prepare(type_, request_.stored);
    if (status == Status::ok) {
        status = fill->put(beyond_, memory_space_, request_.data);
    }
    context_.destroy(MemoryKind::other, fill);
    return status;
}

Status VirtualTransfer::transfer_piece() noexcept {
    const Selection in_source = in_source_;
    const Selection in_memory = in_memory_;
    H5MOTE_TRY(transfer(*source_, {in_source, type_, &memory_space_, &in_memory, request_.data, request_.write,
                                   request_.stored, static_cast<std::uint8_t>(request_.depth + 1)}));
    return request_.write || beyond_.type() == SelectionType::none ? Status::ok : fill_beyond();
}

Status VirtualTransfer::count_piece() noexcept {
    std::uint64_t count = 0;
    H5MOTE_TRY(in_memory_.view().element_count(memory_space_, count));
    if (count == wanted_ || elements_ == wanted_) {
        elements_ = wanted_;
        return Status::ok;
    }
    H5MOTE_TRY(counted_.combine(SelectionOp::or_, in_memory_, memory_space_));
    return counted_.view().element_count(memory_space_, elements_);
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

}  // namespace

const VirtualDataFormat formats::virtual_data = {&read_virtual, &update_virtual_extent};

}  // namespace h5mote
