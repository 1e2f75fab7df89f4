#include "header.hpp"

#include "any_placement.hpp"
#include "block_mover.hpp"
#include "checked.hpp"
#include "object_messages.hpp"

namespace h5mote {

Status create_header(FileState& file, const HeaderContent& content, Address& address) noexcept {
    Writer counter;
    HeaderWriter measure(counter, file.shape());
    content.write(measure);
    const std::size_t messages = counter.written();
    const unsigned width = messages > 0xffff ? 4 : messages > 0xff ? 2 : 1;
    const std::size_t size =
        6 + (content.track_times ? 16U : 0U) + width + messages + HeaderWriter::layout.checksum_size();
    Pinned block;
    H5MOTE_TRY(file.create_block(Usage::object_header, size, size, block));
    address = block->address();
    Writer writer(block->image());
    writer.u32(0x5244484fU);  // "OHDR"
    writer.u8(2);
    writer.u8(width / 2 | (content.track_times ? HeaderPrefix::kTimes : 0U));  // log2 of 1, 2, 4
    for (unsigned i = 0; content.track_times && i < 4; ++i) {
        writer.u32(file.context.port().time());
    }
    writer.uint(width, messages);
    HeaderWriter header(writer, file.shape());
    content.write(header);
    MetadataCache::mark_dirty(*block, 0, Phase::object);
    return Status::ok;
}

void discard_fresh_block(FileState& file, Address address) noexcept {
    if (const CacheEntry* const block = file.cache.touch(address)) {
        file.give_up(address, narrow(block->size()), true);
    }
}

Status find_continuation(MessageIterator& message, Address block) noexcept {
    FileState& file = message.file();
    Status status;
    while ((status = message.next()) == Status::ok) {
        const ConstBytes body = message.body();
        if (message.type() == MessageType::continuation && body.size() >= file.shape().sizeof_addr &&
            file.shape().load_addr(body.data()) == block) {
            return message.hold();
        }
    }
    return status == Status::not_found
               ? file.context.fail(Module::object, H5MOTE_HERE, Status::corrupt_file, 0, message.address())
               : status;
}

namespace {

// The size of a first block that holds nothing but one continuation message.
std::size_t cut_size(const FileState& file, const HeaderPrefix& prefix) noexcept {
    const HeaderLayout layout = prefix.layout();
    return prefix.size + layout.head_size() + layout.body_size(continuation_body(file.shape())) +
           layout.checksum_size();
}

// Whether a first block is too short to be cut to cut_size(), or even then not within one atomic unit of the storage.
bool cannot_switch(FileState& file, CacheEntry& first) noexcept {
    HeaderPrefix prefix;
    if (prefix.decode(file.context, first.image()) != Status::ok) {
        return true;
    }
    const std::size_t cut = cut_size(file, prefix);
    return cut > first.size() || !file.space.in_one_unit(first.address(), std::uint64_t{first.address()} + cut);
}

// Moves the messages of a first block into a continuation block, which `block` is afterwards. `from` becomes the offset
// of the same byte there.
Status cut_first_block(const BlockMover& blocks, Pinned& block, std::size_t& from) noexcept {
    FileState& file = blocks.file();
    HeaderPrefix prefix;
    H5MOTE_TRY(prefix.decode(file.context, block->image()));
    const std::size_t size = block->size();
    const HeaderLayout layout = prefix.layout();
    const std::size_t end = size - layout.checksum_size();
    const std::size_t used = layout.end_of_messages(block->at(0), prefix.size, end);
    if (used > end) {
        return file.context.fail(Module::object, H5MOTE_HERE, Status::corrupt_file, 0, block->address());
    }
    const std::size_t cut = cut_size(file, prefix);
    if (cannot_switch(file, *block)) {
        return file.context.unsupported(Module::object, H5MOTE_HERE, Feature::ordered_writing);
    }
    // The block in the cache becomes the continuation block, at another address and with a shorter prefix. The short
    // first block is made anew, so that the cache needs no room for the whole block twice.
    Pinned first;
    H5MOTE_TRY(blocks.split(block, cut, first));
    const unsigned width = 1U << (prefix.flags & 3U);
    store_uint(first->at(prefix.size - width), width, cut - prefix.size - layout.checksum_size());
    Writer writer(first->image().subspan(prefix.size));
    write_message_head(writer, layout, MessageType::continuation, layout.body_size(continuation_body(file.shape())));
    file.shape().write_addr(writer, block->address());
    file.shape().write_size(writer, size);
    store_le<std::uint32_t>(block->at(0), kContinuationSignature);
    move_bytes_down(block->at(layout.block_prefix()), block->at(prefix.size), used - prefix.size);
    // The prefix of a first block is longer. These bytes are now behind the messages, as a null message, or as a gap if
    // they are too few for one.
    const std::size_t free = layout.block_prefix() + used - prefix.size;
    std::memset(block->at(free), 0, end - free);
    if (end - free >= layout.head_size()) {
        Writer null(block->image().subspan(free));
        write_message_head(null, layout, MessageType::null, end - free - layout.head_size());
    }
    from -= prefix.size - layout.block_prefix();
    return Status::ok;
}

}  // namespace

// Each round moves one more block to a place that nothing on the storage leads to: the block itself, if one write can
// change the continuation message that leads to it, else the block before it in the chain. The rounds are limited: a
// cache with room for too few blocks would for ever write a moved block before the next one has moved.
Status secure_change(FileState& file, Address header, Pinned& block, std::size_t& from, Phase phase) noexcept {
    // A first block that cannot be switched is changed in place, if the program allows that (FileAccess::torn_headers).
    const auto changes_safely = [&](CacheEntry& each, std::size_t at) noexcept {
        return file.one_write(each, at) ||
               (file.torn_headers() && each.address() == header && cannot_switch(file, each));
    };
    if (const AnyPlacementFormat* const any = file.context.formats().any_placement) {
        H5MOTE_TRY(any->place(file, header, block, from));
    }
    const BlockMover blocks(file, header, phase);
    constexpr unsigned kMostRounds = 64;
    for (unsigned round = 0; !changes_safely(*block, from); ++round) {
        if (block->address() == header) {
            return cut_first_block(blocks, block, from);
        }
        if (round == kMostRounds) {
            return file.context.fail(Module::object, H5MOTE_HERE, Status::over_budget, round, block->address());
        }
        Pinned last;
        last.reset(&*block);
        for (bool moved = false; !moved;) {
            std::size_t at = 0;
            Pinned before;
            {
                MessageIterator continuation(file, header);
                H5MOTE_TRY(find_continuation(continuation, last->address()));
                at = continuation.offset();
                CacheEntry& holder = *continuation.block();
                const Status status = changes_safely(holder, at) ? blocks.move(holder, at, last) : Status::busy;
                if (status != Status::ok && status != Status::busy) {
                    return status;
                }
                moved = status == Status::ok;
                before = static_cast<Pinned&&>(continuation.block());
            }
            if (!moved && before->address() == header) {
                H5MOTE_TRY(cut_first_block(blocks, before, at));
                moved = true;
            }
            last = static_cast<Pinned&&>(before);
        }
    }
    return Status::ok;
}

Status cut_header(FileState& file, Address header, Pinned& first, std::size_t& at) noexcept {
    constexpr unsigned kMostRounds = 4;
    for (unsigned round = 0; round < kMostRounds; ++round) {
        HeaderPrefix prefix;
        first.reset();
        MessageIterator message(file, header);
        unsigned others = 0;
        Status status;
        at = 0;
        while ((status = message.next()) == Status::ok && message.block_address() == header) {
            at = message.type() == MessageType::continuation ? message.offset() : at;
            others += message.type() == MessageType::continuation || message.type() == MessageType::null ? 0U : 1U;
        }
        if (status != Status::ok && status != Status::not_found) {
            return status;
        }
        message.restart(header);
        H5MOTE_TRY(message.next());
        H5MOTE_TRY(message.hold());
        first = static_cast<Pinned&&>(message.block());
        if (others == 0 && at != 0 && file.one_write(*first, at)) {
            return Status::ok;
        }
        std::size_t from = message.begin();
        if (const AnyPlacementFormat* const any = file.context.formats().any_placement;
            any != nullptr && cannot_switch(file, *first)) {
            H5MOTE_TRY(any->place(file, header, first, from));
        }
        if (first && first->address() == header) {
            H5MOTE_TRY(cut_first_block(BlockMover(file, header, Phase::object), first, from));
        }
    }
    return file.context.unsupported(Module::object, H5MOTE_HERE, Feature::ordered_writing);
}

// A block is given up once the walk has left it.
Status dispose_header(FileState& file, Address header, Disposal& disposal) noexcept {
    MessageIterator message(file, header);
    Address block = kUndefinedAddress;
    Address size = 0;
    Status status;
    while ((status = message.next()) == Status::ok) {
        if (message.block_address() != block) {
            H5MOTE_TRY(disposal.give(block, size));
            block = message.block_address();
            size = message.block_size();
        }
    }
    return status == Status::not_found ? disposal.give(block, size) : status;
}

Status remove_message(MessageIterator& message, Phase phase) noexcept {
    H5MOTE_TRY(message.secure(message.head(), phase));
    const FileState& file = message.file();
    CacheEntry& block = *message.block();
    const HeaderLayout layout = message.layout();
    const std::size_t head = layout.head_size();
    const std::size_t removed = message.head();
    const std::size_t end = message.end();
    layout.make_null(block.at(removed));
    layout.close_gap(block.at(0), removed, end);
    // Null messages side by side become one, so that messages that are removed and added again and again find room.
    // They stay apart where the change of the first one, up to the block's checksum, would not be one atomic write.
    const auto length = [&](std::size_t at) { return layout.length_at(block.at(at)); };
    std::size_t from = removed;
    std::size_t last = end;  // offset of the null message directly before, or `end` where there is none
    for (std::size_t at = message.begin(); at + head <= end; at += length(at)) {
        if (!layout.is_null(block.at(at))) {
            last = end;
        } else if (last == end || length(last) + length(at) - head > 0xffff || !file.one_write(block, last)) {
            last = at;
        } else {
            layout.set_body_size(block.at(last), length(last) + length(at) - head);
            from = last < from ? last : from;
            at = last;
        }
    }
    MetadataCache::mark_dirty(block, from, phase);
    return Status::ok;
}

namespace {

class ReferenceCount final : public MessageContent {
public:
    explicit ReferenceCount(std::uint32_t count) noexcept : count_(count) {}
    void write(Writer& writer) const noexcept override { ReferenceCountMessage::encode(writer, count_); }

private:
    std::uint32_t count_;
};

}  // namespace

Status reference_count(FileState& file, Address header, std::uint32_t& count) noexcept {
    MessageIterator message(file, header);
    const Status status = message.next(MessageType::reference_count);
    count = 1;
    if (H5MOTE_ALL_FORMATS != 0 && (status == Status::ok || status == Status::not_found) && message.version() == 1) {
        return file.context.unsupported(Module::object, H5MOTE_HERE, Feature::object_header_version, 1);
    }
    if (status != Status::ok) {
        return status == Status::not_found ? Status::ok : status;
    }
    if (message.body().size() < ReferenceCountMessage::kSize) {
        return file.context.fail(Module::object, H5MOTE_HERE, Status::corrupt_file, 0, header);
    }
    count = ReferenceCountMessage::decode(message.body());
    return Status::ok;
}

Status change_reference_count(FileState& file, Address header, int change, std::uint32_t& count) noexcept {
    MessageIterator message(file, header);
    const Status status = message.next(MessageType::reference_count);
    if (status == Status::not_found) {
        // Without the message the count is one. The message is added for the second link, and then stays.
        count = static_cast<std::uint32_t>(1 + change);
        return change <= 0 ? Status::ok
                           : add_message(file, header, MessageType::reference_count, 0, 0, ReferenceCount(count));
    }
    H5MOTE_TRY(status);
    if (message.body().size() < ReferenceCountMessage::kSize) {
        return file.context.fail(Module::object, H5MOTE_HERE, Status::corrupt_file, 0, header);
    }
    count = ReferenceCountMessage::decode(message.body());
    if (count == (change > 0 ? 0xffffffffU : 0U)) {
        return file.context.fail(Module::object, H5MOTE_HERE, change > 0 ? Status::overflow : Status::corrupt_file, 0,
                                 header);
    }
    count += static_cast<std::uint32_t>(change);
    return message.store(ReferenceCountMessage::kCountOffset, count, 4, change > 0 ? Phase::index : Phase::object);
}

}  // namespace h5mote
