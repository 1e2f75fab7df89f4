// H5D I/O - writing.

#include "transfer.hpp"

#include "external_changes.hpp"
#include "virtual_changes.hpp"

#include <cstring>

namespace h5mote {

Status Transfer::to_memory(std::byte* at, const PairedRun& piece) noexcept {
    return conversion_.run(static_cast<std::size_t>(piece.length), user(piece.memory), memory_size_,
                           at + static_cast<std::size_t>(piece.file * element_size_), element_size_);
}

Status Transfer::get(std::uint64_t address, Bytes to) noexcept {
    return dataset_.external() ? file_.context.formats().external_data->read(raw_.external(), address, to)
                               : file_.driver.read(Usage::raw_data, address, to);
}

Status Transfer::put(std::uint64_t address, ConstBytes from) noexcept {
    if (dataset_.external()) {
        return file_.context.formats().external_changes->write(raw_.external(), address, from);
    }
    file_.unsynced = true;
    return file_.driver.write(Usage::raw_data, address, from);
}

Status Transfer::to_file(std::uint64_t address, const PairedRun& piece) noexcept {
    const std::uint64_t at = address + piece.file * element_size_;
    const std::size_t bytes = static_cast<std::size_t>(piece.length * element_size_);
    if (conversion_.is_copy()) {
        return put(at, {user(piece.memory), bytes});
    }
    // Converts a few elements at a time. The stored elements are read first: members that the memory datatype lacks
    // stay.
    const std::size_t room = element_size_ < 512 ? 512 / element_size_ : 1;
    std::byte* const buffer = file_.filter_scratch(room * element_size_);
    if (buffer == nullptr) {
        return Status::out_of_memory;
    }
    for (std::uint64_t done = 0; done < piece.length; done += room) {
        const std::uint64_t left = piece.length - done;
        const std::uint64_t now = left < room ? left : room;
        const Bytes elements{buffer, static_cast<std::size_t>(now * element_size_)};
        H5MOTE_TRY(get(at + done * element_size_, elements));
        H5MOTE_TRY(to_memory(buffer, {0, piece.memory + done, now, 1}));
        H5MOTE_TRY(file_.order_heap());
        H5MOTE_TRY(put(at + done * element_size_, elements));
    }
    return Status::ok;
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
        H5MOTE_TRY(put(0, {}));  // elements of which only a part is written are read first, from the same files
    }
    SelectionRun run;
    PairedRun piece;
    while (runs.next(run)) {
        pairs_.take(run);
        while (pairs_.next(piece)) {
            H5MOTE_TRY(to_file(dataset_.data_address(), piece));
        }
    }
    return dataset_.external() ? file_.context.formats().external_changes->sync(raw_.external()) : Status::ok;
}

Status Transfer::write_compact(SelectionRuns& runs) noexcept {
    MessageIterator message(file_, dataset_.address());
    H5MOTE_TRY(message.next(MessageType::layout));
    LayoutMessage layout;
    H5MOTE_TRY(layout.decode(file_.context, file_.shape(), message.body()));
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
        H5MOTE_TRY(conversion_.run(1, user(piece.memory + i), memory_size_, element, element_size_));
        std::byte* to = nullptr;
        H5MOTE_TRY(message.change(at, to));
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
        SelectionRun run;
        PairedRun piece;
        while (runs.next(run)) {
            pairs_.take(run);
            while (pairs_.next(piece)) {
                if (slot == nullptr) {
                    H5MOTE_TRY(to_file(address, piece));
                    continue;
                }
                const Status status = to_memory(slot->data(), piece);
                // Only now: values of variable length go to the heap meanwhile, and changes that the heap orders before
                // its own write the chunk, which then counts as unchanged.
                slot->touch(static_cast<std::uint32_t>(piece.file * element_size_),
                            static_cast<std::uint32_t>((piece.file + piece.length) * element_size_));
                H5MOTE_TRY(status);
            }
        }
    }
    return Status::ok;
}

}  // namespace h5mote
