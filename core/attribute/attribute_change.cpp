// H5A - attributes that get another name, or a value of another type, size or rank.

#include "attribute_content.hpp"
#include "committed_type.hpp"
#include "dense_changes.hpp"
#include "shared_changes.hpp"
#include "text.hpp"
#include "versions.hpp"

#include <h5mote/named_datatype.hpp>

namespace h5mote {
namespace {

// The message of an attribute that gets another name, put together from the old one.
class RenamedContent final : public MessageContent {
public:
    RenamedContent(ConstBytes old, const AttributeParts& parts, std::string_view name) noexcept
        : old_(old), parts_(parts), name_(name) {}
    ConstBytes data() const noexcept { return old_.subspan(parts_.data); }

    void write_head(Writer& writer) const noexcept {
        writer.u8(3);
        writer.u8(parts_.flags);
        writer.u16(name_.size() + 1);
        writer.u16(parts_.type_size);
        writer.u16(parts_.space_size);
        writer.u8(is_ascii(bytes_of(name_)) ? 0 : 1);
        writer.bytes(bytes_of(name_));
        writer.u8(0);
        writer.bytes(old_.subspan(parts_.type, parts_.type_size));
        writer.bytes(old_.subspan(parts_.space, parts_.space_size));
    }
    void write(Writer& writer) const noexcept override {
        write_head(writer);
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
            const ConstBytes body = message.body();
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

Status rename_dense(FileState& file, Address object, std::string_view from, const RenamedContent& content,
                    std::string_view to) noexcept {
    const DenseChangesFormat* const format = file.context.formats().dense_changes;
    if (format == nullptr) {
        return file.context.unsupported(Module::attribute, H5MOTE_HERE, Feature::dense_attributes);
    }
    OwnedBytes head(file.context, MemoryKind::value);
    NewAttribute attribute;
    attribute.name = bytes_of(to);
    attribute.data = content.data();
    Writer counter;
    content.write_head(counter);
    H5MOTE_TRY(head.reserve(counter.written()));
    Writer writer(head.first(counter.written()));
    content.write_head(writer);
    attribute.head = head.first(counter.written());
    return format->rename_attribute(file, object, bytes_of(from), attribute);
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
    H5MOTE_TRY(own_shared(file, address_, MessageType::attribute, from));
    OwnedBytes old(file.context);
    AttributeParts parts;
    bool dense = false;
    std::size_t size = 0;
    {
        StoredAttributeMessage found;
        H5MOTE_TRY(find_attribute(file, address_, from, found));
        if (found.bytes.size() > ~std::size_t{0}) {
            return Status::out_of_memory;
        }
        size = static_cast<std::size_t>(found.bytes.size());
        H5MOTE_TRY(old.reserve(size));
        H5MOTE_TRY(found.bytes.read(0, old.first(size)));
        dense = found.place.kind == AttributePlace::Kind::heap;
        parts = found.parts;
    }
    const RenamedContent content(old.first(size), parts, to);
    if (dense) {
        return rename_dense(file, address_, from, content, to);
    }
    // An attribute of the new name may have been removed from another block of the header: that comes first.
    H5MOTE_TRY(file.order());
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

Status Object::write_stored_attribute(std::string_view name, DatatypeView type, const Object* committed,
                                      const Dataspace& space, ConstBytes data) noexcept {
    FileState& file = *file_;
    AttributeContent content;
    content.space = extent_of(space);
    std::uint64_t bytes = 0;
    if (name.empty() || name.size() >= 0xffff || !content.space.data_size(type.size(), bytes) || bytes != data.size()) {
        return file.context.fail(Module::attribute, H5MOTE_HERE, Status::invalid_argument, 0, data.size());
    }
    content.message.name = bytes_of(name);
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
