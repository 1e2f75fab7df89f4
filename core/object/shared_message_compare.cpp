// The order of the records in an index of shared messages: that of their checksums and, if these are equal, that of the
// messages, as libhdf5 has it.

#include "shared_messages.hpp"

#include "checksum.hpp"

#include <cstring>

namespace h5mote {
namespace {

Status hash_of(HeapContent& body, MessageType type, std::uint32_t& hash) noexcept {
    Lookup3Stream sum(static_cast<std::uint32_t>(body.size()), static_cast<std::uint32_t>(type));
    for (Address done = 0; done < body.size();) {
        ConstBytes piece;
        H5MOTE_TRY(body.peek(done, piece));
        const Address left = body.size() - done;
        piece = piece.first(left < piece.size() ? static_cast<std::size_t>(left) : piece.size());
        sum.update(piece);
        done += static_cast<Address>(piece.size());
    }
    hash = sum.finish();
    return Status::ok;
}

// Compares the first `size` bytes of both.
Status compare_bytes(HeapContent& a, HeapContent& b, Address size, int& order) noexcept {
    order = 0;
    for (Address done = 0; done < size && order == 0;) {
        ConstBytes of_a;
        ConstBytes of_b;
        H5MOTE_TRY(a.peek(done, of_a));
        H5MOTE_TRY(b.peek(done, of_b));
        std::size_t now = of_a.size() < of_b.size() ? of_a.size() : of_b.size();
        now = size - done < now ? static_cast<std::size_t>(size - done) : now;
        order = std::memcmp(of_a.data(), of_b.data(), now);
        done += static_cast<Address>(now);
    }
    return Status::ok;
}

}  // namespace

Status SharedMessageCompare::set(HeapContent& body) noexcept {
    body_ = &body;
    return hash_of(body, type_, hash_);
}

void SharedMessageCompare::set(const SharedMessageRecord& record) noexcept {
    body_ = nullptr;
    own_ = record;
    hash_ = record.hash;
    heap_id_ = record.in_heap ? record.heap_id.first(SharedReference::kHeapIdSize) : ConstBytes{};
    header_ = record.header;
}

Status SharedMessageCompare::compare(ConstBytes bytes, int& order) noexcept {
    SharedMessageRecord record;
    if (!record.decode(file_.shape(), bytes)) {
        return file_.context.fail(Module::object, H5MOTE_HERE, Status::corrupt_file);
    }
    const bool here = record.in_heap ? !heap_id_.empty() && std::memcmp(heap_id_.data(), record.heap_id.data(),
                                                                        SharedReference::kHeapIdSize) == 0
                                     : header_ != kUndefinedAddress && record.header == header_ &&
                                           record.message_type == static_cast<std::uint8_t>(own_type());
    if (here) {
        order = 0;
        return Status::ok;
    }
    order = hash_ < record.hash ? -1 : 1;
    return hash_ == record.hash ? compare_body(record, order) : Status::ok;
}

MessageType SharedMessageCompare::own_type() const noexcept {
    return body_ == nullptr && !own_.in_heap ? static_cast<MessageType>(own_.message_type) : type_;
}

// A message in a header may have padding behind it: `size` gets the bytes that it has there.
Status SharedMessageCompare::open_body(const SharedMessageRecord& record, MetadataWindow& window) noexcept {
    if (record.in_heap) {
        return heap_.object(record.heap_id, window);
    }
    MessageIterator message(file_, record.header);
    Status status;
    do {
        status = message.next();
    } while (status == Status::ok && static_cast<std::uint8_t>(message.type()) != record.message_type);
    if (status == Status::not_found) {
        return file_.context.fail(Module::object, H5MOTE_HERE, Status::corrupt_file, 0, record.header);
    }
    H5MOTE_TRY(status);
    return message.open_body(window);
}

Status SharedMessageCompare::compare_body(const SharedMessageRecord& record, int& order) noexcept {
    MetadataWindow other;
    MetadataWindow own;
    WindowContent own_content(own);
    WindowContent other_content(other);
    const Status opened = open_body(record, other);
    if (opened == Status::corrupt_file && !record.in_heap) {
        // The header is gone, or has another message now: a call that failed has left the record.
        file_.context.trail().clear();
        order = 1;
        return Status::ok;
    }
    H5MOTE_TRY(opened);
    HeapContent* content = body_;
    if (content == nullptr) {
        H5MOTE_TRY(open_body(own_, own));
        content = &own_content;
    }
    const Address size = content->size();
    // Headers of version 1 have messages of whole eight bytes.
    const Address padded = other.size() == size || record.in_heap ? size : (size + 7U) / 8U * 8U;
    if (padded != other.size()) {
        order = padded < other.size() ? -1 : 1;
        return Status::ok;
    }
    return compare_bytes(*content, other_content, size, order);
}

}  // namespace h5mote
