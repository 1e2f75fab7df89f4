// H5Oshared H5SM - the body of a message, wherever it is stored: in its own header, in the header of a committed
// datatype, or in the file's heap of shared messages. Specification IV.A.2 ("shared message"), III.H.
#pragma once

#include "header.hpp"
#include "shared_index.hpp"

namespace h5mote {

/// The i-th of the file's indexes of shared messages, of which there are FileState::shared_indexes. corrupt_file.
Status read_shared_index(FileState& file, unsigned i, SharedIndex& index) noexcept;

class StoredMessage {
public:
    /// The first message of that type in the header at `header`. not_found, corrupt_file, io_error, out_of_memory.
    Status find(FileState& file, Address header, MessageType type) noexcept;
    /// Opens the iterator's current message, wherever its body is.
    H5MOTE_STEP Status open(MessageIterator& message) noexcept;
    /// Opens the body that `reference` leads to: the bytes that a shared message has in place of its body.
    H5MOTE_STEP Status open_shared(FileState& file, MessageType type, ConstBytes reference) noexcept;

    /// The body of the message.
    MetadataWindow& bytes() noexcept { return bytes_; }
    Address size() const noexcept { return bytes_.size(); }
    /// The whole body in one piece, for messages that are small by nature. over_budget: it has more than `most` bytes.
    Status view(ConstBytes& body, std::size_t most = 0xffff) noexcept;
    /// Flags of the message that was found.
    std::uint8_t flags() const noexcept { return flags_; }
    /// Address of the header of the committed object that holds the body; undefined if the body is in the message's own
    /// header or in the heap.
    Address committed() const noexcept { return committed_; }

private:
    MetadataWindow bytes_;
    Address committed_ = kUndefinedAddress;
    std::uint8_t flags_ = 0;
};

/// DenseStorageFormat::open_shared_message.
H5MOTE_STEP Status open_shared_message(FileState& file, MessageType type, ConstBytes id,
                                       MetadataWindow& bytes) noexcept;

}  // namespace h5mote
