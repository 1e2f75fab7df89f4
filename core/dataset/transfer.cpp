// H5D I/O - whole and partial reading and writing of any layout.

#include "chunked_runs.hpp"
#include "conversion.hpp"
#include "dataset_state.hpp"
#include "prepare.hpp"
#include "selection_runs.hpp"

#include <cstring>

#if H5MOTE_PARTIAL_IO

namespace h5mote {
namespace {

DatasetState& state_of(AppendCursor* cursor) noexcept { return static_cast<DatasetState&>(*cursor); }

// One transfer between a dataset and a buffer. Lives in the library's memory: iterators of rank 32 are too large for
// the stack of a small machine.
class Transfer {
public:
    Transfer(DatasetState& dataset, bool write) noexcept : dataset_(dataset), file_(dataset.file()), write_(write) {}
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;

    /// `data` is written to when reading only.
    Status run(const Selection& selection, DatatypeView type, const Dataspace* memory,
               const Selection& memory_selection, Bytes data) noexcept;

private:
    Status check_sizes(std::uint64_t count, const Dataspace* memory, const Selection& memory_selection,
                       Bytes data) noexcept;
    Status prepare(DatatypeView type) noexcept;
    Status chunked() noexcept;
    Status chunked_runs(ChunkedRuns& runs) noexcept;
    Status contiguous(std::uint64_t address) noexcept;
    Status compact() noexcept;
    // Moves one piece between the buffer and elements that stand at `from` in memory.
    void move(std::byte* at, const PairedRun& piece) noexcept;
    // The same for elements that stand in the file.
    Status move_in_file(std::uint64_t address, const PairedRun& piece) noexcept;
    Status fill(const PairedRun& piece) noexcept;

    Status invalid(unsigned line, std::uint64_t value = 0) noexcept {
        return file_.context.fail(Module::dataset, line, Status::invalid_argument, 0, value);
    }
    std::byte* user(std::uint64_t element) const noexcept {
        return data_ + static_cast<std::size_t>(element * memory_size_);
    }

    DatasetState& dataset_;
    FileState& file_;
    bool writing() const noexcept { return H5MOTE_WRITE != 0 && write_; }

    bool write_;
    Conversion conversion_;
    Dataspace space_;
    Selection selection_;
    PairedRuns pairs_;
    std::byte* data_ = nullptr;
    std::uint32_t memory_size_ = 0;
    std::uint32_t element_size_ = 0;
    union Walk {
        Walk() noexcept {}
        ~Walk() {}
        ChunkedRuns chunks;
        SelectionRuns whole;
    } walk_;
};

Status Transfer::prepare(DatatypeView type) noexcept {
    MessageIterator message(file_, dataset_.address());
    H5MOTE_TRY(message.next(MessageType::datatype));
    DatatypeView stored;
    H5MOTE_TRY(view_datatype(file_.context, message.body(), stored));
    memory_size_ = type.size();
    element_size_ = stored.size();
    return writing() ? prepare_conversion(file_.context, conversion_, type, stored)
                     : prepare_conversion(file_.context, conversion_, stored, type);
}

Status Transfer::check_sizes(std::uint64_t count, const Dataspace* memory, const Selection& memory_selection,
                             Bytes data) noexcept {
    std::uint64_t elements = count;
    if (memory != nullptr) {
        H5MOTE_TRY(pairs_.reset(memory_selection, *memory, count));
        H5MOTE_TRY(memory->element_count(elements));
    }
    // The buffer is a size_t long, so that the product cannot overflow once the quotient agrees.
    return memory_size_ != 0 && data.size() % memory_size_ == 0 && data.size() / memory_size_ == elements
               ? Status::ok
               : invalid(__LINE__, elements * memory_size_);
}

Status Transfer::run(const Selection& selection, DatatypeView type, const Dataspace* memory,
                     const Selection& memory_selection, Bytes data) noexcept {
    dataset_.settle_cursor();
    H5MOTE_TRY(prepare(type));
    selection_ = selection;
    dataset_.copy_dataspace(space_);
    std::uint64_t count = 0;
    if (selection.element_count(space_, count) != Status::ok) {
        return invalid(__LINE__);
    }
    H5MOTE_TRY(check_sizes(count, memory, memory_selection, data));
    data_ = data.data();
    if (count == 0) {
        return Status::ok;
    }
    switch (dataset_.layout_class()) {
        case LayoutMessage::Class::chunked:
            return chunked();
        case LayoutMessage::Class::compact:
            return compact();
        default:
            if (writing() && dataset_.data_address() == kUndefinedAddress) {
                H5MOTE_TRY(dataset_.allocate_contiguous());
            }
            return contiguous(dataset_.data_address());
    }
}

void Transfer::move(std::byte* at, const PairedRun& piece) noexcept {
    std::byte* const stored = at + static_cast<std::size_t>(piece.file * element_size_);
    const std::size_t count = static_cast<std::size_t>(piece.length);
    if (writing()) {
        (void)conversion_.run(count, user(piece.memory), memory_size_, stored, element_size_);
    } else {
        (void)conversion_.run(count, stored, element_size_, user(piece.memory), memory_size_);
    }
}

Status Transfer::move_in_file(std::uint64_t address, const PairedRun& piece) noexcept {
    const std::uint64_t at = address + piece.file * element_size_;
    const std::size_t bytes = static_cast<std::size_t>(piece.length * element_size_);
    if (conversion_.is_copy()) {
        file_.unsynced = file_.unsynced || writing();
        return writing() ? file_.driver.write(Usage::raw_data, at, {user(piece.memory), bytes})
                         : file_.driver.read(Usage::raw_data, at, {user(piece.memory), bytes});
    }
    // Converted a few elements at a time. What is written is read first: a compound may lack members.
    const std::size_t room = element_size_ < 512 ? 512 / element_size_ : 1;
    std::byte* const buffer = file_.filter_scratch(room * element_size_);
    if (buffer == nullptr) {
        return Status::out_of_memory;
    }
    for (std::uint64_t done = 0; done < piece.length; done += room) {
        const std::uint64_t left = piece.length - done;
        const std::uint64_t now = left < room ? left : room;
        const Bytes elements{buffer, static_cast<std::size_t>(now * element_size_)};
        H5MOTE_TRY(file_.driver.read(Usage::raw_data, at + done * element_size_, elements));
        move(buffer, {0, piece.memory + done, now});
        if (writing()) {
            file_.unsynced = true;
            H5MOTE_TRY(file_.driver.write(Usage::raw_data, at + done * element_size_, elements));
        }
    }
    return Status::ok;
}

// What was never written reads as the fill value, element by element for it may need conversion.
Status Transfer::fill(const PairedRun& piece) noexcept {
    std::byte* const one = file_.filter_scratch(element_size_);
    if (one == nullptr) {
        return Status::out_of_memory;
    }
    H5MOTE_TRY(dataset_.fill(one, 1));
    for (std::uint64_t i = 0; i < piece.length; ++i) {
        move(one, {0, piece.memory + i, 1});
    }
    return Status::ok;
}

Status Transfer::contiguous(std::uint64_t address) noexcept {
    SelectionRuns& runs = *::new (static_cast<void*>(&walk_.whole)) SelectionRuns;
    H5MOTE_TRY(runs.reset(selection_, space_));
    SelectionRun run;
    PairedRun piece;
    while (runs.next(run)) {
        pairs_.take(run);
        while (pairs_.next(piece)) {
            H5MOTE_TRY(address == kUndefinedAddress ? fill(piece) : move_in_file(address, piece));
        }
    }
    return Status::ok;
}

Status Transfer::compact() noexcept {
    MessageIterator message(file_, dataset_.address());
    H5MOTE_TRY(message.next(MessageType::layout));
    LayoutMessage layout;
    H5MOTE_TRY(layout.decode(file_.context, file_.shape(), message.body()));
    const std::size_t offset = static_cast<std::size_t>(layout.compact.data() - message.block()->at(0));
    SelectionRuns& runs = *::new (static_cast<void*>(&walk_.whole)) SelectionRuns;
    H5MOTE_TRY(runs.reset(selection_, space_));
    SelectionRun run;
    PairedRun piece;
    while (runs.next(run)) {
        pairs_.take(run);
        while (pairs_.next(piece)) {
            move(message.block()->at(offset), piece);
        }
    }
    if (writing()) {
        MetadataCache::mark_dirty(*message.block(), offset, Phase::object);
    }
    return Status::ok;
}

Status Transfer::chunked() noexcept {
    ChunkedRuns& runs = *::new (static_cast<void*>(&walk_.chunks)) ChunkedRuns;
    const Span<const std::uint64_t> chunk_dims(dataset_.chunk_dims(), dataset_.rank());
    H5MOTE_TRY(runs.reset(selection_, space_, chunk_dims));
    // Points are sorted by chunk where there is memory for it; it must not be what something else needs then.
    const std::size_t size = selection_.point_count() * sizeof(std::uint64_t);
    void* const keys = size == 0 ? nullptr : file_.context.allocate(MemoryKind::other, size);
    if (keys != nullptr) {
        runs.sort_points(static_cast<std::uint64_t*>(keys));
    }
    Status status = chunked_runs(runs);
    file_.context.release(MemoryKind::other, keys, size);
    if (status == Status::out_of_memory && keys != nullptr) {
        H5MOTE_TRY(runs.reset(selection_, space_, chunk_dims));
        status = chunked_runs(runs);
    }
    return status;
}

Status Transfer::chunked_runs(ChunkedRuns& runs) noexcept {
    const bool in_memory = dataset_.fits_cache();
    while (runs.next_chunk()) {
        const Address index = dataset_.chunk_index(runs.scaled().data());
        ChunkSlot* slot = nullptr;
        Address address = kUndefinedAddress;
        H5MOTE_TRY(in_memory ? dataset_.chunk(index, writing() && runs.covers_chunk(), slot)
                             : dataset_.chunk_in_place(index, writing(), address));
        SelectionRun run;
        PairedRun piece;
        while (runs.next(run)) {
            pairs_.take(run);
            while (pairs_.next(piece)) {
                if (slot == nullptr) {
                    H5MOTE_TRY(address == kUndefinedAddress ? fill(piece) : move_in_file(address, piece));
                    continue;
                }
                move(slot->data(), piece);
                if (writing()) {
                    slot->touch(static_cast<std::uint32_t>(piece.file * element_size_),
                                static_cast<std::uint32_t>((piece.file + piece.length) * element_size_));
                }
            }
        }
    }
    return Status::ok;
}

Status transfer(DatasetState& dataset, bool write, const Selection& selection, DatatypeView type,
                const Dataspace* memory, const Selection& memory_selection, Bytes data) noexcept {
    Context& context = dataset.file().context;
    Transfer* work = context.create<Transfer>(MemoryKind::other, dataset, write);
    if (work == nullptr) {
        return Status::out_of_memory;
    }
    const Status status = work->run(selection, type, memory, memory_selection, data);
    context.destroy(MemoryKind::other, work);
    return status;
}

}  // namespace

Status Dataset::write(const Selection& selection, DatatypeView type, ConstBytes data) noexcept {
    H5MOTE_TRY(check());
    H5MOTE_TRY(file_->check_writable());
    return transfer(state_of(cursor_), true, selection, type, nullptr, Selection::all(),
                    {const_cast<std::byte*>(data.data()), data.size()});
}

Status Dataset::read(const Selection& selection, DatatypeView type, Bytes data) noexcept {
    H5MOTE_TRY(check());
    return transfer(state_of(cursor_), false, selection, type, nullptr, Selection::all(), data);
}

Status Dataset::write(const Selection& selection, DatatypeView type, const Dataspace& memory,
                      const Selection& memory_selection, ConstBytes data) noexcept {
    H5MOTE_TRY(check());
    H5MOTE_TRY(file_->check_writable());
    return transfer(state_of(cursor_), true, selection, type, &memory, memory_selection,
                    {const_cast<std::byte*>(data.data()), data.size()});
}

Status Dataset::read(const Selection& selection, DatatypeView type, const Dataspace& memory,
                     const Selection& memory_selection, Bytes data) noexcept {
    H5MOTE_TRY(check());
    return transfer(state_of(cursor_), false, selection, type, &memory, memory_selection, data);
}

}  // namespace h5mote

#endif
