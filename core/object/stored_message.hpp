// H5Oshared H5SM - the body of a message, wherever it is stored: in its own header, in the header of a committed
// datatype, or in the file's heap of shared messages. Specification IV.A.2 ("shared message"), III.H.
//
//   in place of the body   version 3 | place: 1 heap, 2 header | heap id 8, or header address O
//                          version 2 | 0 | header address O
//                          version 1 | 0 | 0 6 | 0 L | header address O
//   master table           SMTB | per index: version 0 | type | kinds of message 2 | least size 4 | most in a list 2
//                          | fewest in a B-tree 2 | messages 2 | index address O | heap address O
//                          | checksum
#pragma once

#include "header.hpp"

namespace h5mote {

/// One index of shared messages, as the master table describes it.
struct SharedIndex {
    static constexpr std::size_t kVersion = 0;
    bool btree = false;       ///< else a list
    std::uint16_t kinds = 0;  ///< bit n: messages of type n
    std::uint32_t least_size = 0;
    std::uint16_t list_max = 0;
    std::uint16_t btree_min = 0;
    std::uint16_t messages = 0;
    Address index = kUndefinedAddress;
    Address heap = kUndefinedAddress;

    /// Whether the index has messages of that type. Any type may be asked for: in a damaged header any message may be
    /// marked as shared.
    bool holds(MessageType type) const noexcept {
        return static_cast<unsigned>(type) < 16 && (kinds >> static_cast<unsigned>(type) & 1U) != 0;
    }
    static std::size_t size(FileShape shape) noexcept { return 14U + 2U * shape.sizeof_addr; }
    static Address table_size(FileShape shape, unsigned indexes) noexcept { return 4 + indexes * size(shape) + 4; }
    /// The i-th of the file's indexes, of which there are FileState::shared_indexes. corrupt_file.
    static Status read(FileState& file, unsigned i, SharedIndex& index) noexcept;
};

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
