// Queries: layout, filters, fill value, chunks and sizes of a dataset.

#include "checked.hpp"
#include "dataset_state.hpp"
#include "external_storage.hpp"
#include "prepare.hpp"
#include "virtual_layout.hpp"

#include <cstring>

namespace h5mote {
namespace {

DatasetState& state_of(AppendCursor* cursor) noexcept { return static_cast<DatasetState&>(*cursor); }

void describe_fill(const FillValueMessage& message, DatasetInfo& info) noexcept {
    info.fill = message.undefined       ? FillState::undefined
                : message.value.empty() ? FillState::default_value
                                        : FillState::user_defined;
    info.fill_size = static_cast<std::uint32_t>(message.value.size());
    info.allocation_time = static_cast<AllocationTime>(message.allocation_time & 3U);
    info.fill_time = static_cast<FillTime>(message.write_time & 3U);
}

// Finds the i-th filter in the filter pipeline message. `spec` and `name` borrow bytes of `message`, until it is used
// again.
Status find_filter(FileState& file, HeaderMessage& message, std::size_t i, FilterSpec& spec,
                   ConstBytes& name) noexcept {
    ConstBytes body;
    H5MOTE_TRY(message.find(MessageType::filter_pipeline));
    H5MOTE_TRY(message.body(body));
    PipelineReader reader(body);
    unsigned count = 0;
    H5MOTE_TRY(reader.count(file.context, count));
    if (i >= count) {
        return Status::not_found;
    }
    for (std::size_t at = 0; at <= i; ++at) {
        H5MOTE_TRY(reader.next(file.context, spec));
    }
    name = reader.name();
    return Status::ok;
}

}  // namespace

Result<Dataset> Dataset::from(Object&& object) noexcept {
    const LibraryLock lock(context_of(object.file_));
    H5MOTE_TRY(object.check());
    FileState& file = *object.file_;
    const Address address = object.address_;
    DatasetState* state = nullptr;
    H5MOTE_TRY(DatasetState::open(file, address, state));
    Dataset opened(file, address, *state);
    object.close();
    return opened;
}

Status Dataset::info(DatasetInfo& info) const noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    DatasetState& state = state_of(cursor_);
    Context& context = file_->context;
    HeaderMessage message(*file_, address_);
    ConstBytes bytes;
    LayoutMessage layout;
    H5MOTE_TRY(message.find(MessageType::layout));
    H5MOTE_TRY(message.head(LayoutMessage::kMaxHead, bytes));
    H5MOTE_TRY(layout.decode(context, file_->shape(), bytes, message.size()));
    info = DatasetInfo{};
    info.layout = layout.layout_class;
    info.layout_version = layout.version;
    info.chunk_index = layout.index;
    info.edge_chunks_unfiltered = (layout.flags & LayoutMessage::kPartialEdgeUnfiltered) != 0;
    info.address = state.external() ? kUndefinedAddress : layout.address;
    info.rank = static_cast<std::uint8_t>(state.rank());
    info.filters = static_cast<std::uint8_t>(state.filter_count());
    info.element_size = state.element_size();

    DatatypeView type;
    H5MOTE_TRY(message.find(MessageType::datatype));
    info.type_object = message.committed();
    H5MOTE_TRY(message.body(bytes));
    H5MOTE_TRY(parse_datatype(context, bytes, type));
    info.type_length = static_cast<std::uint32_t>(type.encoded_length());

    // Without a fill value message, report what libhdf5 does: an allocation time that depends on the layout class, and
    // an undefined fill value.
    static constexpr std::uint8_t kDefault[] = {1, 2, 3, 3};
    FillValueMessage fill_value;
    fill_value.allocation_time = kDefault[static_cast<unsigned>(layout.layout_class)];
    fill_value.undefined = true;
    H5MOTE_TRY(state.find_fill(message, fill_value));
    describe_fill(fill_value, info);

    if (state.external()) {
        ExternalStorage storage(*file_, address_);
        H5MOTE_TRY(storage.count(info.external_files));
    }
    return info.layout == Layout::virtual_dataset ? count_mappings(*file_, layout, info.virtual_mappings) : Status::ok;
}

Status Dataset::chunk_dims(Span<std::uint64_t> dims) const noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    DatasetState& state = state_of(cursor_);
    if (!state.is_chunked() || dims.size() > state.rank()) {
        return file_->context.fail(Module::dataset, H5MOTE_HERE, Status::invalid_argument, state.rank());
    }
    for (std::size_t i = 0; i < dims.size(); ++i) {
        dims[i] = state.chunk_dims()[i];
    }
    return Status::ok;
}

Status Dataset::filter(std::size_t i, FilterInfo& info, Span<char> name, Span<std::uint32_t> values) const noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    HeaderMessage message(*file_, address_);
    FilterSpec spec;
    ConstBytes text;
    H5MOTE_TRY(find_filter(*file_, message, i, spec, text));
    info.id = spec.id;
    info.flags = spec.optional ? 1 : 0;
    info.available = file_->context.find_filter(spec.id) != nullptr;
    info.value_count = spec.value_count;
    info.name_length = text.size();
    if (!text.empty() && !name.empty()) {
        std::memcpy(name.data(), text.data(), text.size() < name.size() ? text.size() : name.size());
    }
    for (std::size_t v = 0; v < values.size() && v < spec.value_count; ++v) {
        values[v] = spec.value(v);
    }
    return Status::ok;
}

Status Dataset::external_file(std::size_t i, ExternalFile& info, Span<char> name) const noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    ExternalStorage storage(*file_, address_);
    return state_of(cursor_).external() ? storage.describe(i, info, name) : Status::not_found;
}

Status Dataset::set_virtual_view(VirtualView view, std::uint64_t gap) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    return state_of(cursor_).set_virtual_view(view, gap);
}

Status Dataset::stored_fill_value(Bytes to) const noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    DatasetState& state = state_of(cursor_);
    if (to.size() != state.element_size()) {
        return file_->context.fail(Module::dataset, H5MOTE_HERE, Status::invalid_argument, 0, state.element_size());
    }
    HeaderMessage message(*file_, address_);
    FillValueMessage fill_value;
    H5MOTE_TRY(state.find_fill(message, fill_value));
    if (fill_value.value.empty()) {
        std::memset(to.data(), 0, to.size());
        return Status::ok;
    }
    if (fill_value.value.size() != to.size()) {
        return file_->context.fail(Module::dataset, H5MOTE_HERE, Status::corrupt_file, 0, address_);
    }
    std::memcpy(to.data(), fill_value.value.data(), to.size());
    return Status::ok;
}

Status Dataset::fill_value(DatatypeView type, Bytes to) const noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    DatasetState& state = state_of(cursor_);
    if (type.empty() || to.size() != type.size()) {
        return file_->context.fail(Module::dataset, H5MOTE_HERE, Status::invalid_argument, 0, type.size());
    }
    if (state.default_fill()) {
        std::memset(to.data(), 0, to.size());
        return Status::ok;
    }
    FileSource source(*file_);
    Conversion conversion;
    {
        HeaderMessage message(*file_, address_);
        ConstBytes body;
        DatatypeView stored;
        H5MOTE_TRY(message.find(MessageType::datatype));
        H5MOTE_TRY(message.body(body));
        H5MOTE_TRY(view_datatype(file_->context, body, stored));
        H5MOTE_TRY(prepare_conversion(file_->context, conversion, stored, type,
                                      source.values(*file_, FileValues::Side::from)));
    }
    const std::size_t size = state.element_size();
    auto* const element = static_cast<std::byte*>(file_->context.allocate(MemoryKind::other, size));
    if (element == nullptr) {
        return Status::out_of_memory;
    }
    Status status = stored_fill_value({element, size});
    if (status == Status::ok) {
        status = conversion.run(1, element, size, to.data(), to.size());
    }
    file_->context.release(MemoryKind::other, element, size);
    return status;
}

// ---- chunks ------------------------------------------------------------------------------------------------------

struct ChunkWalk {
    ChunkLookup lookup;
    ChunkCursor cursor;
    std::uint64_t offset[H5MOTE_MAX_RANK];
};

ChunkIterator::ChunkIterator(const Dataset& dataset) noexcept : context_(context_of(dataset.file_)) {
    const LibraryLock lock(context_);
    if (dataset.check() == Status::ok) {
        cursor_ = dataset.cursor_;
        state_of(cursor_).retain();
    }
}

ChunkIterator::~ChunkIterator() {
    if (cursor_ != nullptr) {
        const LibraryLock lock(context_);
        context_->destroy(MemoryKind::other, walk_);
        (void)DatasetState::release(&state_of(cursor_));
    }
}

Status ChunkIterator::next(ChunkInfo& chunk) noexcept {
    const LibraryLock lock(context_);
    if (cursor_ == nullptr || !state_of(cursor_).file().is_open()) {
        return Status::invalid_handle;
    }
    DatasetState& state = state_of(cursor_);
    Context& context = *context_;
    if (!state.is_chunked()) {
        return context.fail(Module::dataset, H5MOTE_HERE, Status::invalid_argument);
    }
    if (walk_ == nullptr) {
        walk_ = context.create<ChunkWalk>(MemoryKind::other);
        if (walk_ == nullptr) {
            return Status::out_of_memory;
        }
        // What is in memory goes to the file, so that the index names all chunks.
        H5MOTE_TRY(state.file().writable() ? state.store_chunks() : Status::ok);
    }
    ChunkLocation location;
    ChunkTable& table = state.table();
    bool within_extent = false;
    while (!within_extent) {
        ChunkNumber number = 0;
        H5MOTE_TRY(table.next(walk_->lookup, walk_->cursor, number, walk_->offset, location));
        if (!table.by_coordinates()) {
            state.scaled_of(number, walk_->offset);
        }
        // An implicit index has chunks up to the maximum extent. Skip those beyond the current extent, as libhdf5 does.
        within_extent = true;
        for (unsigned i = 0; i < state.rank(); ++i) {
            walk_->offset[i] *= state.chunk_dims()[i];
            within_extent =
                within_extent && (table.kind() != ChunkIndex::implicit || walk_->offset[i] < state.dims()[i]);
        }
    }
    chunk.offset = {walk_->offset, state.rank()};
    chunk.address = location.address;
    chunk.size = location.size;
    chunk.filter_mask = location.mask;
    return Status::ok;
}

Status Dataset::storage_size(std::uint64_t& bytes) const noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    DatasetState& state = state_of(cursor_);
    bytes = 0;
    if (state.layout_class() == Layout::virtual_dataset) {
        return Status::ok;
    }
    if (!state.is_chunked()) {
        const bool there = state.layout_class() == Layout::compact || state.data_address() != kUndefinedAddress;
        bytes = there ? state.data_size() : 0;
        return Status::ok;
    }
    ChunkIterator chunks(*this);
    ChunkInfo chunk;
    Status status;
    while ((status = chunks.next(chunk)) == Status::ok) {
        bytes += chunk.size;
    }
    return status == Status::not_found ? Status::ok : status;
}

H5MOTE_STEP Status Dataset::index_size(std::uint64_t& chunk_count, std::uint64_t& bytes) const noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    DatasetState& state = state_of(cursor_);
    chunk_count = bytes = 0;
    if (!state.is_chunked()) {
        return Status::ok;
    }
    ChunkIterator chunks(*this);
    ChunkInfo chunk;
    Status status;
    while ((status = chunks.next(chunk)) == Status::ok) {
        ++chunk_count;
    }
    return status == Status::not_found ? state.table().space(bytes) : status;
}

H5MOTE_STEP Status Dataset::heap_size(std::uint64_t& bytes) const noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    DatasetState& state = state_of(cursor_);
    bytes = 0;
    if (state.external()) {
        return ExternalStorage(*file_, address_).heap_size(bytes);
    }
    if (state.layout_class() != Layout::virtual_dataset) {
        return Status::ok;
    }
    LayoutMessage layout;
    {
        HeaderMessage message(*file_, address_);
        ConstBytes head;
        H5MOTE_TRY(message.find(MessageType::layout));
        H5MOTE_TRY(message.head(LayoutMessage::kMaxHead, head));
        H5MOTE_TRY(layout.decode(file_->context, file_->shape(), head, message.size()));
    }
    if (layout.address != kUndefinedAddress) {
        MetadataWindow object;
        H5MOTE_TRY(GlobalHeap(*file_).object(layout.address, layout.heap_index, object));
        bytes = object.size();
    }
    return Status::ok;
}

}  // namespace h5mote
