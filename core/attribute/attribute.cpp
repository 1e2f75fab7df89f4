#include "attribute_content.hpp"
#include "attribute_order.hpp"
#include "attribute_storage.hpp"
#include "checked.hpp"
#include "committed_type.hpp"
#include "dense_changes.hpp"
#include "fractal_heap_changes.hpp"
#include "prepare.hpp"
#include "shared_changes.hpp"
#include "text.hpp"
#include "versions.hpp"

#include <h5mote/object.hpp>

namespace h5mote {
namespace {

// Adds the attribute info message, without which libhdf5 does not count the attributes of a header.
Status add_info(FileState& file, Address header, unsigned header_flags) noexcept {
    return add_message(file, header, MessageType::attribute_info, 0, 0,
                       AttributeInfoContent(file.shape(), attribute_info_flags(header_flags)));
}

// Takes the next creation order of a header that tracks it. Adds the attribute info message if there is none, but not
// to a header of version 1, where libhdf5 makes none.
// `dense`: for an attribute that appears outside of the header.
Status next_order(FileState& file, Address header, std::uint16_t& order, bool dense) noexcept {
    order = 0;
    MessageIterator message(file, header);
    const Status status = message.next(MessageType::attribute_info);
    const std::uint8_t flags = message.header_flags();
    const bool tracked = (flags & HeaderPrefix::kAttributesTracked) != 0;
    if (tracked && H5MOTE_CREATION_ORDER == 0) {
        return file.context.unsupported(Module::attribute, H5MOTE_HERE, Feature::creation_order);
    }
    if (status == Status::not_found) {
        if (message.layout().is_old()) {
            return Status::ok;
        }
        return add_info(file, header, flags);
    }
    H5MOTE_TRY(status);
    if (!tracked || H5MOTE_CREATION_ORDER == 0) {
        return Status::ok;
    }
    AttributeInfoMessage info;
    H5MOTE_TRY(info.decode(file.context, file.shape(), message.body()));
    order = info.max_order;
    if (order == 0xffff) {
        return file.context.fail(Module::attribute, H5MOTE_HERE, Status::overflow, order);
    }
    if ((info.flags & kOrderTracked) != 0) {
        H5MOTE_TRY(message.store(AttributeInfoMessage::kOrderOffset, order + 1U, 2, Phase::index));
        return H5MOTE_ALL_FORMATS != 0 && dense ? number_first(file, header, *message.block()) : Status::ok;
    }
    return Status::ok;
}

// Undoes next_order() for an attribute that has not appeared: it is about to take an order once more.
void give_back_order(FileState& file, Address header, std::uint16_t order) noexcept {
    MessageIterator message(file, header);
    AttributeInfoMessage info;
    // After an error the number is too high by one, which does no harm.
    if (message.next(MessageType::attribute_info) == Status::ok &&
        info.decode(file.context, file.shape(), message.body()) == Status::ok && (info.flags & kOrderTracked) != 0) {
        (void)message.store(AttributeInfoMessage::kOrderOffset, order, 2, Phase::index);
    }
}

// Whether a new value has the datatype of the stored one; in builds with conversion its encoding may differ. A string
// may also replace one of another length or character set: replace_value() sees to that.
bool same_type(DatatypeView stored, DatatypeView type) noexcept {
    if constexpr (H5MOTE_CONVERSION) {
        return equal(stored, type);
    } else {
        return identical_layout(stored, type);
    }
}

bool same_dims(const DataspaceMessage& stored, const Extent& space) noexcept {
    bool same = true;
    for (unsigned i = 0; i < stored.rank; ++i) {
        same = same && stored.dim(i) == space.dims[i];
    }
    return same;
}

// Gives an existing attribute its new value; not_found when there is none of that name.
H5MOTE_STEP Status replace_value(FileState& file, Address header, const AttributeContent& content) noexcept {
    StoredAttribute existing(file, header);
    H5MOTE_TRY(existing.find(text_of(content.message.name)));
    // For a committed datatype, what may replace what is known already: see write_counted().
    if (content.any || content.has_committed_type()) {
        return replace_message(existing.message, content);
    }
    H5MOTE_TRY(existing.describe());
    const DatatypeView type(content.message.type);
    const bool same = same_type(existing.type, type);
    const bool texts = existing.type.type_class() == TypeClass::string && type.type_class() == TypeClass::string;
    const bool same_rank = existing.space.type == content.space.type && existing.space.rank == content.space.rank;
    if (!(same || texts) || !same_rank) {
        return file.context.fail(Module::attribute, H5MOTE_HERE, Status::type_mismatch, same || texts ? 2 : 1);
    }
    if (!same || !same_dims(existing.space, content.space)) {
        return replace_message(existing.message, content);
    }
    const auto data = static_cast<std::size_t>(existing.parts.data.data() - existing.message.body().data());
    std::byte* to = nullptr;
    H5MOTE_TRY(existing.message.change(data, to));
    if (!content.message.data.empty()) {
        std::memcpy(to, content.message.data.data(), content.message.data.size());
    }
    return Status::ok;
}

bool is_number(DatatypeView type) noexcept {
    return type.type_class() == TypeClass::integer || type.type_class() == TypeClass::floating;
}

// Whether a value may replace the one that `stored` has, which is checked as in replace_value(). `committed`: the
// committed datatype of that one. `in_place`: it is a value of the same datatype and dimensions.
H5MOTE_STEP Status check_replaceable(FileState& file, StoredAttributeMessage& stored, AttributeContent& content,
                                     Address committed, bool& in_place) noexcept {
    const AttributeParts& parts = stored.parts;
    ConstBytes bytes;
    in_place = false;
    if (content.any) {
        return Status::ok;
    }
    bool converts = content.may_convert && committed != kUndefinedAddress;
    bool same = committed == content.committed;
    if (committed == kUndefinedAddress && same) {
        const DatatypeView type(content.message.type);
        DatatypeView old;
        H5MOTE_TRY(stored.bytes.view(parts.type, parts.type_size, bytes));
        H5MOTE_TRY(view_datatype(file.context, bytes, old));
        in_place = same_type(old, type);
        same = in_place || (old.type_class() == TypeClass::string && type.type_class() == TypeClass::string);
        converts = content.may_convert && !same && is_number(old) && is_number(type) && can_convert(file.context);
    }
    DataspaceMessage space;
    H5MOTE_TRY(stored.bytes.view(parts.space, parts.space_size, bytes));
    H5MOTE_TRY(space.decode(file.context, file.shape(), bytes));
    const bool same_rank = (content.has_committed_type() && !content.converted) ||
                           (space.type == content.space.type && space.rank == content.space.rank);
    content.other_type = converts && same_rank;
    if (content.other_type) {
        return Status::type_mismatch;
    }
    in_place = in_place && same_rank && same_dims(space, content.space);
    return same && same_rank
               ? Status::ok
               : file.context.fail(Module::attribute, H5MOTE_HERE, Status::type_mismatch, same || converts ? 2 : 1);
}

// The attribute that an object has, if any.
struct Existing {
    bool exists = false;
    bool dense = false;
    bool shares = false;    ///< it is a shared message, or has parts that are
    bool in_place = false;  ///< the new value has its datatype and dimensions
    std::uint16_t order = 0;
    Address committed = kUndefinedAddress;  ///< datatype that has this attribute as a user
};

// Writes the message but for its data.
Status encode_head(FileState& file, AttributeContent& content, StoredContent& head) noexcept {
    const ConstBytes data = content.message.data;
    content.message.data = {};
    const Status status = encode_message(file, MessageType::attribute, content, head);
    content.message.data = data;
    return status;
}

// Writes the attribute to dense storage, if that is where the object has it or should have it; else `compact`.
H5MOTE_STEP Status write_dense(FileState& file, const DenseChangesFormat& format, Address header,
                               AttributeContent& content, const Existing& old, ConstBytes shared,
                               bool& compact) noexcept {
    const std::size_t size = content.size();
    bool wants = false;
    NewAttribute attribute;
    attribute.name = content.message.name;
    attribute.data = content.message.data;
    attribute.order = old.order;
    attribute.shared = shared;
    const bool exists = old.exists;
    // In a header only the id of a shared message takes space.
    const bool fits = size <= 0xffff || !shared.empty();
    compact = exists && !old.dense && fits;
    if (compact) {
        return Status::ok;
    }
    H5MOTE_TRY(format.wants_dense(file, header, fits, wants));
    compact = !wants;
    if (compact) {
        return Status::ok;
    }
    if (!exists) {
        H5MOTE_TRY(next_order(file, header, attribute.order, true));
    }
    StoredContent head(file.context);
    H5MOTE_TRY(encode_head(file, content, head));
    attribute.head = head.bytes();
    const Status status = format.write_attribute(file, header, attribute, exists, compact);
    if (compact && !exists) {
        give_back_order(file, header, attribute.order);
    }
    return status;
}

// `shared`: the id of the shared message that the attribute is; empty: it is not shared.
H5MOTE_STEP Status write_where_it_belongs(FileState& file, Address header, AttributeContent& content,
                                          const Existing& old, [[maybe_unused]] ConstBytes shared = {}) noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        if (const DenseChangesFormat* const format = file.context.formats().dense_changes) {
            bool compact = false;
            H5MOTE_TRY(write_dense(file, *format, header, content, old, shared, compact));
            if (!compact) {
                return Status::ok;
            }
        }
    }
    if (content.size() > 0xffff && (H5MOTE_ALL_FORMATS == 0 || shared.empty())) {
        return file.context.fail(Module::attribute, H5MOTE_HERE, Status::over_budget, 0, content.size());
    }
    if constexpr (H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0) {
        if (old.exists && !old.dense && (old.shares || !shared.empty()) && shared_changes(file) != nullptr) {
            return shared_changes(file)->replace_shared(file, header, text_of(content.message.name), content, shared);
        }
    }
    const Status status = replace_value(file, header, content);
    if (status != Status::not_found) {
        return status;
    }
    if constexpr (H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0) {
        if (!shared.empty()) {
            return shared_changes(file)->add_shared(file, header, shared);
        }
    }
    return add_attribute(file, header, content);
}

// The same for an attribute that is a shared message, if the file shares such. As in libhdf5, a message of the header
// that gets a value of the same size stays what it is. One with a committed datatype, whose users are counted, is not
// shared.
H5MOTE_STEP Status write_sharing(FileState& file, Address header, AttributeContent& content,
                                 const Existing& old) noexcept {
    const auto write = [&](ConstBytes shared) noexcept {
        return write_where_it_belongs(file, header, content, old, shared);
    };
    const bool alone = (old.in_place && !old.dense && !old.shares) || content.has_committed_type();
    const std::string_view removed = old.exists ? text_of(content.message.name) : std::string_view{};
    if (shared_changes(file) == nullptr || alone || !may_be_shared(DatatypeView(content.message.type))) {
        return change_sharing(file, header, removed, nullptr, false, write);
    }
    StoredContent head(file.context);
    H5MOTE_TRY(encode_head(file, content, head));
    BytesContent body(head.bytes(), content.message.data);
    return change_sharing(file, header, removed, &body, false, write);
}

// Writes an attribute; counts the users of committed datatypes, and discards what the old value has in the global heap.
H5MOTE_STEP Status write_counted(FileState& file, Address header, AttributeContent& content) noexcept {
    const std::string_view name = text_of(content.message.name);
    Existing old;
    StoredAttributeMessage stored;
    Address committed = kUndefinedAddress;
    Status status = find_attribute(file, header, name, stored);
    old.exists = status == Status::ok;
    if (!old.exists && status != Status::not_found) {
        return status;
    }
    if (old.exists) {
        const unsigned flags = stored.parts.flags;
        H5MOTE_TRY(own_parts(file, stored, committed));
        H5MOTE_TRY(check_replaceable(file, stored, content, committed, old.in_place));
        old.dense = !stored.place.in_header();
        old.shares = stored.is_shared() || (flags & (AttributeParts::kSharedType | AttributeParts::kSharedSpace)) != 0;
        old.order = static_cast<std::uint16_t>(stored.order);
        old.committed = stored.is_shared() ? kUndefinedAddress : committed;
        stored.bytes.close();
    }
    const bool other_type = content.committed != old.committed;
    if (!content.has_committed_type() && (!old.exists || content.any)) {
        H5MOTE_TRY(allow_type(file, DatatypeView(content.message.type)));
    }
    if (other_type && content.has_committed_type()) {
        H5MOTE_TRY(use_committed_type(file, content.committed));
    }
    OldValue value(file);
    if (old.exists && !stored.is_shared() && changes_of(file) != nullptr &&
        find_attribute(file, header, name, stored) == Status::ok && own_parts(file, stored, committed) == Status::ok) {
        value.take(stored);
    }
    status = value.finish(write_sharing(file, header, content, old));
    if (status != Status::ok) {
        std::uint32_t count = 0;
        if (other_type && content.has_committed_type()) {
            (void)change_reference_count(file, content.committed, -1, count);
        }
        (void)remove_unused_info(file, header);
    } else if (other_type && old.committed != kUndefinedAddress && file.order() == Status::ok) {
        (void)release_committed_type(file, old.committed);
    }
    return status;
}

}  // namespace

Status write_attribute_value(FileState& file, Address header, AttributeContent& content) noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        if (!content.space.fits(content.shape)) {
            return file.context.fail(Module::attribute, H5MOTE_HERE, Status::invalid_argument, content.space.rank);
        }
        // The message states the size of the datatype in 16 bits, also in dense storage.
        const std::size_t size = content.message.type.size();
        return size <= 0xffff ? write_counted(file, header, content)
                              : file.context.fail(Module::attribute, H5MOTE_HERE, Status::over_budget, 0, size);
    } else {
        return write_where_it_belongs(file, header, content, {});
    }
}

Status add_attribute(FileState& file, Address header, const MessageContent& content, unsigned flags) noexcept {
    std::uint16_t order = 0;
    H5MOTE_TRY(next_order(file, header, order, false));
    H5MOTE_TRY(add_message(file, header, MessageType::attribute, static_cast<std::uint8_t>(flags), order, content));
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        keep_number_first(file, header, MessageType::attribute_info);
    }
    return Status::ok;
}

Status remove_unused_info(FileState& file, Address header) noexcept {
    {
        MessageIterator message(file, header);
        H5MOTE_TRY(message.next(MessageType::attribute_info));
        AttributeInfoMessage info;
        H5MOTE_TRY(info.decode(file.context, file.shape(), message.body()));
        if (info.storage.heap != kUndefinedAddress) {
            return Status::ok;
        }
    }
    H5MOTE_TRY(last_has_gone(file, header, MessageType::attribute, MessageType::attribute_info));
    MessageIterator message(file, header);
    H5MOTE_TRY(message.next(MessageType::attribute_info));
    return remove_message(message);
}

Status pass_shared(FileState& file) noexcept {
    return shared_changes(file) != nullptr
               ? Status::ok
               : file.context.unsupported(Module::attribute, H5MOTE_HERE, Feature::shared_message);
}

Status StoredAttribute::next() noexcept {
    for (;;) {
        H5MOTE_TRY(message.next());
        Context& context = message.file().context;
        if (message.type() == MessageType::attribute_info) {
            AttributeInfoMessage info;
            H5MOTE_TRY(info.decode(context, message.file().shape(), message.body()));
            if (info.dense) {
                return context.unsupported(Module::attribute, H5MOTE_HERE, Feature::dense_attributes);
            }
        } else if (message.type() == MessageType::attribute) {
            if ((message.flags() & kMessageShared) != 0) {
                H5MOTE_TRY(pass_shared(message.file()));
                continue;
            }
            ConstBytes body;
            H5MOTE_TRY(message.view_body(body));
            if constexpr (H5MOTE_ALL_FORMATS != 0) {
                shared = AttributeParts::are_shared(body);
                if (shared) {
                    AttributeParts stored;
                    H5MOTE_TRY(stored.decode(context, body, body.size()));
                    const std::string_view name = text_of(body.subspan(stored.name, stored.name_size));
                    parts.name = bytes_of(text_before(name, '\0'));
                    return Status::ok;
                }
            }
            return parts.decode(context, body);
        }
    }
}

Status StoredAttribute::find(std::string_view name) noexcept {
    do {
        H5MOTE_TRY(next());
    } while (text_of(parts.name) != name);
    return Status::ok;
}

Status StoredAttribute::describe() noexcept {
    FileState& file = message.file();
    if (H5MOTE_ALL_FORMATS != 0 && shared) {
        return file.context.unsupported(Module::attribute, H5MOTE_HERE, Feature::shared_message);
    }
    H5MOTE_TRY(view_datatype(file.context, parts.type, type));
    H5MOTE_TRY(space.decode(file.context, file.shape(), parts.space));
    elements = space.type == DataspaceMessage::Type::null ? 0 : 1;
    bool sound = true;
    for (unsigned i = 0; i < space.rank; ++i) {
        sound = checked_multiply(elements, space.dim(i), elements) && sound;
    }
    std::uint64_t size = 0;
    sound = sound && checked_multiply<std::uint64_t>(elements, type.size(), size) && size <= parts.data.size();
    bytes = static_cast<std::size_t>(size);
    return sound ? Status::ok : file.context.fail(Module::attribute, H5MOTE_HERE, Status::corrupt_file);
}

Status Object::write_attribute_as(std::string_view name, DatatypeView memory_type, DatatypeView file_type,
                                  const Dataspace* space, ConstBytes data, bool any) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    H5MOTE_TRY(file_->check_writable());
    AttributeContent content;
    std::uint64_t bytes = 0;
    bool sound = is_name(name) && name.size() < 0xffff && memory_type.size() != 0 && file_type.size() != 0;
    if (space != nullptr) {
        content.space = extent_of(*space);
        sound = sound && space->valid();
    }
    if (!sound || !content.space.data_size(memory_type.size(), bytes) || bytes != data.size()) {
        return file_->context.fail(Module::attribute, H5MOTE_HERE, Status::invalid_argument, 0, data.size());
    }
    content.message.name = bytes_of(name);
    content.any = any;
    StoredType stored(*file_);
    H5MOTE_TRY(stored.assign(file_type));
    content.message.type = stored.view().bytes();
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        content.may_convert = !any;
        const Status status = write_attribute_value(*file_, address_, content, memory_type, stored.view(), data);
        return content.other_type ? write_converted(*file_, address_, content, memory_type, data) : status;
    } else {
        return write_attribute_value(*file_, address_, content, memory_type, stored.view(), data);
    }
}

Status Object::write_attribute(std::string_view name, DatatypeView type, const Dataspace& space,
                               ConstBytes data) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    H5MOTE_TRY(check_storable(file_->context, type));
    return write_attribute_as(name, type, type, &space, data);
}

Status Object::write_attribute(std::string_view name, std::string_view text) noexcept {
    bool ascii = true;
    for (const char c : text) {
        ascii = ascii && (static_cast<unsigned char>(c) & 0x80U) == 0;
    }
    static constexpr char kEmpty[1] = {};
    const std::string_view stored = text.empty() ? std::string_view(kEmpty, 1) : text;
    // The encoded type is eight bytes. The last four are the size of the string, which is known only here.
    EncodedType<8> type = make_string(1, StringPadding::null_padded, ascii ? CharacterSet::ascii : CharacterSet::utf8);
    store_le<std::uint32_t>(type.bytes + 4, static_cast<std::uint32_t>(stored.size()));
    return write_attribute_as(name, type, type, nullptr, bytes_of(stored));
}

}  // namespace h5mote
