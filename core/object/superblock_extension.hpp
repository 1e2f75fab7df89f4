// H5F (superblock extension) - settings of a file beyond those of the superblock.
#pragma once

#include "file_state.hpp"

#include "extension_messages.hpp"
#include "header.hpp"
#include "text.hpp"

#include <h5mote/formats.hpp>

namespace h5mote {

/// What programs have that name formats::superblock_extension.
struct SuperblockExtensionFormat {
    /// Reads the extension: B-tree widths, table of shared messages, driver information, cache image. Call between
    /// FileState::open() and finish_open(). unsupported: the file is opened to be changed, and the extension has
    /// anything else than B-tree widths, a cache image, driver information of a family or of several parts, shared
    /// messages in programs with formats::shared_message_changes, and a way to use free space of which the file keeps
    /// no record, or, in programs with formats::free_space, any way to use free space.
    Status (*load)(FileState& file);
    /// Reads the driver information block of a superblock of version 0 or 1.
    Status (*read_driver_info)(FileState& file);
    /// Stores the driver information of a new file that has nothing but its superblock: behind it if that has version 0
    /// or 1, else in a superblock extension. Errors of making a header. nullptr in builds that write nothing.
    Status (*store_driver_info)(FileState& file, const SuperblockInfo& info);
    /// Stores the sizes of B-tree nodes of a new file in its superblock extension, which is made if there is none.
    /// Errors of making and changing a header. nullptr in builds that write nothing.
    Status (*store_btree_k)(FileState& file);
    /// Call before a file that was opened for writing changes. What a metadata cache image holds goes to where it
    /// belongs, and the image is given up; the change is durable afterwards. corrupt_file; errors of changing a header.
    /// nullptr in builds that write nothing.
    Status (*store_image)(FileState& file);
};

/// Adds a message to the superblock extension of a new file; if there is none, `alone` is made one, which has nothing
/// but that message. Errors of making and changing a header.
inline Status add_to_extension(FileState& file, MessageType type, std::uint8_t flags, const MessageContent& content,
                               const HeaderContent& alone) noexcept {
    Address extension = file.superblock().extension;
    if (extension != kUndefinedAddress) {
        return add_message(file, extension, type, flags, 0, content);
    }
    H5MOTE_TRY(create_header(file, alone, extension));
    file.set_extension(extension);
    return Status::ok;
}

/// Writes the driver information message of a superblock extension.
inline void write_driver_info(HeaderWriter& header, const SuperblockInfo& info) noexcept {
    DriverInfoMessage message;
    message.name = bytes_of(info.name);
    message.info = info.info;
    header.begin(MessageType::driver_info, kMessageNotShareable);
    message.encode(header.out);
    header.end();
}

}  // namespace h5mote
