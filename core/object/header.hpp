// H5O - object headers in the metadata cache: creating them, walking their messages, adding and removing some.
#pragma once

#include "checked.hpp"
#include "disposal.hpp"
#include "file_state.hpp"
#include "object_header.hpp"

namespace h5mote {

/// The queue of continuation blocks that continuation messages have named and that were not visited yet. It takes
/// memory from the allocator when they are more than kInline.
class PendingBlocks {
public:
    bool empty() const noexcept { return count_ == 0; }
    /// Gives back the memory; call it before the queue is destroyed.
    void clear(Context& context) noexcept;
    /// out_of_memory. over_budget: more blocks than can wait.
    Status push(Context& context, Address address, std::uint32_t size) noexcept;
    void front(Address& address, std::uint32_t& size) noexcept;
    void pop() noexcept;

private:
    struct Block {
        Address address;
        std::uint32_t size;
    };
    // Builds that read only what a logger writes need few and take no memory for more.
    static constexpr std::uint16_t kInline = H5MOTE_ALL_FORMATS != 0 ? 2 : 4;
    static constexpr std::uint16_t kMost = H5MOTE_ALL_FORMATS != 0 ? 32768 : kInline;
    Block& at(unsigned i) noexcept {
        return (kMost == kInline || more_ == nullptr ? few_ : more_)[(first_ + i) & (capacity_ - 1U)];
    }

    Block few_[kInline];
    Block* more_ = nullptr;
    std::uint16_t capacity_ = kInline;  // a power of two
    std::uint16_t first_ = 0;
    std::uint16_t count_ = 0;
};

/// Walks the messages of one header, block after block, null messages included. The block that holds the current
/// message is pinned; nothing else is. Adding or removing messages ends the validity of every other iterator.
///
/// A block that the metadata cache has no room for is walked through a window; block() is then empty. open_body() reads
/// a message of any size in such a block, while body() needs memory for one that is larger than the window.
class MessageIterator {
public:
    /// The most blocks of one header: a longer chain of continuations can only be a loop.
    static constexpr unsigned kMaxBlocks = 65535;

    MessageIterator(FileState& file, Address address) noexcept : file_(file), address_(address) {}
    MessageIterator(const MessageIterator&) = delete;
    MessageIterator& operator=(const MessageIterator&) = delete;
    ~MessageIterator() { pending_.clear(file_.context); }

    /// The next message. not_found after the last one; corrupt_file; unsupported: an unknown message that whoever opens
    /// the object has to understand.
    Status next() noexcept;
    /// The next message of that type. A shared one is unsupported.
    Status next(MessageType type) noexcept;
    /// Begins a new walk, of the header at `address`.
    void restart(Address address) noexcept;
    /// Begins a walk of the messages in a continuation block of that header, and in those that it leads to, but not in
    /// the first block. `layout`: that of the header.
    void restart_at(HeaderLayout layout, Address block, std::uint32_t size) noexcept;
    /// A shortcut before next(): skips the link messages that follow in the current block and do not have that name. It
    /// works in blocks that the cache holds, which are most of a large header, and need not skip all such messages.
    void pass_links(ConstBytes name) noexcept;
    /// Unpins the current block. The following next() opens it again; body() must not be called before that.
    void park() noexcept { window_.close(); }

    MessageType type() const noexcept { return static_cast<MessageType>(slot_.type); }
    std::uint8_t flags() const noexcept { return slot_.flags; }
    bool shared() const noexcept { return (slot_.flags & kMessageShared) != 0; }
    std::uint16_t order() const noexcept { return slot_.order; }
    std::uint16_t size() const noexcept { return slot_.size; }
    /// The whole body in memory. Empty when it is larger than a window and there is no memory for it or the storage
    /// fails: the following call of next() returns that error, and the call after it comes to this message again.
    ConstBytes body() noexcept { return in_cache() ? block()->image().subspan(body_, slot_.size) : window_body(); }
    /// body(), or at once the error for which it is empty.
    Status view_body(ConstBytes& bytes) noexcept {
        bytes = body();
        return H5MOTE_ALL_FORMATS != 0 ? unread_ : Status::ok;
    }
    /// The body in a window of its own, however large. Of a shared message these are the bytes that say where it is:
    /// see StoredMessage.
    Status open_body(MetadataWindow& body) noexcept;

    /// Reads the prefix of the header. Errors of HeaderPrefix::decode(), corrupt_file, io_error.
    H5MOTE_STEP Status read_prefix(HeaderPrefix& prefix) noexcept;
    /// Flags of the header as a whole, and how its messages stand in its blocks. Valid after the first next().
    std::uint8_t header_flags() const noexcept { return header_flags_; }
    HeaderLayout layout() const noexcept { return layout_; }
    std::uint8_t version() const noexcept { return layout_.is_old() ? 1 : 2; }
    unsigned blocks() const noexcept { return blocks_; }
    FileState& file() const noexcept { return file_; }
    Address address() const noexcept { return address_; }

    /// Address and size of the block that holds the message.
    Address block_address() const noexcept { return block_address_; }
    std::uint32_t block_size() const noexcept { return block_size_; }
    /// The offsets in the block at which its messages begin, and at which they and the gap after them end.
    std::size_t begin() const noexcept { return begin_; }
    std::uint32_t end() const noexcept { return block_size_ - static_cast<std::uint32_t>(layout_.checksum_size()); }
    /// The offsets of the message's head and of its body in the block.
    std::size_t head() const noexcept { return body_ - layout_.head_size(); }
    std::size_t offset() const noexcept { return body_; }
    /// The block, if the metadata cache holds it as a whole.
    const Pinned& block() const noexcept { return window_.block(); }
    Pinned& block() noexcept { return window_.block(); }

    /// Pins the current block to be changed, also one that was walked through a window. over_budget: the cache cannot
    /// hold it.
    Status hold() noexcept { return window_.pin(); }
    /// secure_change() for the current block: call it before a change of the block from its offset `from` on. The
    /// message stays the current one, but block() and offset() may be different afterwards.
    H5MOTE_STEP Status secure(std::size_t from, Phase phase = Phase::object) noexcept;
    /// Prepares a change of the current body from `offset` on, which is written in `phase`: secures the block and marks
    /// it dirty. `at`: the byte at that offset, for the caller to change; valid while the iterator stays at the
    /// message.
    Status change(std::size_t offset, std::byte*& at, Phase phase = Phase::object) noexcept;
    /// Overwrites part of the current body, to be written in `phase`.
    Status store(std::size_t offset, std::uint64_t value, unsigned width, Phase phase = Phase::object) noexcept;

private:
    // Builds that do not read all formats refuse blocks that the cache has no room for.
    bool in_cache() const noexcept { return H5MOTE_ALL_FORMATS == 0 || static_cast<bool>(block()); }
    H5MOTE_STEP Status open_first() noexcept;
    H5MOTE_STEP Status open_continuation() noexcept;
    Status add_continuation() noexcept;
    Status open_block(Address address, Address size) noexcept;
    Status open_window() noexcept;
    ConstBytes window_body() noexcept;

    FileState& file_;
    Address address_;
    MetadataWindow window_;  // the block that holds the message
    Address block_address_ = 0;
    Address visited_ = 0;  // bytes of all blocks that were visited
    std::uint32_t block_size_ = 0;
    std::uint32_t at_ = 0;  // offset of the next message
    std::uint32_t body_ = 0;
    MessageSlot slot_;
    std::uint16_t blocks_ = 0;
    std::uint8_t header_flags_ = 0;
    HeaderLayout layout_;
    std::uint8_t begin_ = 0;      // offset of the block's first message
    Status unread_ = Status::ok;  // the error for which body() was empty
    PendingBlocks pending_;
};

/// Writes all messages of a new header. write() is called twice: the first time only measures.
class HeaderContent {
public:
    /// Whether the header stores times. All four of them are the time of its creation, from the port's clock.
    bool track_times = false;
    AttributesOrDefault attributes{};
    /// The layout of the header, if it has version 2.
    HeaderLayout layout() const noexcept { return HeaderLayout(attributes.track_order); }
    /// Takes from another header what is no message.
    void set_prefix(const HeaderContent& other) noexcept {
        track_times = other.track_times;
        attributes = other.attributes;
    }
    virtual void write(HeaderWriter& header) const noexcept = 0;

protected:
    ~HeaderContent() = default;
};

/// invalid_argument: an object that is to be created cannot keep its attributes like that.
inline Status check_attributes(Context& context, const AttributesOrDefault& attributes) noexcept {
    return attributes.max_compact < attributes.min_dense
               ? context.fail(Module::attribute, H5MOTE_HERE, Status::invalid_argument, 0, attributes.min_dense)
               : Status::ok;
}

/// Allocates and fills a new header that nothing points to yet, of the version that the file's lower bound asks for.
Status create_header(FileState& file, const HeaderContent& content, Address& address) noexcept;
/// The same of version 2, with the messages as `content` writes them.
H5MOTE_STEP Status create_new_header(FileState& file, const HeaderContent& content, Address& address) noexcept;

/// Finds and pins the continuation message that leads to the block at `block`, with a new iterator. corrupt_file: there
/// is none.
Status find_continuation(MessageIterator& message, Address block) noexcept;

/// Gives up all blocks of a header, in which nobody else may hold a block pinned.
H5MOTE_STEP Status dispose_header(FileState& file, Address header, Disposal& disposal) noexcept;

/// Call before every change of a live header, so that the change reaches the storage wholly or not at all. `block`
/// belongs to the header at `header`, and its bytes from offset `from` on are about to change. Nothing happens when
/// these bytes and the checksum at the block's end lie in one atomic unit of the storage. Otherwise the block is moved,
/// and one atomic write makes the header continue in its new place. For a continuation block this is a write of the
/// continuation message that leads to it. The first block has to stay where links point to: all its messages move into
/// a new continuation block, and the first block is cut to its prefix and the continuation message that leads there.
/// Afterwards `block` and `from` say where the bytes to change are. Nobody else may hold the block. The write that
/// switches has phase `phase`.
///
/// unsupported (Feature::ordered_writing): the header was made by others, and its first block is too short or begins so
/// near the end of a unit that no atomic write can switch it. With formats::any_placement such a block is moved first,
/// which commits the metadata changed so far, but for the few of which any_placement.hpp says otherwise. no_space,
/// out_of_memory, over_budget, busy, io_error: the header is as it was.
H5MOTE_STEP Status secure_change(FileState& file, Address header, Pinned& block, std::size_t& from,
                                 Phase phase) noexcept;

/// Whether the head of a message at offset `head` of the iterator's current block crosses the end of an atomic unit.
bool head_crosses_unit(MessageIterator& message, std::size_t head) noexcept;
/// Whether the iterator's current message is the first one of its header, and its head crosses the end of an atomic
/// unit. Such a message keeps its place when the others move.
bool stays_first(MessageIterator& message) noexcept;

/// Makes the first block of a header hold nothing but a continuation message, which leads to all other messages, and
/// perhaps a message before it that keeps its place (stays_first()); pins it as `first`, and `at` is the offset of the
/// continuation message's body in it. A change of that body, and of the body of the message before, is one atomic
/// write. Errors of secure_change().
H5MOTE_STEP Status cut_header(FileState& file, Address header, Pinned& first, std::size_t& at) noexcept;

/// Gives back a block that was created but never pointed to, if it is still in memory.
void discard_fresh_block(FileState& file, Address address) noexcept;

/// Writes the body of a message that is being added, to exactly the size announced.
class MessageContent {
public:
    virtual void write(Writer& writer) const noexcept = 0;
    std::size_t size() const noexcept {
        Writer counter;
        write(counter);
        return counter.written();
    }

protected:
    ~MessageContent() = default;
};

/// Adds a message to a live or fresh header: in place of a null message, or, where none has room, in a new continuation
/// block, which is complete before the header points to it. Nothing changes when an error is returned. Changed blocks
/// are written in Phase::object. unsupported: the header has no place left for a continuation message. over_budget: the
/// body has 64 KiB or more.
H5MOTE_STEP Status add_message(FileState& file, Address header, MessageType type, std::uint8_t flags,
                               std::uint16_t order, const MessageContent& content) noexcept;

/// Puts a message with another body, of any size up to 64 KiB less one byte, in the place of the iterator's current
/// one; type, flags and creation order stay. One block of the header changes, so that the storage has the old message
/// or the new one. Nothing changes when an error is returned. Ends the walk. over_budget: the body has 64 KiB or more.
H5MOTE_STEP Status replace_message(MessageIterator& message, const MessageContent& content) noexcept;
/// The same for messages that may be short, as those of links and comments are: replace_message() takes it that a
/// continuation message has room in the place of the old message, as in those of all attributes. unsupported also: the
/// block has no room for one.
Status replace_short_message(MessageIterator& message, const MessageContent& content) noexcept;
/// The same, and the message gets these flags. With kMessageShared among them, `content` is what leads to the message.
Status replace_short_message(MessageIterator& message, unsigned flags, const MessageContent& content) noexcept;

/// Turns the iterator's current message into a null message, and joins it with null messages beside it. Ends the walk.
/// Errors of secure_change().
Status remove_message(MessageIterator& message, Phase phase = Phase::object) noexcept;
/// From where on the block of a message, which is held, changes when the message is removed.
std::size_t first_change(MessageIterator& message) noexcept;
/// The same as remove_message() for a message whose block is secured from first_change() on. Cannot fail.
void remove_secured(MessageIterator& message, Phase phase = Phase::object) noexcept;

/// The number of hard links that the header counts. corrupt_file.
H5MOTE_STEP Status reference_count(FileState& file, Address header, std::uint32_t& count) noexcept;
/// Adds `change`, 1 or -1, to the number of hard links to an object. The count is never smaller than the links: one
/// more is on the storage before the link is made, one less after it is gone (FileState::order()). overflow: there are
/// as many links as can be counted. corrupt_file: the count is 0 already.
H5MOTE_STEP Status change_reference_count(FileState& file, Address header, int change, std::uint32_t& count) noexcept;
/// Counts one more hard link to an object. Whatever is changed afterwards in Phase::object or a later one, as all links
/// are, reaches the storage after that count. After an error the count is as before, or too high, which harms nothing.
/// Errors of change_reference_count() and FileState::order().
H5MOTE_STEP Status add_reference(FileState& file, Address header) noexcept;
/// Call after a message of that type has left a header, and before the message `info` changes, which must not say that
/// there is none while the storage has one: writes changes of other blocks of the header. busy: some are left.
/// not_found: there is no `info`. Errors of FileState::order() and MessageIterator::next().
H5MOTE_STEP Status last_has_gone(FileState& file, Address header, MessageType type, MessageType info) noexcept;

/// FileState::number_first() for a number that was stored in `block` of a header. Where a change of another block,
/// which is written later, leads to that block, the changes so far are written.
Status number_first(FileState& file, Address header, const CacheEntry& block) noexcept;

/// FileState::keep_number_first() for the block of the message that counts creation orders, of the type `info`.
void keep_number_first(FileState& file, Address header, MessageType info) noexcept;

}  // namespace h5mote
