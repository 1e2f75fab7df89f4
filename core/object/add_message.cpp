// Finding room for one more message in an object header.

#include "header.hpp"
#include "old_prefix.hpp"
#include "versions.hpp"

namespace h5mote {
namespace {

// A place in a header that a walk over its messages has found.
struct Place {
    Pinned block;
    std::size_t head = 0;  // offset of the message's head in the block
    std::size_t size = 0;  // bytes of the body

    void set(MessageIterator& message) noexcept {
        block.reset(&*message.block());
        head = message.head();
        size = message.body().size();
    }
};

// Whether the message may be moved to another block without need: these change seldom. Others are moved where nothing
// else makes room for a continuation message, as in headers that H5Ocopy() of libhdf5 has packed.
bool movable(MessageIterator& message) noexcept {
    switch (message.type()) {
        case MessageType::link:
        case MessageType::attribute:
        case MessageType::datatype:
        case MessageType::fill_value:
        case MessageType::link_info:
        case MessageType::group_info:
        case MessageType::attribute_info:
        case MessageType::symbol_table:
            return true;
        default:
            return false;
    }
}

// Which messages make room for a continuation message.
enum class Moves : std::uint8_t {
    movable,  // those that movable() names
    any,      // all but continuation messages
    // The same, and the message that is replaced lies among them. It is not moved. Then `link_.head` of the Adder
    // counts from the first of them.
    all_but_replaced,
};

class Adder {
public:
    Adder(FileState& file, MessageType type, std::uint8_t flags, std::uint16_t order,
          const MessageContent& content) noexcept
        : file_(file), content_(content), size_(content.size()), order_(order), type_(type), flags_(flags) {}

    Status run(Address header) noexcept {
        header_ = header;
        H5MOTE_TRY(check_size());
        H5MOTE_TRY(survey(header));
        H5MOTE_TRY(check_size());
        // Keep one place free for a continuation message: without it the header could not grow any more.
        if (H5MOTE_ALL_FORMATS != 0 && !link_.block && !moved_.block) {
            moves_ = Moves::any;
            H5MOTE_TRY(survey(header));
        }
        if (!link_.block && !moved_.block) {
            return file_.context.fail(Module::object, H5MOTE_HERE, Status::unsupported, 1, header);
        }
        if (room_.block) {
            link_.block.reset();
            moved_.block.reset();
            H5MOTE_TRY(order_addition(room_));
            H5MOTE_TRY(secure(room_));
            put(room_);
            return Status::ok;
        }
        return add_block();
    }

    // Replaces the message `old`. If the new message does not fit in its place and the null space behind it, the new
    // one goes into a new block. The continuation message that leads there takes the place of the one that the old
    // message's block has, which moves into the new block, or else the place of the old message. Either way, only the
    // old message's block changes among those that the header has already.
    Status replace(MessageIterator& old) noexcept {
        H5MOTE_TRY(old.hold());
        header_ = old.address();
        set_layout(old.layout());
        H5MOTE_TRY(check_size());
        link_.set(old);
        H5MOTE_TRY(survey_block());
        const std::size_t after = room_.block ? room_.size : link_.size;
        const bool linked = static_cast<bool>(moved_.block);
        // secure_change() needs to be the only holder of the block.
        room_.block.reset();
        moved_.block.reset();
        if (layout_.fits(size_, after)) {
            link_.size = after;
            old.block().reset();
            H5MOTE_TRY(secure(link_));
            put(link_);
            return Status::ok;
        }
        if (!linked) {
            old.block().reset();
            return add_block();
        }
        link_.block.reset();
        return add_and_remove(old);
    }

    // The same for an old message that may be too short for a continuation message. That takes the place of other
    // messages of the same block then, which move into the new one. If these are too short as well, as in the smallest
    // headers with addresses of four bytes, it takes their place and that of the old message.
    Status replace_short(MessageIterator& old) noexcept {
        set_layout(old.layout());
        if (layout_.fits(continuation_size(), old.size())) {
            return replace(old);
        }
        H5MOTE_TRY(check_size());
        H5MOTE_TRY(old.hold());
        header_ = old.address();
        link_.set(old);
        H5MOTE_TRY(survey_block());
        const bool in_place = layout_.fits(size_, room_.block ? room_.size : link_.size);
        if (in_place || moved_.block) {
            room_.block.reset();
            moved_.block.reset();
            link_.block.reset();
            return replace(old);
        }
        room_.block.reset();
        H5MOTE_TRY(find_beside());
        if (H5MOTE_ALL_FORMATS != 0 && !moved_.block) {
            moves_ = Moves::any;
            H5MOTE_TRY(find_beside());
        }
        if (H5MOTE_ALL_FORMATS != 0 && !moved_.block) {
            moves_ = Moves::all_but_replaced;
            H5MOTE_TRY(find_beside());
        }
        if (!moved_.block) {
            return file_.context.fail(Module::object, H5MOTE_HERE, Status::unsupported, 1, header_);
        }
        if (leaves_old()) {
            link_.head -= moved_.head;
            old.block().reset();
            link_.block.reset();
            return add_block();
        }
        // secure_change() needs to be the only holder of the block.
        moved_.block.reset();
        link_.block.reset();
        return add_and_remove(old);
    }

    // Ends a change, which has returned `status`.
    Status end(Status status) noexcept {
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            if (status == Status::ok && layout_.is_old()) {
                count_messages(file_, header_, Phase::object);
            }
        }
        return status;
    }

private:
    std::size_t head_size() const noexcept { return layout_.head_size(); }
    bool leaves_old() const noexcept { return H5MOTE_ALL_FORMATS != 0 && moves_ == Moves::all_but_replaced; }
    bool may_move(MessageIterator& message) const noexcept {
        return movable(message) ||
               (H5MOTE_ALL_FORMATS != 0 && moves_ != Moves::movable && message.type() != MessageType::continuation);
    }
    // Whether a head can state the size of the message: before the layout is known, or with the padding that it asks
    // for.
    Status check_size() const noexcept {
        return size_ <= 0xffff ? Status::ok
                               : file_.context.fail(Module::object, H5MOTE_HERE, Status::over_budget, 0, size_);
    }
    // Padding that was added before adds nothing again.
    void set_layout(HeaderLayout layout) noexcept {
        layout_ = layout;
        size_ = layout.body_size(size_);
    }
    Status secure(Place& place) noexcept {
        return secure_change(file_, header_, place.block, place.head, Phase::object);
    }
    // Adds the new message in a new block, and removes `old`. When add_block() returns, the block of `old` is secured
    // for both changes: nothing that may fail comes between them.
    Status add_and_remove(MessageIterator& old) noexcept {
        H5MOTE_TRY(add_block(&old));
        if constexpr (H5MOTE_ALL_FORMATS == 0) {
            return remove_message(old);
        }
        remove_secured(old);
        return Status::ok;
    }
    // Secures the continuation message (`moved_`) together with another message of the same block.
    Status secure_both(MessageIterator& other) noexcept {
        const std::size_t begin = other.head();
        std::size_t from = moved_.head < begin ? moved_.head : begin;
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            H5MOTE_TRY(other.hold());
            const std::size_t first = first_change(other);
            from = first < from ? first : from;
        }
        H5MOTE_TRY(other.secure(from));
        moved_.head -= begin - other.head();
        moved_.block.reset(&*other.block());
        return Status::ok;
    }
    // Whether this null message lies in a first block from which formats::any_placement has moved all messages that it
    // could: no one write can change it.
    bool is_filler(MessageIterator& message) const noexcept {
        CacheEntry& block = *message.block();
        if (message.block_address() != header_ || file_.one_write(block, message.head())) {
            return false;
        }
        const std::size_t first = message.begin();
        const std::size_t end = message.end();
        for (std::size_t at = first; at + head_size() <= end; at += layout_.length_at(block.at(at))) {
            const std::uint8_t type = layout_.type_at(block.at(at));
            const bool stays = H5MOTE_ALL_FORMATS != 0 && at == first && head_crosses_unit(message, at);
            if (type != 0 && type != static_cast<std::uint8_t>(MessageType::continuation) && !stays) {
                return false;
            }
        }
        return true;
    }
    std::size_t continuation_size() const noexcept { return layout_.body_size(continuation_body(file_.shape())); }

    // One walk finds room for the message itself (`room_`), and the last null message that can become a continuation
    // message (`link_`; the same null message if it has room for both). Where no null message can become one, the walk
    // finds a message, or several side by side, that can be moved to a new block to make room for one (`moved_`).
    H5MOTE_STEP Status survey(Address header) noexcept {
        MessageIterator message(file_, header);
        Status status;
        bool found = false;
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            changes_known_ = true;
        }
        std::size_t run = 0;      // where movable messages side by side begin ...
        std::size_t run_end = 0;  // ... and end
        unsigned run_block = 0;
        while ((status = message.next()) == Status::ok) {
            note_change(message);
            if (H5MOTE_ALL_FORMATS != 0 && found) {
                continue;
            }
            H5MOTE_TRY(message.hold());
            set_layout(message.layout());
            blocks_ = message.blocks();
            const std::size_t size = message.body().size();
            if (message.type() == MessageType::null) {
                if (is_filler(message)) {
                    continue;
                }
                // A null message can serve for both: what is left over must fit a continuation message.
                if (size_ + head_size() <= size && layout_.fits(continuation_size(), size - size_ - head_size())) {
                    room_.set(message);
                    link_.set(message);
                    // The walk goes on for the changes, which order_addition() would have to look for otherwise.
                    if (H5MOTE_ALL_FORMATS == 0 || file_.is_atomic()) {
                        return Status::ok;
                    }
                    found = true;
                    continue;
                }
                if (layout_.fits(continuation_size(), size)) {
                    // The last null message is taken, so that each block continues in the next one: a chain of any
                    // length. Several continuation messages in one block would be a queue, for which readers have
                    // little room.
                    if (link_.block && !room_.block && layout_.fits(size_, link_.size)) {
                        room_ = static_cast<Place&&>(link_);
                    }
                    link_.set(message);
                    moved_.block.reset();
                } else if (!room_.block && layout_.fits(size_, size)) {
                    room_.set(message);
                }
            }
            if (!link_.block && !moved_.block && may_move(message)) {
                const std::size_t begin = message.head();
                if (run_block != blocks_ || run_end != begin) {
                    run = begin;
                    run_block = blocks_;
                }
                run_end = message.offset() + size;
                // In a block of which everything else moves, what is left over may be a gap. libhdf5 makes such headers
                // just large enough for a continuation message.
                const std::size_t gap = message.end() - run_end;
                const bool all =
                    H5MOTE_ALL_FORMATS != 0 && moves_ != Moves::movable && gap < head_size() && run == message.begin();
                const std::size_t room = run_end - run - head_size() + (all ? gap : 0);
                if (all ? room >= continuation_size() : layout_.fits(continuation_size(), room)) {
                    moved_.set(message);
                    moved_.head = run;
                    moved_.size = room;
                }
            }
        }
        return status == Status::not_found ? Status::ok : status;
    }

    // Notes the block of a message if it is a changed live one. None becomes one while a message is added: the cache
    // can only write some, and a fresh block that becomes live was written.
    void note_change(MessageIterator& message) noexcept {
        if (H5MOTE_ALL_FORMATS == 0 || !changes_known_ || !message.block()) {
            return;
        }
        const CacheEntry& block = *message.block();
        if (block.dirty() && !block.fresh()) {
            changes_known_ = changed_block_ == kUndefinedAddress || changed_block_ == block.address();
            changed_block_ = block.address();
        }
    }

    // Searches the block of the message that is replaced (`link_`) for a null message directly behind it (`room_`, with
    // the size of both together), and for a continuation message (`moved_`).
    H5MOTE_STEP Status survey_block() noexcept {
        MessageIterator message(file_, header_);
        const Address block = link_.block->address();
        Status status;
        while ((status = message.next()) == Status::ok) {
            blocks_ = message.blocks();
            if (message.block_address() != block) {
                continue;
            }
            if (message.type() == MessageType::continuation) {
                moved_.set(message);
            } else if (message.type() == MessageType::null && message.head() == link_.head + head_size() + link_.size) {
                room_.set(message);
                room_.size += link_.size + head_size();
            }
        }
        return status == Status::not_found ? Status::ok : status;
    }

    // Searches the block of the message that is replaced (`link_`) for others that make room for a continuation message
    // when they move (`moved_`): a null message, or else movable ones side by side. With Moves::all_but_replaced
    // the message that is replaced lies among these.
    H5MOTE_STEP Status find_beside() noexcept {
        MessageIterator message(file_, header_);
        const Address block = link_.block->address();
        std::size_t run = 0;
        std::size_t run_end = 0;
        bool null = false;
        Status status;
        while (!null && (status = message.next()) == Status::ok) {
            const std::size_t begin = message.head();
            const bool replaced = begin == link_.head;
            if (message.block_address() != block || (replaced && !leaves_old())) {
                continue;
            }
            null = message.type() == MessageType::null && layout_.fits(continuation_size(), message.size());
            if (!null && !replaced && !may_move(message)) {
                continue;
            }
            run = null || run_end != begin ? begin : run;
            run_end = message.offset() + message.size();
            if (null || (!moved_.block && layout_.fits(continuation_size(), run_end - run - head_size()))) {
                moved_.set(message);
                moved_.head = run;
                moved_.size = run_end - run - head_size();
            }
        }
        return null || status == Status::not_found ? Status::ok : status;
    }

    // Call before secure() when a message is added. The message may replace one that was removed from another block of
    // the header, or need one that was added there: it must not reach the storage before those changes.
    H5MOTE_STEP Status order_addition(Place& place) noexcept {
        if (file_.is_atomic()) {
            return Status::ok;
        }
        CacheEntry& changed = *place.block;
        if (H5MOTE_ALL_FORMATS != 0 && changes_known_ &&
            (changed_block_ == kUndefinedAddress || changed_block_ == changed.address() || changed.fresh())) {
            return Status::ok;
        }
        const bool moves = !file_.one_write(changed, place.head);
        unsigned others = changed.fresh() ? 0 : 1;  // changed live blocks; one of them may lead to this block
        const CacheEntry* last = &changed;
        MessageIterator message(file_, header_);
        Status status;
        while ((status = message.next()) == Status::ok) {
            // A block that is walked through a window is not in the cache: it has no changes.
            CacheEntry* const block = message.block() ? &*message.block() : nullptr;
            if (block == nullptr || block == &changed || block == last || !block->dirty() || block->fresh()) {
                continue;
            }
            last = block;
            ++others;
            if (!changed.fresh() && !moves) {
                H5MOTE_TRY(file_.write_after(changed, *block));
            }
        }
        if (status != Status::not_found) {
            return status;
        }
        // A fresh block, or one that moves, appears with the live block that leads to it. As it is not known here which
        // block that is and which others wait for it, everything that was changed so far is written first.
        return (changed.fresh() || moves) && others > 1 ? file_.order() : Status::ok;
    }

    // Writes the head of a message of `size` bytes at a place; bytes that are left over become a null message. The
    // body is the caller's task. Unless `moves` is false, the messages behind move over a gap at the end of the block.
    void carve(Place& place, MessageType type, std::size_t size, std::uint8_t flags, std::uint16_t order,
               bool moves = true) noexcept {
        Writer writer(place.block->image().subspan(place.head));
        write_message_head(writer, layout_, type, size, flags, order);
        const std::size_t body = place.head + head_size();
        std::size_t rest = place.size - size;
        if (H5MOTE_ALL_FORMATS != 0 && rest < head_size()) {
            // They are a gap, which ends a block. But secure() may have put a null message behind the place.
            std::memset(place.block->at(body + size), 0, rest);
            const std::size_t behind = body + place.size;
            const bool is_last = behind + head_size() > place.block->size() - layout_.checksum_size();
            rest = rest == 0 || is_last || !layout_.is_null(place.block->at(behind))
                       ? 0
                       : rest + layout_.length_at(place.block->at(behind));
        }
        if (rest != 0) {
            layout_.put_null(place.block->at(body + size), rest);
            if (moves) {
                layout_.close_gap(place.block->at(0), body + size, place.block->size() - layout_.checksum_size());
            }
        }
        MetadataCache::mark_dirty(*place.block, place.head, Phase::object);
    }

    H5MOTE_STEP void put(Place& place) noexcept {
        carve(place, type_, size_, flags_, order_);
        Writer writer(place.block->image().subspan(place.head + head_size(), size_));
        write_body(writer);
    }

    // Adds a continuation block. It holds the messages that had to make room for the continuation message, if any, then
    // the new message, then null space for later ones. `beside`: a message in the block of `moved_` that the caller
    // changes as well.
    H5MOTE_STEP Status add_block(MessageIterator* beside = nullptr) noexcept {
        const bool move = !link_.block;
        const std::size_t moved = move ? moved_bytes() : 0;
        const std::size_t need = layout_.block_prefix() + moved + head_size() + size_ + head_size() +
                                 continuation_size() + layout_.checksum_size();
        std::size_t size = blocks_ >= 3 ? 512 : std::size_t{64} << blocks_;
        size = size < need + head_size() ? need : size;
        Place& link = move ? moved_ : link_;
        Pinned block;
        H5MOTE_TRY(file_.create_block(Usage::object_header, size, size, block,
                                      layout_.is_old() ? ChecksumPlace::none : ChecksumPlace::at_end));
        Status status = beside == nullptr ? order_addition(link) : Status::ok;
        if (status == Status::ok) {
            status = beside == nullptr ? secure(link) : secure_both(*beside);
        }
        if (status != Status::ok) {
            const Address fresh = block->address();
            block.reset();
            discard_fresh_block(file_, fresh);
            return status;
        }
        // To make room the cache may have committed and written the new block, but nothing leads to it yet.
        MetadataCache::set_fresh(*block);
        fill(*block, move);
        MetadataCache::mark_dirty(*block, 0, Phase::object);

        // The message that the caller changes as well stays where it is.
        carve(link, MessageType::continuation, continuation_size(), 0, 0, beside == nullptr);
        Writer writer(link.block->image().subspan(link.head + head_size(), continuation_size()));
        file_.shape().write_addr(writer, block->address());
        file_.shape().write_size(writer, size);
        return Status::ok;
    }

    // Writes the body of the new message: its content, and zeros up to `size_`.
    void write_body(Writer& writer) const noexcept {
        const std::size_t end = writer.written() + size_;
        content_.write(writer);
        if (layout_.is_old()) {
            writer.fill(std::byte{0}, end - writer.written());
        }
    }

    // Bytes of the messages that move: without a gap behind them.
    std::size_t moved_bytes() const noexcept {
        const std::size_t room = head_size() + moved_.size;
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            // Beside a message that the caller changes there is no gap; that block is not held here.
            if (moves_ != Moves::movable && moved_.block) {
                return layout_.end_of_messages(moved_.block->at(0), moved_.head, moved_.head + room) - moved_.head;
            }
        }
        return room;
    }

    void fill(CacheEntry& block, bool move) noexcept {
        Writer writer(block.image().first(block.size() - layout_.checksum_size()));
        if (layout_.block_prefix() != 0) {
            writer.u32(kContinuationSignature);
        }
        if (move) {
            const ConstBytes moved = moved_.block->image().subspan(moved_.head, moved_bytes());
            if (leaves_old()) {
                writer.bytes(moved.first(link_.head));
                writer.bytes(moved.subspan(link_.head + head_size() + link_.size));
            } else {
                writer.bytes(moved);
            }
        }
        write_message_head(writer, layout_, type_, size_, flags_, order_);
        write_body(writer);
        const std::size_t rest = block.size() - layout_.checksum_size() - writer.written() - head_size();
        write_message_head(writer, layout_, MessageType::null, rest);
    }

    FileState& file_;
    Address header_ = kUndefinedAddress;
    const MessageContent& content_;
    std::size_t size_;  // of the body, once the layout is known; before that, of its content
    Place room_;
    Place link_;
    Place moved_;
    unsigned blocks_ = 0;
    Address changed_block_ = kUndefinedAddress;  // the only changed live block of the header, if any ...
    bool changes_known_ = false;                 // ... unless survey() has not looked, or has seen more than one
    Moves moves_ = Moves::movable;
    std::uint16_t order_;
    MessageType type_;
    std::uint8_t flags_;
    HeaderLayout layout_;
};

}  // namespace

namespace {

// Calls `then` with the content of a message in the version that the file's lower bound asks for.
template <typename Then>
Status versioned(FileState& file, MessageType type, [[maybe_unused]] unsigned flags, const MessageContent& content,
                 const Then& then) noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        const VersionsFormat* const format = file.versions();
        if (format != nullptr && (flags & kMessageShared) == 0) {
            StoredContent old(file.context);
            H5MOTE_TRY(format->convert(file, type, content, old));
            return then(old);
        }
    }
    return then(content);
}

}  // namespace

Status add_message(FileState& file, Address header, MessageType type, std::uint8_t flags, std::uint16_t order,
                   const MessageContent& content) noexcept {
    return versioned(file, type, flags, content, [&](const MessageContent& message) noexcept {
        Adder adder(file, type, flags, order, message);
        return adder.end(adder.run(header));
    });
}

Status replace_message(MessageIterator& message, const MessageContent& content) noexcept {
    FileState& file = message.file();
    return versioned(file, message.type(), message.flags(), content, [&](const MessageContent& stored) noexcept {
        Adder adder(file, message.type(), message.flags(), message.order(), stored);
        return adder.end(adder.replace(message));
    });
}

Status replace_short_message(MessageIterator& message, const MessageContent& content) noexcept {
    Adder adder(message.file(), message.type(), message.flags(), message.order(), content);
    return adder.end(adder.replace_short(message));
}

Status replace_short_message(MessageIterator& message, unsigned flags, const MessageContent& content) noexcept {
    FileState& file = message.file();
    return versioned(file, message.type(), flags, content, [&](const MessageContent& stored) noexcept {
        Adder adder(file, message.type(), static_cast<std::uint8_t>(flags), message.order(), stored);
        return adder.end(adder.replace_short(message));
    });
}

}  // namespace h5mote
