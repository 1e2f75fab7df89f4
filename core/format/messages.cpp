#include "messages.hpp"

namespace h5mote {
namespace {

Status damaged(Context& context, unsigned line, MessageType type) noexcept {
    return context.fail(Module::format, line, Status::corrupt_file, static_cast<std::uint32_t>(type));
}

bool is_ascii(ConstBytes text) noexcept {
    for (const std::byte c : text) {
        if ((c & std::byte{0x80}) != std::byte{0}) {
            return false;
        }
    }
    return true;
}

}  // namespace

Status DataspaceMessage::decode(Context& context, FileShape file_shape, ConstBytes body) noexcept {
    shape = file_shape;
    Reader reader(body);
    const unsigned version = reader.u8();
    rank = reader.u8();
    const unsigned flags = reader.u8();
    const unsigned raw_type = reader.u8();
    if (version == 1) {
        reader.skip(4);
        type = rank == 0 ? Type::scalar : Type::simple;
    } else if (version == 2) {
        type = static_cast<Type>(raw_type);
    } else {
        return context.unsupported(Module::format, __LINE__, Feature::dataspace_version, version);
    }
    if (rank > H5MOTE_MAX_RANK) {
        return rank > 32 ? damaged(context, __LINE__, MessageType::dataspace)
                         : context.unsupported(Module::format, __LINE__, Feature::dataspace_rank, rank);
    }
    const std::size_t bytes = static_cast<std::size_t>(rank) * shape.sizeof_size;
    dims = reader.bytes(bytes).data();
    max_dims = (flags & 1U) != 0 ? reader.bytes(bytes).data() : nullptr;
    bool sound = reader.ok() && type <= Type::null && (type == Type::simple) == (rank != 0);
    for (unsigned i = 0; sound && i < rank; ++i) {
        sound = dim(i) <= max_dim(i);
    }
    return sound ? Status::ok : damaged(context, __LINE__, MessageType::dataspace);
}

void encode_dataspace(Writer& writer, FileShape shape, const Extent& extent) noexcept {
    const unsigned kinds = extent.extensible() ? 2 : 1;
    writer.u8(2);
    writer.u8(extent.rank);
    writer.u8(kinds - 1);
    writer.u8(static_cast<std::uint8_t>(extent.type));
    for (unsigned kind = 0; kind < kinds; ++kind) {
        const std::uint64_t* sizes = kind == 0 ? extent.dims : extent.max_dims;
        for (unsigned i = 0; i < extent.rank; ++i) {
            shape.write_size(writer, sizes[i]);
        }
    }
}

Status FillValueMessage::decode(Context& context, ConstBytes body) noexcept {
    Reader reader(body);
    const unsigned version = reader.u8();
    if (version != 3) {
        return context.unsupported(Module::format, __LINE__, Feature::fill_value_version, version);
    }
    const unsigned flags = reader.u8();
    allocation_time = flags & 3U;
    write_time = (flags >> 2) & 3U;
    undefined = (flags & 0x10U) != 0;
    value = {};
    if ((flags & 0x20U) != 0) {
        value = reader.bytes(reader.u32());
    }
    return reader.ok() ? Status::ok : damaged(context, __LINE__, MessageType::fill_value);
}

void FillValueMessage::encode(Writer& writer) const noexcept {
    writer.u8(3);
    writer.u8(allocation_time | write_time << 2 | (undefined ? 0x10U : 0U) | (value.empty() ? 0U : 0x20U));
    if (!value.empty()) {
        writer.u32(static_cast<std::uint32_t>(value.size()));
        writer.bytes(value);
    }
}

namespace {

Status decode_chunked(Context& context, FileShape shape, Reader& reader, LayoutMessage& layout) noexcept {
    layout.flags = reader.u8();
    layout.dimensionality = reader.u8();
    layout.dim_width = reader.u8();
    if (layout.dimensionality < 2 || layout.dimensionality > 33 || layout.dim_width < 1 || layout.dim_width > 8) {
        return damaged(context, __LINE__, MessageType::layout);
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
        default:
            return context.unsupported(Module::format, __LINE__, Feature::chunk_index,
                                       static_cast<std::uint32_t>(layout.index));
    }
    layout.address = shape.read_addr(reader);
    bool sound = reader.ok();
    for (unsigned i = 0; sound && i < layout.dimensionality; ++i) {
        sound = layout.chunk_dim(i) != 0;
    }
    return sound ? Status::ok : damaged(context, __LINE__, MessageType::layout);
}

}  // namespace

Status LayoutMessage::decode(Context& context, FileShape shape, ConstBytes body) noexcept {
    Reader reader(body);
    const unsigned version = reader.u8();
    layout_class = static_cast<Class>(reader.u8());
    if (version != 4 && version != 3) {
        return context.unsupported(Module::format, __LINE__, Feature::layout_version, version);
    }
    switch (layout_class) {
#if H5MOTE_PARTIAL_IO
        case Class::compact:
            compact = reader.bytes(reader.u16());
            break;
        case Class::contiguous:
            address = shape.read_addr(reader);
            size = shape.read_size(reader);
            break;
#endif
        case Class::chunked:
            if (version == 3) {
                return context.unsupported(Module::format, __LINE__, Feature::chunk_index);
            }
            return decode_chunked(context, shape, reader, *this);
        default:
            return context.unsupported(Module::format, __LINE__, Feature::layout_class,
                                       static_cast<std::uint32_t>(layout_class));
    }
    return reader.ok() ? Status::ok : damaged(context, __LINE__, MessageType::layout);
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

namespace {

// Link info and attribute info differ in the width of the creation order only.
bool decode_info(FileShape shape, ConstBytes body, unsigned order_width, std::uint8_t& flags, std::uint64_t& max_order,
                 bool& dense) noexcept {
    Reader reader(body);
    const unsigned version = reader.u8();
    flags = reader.u8();
    max_order = (flags & LinkInfoMessage::kTracked) != 0 ? reader.uint(order_width) : 0;
    dense = shape.read_addr(reader) != kUndefinedAddress;
    return reader.ok() && version == 0;
}

void encode_info(Writer& writer, FileShape shape, unsigned order_width, unsigned flags,
                 std::uint64_t max_order) noexcept {
    writer.u8(0);
    writer.u8(flags);
    if ((flags & LinkInfoMessage::kTracked) != 0) {
        writer.uint(order_width, max_order);
    }
    const unsigned addresses = (flags & LinkInfoMessage::kIndexed) != 0 ? 3 : 2;
    writer.fill(std::byte{0xff}, static_cast<std::size_t>(addresses) * shape.sizeof_addr);
}

}  // namespace

Status LinkInfoMessage::decode(Context& context, FileShape shape, ConstBytes body) noexcept {
    return decode_info(shape, body, 8, flags, max_order, dense) ? Status::ok
                                                                : damaged(context, __LINE__, MessageType::link_info);
}

void LinkInfoMessage::encode(Writer& writer, FileShape shape) const noexcept {
    encode_info(writer, shape, 8, flags, max_order);
}

Status AttributeInfoMessage::decode(Context& context, FileShape shape, ConstBytes body) noexcept {
    std::uint64_t order = 0;
    const bool sound = decode_info(shape, body, 2, flags, order, dense);
    max_order = static_cast<std::uint16_t>(order);
    return sound ? Status::ok : damaged(context, __LINE__, MessageType::attribute_info);
}

void AttributeInfoMessage::encode(Writer& writer, FileShape shape) const noexcept {
    encode_info(writer, shape, 2, flags, max_order);
}

Status LinkMessage::decode(Context& context, FileShape shape, ConstBytes body) noexcept {
    Reader reader(body);
    const unsigned version = reader.u8();
    if (version != 1) {
        return context.unsupported(Module::format, __LINE__, Feature::link_version, version);
    }
    const unsigned flags = reader.u8();
    type = (flags & 0x08U) != 0 ? static_cast<Type>(reader.u8()) : Type::hard;
    has_order = (flags & 0x04U) != 0;
    order = has_order ? reader.u64() : 0;
    if ((flags & 0x10U) != 0) {
        reader.skip(1);
    }
    const std::uint64_t length = reader.uint(1U << (flags & 3U));
    if (length == 0 || length > reader.remaining()) {
        return damaged(context, __LINE__, MessageType::link);
    }
    name = reader.bytes(static_cast<std::size_t>(length));
    if (type == Type::hard) {
        address = shape.read_addr(reader);
    } else {
        target = reader.bytes(reader.u16());
    }
    return reader.ok() ? Status::ok : damaged(context, __LINE__, MessageType::link);
}

bool LinkMessage::has_name(ConstBytes body, ConstBytes name) noexcept {
    if (body.size() < 4 + name.size()) {
        return false;
    }
    const unsigned flags = static_cast<unsigned>(body[1]);
    const unsigned width = 1U << (flags & 3U);
    const std::size_t at =
        2U + ((flags & 0x08U) != 0 ? 1U : 0U) + ((flags & 0x04U) != 0 ? 8U : 0U) + ((flags & 0x10U) != 0 ? 1U : 0U);
    return body.size() >= at + width + name.size() && load_uint(body.data() + at, width) == name.size() &&
           std::memcmp(body.data() + at + width, name.data(), name.size()) == 0;
}

void LinkMessage::encode(Writer& writer, FileShape shape) const noexcept {
    const unsigned wide = name.size() > 0xff ? 1 : 0;
    const bool ascii = is_ascii(name);
    writer.u8(1);
    writer.u8(wide | (has_order ? 0x04U : 0U) | (type != Type::hard ? 0x08U : 0U) | (ascii ? 0U : 0x10U));
    if (type != Type::hard) {
        writer.u8(static_cast<std::uint8_t>(type));
    }
    if (has_order) {
        writer.u64(order);
    }
    if (!ascii) {
        writer.u8(1);
    }
    writer.uint(1U << wide, name.size());
    writer.bytes(name);
    if (type == Type::hard) {
        shape.write_addr(writer, address);
    } else {
        writer.u16(target.size());
        writer.bytes(target);
    }
}

Status AttributeMessage::decode(Context& context, ConstBytes body) noexcept {
    Reader reader(body);
    const unsigned version = reader.u8();
    const unsigned flags = reader.u8();
    if (version != 3) {
        return context.unsupported(Module::format, __LINE__, Feature::attribute_version, version);
    }
    if (flags != 0) {
        return context.unsupported(Module::format, __LINE__, Feature::shared_message, flags);
    }
    const std::size_t name_size = reader.u16();
    const std::size_t type_size = reader.u16();
    const std::size_t space_size = reader.u16();
    reader.skip(1);
    name = reader.bytes(name_size);
    type = reader.bytes(type_size);
    space = reader.bytes(space_size);
    data = reader.rest();
    if (!reader.ok() || name_size < 2 || name[name_size - 1] != std::byte{0}) {
        return damaged(context, __LINE__, MessageType::attribute);
    }
    name = name.first(name_size - 1);
    return Status::ok;
}

void AttributeMessage::encode(Writer& writer, std::size_t space_size) const noexcept {
    writer.u8(3);
    writer.u8(0);
    writer.u16(name.size() + 1);
    writer.u16(type.size());
    writer.u16(space_size);
    writer.u8(is_ascii(name) ? 0 : 1);
    writer.bytes(name);
    writer.u8(0);
    writer.bytes(type);
}

Status PipelineReader::count(Context& context, unsigned& filters) noexcept {
    const unsigned version = reader_.u8();
    filters = reader_.u8();
    if (version != 2) {
        return context.unsupported(Module::format, __LINE__, Feature::message_version, version);
    }
    return reader_.ok() && filters <= 32 ? Status::ok : damaged(context, __LINE__, MessageType::filter_pipeline);
}

Status PipelineReader::next(Context& context, FilterSpec& spec) noexcept {
    const std::uint16_t id = reader_.u16();
    const std::size_t name_size = id >= 256 ? reader_.u16() : 0;
    spec.id = static_cast<FilterId>(id);
    spec.optional = (reader_.u16() & 1U) != 0;
    const std::size_t values = reader_.u16();
    reader_.skip(name_size);
    if (reader_.ok() && values > FilterSpec::kMaxValues) {
        return context.unsupported(Module::format, __LINE__, Feature::filter, id);
    }
    spec.value_count = static_cast<std::uint8_t>(values);
    for (std::size_t v = 0; v < values; ++v) {
        spec.values[v] = reader_.u32();
    }
    return reader_.ok() ? Status::ok : damaged(context, __LINE__, MessageType::filter_pipeline);
}

void encode_pipeline(Writer& writer, std::size_t count) noexcept {
    writer.u8(2);
    writer.u8(static_cast<std::uint32_t>(count));
}

void encode_filter(Writer& writer, const FilterSpec& spec) noexcept {
    writer.u16(static_cast<std::uint16_t>(spec.id));
    if (static_cast<std::uint16_t>(spec.id) >= 256) {
        writer.u16(0);
    }
    writer.u16(spec.optional ? 1 : 0);
    writer.u16(spec.value_count);
    for (std::size_t v = 0; v < spec.value_count; ++v) {
        writer.u32(spec.values[v]);
    }
}

}  // namespace h5mote
