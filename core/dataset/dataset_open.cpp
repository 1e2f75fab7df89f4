// Opening a dataset: its header's messages become a DatasetState.

#include "checked.hpp"
#include "chunk_grid.hpp"
#include "dataset_state.hpp"
#include "datatype_message.hpp"
#include "external_changes.hpp"
#include "links.hpp"
#include "prepare.hpp"
#include "virtual_changes.hpp"

#include <cstring>

namespace h5mote {

struct DatasetState::Survey {
    unsigned rank = 0;
    unsigned filters = 0;
    std::size_t values = 0;  // bytes of client data that FilterEntry itself does not hold
    bool external = false;
};

// Finds out how much memory the state takes, and refuses what this build of the library does not support.
Status DatasetState::survey(FileState& file, Address address, Survey& found) noexcept {
    HeaderMessage message(file, address);
    ConstBytes body;
    // An object without a layout message is not a dataset: report what it is.
    Status status = message.find(MessageType::layout);
    if (status == Status::not_found) {
        ObjectType type = ObjectType::group;
        if (object_type(file, address, type) != Status::ok) {
            return status;
        }
        return file.context.fail(Module::dataset, H5MOTE_HERE, Status::not_found,
                                 subject(Subject::object_type, static_cast<std::uint32_t>(type)), address);
    }
    H5MOTE_TRY(status);
    status = message.find(MessageType::external_files);
    found.external = status == Status::ok;
    if (found.external && (H5MOTE_ALL_FORMATS == 0 || file.context.formats().external_data == nullptr)) {
        return file.context.unsupported(Module::dataset, H5MOTE_HERE, Feature::external_storage);
    }
    if (!found.external && status != Status::not_found) {
        return status;
    }
    status = message.find(MessageType::filter_pipeline);
    if (status == Status::ok) {
        H5MOTE_TRY(message.body(body));
        found.filters = body.size() > 1 ? static_cast<unsigned>(body[1]) : 0;
        if constexpr (H5MOTE_FILTERS != 0) {
            found.values = borrowed_values(file.context, body);
        }
    } else if (status != Status::not_found) {
        return status;
    }
    status = message.find(MessageType::dataspace);
    if (status == Status::ok) {
        H5MOTE_TRY(message.head(2, body));
        found.rank = body.size() > 1 ? static_cast<unsigned>(body[1]) : 0;
        status = message.find(MessageType::datatype);
    }
    if (H5MOTE_PARTIAL_IO != 0 ? found.rank > H5MOTE_MAX_RANK : found.rank != 1) {
        return file.context.unsupported(Module::dataset, H5MOTE_HERE, Feature::dataspace_rank, found.rank);
    }
    if (found.filters > H5MOTE_MAX_FILTERS) {
        return file.context.unsupported(Module::dataset, H5MOTE_HERE, Feature::filter, found.filters);
    }
    return status != Status::not_found
               ? status
               : file.context.fail(Module::dataset, H5MOTE_HERE, Status::corrupt_file, 0, address);
}

Status DatasetState::open(FileState& file, Address address, DatasetState*& state, unsigned depth) noexcept {
    const bool any_type = H5MOTE_ALL_FORMATS != 0 && depth == kAnyType;
    depth = any_type ? 0 : depth;
    if (FlushClient* client = file.find_client(address)) {
        auto* const shared = static_cast<DatasetState*>(client);
        if (shared->is_virtual()) {
            // The sources may have grown since the dataset was opened first.
            H5MOTE_TRY(file.context.formats().virtual_data->update_extent(*shared, depth));
        }
        if (shared->is_unused()) {
            file.retain();
        }
        shared->retain();
        state = shared;
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
    state->set_filter_values(found.values);
    state->external_ = found.external;
    if (any_type) {
        state->element_size_ = 1;  // known before load_messages(): its own size takes its place
    }
    Status status = state->load();
    if (status == Status::ok && state->is_virtual()) {
        status = file.context.formats().virtual_data->update_extent(*state, depth);
    }
    if (status != Status::ok) {
        state->destroy();
        state = nullptr;
        return status;
    }
    file.retain();
    file.clients.push_back(*state);
    return Status::ok;
}

Status DatasetState::load_space(HeaderMessage& message) noexcept {
    ConstBytes body;
    DataspaceMessage space;
    H5MOTE_TRY(message.find(MessageType::dataspace));
    H5MOTE_TRY(message.body(body));
    H5MOTE_TRY(space.decode(file_->context, file_->shape(), body));
    null_space_ = space.type == DataspaceMessage::Type::null;
    for (unsigned i = 0; i < rank(); ++i) {
        dims()[i] = space.dim(i);
        max_dims()[i] = space.max_dim(i);
    }
    return Status::ok;
}

Status DatasetState::find_fill(HeaderMessage& message, FillValueMessage& fill_value) noexcept {
    ConstBytes body;
    Status status = message.find(MessageType::fill_value);
    const bool old = H5MOTE_ALL_FORMATS != 0 && status == Status::not_found;
    if (old) {
        status = message.find(MessageType::fill_value_old);
    }
    if (status == Status::not_found) {
        return Status::ok;
    }
    H5MOTE_TRY(status);
    H5MOTE_TRY(message.body(body));
    return old ? fill_value.decode_old(file_->context, body) : fill_value.decode(file_->context, body);
}

// Whether the datatype is sound as far as this build reads it, which is not all of it. Its size is known.
static bool is_beyond_limits(ConstBytes body) noexcept {
    constexpr std::size_t kHead = 8;
    std::size_t length = 0;
    Feature feature = Feature::none;
    return body.size() >= kHead && validate_datatype(body, length, feature) == Status::unsupported &&
           DatatypeView(body).size() != 0;
}

Status DatasetState::load_messages() noexcept {
    HeaderMessage message(*file_, address_);
    H5MOTE_TRY(load_space(message));
    ConstBytes body;
    DatatypeView type;
    H5MOTE_TRY(message.find(MessageType::datatype));
    H5MOTE_TRY(message.body(body));
    if (H5MOTE_ALL_FORMATS != 0 && element_size_ != 0 && is_beyond_limits(body)) {
        type = DatatypeView(body);
    } else {
        H5MOTE_TRY(view_datatype(file_->context, body, type));
    }
    element_size_ = type.size();
    FillValueMessage fill_value;
    H5MOTE_TRY(find_fill(message, fill_value));
    default_fill_ = fill_value.value.empty();
    if constexpr (H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0) {
        allocation_ = static_cast<AllocationTime>(fill_value.allocation_time & 3U);
    }
    // With fill time `never` libhdf5 leaves the caller's memory unchanged where nothing was stored; this library reads
    // zeros.
    const bool never = H5MOTE_ALL_FORMATS != 0 && fill_value.write_time == static_cast<unsigned>(FillTime::never);
    for (const std::byte each : fill_value.value) {
        zero_fill_ = zero_fill_ && (never || each == std::byte{0});
    }
    if constexpr (H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0) {
        if (!zero_fill_) {
            H5MOTE_TRY(message.find(MessageType::datatype));
            H5MOTE_TRY(message.body(body));
            H5MOTE_TRY(view_datatype(file_->context, body, type));
            own_fill_ = contains_class(type, TypeClass::variable_length);
        }
    }
    return filter_count_ == 0 ? Status::ok : load_filters(message);
}

// The layout comes last: it needs what the other messages say.
Status DatasetState::load() noexcept {
    H5MOTE_TRY(load_messages());
    return load_layout();
}

Status DatasetState::load_filters(HeaderMessage& message) noexcept {
    ConstBytes body;
    H5MOTE_TRY(message.find(MessageType::filter_pipeline));
    H5MOTE_TRY(message.body(body));
    if constexpr (H5MOTE_FILTERS == 0) {
        return file_->context.unsupported(Module::filter, H5MOTE_HERE, Feature::filter,
                                          static_cast<std::uint32_t>(MessageType::filter_pipeline));
    }
    PipelineReader reader(body);
    unsigned count = 0;
    H5MOTE_TRY(reader.count(file_->context, count));
    // The header does not stay in memory: client data that a FilterSpec borrows from it is copied behind the entries.
    auto* values = reinterpret_cast<std::byte*>(filter_entries() + filter_count_);
    std::size_t left = filter_values();
    for (unsigned i = 0; i < filter_count_; ++i) {
        FilterEntry* entry = ::new (static_cast<void*>(filter_entries() + i)) FilterEntry;
        FilterSpec& spec = entry->spec;
        H5MOTE_TRY(reader.next(file_->context, spec));
        if (spec.encoded != nullptr) {
            const std::size_t size = std::size_t{4} * spec.value_count;
            if (size > left) {
                return file_->context.fail(Module::dataset, H5MOTE_HERE, Status::corrupt_file, 0, address_);
            }
            std::memcpy(values, spec.encoded, size);
            spec.encoded = values;
            values += size;
            left -= size;
        }
        entry->filter = file_->context.find_filter(spec.id);
    }
    return Status::ok;
}

Status DatasetState::load_layout() noexcept {
    HeaderMessage message(*file_, address_);
    ConstBytes head;
    LayoutMessage layout;
    H5MOTE_TRY(message.find(MessageType::layout));
    H5MOTE_TRY(message.head(LayoutMessage::kMaxHead, head));
    H5MOTE_TRY(layout.decode(file_->context, file_->shape(), head, message.size()));
    layout_class_ = layout.layout_class;
    if (layout_class_ == Layout::chunked) {
        return open_chunks(layout);
    }
    if constexpr (H5MOTE_PARTIAL_IO == 0) {
        return file_->context.unsupported(Module::dataset, H5MOTE_HERE, Feature::layout_class,
                                          static_cast<std::uint32_t>(layout_class_));
    }
    std::uint64_t bytes = null_space_ ? 0 : element_size_;
    bool sound = true;
    for (unsigned i = 0; i < rank(); ++i) {
        sound = sound && checked_multiply(bytes, dims()[i], bytes);
    }
    data_address_ = layout.address;
    data_size_ = layout.size;
    if (is_virtual()) {
        data_size_ = layout.heap_index;
        return file_->context.formats().virtual_data != nullptr
                   ? Status::ok
                   : file_->context.unsupported(Module::dataset, H5MOTE_HERE, Feature::layout_class,
                                                static_cast<std::uint32_t>(layout_class_));
    }
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        // In a damaged or truncated file contiguous data may lie outside of the file or be too short for the extent. A
        // dataset that is only read can be opened all the same; reading elements that are not there fails.
        data_size_ = external_ || layout.size == kUndefinedAddress ? narrow(bytes) : layout.size;
        data_address_ = external_ ? 0 : data_address_;
        if (layout_class_ != Layout::compact && !file_->writable()) {
            return sound ? Status::ok
                         : file_->context.fail(Module::dataset, H5MOTE_HERE, Status::corrupt_file, 0, address_);
        }
    }
    sound = sound && data_size_ >= bytes &&
            (layout_class_ == Layout::compact || external() || data_address_ == kUndefinedAddress ||
             file_->contains(data_address_, data_size_));
    return sound ? Status::ok : file_->context.fail(Module::dataset, H5MOTE_HERE, Status::corrupt_file, 0, address_);
}

Status DatasetState::open_chunks(const LayoutMessage& layout) noexcept {
    const bool by_coordinates =
        H5MOTE_ALL_FORMATS != 0 && (layout.index == ChunkIndex::btree1 || layout.index == ChunkIndex::btree2);
    ChunkTableShape shape;
    shape.rank = static_cast<std::uint8_t>(rank());
    shape.dataset = address_;
    shape.chunks = 1;
    shape.filtered = filtered();
    std::uint64_t bytes = element_size_;
    bool sound = layout.dimensionality == rank() + 1U && layout.chunk_dim(rank()) == element_size_;
    bool countable = true;
    unsigned unlimited = 0;
    for (unsigned i = 0; sound && i < rank(); ++i) {
        const std::uint64_t chunk = layout.chunk_dim(i);
        chunk_dims()[i] = chunk;
        sound = checked_multiply(bytes, chunk, bytes);
        const std::uint64_t size = max_dims()[i];
        if (size == kUnlimited) {
            ++unlimited;
        } else {
            sound = sound && (H5MOTE_ALL_FORMATS != 0 || chunk <= 0xffffffffU);
            countable = sound && countable && checked_multiply(shape.chunks, chunks_along(size, chunk), shape.chunks);
        }
    }
    // An extensible array numbers its chunks along the one unlimited dimension.
    sound = sound && (layout.index != ChunkIndex::extensible_array || unlimited == 1) &&
            (H5MOTE_ALL_FORMATS != 0 || bytes <= 0xffffffffU);
    edges_unfiltered_ = filtered() && (layout.flags & LayoutMessage::kPartialEdgeUnfiltered) != 0;
    if (edges_unfiltered_ && H5MOTE_ALL_FORMATS == 0) {
        return file_->context.unsupported(Module::dataset, H5MOTE_HERE, Feature::layout_class, layout.flags);
    }
    // B-trees need no number of chunks. The index of a single chunk has one address only.
    sound = sound && (countable || by_coordinates) && (layout.index != ChunkIndex::single || shape.chunks <= 1);
    if (!sound) {
        return file_->context.fail(Module::dataset, H5MOTE_HERE, Status::corrupt_file, 0, address_);
    }
    chunk_bytes_ = narrow(bytes);
    shape.chunk_bytes = chunk_bytes_;
    if constexpr (H5MOTE_ALL_FORMATS == 0) {
        if ((H5MOTE_PARTIAL_IO == 0 || filtered()) && !fits_cache()) {
            return file_->context.fail(Module::dataset, H5MOTE_HERE, Status::over_budget, 0, chunk_bytes_);
        }
    }
    H5MOTE_TRY(table_.open(*file_, layout, shape, chunk_dims()));
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        bool empty = false;
        for (unsigned i = 0; i < rank(); ++i) {
            empty = empty || dims()[i] == 0;
        }
        if (empty && layout.index == ChunkIndex::single) {
            table_.distrust();
        }
    }
    return Status::ok;
}

Status DatasetState::set_virtual_view(VirtualView view, std::uint64_t gap) noexcept {
    const VirtualView old_view = virtual_view();
    const std::uint64_t old_gap = virtual_gap();
    set_virtual(view, gap);
    const Status status = is_virtual() ? file_->context.formats().virtual_data->update_extent(*this, 0) : Status::ok;
    if (status != Status::ok) {
        set_virtual(old_view, old_gap);
    }
    return status;
}

// Refuses to change structures of which the program can only read. `stored_chunk`: a chunk is stored as it is given,
// for which no filter has to be there.
Status DatasetState::begin_change(bool stored_chunk) noexcept {
    H5MOTE_TRY(file_->check_writable());
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        if (external_ && file_->context.formats().external_changes == nullptr) {
            return file_->context.unsupported(Module::dataset, H5MOTE_HERE, Feature::external_storage);
        }
        if ((is_virtual() && file_->context.formats().virtual_changes == nullptr) ||
            (edges_unfiltered() && file_->context.formats().unfiltered_edges == nullptr)) {
            return file_->context.unsupported(Module::dataset, H5MOTE_HERE, Feature::layout_class,
                                              static_cast<std::uint32_t>(layout_class_));
        }
        if (!is_chunked()) {
            return Status::ok;
        }
        if (!table_.can_change()) {
            return file_->context.unsupported(Module::dataset, H5MOTE_HERE, Feature::chunk_index,
                                              static_cast<std::uint32_t>(table_.kind()));
        }
        if (chunk_bytes_ > 0xffffffffU || (filtered() && !fits_cache())) {
            return file_->context.fail(Module::dataset, H5MOTE_HERE, Status::over_budget, 0, chunk_bytes_);
        }
        if (!changed_) {
            H5MOTE_TRY(table_.renew());
        }
        if (edges_unfiltered()) {
            H5MOTE_TRY(edges().begin(*this));
        }
    }
    const Status status = reserve_scratch();
    if (H5MOTE_ALL_FORMATS != 0 && stored_chunk && status == Status::unsupported) {
        return Status::ok;  // what went through the filters already needs none of them
    }
    H5MOTE_TRY(status);
    changed_ = true;
    return Status::ok;
}

Status DatasetState::release(DatasetState* state) noexcept {
    if (state == nullptr || --state->references_ > 0) {
        return Status::ok;
    }
    FileState* const file = state->file_;
    const Status status = state->retire(file->is_open() && file->writable());
    FileState::release(file);  // the reference that the handles shared
    return status;
}

Status DatasetState::retire(bool store) noexcept {
    if (store) {
        H5MOTE_TRY(flush_raw());
        H5MOTE_TRY(give_back(false));
    }
    if (file_->is_open()) {
        drop_buffers();
        file_->clients.remove(*this);
    }
    destroy();
    return Status::ok;
}

void DatasetState::discard(DatasetState* state) noexcept {
    FileState* const file = state->file_;
    (void)state->retire(false);
    FileState::release(file);
}

void DatasetState::end_visit(DatasetState& state, bool unused) noexcept {
    if (unused) {
        --state.references_;
        FileState::release(state.file_);
    } else {
        discard(&state);
    }
}

Status DatasetState::dispose(FileState& file, Address address, Disposal& disposal) noexcept {
    return visit(file, address, [&](DatasetState& state) { return state.dispose(disposal); });
}

void DatasetState::unmake(DatasetState& state) noexcept {
    FileState& file = *state.file_;
    const Address address = state.address_;
    Disposal disposal(file, false);
    // Buffered rows need not be written any more. If disposing fails, file space is lost and nothing else.
    state.drop_buffers();
    (void)state.dispose(disposal);
    discard(&state);
    (void)dispose_header(file, address, disposal);
}

Status DatasetState::dispose(Disposal& disposal) noexcept {
    if (external()) {
        const ExternalChangesFormat* const format = file_->context.formats().external_changes;
        return format != nullptr ? format->dispose(*file_, address_, disposal)
                                 : file_->context.unsupported(Module::dataset, H5MOTE_HERE, Feature::external_storage);
    }
    if (is_chunked()) {
        return table_.dispose(disposal);
    }
    switch (layout_class_) {
        case Layout::contiguous:
            return disposal.give(data_address_, data_size_, SpaceKind::raw_data);
        case Layout::compact:
            return Status::ok;
        default:
            if constexpr (H5MOTE_ALL_FORMATS != 0) {
                if (const VirtualChangesFormat* const format = file_->context.formats().virtual_changes) {
                    return format->dispose(*this, disposal);
                }
            }
            return file_->context.unsupported(Module::dataset, H5MOTE_HERE, Feature::layout_class,
                                              static_cast<std::uint32_t>(layout_class_));
    }
}

void DatasetState::drop_buffers() noexcept {
    file_->chunks.drop_all(*this);
    tail_ = nullptr;
    at = end = nullptr;
}

void DatasetState::detach() noexcept {
    drop_buffers();
    if (is_unused()) {
        destroy();
    }
}

void DatasetState::destroy() noexcept {
    Context& context = file_->context;
    const std::size_t size = footprint(rank(), filter_count_, filter_values());
    if (has_edge_numbers()) {
        edges().end(*this);
    }
    this->~DatasetState();
    context.release(MemoryKind::handle, this, size);
}

}  // namespace h5mote
