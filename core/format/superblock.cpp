#include "superblock.hpp"

#include "checksum.hpp"
#include "symbol_entry.hpp"

namespace h5mote {
namespace {

constexpr unsigned char kSignature[Superblock::kSignatureSize] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

bool valid_width(unsigned width) noexcept { return width == 2 || width == 4 || width == 8; }

}  // namespace

bool is_signature(const std::byte* bytes) noexcept { return std::memcmp(bytes, kSignature, sizeof kSignature) == 0; }

void Superblock::encode(std::byte* to) const noexcept {
    Writer writer(Bytes{to, size()});
    writer.bytes({reinterpret_cast<const std::byte*>(kSignature), sizeof kSignature});
    writer.u8(version);
    if (is_old()) {
        encode_old(*this, writer);
        return;
    }
    writer.u8(shape.sizeof_addr);
    writer.u8(shape.sizeof_size);
    writer.u8(flags);
    shape.write_addr(writer, base);
    shape.write_addr(writer, extension);
    shape.write_addr(writer, base + end_of_file);
    shape.write_addr(writer, root);
    writer.u32(lookup3({to, writer.written()}));
}

void ForeignSuperblock::encode_old(const Superblock& superblock, Writer& writer) const noexcept {
    const FileShape shape = superblock.shape;
    writer.fill(std::byte{0}, 4);  // the versions of other structures
    writer.u8(shape.sizeof_addr);
    writer.u8(shape.sizeof_size);
    writer.u8(0);
    writer.u16(btree_k.group_leaf);
    writer.u16(btree_k.group_internal);
    writer.u32(superblock.flags);
    if (superblock.version == 1) {
        writer.u16(btree_k.chunk);
        writer.u16(0);
    }
    shape.write_addr(writer, base);
    shape.write_addr(writer, kUndefinedAddress);  // no version of libhdf5 has put free space information there
    shape.write_addr(writer, base + superblock.end_of_file);
    shape.write_addr(writer, driver_info);
    SymbolEntry root;
    root.name = 0;
    root.header = superblock.root;
    root.encode(shape, writer);
}

Status Superblock::decode(Context& context, ConstBytes bytes) noexcept {
    if (bytes.size() < kSignatureSize + 4 || !is_signature(bytes.data())) {
        return context.fail(Module::format, H5MOTE_HERE, Status::not_hdf5);
    }
    Reader reader(bytes);
    reader.skip(kSignatureSize);
    version = reader.u8();
    if (version != 2 && version != 3 && !is_old()) {
        return context.unsupported(Module::format, H5MOTE_HERE, Feature::superblock_version, version);
    }
    unsigned part_versions = 0;  // of other structures; there is only version 0 of them
    if (is_old()) {
        part_versions = reader.u8() | reader.u8();
        reader.skip(1);
        part_versions |= reader.u8();
    }
    shape.sizeof_addr = reader.u8();
    shape.sizeof_size = reader.u8();
    if (!valid_width(shape.sizeof_addr) || !valid_width(shape.sizeof_size)) {
        return context.unsupported(Module::format, H5MOTE_HERE, Feature::sizeof_offsets, shape.sizeof_addr);
    }
    if (bytes.size() < size()) {
        return context.fail(Module::format, H5MOTE_HERE, Status::corrupt_file);
    }
    ForeignSuperblock foreign;
    BTreeK& k = foreign.btree_k;
    if (is_old()) {
        reader.skip(1);
        k.group_leaf = reader.u16();
        k.group_internal = reader.u16();
        flags = static_cast<std::uint8_t>(reader.u32());
        if (version == 1) {
            k.chunk = reader.u16();
            reader.skip(2);
        }
    } else {
        flags = reader.u8();
    }
    foreign.base = shape.read_addr(reader);
    extension = shape.read_addr(reader);
    end_of_file = shape.read_addr(reader);
    if (is_old()) {
        extension = kUndefinedAddress;  // what was read there is the address of free space information
        foreign.driver_info = shape.read_addr(reader);
        // The root group's symbol table entry: nothing but the address of its header is needed.
        reader.skip(shape.sizeof_size);
    }
    root = shape.read_addr(reader);
    foreign.repeats_root_table = is_old() && reader.u32() != 0;
    const bool sound = is_old() ? part_versions == 0 && k.group_leaf != 0 && k.group_internal != 0 && k.chunk != 0
                                : reader.u32() == lookup3(bytes.first(size() - 4));
    if (!sound) {
        return context.fail(Module::format, H5MOTE_HERE, Status::corrupt_file);
    }
    return set_foreign(foreign) ? Status::ok : context.unsupported(Module::format, H5MOTE_HERE, Feature::base_address);
}

}  // namespace h5mote
