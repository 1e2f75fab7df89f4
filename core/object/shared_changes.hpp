// H5SM - what programs have that name formats::shared_message_changes. The functions stand in core/object and
// core/attribute.
#pragma once

#include "header.hpp"
#include "shared_index.hpp"

#include <h5mote/formats.hpp>

#include <string_view>

namespace h5mote {

struct FileCreate;
class HeapContent;

/// A change of the attributes of an object.
class AttributeChange {
public:
    /// Whether the new attribute has the value of the removed one, with its elements in the global heap.
    bool moves_value() const noexcept { return moves_value_; }
    /// `shared`: the id of the shared message that the new attribute is. Empty: none comes, or it is written itself.
    virtual Status run(ConstBytes shared) noexcept = 0;

protected:
    explicit AttributeChange(bool moves_value) noexcept : moves_value_(moves_value) {}
    ~AttributeChange() = default;

private:
    bool moves_value_;
};

struct SharedMessageChangesFormat {
    /// Whether a file can have the indexes that `create` asks for. invalid_argument.
    Status (*check)(FileState& file, const FileCreate& create);
    /// Gives them to a new file. What create_header() returns.
    Status (*create)(FileState& file, const FileCreate& create);
    /// As create_header(): of the messages in `content`, those that the file shares are references. Each counts as one
    /// use, on the storage when this returns; a header that is not linked after all ends them with release_all().
    Status (*create_header)(FileState& file, const HeaderContent& content, Address& address);
    /// Ends all that an object's messages have to do with those of others, before the object is deleted: shared
    /// messages are used once less, and the indexes forget those that stand in the object's own header. The object must
    /// be gone on the storage, if it was ever there.
    Status (*release_all)(FileState& file, Address object);
    /// Gives an object's header its own copies of its shared messages of that type, other than attributes, so that they
    /// can be changed. Commits metadata if there is something to copy. After an error the object is as it was.
    /// over_budget: rewrite_header().
    Status (*own)(FileState& file, Address object, MessageType type);
    /// Makes `change`, which takes the attribute called `removed` from an object and gives it one with the message
    /// `added`; an empty name: nothing is removed; nullptr: nothing comes that may be shared. If the file shares
    /// attributes of that size, one use is counted before the change; after it end all uses that the removed attribute
    /// had. With the last use of a shared attribute its elements in the global heap are discarded, unless the new
    /// attribute has them. Metadata are committed in between, where there is something to count. Errors of `change`;
    /// then all counts are as they were. unsupported also: the new attribute is to have the elements of a message that
    /// others use.
    Status (*change_attribute)(FileState& file, Address object, std::string_view removed, HeapContent* added,
                               AttributeChange& change);
    /// As add_attribute(), for a shared message with that id, whose use is counted.
    Status (*add_shared)(FileState& file, Address header, ConstBytes id);
    /// Puts an attribute in the place of the one called `name` in a header; one of them is a shared message, or has
    /// parts that are. The new one is the shared message `id`, whose use is counted, or, without an `id`, `content`.
    /// The creation order stays, and so do the uses of the old one. Errors of replace_short_message(); over_budget:
    /// `content` has 64 KiB or more. unsupported: the old one is not in the header.
    Status (*replace_shared)(FileState& file, Address header, std::string_view name, const MessageContent& content,
                             ConstBytes id);
    /// Removes an attribute from a header that is a shared message; the use stays. Errors of remove_message().
    /// unsupported: it is not in the header.
    Status (*remove_shared)(FileState& file, Address header, std::string_view name);
    /// If the datatype or the dataspace of the attribute in `message` is a shared message, `message` becomes a window
    /// over a copy in memory that has them itself. over_budget: one of them is too long for a message.
    Status (*own_attribute)(FileState& file, MetadataWindow& message);
};

Status check_shared_indexes(FileState& file, const FileCreate& create) noexcept;
Status create_shared_indexes(FileState& file, const FileCreate& create) noexcept;
Status create_sharing_header(FileState& file, const HeaderContent& content, Address& address) noexcept;
Status release_shared_messages(FileState& file, Address object) noexcept;
Status own_messages(FileState& file, Address object, MessageType type) noexcept;
Status change_sharing_attribute(FileState& file, Address object, std::string_view removed, HeapContent* added,
                                AttributeChange& change) noexcept;
Status add_shared_attribute(FileState& file, Address header, ConstBytes id) noexcept;
Status replace_shared_attribute(FileState& file, Address header, std::string_view name, const MessageContent& content,
                                ConstBytes id) noexcept;
Status remove_shared_attribute(FileState& file, Address header, std::string_view name) noexcept;
Status own_attribute(FileState& file, MetadataWindow& message) noexcept;

/// Shares a message that is to be written, if the file shares messages of that type and size: `reference` becomes the
/// SharedReference::kHeapSize bytes that stand in its place, and counts as one use. `shared` is false where the message
/// has to be written itself, as it always may. What has the reference must not be linked before FileState::order().
Status share_message(FileState& file, MessageType type, HeapContent& body, Bytes reference, bool& shared) noexcept;
/// One use less of the shared message to which the bytes in place of a body lead. The one who used it must be gone on
/// the storage (FileState::order()). After an error, and after a power cut, the count is too high, which harms nothing.
/// `gone`: that was the last use.
Status release_shared_message(FileState& file, MessageType type, ConstBytes reference, bool& gone) noexcept;
/// How many use that message, to which the bytes in place of a body lead.
Status count_users(FileState& file, MessageType type, ConstBytes reference, std::uint32_t& users) noexcept;
/// The index forgets the message `body` of that type in the header at `header`, which is about to change or to go.
/// Headers of version 1 may have padding behind it. `marked`: the header says that an index has the message; where
/// others use an equal one, which the heap has then, it is used once less. Else only a record that leads to the header
/// goes.
Status forget_shareable_message(FileState& file, MessageType type, ConstBytes body, Address header,
                                bool marked) noexcept;

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
                         [[maybe_unused]] MessageType type) noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0) {
        if (const SharedMessageChangesFormat* const format = shared_changes(file)) {
            return format->own(file, object, type);
        }
    }
    return Status::ok;
}

}  // namespace h5mote
