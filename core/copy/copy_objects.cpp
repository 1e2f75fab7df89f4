// H5O (H5Ocopy) - the objects themselves: groups, datasets with their properties, comments.

#include "copier.hpp"

namespace h5mote {

// Copies the object to the path at hand, without what its links lead to.
Status Copier::copy_one(Object& from) noexcept {
    ObjectType type;
    H5MOTE_TRY(from.type(type));
    Result<Object> copy = Status::unsupported;
    has_references_ = false;
    switch (type) {
        case ObjectType::group:
            H5MOTE_TRY(copy_group(from, copy));
            break;
        case ObjectType::dataset:
            H5MOTE_TRY(copy_dataset(from, copy));
            break;
        default:
            H5MOTE_TRY(copy_datatype(from, copy));
            break;
    }
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

Status Copier::copy_group(Object& from, Result<Object>& copy) noexcept {
    const Result<Group> group = Group::from(from.duplicate());
    H5MOTE_TRY(group.status());
    GroupInfo info;
    H5MOTE_TRY((*group).group_info(info));
    GroupCreate create;
    create.track_link_order = info.tracks_order;
    Result<Group> made = staging_.create_group(path_.view(), create);
    H5MOTE_TRY(made.status());
    copy = static_cast<Object&&>(*made);
    return copied_.add(&file_of(from), from.address(), (*copy).address());
}

Status Copier::copy_datatype(Object& from, Result<Object>& copy) noexcept {
    const Result<NamedDatatype> type = NamedDatatype::from(from.duplicate());
    H5MOTE_TRY(type.status());
    Result<NamedDatatype> made = staging_.commit_datatype(path_.view(), (*type).type());
    H5MOTE_TRY(made.status());
    copy = made->duplicate();
    return copied_.add(&file_of(from), from.address(), (*copy).address());
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
        H5MOTE_TRY(options_.merge_datatypes ? find_equal_type((*stored).type(), copy) : Status::ok);
        if (copy == kUndefinedAddress) {
            OwnedText name(context());
            H5MOTE_TRY(number_name('t', name));
            Result<NamedDatatype> made = staging_.commit_datatype(name.view(), (*stored).type());
            H5MOTE_TRY(made.status());
            copy = made->address();
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

// Looks for a committed datatype with a link in the destination's root group. `found` stays undefined if none is equal.
Status Copier::find_equal_type(DatatypeView type, Address& found) noexcept {
    LinkIterator links(root_);
    Link link;
    Status status = Status::not_found;
    while (found == kUndefinedAddress && (status = links.next(link)) == Status::ok) {
        if (link.type() != LinkType::hard) {
            continue;
        }
        Result<Object> object = root_.open_object_at(link.address());
        H5MOTE_TRY(object.status());
        const Result<NamedDatatype> other = NamedDatatype::from(static_cast<Object&&>(*object));
        if (other && equal((*other).type(), type)) {
            found = link.address();
        } else if (!other && other.status() != Status::not_found) {
            return other.status();
        }
    }
    return found != kUndefinedAddress || status == Status::not_found ? Status::ok : status;
}

Status Copier::copy_dataset(Object& from, Result<Object>& copy) noexcept {
    Result<Dataset> source = Dataset::from(from.duplicate());
    H5MOTE_TRY(source.status());
    CopiedProperties properties(context());
    H5MOTE_TRY(properties.read(*source));
    const Address type_object = properties.info().type_object;
    NamedDatatype type;
    DatatypeView created;
    if (type_object != kUndefinedAddress) {
        H5MOTE_TRY(committed_type(from, type_object, type));
    } else {
        H5MOTE_TRY(choose_created_type(properties.type(), created));
    }
    Result<Dataset> made =
        type_object != kUndefinedAddress
            ? staging_.create_dataset(path_.view(), type, properties.space(), properties.create())
            : staging_.create_dataset(path_.view(), created, properties.space(), properties.create());
    H5MOTE_TRY(made.status());
    copy = made->duplicate();
    H5MOTE_TRY(copied_.add(&file_of(from), from.address(), (*copy).address()));
    H5MOTE_TRY(copy_elements(*source, *made, properties));
    return made->close();
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

Status CopiedProperties::read(Dataset& from) noexcept {
    H5MOTE_TRY(from.info(info_));
    if (info_.external_files != 0) {
        return context_.unsupported(Module::dataset, H5MOTE_HERE, Feature::external_storage);
    }
    if (info_.layout == Layout::virtual_dataset) {
        return context_.unsupported(Module::dataset, H5MOTE_HERE, Feature::layout_class);
    }
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
    return info_.layout == Layout::chunked ? read_chunks(from) : Status::ok;
}

Status CopiedProperties::read_chunks(Dataset& from) noexcept {
    if (info_.edge_chunks_unfiltered) {
        return context_.unsupported(Module::dataset, H5MOTE_HERE, Feature::layout_class);
    }
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
    for (std::size_t i = 0; i < info_.filters; ++i) {
        H5MOTE_TRY(from.filter(i, info));
        count += info.value_count;
    }
    H5MOTE_TRY(values_.reserve(2 * 4 * count));
    auto* const numbers = reinterpret_cast<std::uint32_t*>(values_.data() + 4 * count);
    std::byte* at = values_.data();
    for (std::size_t i = 0; i < info_.filters; ++i) {
        H5MOTE_TRY(from.filter(i, info));
        H5MOTE_TRY(from.filter(i, info, {}, {numbers, info.value_count}));
        FilterSpec spec;
        spec.id = info.id;
        spec.optional = (info.flags & 1U) != 0;
        spec.value_count = info.value_count;
        spec.encoded = at;
        for (unsigned n = 0; n < info.value_count; ++n, at += 4) {
            store_le<std::uint32_t>(at, numbers[n]);
        }
        create_.filters.push_back(spec);
    }
    return Status::ok;
}

}  // namespace h5mote
