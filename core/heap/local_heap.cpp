#include "local_heap.hpp"

#include "checked.hpp"

#include <cstring>

namespace h5mote {
namespace {

constexpr std::uint32_t kSignature = 0x50414548U;  // "HEAP"
constexpr Address kNoFree = 1;

}  // namespace

Status LocalHeap::damaged(SourcePlace place) noexcept {
    return file_->context.fail(Module::heap, place, Status::corrupt_file, 0, header_);
}

// The bytes that the header takes in the file: rounded up to 8.
Address LocalHeap::header_size() const noexcept {
    return (8U + 2U * file_->shape().sizeof_size + file_->shape().sizeof_addr + 7U) & ~7U;
}

Status LocalHeap::open(FileState& file, Address header) noexcept {
    file_ = &file;
    header_ = header;
    const FileShape shape = file.shape();
    const std::size_t size = 8U + 2U * shape.sizeof_size + shape.sizeof_addr;
    MetadataWindow window;
    H5MOTE_TRY(file.window(Usage::local_heap, header, size, false, window));
    ConstBytes bytes;
    H5MOTE_TRY(window.view(0, size, bytes));
    Reader reader(bytes);
    if (reader.u32() != kSignature || reader.u8() != 0) {
        return damaged(H5MOTE_HERE);
    }
    reader.skip(3);
    data_size_ = shape.read_size(reader);
    free_ = shape.read_size(reader);
    data_ = shape.read_addr(reader);
    return file.contains(data_, data_size_) ? Status::ok : damaged(H5MOTE_HERE);
}

Status LocalHeap::open_data(MetadataWindow& window) noexcept {
    return file_->window(Usage::local_heap, data_, data_size_, false, window);
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

Status LocalHeap::free_space(Address& bytes) noexcept {
    bytes = 0;
    const unsigned width = file_->shape().sizeof_size;
    MetadataWindow window;
    H5MOTE_TRY(open_data(window));
    for (Address at = free_; at != kNoFree;) {
        ConstBytes block;
        H5MOTE_TRY(window.view(at, 2U * width, block));
        Reader reader(block);
        const Address next = file_->shape().read_size(reader);
        const Address size = file_->shape().read_size(reader);
        bytes += size;
        // Free blocks do not overlap, so that a list with a loop soon exceeds the segment.
        if (size < 2U * width || !within(at, size, data_size_) || bytes > data_size_) {
            return damaged(H5MOTE_HERE);
        }
        at = next;
    }
    return Status::ok;
}

Status LocalHeap::walk(BlockVisitor& visitor) noexcept {
    H5MOTE_TRY(visitor.block(BlockKind::local_heap_header, header_, header_size()));
    return visitor.block(BlockKind::local_heap_data, data_, data_size_);
}

}  // namespace h5mote
