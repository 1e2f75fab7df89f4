#include "local_heap.hpp"

#include "checked.hpp"

#include <cstring>

namespace h5mote {

Status LocalHeap::damaged(SourcePlace place) noexcept {
    return file_->context.fail(Module::heap, place, Status::corrupt_file, 0, header_);
}

Status LocalHeap::open(FileState& file, Address header) noexcept {
    file_ = &file;
    header_ = header;
    const FileShape shape = file.shape();
    const std::size_t size = LocalHeapHeader::size(shape);
    MetadataWindow window;
    H5MOTE_TRY(file.window(Usage::local_heap, header, size, false, window));
    ConstBytes bytes;
    H5MOTE_TRY(window.view(0, size, bytes));
    const bool sound = heap_.decode(shape, bytes) && file.contains(heap_.data, heap_.data_size);
    return sound ? Status::ok : damaged(H5MOTE_HERE);
}

Status LocalHeap::open_data(MetadataWindow& window) noexcept {
    return file_->window(Usage::local_heap, heap_.data, heap_.data_size, false, window);
}

Status LocalHeap::compare(Address offset, ConstBytes name, int& order) noexcept {
    MetadataWindow own;
    MetadataWindow& window = searched_.valid() ? searched_ : own;
    if (!searched_.valid()) {
        H5MOTE_TRY(open_data(own));
    }
    for (std::size_t done = 0;;) {
        ConstBytes piece;
        H5MOTE_TRY(window.peek(offset + done, piece));
        for (std::size_t i = 0; i < piece.size(); ++i, ++done) {
            // The end of `name` counts as a zero byte, like the terminator. Where both are zero but `name` goes on, it
            // is the greater.
            const int mine = done < name.size() ? std::to_integer<int>(name[done]) : 0;
            const int its = std::to_integer<int>(piece[i]);
            if (mine != its || its == 0) {
                order = mine != its ? mine - its : done < name.size() ? 1 : 0;
                return Status::ok;
            }
        }
    }
}

Status LocalHeap::end_of_name(MetadataWindow& window, Address offset, Address& length) noexcept {
    for (length = 0;;) {
        ConstBytes piece;
        H5MOTE_TRY(window.peek(offset + length, piece));
        const void* const end = std::memchr(piece.data(), 0, piece.size());
        if (end != nullptr) {
            length += static_cast<Address>(static_cast<const std::byte*>(end) - piece.data());
            return Status::ok;
        }
        length += piece.size();
    }
}

Status LocalHeap::length(Address offset, std::size_t& bytes) noexcept {
    MetadataWindow window;
    Address found = 0;
    H5MOTE_TRY(open_data(window));
    H5MOTE_TRY(end_of_name(window, offset, found));
    return to_size(found, bytes) ? Status::ok : damaged(H5MOTE_HERE);
}

Status LocalHeap::copy(Address offset, Bytes to, std::size_t& length) noexcept {
    MetadataWindow window;
    H5MOTE_TRY(open_data(window));
    for (length = 0;;) {
        ConstBytes piece;
        H5MOTE_TRY(window.peek(offset + length, piece));
        const void* const end = std::memchr(piece.data(), 0, piece.size());
        const std::size_t now =
            end == nullptr ? piece.size() : static_cast<std::size_t>(static_cast<const std::byte*>(end) - piece.data());
        if (length < to.size()) {
            const std::size_t room = to.size() - length;
            std::memcpy(to.data() + length, piece.data(), now < room ? now : room);
        }
        length += now;
        if (end != nullptr) {
            return Status::ok;
        }
    }
}

Status LocalHeap::name(Address offset, MetadataWindow& window) noexcept {
    Address found = 0;
    H5MOTE_TRY(open_data(window));
    H5MOTE_TRY(end_of_name(window, offset, found));
    return window.restrict(offset, found);
}

Status LocalHeap::free_block(MetadataWindow& window, Address at, Address& passed, LocalHeapFreeBlock& block) noexcept {
    const FileShape shape = file_->shape();
    const std::size_t least = LocalHeapFreeBlock::fields_size(shape);
    ConstBytes fields;
    H5MOTE_TRY(window.view(at, least, fields));
    block.decode(shape, fields);
    const bool sound =
        block.size >= least && within(at, block.size, heap_.data_size) && block.size <= heap_.data_size - passed;
    passed += sound ? block.size : 0;
    return sound ? Status::ok : damaged(H5MOTE_HERE);
}

Status LocalHeap::free_space(Address& bytes) noexcept {
    bytes = 0;
    MetadataWindow window;
    H5MOTE_TRY(open_data(window));
    LocalHeapFreeBlock block;
    for (Address at = heap_.free; at != LocalHeapHeader::kNoFree; at = block.next) {
        H5MOTE_TRY(free_block(window, at, bytes, block));
    }
    return Status::ok;
}

Status LocalHeap::walk(BlockVisitor& visitor) noexcept {
    H5MOTE_TRY(visitor.block(BlockKind::local_heap_header, header_, header_size()));
    return visitor.block(BlockKind::local_heap_data, heap_.data, heap_.data_size);
}

}  // namespace h5mote
