// H5A - attributes that get another name, or a value of another type, size or rank, or are removed.

#include "attribute_content.hpp"
#include "committed_type.hpp"
#include "dense_changes.hpp"
#include "fractal_heap_changes.hpp"
#include "shared_changes.hpp"
#include "text.hpp"
#include "versions.hpp"

#include <h5mote/named_datatype.hpp>

#include <cstring>

namespace h5mote {
namespace {

// The message of an attribute that gets another name, put together from the old one.
class RenamedContent final : public MessageContent {
public:
    RenamedContent(ConstBytes old, const AttributeParts& parts, std::string_view name) noexcept
        : old_(old), parts_(parts), name_(name) {}
    /// The message but for its data.
    RenamedContent head() const noexcept { return {old_.first(parts_.data), parts_, name_}; }
    ConstBytes data() const noexcept { return old_.subspan(parts_.data); }

    void write(Writer& writer) const noexcept override {
        writer.u8(3);
        writer.u8(parts_.flags);
        writer.u16(name_.size() + 1);
        writer.u16(parts_.type_size);
        writer.u16(parts_.space_size);
        writer.u8(is_ascii(bytes_of(name_)) ? parts_.character_set : std::uint8_t{1});
        writer.bytes(bytes_of(name_));
        writer.u8(0);
        writer.bytes(old_.subspan(parts_.type, parts_.type_size));
        writer.bytes(old_.subspan(parts_.space, parts_.space_size));
        writer.bytes(data());
    }

private:
    ConstBytes old_;
    const AttributeParts& parts_;
    std::string_view name_;
};

// Goes to the attribute of that name in the header. not_found; unsupported: the attributes are in dense storage.
Status find_message(MessageIterator& message, std::string_view name) noexcept {
    Context& context = message.file().context;
    for (;;) {
        H5MOTE_TRY(message.next());
        if (message.type() == MessageType::attribute_info) {
            AttributeInfoMessage info;
            H5MOTE_TRY(info.decode(context, message.file().shape(), message.body()));
            if (info.dense) {
                return context.unsupported(Module::attribute, H5MOTE_HERE, Feature::dense_attributes);
            }
        } else if (message.type() == MessageType::attribute) {
            if (message.shared()) {
                H5MOTE_TRY(pass_shared(message.file()));
                continue;
            }
            ConstBytes body;
            H5MOTE_TRY(message.view_body(body));
            AttributeParts parts;
            H5MOTE_TRY(parts.decode(context, body, body.size()));
            const std::string_view stored = text_of(body.subspan(parts.name, parts.name_size));
            if (text_before(stored, '\0') == name) {
                return Status::ok;
            }
        }
    }
}

Status check_new_name(FileState& file, Address object, std::string_view name) noexcept {
    if (!is_name(name) || name.size() == 0xffff) {
        return file.context.fail(Module::attribute, H5MOTE_HERE, Status::invalid_argument, 0, name.size());
    }
    StoredAttributeMessage found;
    const Status status = find_attribute(file, object, name, found);
    if (status == Status::ok) {
        return file.context.fail(Module::attribute, H5MOTE_HERE, Status::already_exists);
    }
    return status == Status::not_found ? Status::ok : status;
}

}  // namespace

namespace {

// What stands in an attribute in place of its datatype, which is a committed one.
class TypeReference {
public:
    TypeReference(const FileState& file, Address header, AttributeContent& content) noexcept {
        Writer writer{Bytes(bytes_)};
        CommittedReference::encode(writer, file.shape(), header);
        content.message.type = {bytes_, writer.written()};
        content.committed = header;
    }

private:
    std::byte bytes_[SharedReference::kMaxSize];
};

// An attribute that gets another name.
struct Renamed {
    Address committed = kUndefinedAddress;  // its committed datatype, of which it is a user unless it is `shared`
    bool dense = false;
    bool shared = false;     // it is a shared message
    bool may_share = false;  // it may be one under its new name
};

// The values of variable length that a shared message gets with its new name. Other objects may keep the message of the
// old name, and of two messages that lead to the same objects of the heap each would give them up.
class OwnValues {
public:
    explicit OwnValues(FileState& file) noexcept
        : file_(file), bytes_(file.context, MemoryKind::type), element_(file.context, MemoryKind::value) {}

    /// Takes the datatype of the attribute.
    Status prepare(StoredAttributeMessage& found) noexcept {
        return file_.context.formats().variable_length_changes == nullptr ? Status::ok
                                                                          : read_type(file_, found, bytes_, type_);
    }
    /// Whether the program can make copies. If there is nothing to copy, they have been made.
    bool can() const noexcept { return !type_.empty(); }
    /// Puts copies in the place of all that `data` leads to.
    Status copy(Bytes data) noexcept {
        data_ = data;
        const std::size_t size = type_.size();
        H5MOTE_TRY(element_.reserve(size));
        for (; has_values() && data_.size() - made_ >= size; made_ += size) {
            std::memcpy(element_.data(), data_.data() + made_, size);
            const Status status = changes().copy(file_, type_, element_.data(), data_.data() + made_, 1);
            if (status != Status::ok) {
                return finish(status);
            }
        }
        return Status::ok;
    }
    /// Gives the copies up if they are not needed, as `status` says, which is returned.
    Status finish(Status status) noexcept {
        if (status != Status::ok && made_ != 0) {
            // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): no stored datatype is without a size
            (void)changes().discard(file_, type_, data_.data(), made_ / type_.size());
        }
        return status;
    }

private:
    bool has_values() const noexcept { return contains_class(type_, TypeClass::variable_length); }
    const VariableLengthFormat& changes() const noexcept { return *file_.context.formats().variable_length_changes; }

    FileState& file_;
    OwnedBytes bytes_;
    OwnedBytes element_;
    DatatypeView type_;
    Bytes data_;
    std::size_t made_ = 0;  // bytes of the data that are copies
};

// Whether the attribute in `found` may be a shared message under its new name. As in libhdf5, a message of the header
// stays what it is.
Status look_at(FileState& file, StoredAttributeMessage& found, Renamed& renamed) noexcept {
    OwnedBytes bytes(file.context, MemoryKind::type);
    DatatypeView type;
    renamed.shared = found.is_shared();
    renamed.dense = !found.place.in_header();
    if (shared_changes(file) == nullptr || renamed.committed != kUndefinedAddress) {
        return Status::ok;
    }
    const Status status = read_type(file, found, bytes, type);
    renamed.may_share = status == Status::ok && (renamed.shared || (renamed.dense && may_be_shared(type)));
    return renamed.shared ? status : Status::ok;
}

// Renames an attribute that is in dense storage, or is a shared message, or has parts that are.
Status rename_sharing(FileState& file, Address object, std::string_view from, const RenamedContent& content,
                      std::string_view to, const Renamed& renamed, bool moves_value) noexcept {
    const DenseChangesFormat* const format = file.context.formats().dense_changes;
    if (renamed.dense && format == nullptr) {
        return file.context.unsupported(Module::attribute, H5MOTE_HERE, Feature::dense_attributes);
    }
    StoredContent head(file.context);
    H5MOTE_TRY(encode_message(file, MessageType::attribute, content.head(), head));
    NewAttribute attribute;
    attribute.name = bytes_of(to);
    attribute.head = head.bytes();
    attribute.data = content.data();
    BytesContent body(attribute.head, attribute.data);
    const bool new_user = renamed.shared && renamed.committed != kUndefinedAddress;
    H5MOTE_TRY(new_user ? use_committed_type(file, renamed.committed) : Status::ok);
    const Status status = change_sharing(
        file, object, from, renamed.may_share ? &body : nullptr, moves_value, [&](ConstBytes id) noexcept {
            attribute.shared = id;
            return renamed.dense ? format->rename_attribute(file, object, bytes_of(from), attribute)
                                 : shared_changes(file)->replace_shared(file, object, from, content, id);
        });
    if (status != Status::ok && new_user) {
        std::uint32_t count = 0;
        (void)change_reference_count(file, renamed.committed, -1, count);
    }
    return status;
}

}  // namespace

Status Object::rename_attribute(std::string_view from, std::string_view to) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    FileState& file = *file_;
    H5MOTE_TRY(file.check_writable());
    if (from == to) {
        StoredAttributeMessage found;
        return find_attribute(file, address_, from, found);
    }
    H5MOTE_TRY(check_new_name(file, address_, to));
    OwnedBytes old(file.context);
    AttributeParts parts;
    Renamed renamed;
    OwnValues values(file);
    bool has_shared_parts = false;
    std::size_t size = 0;
    {
        StoredAttributeMessage found;
        H5MOTE_TRY(find_attribute(file, address_, from, found));
        has_shared_parts = (found.parts.flags & (AttributeParts::kSharedType | AttributeParts::kSharedSpace)) != 0;
        H5MOTE_TRY(own_parts(file, found, renamed.committed));
        if (found.bytes.size() > ~std::size_t{0}) {
            return Status::out_of_memory;
        }
        size = static_cast<std::size_t>(found.bytes.size());
        H5MOTE_TRY(old.reserve(size));
        H5MOTE_TRY(found.bytes.read(0, old.first(size)));
        H5MOTE_TRY(look_at(file, found, renamed));
        H5MOTE_TRY(renamed.shared ? values.prepare(found) : Status::ok);
        parts = found.parts;
    }
    const RenamedContent content(old.first(size), parts, to);
    // An attribute of the new name may have been removed from another block of the header: that comes first.
    H5MOTE_TRY(renamed.dense ? Status::ok : file.order());
    if (renamed.dense || (shared_changes(file) != nullptr && (renamed.shared || has_shared_parts))) {
        H5MOTE_TRY(values.can() ? values.copy(old.first(size).subspan(parts.data)) : Status::ok);
        return values.finish(rename_sharing(file, address_, from, content, to, renamed, !values.can()));
    }
    MessageIterator message(file, address_);
    H5MOTE_TRY(find_message(message, from));
    return replace_message(message, content);
}

Status Object::replace_attribute(std::string_view name, DatatypeView type, const Dataspace& space,
                                 ConstBytes data) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    H5MOTE_TRY(check_storable(file_->context, type));
    return write_attribute_as(name, type, type, &space, data, true);
}

Status Object::write_attribute(std::string_view name, const NamedDatatype& type, const Dataspace& space,
                               ConstBytes data) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    return contains_class(type.type(), TypeClass::variable_length)
               ? file_->context.unsupported(Module::attribute, H5MOTE_HERE, Feature::datatype_class,
                                            static_cast<std::uint32_t>(TypeClass::variable_length))
               : write_attribute(name, type, type.type(), space, data);
}

Status Object::write_attribute(std::string_view name, const NamedDatatype& type, DatatypeView memory,
                               const Dataspace& space, ConstBytes data) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    FileState& file = *file_;
    H5MOTE_TRY(file.check_writable());
    AttributeContent content;
    content.space = extent_of(space);
    std::uint64_t bytes = 0;
    if (!type.valid() || !same_file(type) || !is_name(name) || name.size() == 0xffff || !space.valid() ||
        memory.size() == 0 || !content.space.data_size(memory.size(), bytes) || bytes != data.size()) {
        return file.context.fail(Module::attribute, H5MOTE_HERE, Status::invalid_argument, 0, data.size());
    }
    H5MOTE_TRY(allow_type(file, type.type()));
    content.message.name = bytes_of(name);
    const TypeReference reference(file, type.address(), content);
    return write_attribute_value(file, address_, content, memory, type.type(), data);
}

namespace {

// Makes values as the file has them, in memory of their own (MemoryKind::value); none if they are the same. What this
// takes of the stack is free again when the attribute is written.
H5MOTE_STEP Status convert(FileState& file, const AttributeContent& content, DatatypeView memory, DatatypeView stored,
                           ConstBytes data, Bytes& converted) noexcept {
    Conversion conversion;
    H5MOTE_TRY(prepare_conversion(file.context, conversion, memory, stored,
                                  {FileValues::Side::to, file.shape().sizeof_addr, nullptr, &file}));
    if (conversion.is_copy()) {
        return Status::ok;
    }
    // The members that the value lacks are not taken from the old one.
    if (content.converted && conversion.lacks_members()) {
        return file.context.fail(Module::attribute, H5MOTE_HERE, Status::type_mismatch, 1);
    }
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): the caller has refused a type in memory without a size.
    const std::size_t count = data.size() / memory.size();
    const std::size_t size = count * stored.size();
    auto* const values = static_cast<std::byte*>(file.context.allocate(MemoryKind::value, size));
    if (values == nullptr) {
        return Status::out_of_memory;
    }
    std::memset(values, 0, size);
    const Status status = conversion.run(count, data.data(), memory.size(), values, stored.size());
    if (status != Status::ok) {
        if (changes_of(file) != nullptr) {
            (void)changes_of(file)->discard(file, stored, values, count);
        }
        file.context.release(MemoryKind::value, values, size);
        return status;
    }
    converted = {values, size};
    return Status::ok;
}

}  // namespace

// The data are converted before anything is changed, because converting may fail.
Status write_attribute_value(FileState& file, Address header, AttributeContent& content, DatatypeView memory,
                             DatatypeView stored, ConstBytes data) noexcept {
    content.message.data = data;
    content.shape = file.shape();
    if constexpr (H5MOTE_CONVERSION == 0) {
        Conversion conversion;
        H5MOTE_TRY(prepare_conversion(file.context, conversion, memory, stored,
                                      {FileValues::Side::to, file.shape().sizeof_addr, nullptr, &file}));
        return write_attribute_value(file, header, content);
    } else {
        Bytes converted;
        H5MOTE_TRY(convert(file, content, memory, stored, data, converted));
        if (converted.data() == nullptr) {
            return write_attribute_value(file, header, content);
        }
        content.message.data = converted;
        const Status status = write_attribute_value(file, header, content);
        if (status != Status::ok && changes_of(file) != nullptr) {
            // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): no datatype without a size gets here
            (void)changes_of(file)->discard(file, stored, converted.data(), converted.size() / stored.size());
        }
        file.context.release(MemoryKind::value, converted.data(), converted.size());
        return status;
    }
}

Status write_converted(FileState& file, Address header, AttributeContent& content, DatatypeView memory,
                       ConstBytes data) noexcept {
    OwnedBytes bytes(file.context, MemoryKind::type);
    DatatypeView type;
    Address committed = kUndefinedAddress;
    {
        StoredAttributeMessage found;
        H5MOTE_TRY(find_attribute(file, header, text_of(content.message.name), found));
        H5MOTE_TRY(own_parts(file, found, committed));
        H5MOTE_TRY(read_type(file, found, bytes, type));
    }
    content.may_convert = false;
    content.converted = true;
    if (committed == kUndefinedAddress) {
        content.message.type = type.bytes();
        return write_attribute_value(file, header, content, memory, type, data);
    }
    H5MOTE_TRY(allow_type(file, type));
    const TypeReference reference(file, committed, content);
    return write_attribute_value(file, header, content, memory, type, data);
}

Status Object::write_stored_attribute(std::string_view name, CharacterSet set, DatatypeView type,
                                      const Object* committed, const Dataspace& space, ConstBytes data) noexcept {
    FileState& file = *file_;
    AttributeContent content;
    content.space = extent_of(space);
    std::uint64_t bytes = 0;
    if (name.empty() || name.size() >= 0xffff || !content.space.data_size(type.size(), bytes) || bytes != data.size()) {
        return file.context.fail(Module::attribute, H5MOTE_HERE, Status::invalid_argument, 0, data.size());
    }
    content.message.name = bytes_of(name);
    content.message.set_name_set(static_cast<std::uint8_t>(set));
    content.message.type = type.bytes();
    content.message.data = data;
    content.shape = file.shape();
    if (committed == nullptr) {
        return write_attribute_value(file, address_, content);
    }
    H5MOTE_TRY(allow_type(file, type));
    const TypeReference reference(file, committed->address(), content);
    return write_attribute_value(file, address_, content);
}

namespace {

// `shared`: the attribute is a shared message.
H5MOTE_STEP Status remove_stored(FileState& file, Address header, std::string_view name,
                                 [[maybe_unused]] bool shared = false) noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        if (const DenseChangesFormat* const format = file.context.formats().dense_changes) {
            bool compact = false;
            H5MOTE_TRY(format->remove_attribute(file, header, bytes_of(name), compact));
            if (!compact) {
                return Status::ok;
            }
        }
    }
    if constexpr (H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0) {
        if (shared) {
            return shared_changes(file)->remove_shared(file, header, name);
        }
    }
    StoredAttribute attribute(file, header);
    H5MOTE_TRY(attribute.find(name));
    return remove_message(attribute.message);
}

}  // namespace

H5MOTE_STEP Status Object::remove_attribute(std::string_view name) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    H5MOTE_TRY(file_->check_writable());
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        FileState& file = *file_;
        StoredAttributeMessage stored;
        Address committed = kUndefinedAddress;
        H5MOTE_TRY(find_attribute(file, address_, name, stored));
        // One that is damaged can be removed, too.
        const Status parts = own_parts(file, stored, committed);
        H5MOTE_TRY(parts == Status::corrupt_file ? Status::ok : parts);
        OldValue old(file);
        if (stored.is_shared()) {
            stored.bytes.close();
        } else {
            old.take(stored);
        }
        H5MOTE_TRY(old.finish(change_sharing(file, address_, name, nullptr, false, [&](ConstBytes /*none*/) noexcept {
            return remove_stored(file, address_, name, stored.is_shared());
        })));
        file.note_loss(address_, ObjectWalk::Over::attributes);
        if (committed != kUndefinedAddress && !stored.is_shared() && file.order() == Status::ok) {
            (void)release_committed_type(file, committed);
        }
        // The attribute is gone, whatever fails here.
        (void)remove_unused_info(file, address_);
        return Status::ok;
    } else {
        return remove_stored(*file_, address_, name);
    }
}

Status Object::remove_attribute(IndexOrder order, Direction direction, std::uint64_t position) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    Attribute attribute;
    {
        AttributeIterator attributes(*this, order, direction);
        do {
            H5MOTE_TRY(attributes.next(attribute));
        } while (position-- > 0);
    }
    return remove_attribute(attribute.name());
}

}  // namespace h5mote
