// H5O (H5Ocopy) - the values: attributes, elements of datasets, and the references in them.

#include "checked.hpp"
#include "copier.hpp"
#include "prepare.hpp"

#include <h5mote/variable_length.hpp>

namespace h5mote {
namespace {

// Whether values mean something only within their file: references, and data in the global heap.
bool has_references(DatatypeView type) noexcept { return contains_class(type, TypeClass::reference); }
bool has_variable_data(DatatypeView type) noexcept { return contains_class(type, TypeClass::variable_length); }

// Gives variable-length values in memory back at the end of a scope.
class Reclaimed {
public:
    Reclaimed(Context& context, DatatypeView type, std::size_t count, std::byte* values) noexcept
        : context_(context), type_(type), count_(count), values_(values) {}
    Reclaimed(const Reclaimed&) = delete;
    Reclaimed& operator=(const Reclaimed&) = delete;
    ~Reclaimed() { (void)reclaim(context_, type_, count_, type_.size(), values_); }

private:
    Context& context_;
    DatatypeView type_;
    std::size_t count_;
    std::byte* values_;
};

// The part of a region that the next transfer takes: whole rows of the fastest dimensions, or a part of a row.
class Pieces {
public:
    /// The region has `count` elements in each dimension, from `start` on. A piece has at most `most` elements, but at
    /// least one.
    Pieces(unsigned rank, const std::uint64_t* start, const std::uint64_t* count, std::uint64_t most) noexcept
        : rank_(rank) {
        for (unsigned d = rank; d-- > 0;) {
            first_[d] = start[d];
            size_[d] = count[d];
            block_[d] = count[d] < most ? count[d] : most;
            most = block_[d] == 0 || block_[d] < count[d] ? 1 : most / block_[d];
            done_ = done_ || count[d] == 0;
        }
    }

    /// The next piece, valid until the next call; false: there are no more.
    bool next(Selection& piece, std::size_t& elements) noexcept {
        if (done_) {
            return false;
        }
        elements = 1;
        for (unsigned d = 0; d < rank_; ++d) {
            const std::uint64_t left = size_[d] - next_[d];
            start_[d] = first_[d] + next_[d];
            count_[d] = left < block_[d] ? left : block_[d];
            elements *= static_cast<std::size_t>(count_[d]);
        }
        piece = rank_ == 0 ? Selection::all()
                           : Selection::hyperslab(Span<const std::uint64_t>(start_, rank_),
                                                  Span<const std::uint64_t>(count_, rank_));
        advance();
        return true;
    }

private:
    void advance() noexcept {
        for (unsigned d = rank_; d-- > 0;) {
            next_[d] += block_[d];
            if (next_[d] < size_[d]) {
                return;
            }
            next_[d] = 0;
        }
        done_ = true;
    }

    std::uint64_t first_[H5MOTE_MAX_RANK] = {};
    std::uint64_t size_[H5MOTE_MAX_RANK] = {};
    std::uint64_t block_[H5MOTE_MAX_RANK] = {};
    std::uint64_t next_[H5MOTE_MAX_RANK] = {};
    std::uint64_t start_[H5MOTE_MAX_RANK] = {};
    std::uint64_t count_[H5MOTE_MAX_RANK] = {};
    unsigned rank_;
    bool done_ = false;
};

// Whether any element of a chunk is one of the dataset. A power cut may leave chunks of which none is, and nobody reads
// them.
bool within(const Dataspace& space, Span<const std::uint64_t> offset) noexcept {
    bool inside = true;
    for (std::size_t d = 0; d < offset.size(); ++d) {
        inside = inside && offset[d] < space.dims()[d];
    }
    return inside;
}

}  // namespace

bool Copier::is_plain(const Object& from, DatatypeView type) noexcept {
    const bool references = has_references(type) && !is_same_file(from);
    has_references_ = has_references_ || references;
    return !references && !has_variable_data(type);
}

// The type in which values of the stored type are in memory on their way.
Status Copier::choose_memory_type(DatatypeView stored, DatatypeView& type) noexcept {
    type = stored;
    if (!has_variable_data(stored)) {
        return Status::ok;
    }
    const std::size_t length = native_type_length(stored);
    H5MOTE_TRY(type_.reserve(length));
    return native_type(stored, type_.first(length), type);
}

// The type with which a call creates what the destination's file stores as `stored`: the same, or the memory type of
// data of variable length. unsupported: the file would store that in another way.
Status Copier::choose_created_type(DatatypeView stored, DatatypeView& type) noexcept {
    H5MOTE_TRY(choose_memory_type(stored, type));
    if (!has_variable_data(stored)) {
        return Status::ok;
    }
    const VariableLengthFormat* const changes = context().formats().variable_length_changes;
    bool same = false;
    if (changes != nullptr) {
        Bytes made;
        H5MOTE_TRY(changes->file_type(destination_, type, made));
        same = equal(DatatypeView(made), stored);
        context().release(MemoryKind::type, made.data(), made.size());
    }
    return same ? Status::ok
                : context().unsupported(Module::datatype, H5MOTE_HERE, Feature::datatype_class,
                                        static_cast<std::uint32_t>(TypeClass::variable_length));
}

Status Copier::copy_elements(Dataset& from, Dataset& to, const CopiedProperties& properties) noexcept {
    const DatasetInfo& info = properties.info();
    if (is_plain(from, properties.type()) && info.layout == Layout::chunked) {
        return copy_chunks(from, to, properties.space());
    }
    if (info.layout == Layout::chunked) {
        return copy_chunks_by_elements(from, to, properties);
    }
    const bool stored = info.layout == Layout::compact || info.address != kUndefinedAddress;
    if (!stored || properties.space().space_class() == DataspaceClass::null) {
        return Status::ok;
    }
    static constexpr std::uint64_t kFirst[H5MOTE_MAX_RANK] = {};
    return copy_region(from, to, properties, kFirst, properties.space().dims().data());
}

// Chunks are copied as they are stored: nothing is decoded, and chunks that are not there need no space.
Status Copier::copy_chunks(Dataset& from, Dataset& to, const Dataspace& space) noexcept {
    ChunkIterator chunks(from);
    ChunkInfo chunk;
    Status status;
    while ((status = chunks.next(chunk)) == Status::ok) {
        if (!within(space, chunk.offset)) {
            continue;
        }
        if (chunk.size > SIZE_MAX / 2) {
            return context().fail(Module::dataset, H5MOTE_HERE, Status::over_budget, 0, chunk.size);
        }
        const auto size = static_cast<std::size_t>(chunk.size);
        H5MOTE_TRY(buffer_.reserve(size));
        ChunkInfo read;
        H5MOTE_TRY(from.read_chunk(chunk.offset, buffer_.first(size), read));
        H5MOTE_TRY(to.write_chunk(chunk.offset, buffer_.first(size), read.filter_mask));
    }
    return status == Status::not_found ? Status::ok : status;
}

// The elements of the chunks that are there.
Status Copier::copy_chunks_by_elements(Dataset& from, Dataset& to, const CopiedProperties& properties) noexcept {
    const Span<const std::uint64_t> dims = properties.space().dims();
    const std::uint32_t* const chunk_dims = properties.create().chunk.data();
    ChunkIterator chunks(from);
    ChunkInfo chunk;
    Status status;
    while ((status = chunks.next(chunk)) == Status::ok) {
        std::uint64_t count[H5MOTE_MAX_RANK] = {};
        for (std::size_t d = 0; d < dims.size(); ++d) {
            const std::uint64_t left = dims[d] > chunk.offset[d] ? dims[d] - chunk.offset[d] : 0;
            count[d] = left < chunk_dims[d] ? left : chunk_dims[d];
        }
        H5MOTE_TRY(copy_region(from, to, properties, chunk.offset.data(), count));
    }
    return status == Status::not_found ? Status::ok : status;
}

Status Copier::copy_region(Dataset& from, Dataset& to, const CopiedProperties& properties, const std::uint64_t* start,
                           const std::uint64_t* count) noexcept {
    DatatypeView type;
    H5MOTE_TRY(choose_memory_type(properties.type(), type));
    Pieces pieces(static_cast<unsigned>(properties.space().rank()), start, count, options_.buffer / type.size());
    Selection piece;
    std::size_t elements = 0;
    while (pieces.next(piece, elements)) {
        OwnedBytes& buffer = resolving_ ? resolved_ : buffer_;
        H5MOTE_TRY(buffer.reserve(elements * type.size()));
        const Bytes values = buffer.first(elements * type.size());
        if (!has_variable_data(type)) {
            H5MOTE_TRY(from.read_stored(piece, values));
            H5MOTE_TRY(translate(from, type, elements, values.data()));
            H5MOTE_TRY(to.write(piece, type, values));
            continue;
        }
        H5MOTE_TRY(from.read(piece, type, values));
        const Reclaimed reclaimed(context(), type, elements, values.data());
        H5MOTE_TRY(translate(from, type, elements, values.data()));
        H5MOTE_TRY(to.write(piece, type, values));
    }
    return Status::ok;
}

// Attributes of which only references are of interest when these are set.
Status Copier::copy_attributes(Object& from, Object& to) noexcept {
    ObjectInfo info;
    H5MOTE_TRY(from.info(info, false));
    AttributeIterator attributes(from, info.tracks_attribute_order ? IndexOrder::creation : IndexOrder::native);
    Attribute attribute;
    Status status;
    while ((status = attributes.next(attribute)) == Status::ok) {
        if (!resolving_ || has_references(attribute.type())) {
            H5MOTE_TRY(copy_attribute(from, attribute, to));
        }
    }
    return status == Status::not_found ? Status::ok : status;
}

Status Copier::copy_attribute(Object& from, const Attribute& attribute, Object& to) noexcept {
    NamedDatatype committed;
    if (attribute.type_object() != kUndefinedAddress) {
        H5MOTE_TRY(committed_type(from, attribute.type_object(), committed));
    }
    const auto elements = static_cast<std::size_t>(attribute.element_count());
    DatatypeView type;
    H5MOTE_TRY(choose_created_type(attribute.type(), type));
    std::size_t size = 0;
    if (attribute.element_count() > SIZE_MAX || !checked_multiply<std::size_t>(elements, type.size(), size)) {
        return context().fail(Module::attribute, H5MOTE_HERE, Status::over_budget, 0, attribute.data_size());
    }
    OwnedBytes& buffer = resolving_ ? resolved_ : buffer_;
    H5MOTE_TRY(buffer.reserve(size));
    const Bytes value = buffer.first(size);
    if (is_plain(from, attribute.type()) || !has_variable_data(type)) {
        H5MOTE_TRY(attribute.read_stored(0, value));
        H5MOTE_TRY(translate(from, type, elements, value.data()));
        return write_value(attribute, committed, to, type, value);
    }
    H5MOTE_TRY(attribute.read(type, value));
    const Reclaimed reclaimed(context(), type, elements, value.data());
    H5MOTE_TRY(translate(from, type, elements, value.data()));
    return write_value(attribute, committed, to, type, value);
}

Status Copier::write_value(const Attribute& attribute, const NamedDatatype& committed, Object& to, DatatypeView type,
                           Bytes value) noexcept {
    return committed.valid() ? to.write_attribute(attribute.name(), committed, attribute.dataspace(), value)
                             : to.write_attribute_as(attribute.name(), type, type, &attribute.dataspace(), value);
}

// Sets the references in a copy, whose original is `from`.
Status Copier::set_references(Object& from, Object& to) noexcept {
    resolving_ = true;
    H5MOTE_TRY(options_.without_attributes ? Status::ok : copy_attributes(from, to));
    ObjectType type;
    H5MOTE_TRY(from.type(type));
    if (type == ObjectType::dataset) {
        Result<Dataset> source = Dataset::from(from.duplicate());
        H5MOTE_TRY(source.status());
        Result<Dataset> copy = Dataset::from(to.duplicate());
        H5MOTE_TRY(copy.status());
        CopiedProperties properties(context());
        H5MOTE_TRY(properties.read(*source));
        H5MOTE_TRY(has_references(properties.type()) ? copy_elements(*source, *copy, properties) : Status::ok);
        H5MOTE_TRY(copy->close());
    }
    resolving_ = false;
    return Status::ok;
}

// References among values in memory. Within one file they stay as they are. In another file they lead nowhere at first,
// and set_references() makes them lead to the copies. Types are nested no deeper than H5MOTE_MAX_TYPE_DEPTH.
// NOLINTNEXTLINE(misc-no-recursion)
Status Copier::translate(Object& from, DatatypeView type, std::size_t count, std::byte* values) noexcept {
    if (is_same_file(from) || !has_references(type)) {
        return Status::ok;
    }
    CompoundMembers members(type);
    CompoundMember member;
    switch (type.type_class()) {
        case TypeClass::compound:
            while (members.next(member)) {
                for (std::size_t i = 0; i < count; ++i) {
                    std::byte* const at = values + i * type.size() + member.offset;
                    H5MOTE_TRY(translate(from, member.type, member.count(), at));
                }
            }
            return Status::ok;
        case TypeClass::array:
            return translate(from, type.base(), count * (type.size() / type.base().size()), values);
        case TypeClass::variable_length:
            for (std::size_t i = 0; i < count; ++i) {
                VariableLength sequence;
                std::memcpy(&sequence, values + i * type.size(), sizeof sequence);
                H5MOTE_TRY(translate(from, type.base(), sequence.count, static_cast<std::byte*>(sequence.data)));
            }
            return Status::ok;
        default:
            for (std::size_t i = 0; i < count; ++i) {
                H5MOTE_TRY(translate_one(from, type, values + i * type.size()));
            }
            return Status::ok;
    }
}

Status Copier::translate_one(Object& from, DatatypeView reference, std::byte* value) noexcept {
    const Bytes stored(value, reference.size());
    ReferenceTarget target;
    if (resolving_) {
        H5MOTE_TRY(from.reference_target(reference.reference_type(), stored, target));
    }
    if (!resolving_ || target.null) {
        std::memset(value, 0, stored.size());
        return Status::ok;
    }
    if (reference.reference_type() != ReferenceType::object1) {
        return context().unsupported(Module::datatype, H5MOTE_HERE, Feature::datatype_class);
    }
    Address copy = copy_of(from, target.address);
    if (copy == kUndefinedAddress) {
        H5MOTE_TRY(copy_referenced(from, stored));
        copy = copy_of(from, target.address);
    }
    destination_.shape().store_addr(value, copy);
    return Status::ok;
}

// Copies an object that only a reference leads to, while the references of a copy are set.
Status Copier::copy_referenced(Object& from, ConstBytes stored) noexcept {
    Result<Object> object = from.open_reference(ReferenceType::object1, stored);
    H5MOTE_TRY(object.status());
    OwnedText name(context());
    H5MOTE_TRY(number_name('r', name));
    resolving_ = false;
    const Status status = copy_tree(*object, name.view());
    resolving_ = true;
    return status;
}

}  // namespace h5mote
