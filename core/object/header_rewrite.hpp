// H5O - an object header gets other messages at once: a group that begins to keep its links elsewhere, or to keep them
// in its header again.
//
// All messages that the header is to have are written into one new continuation block, to which nothing leads yet. One
// write of the first block, which only leads to that block, then switches from the old messages to the new ones.
#pragma once

#include "fractal_heap_changes.hpp"
#include "header.hpp"

namespace h5mote {

/// A message that the header is to get.
struct NewMessage {
    MessageType type = MessageType::null;
    std::uint8_t flags = 0;
    std::uint16_t order = 0;
    HeapContent* content = nullptr;
};

/// Says which messages a header is to have. Everything is asked twice, with the same answers.
class HeaderEditor {
public:
    /// Whether a message, neither null nor a continuation, stays.
    virtual bool stays(MessageIterator& message) noexcept = 0;
    /// Message `i` of those that are new, from 0 on. not_found: there are no more.
    virtual Status added(unsigned i, NewMessage& message) noexcept = 0;

protected:
    ~HeaderEditor() = default;
};

/// Gives a header the messages that `editor` says, and gives up the blocks that had the old ones. The change is durable
/// after the next commit. After an error the header is as it was, apart from where its messages are. over_budget: a
/// message is too large, or the block for a quarter of the metadata cache; unsupported: the first block cannot be
/// switched by one write. Errors of secure_change(), and what the editor returns.
H5MOTE_STEP Status rewrite_header(FileState& file, Address header, HeaderEditor& editor) noexcept;

}  // namespace h5mote
