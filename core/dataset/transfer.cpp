// H5D I/O - what reading and writing have in common, and the members of Dataset that start a transfer.

#include "transfer.hpp"

namespace h5mote {

Transfer::Transfer(DatasetState& dataset, const TransferRequest& request) noexcept
    : dataset_(dataset), file_(dataset.file()), request_(request), raw_(dataset), source_(dataset.file()) {}

Status Transfer::prepare() noexcept {
    HeaderMessage message(file_, dataset_.address());
    ConstBytes body;
    DatatypeView stored;
    H5MOTE_TRY(message.find(MessageType::datatype));
    H5MOTE_TRY(message.body(body));
    H5MOTE_TRY(view_datatype(file_.context, body, stored));
    element_size_ = stored.size();
    refers_ = H5MOTE_ALL_FORMATS != 0 && writing() &&
              (contains_class(stored, TypeClass::variable_length) || contains_class(stored, TypeClass::reference));
    if (request_.stored) {
        const DatatypeView wanted = request_.type.empty() ? stored : request_.type;
        memory_size_ = wanted.size();
        const Status status = conversion_.prepare_identical(stored, wanted);
        return status == Status::type_mismatch ? prepare_conversion(file_.context, conversion_, stored, wanted)
                                               : status;
    }
    FileValues values = source_.values(file_, writing() ? FileValues::Side::to : FileValues::Side::from);
    memory_size_ = request_.type.size();
    to_heap_ = H5MOTE_ALL_FORMATS != 0 && writing() && contains_class(stored, TypeClass::variable_length);
    if constexpr (H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0) {
        if (to_heap_ && dataset_.own_fill()) {
            fill_ = file_.context.create<OwnFill>(MemoryKind::other, file_);
            H5MOTE_TRY(fill_ != nullptr ? fill_->load(dataset_) : Status::out_of_memory);
        }
    }
    if (writing() && !file_.is_atomic()) {
        const Pinned header = file_.cache.find(dataset_.address());
        values.dataset = dataset_.address();
        replaces_heap_ = to_heap_ && (!header || !header->fresh());
    }
    return writing() ? prepare_conversion(file_.context, conversion_, request_.type, stored, values)
                     : prepare_conversion(file_.context, conversion_, stored, request_.type, values);
}

Status Transfer::check_sizes(std::uint64_t count) noexcept {
    std::uint64_t elements = count;
    if (request_.memory != nullptr) {
        H5MOTE_TRY(pairs_.reset(*request_.memory_selection, *request_.memory, count));
        H5MOTE_TRY(request_.memory->element_count(elements));
    }
    // Compare the quotient first: once that agrees, the product is the buffer's size and cannot overflow.
    const std::size_t size = request_.data.size();
    return memory_size_ != 0 && size % memory_size_ == 0 && size / memory_size_ == elements
               ? Status::ok
               : invalid(H5MOTE_HERE, elements * memory_size_);
}

Status Transfer::run() noexcept {
    dataset_.count_appended();
    H5MOTE_TRY(prepare());
    dataset_.copy_dataspace(space_);
    if (request_.selection.element_count(space_, count_) != Status::ok) {
        return invalid(H5MOTE_HERE);
    }
    H5MOTE_TRY(check_sizes(count_));
    if (count_ == 0) {
        return Status::ok;
    }
    // A source of a virtual dataset is read over fill values that are in the buffer already: their sequences are
    // released.
    empty_sequences(request_.depth != 0);
    const Status status = transfer_all();
    if (status != Status::ok) {
        // It is not known which sequences the transfer delivered before it failed: release all of them.
        empty_sequences(true);
    }
    return status;
}

void Transfer::empty_sequences(bool release) noexcept {
    if (writing() || !conversion_.allocates()) {
        return;
    }
    PairedRun piece;
    pairs_.take({0, 0, count_});
    while (pairs_.next(piece)) {
        conversion_.empty(static_cast<std::size_t>(piece.length), user(piece.memory), memory_size_, release);
    }
}

Status Transfer::transfer_all() noexcept {
    if (dataset_.is_chunked()) {
        return chunked();
    }
    return writing() ? write_whole() : read_whole();
}

Status Transfer::chunked() noexcept {
    H5MOTE_TRY(writing() ? dataset_.allocate_late() : Status::ok);
    ChunkedRuns& runs = *::new (static_cast<void*>(&walk_.chunks)) ChunkedRuns;
    const Span<const std::uint64_t> chunk_dims(dataset_.chunk_dims(), dataset_.rank());
    H5MOTE_TRY(runs.reset(request_.selection, space_, chunk_dims));
    // Points are sorted by chunk if there is memory for that. If the transfer then runs out of memory, the keys are
    // released and it begins again without them.
    const std::size_t size = request_.selection.point_count() * sizeof(std::uint64_t);
    void* const keys = size == 0 ? nullptr : file_.context.allocate(MemoryKind::other, size);
    if (keys != nullptr) {
        runs.sort_points(static_cast<std::uint64_t*>(keys));
    }
    Status status = writing() ? write_chunks(runs) : read_chunks(runs);
    file_.context.release(MemoryKind::other, keys, size);
    if (status == Status::out_of_memory && keys != nullptr) {
        empty_sequences(true);
        H5MOTE_TRY(runs.reset(request_.selection, space_, chunk_dims));
        status = writing() ? write_chunks(runs) : read_chunks(runs);
    }
    return status;
}

Status transfer(DatasetState& dataset, const TransferRequest& request) noexcept {
    FileState& file = dataset.file();
    Context& context = file.context;
    Transfer* work = context.create<Transfer>(MemoryKind::other, dataset, request);
    if (work == nullptr) {
        // Free memory may be in pieces between chunks and changed blocks of metadata, which can go once they are
        // written.
        H5MOTE_TRY(file.chunks.evict_all());
        H5MOTE_TRY(file.write_changes());
        work = context.create<Transfer>(MemoryKind::other, dataset, request);
    }
    if (work == nullptr) {
        return Status::out_of_memory;
    }
    const Status status = work->run();
    context.destroy(MemoryKind::other, work);
    return status;
}

namespace {

DatasetState& state_of(AppendCursor* cursor) noexcept { return static_cast<DatasetState&>(*cursor); }

}  // namespace

H5MOTE_STEP Status Dataset::write(const Selection& selection, DatatypeView type, ConstBytes data) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    H5MOTE_TRY(state_of(cursor_).begin_change());
    const Bytes from{const_cast<std::byte*>(data.data()), data.size()};
    return transfer(state_of(cursor_), {selection, type, nullptr, nullptr, from, true});
}

H5MOTE_STEP Status Dataset::read(const Selection& selection, DatatypeView type, Bytes data) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    return transfer(state_of(cursor_), {selection, type, nullptr, nullptr, data});
}

H5MOTE_STEP Status Dataset::write(const Selection& selection, DatatypeView type, const Dataspace& memory,
                                  const Selection& memory_selection, ConstBytes data) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    H5MOTE_TRY(state_of(cursor_).begin_change());
    const Bytes from{const_cast<std::byte*>(data.data()), data.size()};
    return transfer(state_of(cursor_), {selection, type, &memory, &memory_selection, from, true});
}

H5MOTE_STEP Status Dataset::read(const Selection& selection, DatatypeView type, const Dataspace& memory,
                                 const Selection& memory_selection, Bytes data) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    return transfer(state_of(cursor_), {selection, type, &memory, &memory_selection, data});
}

H5MOTE_STEP Status Dataset::read_stored(const Selection& selection, Bytes data) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    return transfer(state_of(cursor_), {selection, {}, nullptr, nullptr, data, false, true});
}

H5MOTE_STEP Status Dataset::write_stored(const Selection& selection, ConstBytes data) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    H5MOTE_TRY(state_of(cursor_).begin_change());
    const Bytes from{const_cast<std::byte*>(data.data()), data.size()};
    return transfer(state_of(cursor_), {selection, {}, nullptr, nullptr, from, true, true});
}

}  // namespace h5mote
