// H5O - object headers in the metadata cache: creating them, walking their messages, adding and removing some.
#pragma once

#include "checked.hpp"
#include "disposal.hpp"
#include "file_state.hpp"
#include "object_header.hpp"

namespace h5mote {

#if H5MOTE_ALL_FORMATS
/// Blocks of a header that were announced and not visited yet, first come first served. In memory of its own when they
/// are many.
class PendingBlocks {
public:
    explicit PendingBlocks(Context& context) noexcept : context_(context) {}
    PendingBlocks(const PendingBlocks&) = delete;
    PendingBlocks& operator=(const PendingBlocks&) = delete;
    ~PendingBlocks() { clear(); }

    bool empty() const noexcept { return count_ == 0; }
    void clear() noexcept;
    /// out_of_memory.
    Status push(Address address, std::uint32_t size) noexcept;
    void front(Address& address, std::uint32_t& size) noexcept;
    void pop() noexcept;

private:
    struct Block {
        Address address;
        std::uint32_t size;
    };
    static constexpr std::uint32_t kInline = 2;
    Block& at(std::uint32_t i) noexcept { return (more_ == nullptr ? few_ : more_)[(first_ + i) & (capacity_ - 1)]; }

    Context& context_;
    Block* more_ = nullptr;
    std::uint32_t capacity_ = kInline;  // a power of two
    std::uint32_t first_ = 0;
    std::uint32_t count_ = 0;
    Block few_[kInline];
};
#endif

/// Walks the messages of one header, block after block, null messages included. The block that holds the current
/// message is pinned; nothing else is. Adding or removing messages ends the validity of every other iterator.
///
/// A block that the metadata cache has no room for is walked through a window; block() is then empty, and a message is
/// better looked into by way of open_body() than of body(), which needs memory for it.
class MessageIterator {
public:
#if !H5MOTE_ALL_FORMATS
    /// Continuation blocks announced but not visited yet that one header may have at a time.
    static constexpr unsigned kMaxPending = 4;
#endif
    /// Blocks of one header: a chain of continuations that is longer can only be a loop.
    static constexpr unsigned kMaxBlocks = 65535;

#if H5MOTE_ALL_FORMATS
    MessageIterator(FileState& file, Address address) noexcept
        : file_(file), address_(address), pending_(file.context) {}
#else
    MessageIterator(FileState& file, Address address) noexcept : file_(file), address_(address) {}
#endif

    /// The next message. not_found after the last one; corrupt_file, unsupported (a message that must be understood).
    Status next() noexcept;
    /// The next message of that type. A shared one is unsupported.
    Status next(MessageType type) noexcept;

    MessageType type() const noexcept { return static_cast<MessageType>(type_); }
    std::uint8_t flags() const noexcept { return flags_; }
    std::uint16_t order() const noexcept { return order_; }
    std::uint16_t size() const noexcept { return size_; }
#if H5MOTE_ALL_FORMATS
    /// The whole body in memory. Empty when it is larger than a window and there is no memory for it or the storage
    /// fails; the following next() then returns that error, and the one behind it this message again.
    ConstBytes body() noexcept { return block_ ? block_->image().subspan(body_, size_) : window_body(); }
    /// The body in a window of its own, however large. Of a shared message these are the bytes that say where it is:
    /// see StoredMessage.
    Status open_body(MetadataWindow& body) noexcept;
    /// Passes messages of links that have other names, as far as the block at hand stands in memory: most of a large
    /// header. Those that are not passed may have other names, too.
    void pass_links(ConstBytes name) noexcept;
    /// Begins again, at the header at `address`.
    void restart(Address address) noexcept;
    /// Lets go of the block; the next next() takes it up again. body() is not to be called meanwhile.
    void park() noexcept {
        block_.reset();
        window_.close();
    }
    bool shared() const noexcept { return (flags_ & kMessageShared) != 0; }
    /// What the header begins with. After the first next().
    const HeaderPrefix& prefix() const noexcept { return prefix_; }
    /// Of the block that holds the message.
    Address block_address() const noexcept { return block_address_; }
    std::uint32_t block_size() const noexcept { return block_size_; }
    /// End of the messages in the block.
    std::uint32_t end() const noexcept { return end_; }
#else
    ConstBytes body() const noexcept { return block_->image().subspan(body_, size_); }
    Address block_address() const noexcept { return block_->address(); }
    Address block_size() const noexcept { return narrow(block_->size()); }
#endif
    /// Offset of the body in its block.
    std::size_t offset() const noexcept { return body_; }
    const Pinned& block() const noexcept { return block_; }
    Pinned& block() noexcept { return block_; }
    /// Flags of the header as a whole.
    std::uint8_t header_flags() const noexcept { return header_flags_; }
#if H5MOTE_ALL_FORMATS
    std::size_t header_size() const noexcept { return prefix_.version == 1 ? 8 : message_header_size(header_flags_); }
    std::uint8_t version() const noexcept { return prefix_.version; }
#else
    std::size_t header_size() const noexcept { return message_header_size(header_flags_); }
#endif
    unsigned blocks() const noexcept { return blocks_; }
    FileState& file() const noexcept { return file_; }
    Address address() const noexcept { return address_; }

    /// Pins the current block to be changed, also one that was walked through a window. over_budget: the cache cannot
    /// hold it. unsupported: a version 1 header.
    Status hold() noexcept;
    /// The iterator's part of secure_change(): comes before a change of the current block from its offset `from` on.
    /// The current message stays the current one, at an offset() that may have become another.
    H5MOTE_STEP Status secure(std::size_t from, Phase phase = Phase::object) noexcept;
    /// Comes before a change of the current body from `offset` on, which is written in `phase`. `at`: the byte at that
    /// offset, in memory as long as the iterator stays where it is.
    Status change(std::size_t offset, std::byte*& at, Phase phase = Phase::object) noexcept;
    /// Overwrites part of the current body, to be written in `phase`.
    Status store(std::size_t offset, std::uint64_t value, unsigned width, Phase phase = Phase::object) noexcept;

private:
    H5MOTE_STEP Status open_first() noexcept;
    H5MOTE_STEP Status open_continuation() noexcept;
    Status add_continuation() noexcept;
#if H5MOTE_ALL_FORMATS
    H5MOTE_STEP Status read_prefix() noexcept;
    Status open_block(Address address, Address size) noexcept;
    ConstBytes window_body() noexcept;
    Status hold_block() noexcept;
#endif

    FileState& file_;
    Address address_;
    Pinned block_;
    std::uint32_t at_ = 0;  // next message
    std::uint32_t end_ = 0;
    std::uint32_t body_ = 0;
    std::uint16_t size_ = 0;
    std::uint16_t order_ = 0;
    std::uint16_t blocks_ = 0;
    std::uint8_t type_ = 0;
    std::uint8_t flags_ = 0;
    std::uint8_t header_flags_ = 0;
#if H5MOTE_ALL_FORMATS
    Status unread_ = Status::ok;  // why there is no body()
    HeaderPrefix prefix_;
    MetadataWindow window_;  // of a block that is not pinned
    Address block_address_ = 0;
    Address visited_ = 0;  // bytes of all blocks so far
    std::uint32_t block_size_ = 0;
    PendingBlocks pending_;
#else
    // A ring, first come first served.
    std::uint8_t pending_first_ = 0;
    std::uint8_t pending_count_ = 0;
    // Where they stand; apart, for it is half the size of the iterator.
    std::uint32_t pending_sizes_[kMaxPending];
    Address pending_[kMaxPending];
#endif
};

/// Writes all messages of a new header. Called twice: once to measure.
class HeaderContent {
public:
    /// Whether the header carries times: that of its creation by the port's clock, four times.
    bool track_times = false;
    virtual void write(HeaderWriter& header) const noexcept = 0;

protected:
    ~HeaderContent() = default;
};

/// Allocates and fills a new header that nothing points to yet.
H5MOTE_STEP Status create_header(FileState& file, const HeaderContent& content, Address& address) noexcept;

/// Gives up all blocks of a header. Nobody holds one.
H5MOTE_STEP Status dispose_header(FileState& file, Address header, Disposal& disposal) noexcept;

/// Comes before every change of a live header, which is to reach the storage wholly or not at all. `block` belongs to
/// the header at `header`, and the bytes from its offset `from` on are to change. When these bytes and the checksum at
/// the block's end do not lie in one atomic unit of the storage, the block gets a new place, and one write switches to
/// it. For a continuation block that is a write of the continuation message that leads to it. The first block has to
/// stay where links point to: all its messages move into a continuation block, and it is cut to the few bytes that name
/// that one. `block` and `from` then say where the bytes to change are now; nobody else holds the block. What switches
/// is written in `phase`.
///
/// unsupported (Feature::ordered_writing): the header was made by others and begins so near the end of a unit that
/// nothing switches it. no_space, out_of_memory, over_budget, busy, io_error: the header is as it was.
H5MOTE_STEP Status secure_change(FileState& file, Address header, Pinned& block, std::size_t& from,
                                 Phase phase) noexcept;

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

/// Adds a message to a live or fresh header: in a null message that leaves room for a continuation, else in a new block
/// that is complete before the header points to it. Nothing changes when an error is returned. Marks Phase::object.
H5MOTE_STEP Status add_message(FileState& file, Address header, MessageType type, std::uint8_t flags,
                               std::uint16_t order, const MessageContent& content) noexcept;

/// Puts a message with another body, of any size up to 64 KiB less one byte, in the place of the iterator's current
/// one; type, flags and creation order stay. One block of the header changes, so that the storage has the old message
/// or the new one. Nothing changes when an error is returned. Ends the walk. unsupported: a version 1 header.
H5MOTE_STEP Status replace_message(MessageIterator& message, const MessageContent& content) noexcept;

/// Gives the bytes at the end of a block that are too few for a message to the null message at offset `null`, moving
/// what stands between: libhdf5 refuses a block that has both.
void close_gap(CacheEntry& block, std::size_t null, std::size_t header_size) noexcept;

/// Turns the iterator's current message into a null message, together with those beside it. Ends the walk. As
/// secure_change().
Status remove_message(MessageIterator& message, Phase phase = Phase::object) noexcept;

/// The number of hard links that the header counts. corrupt_file; unsupported: a version 1 header.
H5MOTE_STEP Status reference_count(FileState& file, Address header, std::uint32_t& count) noexcept;
/// Adds `change`, 1 or -1, to the number of hard links to an object. The count is never smaller than the links: one
/// more is on the storage before the link is made, one less after it is gone (FileState::order()). overflow: there are
/// as many links as can be counted. corrupt_file: it counts none.
H5MOTE_STEP Status change_reference_count(FileState& file, Address header, int change, std::uint32_t& count) noexcept;

}  // namespace h5mote
