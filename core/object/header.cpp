#include "header.hpp"

#include "any_placement.hpp"
#include "block_mover.hpp"
#include "checked.hpp"
#include "object_messages.hpp"
#include "old_prefix.hpp"
#include "versions.hpp"

namespace h5mote {
namespace {

// The rules that keep a power cut from losing attributes and links, and from giving a creation order twice. A test
// build leaves one of them out (H5MOTE_TEST_OMIT).
enum class HeaderRule {
    none,
    others_first,   // order_other_blocks(): what was changed in other blocks is on the storage first
    numbers_first,  // keep_number_first(): a creation order is counted on the storage before a message has it
};

constexpr bool keep(HeaderRule rule) noexcept { return rule != HeaderRule::H5MOTE_TEST_OMIT; }

constexpr bool has_phase(const AttributesOrDefault& attributes) noexcept {
    return attributes.max_compact != AttributesOrDefault().max_compact ||
           attributes.min_dense != AttributesOrDefault().min_dense;
}

}  // namespace

Status create_header(FileState& file, const HeaderContent& content, Address& address) noexcept {
    if (const VersionsFormat* const format = file.versions()) {
        return format->create_header(file, content, address);
    }
    return create_new_header(file, content, address);
}

Status create_new_header(FileState& file, const HeaderContent& content, Address& address) noexcept {
    const AttributesOrDefault& attributes = content.attributes;
    const HeaderLayout layout = content.layout();
    const bool phase = has_phase(attributes);
    Writer counter;
    HeaderWriter measure(counter, file.shape(), layout);
    content.write(measure);
    H5MOTE_TRY(measure.check(file.context));
    const std::size_t messages = counter.written();
    const unsigned width = H5MOTE_ALL_FORMATS != 0 && messages > 0xffff ? 4 : messages > 0xff ? 2 : 1;
    const std::size_t size =
        6 + (content.track_times ? 16U : 0U) + (phase ? 4U : 0U) + width + messages + layout.checksum_size();
    Pinned block;
    H5MOTE_TRY(file.create_block(Usage::object_header, size, size, block));
    address = block->address();
    Writer writer(block->image());
    writer.u32(0x5244484fU);  // "OHDR"
    writer.u8(2);
    writer.u8(width / 2 |  // log2 of 1, 2, 4
              (content.track_times ? HeaderPrefix::kTimes : 0U) | (phase ? HeaderPrefix::kAttributePhase : 0U) |
              (attributes.track_order ? HeaderPrefix::kAttributesTracked : 0U) |
              (attributes.track_order && !attributes.unindexed_order ? HeaderPrefix::kAttributesIndexed : 0U));
    for (unsigned i = 0; content.track_times && i < 4; ++i) {
        writer.u32(file.context.port().time());
    }
    if (phase) {
        writer.u16(attributes.max_compact);
        writer.u16(attributes.min_dense);
    }
    writer.uint(width, messages);
    HeaderWriter header(writer, file.shape(), layout);
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
    return cut > first.size() || !file.one_write(std::uint64_t{first.address()}, std::uint64_t{first.address()} + cut);
}

// Moves the messages of a first block into a continuation block, which `block` is afterwards. `from` becomes the offset
// of the same byte there.
Status cut_first_block(const BlockMover& blocks, Pinned& block, std::size_t& from) noexcept {
    FileState& file = blocks.file();
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        // At their new place the messages appear with what leads there, in the phase of this change.
        H5MOTE_TRY(file.waits_for_number(*block, blocks.phase()) ? file.order() : Status::ok);
    }
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
    if (cannot_switch(file, *block) && (H5MOTE_ALL_FORMATS == 0 || cut > size || !file.torn_headers())) {
        return file.context.unsupported(Module::object, H5MOTE_HERE, Feature::ordered_writing);
    }
    // The block in the cache becomes the continuation block, at another address and with a shorter prefix. The short
    // first block is made anew, so that the cache needs no room for the whole block twice.
    Pinned first;
    H5MOTE_TRY(blocks.split(block, cut, first));
    store_uint(first->at(prefix.size_offset()), prefix.size_width(), cut - prefix.size - layout.checksum_size());
    Writer writer(first->image().subspan(prefix.size));
    write_message_head(writer, layout, MessageType::continuation, layout.body_size(continuation_body(file.shape())));
    file.shape().write_addr(writer, block->address());
    // The prefix of a first block is longer. These bytes are now behind the messages, as a null message. If they are
    // too few for one, the block becomes shorter: libhdf5 refuses a block that has a null message and a gap.
    const std::size_t free = layout.block_prefix() + used - prefix.size;
    const std::size_t cut_off = end - free < layout.head_size() ? end - free : 0;
    file.shape().write_size(writer, size - cut_off);
    if (layout.block_prefix() != 0) {
        store_le<std::uint32_t>(block->at(0), kContinuationSignature);
    }
    move_bytes_down(block->at(layout.block_prefix()), block->at(prefix.size), used - prefix.size);
    std::memset(block->at(free), 0, end - free);
    if (cut_off == 0) {
        layout.put_null(block->at(free), end - free);
    } else {
        MetadataCache::resize(*block, size - cut_off);
        file.space.release(narrow(block->address() + block->size()), narrow(cut_off), true);
    }
    from -= prefix.size - layout.block_prefix();
    return Status::ok;
}

// Calls `each` with the changed blocks of the header before `block`, any of which may lead to it.
template <typename Each>
Status for_each_changed_before(FileState& file, Address header, Address block, const Each& each) noexcept {
    MessageIterator message(file, header);
    Address last = kUndefinedAddress;
    Status status;
    while ((status = message.next()) == Status::ok && message.block_address() != block) {
        if (message.block_address() != last) {
            last = message.block_address();
            CacheEntry* const entry = file.cache.touch(last);
            if (entry != nullptr && entry->dirty()) {
                H5MOTE_TRY(each(*entry));
            }
        }
    }
    return status == Status::not_found ? Status::ok : status;
}

// A fresh block of a live header appears with the block that leads to it. If that is to be written before `phase`,
// because a number in the fresh block was changed, it waits until then; and it is written now if others wait for a
// number in it. A small cache is searched faster than a long header is walked through; of a large one that is not true.
Status delay_leading(FileState& file, Address header, Address block, Phase phase) noexcept {
    if (!file.cache.is_generous() && file.cache.next_phase(Phase::ends) >= phase) {
        return Status::ok;  // no live block is to be written before
    }
    bool order = false;
    H5MOTE_TRY(for_each_changed_before(file, header, block, [&](CacheEntry& each) {
        order = order || file.waits_for_number(each, phase);
        return Status::ok;
    }));
    if (order) {
        return file.order();
    }
    return for_each_changed_before(file, header, block, [&](CacheEntry& each) {
        if (!each.fresh() && each.phase() < phase) {
            MetadataCache::mark_dirty(each, each.size() - 1, phase);
        }
        return Status::ok;
    });
}

}  // namespace

// Each round moves one more block to a place that nothing on the storage leads to: the block itself, if one write can
// change the continuation message that leads to it, else the block before it in the chain. The rounds are limited: a
// cache with room for too few blocks would for ever write a moved block before the next one has moved.
Status secure_change(FileState& file, Address header, Pinned& block, std::size_t& from, Phase phase) noexcept {
    file.note_change(header);
    // A first block that cannot be switched is changed in place, if the program allows that (FileAccess::torn_headers).
    const auto changes_safely = [&](CacheEntry& each, std::size_t at) noexcept {
        return file.one_write(each, at) ||
               (file.torn_headers() && each.address() == header && cannot_switch(file, each));
    };
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        H5MOTE_TRY(file.waits_for_number(*block, phase) ? file.order() : Status::ok);
    }
    if constexpr (H5MOTE_CREATION_ORDER != 0) {
        if (!file.is_atomic() && block->fresh() && block->address() != header) {
            H5MOTE_TRY(delay_leading(file, header, block->address(), phase));
        }
    }
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

bool head_crosses_unit(MessageIterator& message, std::size_t head) noexcept {
    const std::uint64_t at = std::uint64_t{message.block_address()} + head;
    return !message.file().one_write(at, at + message.layout().head_size());
}

bool stays_first(MessageIterator& message) noexcept {
    return message.block_address() == message.address() && message.head() == message.begin() &&
           message.type() != MessageType::null && message.type() != MessageType::continuation &&
           head_crosses_unit(message, message.head());
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
            // Headers that libhdf5 has rearranged may lead to several blocks from the first one.
            const bool leads = message.type() == MessageType::continuation && at == 0;
            at = leads ? message.offset() : at;
            others += leads || message.type() == MessageType::null || stays_first(message) ? 0U : 1U;
        }
        if (status != Status::ok && status != Status::not_found) {
            return status;
        }
        message.restart(header);
        H5MOTE_TRY(message.next());
        H5MOTE_TRY(message.hold());
        first = static_cast<Pinned&&>(message.block());
        if (others == 0 && at != 0 && (file.one_write(*first, at) || file.torn_headers())) {
            return Status::ok;
        }
        std::size_t from = message.begin();
        if (const AnyPlacementFormat* const any = file.context.formats().any_placement;
            any != nullptr && cannot_switch(file, *first)) {
            // To cut the block changes its size, in the prefix, also where all messages lie in one unit.
            std::size_t prefix_start = 0;
            H5MOTE_TRY(any->place(file, header, first, prefix_start));
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

// Usually from its head. With the null messages beside it, it may be more than one null message can be: then all of
// them are made anew.
std::size_t first_change(MessageIterator& message) noexcept {
    const std::size_t removed = message.head();
    if (message.block_size() <= 0xffff) {
        return removed;
    }
    CacheEntry& block = *message.block();
    const HeaderLayout layout = message.layout();
    const std::size_t end = message.end();
    std::size_t first = end;  // of the null messages side by side, of which the removed one becomes one
    std::size_t at = message.begin();
    for (; at + layout.head_size() <= end; at += layout.length_at(block.at(at))) {
        if (at == removed || layout.is_null(block.at(at))) {
            first = first == end ? at : first;
        } else if (at > removed) {
            break;
        } else {
            first = end;
        }
    }
    return at - first > 0xffff ? first : removed;
}

Status remove_message(MessageIterator& message, Phase phase) noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        H5MOTE_TRY(message.hold());
        H5MOTE_TRY(message.secure(first_change(message), phase));
    } else {
        H5MOTE_TRY(message.secure(message.head(), phase));
    }
    remove_secured(message, phase);
    return Status::ok;
}

void remove_secured(MessageIterator& message, Phase phase) noexcept {
    FileState& file = message.file();
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
        } else if (last == end || !file.one_write(block, last) ||
                   (H5MOTE_ALL_FORMATS == 0 && length(last) + length(at) - head > 0xffff)) {
            last = at;
        } else {
            layout.put_null(block.at(last), length(last) + length(at));
            from = last < from ? last : from;
            at = last;
        }
    }
    MetadataCache::mark_dirty(block, from, phase);
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        if (layout.is_old()) {
            count_messages(file, message.address(), phase);
        }
    }
}

namespace {

class ReferenceCount final : public MessageContent {
public:
    explicit ReferenceCount(std::uint32_t count) noexcept : count_(count) {}
    void write(Writer& writer) const noexcept override { ReferenceCountMessage::encode(writer, count_); }

private:
    std::uint32_t count_;
};

// Finds the message that counts, with a new iterator, and reads it. not_found: the count is one.
Status find_count(MessageIterator& message, std::uint32_t& count) noexcept {
    count = 1;
    H5MOTE_TRY(message.next(MessageType::reference_count));
    if (message.body().size() < ReferenceCountMessage::kSize) {
        return message.file().context.fail(Module::object, H5MOTE_HERE, Status::corrupt_file, 0, message.address());
    }
    count = ReferenceCountMessage::decode(message.body());
    return Status::ok;
}

}  // namespace

Status next_count(Context& context, Address header, int change, std::uint32_t& count) noexcept {
    if (count == (change > 0 ? 0xffffffffU : 0U)) {
        return context.fail(Module::object, H5MOTE_HERE, change > 0 ? Status::overflow : Status::corrupt_file, 0,
                            header);
    }
    count += static_cast<std::uint32_t>(change);
    return Status::ok;
}

Status reference_count(FileState& file, Address header, std::uint32_t& count) noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        bool old = false;
        H5MOTE_TRY(change_old_count(file, header, 0, count, old));
        if (old) {
            return Status::ok;
        }
    }
    MessageIterator message(file, header);
    const Status status = find_count(message, count);
    return status == Status::not_found ? Status::ok : status;
}

Status change_reference_count(FileState& file, Address header, int change, std::uint32_t& count) noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        bool old = false;
        H5MOTE_TRY(change_old_count(file, header, change, count, old));
        if (old) {
            return Status::ok;
        }
    }
    MessageIterator message(file, header);
    const Status status = find_count(message, count);
    if (status == Status::not_found) {
        // Without the message the count is one. The message is added for the second link, and then stays.
        count = static_cast<std::uint32_t>(1 + change);
        return change <= 0 ? Status::ok
                           : add_message(file, header, MessageType::reference_count, 0, 0, ReferenceCount(count));
    }
    H5MOTE_TRY(status);
    H5MOTE_TRY(next_count(file.context, header, change, count));
    return message.store(ReferenceCountMessage::kCountOffset, count, 4, phase_of_count(change));
}

// Whether what a block of the header has appears only with a change of a block before it, one that leads there, in a
// phase after Phase::index.
static Status appears_later(FileState& file, Address header, Address block, bool& later) noexcept {
    return for_each_changed_before(file, header, block, [&](CacheEntry& each) {
        later = later || each.phase() > Phase::index;
        return Status::ok;
    });
}

// Writes what was changed in other blocks of the header than this one, if anything was.
static Status order_other_blocks(FileState& file, Address header, Address block) noexcept {
    bool changed = false;
    {
        MessageIterator message(file, header);
        Status status;
        while (!changed && (status = message.next()) == Status::ok) {
            // A block that is walked through a window has no changes.
            changed = message.block() && message.block_address() != block && message.block()->dirty() &&
                      !message.block()->fresh();
        }
        if (!changed && status != Status::not_found) {
            return status;
        }
    }
    return changed && keep(HeaderRule::others_first) ? file.order() : Status::ok;
}

Status last_has_gone(FileState& file, Address header, MessageType type, MessageType info) noexcept {
    Address block = 0;
    {
        MessageIterator message(file, header);
        H5MOTE_TRY(message.next(info));
        block = message.block_address();
        message.restart(header);
        const Status status = message.next(type);
        if (status != Status::not_found) {
            return status == Status::ok ? Status::busy : status;
        }
    }
    return file.is_atomic() ? Status::ok : order_other_blocks(file, header, block);
}

Status number_first(FileState& file, Address header, const CacheEntry& block) noexcept {
    bool later = false;
    H5MOTE_TRY(file.is_atomic() ? Status::ok : appears_later(file, header, block.address(), later));
    return later ? file.order() : file.number_first(header, block);
}

void keep_number_first(FileState& file, Address header, MessageType info) noexcept {
    if (file.is_atomic() || !keep(HeaderRule::numbers_first)) {
        return;
    }
    // As in delay_leading(), only a small cache is searched faster than the header.
    if (!file.cache.is_generous() && file.cache.next_phase(Phase::index) != Phase::index) {
        return;  // no number waits in any block
    }
    MessageIterator message(file, header);
    if (message.next(info) == Status::ok && message.block()) {
        file.keep_number_first(*message.block());
    }
}

// In builds that read all formats the number waits in its block for the link to be written, which saves a commit for
// each link. The first link that is counted adds a message, which is written in Phase::object.
Status add_reference(FileState& file, Address header) noexcept {
    std::uint32_t count = 0;
    Status status;
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        bool old = false;
        H5MOTE_TRY(change_old_count(file, header, 0, count, old));
        MessageIterator message(file, header);
        status = old ? Status::not_found : find_count(message, count);
        if (status == Status::ok) {
            H5MOTE_TRY(next_count(file.context, header, 1, count));
            H5MOTE_TRY(message.store(ReferenceCountMessage::kCountOffset, count, 4, phase_of_count(1)));
            status = number_first(file, header, *message.block());
        } else if (status == Status::not_found) {
            H5MOTE_TRY(change_reference_count(file, header, 1, count));
            status = file.order();
        } else {
            return status;
        }
    } else {
        H5MOTE_TRY(change_reference_count(file, header, 1, count));
        status = file.order();
    }
    if (status != Status::ok) {
        // Should this fail as well: a reference count that is too high does no harm.
        (void)change_reference_count(file, header, -1, count);
    }
    return status;
}

}  // namespace h5mote
