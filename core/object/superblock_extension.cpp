// H5F H5O - what the superblock leads to beside the root group: its extension, and the driver information block of old
// superblocks.

#include "superblock_extension.hpp"

#include "extension_messages.hpp"
#include "header.hpp"
#include "text.hpp"

namespace h5mote {
namespace {

Status read_extension_message(FileState& file, MessageIterator& message) noexcept {
    const FileShape shape = file.shape();
    const ConstBytes body = message.body();
    switch (message.type()) {
        case MessageType::btree_k:
            if (BTreeKMessage::decode(body, file.foreign()->btree_k)) {
                return Status::ok;
            }
            break;
        case MessageType::shared_message_table:
            if (SharedTableMessage::decode(shape, body, file.foreign()->shared_table, file.foreign()->shared_indexes)) {
                return Status::ok;
            }
            break;
        case MessageType::driver_info: {
            DriverInfoMessage driver;
            if (driver.decode(body)) {
                return file.use_driver_info(text_of(driver.name), driver.info);
            }
            break;
        }
        case MessageType::cache_image: {
            CacheImageMessage image;
            if (image.decode(shape, body)) {
                return image.address == kUndefinedAddress ? Status::ok
                                                          : file.use_cache_image(image.address, image.size);
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
// pages. Programs with formats::free_space look at that message themselves.
bool permits_writing(FileState& file, MessageIterator& message) noexcept {
    FileSpaceStrategy space;
    switch (message.type()) {
        case MessageType::null:
        case MessageType::continuation:
        case MessageType::btree_k:
            return true;
        case MessageType::file_space_info:
            return file.context.formats().free_space != nullptr ||
                   (space.decode(message.body()) && space.version == 1 && space.strategy != FileSpaceStrategy::kPages &&
                    !space.persistent);
        default:
            return false;
    }
}

Status load(FileState& file) noexcept {
    MessageIterator message(file, file.superblock().extension);
    Status status;
    while ((status = message.next()) == Status::ok) {
        if (file.writable() && !permits_writing(file, message)) {
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
