// Opening a dataset: its header's messages become a DatasetState.

#include "checked.hpp"
#include "dataset_state.hpp"
#include "prepare.hpp"

#include <cstring>

namespace h5mote {

struct DatasetState::Survey {
    unsigned rank = 0;
    unsigned filters = 0;
    std::size_t values = 0;  // bytes of client data that the filters' entries do not hold
    bool dataspace = false;
    bool datatype = false;
    bool layout = false;
};

// The first walk: how much memory the state takes, and whether there is anything that this library does not know.
Status DatasetState::survey(FileState& file, Address address, Survey& found) noexcept {
    MessageIterator message(file, address);
    Status status;
    while ((status = message.next()) == Status::ok) {
        switch (message.type()) {
            case MessageType::dataspace:
                found.dataspace = true;
                found.rank = message.body().size() > 1 ? static_cast<unsigned>(message.body()[1]) : 0;
                break;
            case MessageType::datatype:
                found.datatype = true;
                break;
            case MessageType::layout:
                found.layout = true;
                break;
            case MessageType::filter_pipeline:
                found.filters = message.body().size() > 1 ? static_cast<unsigned>(message.body()[1]) : 0;
#if H5MOTE_FILTERS
                found.values = borrowed_values(file.context, message.body());
#endif
                break;
            case MessageType::external_files:
                return file.context.unsupported(Module::dataset, __LINE__, Feature::external_storage);
            default:
                continue;
        }
        if ((message.flags() & kMessageShared) != 0) {
            return file.context.unsupported(Module::dataset, __LINE__, Feature::shared_message,
                                            static_cast<std::uint32_t>(message.type()));
        }
    }
    if (status != Status::not_found) {
        return status;
    }
    if (!found.layout) {
        return file.context.fail(Module::dataset, __LINE__, Status::not_found, 0, address);
    }
    if (found.rank > (H5MOTE_PARTIAL_IO != 0 ? H5MOTE_MAX_RANK : 1)) {
        return file.context.unsupported(Module::dataset, __LINE__, Feature::dataspace_rank, found.rank);
    }
    if (found.filters > H5MOTE_MAX_FILTERS) {
        return file.context.unsupported(Module::dataset, __LINE__, Feature::filter, found.filters);
    }
    return found.dataspace && found.datatype
               ? Status::ok
               : file.context.fail(Module::dataset, __LINE__, Status::corrupt_file, 0, address);
}

Status DatasetState::open(FileState& file, Address address, DatasetState*& state) noexcept {
    if (FlushClient* client = file.find_client(address)) {
        state = static_cast<DatasetState*>(client);
        state->retain();
        return Status::ok;
    }
    Survey found;
    H5MOTE_TRY(survey(file, address, found));
    void* memory = file.context.allocate(MemoryKind::handle, footprint(found.rank, found.filters, found.values));
    if (memory == nullptr) {
        return Status::out_of_memory;
    }
    state = ::new (memory) DatasetState(file, address, found.rank);
    state->filter_count_ = static_cast<std::uint8_t>(found.filters);
#if H5MOTE_FILTERS
    state->filter_values_ = static_cast<std::uint32_t>(found.values);
#endif
    const Status status = state->load();
    if (status != Status::ok) {
        state->destroy();
        state = nullptr;
        return status;
    }
    file.retain();
    file.clients.push_back(*state);
    return Status::ok;
}

// The second walk. The layout comes last in order: it needs what the other messages say, wherever it stands.
Status DatasetState::load_messages() noexcept {
    MessageIterator message(*file_, address_);
    Status status;
    while ((status = message.next()) == Status::ok) {
        DatatypeView type;
        FillValueMessage fill_value;
        DataspaceMessage space;
        switch (message.type()) {
            case MessageType::dataspace:
                H5MOTE_TRY(space.decode(file_->context, file_->shape(), message.body()));
                null_space_ = space.type == DataspaceMessage::Type::null;
                for (unsigned i = 0; i < rank_; ++i) {
                    dims()[i] = space.dim(i);
                    max_dims()[i] = space.max_dim(i);
                }
                break;
            case MessageType::datatype:
                H5MOTE_TRY(view_datatype(file_->context, message.body(), type));
                element_size_ = type.size();
                break;
            case MessageType::fill_value:
                H5MOTE_TRY(fill_value.decode(file_->context, message.body()));
                for (const std::byte each : fill_value.value) {
                    zero_fill_ = zero_fill_ && each == std::byte{0};
                }
                break;
            case MessageType::filter_pipeline:
                H5MOTE_TRY(load_filters(message));
                break;
            default:
                break;
        }
    }
    return status == Status::not_found ? Status::ok : status;
}

Status DatasetState::load() noexcept {
    H5MOTE_TRY(load_messages());
    MessageIterator layout(*file_, address_);
    H5MOTE_TRY(layout.next(MessageType::layout));
    return load_layout(layout);
}

Status DatasetState::load_filters(MessageIterator& message) noexcept {
#if H5MOTE_FILTERS
    PipelineReader reader(message.body());
    unsigned count = 0;
    H5MOTE_TRY(reader.count(file_->context, count));
    // The header does not stay in memory: values that are borrowed from it move behind the entries.
    auto* values = reinterpret_cast<std::byte*>(filter_entries() + filter_count_);
    std::size_t left = filter_values_;
    for (unsigned i = 0; i < filter_count_; ++i) {
        FilterEntry* entry = ::new (static_cast<void*>(filter_entries() + i)) FilterEntry;
        FilterSpec& spec = entry->spec;
        H5MOTE_TRY(reader.next(file_->context, spec));
        if (spec.encoded != nullptr) {
            const std::size_t size = std::size_t{4} * spec.value_count;
            if (size > left) {
                return file_->context.fail(Module::dataset, __LINE__, Status::corrupt_file, 0, address_);
            }
            std::memcpy(values, spec.encoded, size);
            spec.encoded = values;
            values += size;
            left -= size;
        }
        entry->filter = file_->context.find_filter(spec.id);
    }
    return Status::ok;
#else
    return file_->context.unsupported(Module::filter, __LINE__, Feature::filter,
                                      static_cast<std::uint32_t>(message.type()));
#endif
}

Status DatasetState::load_layout(MessageIterator& message) noexcept {
    LayoutMessage layout;
    H5MOTE_TRY(layout.decode(file_->context, file_->shape(), message.body()));
    layout_class_ = layout.layout_class;
    if (layout_class_ == LayoutMessage::Class::chunked) {
        return open_chunks(layout);
    }
#if H5MOTE_PARTIAL_IO
    std::uint64_t bytes = null_space_ ? 0 : element_size_;
    bool sound = true;
    for (unsigned i = 0; i < rank_; ++i) {
        sound = sound && checked_multiply(bytes, dims()[i], bytes);
    }
    if (layout_class_ == LayoutMessage::Class::compact) {
        data_size_ = narrow(layout.compact.size());
        sound = sound && data_size_ >= bytes;
    } else {
        data_address_ = layout.address;
        data_size_ = layout.size;
        sound = sound && (data_address_ == kUndefinedAddress ||
                          (data_size_ >= bytes && file_->contains(data_address_, data_size_)));
    }
    return sound ? Status::ok : file_->context.fail(Module::dataset, __LINE__, Status::corrupt_file, 0, address_);
#else
    return file_->context.unsupported(Module::dataset, __LINE__, Feature::layout_class,
                                      static_cast<std::uint32_t>(layout_class_));
#endif
}

Status DatasetState::open_chunks(const LayoutMessage& layout) noexcept {
    ChunkTableShape shape;
    shape.dataset = address_;
    shape.chunks = 1;
    shape.filtered = filtered();
    std::uint64_t bytes = element_size_;
    bool sound = layout.dimensionality == rank_ + 1U && layout.chunk_dim(rank_) == element_size_;
    unsigned unlimited = 0;
    for (unsigned i = 0; sound && i < rank_; ++i) {
        const std::uint64_t chunk = layout.chunk_dim(i);
        chunk_dims()[i] = chunk;
        sound = checked_multiply(bytes, chunk, bytes);
        if (max_dims()[i] == kUnlimited) {
            ++unlimited;
        } else {
            sound = sound && chunk <= 0xffffffffU &&
                    checked_multiply(shape.chunks, divide_up(max_dims()[i], static_cast<std::uint32_t>(chunk)),
                                     shape.chunks);
        }
    }
    // An extensible array counts along the one dimension that is unlimited.
    sound = sound && bytes <= 0xffffffffU && (layout.index != ChunkIndex::extensible_array || unlimited == 1);
    if (!sound) {
        return file_->context.fail(Module::dataset, __LINE__, Status::corrupt_file, 0, address_);
    }
    chunk_bytes_ = static_cast<std::uint32_t>(bytes);
    shape.chunk_bytes = chunk_bytes_;
    if ((layout.flags & LayoutMessage::kPartialEdgeUnfiltered) != 0 && filtered()) {
        return file_->context.unsupported(Module::dataset, __LINE__, Feature::layout_class, layout.flags);
    }
    if ((filtered() || H5MOTE_PARTIAL_IO == 0) && !fits_cache()) {
        return file_->context.fail(Module::dataset, __LINE__, Status::over_budget, 0, chunk_bytes_);
    }
    return table_.open(*file_, layout, shape);
}

Status DatasetState::release(DatasetState* state) noexcept {
    if (state == nullptr || --state->references_ > 0) {
        return Status::ok;
    }
    FileState* const file = state->file_;
    Status status = Status::ok;
    if (file->is_open()) {
        if (file->writable()) {
            status = state->flush_raw();
            if (status == Status::ok) {
                status = state->give_back();
            }
        }
        state->detach();
        file->clients.remove(*state);
    }
    state->destroy();
    FileState::release(file);
    return status;
}

void DatasetState::detach() noexcept {
    file_->chunks.drop_all(*this);
    tail_ = nullptr;
    at = end = nullptr;
}

void DatasetState::destroy() noexcept {
    Context& context = file_->context;
#if H5MOTE_FILTERS
    const std::size_t size = footprint(rank_, filter_count_, filter_values_);
#else
    const std::size_t size = footprint(rank_, filter_count_, 0);
#endif
    this->~DatasetState();
    context.release(MemoryKind::handle, this, size);
}

}  // namespace h5mote
