// Walking the blocks of object headers of both versions, whatever their size.

#include "header.hpp"

#include "link_message.hpp"

#if H5MOTE_ALL_FORMATS

namespace h5mote {
namespace {

constexpr std::uint32_t kContinuationSignature = 0x4b48434fU;  // "OCHK"
constexpr std::size_t kOldMessageHeader = 8;

}  // namespace

void PendingBlocks::clear() noexcept {
    context_.release(MemoryKind::metadata, more_, capacity_ * sizeof(Block));
    more_ = nullptr;
    capacity_ = kInline;
    first_ = count_ = 0;
}

Status PendingBlocks::push(Address address, std::uint32_t size) noexcept {
    if (count_ == capacity_) {
        auto* more = static_cast<Block*>(context_.allocate(MemoryKind::metadata, 4 * capacity_ * sizeof(Block)));
        if (more == nullptr) {
            return Status::out_of_memory;
        }
        for (std::uint32_t i = 0; i < count_; ++i) {
            more[i] = at(i);
        }
        context_.release(MemoryKind::metadata, more_, capacity_ * sizeof(Block));
        more_ = more;
        capacity_ *= 4;
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
    block_.reset();
    window_.close();
    block_address_ = address;
    block_size_ = static_cast<std::uint32_t>(size);
    end_ = block_size_ - (prefix_.version == 1 ? 0U : static_cast<std::uint32_t>(kHeaderChecksumSize));
    at_ = end_;
    return hold_block();
}

Status MessageIterator::hold_block() noexcept {
    const bool checksummed = prefix_.version != 1;
    if (file_.cache.fits(block_size_) || file_.cache.find(block_address_)) {
        return file_.cache.protect(Usage::object_header, block_address_, block_size_, block_, checksummed);
    }
    return window_.open(file_.cache, Usage::object_header, block_address_, block_size_, checksummed);
}

Status MessageIterator::hold() noexcept {
    if (prefix_.version == 1) {
        return file_.context.unsupported(Module::object, H5MOTE_HERE, Feature::object_header_version, 1);
    }
    if (block_) {
        return Status::ok;
    }
    window_.close();
    return file_.cache.protect(Usage::object_header, block_address_, block_size_, block_);
}

Status MessageIterator::read_prefix() noexcept {
    block_ = file_.cache.find(address_);
    if (block_) {
        return prefix_.decode(file_.context, block_->image());
    }
    if (!file_.contains(address_, HeaderPrefix::kOldSize)) {
        return file_.context.fail(Module::object, H5MOTE_HERE, Status::corrupt_file, 0, address_);
    }
    const Address left = file_.space.end() - address_;
    std::byte bytes[kMaxHeaderPrefix];
    const std::size_t count = left < sizeof bytes ? static_cast<std::size_t>(left) : sizeof bytes;
    H5MOTE_TRY(file_.driver.read(Usage::object_header, address_, {bytes, count}));
    return prefix_.decode(file_.context, {bytes, count});
}

Status MessageIterator::open_first() noexcept {
    H5MOTE_TRY(read_prefix());
    H5MOTE_TRY(open_block(address_, prefix_.block_size()));
    visited_ = block_size_;
    header_flags_ = prefix_.flags;
    at_ = prefix_.size;
    return Status::ok;
}

ConstBytes MessageIterator::window_body() noexcept {
    ConstBytes bytes;
    unread_ = window_.view(body_, size_, bytes);
    if (unread_ != Status::ok) {
        at_ = end_;  // next() then calls open_continuation(), which returns the error
    }
    return bytes;
}

Status MessageIterator::open_continuation() noexcept {
    if (unread_ != Status::ok) {
        at_ = body_ - static_cast<std::uint32_t>(header_size());
        const Status status = unread_;
        unread_ = Status::ok;
        return status;
    }
    if (pending_.empty()) {
        block_.reset();
        window_.close();
        return Status::not_found;
    }
    Address address = 0;
    std::uint32_t size = 0;
    pending_.front(address, size);
    const std::size_t least = prefix_.version == 1 ? kOldMessageHeader : kContinuationPrefix + kHeaderChecksumSize;
    if (size < least) {
        return file_.context.fail(Module::object, H5MOTE_HERE, Status::corrupt_file, 0, address);
    }
    H5MOTE_TRY(open_block(address, size));
    std::uint32_t first = 0;
    if (prefix_.version != 1) {
        ConstBytes signature;
        if (block_) {
            signature = block_->image();
        } else {
            H5MOTE_TRY(window_.view(0, kContinuationPrefix, signature));
        }
        if (load_le<std::uint32_t>(signature.data()) != kContinuationSignature) {
            return file_.context.fail(Module::object, H5MOTE_HERE, Status::corrupt_file, 0, address);
        }
        first = kContinuationPrefix;
    }
    pending_.pop();
    visited_ += size;
    at_ = first;
    return Status::ok;
}

Status MessageIterator::add_continuation() noexcept {
    Reader reader(body());
    const Address address = file_.shape().read_addr(reader);
    const Address size = file_.shape().read_size(reader);
    if (!reader.ok() || size > 0x7fffffffU) {
        return file_.context.fail(Module::object, H5MOTE_HERE, Status::corrupt_file, type_, address_);
    }
    const Status status = pending_.push(address, static_cast<std::uint32_t>(size));
    if (status != Status::ok) {
        at_ = body_ - static_cast<std::uint32_t>(header_size());  // the following next() comes to this message again
    }
    return status;
}

void MessageIterator::pass_links(ConstBytes name) noexcept {
    if (!block_ || prefix_.version == 1 || name.empty()) {
        return;
    }
    const std::byte* const bytes = block_->at(0);
    const auto header = static_cast<std::uint32_t>(header_size());
    // A checksum follows end_, so that the first bytes of every body can be read, however short the body is.
    for (std::uint32_t size = 0; at_ + header <= end_; at_ += header + size) {
        const std::byte* const body = bytes + at_ + header;
        size = load_le<std::uint16_t>(bytes + at_ + 1);
        if (static_cast<MessageType>(bytes[at_]) != MessageType::link || size > end_ - at_ - header) {
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
    pending_.clear();
    address_ = address;
    blocks_ = 0;
    at_ = end_ = 0;
    visited_ = 0;
    prefix_ = {};
    header_flags_ = 0;
    unread_ = Status::ok;
}

Status MessageIterator::open_body(MetadataWindow& body) noexcept {
    H5MOTE_TRY(file_.window(Usage::object_header, block_address_, block_size_, prefix_.version != 1, body));
    return body.restrict(body_, size_);
}

}  // namespace h5mote

#endif
