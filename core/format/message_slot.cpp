#include "message_slot.hpp"

namespace h5mote {

void HeaderLayout::make_null(std::byte* head) const noexcept {
    head[0] = std::byte{0};
    head[size_offset() + 2] = std::byte{0};
}

void HeaderLayout::put_null(std::byte* head, std::size_t size) const noexcept {
    // Only blocks of more than 64 KiB have so much space in one piece. libhdf5 makes them when it extends a block.
    constexpr std::size_t kMost = 0xfff8;   // a body in version 1 cannot be longer
    constexpr std::size_t kPiece = 0x8000;  // leaves enough for what follows
    while (H5MOTE_ALL_FORMATS != 0 && size > head_ + kMost) {
        constexpr std::size_t kValues = 7;
        const std::size_t between = head_ + body_size(kValues);
        Writer writer(Bytes(head, head_));
        write_message_head(writer, *this, MessageType::null, kPiece);
        writer = Writer(Bytes(head + head_ + kPiece, between));
        write_message_head(writer, *this, MessageType::btree_k, body_size(kValues));
        writer.fill(std::byte{0}, body_size(kValues));
        head += head_ + kPiece + between;
        size -= head_ + kPiece + between;
    }
    Writer writer(Bytes(head, head_));
    write_message_head(writer, *this, MessageType::null, size - head_);
}

std::size_t HeaderLayout::end_of_messages(const std::byte* block, std::size_t at, std::size_t end) const noexcept {
    while (at + head_ <= end) {
        at += length_at(block + at);
    }
    return at;
}

void HeaderLayout::close_gap(std::byte* block, std::size_t null, std::size_t end) const noexcept {
    const std::size_t from = null + length_at(block + null);
    const std::size_t to = end_of_messages(block, from, end);
    if (to >= end) {
        return;
    }
    const std::size_t gap = end - to;
    // Moved byte by byte, from the end on, because both ranges may overlap.
    for (std::byte* at = block + to; at != block + from;) {
        --at;
        at[gap] = *at;
    }
    std::memset(block + from, 0, gap);
    put_null(block + null, from + gap - null);
}

void MessageSlot::decode(HeaderLayout layout, const std::byte* head) noexcept {
    type = layout.type_at(head);
    size = static_cast<std::uint16_t>(layout.body_size_at(head));
    flags = std::to_integer<std::uint8_t>(head[layout.is_old() ? 4 : 3]);
    order = layout.has_order() ? load_le<std::uint16_t>(head + 4) : std::uint16_t{0};
}

void write_message_head(Writer& writer, HeaderLayout layout, MessageType type, std::size_t size, std::uint8_t flags,
                        std::uint16_t order) noexcept {
    writer.u8(static_cast<std::uint8_t>(type));
    if (layout.is_old()) {
        writer.u8(0);
    }
    writer.u16(size);
    writer.u8(flags);
    if (layout.has_order()) {
        writer.u16(order);
    } else if (layout.is_old()) {
        writer.uint(3, 0);
    }
}

}  // namespace h5mote
