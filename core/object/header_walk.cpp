// Walking the blocks of object headers, whatever their version and size.

#include "header.hpp"

#include "link_message.hpp"

namespace h5mote {
namespace {

// Type 9 is one that libhdf5 keeps for its tests of unknown messages.
constexpr bool known_message(std::uint8_t type) noexcept {
    constexpr std::uint8_t kLast = 0x18;
    return type <= kLast && type != 9;
}

}  // namespace

void PendingBlocks::clear(Context& context) noexcept {
    if constexpr (kMost > kInline) {
        context.release(MemoryKind::metadata, more_, capacity_ * sizeof(Block));
    }
    more_ = nullptr;
    capacity_ = kInline;
    first_ = count_ = 0;
}

Status PendingBlocks::push(Context& context, Address address, std::uint32_t size) noexcept {
    if (count_ == capacity_) {
        if (kMost == kInline || capacity_ == kMost) {
            return context.fail(Module::object, H5MOTE_HERE, Status::over_budget, 0, kMost + 1U);
        }
        auto* more = static_cast<Block*>(context.allocate(MemoryKind::metadata, 4 * capacity_ * sizeof(Block)));
        if (more == nullptr) {
            return Status::out_of_memory;
        }
        for (unsigned i = 0; i < count_; ++i) {
            more[i] = at(i);
        }
        context.release(MemoryKind::metadata, more_, capacity_ * sizeof(Block));
        more_ = more;
        capacity_ = static_cast<std::uint16_t>(4 * capacity_);
        first_ = 0;
    }
    at(count_++) = {address, size};
    return Status::ok;
}

void PendingBlocks::front(Address& address, std::uint32_t& size) noexcept {
    address = at(0).address;
    size = at(0).size;
}

void PendingBlocks::pop() noexcept {
    ++first_;
    --count_;
}

// `at_` is the end of the block until the caller has set it to the first message: if the caller fails before that, the
// following next() opens the block again.
Status MessageIterator::open_block(Address address, Address size) noexcept {
    // Blocks with more bytes in total than the file has can only be blocks that are visited again.
    if (!file_.contains(address, size) || visited_ > file_.space.end() - size || blocks_ == kMaxBlocks) {
        return file_.context.fail(Module::object, H5MOTE_HERE, Status::corrupt_file, 0, address);
    }
    block_address_ = address;
    block_size_ = static_cast<std::uint32_t>(size);
    at_ = end();
    return open_window();
}

Status MessageIterator::open_window() noexcept {
    return window_.open(file_.cache, Usage::object_header, block_address_, block_size_, layout_.checksum_size() != 0);
}

Status MessageIterator::read_prefix(HeaderPrefix& prefix) noexcept {
    if (Pinned block = file_.cache.find(address_)) {
        return prefix.decode(file_.context, block->image());
    }
    if (!file_.contains(address_, HeaderPrefix::kOldSize)) {
        return file_.context.fail(Module::object, H5MOTE_HERE, Status::corrupt_file, 0, address_);
    }
    const Address left = file_.space.end() - address_;
    std::byte bytes[kMaxHeaderPrefix];
    const std::size_t count = left < sizeof bytes ? static_cast<std::size_t>(left) : sizeof bytes;
    H5MOTE_TRY(file_.driver.read(Usage::object_header, address_, {bytes, count}));
    return prefix.decode(file_.context, {bytes, count});
}

Status MessageIterator::open_first() noexcept {
    HeaderPrefix prefix;
    H5MOTE_TRY(read_prefix(prefix));
    layout_ = prefix.layout();
    header_flags_ = prefix.flags;
    H5MOTE_TRY(open_block(address_, prefix.block_size()));
    visited_ = block_size_;
    at_ = begin_ = prefix.size;
    return Status::ok;
}

ConstBytes MessageIterator::window_body() noexcept {
    ConstBytes bytes;
    unread_ = window_.view(body_, slot_.size, bytes);
    if (unread_ != Status::ok) {
        at_ = end();  // next() then calls open_continuation(), which returns the error
    }
    return bytes;
}

Status MessageIterator::open_continuation() noexcept {
    if (H5MOTE_ALL_FORMATS != 0 && unread_ != Status::ok) {
        at_ = static_cast<std::uint32_t>(head());
        const Status status = unread_;
        unread_ = Status::ok;
        return status;
    }
    if (pending_.empty()) {
        window_.close();
        return Status::not_found;
    }
    Address address = 0;
    std::uint32_t size = 0;
    pending_.front(address, size);
    if (size < HeaderLayout::kLeastBlock) {
        return file_.context.fail(Module::object, H5MOTE_HERE, Status::corrupt_file, 0, address);
    }
    H5MOTE_TRY(open_block(address, size));
    const std::size_t prefix = layout_.block_prefix();
    if (prefix != 0) {
        ConstBytes signature;
        H5MOTE_TRY(window_.view(0, prefix, signature));
        if (load_le<std::uint32_t>(signature.data()) != kContinuationSignature) {
            return file_.context.fail(Module::object, H5MOTE_HERE, Status::corrupt_file, 0, address);
        }
    }
    pending_.pop();
    visited_ += size;
    at_ = begin_ = static_cast<std::uint8_t>(prefix);
    return Status::ok;
}

Status MessageIterator::add_continuation() noexcept {
    Reader reader(body());
    const Address address = file_.shape().read_addr(reader);
    const Address size = file_.shape().read_size(reader);
    if (!reader.ok() || size > 0x7fffffffU) {
        return file_.context.fail(Module::object, H5MOTE_HERE, Status::corrupt_file, slot_.type, address_);
    }
    const Status status = pending_.push(file_.context, address, static_cast<std::uint32_t>(size));
    if (status != Status::ok) {
        at_ = static_cast<std::uint32_t>(head());  // the following next() comes to this message again
    }
    return status;
}

Status MessageIterator::next() noexcept {
    while (blocks_ == 0 || at_ + layout_.head_size() > end()) {
        H5MOTE_TRY(blocks_ == 0 ? open_first() : open_continuation());
        ++blocks_;
    }
    if (!window_.valid()) {
        H5MOTE_TRY(open_window());
    }
    ConstBytes bytes;
    const auto head = static_cast<std::uint32_t>(layout_.head_size());
    if (in_cache()) {
        slot_.decode(layout_, block()->at(at_));
    } else {
        H5MOTE_TRY(window_.view(at_, head, bytes));
        slot_.decode(layout_, bytes.data());
    }
    body_ = at_ + head;
    if (slot_.size > end() - body_) {
        return file_.context.fail(Module::object, H5MOTE_HERE, Status::corrupt_file, slot_.type, address_);
    }
    if (!in_cache() && slot_.size <= MetadataWindow::kWindow) {
        // The body is loaded into the window here, so that body() finds it there.
        H5MOTE_TRY(window_.view(body_, slot_.size, bytes));
    }
    at_ = body_ + slot_.size;
    if (!known_message(slot_.type) && ((slot_.flags & kMessageFailIfUnknown) != 0 ||
                                       ((slot_.flags & kMessageFailIfUnknownAndWriting) != 0 && file_.writable()))) {
        return file_.context.unsupported(Module::object, H5MOTE_HERE, Feature::unknown_message, slot_.type);
    }
    return type() == MessageType::continuation ? add_continuation() : Status::ok;
}

Status MessageIterator::next(MessageType wanted) noexcept {
    do {
        H5MOTE_TRY(next());
    } while (type() != wanted);
    return shared() ? file_.context.unsupported(Module::object, H5MOTE_HERE, Feature::shared_message, slot_.type)
                    : Status::ok;
}

void MessageIterator::pass_links(ConstBytes name) noexcept {
    if (!window_.valid() || !in_cache() || layout_.checksum_size() == 0 || name.empty()) {
        return;
    }
    const std::byte* const bytes = block()->at(0);
    const auto head = static_cast<std::uint32_t>(layout_.head_size());
    // A checksum follows end(), so that the first bytes of every body can be read, however short the body is.
    for (std::uint32_t size = 0; at_ + head <= end(); at_ += head + size) {
        const std::byte* const body = bytes + at_ + head;
        size = static_cast<std::uint32_t>(layout_.body_size_at(bytes + at_));
        if (static_cast<MessageType>(layout_.type_at(bytes + at_)) != MessageType::link || size > end() - at_ - head) {
            return;
        }
        // A quick comparison first: names mostly differ in length or last character. The layout is that of LinkMessage.
        const auto flags = std::to_integer<unsigned>(body[1]);
        const std::size_t at = 2U + (flags >> 3 & 1U) + ((flags & 4U) << 1) + (flags >> 4 & 1U);
        const bool differs =
            (flags & 3U) == 0 && at + 1 + name.size() <= size &&
            (std::to_integer<std::size_t>(body[at]) != name.size() || body[at + name.size()] != name[name.size() - 1]);
        if (!differs && LinkMessage::has_name({body, size}, name)) {
            return;
        }
    }
}

void MessageIterator::restart(Address address) noexcept {
    park();
    pending_.clear(file_.context);
    address_ = address;
    blocks_ = 0;
    at_ = block_size_ = 0;
    visited_ = 0;
    layout_ = {};
    header_flags_ = 0;
    unread_ = Status::ok;
}

void MessageIterator::restart_at(HeaderLayout layout, Address block, std::uint32_t size) noexcept {
    restart(address_);
    layout_ = layout;
    blocks_ = 1;
    block_size_ = static_cast<std::uint32_t>(layout.checksum_size());  // a block without messages comes before
    at_ = 0;
    (void)pending_.push(file_.context, block, size);  // has room for the first one
}

Status MessageIterator::open_body(MetadataWindow& body) noexcept {
    H5MOTE_TRY(file_.window(Usage::object_header, block_address_, block_size_, layout_.checksum_size() != 0, body));
    return body.restrict(body_, slot_.size);
}

Status MessageIterator::secure(std::size_t from, Phase phase) noexcept {
    H5MOTE_TRY(hold());
    std::size_t now = from;
    H5MOTE_TRY(secure_change(file_, address_, block(), now, phase));
    const auto moved = static_cast<std::uint32_t>(from - now);
    body_ -= moved;
    at_ -= moved;
    window_.adopt(static_cast<Pinned&&>(block()));
    if (block()->address() != address_) {
        begin_ = static_cast<std::uint8_t>(layout_.block_prefix());  // a first block may have become a continuation
    }
    block_address_ = block()->address();
    block_size_ = static_cast<std::uint32_t>(block()->size());
    return Status::ok;
}

Status MessageIterator::change(std::size_t offset, std::byte*& at, Phase phase) noexcept {
    H5MOTE_TRY(secure(body_ + offset, phase));
    at = block()->at(body_ + offset);
    MetadataCache::mark_dirty(*block(), body_ + offset, phase);
    return Status::ok;
}

Status MessageIterator::store(std::size_t offset, std::uint64_t value, unsigned width, Phase phase) noexcept {
    std::byte* at = nullptr;
    H5MOTE_TRY(change(offset, at, phase));
    store_uint(at, width, value);
    return Status::ok;
}

}  // namespace h5mote
