// H5O - what programs have that name formats::versions: object headers and messages of the versions that
// FileAccess::low asks for and FileAccess::high allows. The functions stand in core/versions.
#pragma once

#include "header.hpp"
#include "owned_bytes.hpp"

#include <h5mote/dataspace.hpp>
#include <h5mote/datatype.hpp>
#include <h5mote/formats.hpp>

namespace h5mote {

struct LayoutMessage;

/// The body of a message that was written already.
class StoredContent final : public MessageContent {
public:
    explicit StoredContent(Context& context) noexcept : bytes_(context) {}
    /// Where a body of `size` bytes is to be written. out_of_memory.
    Status reserve(std::size_t size, Bytes& to) noexcept {
        H5MOTE_TRY(bytes_.reserve(size));
        size_ = size;
        to = bytes_.first(size);
        return Status::ok;
    }
    ConstBytes bytes() const noexcept { return bytes_.first(size_); }
    void write(Writer& writer) const noexcept override { writer.bytes(bytes()); }

private:
    OwnedBytes bytes_;
    std::size_t size_ = 0;
};

struct VersionsFormat {
    /// create_header(), for a file with a lower version bound.
    Status (*create_header)(FileState& file, const HeaderContent& content, Address& address);
    /// Writes the message `content` in the version that the file's lower bound asks for to `stored`. out_of_memory.
    Status (*convert)(FileState& file, MessageType type, const MessageContent& content, StoredContent& stored);
    /// Gives a new dataset's layout message, which has a version that tells how its chunks are indexed, the version
    /// that the lower bound asks for. unsupported: FileAccess::high is older than that.
    Status (*settle_layout)(FileState& file, LayoutMessage& layout, bool filtered);
    /// unsupported: FileAccess::high is older than what `type` takes in this file.
    Status (*allow_type)(FileState& file, DatatypeView type);
    /// encode_selection() in the version that the bounds of the file ask for. Also unsupported: FileAccess::high is
    /// older than that version.
    Status (*encode_selection)(FileState& file, Writer& writer, const Selection& selection, const Dataspace& space);
};

/// Writes the body of a message to memory, in the version that the file's lower bound asks for. out_of_memory.
inline Status encode_message(FileState& file, MessageType type, const MessageContent& content,
                             StoredContent& stored) noexcept {
    if (const VersionsFormat* const format = file.versions()) {
        return format->convert(file, type, content, stored);
    }
    Bytes body;
    H5MOTE_TRY(stored.reserve(content.size(), body));
    Writer writer(body);
    content.write(writer);
    return Status::ok;
}

/// Call before a datatype is added to a file. unsupported: FileAccess::high is older than what it takes.
inline Status allow_type(FileState& file, DatatypeView type) noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0) {
        if (const VersionsFormat* const format = file.context.formats().versions) {
            return format->allow_type(file, type);
        }
    }
    return Status::ok;
}

}  // namespace h5mote
