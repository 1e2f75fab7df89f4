// H5D I/O - writing.

#include "transfer.hpp"

#include "external_changes.hpp"
#include "virtual_changes.hpp"
#include "work_buffer.hpp"

#include <cstring>

namespace h5mote {

Status Transfer::to_memory(std::byte* at, const PairedRun& piece) noexcept {
    return to_elements(at + static_cast<std::size_t>(piece.file * element_size_),
                       static_cast<std::size_t>(piece.length), piece.memory);
}

// Converts `count` elements of the caller's, from element `from` on. What the old values have in the heap is given up.
Status Transfer::to_elements(std::byte* to, std::size_t count, std::uint64_t from) noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0) {
        if (fill_ != nullptr) {
            const Status status = fill_->separate(to, count);
            file_.note_heap(dataset_.address());
            H5MOTE_TRY(status);
        }
    }
    return conversion_.run(count, user(from), memory_size_, to, element_size_);
}

Status Transfer::get(std::uint64_t address, Bytes to) noexcept {
    return dataset_.external() ? file_.context.formats().external_data->read(raw_.external(), address, to)
                               : file_.driver.read(Usage::raw_data, address, to);
}

// Objects of the global heap come before elements on the storage, or in other files, that may refer to them.
Status Transfer::order_heap() noexcept {
    return !refers_              ? Status::ok
           : dataset_.external() ? file_.commit_heap(dataset_.address())
                                 : file_.order_heap(dataset_.address());
}

Status Transfer::put(std::uint64_t address, ConstBytes from) noexcept {
    H5MOTE_TRY(order_heap());
    if (dataset_.external()) {
        return file_.context.formats().external_changes->write(raw_.external(), address, from);
    }
    file_.unsynced = true;
    return file_.driver.write(Usage::raw_data, address, from);
}

Status Transfer::to_file(Window& window, std::uint64_t address, const PairedRun& piece) noexcept {
    const std::uint64_t at = address + piece.file * element_size_;
    const std::size_t bytes = static_cast<std::size_t>(piece.length * element_size_);
    if (bytes <= kWindow / 2 && !to_heap_) {
        return to_window(window, at, bytes, piece);
    }
    H5MOTE_TRY(put_window(window));
    if (conversion_.is_copy()) {
        return put(at, {user(piece.memory), bytes});
    }
    // Converts some elements at a time. With each step that replaces values the heap gets holes that it can fill again.
    // External data may be written after a commit, which uses the scratch memory.
    const bool commits = to_heap_ && dataset_.external();
    const WorkBuffer buffer(file_, replaces_heap_ ? 0 : bytes, element_size_, commits);
    const std::size_t room = buffer.bytes().size() / element_size_;
    if (room == 0) {
        return Status::out_of_memory;
    }
    for (std::uint64_t done = 0; done < piece.length; done += room) {
        const std::uint64_t left = piece.length - done;
        const std::uint64_t now = left < room ? left : room;
        H5MOTE_TRY(convert_to(at + done * element_size_, {0, piece.memory + done, now, 1},
                              buffer.bytes().first(static_cast<std::size_t>(now * element_size_))));
    }
    return Status::ok;
}

// Converts elements in `buffer`, which has room for them, and writes them to `at`. The stored elements are read first:
// members that the memory datatype lacks stay, and old values of variable length are given up. Where the heap has no
// room for a value, those before it are written all the same, because their old ones are given up; if that fails, the
// old ones stay.
Status Transfer::convert_to(std::uint64_t at, const PairedRun& piece, Bytes buffer) noexcept {
    H5MOTE_TRY(get(at, buffer));
    const std::size_t discarded = discarded_values(file_);
    const Status converted = to_memory(buffer.data(), piece);
    const Status stored = or_keep(file_, converted == Status::ok || to_heap_ ? put(at, buffer) : converted, discarded);
    return converted == Status::ok ? stored : converted;
}

// Puts a short piece into the window if it lies behind what is there, with a short gap or none, or begins a new window
// with it. A window ends with its sector, so that those that follow are whole sectors. A piece that is alone in its
// window and needs no conversion stays where the caller has it.
Status Transfer::to_window(Window& window, std::uint64_t at, std::size_t bytes, const PairedRun& piece) noexcept {
    const bool copy = conversion_.is_copy();
    const std::uint64_t end = window.at + window.size;
    const bool near = window.size != 0 && at >= end && at - end <= (window.data_end == 0 ? 0 : kMostGap) &&
                      at + bytes <= (window.at | (kWindow - 1)) + 1;
    std::byte* const buffer = near || !copy ? file_.filter_scratch(kWindow) : nullptr;
    if (buffer == nullptr && !copy) {
        return Status::out_of_memory;
    }
    if (!near || buffer == nullptr) {
        H5MOTE_TRY(put_window(window));
        window = {window.data_end, at, copy ? user(piece.memory) : buffer, copy ? bytes : 0, 0};
        if (copy) {
            return Status::ok;
        }
    } else if (window.bytes != buffer) {
        std::memcpy(buffer, window.bytes, window.size);
        window.bytes = buffer;
        window.known = window.size;
    }
    // What lies in a gap is written as it is, and elements that are converted keep the members that the memory datatype
    // lacks.
    const auto offset = static_cast<std::size_t>(at - window.at);
    if ((copy ? offset : offset + bytes) > window.known) {
        const std::uint64_t left = window.data_end == 0 ? offset + bytes : window.data_end - window.at;
        const std::size_t known = left < kWindow ? static_cast<std::size_t>(left) : kWindow;
        H5MOTE_TRY(get(window.at + window.known, {buffer + window.known, known - window.known}));
        window.known = known;
    }
    H5MOTE_TRY(to_memory(buffer + offset, {0, piece.memory, piece.length, 1}));
    window.size = offset + bytes;
    window.known = window.known < window.size ? window.size : window.known;
    return Status::ok;
}

Status Transfer::put_window(Window& window) noexcept {
    const std::size_t size = window.size;
    window.size = 0;
    return size == 0 ? Status::ok : put(window.at, {window.bytes, size});
}

Status Transfer::write_whole() noexcept {
    SelectionRuns& runs = *::new (static_cast<void*>(&walk_.whole)) SelectionRuns;
    H5MOTE_TRY(runs.reset(request_.selection, space_));
    if (dataset_.layout_class() == Layout::compact) {
        return write_compact(runs);
    }
    if (dataset_.is_virtual()) {
        return file_.context.formats().virtual_changes->write(dataset_, request_, space_, pairs_, memory_size_);
    }
    if (dataset_.data_address() == kUndefinedAddress) {
        H5MOTE_TRY(dataset_.allocate_contiguous());
    }
    if (dataset_.external()) {
        // Elements of which only a part is written are read first, from the same files. A commit, if one is needed for
        // what the caller has made, comes before the scratch memory is used.
        H5MOTE_TRY(put(0, {}));
    }
    Window window{dataset_.external() ? 0 : dataset_.data_address() + dataset_.data_size()};
    SelectionRun run;
    PairedRun piece;
    while (runs.next(run)) {
        pairs_.take(run);
        while (pairs_.next(piece)) {
            H5MOTE_TRY(to_file(window, dataset_.data_address(), piece));
        }
    }
    H5MOTE_TRY(put_window(window));
    return dataset_.external() ? file_.context.formats().external_changes->sync(raw_.external()) : Status::ok;
}

Status Transfer::write_compact(SelectionRuns& runs) noexcept {
    MessageIterator message(file_, dataset_.address());
    H5MOTE_TRY(message.next(MessageType::layout));
    ConstBytes body;
    H5MOTE_TRY(message.view_body(body));
    LayoutMessage layout;
    H5MOTE_TRY(layout.decode(file_.context, file_.shape(), body));
    const std::uint32_t offset = layout.compact_offset;
    std::byte* data = nullptr;
    H5MOTE_TRY(message.change(offset, data));
    SelectionRun run;
    PairedRun piece;
    while (runs.next(run)) {
        pairs_.take(run);
        while (pairs_.next(piece)) {
            H5MOTE_TRY(to_heap_ ? to_header(message, offset, piece) : to_memory(data, piece));
        }
    }
    return Status::ok;
}

// Values of variable length go to the heap, and changes that the heap orders before its own write the header. So each
// element is converted beside the header, which counts as changed when the element is there.
Status Transfer::to_header(MessageIterator& message, std::size_t offset, const PairedRun& piece) noexcept {
    std::byte* const element = file_.filter_scratch(element_size_);
    if (element == nullptr) {
        return Status::out_of_memory;
    }
    for (std::uint64_t i = 0; i < piece.length; ++i) {
        const std::size_t at = offset + static_cast<std::size_t>((piece.file + i) * element_size_);
        std::memcpy(element, message.body().data() + at, element_size_);
        const std::size_t discarded = discarded_values(file_);
        std::byte* to = nullptr;
        Status status = to_elements(element, 1, piece.memory + i);
        status = status == Status::ok ? message.change(at, to) : status;
        H5MOTE_TRY(or_keep(file_, status, discarded));
        std::memcpy(to, element, element_size_);
    }
    return Status::ok;
}

Status Transfer::write_chunks(ChunkedRuns& runs) noexcept {
    const bool in_memory = dataset_.fits_cache();
    const bool whole_elements = !conversion_.is_partial();
    while (runs.next_chunk()) {
        const ChunkKey key = dataset_.key_of(runs.scaled().data());
        ChunkSlot* slot = nullptr;
        Address address = kUndefinedAddress;
        H5MOTE_TRY(in_memory ? dataset_.chunk(key, whole_elements && runs.covers_chunk(), slot)
                             : dataset_.chunk_in_place(key, true, address));
        Window window{std::uint64_t{address} + dataset_.chunk_bytes()};
        SelectionRun run;
        PairedRun piece;
        while (runs.next(run)) {
            pairs_.take(run);
            while (pairs_.next(piece)) {
                if (slot == nullptr) {
                    H5MOTE_TRY(to_file(window, address, piece));
                    continue;
                }
                if (refers_) {
                    file_.note_heap(dataset_.address());
                }
                const Status status = to_memory(slot->data(), piece);
                // Only now: values of variable length go to the heap meanwhile, and changes that the heap orders before
                // its own write the chunk, which then counts as unchanged.
                slot->touch(static_cast<std::uint32_t>(piece.file * element_size_),
                            static_cast<std::uint32_t>((piece.file + piece.length) * element_size_));
                H5MOTE_TRY(status);
            }
        }
        H5MOTE_TRY(put_window(window));
    }
    return Status::ok;
}

}  // namespace h5mote
