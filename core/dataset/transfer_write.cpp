// H5D I/O - writing.

#include "transfer.hpp"

namespace h5mote {

Status Transfer::to_memory(std::byte* at, const PairedRun& piece) noexcept {
    return conversion_.run(static_cast<std::size_t>(piece.length), user(piece.memory), memory_size_,
                           at + static_cast<std::size_t>(piece.file * element_size_), element_size_);
}

Status Transfer::to_file(std::uint64_t address, const PairedRun& piece) noexcept {
    const std::uint64_t at = address + piece.file * element_size_;
    const std::size_t bytes = static_cast<std::size_t>(piece.length * element_size_);
    file_.unsynced = true;
    if (conversion_.is_copy()) {
        return file_.driver.write(Usage::raw_data, at, {user(piece.memory), bytes});
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
        H5MOTE_TRY(file_.driver.read(Usage::raw_data, at + done * element_size_, elements));
        H5MOTE_TRY(to_memory(buffer, {0, piece.memory + done, now, 1}));
        H5MOTE_TRY(file_.order_heap());
        file_.unsynced = true;
        H5MOTE_TRY(file_.driver.write(Usage::raw_data, at + done * element_size_, elements));
    }
    return Status::ok;
}

Status Transfer::write_whole() noexcept {
    SelectionRuns& runs = *::new (static_cast<void*>(&walk_.whole)) SelectionRuns;
    H5MOTE_TRY(runs.reset(request_.selection, space_));
    if (dataset_.layout_class() == Layout::compact) {
        return write_compact(runs);
    }
    if (dataset_.data_address() == kUndefinedAddress) {
        H5MOTE_TRY(dataset_.allocate_contiguous());
    }
    SelectionRun run;
    PairedRun piece;
    while (runs.next(run)) {
        pairs_.take(run);
        while (pairs_.next(piece)) {
            H5MOTE_TRY(to_file(dataset_.data_address(), piece));
        }
    }
    return Status::ok;
}

Status Transfer::write_compact(SelectionRuns& runs) noexcept {
    MessageIterator message(file_, dataset_.address());
    H5MOTE_TRY(message.next(MessageType::layout));
    LayoutMessage layout;
    H5MOTE_TRY(layout.decode(file_.context, file_.shape(), message.body()));
    std::byte* data = nullptr;
    H5MOTE_TRY(message.change(layout.compact_offset, data));
    SelectionRun run;
    PairedRun piece;
    while (runs.next(run)) {
        pairs_.take(run);
        while (pairs_.next(piece)) {
            H5MOTE_TRY(to_memory(data, piece));
        }
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
                slot->touch(static_cast<std::uint32_t>(piece.file * element_size_),
                            static_cast<std::uint32_t>((piece.file + piece.length) * element_size_));
                H5MOTE_TRY(to_memory(slot->data(), piece));
            }
        }
    }
    return Status::ok;
}

}  // namespace h5mote
