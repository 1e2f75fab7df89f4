// H5O - reads one message of an object header, whether it is stored there, in a committed datatype, or in a heap.
#pragma once

#include "stored_message.hpp"

namespace h5mote {

/// Holds the message that it found until the next find(). Bytes that it returns are valid until the next call.
class HeaderMessage {
public:
    HeaderMessage(const HeaderMessage&) = delete;
    HeaderMessage& operator=(const HeaderMessage&) = delete;
    ~HeaderMessage() = default;

    HeaderMessage(FileState& file, Address header) noexcept : file_(file), header_(header) {}

    /// not_found: the header has none of that type.
    Status find(MessageType type) noexcept { return message_.find(file_, header_, type); }
    /// Header of the committed datatype that a datatype message stands in; undefined: it is the object's own.
    Address committed() const noexcept { return message_.committed(); }
    Address size() noexcept { return message_.size(); }
    /// The message in one piece.
    Status body(ConstBytes& bytes) noexcept { return message_.view(bytes); }
    /// Its first bytes: `count`, or all if it is shorter.
    Status head(std::size_t count, ConstBytes& bytes) noexcept {
        return message_.bytes().view(0, size() < count ? static_cast<std::size_t>(size()) : count, bytes);
    }
    /// `count` bytes from `offset` on. corrupt_file when they are not all within.
    Status view(Address offset, std::size_t count, ConstBytes& bytes) noexcept {
        return message_.bytes().view(offset, count, bytes);
    }
    Status read(Address offset, Bytes to) noexcept { return message_.bytes().read(offset, to); }

private:
    FileState& file_;
    Address header_;
    StoredMessage message_;
};

}  // namespace h5mote
