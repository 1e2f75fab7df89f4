// H5D (virtual) - the extent of a virtual dataset, which follows from its sources where mappings are unlimited.

#include "checked.hpp"
#include "dataspace_editor.hpp"
#include "unlimited.hpp"
#include "virtual_transfer.hpp"

namespace h5mote {
namespace {

class VirtualExtent {
public:
    VirtualExtent(DatasetState& dataset, unsigned depth) noexcept
        : dataset_(dataset), mappings_(dataset.file()), source_(dataset.file()), depth_(depth) {}

    Status run() noexcept;
    // Whether `dims` have room for what is selected in limited dimensions.
    Status check(const std::uint64_t* dims) noexcept;

private:
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
    const std::uint64_t slices = slices_shown(mappings_.source(), source_->dims()[from]);
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
    for (std::uint64_t block = 0; block - blocks <= gap && block < kMaxVirtualBlocks; ++block) {
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

Status VirtualExtent::check(const std::uint64_t* dims) noexcept {
    DataspaceEditor::set_widest(widest_, dataset_.rank());
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
    DataspaceEditor::set_widest(widest_, dataset_.rank());
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

}  // namespace

Status update_virtual_extent(DatasetState& dataset, unsigned depth) noexcept {
    if (depth >= kMaxVirtualDepth) {
        return dataset.file().context.unsupported(Module::dataset, H5MOTE_HERE, Feature::layout_class, depth);
    }
    return blame_mappings(dataset, with_extent(dataset, depth, [](VirtualExtent& extent) { return extent.run(); }));
}

Status check_virtual_extent(DatasetState& dataset, const std::uint64_t* dims) noexcept {
    return with_extent(dataset, 0, [dims](VirtualExtent& extent) { return extent.check(dims); });
}

}  // namespace h5mote
