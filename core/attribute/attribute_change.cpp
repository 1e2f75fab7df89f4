// H5A - attributes that get another name, or a value of another type, size or rank.

#include "attribute.hpp"
#include "attribute_storage.hpp"
#include "committed_type.hpp"
#include "extent.hpp"
#include "prepare.hpp"
#include "text.hpp"

#include <h5mote/named_datatype.hpp>

#include <cstring>

namespace h5mote {
namespace {

// An attribute message, version 3, put together from its parts. The dataspace is encoded already or not yet.
class AttributePieces final : public MessageContent {
public:
    explicit AttributePieces(FileShape shape) noexcept : shape_(shape) {}

    std::uint8_t flags = 0;
    std::string_view name;
    ConstBytes type;
    ConstBytes space;
    const Extent* extent = nullptr;  // in place of `space`
    ConstBytes data;

    void write(Writer& writer) const noexcept override {
        Writer counter;
        write_space(counter);
        writer.u8(3);
        writer.u8(flags);
        writer.u16(name.size() + 1);
        writer.u16(type.size());
        writer.u16(counter.written());
        writer.u8(is_ascii(bytes_of(name)) ? 0 : 1);
        writer.bytes(bytes_of(name));
        writer.u8(0);
        writer.bytes(type);
        write_space(writer);
        writer.bytes(data);
    }

private:
    void write_space(Writer& writer) const noexcept {
        if (extent != nullptr) {
            encode_dataspace(writer, shape_, *extent);
        } else {
            writer.bytes(space);
        }
    }

    FileShape shape_;
};

// The body of a message in memory of its own, because the block that it stands in may move or leave the cache while
// another message takes its place.
class BodyCopy {
public:
    explicit BodyCopy(Context& context) noexcept : context_(context) {}
    BodyCopy(const BodyCopy&) = delete;
    BodyCopy& operator=(const BodyCopy&) = delete;
    ~BodyCopy() { context_.release(MemoryKind::other, data_, size_); }

    Status copy(ConstBytes body) noexcept {
        data_ = static_cast<std::byte*>(context_.allocate(MemoryKind::other, body.size()));
        if (data_ == nullptr) {
            return Status::out_of_memory;
        }
        size_ = body.size();
        std::memcpy(data_, body.data(), size_);
        return Status::ok;
    }
    ConstBytes bytes() const noexcept { return {data_, size_}; }

private:
    Context& context_;
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
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
                return context.unsupported(Module::attribute, H5MOTE_HERE, Feature::shared_message);
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
    BodyCopy old(file.context);
    {
        MessageIterator message(file, address_);
        H5MOTE_TRY(find_message(message, from));
        H5MOTE_TRY(old.copy(message.body()));
    }
    AttributeParts parts;
    H5MOTE_TRY(parts.decode(file.context, old.bytes(), old.bytes().size()));
    AttributePieces content(file.shape());
    content.flags = parts.flags;
    content.name = to;
    content.type = old.bytes().subspan(parts.type, parts.type_size);
    content.space = old.bytes().subspan(parts.space, parts.space_size);
    content.data = old.bytes().subspan(parts.data);
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
    FileState& file = *file_;
    H5MOTE_TRY(file.check_writable());
    H5MOTE_TRY(check_storable(file.context, type));
    const Extent extent = extent_of(space);
    std::uint64_t bytes = 0;
    if (!space.valid() || type.size() == 0 || !extent.data_size(type.size(), bytes) || bytes != data.size()) {
        return file.context.fail(Module::attribute, H5MOTE_HERE, Status::invalid_argument, 0, data.size());
    }
    MessageIterator message(file, address_);
    const Status status = find_message(message, name);
    if (status == Status::not_found) {
        message.park();
        return write_attribute(name, type, space, data);
    }
    H5MOTE_TRY(status);
    AttributePieces content(file.shape());
    content.name = name;
    content.type = type.bytes();
    content.extent = &extent;
    content.data = data;
    Address committed = kUndefinedAddress;
    H5MOTE_TRY(committed_type_of(message, committed));
    H5MOTE_TRY(replace_message(message, content));
    if (committed != kUndefinedAddress && file.order() == Status::ok) {
        (void)release_committed_type(file, committed);
    }
    return Status::ok;
}

Status Object::write_attribute(std::string_view name, const NamedDatatype& type, const Dataspace& space,
                               ConstBytes data) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    FileState& file = *file_;
    H5MOTE_TRY(file.check_writable());
    const Extent extent = extent_of(space);
    std::uint64_t bytes = 0;
    if (!type.valid() || !same_file(type) || !is_name(name) || name.size() == 0xffff || !space.valid() ||
        !extent.data_size(type.type().size(), bytes) || bytes != data.size()) {
        return file.context.fail(Module::attribute, H5MOTE_HERE, Status::invalid_argument, 0, data.size());
    }
    std::byte reference[SharedReference::kMaxSize];
    Writer writer({reference, CommittedReference::size(file.shape())});
    CommittedReference::encode(writer, file.shape(), type.address());
    AttributePieces content(file.shape());
    content.flags = AttributeParts::kSharedType;
    content.name = name;
    content.type = {reference, CommittedReference::size(file.shape())};
    content.extent = &extent;
    content.data = data;
    if (content.size() > 0xffff) {
        return file.context.fail(Module::attribute, H5MOTE_HERE, Status::over_budget, 0, content.size());
    }
    MessageIterator message(file, address_);
    Status status = find_message(message, name);
    if (status == Status::ok) {
        Address committed = kUndefinedAddress;
        H5MOTE_TRY(committed_type_of(message, committed));
        return committed == type.address()
                   ? replace_message(message, content)
                   : file.context.fail(Module::attribute, H5MOTE_HERE, Status::type_mismatch, 1, committed);
    }
    if (status != Status::not_found) {
        return status;
    }
    message.park();
    H5MOTE_TRY(use_committed_type(file, type.address()));
    status = add_attribute(file, address_, content);
    if (status != Status::ok) {
        std::uint32_t count = 0;
        (void)change_reference_count(file, type.address(), -1, count);
    }
    return status;
}

Status remove_of_committed_type(MessageIterator& message) noexcept {
    FileState& file = message.file();
    Address committed = kUndefinedAddress;
    H5MOTE_TRY(committed_type_of(message, committed));
    H5MOTE_TRY(remove_message(message));
    message.park();
    if (committed != kUndefinedAddress && file.order() == Status::ok) {
        (void)release_committed_type(file, committed);
    }
    return Status::ok;
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
