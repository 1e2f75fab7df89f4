// h5check - attributes in every kind of storage, and the variable-length data in values.

#include "attribute_storage.hpp"
#include "checker.hpp"
#include "datatype_message.hpp"
#include "reference_encoding.hpp"
#include "stored_message.hpp"
#include "text.hpp"

#if H5MOTE_ALL_FORMATS

namespace h5mote {
namespace {

// Opens the datatype or dataspace of an attribute or, if it is shared, the message that is used instead. `user`: the
// attribute counts as a user of that.
Status open_part(Checker& checker, MetadataWindow& bytes, MessageType type, std::size_t at, std::size_t size,
                 bool shared, bool user, StoredMessage& stored, MetadataWindow& own, ConstBytes& body) noexcept {
    ConstBytes here;
    H5MOTE_TRY(bytes.view(at, size, here));
    if (shared) {
        H5MOTE_TRY(stored.open_shared(checker.file(), type, here));
        if (user && stored.committed() != kUndefinedAddress) {
            H5MOTE_TRY(checker.link_to(stored.committed()));
        }
        return stored.view(body);
    }
    // Copy the bytes: the next view may take the place of this one.
    Bytes to;
    H5MOTE_TRY(own.allocate(checker.file().context, size == 0 ? 1 : size, to));
    std::memcpy(to.data(), here.data(), size);
    body = to.first(size);
    return Status::ok;
}

H5MOTE_STEP Status check_parts(Checker& checker, MetadataWindow& bytes, const AttributeParts& parts,
                               bool user) noexcept {
    StoredMessage stored_space;
    MetadataWindow own;
    ConstBytes body;
    H5MOTE_TRY(open_part(checker, bytes, MessageType::dataspace, parts.space, parts.space_size,
                         (parts.flags & AttributeParts::kSharedSpace) != 0, user, stored_space, own, body));
    DataspaceMessage space;
    H5MOTE_TRY(space.decode(checker.file().context, checker.shape(), body));
    std::uint64_t elements = space.type == DataspaceMessage::Type::null ? 0 : 1;
    bool fits = true;
    for (unsigned i = 0; i < space.rank; ++i) {
        fits = checked_multiply(elements, space.dim(i), elements) && fits;
    }
    StoredMessage stored_type;
    H5MOTE_TRY(open_part(checker, bytes, MessageType::datatype, parts.type, parts.type_size,
                         (parts.flags & AttributeParts::kSharedType) != 0, user, stored_type, own, body));
    std::size_t length = 0;
    Feature feature = Feature::none;
    const Status status = validate_datatype(body, length, feature);
    if (status != Status::ok) {
        return status == Status::unsupported
                   ? checker.file().context.unsupported(Module::attribute, H5MOTE_HERE, feature)
                   : status;
    }
    const DatatypeView type(body.first(length));
    std::uint64_t size = 0;
    if (!fits || !checked_multiply(elements, std::uint64_t{type.size()}, size) || size > bytes.size() - parts.data) {
        return Status::corrupt_file;
    }
    return checker.options().data && has_heap_data(type) ? checker.check_values(type, bytes, parts.data, elements)
                                                         : Status::ok;
}

}  // namespace

Status Checker::check_attribute(MetadataWindow& bytes, Address address, bool shared, std::uint32_t& hash) noexcept {
    AttributeParts parts;
    Status status = decode_attribute(file_.context, bytes, parts);
    ConstBytes name;
    if (status == Status::ok) {
        status = bytes.view(parts.name, parts.name_size, name);
    }
    if (status == Status::ok) {
        const void* const end = std::memchr(name.data(), 0, name.size());
        const std::size_t length =
            end == nullptr ? 0 : static_cast<std::size_t>(static_cast<const std::byte*>(end) - name.data());
        hash = name_hash(name.first(length));
        status = length == 0 ? Status::corrupt_file : check_parts(*this, bytes, parts, !shared);
    }
    if (status == Status::corrupt_file) {
        file_.context.trail().clear();
        return bad(ProblemKind::malformed, CheckPart::attribute, address);
    }
    return judge(status, CheckPart::attribute, address);
}

namespace {

bool leads_to_heap(ReferenceType type) noexcept { return type != ReferenceType::object1; }

}  // namespace

bool has_heap_data(DatatypeView type) noexcept {
    return contains_class(type, TypeClass::variable_length) || contains_class(type, TypeClass::reference);
}

// A sequence, and its elements if they lead further.
Status Checker::check_sequence(DatatypeView type, ConstBytes value) noexcept {
    H5MOTE_TRY(go_on(check_heap_id(value)));
    if (type.is_variable_string() || !has_heap_data(type.base())) {
        return Status::ok;
    }
    Reader reader(value);
    const std::uint32_t length = reader.u32();
    GlobalHeapId place;
    if (!place.decode(shape(), reader.rest()) || length == 0 || place.collection == 0 ||
        place.collection == kUndefinedAddress) {
        return Status::ok;
    }
    // The elements are looked at while other objects of the heap are opened.
    GlobalHeap heap(file_);
    MetadataWindow elements;
    H5MOTE_TRY(judge(heap.object(place.collection, place.index, elements), CheckPart::global_heap, place.collection));
    return judge(check_values(type.base(), elements, 0, length), CheckPart::global_heap, place.collection);
}

Status Checker::check_reference(DatatypeView type, ConstBytes value) noexcept {
    const ReferenceType kind = type.reference_type();
    GlobalHeapId place;
    if (kind == ReferenceType::region1) {
        return place.decode(shape(), value) ? check_heap_object(place) : Status::corrupt_file;
    }
    if (!leads_to_heap(kind)) {
        return Status::ok;
    }
    Reader reader(value);
    RevisedReference revised;
    revised.decode(reader);
    // The datatype that libhdf5 gives to revised references says nothing of their kind, which stands in each of them.
    const auto stored = static_cast<ReferenceType>(revised.type);
    if (revised.type == 0 || (stored == ReferenceType::object2 && !revised.other_file)) {
        return Status::ok;
    }
    reader.skip(RevisedReference::kBytesField);
    return place.decode(shape(), reader.rest()) ? check_heap_object(place) : Status::corrupt_file;
}

// It recurses as deep as types are nested, which validate_datatype() limits. A damaged part does not keep the others
// from being checked.
Status Checker::check_value(DatatypeView type, ConstBytes value) noexcept {
    Status status = Status::ok;
    switch (type.type_class()) {
        case TypeClass::variable_length:
            return go_on(check_sequence(type, value));
        case TypeClass::reference:
            return go_on(check_reference(type, value));
        case TypeClass::array: {
            const DatatypeView base = type.base();
            for (std::size_t at = 0; status == Status::ok && base.size() != 0 && at + base.size() <= value.size();
                 at += base.size()) {
                status = check_value(base, value.subspan(at, base.size()));
            }
            return status;
        }
        case TypeClass::compound: {
            CompoundMembers members(type);
            CompoundMember member;
            while (status == Status::ok && members.next(member)) {
                const DatatypeView inner = member.type;
                if (has_heap_data(inner) && within(member.offset, inner.size(), value.size())) {
                    status = check_value(inner, value.subspan(member.offset, inner.size()));
                }
            }
            return status;
        }
        default:
            return Status::ok;
    }
}

Status Checker::check_values(DatatypeView type, MetadataWindow& bytes, Address offset,
                             std::uint64_t elements) noexcept {
    const std::uint32_t size = type.size();
    for (std::uint64_t i = 0; i < elements && size != 0; ++i) {
        ConstBytes value;
        H5MOTE_TRY(bytes.view(narrow(offset + i * size), size, value));
        H5MOTE_TRY(check_value(type, value));
    }
    return Status::ok;
}

Status Checker::check_heap_id(ConstBytes id) noexcept {
    Reader reader(id);
    reader.skip(4);  // an object may be empty, too
    GlobalHeapId place;
    return place.decode(shape(), reader.rest()) ? check_heap_object(place) : Status::corrupt_file;
}

Status Checker::check_heap_object(const GlobalHeapId& place) noexcept {
    const Address collection = place.collection;
    if (collection == 0 || collection == kUndefinedAddress) {
        return Status::ok;
    }
    if (collection != collection_) {
        Address size = 0;
        Address free = 0;
        H5MOTE_TRY(judge(global_heap_.facts(collection, size, free), CheckPart::global_heap, collection));
        H5MOTE_TRY(use(CheckPart::global_heap, collection, size, true));
        collection_ = collection;
    }
    if (!verifying()) {
        return Status::ok;
    }
    MetadataWindow window;
    const Status status = global_heap_.object(collection, place.index, window);
    if (status == Status::corrupt_file) {
        file_.context.trail().clear();
        return bad(ProblemKind::missing_heap_object, CheckPart::global_heap, collection, place.index);
    }
    return judge(status, CheckPart::global_heap, collection);
}

}  // namespace h5mote

#endif
