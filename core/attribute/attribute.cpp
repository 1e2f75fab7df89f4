#include "attribute.hpp"

#include "attribute_storage.hpp"
#include "checked.hpp"
#include "dense_changes.hpp"
#include "extent.hpp"
#include "prepare.hpp"
#include "text.hpp"

#include <h5mote/object.hpp>

namespace h5mote {
namespace {

class AttributeContent final : public MessageContent {
public:
    AttributeMessage message;
    Extent space;
    FileShape shape;

    void write(Writer& writer) const noexcept override {
        Writer counter;
        write_space(counter);
        message.encode(writer, counter.written());
        write_space(writer);
        writer.bytes(message.data);
    }

private:
    void write_space(Writer& writer) const noexcept { encode_dataspace(writer, shape, space); }
};

class AttributeInfoContent final : public MessageContent {
public:
    AttributeInfoContent(FileShape shape, std::uint8_t flags) noexcept : shape_(shape) {
        info_.flags = flags;
        info_.max_order = 1;
    }
    void write(Writer& writer) const noexcept override { info_.encode(writer, shape_); }

private:
    FileShape shape_;
    AttributeInfoMessage info_;
};

// Adds the attribute info message, without which libhdf5 does not count the attributes of a header. Bits 2 and 3 of the
// header's flags are bits 0 and 1 of the message's.
Status add_info(FileState& file, Address header, unsigned header_flags) noexcept {
    return add_message(file, header, MessageType::attribute_info, 0, 0,
                       AttributeInfoContent(file.shape(), static_cast<std::uint8_t>((header_flags >> 2) & 3U)));
}

// Takes the next creation order of a header that tracks it. Adds the attribute info message if there is none.
Status next_order(FileState& file, Address header, std::uint16_t& order) noexcept {
    order = 0;
    MessageIterator message(file, header);
    const Status status = message.next(MessageType::attribute_info);
    const std::uint8_t flags = message.header_flags();
    const bool tracked = (flags & HeaderPrefix::kAttributesTracked) != 0;
    if (tracked && H5MOTE_CREATION_ORDER == 0) {
        return file.context.unsupported(Module::attribute, H5MOTE_HERE, Feature::creation_order);
    }
    if (status == Status::not_found) {
        return add_info(file, header, flags);
    }
    H5MOTE_TRY(status);
    if (!tracked || H5MOTE_CREATION_ORDER == 0) {
        return Status::ok;
    }
    AttributeInfoMessage info;
    H5MOTE_TRY(info.decode(file.context, file.shape(), message.body()));
    order = info.max_order;
    if (order == 0xffff) {
        return file.context.fail(Module::attribute, H5MOTE_HERE, Status::overflow, order);
    }
    if ((info.flags & kOrderTracked) != 0) {
        return message.store(AttributeInfoMessage::kOrderOffset, order + 1U, 2, Phase::index);
    }
    return Status::ok;
}

// Whether a new value has the datatype of the stored one; in builds with conversion its encoding may differ. A string
// may also replace one of another length or character set: replace_value() sees to that.
bool same_type(DatatypeView stored, DatatypeView type) noexcept {
    if constexpr (H5MOTE_CONVERSION) {
        return equal(stored, type);
    } else {
        return identical_layout(stored, type);
    }
}

bool same_dims(const DataspaceMessage& stored, const Extent& space) noexcept {
    bool same = true;
    for (unsigned i = 0; i < stored.rank; ++i) {
        same = same && stored.dim(i) == space.dims[i];
    }
    return same;
}

constexpr bool kHasHeap = H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0;

const VariableLengthFormat* changes_of(FileState& file) noexcept {
    return kHasHeap ? file.context.formats().variable_length_changes : nullptr;
}

// Discards the heap objects of a value that is about to go, unless finish() hears that it stays.
class OldValue {
public:
    explicit OldValue(const StoredAttribute& attribute) noexcept : file_(attribute.message.file()) {
        if constexpr (kHasHeap) {
            changes_ = changes_of(file_);
        }
        if (kHasHeap && changes_ != nullptr) {
            before_ = changes_->discard(file_, attribute.type, attribute.parts.data.data(),
                                        static_cast<std::size_t>(attribute.elements));
        }
    }
    Status finish(Status status) noexcept {
        if (kHasHeap && status != Status::ok && changes_ != nullptr) {
            changes_->keep(file_, before_);
        }
        return status;
    }

private:
    FileState& file_;
    const VariableLengthFormat* changes_ = nullptr;
    std::size_t before_ = 0;
};

// Gives an existing attribute its new value; not_found when there is none of that name.
H5MOTE_STEP Status replace_value(FileState& file, Address header, const AttributeContent& content) noexcept {
    StoredAttribute existing(file, header);
    H5MOTE_TRY(existing.find(text_of(content.message.name)));
    H5MOTE_TRY(existing.describe());
    const DatatypeView type(content.message.type);
    const bool same = same_type(existing.type, type);
    const bool texts = existing.type.type_class() == TypeClass::string && type.type_class() == TypeClass::string;
    const bool same_rank = existing.space.type == content.space.type && existing.space.rank == content.space.rank;
    if (!(same || texts) || !same_rank) {
        return file.context.fail(Module::attribute, H5MOTE_HERE, Status::type_mismatch, same || texts ? 2 : 1);
    }
    OldValue old(existing);
    if (!same || !same_dims(existing.space, content.space)) {
        return old.finish(replace_message(existing.message, content));
    }
    const auto data = static_cast<std::size_t>(existing.parts.data.data() - existing.message.body().data());
    std::byte* to = nullptr;
    H5MOTE_TRY(old.finish(existing.message.change(data, to)));
    if (!content.message.data.empty()) {
        std::memcpy(to, content.message.data.data(), content.message.data.size());
    }
    return Status::ok;
}

// Whether a value may replace the one that `stored` has, which is checked as in replace_value().
H5MOTE_STEP Status check_replaceable(FileState& file, StoredAttributeMessage& stored,
                                     const AttributeContent& content) noexcept {
    const AttributeParts& parts = stored.parts;
    const DatatypeView type(content.message.type);
    ConstBytes bytes;
    if ((parts.flags & (AttributeParts::kSharedType | AttributeParts::kSharedSpace)) != 0) {
        return file.context.unsupported(Module::attribute, H5MOTE_HERE, Feature::shared_message);
    }
    DataspaceMessage space;
    H5MOTE_TRY(stored.bytes.view(parts.space, parts.space_size, bytes));
    H5MOTE_TRY(space.decode(file.context, file.shape(), bytes));
    const bool same_rank = space.type == content.space.type && space.rank == content.space.rank;
    DatatypeView old;
    H5MOTE_TRY(stored.bytes.view(parts.type, parts.type_size, bytes));
    H5MOTE_TRY(view_datatype(file.context, bytes, old));
    const bool same =
        same_type(old, type) || (old.type_class() == TypeClass::string && type.type_class() == TypeClass::string);
    return same && same_rank ? Status::ok
                             : file.context.fail(Module::attribute, H5MOTE_HERE, Status::type_mismatch, same ? 2 : 1);
}

// Writes the attribute to dense storage, if that is where the object has it or should have it; else `compact`.
H5MOTE_STEP Status write_dense(FileState& file, const DenseChangesFormat& format, Address header,
                               AttributeContent& content, bool& compact) noexcept {
    const std::size_t size = content.size();
    bool in_header = false;
    bool wants = false;
    NewAttribute attribute;
    attribute.name = content.message.name;
    attribute.data = content.message.data;
    Status status;
    {
        StoredAttributeMessage old;
        status = find_attribute(file, header, text_of(attribute.name), old);
        in_header = status == Status::ok && old.place.kind != AttributePlace::Kind::heap;
        compact = in_header && size <= 0xffff;
        if (compact) {
            return Status::ok;
        }
        if (status == Status::ok) {
            H5MOTE_TRY(check_replaceable(file, old, content));
            attribute.order = static_cast<std::uint16_t>(old.order);
        }
    }
    const bool exists = status == Status::ok;
    if (!exists && status != Status::not_found) {
        return status;
    }
    H5MOTE_TRY(format.wants_dense(file, header, static_cast<Address>(size), wants));
    compact = !wants;
    if (compact) {
        return Status::ok;
    }
    if (!exists) {
        H5MOTE_TRY(next_order(file, header, attribute.order));
    }
    const std::size_t head = size - attribute.data.size();
    auto* const bytes = static_cast<std::byte*>(file.context.allocate(MemoryKind::value, head));
    if (bytes == nullptr) {
        return Status::out_of_memory;
    }
    content.message.data = {};
    Writer writer({bytes, head});
    content.write(writer);
    content.message.data = attribute.data;
    attribute.head = {bytes, head};
    status = format.write_attribute(file, header, attribute, exists, compact);
    file.context.release(MemoryKind::value, bytes, head);
    return status;
}

Status write_value(FileState& file, Address header, AttributeContent& content) noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        if (const DenseChangesFormat* const format = file.context.formats().dense_changes) {
            bool compact = false;
            H5MOTE_TRY(write_dense(file, *format, header, content, compact));
            if (!compact) {
                return Status::ok;
            }
        }
    }
    if (content.size() > 0xffff) {
        return file.context.fail(Module::attribute, H5MOTE_HERE, Status::over_budget, 0, content.size());
    }
    const Status status = replace_value(file, header, content);
    if (status != Status::not_found) {
        return status;
    }
    return add_attribute(file, header, content);
}

}  // namespace

Status add_attribute(FileState& file, Address header, const MessageContent& content) noexcept {
    std::uint16_t order = 0;
    H5MOTE_TRY(next_order(file, header, order));
    return add_message(file, header, MessageType::attribute, 0, order, content);
}

Status StoredAttribute::next() noexcept {
    for (;;) {
        H5MOTE_TRY(message.next());
        Context& context = message.file().context;
        if (message.type() == MessageType::attribute_info) {
            AttributeInfoMessage info;
            H5MOTE_TRY(info.decode(context, message.file().shape(), message.body()));
            if (info.dense) {
                return context.unsupported(Module::attribute, H5MOTE_HERE, Feature::dense_attributes);
            }
        } else if (message.type() == MessageType::attribute) {
            if ((message.flags() & kMessageShared) != 0) {
                return context.unsupported(Module::attribute, H5MOTE_HERE, Feature::shared_message);
            }
            if constexpr (H5MOTE_ALL_FORMATS != 0) {
                const ConstBytes body = message.body();
                shared = AttributeParts::are_shared(body);
                if (shared) {
                    AttributeParts stored;
                    H5MOTE_TRY(stored.decode(context, body, body.size()));
                    const std::string_view name = text_of(body.subspan(stored.name, stored.name_size));
                    parts.name = bytes_of(text_before(name, '\0'));
                    return Status::ok;
                }
            }
            return parts.decode(context, message.body());
        }
    }
}

Status StoredAttribute::find(std::string_view name) noexcept {
    do {
        H5MOTE_TRY(next());
    } while (text_of(parts.name) != name);
    return Status::ok;
}

Status StoredAttribute::describe() noexcept {
    FileState& file = message.file();
    if (H5MOTE_ALL_FORMATS != 0 && shared) {
        return file.context.unsupported(Module::attribute, H5MOTE_HERE, Feature::shared_message);
    }
    H5MOTE_TRY(view_datatype(file.context, parts.type, type));
    H5MOTE_TRY(space.decode(file.context, file.shape(), parts.space));
    elements = space.type == DataspaceMessage::Type::null ? 0 : 1;
    bool sound = true;
    for (unsigned i = 0; i < space.rank; ++i) {
        sound = checked_multiply(elements, space.dim(i), elements) && sound;
    }
    std::uint64_t size = 0;
    sound = sound && checked_multiply<std::uint64_t>(elements, type.size(), size) && size <= parts.data.size();
    bytes = static_cast<std::size_t>(size);
    return sound ? Status::ok : file.context.fail(Module::attribute, H5MOTE_HERE, Status::corrupt_file);
}

Status Object::write_attribute_as(std::string_view name, DatatypeView memory_type, DatatypeView file_type,
                                  const Dataspace* space, ConstBytes data) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    H5MOTE_TRY(file_->check_writable());
    AttributeContent content;
    std::uint64_t bytes = 0;
    bool sound = is_name(name) && name.size() < 0xffff && memory_type.size() != 0 && file_type.size() != 0;
    if (space != nullptr) {
        content.space = extent_of(*space);
        sound = sound && space->valid();
    }
    if (!sound || !content.space.data_size(memory_type.size(), bytes) || bytes != data.size()) {
        return file_->context.fail(Module::attribute, H5MOTE_HERE, Status::invalid_argument, 0, data.size());
    }
    content.message.name = bytes_of(name);
    StoredType stored(*file_);
    H5MOTE_TRY(stored.assign(file_type));
    file_type = stored.view();
    content.message.type = file_type.bytes();
    content.message.data = data;
    content.shape = file_->shape();
    Conversion conversion;
    H5MOTE_TRY(prepare_conversion(file_->context, conversion, memory_type, file_type,
                                  {FileValues::Side::to, file_->shape().sizeof_addr, nullptr, file_}));
    if (H5MOTE_CONVERSION == 0 || conversion.is_copy()) {
        return write_value(*file_, address_, content);
    }
    // The data are converted before anything is changed, because converting may fail.
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a type in memory without a size was refused at the beginning.
    const std::size_t count = data.size() / memory_type.size();
    const std::size_t size = count * file_type.size();
    auto* const converted = static_cast<std::byte*>(file_->context.allocate(MemoryKind::value, size));
    if (converted == nullptr) {
        return Status::out_of_memory;
    }
    std::memset(converted, 0, size);
    content.message.data = {converted, size};
    Status status = conversion.run(count, data.data(), memory_type.size(), converted, file_type.size());
    if (status == Status::ok) {
        status = write_value(*file_, address_, content);
        if (status != Status::ok && changes_of(*file_) != nullptr) {
            (void)changes_of(*file_)->discard(*file_, file_type, converted, count);
        }
    }
    file_->context.release(MemoryKind::value, converted, size);
    return status;
}

Status Object::write_attribute(std::string_view name, DatatypeView type, const Dataspace& space,
                               ConstBytes data) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    H5MOTE_TRY(check_storable(file_->context, type));
    return write_attribute_as(name, type, type, &space, data);
}

Status Object::write_attribute(std::string_view name, std::string_view text) noexcept {
    bool ascii = true;
    for (const char c : text) {
        ascii = ascii && (static_cast<unsigned char>(c) & 0x80U) == 0;
    }
    static constexpr char kEmpty[1] = {};
    const std::string_view stored = text.empty() ? std::string_view(kEmpty, 1) : text;
    // The encoded type is eight bytes. The last four are the size of the string, which is known only here.
    EncodedType<8> type = make_string(1, StringPadding::null_padded, ascii ? CharacterSet::ascii : CharacterSet::utf8);
    store_le<std::uint32_t>(type.bytes + 4, static_cast<std::uint32_t>(stored.size()));
    return write_attribute_as(name, type, type, nullptr, bytes_of(stored));
}

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

H5MOTE_STEP Status Object::remove_attribute(std::string_view name) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    H5MOTE_TRY(file_->check_writable());
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        if (const DenseChangesFormat* const format = file_->context.formats().dense_changes) {
            bool compact = false;
            H5MOTE_TRY(format->remove_attribute(*file_, address_, bytes_of(name), compact));
            if (!compact) {
                return Status::ok;
            }
        }
    }
    StoredAttribute attribute(*file_, address_);
    H5MOTE_TRY(attribute.find(name));
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        if (attribute.shared) {
            return remove_of_committed_type(attribute.message);
        }
    }
    // One that is damaged can be removed, too.
    if (changes_of(*file_) == nullptr || attribute.describe() != Status::ok) {
        return remove_message(attribute.message);
    }
    OldValue old(attribute);
    return old.finish(remove_message(attribute.message));
}

}  // namespace h5mote
