#include "attribute_content.hpp"
#include "committed_type.hpp"
#include "shared_changes.hpp"

namespace h5mote {
namespace {

Status count_elements(FileState& file, StoredAttributeMessage& stored, std::uint64_t& elements) noexcept {
    ConstBytes bytes;
    DataspaceMessage space;
    H5MOTE_TRY(stored.bytes.view(stored.parts.space, stored.parts.space_size, bytes));
    H5MOTE_TRY(space.decode(file.context, file.shape(), bytes));
    elements = space.type == DataspaceMessage::Type::null ? 0 : 1;
    for (unsigned i = 0; i < space.rank; ++i) {
        elements = elements > stored.bytes.size() ? elements : elements * space.dim(i);
    }
    return Status::ok;
}

}  // namespace

bool may_be_shared(DatatypeView type) noexcept {
    return !contains_class(type, TypeClass::variable_length) && !contains_class(type, TypeClass::reference);
}

Status read_type(FileState& file, StoredAttributeMessage& stored, OwnedBytes& bytes, DatatypeView& type) noexcept {
    Address committed = kUndefinedAddress;
    H5MOTE_TRY(committed_type_of(file, stored, committed));
    std::size_t size = stored.parts.type_size;
    if (committed == kUndefinedAddress) {
        H5MOTE_TRY(bytes.reserve(size));
        H5MOTE_TRY(stored.bytes.read(stored.parts.type, bytes.first(size)));
    } else {
        MessageIterator message(file, committed);
        H5MOTE_TRY(message.next(MessageType::datatype));
        ConstBytes body;
        H5MOTE_TRY(message.view_body(body));
        size = body.size();
        H5MOTE_TRY(bytes.reserve(size));
        std::memcpy(bytes.data(), body.data(), size);
    }
    return view_datatype(file.context, bytes.first(size), type);
}

Status committed_type_of(FileState& file, StoredAttributeMessage& stored, Address& header) noexcept {
    header = kUndefinedAddress;
    if ((stored.parts.flags & AttributeParts::kSharedSpace) != 0) {
        return file.context.unsupported(Module::attribute, H5MOTE_HERE, Feature::shared_message, stored.parts.flags);
    }
    return committed_type_of(file, stored.bytes, stored.parts, header);
}

Status committed_type_of(FileState& file, MetadataWindow& message, const AttributeParts& parts,
                         Address& header) noexcept {
    header = kUndefinedAddress;
    if ((parts.flags & AttributeParts::kSharedType) == 0) {
        return Status::ok;
    }
    ConstBytes reference;
    H5MOTE_TRY(message.view(parts.type, parts.type_size, reference));
    return committed_type_at(file, reference, header);
}

Status own_parts(FileState& file, StoredAttributeMessage& stored, Address& header) noexcept {
    H5MOTE_TRY(stored.is_shared() ? pass_shared(file) : Status::ok);
    if (const SharedMessageChangesFormat* const format = shared_changes(file)) {
        H5MOTE_TRY(format->own_attribute(file, stored.bytes));
        H5MOTE_TRY(decode_attribute(file.context, stored.bytes, stored.parts));
    }
    return committed_type_of(file, stored, header);
}

// One element after the other, because the global heap needs the room in the cache.
Status OldValue::discard(StoredAttributeMessage& stored, const VariableLengthFormat& changes) noexcept {
    OwnedBytes bytes(file_.context, MemoryKind::type);
    OwnedBytes element(file_.context, MemoryKind::value);
    DatatypeView type;
    std::uint64_t elements = 0;
    H5MOTE_TRY(read_type(file_, stored, bytes, type));
    if (!contains_class(type, TypeClass::variable_length)) {
        return Status::ok;
    }
    H5MOTE_TRY(count_elements(file_, stored, elements));
    H5MOTE_TRY(element.reserve(type.size()));
    for (std::uint64_t i = 0, at = stored.parts.data; i < elements && within(at, type.size(), stored.bytes.size());
         ++i, at += type.size()) {
        H5MOTE_TRY(stored.bytes.read(narrow(at), element.first(type.size())));
        const std::size_t before = changes.discard(file_, type, element.data(), 1);
        before_ = taken_ ? before_ : before;
        taken_ = true;
    }
    return Status::ok;
}

void OldValue::take(StoredAttributeMessage& stored) noexcept {
    if (const VariableLengthFormat* const changes = file_.context.formats().variable_length_changes) {
        (void)discard(stored, *changes);
    }
    stored.bytes.close();
}

Status OldValue::finish(Status status) noexcept { return taken_ ? or_keep(file_, status, before_) : status; }

}  // namespace h5mote
