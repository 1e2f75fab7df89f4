#include "any_placement.hpp"

#include "checksum.hpp"
#include "filled_block.hpp"

#include <h5mote/lookup3.hpp>

#include <cstring>

#if H5MOTE_WRITE

namespace h5mote {
namespace {

// The rules that keep a power cut within these steps from losing anything.
enum class PlacementRule {
    none,
    copy_first,     // the copies are on the storage before the first block leads to them
    prepare_first,  // the prepared end is on the storage before the write that makes it the end
    keep_checksum,  // preparing it leaves the checksum of a block valid that ends in a later unit
};

constexpr bool keep(PlacementRule rule) noexcept { return rule != PlacementRule::H5MOTE_TEST_OMIT; }

constexpr std::size_t kWords = 12;  // bytes that lookup3 adds at a time

// The state of lookup3 before the bytes at `count`, a multiple of 12, of a block whose checksum is at `end`.
detail::Lookup3State state_before(const std::byte* bytes, std::size_t count, std::size_t end) noexcept {
    const std::uint32_t start = 0xdeadbeefU + static_cast<std::uint32_t>(end);
    detail::Lookup3State state{start, start, start};
    for (std::size_t at = 0; at < count; at += kWords) {
        state.add(bytes + at);
        state.mix();
    }
    return state;
}

// Where everything goes. Offsets in the first block.
class Plan {
public:
    static constexpr std::size_t kMostInUnit = 64;

    // false: the bytes of the block from offset `from` on cannot change in these steps, or can by one write.
    bool make(FileState& file, CacheEntry& first, std::size_t from) noexcept;
    // Whether the first write suffices: no message begins in the first unit, or the one that does stays there.
    bool at_once() const noexcept { return stays_ || unit_ <= prefix_.size; }
    // The offset of the first byte that moves to the copy of the messages.
    std::size_t moved() const noexcept { return stays_ ? kept_ : prefix_.size; }
    // Whether a null message, at whose body link_ is, comes behind the first continuation message. Without one this
    // message ends with the block.
    bool has_null() const noexcept { return !at_once() || link_ <= end_; }
    std::size_t link_body() const noexcept { return link_size_ - layout_.head_size(); }
    // The offset behind the checksum of the block once it is switched.
    std::size_t cut() const noexcept { return link_ + link_size_ + layout_.checksum_size(); }
    // The null message that takes the place of the first message.
    std::size_t skipped() const noexcept { return link_ - prefix_.size - layout_.head_size(); }

    HeaderPrefix prefix_;
    HeaderLayout layout_;
    std::size_t unit_ = 0;       // where the second unit begins
    std::size_t next_ = 0;       // where it ends, or the block
    std::size_t end_ = 0;        // the checksum of the block as it was found
    std::size_t kept_ = 0;       // the end of the messages that begin in the first unit
    std::size_t used_ = 0;       // the end of all messages
    std::size_t link_size_ = 0;  // bytes of a continuation message
    std::size_t link_ = 0;       // the body of the null message: the prepared continuation message
    std::size_t mend_ = 0;       // twelve bytes that keep the checksum; 0: the second unit has the checksum
    bool stays_ = false;         // the first message keeps its place
    bool alone_ = false;         // only null messages follow the first one

private:
    bool head_fits(CacheEntry& first) const noexcept;
    bool can_stay(CacheEntry& first, std::size_t from) const noexcept;
    bool only_null(CacheEntry& first, std::size_t from) const noexcept;
};

bool Plan::make(FileState& file, CacheEntry& first, std::size_t from) noexcept {
    const std::uint64_t address = first.address();
    const std::size_t size = first.size();
    if (prefix_.decode(file.context, first.image()) != Status::ok) {
        return false;
    }
    layout_ = prefix_.layout();
    if (size < prefix_.size + layout_.checksum_size()) {
        return false;
    }
    end_ = size - layout_.checksum_size();
    used_ = layout_.end_of_messages(first.at(0), prefix_.size, end_);
    link_size_ = layout_.head_size() + layout_.body_size(continuation_body(file.shape()));
    const std::size_t cut_at_once = prefix_.size + link_size_ + layout_.checksum_size();
    if (cut_at_once <= size && file.space.in_one_unit(address, address + cut_at_once)) {
        return false;
    }
    for (unit_ = 1; unit_ < size && file.space.in_one_unit(address, address + unit_ + 1);) {
        ++unit_;
    }
    for (next_ = unit_; next_ < size && file.space.in_one_unit(address + unit_, address + next_ + 1);) {
        ++next_;
    }
    if (unit_ > kMostInUnit || unit_ >= used_ || used_ > end_) {
        return false;
    }
    for (kept_ = prefix_.size; kept_ < unit_;) {
        kept_ += layout_.length_at(first.at(kept_));
    }
    alone_ = unit_ > prefix_.size && only_null(first, kept_);
    link_ = kept_ + (alone_ ? 0 : link_size_) + layout_.head_size();
    stays_ = unit_ > prefix_.size && !head_fits(first);
    if (stays_ && !can_stay(first, from)) {
        return false;
    }
    const bool whole = at_once() && kept_ + link_size_ == end_;
    const std::size_t prepared = whole ? end_ : at_once() ? link_ : cut();
    // With any of the block left behind the second unit, the twelve bytes are not the last ones of the block, which
    // lookup3 mixes in another way.
    mend_ = next_ == size || layout_.is_old() ? 0 : (prepared + kWords - 1) / kWords * kWords;
    const bool mends = mend_ == 0 || (mend_ + kWords <= next_ && mend_ + kWords < end_);
    return mends && prepared <= next_ && prepared <= end_ && (whole || end_ - link_ <= 0xffff);
}

// Whether the first message can keep its place while the others move. In a block that ends in the second unit one write
// can change its body, and everything else from there on: only cut_header() moves the others, by a change of the block
// from its beginning on. In a longer block no write changes the first message, but the others can move.
bool Plan::can_stay(CacheEntry& first, std::size_t from) const noexcept {
    const std::uint8_t type = layout_.type_at(first.at(prefix_.size));
    return H5MOTE_ALL_FORMATS != 0 && !alone_ && (next_ == first.size() ? from < prefix_.size : from >= kept_) &&
           type != static_cast<std::uint8_t>(MessageType::continuation);
}

bool Plan::only_null(CacheEntry& first, std::size_t from) const noexcept {
    while (from < used_ && layout_.is_null(first.at(from))) {
        from += layout_.length_at(first.at(from));
    }
    return from == used_;
}

// Whether the head of the first message can become that of the null message without a change behind the unit. The flags
// and the creation order of a null message mean nothing, but that it cannot be a shared one.
bool Plan::head_fits(CacheEntry& first) const noexcept {
    std::byte head[MessageSlot::kMostHead];
    Writer writer{Bytes(head)};
    write_message_head(writer, layout_, MessageType::null, skipped());
    const std::size_t flags = layout_.is_old() ? 4 : 3;
    for (std::size_t i = unit_ - prefix_.size; i < layout_.head_size(); ++i) {
        const std::byte old = *first.at(prefix_.size + i);
        if (i < flags ? old != head[i]
                      : i == flags && (old & std::byte{kMessageShared | kMessageShareable}) != std::byte{0}) {
            return false;
        }
    }
    return true;
}

class Placement {
public:
    Placement(FileState& file, const Plan& plan) noexcept : file_(file), plan_(plan) {}
    Status run(Pinned& block, std::size_t& from) noexcept;

private:
    struct Block {
        Address address = kUndefinedAddress;
        std::size_t size = 0;
    };

    Status write(Address address, ConstBytes bytes) noexcept {
        return file_.cache.write_past(Usage::object_header, address, bytes);
    }
    void write_link(Writer& writer, const Block& to) noexcept {
        write_message_head(writer, plan_.layout_, MessageType::continuation, plan_.link_body());
        file_.shape().write_addr(writer, to.address);
        file_.shape().write_size(writer, to.size);
        writer.fill(std::byte{0}, plan_.link_body() - continuation_body(file_.shape()));
    }
    void write_null(Writer& writer, std::size_t size) noexcept {
        write_message_head(writer, plan_.layout_, MessageType::null, size);
    }
    Status store(ConstBytes messages, const Block* next, Block& block) noexcept;
    Status copy(CacheEntry& first) noexcept;
    Status prepare(CacheEntry& first) noexcept;
    void prepare_end(CacheEntry& first, Writer& writer) noexcept;
    Status switch_over(CacheEntry& first) noexcept;

    FileState& file_;
    const Plan& plan_;
    Block all_;                             // holds all messages
    Block step_;                            // leads to `all_`, or holds the messages behind the first unit for a while
    std::byte in_unit_[Plan::kMostInUnit];  // the bytes in the first unit, once they are switched
};

// Stores a new continuation block with these messages. The last one leads to `next`; without that it is a null message,
// as room for a continuation message.
Status Placement::store(ConstBytes messages, const Block* next, Block& block) noexcept {
    const std::size_t checksum = plan_.layout_.checksum_size();
    std::byte last[MessageSlot::kMostHead + 2 * sizeof(std::uint64_t) + kChecksumSize]{};
    Writer writer{Bytes(last)};
    if (next != nullptr) {
        write_link(writer, *next);
    } else {
        write_null(writer, plan_.link_body());
    }
    std::byte head[4];
    store_le<std::uint32_t>(head, kContinuationSignature);
    const ConstBytes signature(head, plan_.layout_.block_prefix());
    const std::size_t end = signature.size() + messages.size() + plan_.link_size_;
    Lookup3Stream sum(static_cast<std::uint32_t>(end));
    sum.update(signature);
    sum.update(messages);
    sum.update({last, plan_.link_size_});
    store_le<std::uint32_t>(last + plan_.link_size_, sum.finish());
    Address address = 0;
    H5MOTE_TRY(file_.space.allocate(Usage::object_header, narrow(end + checksum), address));
    block = {address, end + checksum};
    if (!signature.empty()) {
        H5MOTE_TRY(write(address, signature));
    }
    if (!messages.empty()) {
        H5MOTE_TRY(write(narrow(address + signature.size()), messages));
    }
    return write(narrow(address + end - plan_.link_size_), {last, plan_.link_size_ + checksum});
}

// Both blocks, and an end of file that covers them, are on the storage before anything leads to them.
Status Placement::copy(CacheEntry& first) noexcept {
    const ConstBytes image = first.image();
    Status status = store(image.subspan(plan_.moved(), plan_.used_ - plan_.moved()), nullptr, all_);
    if (status == Status::ok && !plan_.alone_) {
        status = plan_.at_once() ? store({}, &all_, step_)
                                 : store(image.subspan(plan_.kept_, plan_.used_ - plan_.kept_), nullptr, step_);
    }
    if (status == Status::ok && keep(PlacementRule::copy_first)) {
        status = file_.commit_metadata();
    }
    if (status != Status::ok) {
        for (const Block& each : {step_, all_}) {
            if (each.size != 0) {
                file_.give_up(each.address, narrow(each.size), true);
            }
        }
    }
    return status;
}

// Writes the end of the shorter block, and makes the bytes in the first unit that go with it.
void Placement::prepare_end(CacheEntry& first, Writer& writer) noexcept {
    write_link(writer, all_);
    std::memcpy(in_unit_, first.at(0), plan_.unit_);
    const std::size_t head = plan_.prefix_.size;
    const std::size_t end = plan_.cut() - plan_.layout_.checksum_size();
    store_uint(in_unit_ + plan_.prefix_.size_offset(), plan_.prefix_.size_width(), end - head);
    std::byte null[MessageSlot::kMostHead];
    Writer to_null{Bytes(null)};
    write_null(to_null, plan_.skipped());
    const std::size_t in_unit = plan_.unit_ - head;
    std::memcpy(in_unit_ + head, null, in_unit < plan_.layout_.head_size() ? in_unit : plan_.layout_.head_size());
    if (plan_.layout_.is_old()) {
        return;
    }
    Lookup3Stream sum(static_cast<std::uint32_t>(end));
    sum.update({in_unit_, plan_.unit_});
    sum.update({first.at(plan_.unit_), end - plan_.unit_});
    store_le<std::uint32_t>(first.at(end), sum.finish());
}

Status Placement::prepare(CacheEntry& first) noexcept {
    // NOLINTNEXTLINE(clang-analyzer-deadcode.DeadStores): that the value is copied below is not seen.
    const detail::Lookup3State wanted = state_before(first.at(0), plan_.mend_ + kWords, plan_.end_);
    Writer writer(first.image().subspan(plan_.kept_));
    if (!plan_.alone_) {
        write_link(writer, step_);
    }
    if (plan_.has_null()) {
        write_null(writer, plan_.end_ - plan_.link_);
    }
    if (!plan_.at_once()) {
        prepare_end(first, writer);
    }
    if (plan_.layout_.is_old()) {
        // Nothing depends on the bytes behind the messages.
    } else if (plan_.mend_ == 0) {
        store_le<std::uint32_t>(first.at(plan_.end_), lookup3({first.at(0), plan_.end_}));
    } else if (keep(PlacementRule::keep_checksum)) {
        detail::Lookup3State before = wanted;
        before.unmix();
        const detail::Lookup3State now = state_before(first.at(0), plan_.mend_, plan_.end_);
        store_le<std::uint32_t>(first.at(plan_.mend_), before.a - now.a);
        store_le<std::uint32_t>(first.at(plan_.mend_ + 4), before.b - now.b);
        store_le<std::uint32_t>(first.at(plan_.mend_ + 8), before.c - now.c);
    }
    H5MOTE_TRY(write(narrow(first.address() + plan_.unit_), {first.at(plan_.unit_), plan_.next_ - plan_.unit_}));
    return keep(PlacementRule::prepare_first) ? file_.commit_metadata() : Status::ok;
}

Status Placement::switch_over(CacheEntry& first) noexcept {
    const std::size_t from = plan_.prefix_.size_offset();
    H5MOTE_TRY(write(narrow(first.address() + from), {in_unit_ + from, plan_.unit_ - from}));
    return file_.commit_metadata();
}

Status Placement::run(Pinned& block, std::size_t& from) noexcept {
    const Address address = block->address();
    const std::size_t size = block->size();
    H5MOTE_TRY(file_.commit_metadata());
    block.reset();
    if (!file_.cache.drop_clean(address)) {
        block = file_.cache.find(address);
        return file_.context.fail(Module::object, H5MOTE_HERE, Status::busy, 0, address);
    }
    const ChecksumPlace checksum = plan_.layout_.is_old() ? ChecksumPlace::none : ChecksumPlace::at_end;
    H5MOTE_TRY(file_.cache.protect(Usage::object_header, address, size, block, checksum));
    H5MOTE_TRY(copy(*block));
    Status status = prepare(*block);
    if (status == Status::ok && !plan_.at_once()) {
        status = switch_over(*block);
    }
    // What is in memory is neither the old block nor the new one. After an error the storage has one of them, and may
    // lead to the copies, whose space is therefore not used again.
    block.reset();
    file_.cache.discard(address);
    H5MOTE_TRY(status);
    if (!plan_.at_once()) {
        file_.space.release(narrow(address + plan_.cut()), narrow(size - plan_.cut()), false);
        if (!plan_.alone_) {
            file_.give_up(step_.address, narrow(step_.size));
        }
    }
    from -= plan_.moved() - plan_.layout_.block_prefix();
    return file_.cache.protect(Usage::object_header, all_.address, all_.size, block, checksum);
}

Status place(FileState& file, Address header, Pinned& block, std::size_t& from) {
    // Finds out whether the first block is the first one, up the chain from `block`, that cannot change by one write.
    Pinned holder;
    CacheEntry* each = &*block;
    std::size_t at = from;
    while (!file.one_write(*each, at) && each->address() != header) {
        MessageIterator continuation(file, header);
        H5MOTE_TRY(find_continuation(continuation, each->address()));
        at = continuation.offset();
        holder = static_cast<Pinned&&>(continuation.block());
        each = &*holder;
    }
    if (file.one_write(*each, at)) {
        return Status::ok;
    }
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        FilledBlock filled(file);
        if (!holder && filled.find(*block)) {
            H5MOTE_TRY(filled.lengthen(block));
            each = &*block;
        }
    }
    Plan plan;
    if (!plan.make(file, *each, at)) {
        return Status::ok;
    }
    return holder ? Placement(file, plan).run(holder, at) : Placement(file, plan).run(block, from);
}

Status lengthen(FileState& file, Address header) {
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        MessageIterator message(file, header);
        H5MOTE_TRY(message.next());
        H5MOTE_TRY(message.hold());
        FilledBlock filled(file);
        if (message.block_address() == header && filled.find(*message.block())) {
            Pinned first = static_cast<Pinned&&>(message.block());
            return filled.lengthen(first);
        }
    }
    return Status::ok;
}

}  // namespace

const AnyPlacementFormat formats::any_placement = {&place, &lengthen};

}  // namespace h5mote

#endif
