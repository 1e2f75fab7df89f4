#include "layout_message.hpp"

#include "checked.hpp"

namespace h5mote {

namespace {

bool sound_chunks(const LayoutMessage& layout, const Reader& reader) noexcept {
    bool sound = reader.ok() && layout.dimensionality >= 2 && layout.dimensionality <= 33;
    for (unsigned i = 0; sound && i < layout.dimensionality; ++i) {
        sound = layout.chunk_dim(i) != 0;
    }
    return sound;
}

// Whether this build reads chunks with that index, one of those that versions 4 and 5 have.
constexpr bool is_read(ChunkIndex index) noexcept {
    switch (index) {
        case ChunkIndex::single:
        case ChunkIndex::implicit:
        case ChunkIndex::fixed_array:
            return H5MOTE_FIXED_CHUNKS != 0;
        case ChunkIndex::extensible_array:
            return true;
        case ChunkIndex::btree2:
            return H5MOTE_ALL_FORMATS != 0;
        default:
            return false;
    }
}

constexpr bool is_read(Layout layout_class) noexcept {
    switch (layout_class) {
        case Layout::compact:
        case Layout::contiguous:
            return H5MOTE_PARTIAL_IO != 0;
        case Layout::chunked:
            return true;
        case Layout::virtual_dataset:
            return H5MOTE_ALL_FORMATS != 0;
        default:
            return false;
    }
}

Status decode_chunked(Context& context, FileShape shape, Reader& reader, LayoutMessage& layout) noexcept {
    layout.flags = reader.u8();
    layout.dimensionality = reader.u8();
    layout.dim_width = reader.u8();
    if (layout.dim_width < 1 || layout.dim_width > 8) {
        return damaged_message(context, H5MOTE_HERE, MessageType::layout);
    }
    layout.chunk_dims = reader.bytes(static_cast<std::size_t>(layout.dimensionality) * layout.dim_width).data();
    const auto index = static_cast<ChunkIndex>(reader.u8());
    layout.index = index;
    // An index that this build does not read is refused like one that nobody knows.
    switch (is_read(index) ? index : ChunkIndex::none) {
        case ChunkIndex::single:
            if ((layout.flags & LayoutMessage::kSingleFiltered) != 0) {
                layout.single_size = shape.read_size(reader);
                layout.single_mask = reader.u32();
            }
            break;
        case ChunkIndex::implicit:
            break;
        case ChunkIndex::fixed_array:
            layout.array.page_bits = reader.u8();
            break;
        case ChunkIndex::extensible_array:
            layout.array.max_bits = reader.u8();
            layout.array.index_block_elements = reader.u8();
            layout.array.super_block_min_pointers = reader.u8();
            layout.array.data_block_min_elements = reader.u8();
            layout.array.page_bits = reader.u8();
            break;
        case ChunkIndex::btree2:
            reader.skip(6);  // creation parameters of the B-tree, which its header repeats
            break;
        default:
            return context.unsupported(Module::format, H5MOTE_HERE, Feature::chunk_index,
                                       static_cast<std::uint32_t>(index));
    }
    layout.address = shape.read_addr(reader);
    return sound_chunks(layout, reader) ? Status::ok : damaged_message(context, H5MOTE_HERE, MessageType::layout);
}

// Versions 1, 2 and 3.
Status decode_btree1(Context& context, FileShape shape, Reader& reader, LayoutMessage& layout) noexcept {
    if constexpr (H5MOTE_ALL_FORMATS == 0) {
        return context.unsupported(Module::format, H5MOTE_HERE, Feature::chunk_index);
    }
    if (layout.version >= 3) {
        layout.dimensionality = reader.u8();
        layout.address = shape.read_addr(reader);
    }
    layout.index = ChunkIndex::btree1;
    layout.dim_width = 4;
    layout.chunk_dims = reader.bytes(std::size_t{4} * layout.dimensionality).data();
    return sound_chunks(layout, reader) ? Status::ok : damaged_message(context, H5MOTE_HERE, MessageType::layout);
}

// Everything but chunks, versions 3 to 5.
void decode_whole(FileShape shape, Reader& reader, LayoutMessage& layout) noexcept {
    if (layout.layout_class == Layout::compact) {
        layout.size = reader.u16();
        return;
    }
    layout.address = shape.read_addr(reader);
    if (layout.layout_class == Layout::contiguous) {
        layout.size = shape.read_size(reader);
    } else {
        layout.heap_index = reader.u32();
    }
}

// Versions 1 and 2. Their dimensions of compact and contiguous data are skipped: they were cut to 32 bits, and the
// dataspace has them in full.
Status decode_old(Context& context, FileShape shape, Reader& reader, LayoutMessage& layout) noexcept {
    layout.dimensionality = reader.u8();
    layout.layout_class = static_cast<Layout>(reader.u8());
    reader.skip(5);
    if (layout.layout_class != Layout::compact) {
        layout.address = shape.read_addr(reader);
    }
    switch (layout.layout_class) {
        case Layout::chunked:
            return decode_btree1(context, shape, reader, layout);
        case Layout::compact:
        case Layout::contiguous:
            reader.skip(std::size_t{4} * layout.dimensionality);
            layout.size = layout.layout_class == Layout::compact ? reader.u32() : kUndefinedAddress;
            return Status::ok;
        default:
            return damaged_message(context, H5MOTE_HERE, MessageType::layout);
    }
}

}  // namespace

Status LayoutMessage::decode(Context& context, FileShape shape, ConstBytes head, Address length) noexcept {
    Reader reader(head);
    version = reader.u8();
    if (H5MOTE_ALL_FORMATS != 0 && (version == 1 || version == 2)) {
        H5MOTE_TRY(decode_old(context, shape, reader, *this));
    } else {
        layout_class = static_cast<Layout>(reader.u8());
        if (version != 4 && version != 3 && (H5MOTE_ALL_FORMATS == 0 || version != 5)) {
            return context.unsupported(Module::format, H5MOTE_HERE, Feature::layout_version, version);
        }
        if (!is_read(layout_class)) {
            return context.unsupported(Module::format, H5MOTE_HERE, Feature::layout_class,
                                       static_cast<std::uint32_t>(layout_class));
        }
        if (layout_class == Layout::chunked) {
            return version == 3 ? decode_btree1(context, shape, reader, *this)
                                : decode_chunked(context, shape, reader, *this);
        }
        decode_whole(shape, reader, *this);
    }
    bool sound = reader.ok();
    if (layout_class == Layout::compact) {
        compact_offset = static_cast<std::uint32_t>(head.size() - reader.remaining());
        sound = sound && within(compact_offset, size, length);
    }
    return sound ? Status::ok : damaged_message(context, H5MOTE_HERE, MessageType::layout);
}

std::size_t LayoutMessage::find_index(ConstBytes body, FileShape shape) noexcept {
    Reader reader(body);
    const unsigned version = reader.u8();
    if (version < 4) {
        return version == 3 ? 3U : 8U;
    }
    reader.skip(1);
    const bool filtered = (reader.u8() & kSingleFiltered) != 0;
    const std::size_t dims = reader.u8();
    reader.skip(dims * reader.u8());
    switch (static_cast<ChunkIndex>(reader.u8())) {
        case ChunkIndex::single:
            reader.skip(filtered ? shape.sizeof_size + 4U : 0U);
            break;
        case ChunkIndex::fixed_array:
            reader.skip(1);
            break;
        case ChunkIndex::extensible_array:
            reader.skip(5);
            break;
        case ChunkIndex::btree2:
            reader.skip(6);
            break;
        default:
            break;
    }
    return body.size() - reader.remaining();
}

void LayoutMessage::encode(Writer& writer, FileShape shape, const std::uint32_t* dims,
                           std::uint32_t element_size) const noexcept {
    writer.u8(version);
    writer.u8(static_cast<std::uint8_t>(layout_class));
    if constexpr (H5MOTE_PARTIAL_IO != 0) {
        if (layout_class == Layout::compact) {
            writer.u16(static_cast<std::uint16_t>(size));
            return;
        }
        if (layout_class == Layout::contiguous) {
            shape.write_addr(writer, address);
            shape.write_size(writer, size);
            return;
        }
    }
    if (H5MOTE_ALL_FORMATS != 0 && layout_class == Layout::virtual_dataset) {
        shape.write_addr(writer, address);
        writer.u32(heap_index);
        return;
    }
    const unsigned rank = dimensionality - 1U;
    if (H5MOTE_ALL_FORMATS != 0 && index == ChunkIndex::btree1) {
        writer.u8(dimensionality);
        shape.write_addr(writer, address);
        for (unsigned i = 0; i < rank; ++i) {
            writer.u32(dims[i]);
        }
        writer.u32(element_size);
        return;
    }
    std::uint32_t largest = element_size;
    for (unsigned i = 0; i < rank; ++i) {
        largest |= dims[i];
    }
    const unsigned width = uint_width(largest);
    writer.u8(flags);
    writer.u8(dimensionality);
    writer.u8(width);
    for (unsigned i = 0; i < rank; ++i) {
        writer.uint(width, dims[i]);
    }
    writer.uint(width, element_size);
    writer.u8(static_cast<std::uint8_t>(index));
    if constexpr (H5MOTE_FIXED_CHUNKS != 0) {
        if (index == ChunkIndex::single && (flags & kSingleFiltered) != 0) {
            shape.write_size(writer, single_size);
            writer.u32(single_mask);
        } else if (index == ChunkIndex::fixed_array) {
            writer.u8(array.page_bits);
        }
    }
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        if (index == ChunkIndex::btree2) {
            writer.u32(kBTree2NodeSize);
            writer.u8(kBTree2Split);
            writer.u8(kBTree2Merge);
        }
    }
    if (index == ChunkIndex::extensible_array) {
        writer.u8(array.max_bits);
        writer.u8(array.index_block_elements);
        writer.u8(array.super_block_min_pointers);
        writer.u8(array.data_block_min_elements);
        writer.u8(array.page_bits);
    }
    shape.write_addr(writer, address);
}

}  // namespace h5mote
