// H5O (H5Ocopy) - the values: attributes and elements of datasets.

#include "attribute_order.hpp"
#include "checked.hpp"
#include "copier.hpp"

#include <cstring>

namespace h5mote {
namespace {

// The part of a region that the next transfer takes: whole rows of the fastest dimensions, or a part of a row.
class Pieces {
public:
    /// The region has `count` elements in each dimension, from `start` on. A piece has at most `most` elements, but at
    /// least one.
    Pieces(unsigned rank, const std::uint64_t* start, const std::uint64_t* count, std::uint64_t most) noexcept
        : rank_(rank) {
        most = most == 0 ? 1 : most;
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

void clear(Bytes values) noexcept {
    if (!values.empty()) {
        std::memset(values.data(), 0, values.size());
    }
}

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

Status Copier::copy_elements(Dataset& from, Dataset& to, const CopiedProperties& properties) noexcept {
    const DatasetInfo& info = properties.info();
    if (info.layout == Layout::chunked) {
        return is_plain(from, properties.type()) ? copy_chunks(from, to, properties.space())
                                                 : copy_chunks_by_elements(from, to, properties);
    }
    const bool stored = info.external_files == 0 && info.layout != Layout::virtual_dataset &&
                        (info.layout == Layout::compact || info.address != kUndefinedAddress);
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
        bool whole = true;
        for (std::size_t d = 0; d < dims.size(); ++d) {
            const std::uint64_t left = dims[d] > chunk.offset[d] ? dims[d] - chunk.offset[d] : 0;
            count[d] = left < chunk_dims[d] ? left : chunk_dims[d];
            whole = whole && count[d] == chunk_dims[d];
        }
        if (!whole && within(properties.space(), chunk.offset)) {
            H5MOTE_TRY(clear_edge(from, to, properties, chunk.offset));
        }
        H5MOTE_TRY(copy_region(from, to, properties, chunk.offset.data(), count));
    }
    return status == Status::not_found ? Status::ok : status;
}

// Elements beyond the extent must not share the heap objects of the fill value: whoever replaces one of them later
// gives its objects up.
Status Copier::clear_edge(const Dataset& from, Dataset& to, const CopiedProperties& properties,
                          Span<const std::uint64_t> offset) noexcept {
    if (properties.create().fill.empty() || !has_variable_data(properties.type())) {
        return Status::ok;
    }
    StoredForm stored(context());
    H5MOTE_TRY(choose_stored_form(from, properties.type(), stored));
    std::size_t size = stored.type.size();
    for (std::size_t d = 0; d < offset.size(); ++d) {
        if (!checked_multiply<std::size_t>(size, properties.create().chunk.data()[d], size)) {
            return context().fail(Module::dataset, H5MOTE_HERE, Status::over_budget);
        }
    }
    OwnedBytes& buffer = resolving_ ? resolved_ : buffer_;
    H5MOTE_TRY(buffer.reserve(size));
    clear(buffer.first(size));
    // No filter has encoded the zeros. The elements that follow make all filters encode the chunk.
    const std::size_t filters = properties.info().filters;
    const std::uint32_t skipped = filters == 0 ? 0 : 0xffffffffU >> (32 - (filters < 32 ? filters : 32));
    return to.write_chunk(offset, buffer.first(size), skipped);
}

Status Copier::copy_region(Dataset& from, Dataset& to, const CopiedProperties& properties, const std::uint64_t* start,
                           const std::uint64_t* count) noexcept {
    StoredForm stored(context());
    H5MOTE_TRY(choose_stored_form(from, properties.type(), stored));
    const std::size_t in_size = properties.type().size();
    const std::size_t out_size = stored.type.size();
    const bool plain = is_plain(from, properties.type());
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a sound datatype has a size.
    Pieces pieces(static_cast<unsigned>(properties.space().rank()), start, count, options_.buffer / in_size);
    Selection piece;
    std::size_t elements = 0;
    while (pieces.next(piece, elements)) {
        OwnedBytes& buffer = resolving_ ? resolved_ : buffer_;
        const std::size_t in_bytes = elements * in_size;
        const std::size_t out_bytes = plain ? 0 : elements * out_size;
        H5MOTE_TRY(buffer.reserve(in_bytes + out_bytes));
        const Bytes in = buffer.first(in_bytes);
        H5MOTE_TRY(from.read_stored(piece, in));
        if (plain) {
            H5MOTE_TRY(to.write_stored(piece, in));
            continue;
        }
        const Bytes out(buffer.data() + in_bytes, out_bytes);
        clear(out);
        Status status = put_values(from, properties.type(), stored.type, elements, in.data(), out.data());
        status = status == Status::ok ? to.write_stored(piece, out) : status;
        if (status != Status::ok) {
            discard(stored.type, out.data(), elements);
            return status;
        }
    }
    return Status::ok;
}

// Attributes of which only references are of interest when these are set.
Status Copier::copy_attributes(Object& from, Object& to) noexcept {
    ObjectInfo info;
    H5MOTE_TRY(from.info(info, false));
    const bool numbered = H5MOTE_CREATION_ORDER != 0 && info.tracks_attribute_order;
    AttributeIterator attributes(from, numbered ? IndexOrder::creation : IndexOrder::native);
    Attribute attribute;
    Status status;
    std::uint16_t next = 0;  // what the copy numbers the next attribute with
    while ((status = attributes.next(attribute)) == Status::ok) {
        if (!resolving_ || has_references(attribute.type())) {
            // The copy has the number of its original, also where others before it have been removed.
            const auto order = static_cast<std::uint16_t>(attribute.creation_order());
            H5MOTE_TRY(numbered && order != next ? raise_next_order(destination_, to.address(), order) : Status::ok);
            H5MOTE_TRY(copy_attribute(from, attribute, to));
            next = static_cast<std::uint16_t>(order + 1U);
        }
    }
    if (status != Status::not_found) {
        return status;
    }
    std::uint16_t last = 0;
    H5MOTE_TRY(numbered ? read_next_order(file_of(from), from.address(), last) : Status::ok);
    return last > next ? raise_next_order(destination_, to.address(), last) : Status::ok;
}

Status Copier::copy_attribute(Object& from, const Attribute& attribute, Object& to) noexcept {
    NamedDatatype committed;
    StoredForm stored(context());
    if (attribute.type_object() != kUndefinedAddress) {
        H5MOTE_TRY(committed_type(from, attribute.type_object(), committed));
        stored.type = committed.type();
    } else {
        H5MOTE_TRY(choose_stored_form(from, attribute.type(), stored));
    }
    const auto elements = static_cast<std::size_t>(attribute.element_count());
    const std::size_t in_size = attribute.type().size();
    std::size_t in_bytes = 0;
    std::size_t bytes = 0;
    if (attribute.element_count() > SIZE_MAX || !checked_multiply<std::size_t>(elements, in_size, in_bytes) ||
        !checked_multiply<std::size_t>(elements, stored.type.size(), bytes) || in_bytes > SIZE_MAX / 2 ||
        bytes > SIZE_MAX / 2) {
        return context().fail(Module::attribute, H5MOTE_HERE, Status::over_budget, 0, attribute.data_size());
    }
    OwnedBytes& buffer = resolving_ ? resolved_ : buffer_;
    H5MOTE_TRY(buffer.reserve(in_bytes + bytes));
    const Bytes in = buffer.first(in_bytes);
    const Bytes out(buffer.data() + in_bytes, bytes);
    clear(out);
    Status status = attribute.read_stored(0, in);
    if (status == Status::ok && !is_deferred(from, attribute.type())) {
        status = put_values(from, attribute.type(), stored.type, elements, in.data(), out.data());
    }
    if (status == Status::ok) {
        status = to.write_stored_attribute(attribute.name(), attribute.character_set(), stored.type,
                                           committed.valid() ? &committed : nullptr, attribute.dataspace(), out);
    }
    if (status != Status::ok) {
        discard(stored.type, out.data(), elements);
    }
    return status;
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

}  // namespace h5mote
