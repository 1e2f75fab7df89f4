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

Status decode_chunked(Context& context, FileShape shape, Reader& reader, LayoutMessage& layout) noexcept {
    layout.flags = reader.u8();
    layout.dimensionality = reader.u8();
    layout.dim_width = reader.u8();
    if (layout.dim_width < 1 || layout.dim_width > 8) {
        return damaged_message(context, H5MOTE_HERE, MessageType::layout);
    }
    layout.chunk_dims = reader.bytes(static_cast<std::size_t>(layout.dimensionality) * layout.dim_width).data();
    layout.index = static_cast<ChunkIndex>(reader.u8());
    switch (layout.index) {
#if H5MOTE_FIXED_CHUNKS
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
#endif
        case ChunkIndex::extensible_array:
            layout.array.max_bits = reader.u8();
            layout.array.index_block_elements = reader.u8();
            layout.array.super_block_min_pointers = reader.u8();
            layout.array.data_block_min_elements = reader.u8();
            layout.array.page_bits = reader.u8();
            break;
#if H5MOTE_ALL_FORMATS
        case ChunkIndex::btree2:
            reader.skip(6);  // creation parameters of the B-tree, which its header repeats
            break;
#endif
        default:
            return context.unsupported(Module::format, H5MOTE_HERE, Feature::chunk_index,
                                       static_cast<std::uint32_t>(layout.index));
    }
    layout.address = shape.read_addr(reader);
    return sound_chunks(layout, reader) ? Status::ok : damaged_message(context, H5MOTE_HERE, MessageType::layout);
}

#if H5MOTE_ALL_FORMATS
Status decode_btree1(Context& context, FileShape shape, Reader& reader, LayoutMessage& layout) noexcept {
    if (layout.version >= 3) {
        layout.dimensionality = reader.u8();
        layout.address = shape.read_addr(reader);
    }
    layout.index = ChunkIndex::btree1;
    layout.dim_width = 4;
    layout.chunk_dims = reader.bytes(std::size_t{4} * layout.dimensionality).data();
    return sound_chunks(layout, reader) ? Status::ok : damaged_message(context, H5MOTE_HERE, MessageType::layout);
}

// Versions 1 and 2. Their dimensions of compact and contiguous data are skipped: they were cut to 32 bits, and the
// dataspace has them in full.
Status decode_old(Context& context, FileShape shape, Reader& reader, LayoutMessage& layout) noexcept {
    layout.dimensionality = reader.u8();
    layout.layout_class = static_cast<LayoutMessage::Class>(reader.u8());
    reader.skip(5);
    if (layout.layout_class != LayoutMessage::Class::compact) {
        layout.address = shape.read_addr(reader);
    }
    switch (layout.layout_class) {
        case LayoutMessage::Class::chunked:
            return decode_btree1(context, shape, reader, layout);
        case LayoutMessage::Class::compact:
        case LayoutMessage::Class::contiguous:
            reader.skip(std::size_t{4} * layout.dimensionality);
            layout.size = layout.layout_class == LayoutMessage::Class::compact ? reader.u32() : kUndefinedAddress;
            return Status::ok;
        default:
            return damaged_message(context, H5MOTE_HERE, MessageType::layout);
    }
}
#endif

}  // namespace

Status LayoutMessage::decode(Context& context, FileShape shape, ConstBytes head, Address length) noexcept {
    Reader reader(head);
    version = reader.u8();
#if H5MOTE_ALL_FORMATS
    if (version == 1 || version == 2) {
        H5MOTE_TRY(decode_old(context, shape, reader, *this));
    } else
#endif
    {
        layout_class = static_cast<Class>(reader.u8());
        if (version != 4 && version != 3 && (H5MOTE_ALL_FORMATS == 0 || version != 5)) {
            return context.unsupported(Module::format, H5MOTE_HERE, Feature::layout_version, version);
        }
        switch (layout_class) {
#if H5MOTE_PARTIAL_IO
            case Class::compact:
                size = reader.u16();
                break;
            case Class::contiguous:
                address = shape.read_addr(reader);
                size = shape.read_size(reader);
                break;
#endif
            case Class::chunked:
                if (version == 3) {
#if H5MOTE_ALL_FORMATS
                    return decode_btree1(context, shape, reader, *this);
#else
                    return context.unsupported(Module::format, H5MOTE_HERE, Feature::chunk_index);
#endif
                }
                return decode_chunked(context, shape, reader, *this);
#if H5MOTE_ALL_FORMATS
            case Class::virtual_dataset:
                address = shape.read_addr(reader);
                single_mask = reader.u32();
                break;
#endif
            default:
                return context.unsupported(Module::format, H5MOTE_HERE, Feature::layout_class,
                                           static_cast<std::uint32_t>(layout_class));
        }
    }
    bool sound = reader.ok();
#if H5MOTE_PARTIAL_IO
    if (layout_class == Class::compact) {
        compact_offset = static_cast<std::uint32_t>(head.size() - reader.remaining());
        sound = sound && within(compact_offset, size, length);
    }
#endif
    (void)length;
    return sound ? Status::ok : damaged_message(context, H5MOTE_HERE, MessageType::layout);
}

void LayoutMessage::encode(Writer& writer, FileShape shape, const std::uint32_t* dims,
                           std::uint32_t element_size) const noexcept {
    writer.u8(4);
    writer.u8(static_cast<std::uint8_t>(layout_class));
#if H5MOTE_PARTIAL_IO
    if (layout_class == Class::compact) {
        writer.u16(static_cast<std::uint16_t>(size));
        return;
    }
    if (layout_class == Class::contiguous) {
        shape.write_addr(writer, address);
        shape.write_size(writer, size);
        return;
    }
#endif
    const unsigned rank = dimensionality - 1U;
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
#if H5MOTE_FIXED_CHUNKS
    if (index == ChunkIndex::single && (flags & kSingleFiltered) != 0) {
        shape.write_size(writer, single_size);
        writer.u32(single_mask);
    } else if (index == ChunkIndex::fixed_array) {
        writer.u8(array.page_bits);
    }
#endif
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
