// H5R - reading references: what they lead to. Also single values of variable length, which are in the same heap. The
// bytes are shown in reference_encoding.hpp.

#include "attribute_storage.hpp"
#include "global_heap.hpp"
#include "heap_source.hpp"
#include "reference_encoding.hpp"
#include "selection_codec.hpp"
#include "text.hpp"

#include <h5mote/selection_set.hpp>

#include <cstring>

namespace h5mote {
namespace {

struct Reference {
    ReferenceTarget target;
    MetadataWindow heap;  // the bytes of the reference in the global heap
    Address rest = 0;     // offset of those bytes that are not decoded yet
    Address name = 0;     // offset of the other file's name, which begins with its length
};

bool is_zero(ConstBytes bytes) noexcept {
    for (const std::byte each : bytes) {
        if (each != std::byte{0}) {
            return false;
        }
    }
    return true;
}

Status damaged(FileState& file, SourcePlace place) noexcept {
    return file.context.fail(Module::attribute, place, Status::corrupt_file);
}

Status read_token(FileState& file, Reader& reader, Address& address) noexcept {
    return ReferenceToken::decode(file.shape(), reader, address) ? Status::ok : damaged(file, H5MOTE_HERE);
}

Status decode_revised(FileState& file, ReferenceType type, ConstBytes stored, Reference& reference) noexcept {
    Reader reader(stored);
    RevisedReference revised;
    revised.decode(reader);
    if (revised.type != static_cast<unsigned>(type)) {
        return file.context.fail(Module::attribute, H5MOTE_HERE, Status::invalid_argument, revised.type);
    }
    reference.target.other_file = revised.other_file;
    if (type == ReferenceType::object2 && !reference.target.other_file) {
        return read_token(file, reader, reference.target.address);
    }
    reader.skip(RevisedReference::kBytesField);
    GlobalHeap heap(file);
    H5MOTE_TRY(heap.object(reader.rest(), reference.heap));
    ConstBytes head;
    const std::size_t token = ReferenceToken::size(file.shape());
    H5MOTE_TRY(reference.heap.view(0, token, head));
    Reader inner(head);
    H5MOTE_TRY(read_token(file, inner, reference.target.address));
    reference.rest = reference.name = token;
    if (reference.target.other_file) {
        H5MOTE_TRY(reference.heap.view(token, ReferenceName::kLengthSize, head));
        reference.rest += ReferenceName::kLengthSize + ReferenceName::length(head);
    }
    return Status::ok;
}

H5MOTE_STEP Status decode(FileState& file, ReferenceType type, ConstBytes stored, Reference& reference) noexcept {
    reference.target = {};
    const std::size_t sizeof_addr = file.shape().sizeof_addr;
    if (is_zero(stored) || stored.size() < sizeof_addr) {
        reference.target.null = true;
        return Status::ok;
    }
    if (type == ReferenceType::object1) {
        reference.target.address = file.shape().load_addr(stored.data());
    } else if (type == ReferenceType::region1) {
        GlobalHeap heap(file);
        H5MOTE_TRY(heap.object(stored, reference.heap));
        ConstBytes head;
        H5MOTE_TRY(reference.heap.view(0, sizeof_addr, head));
        reference.target.address = file.shape().load_addr(head.data());
        reference.rest = sizeof_addr;
    } else {
        H5MOTE_TRY(decode_revised(file, type, stored, reference));
    }
    reference.target.null = reference.target.address == kUndefinedAddress;
    return Status::ok;
}

// A name in the heap bytes of a reference, which begins at `at` with its length.
Status view_name(Reference& reference, Address at, ConstBytes& name) noexcept {
    H5MOTE_TRY(reference.heap.view(at, ReferenceName::kLengthSize, name));
    return reference.heap.view(at + ReferenceName::kLengthSize, ReferenceName::length(name), name);
}

// Opens the file that the target is in, and checks that the target's header can be read. The caller gets one reference
// to the file.
Status open_target(FileState& file, Reference& reference, FileState*& target) noexcept {
    if (reference.target.null) {
        return file.context.fail(Module::attribute, H5MOTE_HERE, Status::not_found);
    }
    if (!reference.target.other_file) {
        file.retain();
        target = &file;
    } else {
        ConstBytes name;
        H5MOTE_TRY(view_name(reference, reference.name, name));
        H5MOTE_TRY(file.open_linked(text_of(name), target));
    }
    const Status status = MessageIterator(*target, reference.target.address).next();
    if (status != Status::ok) {
        FileState::release(target);
    }
    return status;
}

// Copies one of the names that a revised reference may hold: the attribute's, or that of the other file. `length` is 0
// if it holds no such name.
Status read_name(FileState& file, ConstBytes stored, bool of_attribute, Span<char> to, std::size_t& length) noexcept {
    const auto type = static_cast<ReferenceType>(stored.empty() ? std::byte{0} : stored[0]);
    if (type < ReferenceType::object2 || type > ReferenceType::attribute) {
        return file.context.fail(Module::attribute, H5MOTE_HERE, Status::invalid_argument,
                                 static_cast<std::uint32_t>(type));
    }
    Reference reference;
    H5MOTE_TRY(decode(file, type, stored, reference));
    ConstBytes name;
    if (of_attribute ? type == ReferenceType::attribute && !reference.target.null : reference.target.other_file) {
        H5MOTE_TRY(view_name(reference, of_attribute ? reference.rest : reference.name, name));
    }
    length = name.size();
    if (to.empty() || length == 0) {
        return Status::ok;
    }
    if (length > to.size()) {
        return file.context.fail(Module::attribute, H5MOTE_HERE, Status::invalid_argument, 0, length);
    }
    std::memcpy(to.data(), name.data(), length);
    return Status::ok;
}

}  // namespace

Status Object::reference_file_name(ConstBytes stored, Span<char> to, std::size_t& length) const noexcept {
    const LibraryLock lock(context_of(file_));
    length = 0;
    H5MOTE_TRY(check());
    return read_name(*file_, stored, false, to, length);
}

Status Object::reference_attribute_name(ConstBytes stored, Span<char> to, std::size_t& length) const noexcept {
    const LibraryLock lock(context_of(file_));
    length = 0;
    H5MOTE_TRY(check());
    return read_name(*file_, stored, true, to, length);
}

Status Object::reference_target(ReferenceType type, ConstBytes stored, ReferenceTarget& target) const noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    Reference reference;
    H5MOTE_TRY(decode(*file_, type, stored, reference));
    target = reference.target;
    return Status::ok;
}

Result<Object> Object::open_reference(ReferenceType type, ConstBytes stored) const noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    Reference reference;
    H5MOTE_TRY(decode(*file_, type, stored, reference));
    FileState* file = nullptr;
    H5MOTE_TRY(open_target(*file_, reference, file));
    Object object(*file, reference.target.address);
    FileState::release(file);
    return object;
}

Result<Attribute> Object::open_attribute_reference(ConstBytes stored) const noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    Reference reference;
    H5MOTE_TRY(decode(*file_, ReferenceType::attribute, stored, reference));
    FileState* file = nullptr;
    H5MOTE_TRY(open_target(*file_, reference, file));
    Object object(*file, reference.target.address);
    FileState::release(file);
    ConstBytes name;
    H5MOTE_TRY(view_name(reference, reference.rest, name));
    return object.open_attribute(text_of(name));
}

Status Object::reference_region(ReferenceType type, ConstBytes stored, Object& target,
                                SelectionSet& region) const noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    if (type != ReferenceType::region1 && type != ReferenceType::region2) {
        return file_->context.fail(Module::attribute, H5MOTE_HERE, Status::invalid_argument);
    }
    Reference reference;
    H5MOTE_TRY(decode(*file_, type, stored, reference));
    FileState* file = nullptr;
    H5MOTE_TRY(open_target(*file_, reference, file));
    Object object(*file, reference.target.address);
    FileState::release(file);
    ConstBytes bytes;
    unsigned rank = 0;
    if (type == ReferenceType::region2) {
        H5MOTE_TRY(reference.heap.view(reference.rest, ReferenceRegion::kHeadSize, bytes));
        rank = ReferenceRegion::rank(bytes);
        reference.rest += ReferenceRegion::kHeadSize;
    }
    const Address length = reference.heap.size() - reference.rest;
    std::size_t consumed = 0;
    std::size_t size = 0;
    if (!to_size(length, size)) {
        return Status::overflow;
    }
    H5MOTE_TRY(reference.heap.view(reference.rest, size, bytes));
    H5MOTE_TRY(decode_selection(file_->context, bytes, rank, region, consumed));
    target = static_cast<Object&&>(object);
    return Status::ok;
}

namespace {

// Reads a value by its heap id. Programs ask for one value after another, each by a call of its own: the search for the
// next one goes on from the last, as long as nothing is written to the heap.
template <typename Read>
Status with_heap(FileState& file, Read read) noexcept {
    if (file.foreign() == nullptr || file.heap_keeper() != nullptr) {
        HeapSource source(file);
        return read(source);
    }
    HeapPosition& position = file.foreign()->heap_position;
    HeapSource source(file, position);
    position = HeapPosition();
    H5MOTE_TRY(read(source));
    position = source.position();
    return Status::ok;
}

}  // namespace

Status Object::variable_size(ConstBytes heap_id, std::uint64_t& bytes) const noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    bytes = 0;
    if (heap_id.size() < file_->shape().sizeof_addr) {
        return file_->context.fail(Module::attribute, H5MOTE_HERE, Status::invalid_argument);
    }
    const Address collection = file_->shape().load_addr(heap_id.data());
    return collection == 0 || collection == kUndefinedAddress
               ? Status::ok
               : with_heap(*file_, [&](HeapSource& heap) noexcept { return heap.size(heap_id, bytes); });
}

Status Object::read_variable(ConstBytes heap_id, std::uint64_t offset, Bytes to) const noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    return to.empty() ? Status::ok
                      : with_heap(*file_, [&](HeapSource& heap) noexcept { return heap.read(heap_id, offset, to); });
}

}  // namespace h5mote
