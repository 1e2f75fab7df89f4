// H5O (H5Ocopy) - values that mean something only within their file: references, and data in the global heap.
//
// Values are copied in the form in which files have them. What is in the heap of the one file gets a place in the heap
// of the other, and references get the addresses of the copies; everything else stays byte for byte as it is. So
// nothing has to be known of the values, and there is a copy also of what no program could write.

#include "checked.hpp"
#include "copier.hpp"
#include "dataspace_editor.hpp"
#include "global_heap_collection.hpp"
#include "prepare.hpp"
#include "reference_encoding.hpp"
#include "selection_codec.hpp"

#include <cstring>

namespace h5mote {
namespace {

bool is_revised(ReferenceType type) noexcept { return type > ReferenceType::region1; }

// The kind of a reference. The datatype of revised ones does not tell, because its values may be of every revised kind.
ReferenceType type_of(DatatypeView type, const std::byte* value) noexcept {
    return is_revised(type.reference_type()) ? static_cast<ReferenceType>(value[0]) : type.reference_type();
}

// The bytes of an element of a sequence.
std::size_t element_size(DatatypeView sequence) noexcept {
    return sequence.is_variable_string() ? 1 : sequence.base().size();
}

}  // namespace

bool Copier::has_references(DatatypeView type) noexcept { return contains_class(type, TypeClass::reference); }
bool Copier::has_variable_data(DatatypeView type) noexcept { return contains_class(type, TypeClass::variable_length); }

bool Copier::is_plain(const Object& from, DatatypeView type) const noexcept {
    return !has_variable_data(type) && (is_same_file(from) || !has_references(type));
}

bool Copier::is_deferred(const Object& from, DatatypeView type) noexcept {
    const bool references = options_.expand_references && !is_same_file(from) && has_references(type);
    has_references_ = has_references_ || references;
    return references && !resolving_;
}

Status Copier::choose_stored_form(const Object& from, DatatypeView type, StoredForm& stored) noexcept {
    stored.type = type;
    const VariableLengthFormat* const changes = context().formats().variable_length_changes;
    if (changes == nullptr && has_variable_data(type)) {
        return context().unsupported(Module::datatype, H5MOTE_HERE, Feature::datatype_class,
                                     static_cast<std::uint32_t>(TypeClass::variable_length));
    }
    if (file_of(from).shape().sizeof_addr == destination_.shape().sizeof_addr ||
        !(has_variable_data(type) || has_references(type))) {
        return Status::ok;
    }
    if (changes == nullptr) {
        return context().unsupported(Module::datatype, H5MOTE_HERE, Feature::sizeof_offsets);
    }
    Bytes made;
    H5MOTE_TRY(changes->file_type(destination_, type, made));
    const Status status = stored.bytes.reserve(made.size());
    if (status == Status::ok) {
        std::memcpy(stored.bytes.data(), made.data(), made.size());
        stored.type = DatatypeView(stored.bytes.first(made.size()));
    }
    context().release(MemoryKind::type, made.data(), made.size());
    return status;
}

void Copier::discard(DatatypeView type, const std::byte* values, std::size_t count) noexcept {
    if (has_variable_data(type)) {
        (void)context().formats().variable_length_changes->discard(destination_, type, values, count);
    }
}

// Types are nested no deeper than H5MOTE_MAX_TYPE_DEPTH.
// NOLINTNEXTLINE(misc-no-recursion)
Status Copier::put_values(Object& from, DatatypeView in_type, DatatypeView out_type, std::size_t count,
                          const std::byte* in, std::byte* out) noexcept {
    if (count == 0) {
        return Status::ok;
    }
    if (is_plain(from, in_type)) {
        std::memcpy(out, in, count * in_type.size());
        return Status::ok;
    }
    switch (in_type.type_class()) {
        case TypeClass::compound:
            return put_compounds(from, in_type, out_type, count, in, out);
        case TypeClass::array:
            // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a sound datatype has no elements without a size.
            return put_values(from, in_type.base(), out_type.base(), count * (in_type.size() / in_type.base().size()),
                              in, out);
        default:
            for (std::size_t i = 0; i < count; ++i, in += in_type.size(), out += out_type.size()) {
                H5MOTE_TRY(in_type.type_class() == TypeClass::variable_length
                               ? put_sequence(from, in_type, out_type, in, out)
                               : put_reference(from, in_type, out_type, in, out));
            }
            return Status::ok;
    }
}

// NOLINTNEXTLINE(misc-no-recursion)
Status Copier::put_compounds(Object& from, DatatypeView in_type, DatatypeView out_type, std::size_t count,
                             const std::byte* in, std::byte* out) noexcept {
    CompoundMembers in_members(in_type);
    CompoundMembers out_members(out_type);
    CompoundMember in_member;
    CompoundMember out_member;
    while (in_members.next(in_member) && out_members.next(out_member)) {
        // In old types a member has its dimensions by itself, in others by its datatype.
        const std::size_t times = in_member.count();
        const bool by_itself = !in_member.dimensions.empty() && out_member.dimensions.empty();
        const DatatypeView out_element = by_itself ? out_member.type.base() : out_member.type;
        for (std::size_t i = 0; i < count; ++i) {
            H5MOTE_TRY(put_values(from, in_member.type, out_element, times, in + i * in_type.size() + in_member.offset,
                                  out + i * out_type.size() + out_member.offset));
        }
    }
    return Status::ok;
}

// NOLINTNEXTLINE(misc-no-recursion)
Status Copier::put_sequence(Object& from, DatatypeView in_type, DatatypeView out_type, const std::byte* in,
                            std::byte* out) noexcept {
    const VariableLengthFormat& heap = *context().formats().variable_length_changes;
    const FileShape shape = file_of(from).shape();
    if (in_type.size() != 4 + GlobalHeapId::size(shape) ||
        out_type.size() != 4 + GlobalHeapId::size(destination_.shape())) {
        return context().fail(Module::datatype, H5MOTE_HERE, Status::corrupt_file, 0, in_type.size());
    }
    const auto count = static_cast<std::size_t>(load_le<std::uint32_t>(in));
    const ConstBytes place(in + 4, in_type.size() - 4);
    GlobalHeapId id;
    std::uint64_t stored = 0;
    if (!id.decode(shape, place)) {
        return context().fail(Module::datatype, H5MOTE_HERE, Status::corrupt_file);
    }
    if (id.is_nil()) {
        return Status::ok;
    }
    H5MOTE_TRY(from.variable_size(place, stored));
    std::size_t in_bytes = 0;
    std::size_t out_bytes = 0;
    const bool plain = in_type.is_variable_string() || is_plain(from, in_type.base());
    if (!checked_multiply(count, element_size(in_type), in_bytes) || in_bytes > stored) {
        return context().fail(Module::datatype, H5MOTE_HERE, Status::corrupt_file, 0, stored);
    }
    if (!plain && (!checked_multiply(count, element_size(out_type), out_bytes) || out_bytes > SIZE_MAX / 2 ||
                   in_bytes > SIZE_MAX / 2)) {
        return context().fail(Module::datatype, H5MOTE_HERE, Status::over_budget);
    }
    OwnedBytes memory(context(), MemoryKind::value);
    H5MOTE_TRY(memory.reserve(in_bytes + out_bytes));
    H5MOTE_TRY(from.read_variable(place, 0, memory.first(in_bytes)));
    ConstBytes value = memory.first(in_bytes);
    Status status = Status::ok;
    if (!plain) {
        std::byte* const elements = memory.data() + in_bytes;
        std::memset(elements, 0, out_bytes);
        status = put_values(from, in_type.base(), out_type.base(), count, memory.data(), elements);
        value = {elements, out_bytes};
    }
    status = status == Status::ok ? heap.insert(destination_, value, id) : status;
    if (status != Status::ok) {
        if (!plain) {
            discard(out_type.base(), value.data(), count);
        }
        return status;
    }
    store_le<std::uint32_t>(out, static_cast<std::uint32_t>(count));
    id.encode(destination_.shape(), out + 4);
    return Status::ok;
}

// Until references are resolved they lead nowhere.
Status Copier::put_reference(Object& from, DatatypeView in_type, DatatypeView out_type, const std::byte* in,
                             std::byte* out) noexcept {
    if (!resolving_) {
        return Status::ok;
    }
    const ConstBytes stored(in, in_type.size());
    const ReferenceType type = type_of(in_type, in);
    ReferenceTarget target;
    H5MOTE_TRY(from.reference_target(type, stored, target));
    if (target.null) {
        return Status::ok;
    }
    Address copy = target.address;
    if (!target.other_file) {
        copy = copy_of(from, target.address);
        if (copy == kUndefinedAddress && whole_) {
            return Status::ok;
        }
        if (copy == kUndefinedAddress) {
            H5MOTE_TRY(copy_referenced(from, type, stored));
            copy = copy_of(from, target.address);
        }
    }
    std::byte bytes[RevisedReference::kMostSize] = {};
    Writer writer{Bytes(bytes)};
    if (is_revised(type)) {
        writer.bytes(stored.first(RevisedReference::kHeadSize));
    }
    if (type == ReferenceType::object1) {
        destination_.shape().write_addr(writer, copy);
    } else if (type == ReferenceType::object2 && !target.other_file) {
        ReferenceToken::encode(destination_.shape(), writer, copy);
    } else {
        H5MOTE_TRY(put_reference_data(from, type, stored, target.other_file ? kUndefinedAddress : copy, writer));
    }
    if (writer.written() > out_type.size()) {
        return context().fail(Module::datatype, H5MOTE_HERE, Status::corrupt_file, 0, out_type.size());
    }
    std::memcpy(out, bytes, writer.written());
    return Status::ok;
}

// What a reference has in the heap begins with the address of the object; the rest is the same in every file.
// `address` is undefined if that stays, too.
Status Copier::put_reference_data(Object& from, ReferenceType type, ConstBytes stored, Address address,
                                  Writer& writer) noexcept {
    const VariableLengthFormat* const heap = context().formats().variable_length_changes;
    if (heap == nullptr) {
        return context().unsupported(Module::datatype, H5MOTE_HERE, Feature::datatype_class,
                                     static_cast<std::uint32_t>(TypeClass::reference));
    }
    const ConstBytes place =
        is_revised(type) ? stored.subspan(RevisedReference::kHeadSize + RevisedReference::kBytesField) : stored;
    const FileShape shape = file_of(from).shape();
    const std::size_t old = is_revised(type) ? ReferenceToken::size(shape) : shape.sizeof_addr;
    std::uint64_t size = 0;
    H5MOTE_TRY(from.variable_size(place, size));
    if (size < old || size > SIZE_MAX / 2) {
        return context().fail(Module::datatype, H5MOTE_HERE, Status::corrupt_file, 0, size);
    }
    constexpr std::size_t kRoom = 1 + 8;
    const auto length = static_cast<std::size_t>(size);
    OwnedBytes memory(context(), MemoryKind::value);
    H5MOTE_TRY(memory.reserve(kRoom + length));
    H5MOTE_TRY(from.read_variable(place, 0, {memory.data() + kRoom, length}));
    ConstBytes value(memory.data() + kRoom, length);
    if (address != kUndefinedAddress) {
        // The new address ends where the old one does.
        const FileShape to = destination_.shape();
        const std::size_t head = is_revised(type) ? ReferenceToken::size(to) : to.sizeof_addr;
        std::byte* const begin = memory.data() + kRoom + old - head;
        Writer front({begin, head});
        if (is_revised(type)) {
            ReferenceToken::encode(to, front, address);
        } else {
            to.write_addr(front, address);
        }
        value = {begin, length - old + head};
    }
    OwnedBytes recoded(context(), MemoryKind::value);
    if (type == ReferenceType::region1) {
        H5MOTE_TRY(bound_region(value, recoded));
    }
    GlobalHeapId id;
    H5MOTE_TRY(heap->insert(destination_, value, id));
    if (is_revised(type)) {
        writer.u32(static_cast<std::uint32_t>(value.size()));
    }
    destination_.shape().write_addr(writer, id.collection);
    writer.u32(id.index);
    return Status::ok;
}

// Encodes the region of a reference anew if the destination's file may not have the version in which it is stored.
// `value`, an address of that file and the selection, gets its bytes from `encoded` then. Revised references need no
// such thing: where they are allowed, all versions of selections are.
Status Copier::bound_region(ConstBytes& value, OwnedBytes& encoded) noexcept {
    if (destination_.high() >= FormatVersion::v112) {
        return Status::ok;
    }
    const std::size_t head = destination_.shape().sizeof_addr;
    SelectionSet region(context());
    std::size_t consumed = 0;
    H5MOTE_TRY(decode_selection(context(), value.subspan(head), 0, region, consumed));
    // Regions may lie beyond the extent that the dataset has by now.
    Dataspace widest;
    DataspaceEditor::set_widest(widest, region.view().rank());
    Writer counter;
    counter.bytes(value.first(head));
    H5MOTE_TRY(encode_selection_in(destination_, counter, region.view(), widest));
    H5MOTE_TRY(encoded.reserve(counter.written()));
    Writer writer(encoded.first(counter.written()));
    writer.bytes(value.first(head));
    value = encoded.first(counter.written());
    return encode_selection_in(destination_, writer, region.view(), widest);
}

// Copies an object that only a reference leads to, while the references of a copy are set.
Status Copier::copy_referenced(Object& from, ReferenceType type, ConstBytes stored) noexcept {
    Result<Object> object = from.open_reference(type, stored);
    H5MOTE_TRY(object.status());
    OwnedText name(context());
    H5MOTE_TRY(number_name('r', name));
    resolving_ = false;
    const Status status = copy_beside(*object, name.view());
    resolving_ = true;
    H5MOTE_TRY(status);
    ObjectType kind;
    H5MOTE_TRY(object->type(kind));
    // A datatype that was there before has its link.
    return kind == ObjectType::datatype && merged_ ? Status::ok : note_referenced(copy_of(*object, object->address()));
}

}  // namespace h5mote
