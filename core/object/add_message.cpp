// Finding room for one more message in an object header.

#include "header.hpp"

namespace h5mote {
namespace {

// A place in a header, found by walking it.
struct Place {
    Pinned block;
    std::size_t header = 0;  // offset of the message header in the block
    std::size_t size = 0;    // bytes of the body

    void set(MessageIterator& message) noexcept {
        block.reset(&*message.block());
        header = message.offset() - message.header_size();
        size = message.body().size();
    }
};

// Whether a body of `need` bytes can replace one of `size`: exactly, or leaving a null message.
bool fits(std::size_t need, std::size_t size, std::size_t header_size) noexcept {
    return need == size || need + header_size <= size;
}

// Messages that may move to another block: nothing remembers where they stand.
bool movable(MessageIterator& message) noexcept {
    switch (message.type()) {
        case MessageType::link:
        case MessageType::attribute:
        case MessageType::datatype:
        case MessageType::fill_value:
        case MessageType::link_info:
        case MessageType::group_info:
        case MessageType::attribute_info:
            return true;
        default:
            return false;
    }
}

class Adder {
public:
    Adder(FileState& file, MessageType type, std::uint8_t flags, std::uint16_t order,
          const MessageContent& content) noexcept
        : file_(file), content_(content), size_(content.size()), order_(order), type_(type), flags_(flags) {}

    Status run(Address header) noexcept {
        if (size_ > 0xffff) {
            return file_.context.fail(Module::object, H5MOTE_HERE, Status::over_budget, 0, size_);
        }
        header_ = header;
        H5MOTE_TRY(survey(header));
        // Another place stays, where the header can be continued some day.
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

    // The message at hand becomes the new one. Where it and null space after it leave no room, the new one stands in a
    // new block, to which the block of the old one leads: by its continuation message, or by one in the old one's
    // place. Either way the block of the old one is all that changes among what the header has.
    Status replace(MessageIterator& old) noexcept {
        H5MOTE_TRY(old.hold());
        header_ = old.address();
        header_flags_ = old.header_flags();
        link_.set(old);
        H5MOTE_TRY(survey_block());
        const std::size_t after = room_.block ? room_.size : link_.size;
        const bool linked = static_cast<bool>(moved_.block);
        // What is secured has one holder.
        room_.block.reset();
        moved_.block.reset();
        if (fits(size_, after, header_size())) {
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
        H5MOTE_TRY(add_block(&old));
        return remove_message(old);
    }

private:
    std::size_t header_size() const noexcept { return message_header_size(header_flags_); }
    Status secure(Place& place) noexcept {
        return secure_change(file_, header_, place.block, place.header, Phase::object);
    }
    // The continuation message (`moved_`) together with another message of its block.
    Status secure_both(MessageIterator& other) noexcept {
        const std::size_t begin = other.offset();
        H5MOTE_TRY(other.secure(moved_.header < begin - header_size() ? moved_.header : begin - header_size()));
        moved_.header -= begin - other.offset();
        moved_.block.reset(&*other.block());
        return Status::ok;
    }
    std::size_t continuation_size() const noexcept { return continuation_body(file_.shape()); }

    // One walk finds: room for the message itself (`room_`), the last null message that can become the continuation
    // (`link_`, in the message's own room if that is large enough), and, failing that, a message, or some that stand
    // side by side, that can be moved away to make one.
    H5MOTE_STEP Status survey(Address header) noexcept {
        MessageIterator message(file_, header);
        Status status;
        std::size_t run = 0;  // where neighbours that can be moved begin and end
        std::size_t run_end = 0;
        unsigned run_block = 0;
        while ((status = message.next()) == Status::ok) {
            H5MOTE_TRY(message.hold());
            header_flags_ = message.header_flags();
            blocks_ = message.blocks();
            const std::size_t size = message.body().size();
            if (message.type() == MessageType::null) {
                // What is left over has to serve as a continuation as it is.
                if (size_ + header_size() <= size &&
                    fits(continuation_size(), size - size_ - header_size(), header_size())) {
                    room_.set(message);
                    link_.set(message);
                    return Status::ok;
                }
                if (fits(continuation_size(), size, header_size())) {
                    // The last one: blocks that continue each other in turn are a chain, however many there are.
                    // Several continuations in one block would be a queue, which only so many readers have room for.
                    if (link_.block && !room_.block && fits(size_, link_.size, header_size())) {
                        room_ = static_cast<Place&&>(link_);
                    }
                    link_.set(message);
                    moved_.block.reset();
                } else if (!room_.block && fits(size_, size, header_size())) {
                    room_.set(message);
                }
            } else if (!link_.block && !moved_.block && movable(message)) {
                const std::size_t begin = message.offset() - header_size();
                if (run_block != blocks_ || run_end != begin) {
                    run = begin;
                    run_block = blocks_;
                }
                run_end = message.offset() + size;
                if (fits(continuation_size(), run_end - run - header_size(), header_size())) {
                    moved_.set(message);
                    moved_.header = run;
                    moved_.size = run_end - run - header_size();
                }
            }
        }
        return status == Status::not_found ? Status::ok : status;
    }

    // Looks around in the block of the message that is replaced (`link_`): for null space that follows it (`room_`:
    // what both are together), and for the message that continues the header elsewhere (`moved_`).
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
            } else if (message.type() == MessageType::null &&
                       message.offset() == link_.header + header_size() + link_.size + header_size()) {
                room_.set(message);
                room_.size += link_.size + header_size();
            }
        }
        return status == Status::not_found ? Status::ok : status;
    }

    // Comes before secure() where a message is added: it may stand for one that was removed from another block of the
    // header, or need one that was added there, and is not on the storage without those changes.
    H5MOTE_STEP Status order_addition(Place& place) noexcept {
        if (file_.is_atomic()) {
            return Status::ok;
        }
        CacheEntry& changed = *place.block;
        const bool moves = !file_.one_write(changed, place.header);
        unsigned others = changed.fresh() ? 0 : 1;  // changed live blocks, of which one may lead to this one
        const CacheEntry* last = &changed;
        MessageIterator message(file_, header_);
        Status status;
        while ((status = message.next()) == Status::ok) {
            // A block that is looked at through a window was not changed.
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
        // A fresh block, or one that moves, appears with the live one that leads to it. Which that is, and what waits
        // for it, is not known here.
        return (changed.fresh() || moves) && others > 1 ? file_.order() : Status::ok;
    }

    // Replaces what stands at a place by a message of `size` bytes; what is left over becomes a null message. The
    // caller has written the body or does so next.
    void carve(Place& place, MessageType type, std::size_t size, std::uint8_t flags, std::uint16_t order) noexcept {
        Writer writer(place.block->image().subspan(place.header));
        write_message_header(writer, header_flags_, type, size, flags, order);
        if (size < place.size) {
            const std::size_t body = place.header + header_size();
            Writer rest(place.block->image().subspan(body + size));
            write_message_header(rest, header_flags_, MessageType::null, place.size - size - header_size(), 0, 0);
            close_gap(*place.block, body + size, header_size());
        }
        MetadataCache::mark_dirty(*place.block, place.header, Phase::object);
    }

    H5MOTE_STEP void put(Place& place) noexcept {
        carve(place, type_, size_, flags_, order_);
        Writer writer(place.block->image().subspan(place.header + header_size(), size_));
        content_.write(writer);
    }

    // A new block: the moved message if one must make room, the new message, and null space for the next ones.
    // `beside`: a message in the block of the moved one that the caller changes, too.
    H5MOTE_STEP Status add_block(MessageIterator* beside = nullptr) noexcept {
        const bool move = !link_.block;
        const std::size_t moved = move ? header_size() + moved_.size : 0;
        const std::size_t need = kContinuationPrefix + moved + header_size() + size_ + header_size() +
                                 continuation_size() + kHeaderChecksumSize;
        std::size_t size = blocks_ >= 3 ? 512 : std::size_t{64} << blocks_;
        size = size < need + header_size() ? need : size;
        Place& link = move ? moved_ : link_;
        Pinned block;
        H5MOTE_TRY(file_.create_block(Usage::object_header, size, size, block));
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
        // That may have written the new block, but nothing leads there yet.
        MetadataCache::set_fresh(*block);
        fill(*block, move);
        MetadataCache::mark_dirty(*block, 0, Phase::object);

        carve(link, MessageType::continuation, continuation_size(), 0, 0);
        Writer writer(link.block->image().subspan(link.header + header_size(), continuation_size()));
        file_.shape().write_addr(writer, block->address());
        file_.shape().write_size(writer, size);
        return Status::ok;
    }

    void fill(CacheEntry& block, bool move) noexcept {
        Writer writer(block.image().first(block.size() - kHeaderChecksumSize));
        writer.u32(0x4b48434fU);  // "OCHK"
        if (move) {
            writer.bytes(moved_.block->image().subspan(moved_.header, header_size() + moved_.size));
        }
        write_message_header(writer, header_flags_, type_, size_, flags_, order_);
        content_.write(writer);
        const std::size_t rest = block.size() - kHeaderChecksumSize - writer.written() - header_size();
        write_message_header(writer, header_flags_, MessageType::null, rest, 0, 0);
    }

    FileState& file_;
    Address header_ = kUndefinedAddress;
    const MessageContent& content_;
    std::size_t size_;
    Place room_;
    Place link_;
    Place moved_;
    unsigned blocks_ = 0;
    std::uint16_t order_;
    MessageType type_;
    std::uint8_t flags_;
    std::uint8_t header_flags_ = 0;
};

}  // namespace

Status add_message(FileState& file, Address header, MessageType type, std::uint8_t flags, std::uint16_t order,
                   const MessageContent& content) noexcept {
    return Adder(file, type, flags, order, content).run(header);
}

Status replace_message(MessageIterator& message, const MessageContent& content) noexcept {
    return Adder(message.file(), message.type(), message.flags(), message.order(), content).replace(message);
}

}  // namespace h5mote
