#include "dataspace_message.hpp"

namespace h5mote {

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
        return context.unsupported(Module::format, H5MOTE_HERE, Feature::dataspace_version, version);
    }
    if (rank > H5MOTE_MAX_RANK) {
        return rank > 32 ? damaged_message(context, H5MOTE_HERE, MessageType::dataspace)
                         : context.unsupported(Module::format, H5MOTE_HERE, Feature::dataspace_rank, rank);
    }
    const std::size_t bytes = static_cast<std::size_t>(rank) * shape.sizeof_size;
    dims = reader.bytes(bytes).data();
    max_dims = (flags & 1U) != 0 ? reader.bytes(bytes).data() : nullptr;
    bool sound = reader.ok() && type <= Type::null && (type == Type::simple) == (rank != 0);
    for (unsigned i = 0; sound && i < rank; ++i) {
        sound = dim(i) <= max_dim(i);
    }
    return sound ? Status::ok : damaged_message(context, H5MOTE_HERE, MessageType::dataspace);
}

bool Extent::fits(FileShape shape) const noexcept {
    const bool wide = shape.sizeof_size >= sizeof *max_dims;
    bool fits = true;
    for (unsigned i = 0; i < rank; ++i) {
        const std::uint64_t most = max_dims[i];
        fits = fits && dims[i] <= shape.max_size() && (wide || most == ~std::uint64_t{0} || most <= shape.max_size());
    }
    return fits;
}

void encode_dataspace(Writer& writer, FileShape shape, const Extent& extent, bool resizable) noexcept {
    const unsigned kinds = resizable || extent.extensible() ? 2 : 1;
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

}  // namespace h5mote
