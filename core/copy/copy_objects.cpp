// H5O (H5Ocopy) - the objects themselves: groups, datasets with their properties, comments.

#include "copier.hpp"
#include "equal_type.hpp"
#include "object_facts.hpp"
#include "pipeline_message.hpp"
#include "stored_dataset.hpp"

#include <h5mote/selection_set.hpp>

namespace h5mote {

// Copies the object to the path at hand, without what its links lead to.
Status Copier::copy_one(Object& from) noexcept {
    ObjectType type;
    ObjectInfo info;
    H5MOTE_TRY(from.type(type));
    H5MOTE_TRY(header_facts(file_of(from), from.address(), info));
    Result<Object> copy = Status::unsupported;
    has_references_ = false;
    merged_ = false;
    switch (type) {
        case ObjectType::group:
            H5MOTE_TRY(copy_group(from, info, copy));
            break;
        case ObjectType::dataset:
            H5MOTE_TRY(copy_dataset(from, info, copy));
            break;
        default:
            H5MOTE_TRY(options_.merge_datatypes ? merge_datatype(from) : Status::ok);
            if (merged_) {
                return Status::ok;
            }
            H5MOTE_TRY(copy_datatype(from, info, copy));
            break;
    }
    H5MOTE_TRY(set_times(destination_, (*copy).address(), info));
    H5MOTE_TRY(copy_comment(from, *copy));
    return finish(from, *copy);
}

// Copies the attributes, and notes the object if it has references that are to be set when all is copied.
Status Copier::finish(Object& from, Object& to) noexcept {
    H5MOTE_TRY(options_.without_attributes ? Status::ok : copy_attributes(from, to));
    const bool references = has_references_ && options_.expand_references;
    has_references_ = false;
    return references ? note(from.duplicate(), {}, to.address()) : Status::ok;
}

// Sets a creation property. Builds without it have an empty type in its place, and meet no dataset that needs it.
template <typename Property, typename Value>
static void set_property([[maybe_unused]] Property& property, [[maybe_unused]] const Value& value) noexcept {
    if constexpr (!std::is_empty_v<Property>) {
        property = value;
    }
}

// How the header `info` keeps attributes. Only builds that meet other headers than their own can keep them otherwise.
template <typename Attributes = AttributesOrDefault>
static Attributes attributes_of([[maybe_unused]] const ObjectInfo& info) noexcept {
    Attributes attributes;
    if constexpr (!std::is_empty_v<Attributes>) {
        attributes.track_order = (info.header.flags & HeaderPrefix::kAttributesTracked) != 0;
        attributes.unindexed_order = (info.header.flags & HeaderPrefix::kAttributesIndexed) == 0;
        attributes.max_compact = info.max_compact_attributes;
        attributes.min_dense = info.min_dense_attributes;
    }
    return attributes;
}

Status Copier::copy_group(Object& from, const ObjectInfo& facts, Result<Object>& copy) noexcept {
    const Result<Group> group = Group::from(from.duplicate());
    H5MOTE_TRY(group.status());
    GroupInfo info;
    H5MOTE_TRY((*group).group_info(info));
    GroupCreate create;
    create.track_link_order = info.tracks_order;
    create.max_compact = info.max_compact;
    create.min_dense = info.min_dense;
    create.estimated_links = info.estimated_links;
    create.estimated_name_length = info.estimated_name_length;
    set_property(create.unindexed_link_order, !info.indexes_order);
    create.attributes = attributes_of(facts);
    create.track_times = facts.has_times;
    Result<Group> made = staging_.create_group(path_.view(), create);
    H5MOTE_TRY(made.status());
    copy = static_cast<Object&&>(*made);
    if (info.tracks_order && static_cast<std::uint64_t>(info.max_order) != info.links) {
        gaps_ = true;
        H5MOTE_TRY(note(from.duplicate(), {}, (*copy).address()));  // for the number of its next link
    }
    return copied_.add(&file_of(from), from.address(), (*copy).address());
}

Status Copier::copy_datatype(Object& from, const ObjectInfo& info, Result<Object>& copy) noexcept {
    const Result<NamedDatatype> type = NamedDatatype::from(from.duplicate());
    H5MOTE_TRY(type.status());
    StoredForm stored(context());
    H5MOTE_TRY(choose_stored_form(from, (*type).type(), stored));
    Result<NamedDatatype> made = staging_.commit_stored(path_.view(), stored.type, attributes_of(info), info.has_times);
    H5MOTE_TRY(made.status());
    copy = made->duplicate();
    return copied_.add(&file_of(from), from.address(), (*copy).address());
}

// Makes a link to a committed datatype that is equal, if the destination's file has one already.
Status Copier::merge_datatype(Object& from) noexcept {
    const Result<NamedDatatype> type = NamedDatatype::from(from.duplicate());
    H5MOTE_TRY(type.status());
    Address found = kUndefinedAddress;
    H5MOTE_TRY(find_equal_type(from, from.address(), (*type).type(), found));
    merged_ = found != kUndefinedAddress;
    if (!merged_) {
        return Status::ok;
    }
    const Result<Object> equal = staging_.open_object_at(found);
    H5MOTE_TRY(equal.status());
    H5MOTE_TRY(staging_.create_hard_link(path_.view(), *equal));
    return copied_.add(&file_of(from), from.address(), found);
}

// The committed datatype in the destination's file for one that the object `user` has: a copy of it or, if the options
// ask for that, an equal one that is there already.
Status Copier::committed_type(Object& user, Address address, NamedDatatype& type) noexcept {
    Address copy = copy_of(user, address);
    if (copy == kUndefinedAddress) {
        Result<Object> original = Group(file_of(user), user.address()).open_object_at(address);
        H5MOTE_TRY(original.status());
        const Result<NamedDatatype> stored = NamedDatatype::from(original->duplicate());
        H5MOTE_TRY(stored.status());
        H5MOTE_TRY(options_.merge_datatypes ? find_equal_type(user, address, (*stored).type(), copy) : Status::ok);
        if (copy == kUndefinedAddress) {
            OwnedText name(context());
            H5MOTE_TRY(number_name('t', name));
            StoredForm form(context());
            H5MOTE_TRY(choose_stored_form(user, (*stored).type(), form));
            ObjectInfo info;
            H5MOTE_TRY(header_facts(file_of(user), address, info));
            Result<NamedDatatype> made =
                staging_.commit_stored(name.view(), form.type, attributes_of(info), info.has_times);
            H5MOTE_TRY(made.status());
            copy = made->address();
            H5MOTE_TRY(set_times(destination_, copy, info));
            // Its attributes may have committed datatypes as well: they are copied when this tree is complete.
            H5MOTE_TRY(copy_comment(*original, *made));
            H5MOTE_TRY(note(static_cast<Object&&>(*original), {}, copy, true));
        }
        H5MOTE_TRY(copied_.add(&file_of(user), address, copy));
    }
    Result<Object> object = staging_.open_object_at(copy);
    H5MOTE_TRY(object.status());
    Result<NamedDatatype> opened = NamedDatatype::from(static_cast<Object&&>(*object));
    H5MOTE_TRY(opened.status());
    type = static_cast<NamedDatatype&&>(*opened);
    return Status::ok;
}

// Looks in the destination's file, and among the copies that are being made, for a committed datatype that equals the
// one at `address` of the file of `user`, which is `type`, in the form that it has there. `found` stays undefined if
// there is none.
Status Copier::find_equal_type(const Object& user, Address address, DatatypeView type, Address& found) noexcept {
    if (is_same_file(user)) {
        found = address;
        return Status::ok;
    }
    StoredForm stored(context());
    H5MOTE_TRY(choose_stored_form(user, type, stored));
    EqualType equal(context(), root_, stored.type);
    for (const std::string_view path : options_.merge_paths) {
        H5MOTE_TRY(equal.search(root_, path));
    }
    H5MOTE_TRY(equal.search(root_));
    H5MOTE_TRY(equal.search(staging_));
    found = equal.found();
    return Status::ok;
}

Status Copier::copy_dataset(Object& from, const ObjectInfo& info, Result<Object>& copy) noexcept {
    Result<Dataset> source = Dataset::from(from.duplicate());
    H5MOTE_TRY(source.status());
    CopiedProperties properties(context());
    H5MOTE_TRY(properties.read(*source));
    properties.set_prefix(attributes_of(info), info.has_times);
    const Address type_object = properties.info().type_object;
    NamedDatatype type;
    StoredForm stored(context());
    if (type_object != kUndefinedAddress) {
        H5MOTE_TRY(committed_type(from, type_object, type));
        stored.type = type.type();
    } else {
        H5MOTE_TRY(choose_stored_form(from, properties.type(), stored));
    }
    H5MOTE_TRY(copy_fill(from, properties, stored.type));
    Result<Dataset> made = staging_.make_copy(
        path_.view(), {stored.type, type.valid() ? type.address() : kUndefinedAddress, properties.space(),
                       properties.create(), properties.pipeline(), properties.info().address != kUndefinedAddress});
    if (!made) {
        discard(stored.type, properties.create().fill.data(), properties.create().fill.empty() ? 0 : 1);
        return made.status();
    }
    copy = made->duplicate();
    H5MOTE_TRY(copied_.add(&file_of(from), from.address(), (*copy).address()));
    H5MOTE_TRY(is_deferred(from, properties.type()) ? Status::ok : copy_elements(*source, *made, properties));
    return made->close();
}

// References in a fill value lead nowhere in another file: the message that has them does not change any more.
Status Copier::copy_fill(Object& from, CopiedProperties& properties, DatatypeView type) noexcept {
    if (properties.create().fill.empty() || is_plain(from, properties.type())) {
        return Status::ok;
    }
    ConstBytes old;
    Bytes fill;
    H5MOTE_TRY(properties.replace_fill(type.size(), old, fill));
    const Status status = put_values(from, properties.type(), type, 1, old.data(), fill.data());
    if (status != Status::ok) {
        discard(type, fill.data(), 1);
    }
    return status;
}

Status CopiedProperties::replace_fill(std::size_t size, ConstBytes& old, Bytes& fill) noexcept {
    const std::size_t old_size = create_.fill.size();
    H5MOTE_TRY(fill_.reserve(old_size + size, old_size));
    old = fill_.first(old_size);
    fill = Bytes(fill_.data() + old_size, size);
    std::memset(fill.data(), 0, size);
    create_.fill = fill;
    return Status::ok;
}

Status Copier::copy_comment(const Object& from, Object& to) noexcept {
    std::size_t length = 0;
    H5MOTE_TRY(from.comment({}, length));
    if (length == 0) {
        return Status::ok;
    }
    H5MOTE_TRY(buffer_.reserve(length));
    const Span<char> text(reinterpret_cast<char*>(buffer_.data()), length);
    H5MOTE_TRY(from.comment(text, length));
    return to.set_comment({text.data(), length});
}

struct CopiedProperties::Mapping {
    explicit Mapping(Context& context) noexcept : source(context), destination(context) {}

    VirtualMapping names;
    SelectionSet source;
    SelectionSet destination;
};

CopiedProperties::~CopiedProperties() {
    for (std::size_t i = 0; i < mapping_count_; ++i) {
        mappings_[i].~Mapping();
    }
    context_.release(MemoryKind::other, mappings_, info_.virtual_mappings * sizeof(Mapping));
}

// The mappings lead to the same sources. Nobody knows the extents of these, and nothing needs them.
Status CopiedProperties::read_mappings(Dataset& from) noexcept {
    const std::size_t count = info_.virtual_mappings;
    H5MOTE_TRY(files_.reserve(count * sizeof(NewMapping)));
    mappings_ = static_cast<Mapping*>(context_.allocate(MemoryKind::other, count * sizeof(Mapping)));
    if (mappings_ == nullptr && count != 0) {
        return Status::out_of_memory;
    }
    auto* const list = reinterpret_cast<NewMapping*>(files_.data());
    for (; mapping_count_ < count; ++mapping_count_) {
        Mapping& mapping = *::new (static_cast<void*>(mappings_ + mapping_count_)) Mapping(context_);
        const Status status =
            from.virtual_mapping(mapping_count_, mapping.names, &mapping.source, &mapping.destination);
        if (status != Status::ok) {
            mapping.~Mapping();
            return status;
        }
        ::new (static_cast<void*>(list + mapping_count_))
            NewMapping{mapping.names.file_name(), mapping.names.dataset_name(), mapping.source.view(), nullptr,
                       mapping.destination.view()};
    }
    set_property(create_.mappings, Span<const NewMapping>(list, count));
    return Status::ok;
}

Status CopiedProperties::read(Dataset& from) noexcept {
    H5MOTE_TRY(from.info(info_));
    H5MOTE_TRY(from.dataspace(space_));
    H5MOTE_TRY(type_.reserve(info_.type_length));
    H5MOTE_TRY(from.datatype(type_.first(info_.type_length), view_));
    create_.layout = info_.layout;
    create_.allocation = info_.allocation_time;
    create_.fill_time = info_.fill_time;
    create_.fill_undefined = info_.fill == FillState::undefined;
    create_.reserve = 0;
    if (info_.fill == FillState::user_defined) {
        H5MOTE_TRY(fill_.reserve(info_.element_size));
        H5MOTE_TRY(from.stored_fill_value(fill_.first(info_.element_size)));
        create_.fill = fill_.first(info_.element_size);
    }
    H5MOTE_TRY(info_.layout == Layout::virtual_dataset ? read_mappings(from) : Status::ok);
    H5MOTE_TRY(info_.external_files != 0 ? read_external(from) : Status::ok);
    return info_.layout == Layout::chunked ? read_chunks(from) : Status::ok;
}

// The copy has its data in the same files, as with H5Ocopy.
Status CopiedProperties::read_external(Dataset& from) noexcept {
    ExternalFile info;
    std::size_t length = 0;
    const std::size_t list = info_.external_files * sizeof(NewExternalFile);
    for (std::size_t i = 0; i < info_.external_files; ++i) {
        H5MOTE_TRY(from.external_file(i, info, {}));
        length += info.name_length;
    }
    H5MOTE_TRY(files_.reserve(list + length));
    auto* const files = reinterpret_cast<NewExternalFile*>(files_.data());
    char* name = reinterpret_cast<char*>(files_.data()) + list;
    for (std::size_t i = 0; i < info_.external_files; ++i) {
        H5MOTE_TRY(from.external_file(i, info, {}));
        H5MOTE_TRY(from.external_file(i, info, {name, info.name_length}));
        ::new (static_cast<void*>(files + i)) NewExternalFile{{name, info.name_length}, info.offset, info.size};
        name += info.name_length;
    }
    set_property(create_.external, Span<const NewExternalFile>(files, info_.external_files));
    return Status::ok;
}

Status CopiedProperties::read_chunks(Dataset& from) noexcept {
    set_property(create_.unfiltered_edges, info_.edge_chunks_unfiltered);
    std::uint64_t dims[H5MOTE_MAX_RANK];
    H5MOTE_TRY(from.chunk_dims({dims, info_.rank}));
    for (unsigned d = 0; d < info_.rank; ++d) {
        if (dims[d] > 0xffffffffU) {
            return context_.unsupported(Module::dataset, H5MOTE_HERE, Feature::layout_version);
        }
        create_.chunk.push_back(static_cast<std::uint32_t>(dims[d]));
    }
    return read_filters(from);
}

// The client data of all filters stand in one block of memory, encoded as FilterSpec wants them.
Status CopiedProperties::read_filters(Dataset& from) noexcept {
    FilterInfo info;
    std::size_t count = 0;
    std::size_t longest = 0;
    for (std::size_t i = 0; i < info_.filters; ++i) {
        H5MOTE_TRY(from.filter(i, info));
        count += info.value_count;
        longest = info.name_length > longest ? info.name_length : longest;
    }
    H5MOTE_TRY(values_.reserve(2 * 4 * count + longest));
    auto* const numbers = reinterpret_cast<std::uint32_t*>(values_.data() + 4 * count);
    const Span<char> name(reinterpret_cast<char*>(values_.data() + 2 * 4 * count), longest);
    std::byte* at = values_.data();
    for (std::size_t i = 0; i < info_.filters; ++i) {
        H5MOTE_TRY(from.filter(i, info));
        H5MOTE_TRY(from.filter(i, info, name, {numbers, info.value_count}));
        FilterSpec spec;
        spec.id = info.id;
        spec.optional = (info.flags & 1U) != 0;
        spec.value_count = info.value_count;
        spec.encoded = at;
        for (unsigned n = 0; n < info.value_count; ++n, at += 4) {
            store_le<std::uint32_t>(at, numbers[n]);
        }
        create_.filters.push_back(spec);
        H5MOTE_TRY(add_to_pipeline(spec, {name.data(), info.name_length}));
    }
    return Status::ok;
}

Status CopiedProperties::add_to_pipeline(const FilterSpec& spec, std::string_view name) noexcept {
    const auto encode = [&](Writer& writer) {
        if (pipeline_size_ == 0) {
            encode_pipeline(writer, info_.filters);
        }
        encode_filter(writer, spec, name);
    };
    Writer counter;
    encode(counter);
    H5MOTE_TRY(pipeline_.reserve(pipeline_size_ + counter.written(), pipeline_size_));
    Writer writer({pipeline_.data() + pipeline_size_, counter.written()});
    encode(writer);
    pipeline_size_ += counter.written();
    return Status::ok;
}

}  // namespace h5mote
