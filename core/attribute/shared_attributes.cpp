// Objects whose messages, or those of their attributes, are shared with other objects: they get copies of their own in
// their headers, begin and end uses when their attributes change, or end them all because they are deleted.

#include "shared_attributes.hpp"

#include "attribute_content.hpp"
#include "committed_type.hpp"
#include "dense_changes.hpp"
#include "header_rewrite.hpp"
#include "text.hpp"
#include "versions.hpp"

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {
namespace {

// The rules without which a power cut may leave an attribute that the shared message does not count.
enum class SharedAttributeRule {
    none,
    count_attribute,  // a message counts an attribute before anything leads from there to the message
    release_last,     // and as long as something does
};

constexpr bool keep(SharedAttributeRule rule) noexcept { return rule != SharedAttributeRule::H5MOTE_TEST_OMIT; }

}  // namespace

Status SharedUses::add(MessageType type, ConstBytes reference) noexcept {
    if (!leads_to_heap(reference)) {
        return Status::ok;
    }
    const std::size_t size = count_ * kEntry;
    if (size + kEntry > bytes_.capacity()) {
        H5MOTE_TRY(bytes_.reserve(2 * size + 4 * kEntry, size));
    }
    bytes_.data()[size] = static_cast<std::byte>(type);
    std::memcpy(bytes_.data() + size + 1, reference.data(), SharedReference::kHeapSize);
    ++count_;
    return Status::ok;
}

Status SharedUses::add(StoredAttributeMessage& attribute) noexcept {
    if (!attribute.is_shared()) {
        return add_parts(attribute.bytes, attribute.parts);
    }
    std::byte reference[SharedReference::kHeapSize];
    SharedReference::encode_heap(reference, attribute.place.id);
    return add(MessageType::attribute, reference);
}

Status SharedUses::add_parts(MetadataWindow& attribute, const AttributeParts& parts) noexcept {
    ConstBytes bytes;
    if ((parts.flags & AttributeParts::kSharedType) != 0) {
        H5MOTE_TRY(attribute.view(parts.type, parts.type_size, bytes));
        H5MOTE_TRY(add(MessageType::datatype, bytes));
    }
    if ((parts.flags & AttributeParts::kSharedSpace) != 0) {
        H5MOTE_TRY(attribute.view(parts.space, parts.space_size, bytes));
        H5MOTE_TRY(add(MessageType::dataspace, bytes));
    }
    return Status::ok;
}

void SharedUses::release() noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
        const std::byte* const entry = bytes_.data() + i * kEntry;
        const auto type = static_cast<MessageType>(entry[0]);
        const ConstBytes reference{entry + 1, SharedReference::kHeapSize};
        bool gone = false;
        if (type == MessageType::attribute) {
            release_attribute(reference);
        } else {
            (void)release_shared_message(file_, type, reference, gone);
        }
    }
    count_ = 0;
}

namespace {

// Opens a shared attribute; a copy takes the place of parts that it shares.
Status open_own(FileState& file, ConstBytes reference, StoredAttributeMessage& attribute) noexcept {
    StoredMessage stored;
    H5MOTE_TRY(stored.open_shared(file, MessageType::attribute, reference));
    attribute.bytes = static_cast<MetadataWindow&&>(stored.bytes());
    H5MOTE_TRY(own_attribute(file, attribute.bytes));
    return decode_attribute(file.context, attribute.bytes, attribute.parts);
}

// An attribute with the elements of a shared one may replace it only if nobody else has that: else two messages would
// lead to these elements, which go with one of them.
Status check_elements(FileState& file, ConstBytes reference) noexcept {
    OwnedBytes bytes(file.context, MemoryKind::type);
    StoredAttributeMessage attribute;
    DatatypeView type;
    std::uint32_t users = 0;
    H5MOTE_TRY(open_own(file, reference, attribute));
    H5MOTE_TRY(read_type(file, attribute, bytes, type));
    attribute.bytes.close();
    if (!contains_class(type, TypeClass::variable_length)) {
        return Status::ok;
    }
    H5MOTE_TRY(count_users(file, MessageType::attribute, reference, users));
    return users <= 1 ? Status::ok
                      : file.context.unsupported(Module::attribute, H5MOTE_HERE, Feature::shared_message, users);
}

}  // namespace

// A shared attribute has parts that are shared, too. They are used as long as it is.
void SharedUses::release_attribute(ConstBytes reference) noexcept {
    SharedUses parts_used(file_);
    Address committed = kUndefinedAddress;
    bool gone = false;
    {
        StoredMessage stored;
        AttributeParts parts;
        if (stored.open_shared(file_, MessageType::attribute, reference) != Status::ok ||
            decode_attribute(file_.context, stored.bytes(), parts) != Status::ok ||
            parts_used.add_parts(stored.bytes(), parts) != Status::ok ||
            committed_type_of(file_, stored.bytes(), parts, committed) != Status::ok) {
            return;
        }
    }
    OldValue value(file_);
    StoredAttributeMessage attribute;
    if (discards_ && open_own(file_, reference, attribute) == Status::ok) {
        value.take(attribute);
    }
    const Status status = release_shared_message(file_, MessageType::attribute, reference, gone);
    if (value.finish(gone ? status : Status::not_found) == Status::ok && file_.order() == Status::ok) {
        parts_used.release();
        if (committed != kUndefinedAddress) {
            (void)release_committed_type(file_, committed);
        }
    }
}

namespace {

// Opens the shared message that stands in place of a part, unless the part is stored or a committed datatype.
H5MOTE_STEP Status open_part(FileState& file, MetadataWindow& message, MessageType type, Address offset,
                             std::size_t size, bool shared, StoredMessage& stored) noexcept {
    ConstBytes bytes;
    if (!shared) {
        return Status::ok;
    }
    H5MOTE_TRY(message.view(offset, size, bytes));
    return SharedUses::leads_to_heap(bytes) ? stored.open_shared(file, type, bytes) : Status::ok;
}

// Copies a part to `at`, which moves behind it.
Status put_part(MetadataWindow& message, Address offset, std::size_t size, StoredMessage& stored,
                std::byte*& at) noexcept {
    const bool shared = stored.bytes().valid();
    const std::size_t now = shared ? static_cast<std::size_t>(stored.size()) : size;
    const Status status = shared ? stored.bytes().read(0, {at, now}) : message.read(offset, {at, now});
    at += now;
    return status;
}

}  // namespace

// Only messages of versions 2 and 3, which have no padding, have shared parts.
Status own_attribute(FileState& file, MetadataWindow& message) noexcept {
    AttributeParts parts;
    StoredMessage type;
    StoredMessage space;
    H5MOTE_TRY(decode_attribute(file.context, message, parts));
    H5MOTE_TRY(open_part(file, message, MessageType::datatype, parts.type, parts.type_size,
                         (parts.flags & AttributeParts::kSharedType) != 0, type));
    H5MOTE_TRY(open_part(file, message, MessageType::dataspace, parts.space, parts.space_size,
                         (parts.flags & AttributeParts::kSharedSpace) != 0, space));
    const bool own_type = !type.bytes().valid();
    const bool own_space = !space.bytes().valid();
    if (own_type && own_space) {
        return Status::ok;
    }
    const Address type_size = own_type ? parts.type_size : type.size();
    const Address space_size = own_space ? parts.space_size : space.size();
    if (type_size > 0xffff || space_size > 0xffff) {
        return file.context.fail(Module::attribute, H5MOTE_HERE, Status::over_budget, 0, type_size + space_size);
    }
    MetadataWindow copy;
    Bytes bytes;
    const Address data = message.size() - parts.data;
    H5MOTE_TRY(
        copy.allocate(file.context, static_cast<std::size_t>(parts.type + type_size + space_size + data), bytes));
    std::byte* at = bytes.data() + parts.type;
    H5MOTE_TRY(message.read(0, bytes.first(parts.type)));
    H5MOTE_TRY(put_part(message, parts.type, parts.type_size, type, at));
    H5MOTE_TRY(put_part(message, parts.space, parts.space_size, space, at));
    H5MOTE_TRY(message.read(parts.data, {at, static_cast<std::size_t>(data)}));
    const unsigned kept = parts.flags & ~((own_type ? 0U : AttributeParts::kSharedType) |
                                          (own_space ? 0U : AttributeParts::kSharedSpace));
    bytes[1] = static_cast<std::byte>(kept);
    store_le<std::uint16_t>(bytes.data() + 4, static_cast<std::uint16_t>(type_size));
    store_le<std::uint16_t>(bytes.data() + 6, static_cast<std::uint16_t>(space_size));
    message = static_cast<MetadataWindow&&>(copy);
    return Status::ok;
}

namespace {

// What messages of an object have to do with those of others.
struct Survey {
    explicit Survey(FileState& file) noexcept : uses(file) {}
    bool any() const noexcept { return !uses.empty() || shareable != 0; }

    SharedUses uses;
    std::uint32_t shareable = 0;  // bit n: an index leads to the object's own message of type n
};

Status look_at(MessageIterator& message, Survey& found) noexcept {
    if (message.shared()) {
        return found.uses.add(message.type(), message.body());
    }
    if ((message.flags() & kMessageShareable) != 0 && static_cast<unsigned>(message.type()) < 32) {
        found.shareable |= 1U << static_cast<unsigned>(message.type());
    } else if (message.type() == MessageType::attribute) {
        MetadataWindow body;
        AttributeParts parts;
        H5MOTE_TRY(message.open_body(body));
        H5MOTE_TRY(decode_attribute(message.file().context, body, parts));
        return found.uses.add_parts(body, parts);
    }
    return Status::ok;
}

// Goes to the attribute of that name in a header, wherever its message is stored. unsupported: it is not there, though
// the object has it; so it is in dense storage, which the program cannot change.
Status find_in_header(MessageIterator& message, std::string_view name) noexcept {
    Context& context = message.file().context;
    for (;;) {
        const Status status = message.next();
        if (status == Status::not_found) {
            return context.unsupported(Module::attribute, H5MOTE_HERE, Feature::dense_attributes);
        }
        H5MOTE_TRY(status);
        if (message.type() != MessageType::attribute) {
            continue;
        }
        StoredMessage stored;
        AttributeParts parts;
        ConstBytes text;
        H5MOTE_TRY(stored.open(message));
        H5MOTE_TRY(decode_attribute(context, stored.bytes(), parts));
        H5MOTE_TRY(stored.bytes().view(parts.name, parts.name_size, text));
        if (text_before(text_of(text), '\0') == name) {
            return Status::ok;
        }
    }
}

// The header gets its own copies of the messages of one type that it shares.
class Editor final : public HeaderEditor {
public:
    Editor(FileState& file, Address object, MessageType type) noexcept : file_(file), object_(object), type_(type) {}

    bool stays(MessageIterator& message) noexcept override {
        bool shared = false;
        const Status status = goes(message, shared);
        failed_ = failed_ == Status::ok ? status : failed_;
        return !shared;
    }
    Status added(unsigned i, NewMessage& added) noexcept override {
        H5MOTE_TRY(failed_);
        stored_.bytes().close();
        MessageIterator message(file_, object_);
        for (bool found = false; !found;) {
            bool shared = false;
            H5MOTE_TRY(message.next());
            H5MOTE_TRY(goes(message, shared));
            found = shared && i == 0;
            i -= shared ? 1U : 0U;
        }
        added.type = message.type();
        added.order = message.order();
        added.flags = static_cast<std::uint8_t>(message.flags() & ~(kMessageShared | kMessageShareable));
        added.content = &content_;
        return stored_.open(message);
    }

private:
    Status goes(MessageIterator& message, bool& shared) const noexcept {
        Survey found(file_);
        H5MOTE_TRY(message.type() == type_ ? look_at(message, found) : Status::ok);
        shared = found.any();
        return Status::ok;
    }

    FileState& file_;
    Address object_;
    MessageType type_;
    StoredMessage stored_;
    WindowContent content_{stored_.bytes()};
    Status failed_ = Status::ok;
};

// Looks at the messages of one type, or, for MessageType::null, at all.
Status survey(FileState& file, Address object, MessageType type, Survey& found) noexcept {
    MessageIterator message(file, object);
    Status status;
    while ((status = message.next()) == Status::ok) {
        const bool included = type == MessageType::null || message.type() == type;
        H5MOTE_TRY(included ? look_at(message, found) : Status::ok);
    }
    return status == Status::not_found ? Status::ok : status;
}

// The indexes forget the messages of those types in the object's own header: `marked` ones, and `others` if an index
// leads to them all the same. Returns the last error; the other messages are forgotten.
Status forget_own(FileState& file, Address object, std::uint32_t marked, std::uint32_t others = 0) noexcept {
    const std::uint32_t types = marked | others;
    Status result = Status::ok;
    for (unsigned i = 0; types >> i != 0; ++i) {
        const auto type = static_cast<MessageType>(i);
        if ((types >> i & 1U) == 0) {
            continue;
        }
        OwnedBytes copy(file.context);
        std::size_t size = 0;
        {
            MessageIterator message(file, object);
            Status status;
            do {
                status = message.next();
            } while (status == Status::ok && message.type() != type);
            if (status == Status::not_found || (status == Status::ok && (message.shared() || message.size() == 0))) {
                continue;
            }
            if (status == Status::ok) {
                size = message.size();
                status = copy.reserve(size);
            }
            if (status != Status::ok) {
                result = status;
                continue;
            }
            std::memcpy(copy.data(), message.body().data(), size);
        }
        const Status status = forget_shareable_message(file, type, copy.first(size), object, (marked >> i & 1U) != 0);
        result = status == Status::ok ? result : status;
    }
    return result;
}

// What an index may lead to in an object's own header, also if it is not marked: own_messages() takes the mark away
// first, and the index may still lead there after an error.
constexpr std::uint32_t kKinds =
    1U << static_cast<unsigned>(MessageType::dataspace) | 1U << static_cast<unsigned>(MessageType::datatype) |
    1U << static_cast<unsigned>(MessageType::fill_value) | 1U << static_cast<unsigned>(MessageType::filter_pipeline);

// Ends every use that the attributes in dense storage have.
Status end_dense_uses(FileState& file, Address object) noexcept {
    AttributeCursor cursor(file);
    H5MOTE_TRY(cursor.open(object));
    while (cursor.is_dense()) {
        SharedUses uses(file);
        {
            StoredAttributeMessage attribute;
            const Status status = cursor.next(attribute);
            if (status != Status::ok) {
                return status == Status::not_found ? Status::ok : status;
            }
            H5MOTE_TRY(uses.add(attribute));
        }
        cursor.park();
        uses.release();
    }
    return Status::ok;
}

// What stands in a header in place of a shared message.
class ReferenceContent final : public MessageContent {
public:
    void write(Writer& writer) const noexcept override { writer.bytes(bytes); }

    std::byte bytes[SharedReference::kHeapSize] = {};
};

}  // namespace

Status own_messages(FileState& file, Address object, MessageType type) noexcept {
    Survey found(file);
    H5MOTE_TRY(survey(file, object, type, found));
    if (!found.any()) {
        return forget_own(file, object, 0, 1U << static_cast<unsigned>(type) & kKinds);
    }
    {
        Temporary<Editor> editor(file.context, file, object, type);
        H5MOTE_TRY(editor ? rewrite_header(file, object, *editor) : Status::out_of_memory);
    }
    // The header no longer says which of its messages an index leads to: the index has to forget them now, also after
    // an error.
    const Status ordered = file.order();
    if (ordered == Status::ok) {
        found.uses.release();
    }
    const Status forgotten = forget_own(file, object, found.shareable);
    H5MOTE_TRY(ordered);
    H5MOTE_TRY(forgotten);
    return file.order();
}

Status change_sharing_attribute(FileState& file, Address object, std::string_view removed, HeapContent* added,
                                AttributeChange& change) noexcept {
    SharedUses old(file, !change.moves_value());
    std::byte reference[SharedReference::kHeapSize];
    if (!removed.empty()) {
        bool moves_shared = false;
        {
            StoredAttributeMessage attribute;
            H5MOTE_TRY(find_attribute(file, object, removed, attribute));
            H5MOTE_TRY(old.add(attribute));
            moves_shared = change.moves_value() && attribute.is_shared();
            SharedReference::encode_heap(reference, attribute.place.id);
        }
        H5MOTE_TRY(moves_shared ? check_elements(file, reference) : Status::ok);
    }
    bool shared = false;
    if (added != nullptr) {
        H5MOTE_TRY(share_message(file, MessageType::attribute, *added, reference, shared));
    }
    Status status = shared && keep(SharedAttributeRule::count_attribute) ? file.order() : Status::ok;
    if (status == Status::ok) {
        status = change.run(shared ? ConstBytes(reference).subspan(SharedReference::kHeapPrefix) : ConstBytes{});
    }
    if (status != Status::ok && shared) {
        bool gone = false;
        (void)release_shared_message(file, MessageType::attribute, reference, gone);
    } else if (status == Status::ok && !old.empty() &&
               (!keep(SharedAttributeRule::release_last) || file.order() == Status::ok)) {
        old.release();
    }
    return status;
}

Status add_shared_attribute(FileState& file, Address header, ConstBytes id) noexcept {
    ReferenceContent reference;
    SharedReference::encode_heap(reference.bytes, id);
    return add_attribute(file, header, reference, kMessageShared);
}

Status replace_shared_attribute(FileState& file, Address header, std::string_view name, const MessageContent& content,
                                ConstBytes id) noexcept {
    const std::size_t size = id.empty() ? content.size() : SharedReference::kHeapSize;
    if (size > 0xffff) {
        return file.context.fail(Module::attribute, H5MOTE_HERE, Status::over_budget, 0, size);
    }
    MessageIterator message(file, header);
    H5MOTE_TRY(find_in_header(message, name));
    if (id.empty()) {
        return replace_short_message(message, 0, content);
    }
    ReferenceContent reference;
    SharedReference::encode_heap(reference.bytes, id);
    return replace_short_message(message, kMessageShared, reference);
}

Status remove_shared_attribute(FileState& file, Address header, std::string_view name) noexcept {
    MessageIterator message(file, header);
    H5MOTE_TRY(find_in_header(message, name));
    return remove_message(message);
}

Status release_shared_messages(FileState& file, Address object) noexcept {
    Survey found(file);
    H5MOTE_TRY(survey(file, object, MessageType::null, found));
    found.uses.release();
    const Status status = forget_own(file, object, found.shareable, kKinds);
    const Status dense = end_dense_uses(file, object);
    return status == Status::ok ? dense : status;
}

}  // namespace h5mote

#endif
