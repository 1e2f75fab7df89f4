// H5A - attributes of an object, by name: their values, and what is known of them.

#include "attribute_storage.hpp"
#include "prepare.hpp"

#include <h5mote/object.hpp>

namespace h5mote {

Status Object::read_attribute(std::string_view name, DatatypeView type, Bytes to) const noexcept {
    const LibraryLock lock(context_of(file_));
    const Result<Attribute> attribute = open_attribute(name);
    H5MOTE_TRY(attribute.status());
    return (*attribute).read(type, to);
}

namespace {

// Reads a string of any length, which ends at its first NUL, if it has one.
Status read_variable_text(FileState& file, const Attribute& attribute, Span<char> to, std::size_t& length) noexcept {
    FileSource holder(file);
    const FileValues values = holder.values(file, FileValues::Side::from);
    std::byte stored[20];
    const std::size_t size = 8U + values.sizeof_address;
    if (values.source == nullptr || attribute.data_size() != size || size > sizeof stored) {
        return file.context.unsupported(Module::attribute, H5MOTE_HERE, Feature::type_conversion);
    }
    H5MOTE_TRY(attribute.read_stored(0, {stored, size}));
    const ConstBytes id{stored + 4, size - 4};
    GlobalHeapId place;
    length = 0;
    if (!place.decode(file.shape(), id) || place.is_nil()) {
        return Status::ok;
    }
    // The end of the text is found first, piece by piece, so that a text that does not fit is not copied at all.
    bool ended = false;
    for (std::size_t left = load_le<std::uint32_t>(stored); left > 0 && !ended;) {
        std::byte piece[64];
        const std::size_t now = left < sizeof piece ? left : sizeof piece;
        H5MOTE_TRY(values.source->read(id, length, {piece, now}));
        std::size_t i = 0;
        while (i < now && piece[i] != std::byte{0}) {
            ++i;
        }
        ended = i < now;
        length += i;
        left -= now;
    }
    if (length > to.size()) {
        return file.context.fail(Module::attribute, H5MOTE_HERE, Status::invalid_argument, 0, length);
    }
    return length == 0 ? Status::ok : values.source->read(id, 0, {reinterpret_cast<std::byte*>(to.data()), length});
}

}  // namespace

Status Object::read_attribute(std::string_view name, Span<char> to, std::size_t& length) const noexcept {
    const LibraryLock lock(context_of(file_));
    const Result<Attribute> opened = open_attribute(name);
    H5MOTE_TRY(opened.status());
    const Attribute& attribute = *opened;
    if (H5MOTE_CONVERSION != 0 && attribute.type().is_variable_string() && attribute.element_count() == 1) {
        return read_variable_text(*file_, attribute, to, length);
    }
    if (attribute.type().type_class() != TypeClass::string || attribute.element_count() != 1) {
        return file_->context.fail(Module::attribute, H5MOTE_HERE, Status::type_mismatch);
    }
    // The end of the text is found first, piece by piece, so that a text that does not fit is not copied at all.
    const bool spaces = attribute.type().padding() == StringPadding::space_padded;
    const std::uint64_t size = attribute.data_size();
    bool ended = false;
    length = 0;
    for (std::uint64_t at = 0; at < size && !ended;) {
        std::byte piece[64];
        const std::size_t now = size - at < sizeof piece ? static_cast<std::size_t>(size - at) : sizeof piece;
        H5MOTE_TRY(attribute.read_stored(at, {piece, now}));
        for (std::size_t i = 0; i < now && !ended; ++i) {
            ended = !spaces && piece[i] == std::byte{0};
            if (!ended && (!spaces || piece[i] != std::byte{' '})) {
                length = static_cast<std::size_t>(at) + i + 1;
            }
        }
        at += now;
    }
    if (length > to.size()) {
        return file_->context.fail(Module::attribute, H5MOTE_HERE, Status::invalid_argument, 0, length);
    }
    return attribute.read_stored(0, {reinterpret_cast<std::byte*>(to.data()), length});
}

Status Object::attribute_info(std::string_view name, AttributeInfo& info) const noexcept {
    const LibraryLock lock(context_of(file_));
    const Result<Attribute> opened = open_attribute(name);
    H5MOTE_TRY(opened.status());
    info.space = (*opened).dataspace();
    info.element_size = (*opened).type().size();
    info.type_length = static_cast<std::uint32_t>((*opened).type().encoded_length());
    return Status::ok;
}

Status Object::attribute_type(std::string_view name, Bytes buffer, DatatypeView& type) const noexcept {
    const LibraryLock lock(context_of(file_));
    const Result<Attribute> opened = open_attribute(name);
    H5MOTE_TRY(opened.status());
    const ConstBytes stored = (*opened).type().bytes();
    if (stored.size() > buffer.size()) {
        return file_->context.fail(Module::attribute, H5MOTE_HERE, Status::over_budget, 0, stored.size());
    }
    std::memcpy(buffer.data(), stored.data(), stored.size());
    type = DatatypeView({buffer.data(), stored.size()});
    return Status::ok;
}

bool Object::has_attribute(std::string_view name) const noexcept {
    const LibraryLock lock(context_of(file_));
    if (check() != Status::ok) {
        return false;
    }
    StoredAttributeMessage found;
    return find_attribute(*file_, address_, name, found) == Status::ok;
}

Status Object::has_attribute(std::string_view name, bool& found) const noexcept {
    const LibraryLock lock(context_of(file_));
    found = false;
    H5MOTE_TRY(check());
    StoredAttributeMessage attribute;
    const Status status = find_attribute(*file_, address_, name, attribute);
    found = status == Status::ok;
    return status == Status::not_found ? Status::ok : status;
}

H5MOTE_STEP Status Object::attribute_count(std::uint32_t& count) const noexcept {
    const LibraryLock lock(context_of(file_));
    count = 0;
    H5MOTE_TRY(check());
    AttributeCursor cursor(*file_);
    H5MOTE_TRY(cursor.open(address_));
    std::uint64_t attributes = 0;
    H5MOTE_TRY(cursor.count(attributes));
    count = static_cast<std::uint32_t>(attributes);
    return Status::ok;
}

H5MOTE_STEP Status Object::attribute_name(std::uint32_t i, Span<char> to, std::size_t& length) const noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    AttributeCursor cursor(*file_);
    StoredAttributeMessage found;
    H5MOTE_TRY(cursor.open(address_));
    H5MOTE_TRY(cursor.at(i, found));
    std::string_view name;
    H5MOTE_TRY(found.name(name));
    length = name.size();
    if (length > to.size()) {
        return file_->context.fail(Module::attribute, H5MOTE_HERE, Status::invalid_argument, 0, length);
    }
    std::memcpy(to.data(), name.data(), length);
    return Status::ok;
}

}  // namespace h5mote
