#include "attribute_storage.hpp"

#include "shared_index.hpp"
#include "text.hpp"

namespace h5mote {

Status AttributePlace::open(FileState& file, MetadataWindow& bytes) const noexcept {
    if (kind == Kind::header || H5MOTE_ALL_FORMATS == 0) {
        H5MOTE_TRY(file.window(Usage::object_header, address, block_size, checksummed, bytes));
        return bytes.restrict(offset, size);
    }
    const DenseStorageFormat* format = nullptr;
    H5MOTE_TRY(dense_storage(file.context, Module::attribute,
                             kind == Kind::shared ? Feature::shared_message : Feature::dense_attributes, format));
    return format->open_attribute(file, *this, bytes);
}

Status decode_attribute(Context& context, MetadataWindow& bytes, AttributeParts& parts) noexcept {
    const Address size = bytes.size();
    ConstBytes head;
    const auto length = static_cast<std::size_t>(size < AttributeParts::kHeadSize ? size : AttributeParts::kHeadSize);
    H5MOTE_TRY(bytes.view(0, length, head));
    return parts.decode(context, head, size);
}

Status StoredAttributeMessage::name(std::string_view& text) noexcept {
    ConstBytes stored;
    H5MOTE_TRY(bytes.view(parts.name, parts.name_size, stored));
    text = text_of(stored);
    text = text_before(text, '\0');
    return Status::ok;
}

Status AttributeCursor::open(Address header) noexcept {
    header_ = header;
    info_ = {};
    message_.restart(header);
    Status status;
    while ((status = message_.next()) == Status::ok) {
        if (message_.type() == MessageType::attribute_info) {
            H5MOTE_TRY(info_.decode(file_.context, file_.shape(), message_.body()));
            break;
        }
        // In a header without an attribute info message, all attributes are messages of the header.
    }
    if (status != Status::ok && status != Status::not_found) {
        return status;
    }
    tracked_ = message_.version() == 1 ? (info_.flags & kOrderTracked) != 0
                                       : (message_.header_flags() & HeaderPrefix::kAttributesTracked) != 0;
    if (info_.dense && H5MOTE_ALL_FORMATS == 0) {
        return file_.context.unsupported(Module::attribute, H5MOTE_HERE, Feature::dense_attributes);
    }
    if (is_dense()) {
        H5MOTE_TRY(dense_.make(Module::attribute, Feature::dense_attributes));
        H5MOTE_TRY(dense_->open_heap(file_, info_.storage.heap));
    }
    return start(IndexOrder::native, Direction::increasing);
}

// libhdf5 1.10 takes an attribute out of the index of creation orders when it gives it another name: an index that does
// not have all attributes is of no use.
Status AttributeCursor::start_directly(IndexOrder order, Direction direction, bool& direct) noexcept {
    direct = order == IndexOrder::native && (is_dense() || direction == Direction::increasing);
    if (is_dense() && order == IndexOrder::creation && info_.storage.order_index != kUndefinedAddress) {
        H5MOTE_TRY(start(IndexOrder::native, direction));
        const std::uint64_t all = dense_->size();
        H5MOTE_TRY(start(order, direction));
        direct = dense_->size() == all;
    }
    return direct ? start(order, direction) : Status::ok;
}

Status AttributeCursor::start(IndexOrder order, Direction direction) noexcept {
    position_ = 0;
    direction_ = direction;
    message_.restart(header_);
    return is_dense() ? dense_->open_index(
                            file_, order == IndexOrder::creation ? info_.storage.order_index : info_.storage.name_index)
                      : Status::ok;
}

Status AttributeCursor::next(StoredAttributeMessage& attribute) noexcept {
    attribute.bytes.close();
    if (!is_dense()) {
        return next_in_header(attribute);
    }
    if (position_ >= dense_->size()) {
        return Status::not_found;
    }
    const std::uint64_t position = position_++;
    return dense_at(direction_ == Direction::increasing ? position : dense_->size() - 1 - position, attribute);
}

Status AttributeCursor::next_in_header(StoredAttributeMessage& attribute) noexcept {
    do {
        H5MOTE_TRY(message_.next());
    } while (message_.type() != MessageType::attribute);
    ++position_;
    AttributePlace& place = attribute.place;
    H5MOTE_TRY(message_.open_body(attribute.bytes));
    attribute.has_order = tracked_;
    attribute.order = message_.order();
    if (!message_.shared()) {
        place.kind = AttributePlace::Kind::header;
        place.checksummed = message_.version() != 1;
        place.address = message_.block_address();
        place.block_size = message_.block_size();
        place.offset = static_cast<std::uint32_t>(message_.offset());
        place.size = message_.size();
        return decode_attribute(file_.context, attribute.bytes, attribute.parts);
    }
    ConstBytes reference;
    H5MOTE_TRY(attribute.bytes.view(0, SharedReference::kHeapPrefix + sizeof place.id, reference));
    if (H5MOTE_ALL_FORMATS == 0 || !SharedReference::leads_to_heap(reference)) {
        return file_.context.unsupported(Module::attribute, H5MOTE_HERE, Feature::shared_message,
                                         static_cast<std::uint32_t>(reference[0]));
    }
    place.kind = AttributePlace::Kind::shared;
    place.address = kUndefinedAddress;
    place.id_length = sizeof place.id;
    std::memcpy(place.id, reference.data() + SharedReference::kHeapPrefix, sizeof place.id);
    H5MOTE_TRY(place.open(file_, attribute.bytes));
    return decode_attribute(file_.context, attribute.bytes, attribute.parts);
}

Status AttributeCursor::dense_at(std::uint64_t position, StoredAttributeMessage& attribute) noexcept {
    return dense_.format().attribute_at(dense_attributes(), position, attribute);
}

Status AttributeCursor::at(std::uint64_t position, StoredAttributeMessage& attribute) noexcept {
    attribute.bytes.close();
    if (is_dense()) {
        return dense_at(position, attribute);
    }
    if (position_ > position) {
        H5MOTE_TRY(start(IndexOrder::native, Direction::increasing));
    }
    do {
        attribute.bytes.close();
        H5MOTE_TRY(next_in_header(attribute));
    } while (position_ <= position);
    return Status::ok;
}

Status AttributeCursor::find(std::string_view name, StoredAttributeMessage& attribute) noexcept {
    attribute.bytes.close();
    if (is_dense()) {
        return dense_.format().find_attribute(dense_attributes(), name, attribute);
    }
    std::string_view found;
    do {
        H5MOTE_TRY(next(attribute));
        H5MOTE_TRY(attribute.name(found));
    } while (found != name);
    return Status::ok;
}

Status find_attribute(FileState& file, Address object, std::string_view name,
                      StoredAttributeMessage& attribute) noexcept {
    AttributeCursor cursor(file);
    H5MOTE_TRY(cursor.open(object));
    return cursor.find(name, attribute);
}

Status AttributeCursor::count(std::uint64_t& attributes) noexcept {
    attributes = 0;
    if (is_dense()) {
        attributes = dense_->size();
        return Status::ok;
    }
    H5MOTE_TRY(start(IndexOrder::native, Direction::increasing));
    Status status;
    while ((status = message_.next()) == Status::ok) {
        attributes += message_.type() == MessageType::attribute ? 1U : 0U;
    }
    return status == Status::not_found ? start(IndexOrder::native, Direction::increasing) : status;
}

Status AttributeCursor::storage_size(StorageSize& size) noexcept {
    if (!is_dense()) {
        return Status::ok;
    }
    BlockSum index;
    BlockSum heap;
    DenseHandle dense(file_.context);
    H5MOTE_TRY(dense.make(Module::attribute, Feature::dense_attributes));
    H5MOTE_TRY(dense->open_index(file_, info_.storage.name_index));
    H5MOTE_TRY(dense->walk_index(index));
    if (info_.storage.order_index != kUndefinedAddress) {
        H5MOTE_TRY(dense->open_index(file_, info_.storage.order_index));
        H5MOTE_TRY(dense->walk_index(index));
    }
    H5MOTE_TRY(dense->open_heap(file_, info_.storage.heap));
    H5MOTE_TRY(dense->walk_heap(heap));
    size.index = index.bytes;
    size.heap = heap.bytes;
    return Status::ok;
}

}  // namespace h5mote
