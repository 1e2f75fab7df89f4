// H5SM - what programs have that name formats::shared_message_changes. The functions stand in core/object and
// core/attribute.
#pragma once

#include "header.hpp"
#include "shared_index.hpp"

#include <h5mote/formats.hpp>

#include <string_view>

namespace h5mote {

struct FileCreate;

/// A change of an object header.
class HeaderChange {
public:
    virtual Status run() noexcept = 0;

protected:
    ~HeaderChange() = default;
};

struct SharedMessageChangesFormat {
    /// Gives a new file the indexes that `create` asks for. invalid_argument; what create_header() returns.
    Status (*create)(FileState& file, const FileCreate& create);
    /// As create_header(): of the messages in `content`, those that the file shares are references. Each counts as one
    /// use, on the storage when this returns; a header that is not linked after all ends them with release_all().
    Status (*create_header)(FileState& file, const HeaderContent& content, Address& address);
    /// Ends all that an object's messages have to do with those of others, before the object is deleted: shared
    /// messages are used once less, and the indexes forget those that stand in the object's own header. `attributes`:
    /// its dense storage of attributes, if it has one. The object must be gone on the storage, if it was ever there.
    Status (*release_all)(FileState& file, Address object, const DenseAddresses& attributes);
    /// Gives an object its own copies of its shared messages of that type, so that they can be changed; of attributes
    /// also where only their datatypes or dataspaces are shared. With a `name`, only of the attribute of that name, if
    /// it is in the header; those in dense storage get copies in any case. Commits metadata if there is something to
    /// copy. After an error the object is as it was. over_budget: rewrite_header().
    Status (*own)(FileState& file, Address object, MessageType type, std::string_view name);
    /// Makes `change`, which takes all attributes out of an object's header and copies them, then ends the uses that
    /// the header has had, and commits metadata. Errors of `change`; then the uses stay.
    Status (*take_attributes_out)(FileState& file, Address object, HeaderChange& change);
    /// As add_attribute(), but if the file shares attributes of that size, the object gets a reference to the message.
    /// Then metadata are committed first.
    Status (*add_attribute)(FileState& file, Address header, const MessageContent& content);
    /// Opens a shared attribute message by its id in the heap.
    Status (*open_attribute)(FileState& file, ConstBytes id, MetadataWindow& message);
    /// If the datatype or the dataspace of the attribute in `message` is a shared message, `message` becomes a window
    /// over a copy in memory that has them itself. over_budget: one of them is too long for a message.
    Status (*own_attribute)(FileState& file, MetadataWindow& message);
};

Status create_shared_indexes(FileState& file, const FileCreate& create) noexcept;
Status create_sharing_header(FileState& file, const HeaderContent& content, Address& address) noexcept;
Status release_shared_messages(FileState& file, Address object, const DenseAddresses& attributes) noexcept;
Status own_messages(FileState& file, Address object, MessageType type, std::string_view name) noexcept;
Status take_attributes_out(FileState& file, Address object, HeaderChange& change) noexcept;
Status add_sharing_attribute(FileState& file, Address header, const MessageContent& content) noexcept;
Status own_attribute(FileState& file, MetadataWindow& message) noexcept;

/// Shares a message that is to be written, if the file shares messages of that type and size: `reference` becomes the
/// SharedReference::kHeapSize bytes that stand in its place, and counts as one use. `shared` is false where the message
/// has to be written itself, as it always may. What has the reference must not be linked before FileState::order().
Status share_message(FileState& file, MessageType type, ConstBytes body, Bytes reference, bool& shared) noexcept;
/// One use less of the shared message to which the bytes in place of a body lead. The one who used it must be gone on
/// the storage (FileState::order()). After an error, and after a power cut, the count is too high, which harms nothing.
/// `gone`: that was the last use.
Status release_shared_message(FileState& file, MessageType type, ConstBytes reference, bool& gone) noexcept;
/// The index forgets the message `body` of that type in the header at `header`, which is about to change or to go.
/// Headers of version 1 may have padding behind it.
Status forget_shareable_message(FileState& file, MessageType type, ConstBytes body, Address header) noexcept;

/// The functions, if the file has shared messages and the program can change them; else nullptr.
inline const SharedMessageChangesFormat* shared_changes(FileState& file) noexcept {
    const ForeignState* const state = file.foreign();
    return H5MOTE_WRITE != 0 && state != nullptr && state->shared_table != kUndefinedAddress
               ? file.context.formats().shared_message_changes
               : nullptr;
}

/// Call before a message of an object changes that may be shared: SharedMessageChangesFormat::own(), where it is
/// needed.
inline Status own_shared([[maybe_unused]] FileState& file, [[maybe_unused]] Address object,
                         [[maybe_unused]] MessageType type, [[maybe_unused]] std::string_view name = {}) noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0) {
        if (const SharedMessageChangesFormat* const format = shared_changes(file)) {
            return format->own(file, object, type, name);
        }
    }
    return Status::ok;
}

}  // namespace h5mote
