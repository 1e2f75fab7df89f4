// H5F H5O - what the superblock leads to beside the root group: its extension, and the driver information block of old
// superblocks.

#include "superblock_extension.hpp"

#include "header.hpp"

namespace h5mote {
namespace {

Status read_extension_message(FileState& file, MessageIterator& message) noexcept {
    Reader reader(message.body());
    const unsigned version = reader.u8();
    switch (message.type()) {
        case MessageType::btree_k:
            // Specification IV.A.2.t: version 0 | chunk B-trees 2 | group B-trees 2 | symbol table nodes 2
            file.foreign()->btree_k.chunk = reader.u16();
            file.foreign()->btree_k.group_internal = reader.u16();
            file.foreign()->btree_k.group_leaf = reader.u16();
            if (version == 0 && reader.ok() && file.foreign()->btree_k.chunk != 0 &&
                file.foreign()->btree_k.group_internal != 0 && file.foreign()->btree_k.group_leaf != 0) {
                return Status::ok;
            }
            break;
        case MessageType::shared_message_table:
            // IV.A.2.p: version 0 | address of the master table O | number of indexes 1
            file.foreign()->shared_table = file.shape().read_addr(reader);
            file.foreign()->shared_indexes = reader.u8();
            if (version == 0 && reader.ok() && file.foreign()->shared_indexes <= 8) {
                return Status::ok;
            }
            break;
        case MessageType::driver_info: {
            // IV.A.2.u: version 0 | name 8 | bytes of the information 2 | information
            const ConstBytes name = reader.bytes(8);
            const ConstBytes info = reader.bytes(reader.u16());
            if (version == 0 && reader.ok()) {
                return file.use_driver_info({reinterpret_cast<const char*>(name.data()), name.size()}, info);
            }
            break;
        }
        case MessageType::cache_image: {
            // Version 0 | address O | bytes L.
            const Address address = file.shape().read_addr(reader);
            const Address size = file.shape().read_size(reader);
            if (version == 0 && reader.ok()) {
                return address == kUndefinedAddress ? Status::ok : file.use_cache_image(address, size);
            }
            break;
        }
        default:
            return Status::ok;
    }
    return damaged_message(file.context, H5MOTE_HERE, message.type());
}

// Whether a file can be changed whose extension has this message. What this library writes does not depend on the
// widths of version 1 B-trees, nor on how libhdf5 uses free space, unless the file keeps a record of that space, or has
// pages. Specification IV.A.2.x: version 1 | strategy 1 | persistent 1 | ...
bool permits_writing(MessageIterator& message) noexcept {
    constexpr unsigned kPages = 1;
    Reader reader(message.body());
    switch (message.type()) {
        case MessageType::null:
        case MessageType::continuation:
        case MessageType::btree_k:
            return true;
        case MessageType::file_space_info: {
            const unsigned version = reader.u8();
            const unsigned strategy = reader.u8();
            const unsigned persistent = reader.u8();
            return reader.ok() && version == 1 && strategy != kPages && persistent == 0;
        }
        default:
            return false;
    }
}

Status load(FileState& file) noexcept {
    MessageIterator message(file, file.superblock().extension);
    Status status;
    while ((status = message.next()) == Status::ok) {
        if (file.writable() && !permits_writing(message)) {
            return file.context.unsupported(Module::file, H5MOTE_HERE, Feature::superblock_extension,
                                            static_cast<std::uint32_t>(message.type()));
        }
        H5MOTE_TRY(read_extension_message(file, message));
    }
    return status == Status::not_found ? Status::ok : status;
}

}  // namespace

const SuperblockExtensionFormat formats::superblock_extension = {
    &load, [](FileState& file) { return file.read_driver_info(); }};

}  // namespace h5mote
