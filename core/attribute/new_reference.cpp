// H5R - making references. The bytes are shown in reference_encoding.hpp.

#include "prepare.hpp"
#include "reference_encoding.hpp"
#include "selection_codec.hpp"
#include "text.hpp"

#include <h5mote/object.hpp>
#include <h5mote/selection_set.hpp>

namespace h5mote {
namespace {

bool is_revised(ReferenceType type) noexcept { return type > ReferenceType::region1; }

// What a reference says of its target besides the address of the object.
struct Part {
    const Selection* region = nullptr;
    const Dataspace* space = nullptr;
    std::string_view attribute;
};

// The bytes of a reference in the global heap.
Status encode(FileState& file, ReferenceType type, Address target, const Part& part, Writer& writer) noexcept {
    const FileShape shape = file.shape();
    if (!is_revised(type)) {
        shape.write_addr(writer, target);
    } else {
        ReferenceToken::encode(shape, writer, target);
    }
    if (type == ReferenceType::attribute) {
        writer.u16(part.attribute.size());
        writer.bytes(bytes_of(part.attribute));
        return Status::ok;
    }
    if (is_revised(type)) {
        Writer counter;
        H5MOTE_TRY(encode_selection_in(file, counter, *part.region, *part.space));
        writer.u32(static_cast<std::uint32_t>(counter.written()));
        writer.u32(static_cast<std::uint32_t>(part.space->rank()));
    }
    return encode_selection_in(file, writer, *part.region, *part.space);
}

Status put_into_heap(FileState& file, ReferenceType type, Address target, const Part& part, Writer& to) noexcept {
    const VariableLengthFormat* const changes = file.context.formats().variable_length_changes;
    if (changes == nullptr) {
        return file.context.unsupported(Module::attribute, H5MOTE_HERE, Feature::datatype_class,
                                        static_cast<std::uint32_t>(TypeClass::reference));
    }
    Writer counter;
    H5MOTE_TRY(encode(file, type, target, part, counter));
    const std::size_t size = counter.written();
    auto* const memory = static_cast<std::byte*>(file.context.allocate(MemoryKind::other, size));
    if (memory == nullptr) {
        return Status::out_of_memory;
    }
    Writer writer(Bytes{memory, size});
    GlobalHeapId id;
    Status status = encode(file, type, target, part, writer);
    status = status == Status::ok ? changes->insert(file, {memory, size}, id) : status;
    file.context.release(MemoryKind::other, memory, size);
    H5MOTE_TRY(status);
    if (is_revised(type)) {
        to.u32(static_cast<std::uint32_t>(size));
    }
    file.shape().write_addr(to, id.collection);
    to.u32(id.index);
    return Status::ok;
}

Status create(FileState& file, ReferenceType type, Address target, const Part& part, Bytes to) noexcept {
    const bool region = type == ReferenceType::region1;
    if (to.size() != reference_bytes(file.shape(), is_revised(type), region)) {
        return file.context.fail(Module::attribute, H5MOTE_HERE, Status::invalid_argument, 0, to.size());
    }
    H5MOTE_TRY(file.check_writable());
    std::byte bytes[24] = {};
    Writer writer(Bytes{bytes, sizeof bytes});
    if (is_revised(type)) {
        writer.u8(static_cast<unsigned>(type));
        writer.u8(0);
    }
    if (type == ReferenceType::object1) {
        file.shape().write_addr(writer, target);
    } else if (type == ReferenceType::object2) {
        ReferenceToken::encode(file.shape(), writer, target);
    } else {
        H5MOTE_TRY(put_into_heap(file, type, target, part, writer));
    }
    std::memcpy(to.data(), bytes, to.size());
    return Status::ok;
}

}  // namespace

std::size_t Object::reference_size(ReferenceType type) const noexcept {
    const LibraryLock lock(context_of(file_));
    return check() == Status::ok ? reference_bytes(file_->shape(), is_revised(type), type == ReferenceType::region1)
                                 : 0;
}

Status Object::create_reference(ReferenceType type, const Object& target, Bytes to) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    if (!same_file(target) || (type != ReferenceType::object1 && type != ReferenceType::object2)) {
        return file_->context.fail(Module::attribute, H5MOTE_HERE, Status::invalid_argument);
    }
    return create(*file_, type, target.address_, {}, to);
}

Status Object::create_region_reference(ReferenceType type, const Object& target, const Dataspace& space,
                                       const Selection& region, Bytes to) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    if (!same_file(target) || (type != ReferenceType::region1 && type != ReferenceType::region2)) {
        return file_->context.fail(Module::attribute, H5MOTE_HERE, Status::invalid_argument);
    }
    return create(*file_, type, target.address_, {&region, &space, {}}, to);
}

Status Object::create_attribute_reference(const Object& target, std::string_view name, Bytes to) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    if (!same_file(target) || name.empty() || name.size() > 0xffff) {
        return file_->context.fail(Module::attribute, H5MOTE_HERE, Status::invalid_argument);
    }
    return create(*file_, ReferenceType::attribute, target.address_, {nullptr, nullptr, name}, to);
}

}  // namespace h5mote
