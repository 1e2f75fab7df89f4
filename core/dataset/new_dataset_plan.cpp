// What a new dataset will be: its creation properties, checked before anything is allocated or written.
#include "new_dataset.hpp"

#include "checked.hpp"
#include "chunk_grid.hpp"
#include "prepare.hpp"

namespace h5mote {
Status NewDataset::plan() noexcept {
    H5MOTE_TRY(check_attributes(file_.context, create_.attributes));
    if (type_.size() == 0 || !space_.data_size(type_.size(), bytes_)) {
        return invalid(H5MOTE_HERE);
    }
    // Other builds make datasets without a limit only, for which plan_chunks() needs lengths of eight bytes.
    if ((H5MOTE_ALL_FORMATS != 0 || H5MOTE_FIXED_CHUNKS != 0) && !space_.fits(file_.shape())) {
        return invalid(H5MOTE_HERE, file_.shape().max_size());
    }
    H5MOTE_TRY(has_own_fill() ? plan_fill() : Status::ok);
    if (!create_.fill.empty() && create_.fill.size() != (has_own_fill() ? fill_type() : type_).size()) {
        return invalid(H5MOTE_HERE, create_.fill.size());
    }
    // A value of variable length that was never written must be found to be none, or the fill value.
    if (copy_ == nullptr && has_variable_length() && (create_.fill_undefined || create_.fill_time == FillTime::never)) {
        return invalid(H5MOTE_HERE);
    }
    if (create_.fill_undefined && (!create_.fill.empty() || create_.fill_time == FillTime::on_allocation)) {
        return invalid(H5MOTE_HERE);
    }
    if (create_.layout == Layout::virtual_dataset || !create_.mappings.empty()) {
        return plan_virtual();
    }
    if (is_external()) {
        return plan_external();
    }
    const bool chunked =
        create_.layout == Layout::chunked || (create_.layout == Layout::automatic && create_.chunk.rank() > 0);
    if (H5MOTE_PARTIAL_IO == 0 && !(chunked && space_.rank == 1)) {
        return file_.context.unsupported(Module::dataset, H5MOTE_HERE, Feature::layout_class);
    }
    return H5MOTE_PARTIAL_IO == 0 || chunked ? plan_chunks() : plan_whole();
}

// Finds the type that the fill value has in memory.
Status NewDataset::plan_fill() noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0) {
        const VariableLengthFormat* const changes = file_.context.formats().variable_length_changes;
        if (changes == nullptr) {
            return file_.context.unsupported(Module::dataset, H5MOTE_HERE, Feature::datatype_class,
                                             static_cast<std::uint32_t>(TypeClass::variable_length));
        }
        if (fill_type().empty()) {
            Bytes type;
            H5MOTE_TRY(changes->memory_type(file_.context, type_, type));
            set_memory_type(type);
            set_fill_type(DatatypeView(type));
        }
    }
    return Status::ok;
}

// The data have no place in the file. Only the first dimension may grow: that leaves all elements where they are.
Status NewDataset::plan_external() noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        const Formats& formats = file_.context.formats();
        if (formats.external_changes == nullptr || formats.external_data == nullptr) {
            return file_.context.unsupported(Module::dataset, H5MOTE_HERE, Feature::external_storage);
        }
        std::uint64_t room = 0;
        std::uint64_t most = type_.size();
        bool sound = (create_.layout == Layout::automatic || create_.layout == Layout::contiguous) &&
                     create_.filters.size() == 0 && create_.chunk.rank() == 0 && !create_.unfiltered_edges &&
                     external_files().check(external_list(), room);
        for (unsigned i = 0; sound && i < space_.rank; ++i) {
            const std::uint64_t size = space_.max_dims[i];
            sound = i == 0 || size == space_.dims[i];
            most = size == kUnlimited || !checked_multiply(most, size, most) ? kUnlimited : most;
        }
        if (!sound || most > room) {
            return invalid(H5MOTE_HERE, most);
        }
        layout_.size = narrow(bytes_);
        return layout_.size == bytes_ && file_.shape().states(bytes_) ? Status::ok : invalid(H5MOTE_HERE, bytes_);
    } else {
        return Status::ok;
    }
}

Status NewDataset::plan_virtual() noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        const Formats& formats = file_.context.formats();
        if (formats.virtual_changes == nullptr || formats.virtual_data == nullptr) {
            return file_.context.unsupported(Module::dataset, H5MOTE_HERE, Feature::layout_class);
        }
        const bool sound = (create_.layout == Layout::automatic || create_.layout == Layout::virtual_dataset) &&
                           create_.filters.size() == 0 && create_.chunk.rank() == 0 && !create_.unfiltered_edges &&
                           !is_external() && space_.rank != 0;
        if (!sound) {
            return invalid(H5MOTE_HERE);
        }
        layout_.layout_class = Layout::virtual_dataset;
        layout_.version = layout_.version < 4 ? std::uint8_t{4} : layout_.version;
        return virtual_data().check(file_, space_, mapping_list());
    } else {
        return Status::ok;
    }
}

Status NewDataset::plan_whole() noexcept {
    if (space_.extensible() || create_.filters.size() != 0 || create_.chunk.rank() != 0 || create_.unfiltered_edges) {
        return invalid(H5MOTE_HERE);
    }
    layout_.size = narrow(bytes_);
    if (create_.layout != Layout::compact) {
        return file_.shape().states(bytes_) ? Status::ok : invalid(H5MOTE_HERE, bytes_);
    }
    layout_.layout_class = Layout::compact;
    // The size of a message has 16 bits, and the layout message has 4 bytes before the data.
    return bytes_ <= 0xffff - 4 ? Status::ok
                                : file_.context.fail(Module::dataset, H5MOTE_HERE, Status::over_budget, 0, bytes_);
}

Status NewDataset::plan_chunks() noexcept {
    const unsigned rank = space_.rank;
    if (rank == 0 || create_.chunk.rank() != rank || create_.filters.size() > H5MOTE_MAX_FILTERS) {
        return invalid(H5MOTE_HERE, create_.chunk.rank());
    }
    unsigned unlimited = 0;
    std::uint64_t bytes = type_.size();
    shape_.rank = static_cast<std::uint8_t>(rank);
    shape_.chunks = 1;
    bool sound = true;
    for (unsigned i = 0; sound && i < rank; ++i) {
        const std::uint32_t chunk = create_.chunk.data()[i];
        const std::uint64_t most = space_.max_dims[i];
        sound = chunk_fits(space_.dims[i], most, chunk) && checked_multiply<std::uint64_t>(bytes, chunk, bytes) &&
                bytes <= 0xffffffffU;
        if (most == kUnlimited) {
            ++unlimited;
        } else {
            sound = sound && checked_multiply(shape_.chunks, divide_up(most, chunk), shape_.chunks);
        }
    }
    if (!sound) {
        return invalid(H5MOTE_HERE, bytes);
    }
    shape_.chunk_bytes = static_cast<std::uint32_t>(bytes);
    shape_.filtered = create_.filters.size() != 0;
    if ((shape_.filtered || H5MOTE_PARTIAL_IO == 0) && bytes > file_.chunks.budget()) {
        return file_.context.fail(Module::dataset, H5MOTE_HERE, Status::over_budget, 0, bytes);
    }
    // libhdf5 takes "unlimited" in fewer than 8 bytes for the number, which only indexes by coordinates do not depend
    // on.
    const bool by_coordinates = unlimited > 1 || (unlimited == 1 && file_.shape().sizeof_size < 8);
    if (H5MOTE_ALL_FORMATS == 0 && unlimited != 0 && file_.shape().sizeof_size < 8) {
        return file_.context.unsupported(Module::dataset, H5MOTE_HERE, Feature::sizeof_offsets);
    }
    if ((unlimited > 1 && H5MOTE_ALL_FORMATS == 0) || (unlimited == 0 && H5MOTE_FIXED_CHUNKS == 0)) {
        return file_.context.unsupported(Module::dataset, H5MOTE_HERE, Feature::chunk_index);
    }
    if (create_.unfiltered_edges) {
        if (file_.context.formats().unfiltered_edges == nullptr || H5MOTE_ALL_FORMATS == 0) {
            return file_.context.unsupported(Module::dataset, H5MOTE_HERE, Feature::layout_class);
        }
        layout_.version = layout_.version < 4 ? std::uint8_t{4} : layout_.version;
        layout_.flags = LayoutMessage::kPartialEdgeUnfiltered;
    }
    layout_.layout_class = Layout::chunked;
    layout_.dimensionality = static_cast<std::uint8_t>(rank + 1);
    layout_.index = layout_.version < 4 ? ChunkIndex::btree1
                    : by_coordinates    ? ChunkIndex::btree2
                    : unlimited == 1    ? ChunkIndex::extensible_array
                                        : fixed_index();
    layout_.flags |= layout_.index == ChunkIndex::single && shape_.filtered ? LayoutMessage::kSingleFiltered : 0U;
    // Limit the array to as many elements as the file can address chunks of this size.
    const unsigned reach = file_.shape().sizeof_addr * 8U - floor_log2(bytes);
    layout_.array.max_bits = static_cast<std::uint8_t>(shape_.filtered || reach > 32 ? 32 : reach < 8 ? 8 : reach);
    return shape_.filtered ? plan_filters() : Status::ok;
}

Status NewDataset::plan_filters() noexcept {
    if constexpr (H5MOTE_FILTERS == 0) {
        return file_.context.unsupported(Module::filter, H5MOTE_HERE, Feature::filter);
    }
    filters_ = static_cast<FilterEntry*>(file_.context.allocate(MemoryKind::other, filters_size()));
    if (filters_ == nullptr) {
        return Status::out_of_memory;
    }
    for (std::size_t i = 0; i < create_.filters.size(); ++i) {
        FilterEntry* entry = ::new (static_cast<void*>(filters_ + i)) FilterEntry;
        entry->spec = create_.filters.data()[i];
        entry->filter = file_.context.find_filter(entry->spec.id);
    }
    if (H5MOTE_ALL_FORMATS != 0 && copy_ != nullptr) {
        return Status::ok;
    }
    FilterTarget target{type_.size(), static_cast<std::uint32_t>(shape_.chunk_bytes)};
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        target.type = type_;
        target.chunk = {create_.chunk.data(), create_.chunk.rank()};
        target.fill = has_own_fill() ? ConstBytes() : create_.fill;
        target.fill_undefined = create_.fill_undefined;
    }
    FilterPipeline pipeline(Span<FilterEntry>(filters_, create_.filters.size()));
    FilterId failed = FilterId::none;
    std::size_t need = 0;
    Status status = pipeline.prepare(target, failed, need);
    if (H5MOTE_ALL_FORMATS != 0 && status == Status::over_budget && need != 0) {
        auto* values = static_cast<std::byte*>(file_.context.allocate(MemoryKind::other, need));
        if (values == nullptr) {
            return Status::out_of_memory;
        }
        client_data_ = target.client_data = {values, need};
        status = pipeline.prepare(target, failed, need);
    }
    return tell_filter(file_.context, H5MOTE_HERE, status, failed);
}

// The index of a dataset that cannot grow. Where no program asks for versions, it stays what it has always been; else
// it is chosen as libhdf5 chooses it.
ChunkIndex NewDataset::fixed_index() const noexcept {
    if (H5MOTE_ALL_FORMATS == 0 || file_.versions() == nullptr || file_.context.formats().unindexed_chunks == nullptr) {
        return ChunkIndex::fixed_array;
    }
    bool single = !space_.extensible();
    for (unsigned i = 0; i < space_.rank; ++i) {
        single = single && space_.dims[i] == create_.chunk.data()[i];
    }
    return single                                                            ? ChunkIndex::single
           : !shape_.filtered && create_.allocation == AllocationTime::early ? ChunkIndex::implicit
                                                                             : ChunkIndex::fixed_array;
}

}  // namespace h5mote
