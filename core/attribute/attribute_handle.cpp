// Handles of attributes.

#include "attribute_storage.hpp"
#include "checked.hpp"
#include "checksum.hpp"
#include "dataspace_editor.hpp"
#include "ordered_walk.hpp"
#include "prepare.hpp"
#include "text.hpp"

namespace h5mote {

// The state of a handle. The datatype and the name follow it in the same block of memory.
struct AttributeState {
    FileState* file = nullptr;  // holds a reference
    Address object = kUndefinedAddress;
    Address type_object = kUndefinedAddress;
    AttributePlace place;
    Dataspace space;
    std::uint64_t elements = 0;
    std::uint64_t bytes = 0;
    std::uint32_t data = 0;  // where the value begins in the message
    std::uint32_t head = 0;  // in a file that can change: checksum of the message up to the value
    std::uint32_t order = 0;
    std::uint32_t name_length = 0;
    std::uint32_t type_length = 0;
    CharacterSet character_set = CharacterSet::ascii;
    bool has_order = false;

    static std::size_t footprint(std::size_t name_length, std::size_t type_length) noexcept {
        return sizeof(AttributeState) + name_length + type_length;
    }
    std::byte* type_bytes() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
    char* name() noexcept { return reinterpret_cast<char*>(type_bytes() + type_length); }

    static void destroy(AttributeState* state) noexcept {
        FileState* const file = state->file;
        const std::size_t size = footprint(state->name_length, state->type_length);
        state->~AttributeState();
        file->context.release(MemoryKind::handle, state, size);
        FileState::release(file);
    }
};

namespace {

// Finds the encoded datatype or dataspace of an attribute: `length` bytes from `offset` of `part`. That is the
// attribute message itself, or, where it has only a reference, the shared message that the reference leads to.
Status open_part(FileState& file, StoredAttributeMessage& attribute, MessageType type, StoredMessage& message,
                 MetadataWindow*& part, Address& offset, std::uint32_t& length) noexcept {
    const bool is_type = type == MessageType::datatype;
    const AttributeParts& parts = attribute.parts;
    offset = is_type ? parts.type : parts.space;
    length = is_type ? parts.type_size : parts.space_size;
    part = &attribute.bytes;
    if ((parts.flags & (is_type ? AttributeParts::kSharedType : AttributeParts::kSharedSpace)) == 0) {
        return Status::ok;
    }
    std::byte reference[24];
    length = length < sizeof reference ? length : static_cast<std::uint32_t>(sizeof reference);
    H5MOTE_TRY(attribute.bytes.read(offset, {reference, length}));
    H5MOTE_TRY(message.open_shared(file, type, {reference, length}));
    if (message.size() > 0xffff) {
        return file.context.fail(Module::attribute, H5MOTE_HERE, Status::corrupt_file);
    }
    part = &message.bytes();
    offset = 0;
    length = static_cast<std::uint32_t>(message.size());
    return Status::ok;
}

H5MOTE_STEP Status load_space(FileState& file, StoredAttributeMessage& attribute, AttributeState& state) noexcept {
    StoredMessage message;
    MetadataWindow* part = nullptr;
    Address offset = 0;
    std::uint32_t length = 0;
    H5MOTE_TRY(open_part(file, attribute, MessageType::dataspace, message, part, offset, length));
    ConstBytes bytes;
    H5MOTE_TRY(part->view(offset, length, bytes));
    DataspaceMessage stored;
    H5MOTE_TRY(stored.decode(file.context, file.shape(), bytes));
    const bool null = stored.type == DataspaceMessage::Type::null;
    state.elements = null ? 0 : 1;
    bool sound = true;
    for (unsigned i = 0; i < stored.rank; ++i) {
        sound = checked_multiply(state.elements, stored.dim(i), state.elements) && sound;
    }
    DataspaceEditor::set(
        state.space, null, stored.rank, [&stored](unsigned d) { return stored.dim(d); },
        [&stored](unsigned d) { return stored.max_dim(d); });
    return sound && state.space.valid() ? Status::ok
                                        : file.context.fail(Module::attribute, H5MOTE_HERE, Status::corrupt_file);
}

// Allocates the state, and copies the datatype and the name into it.
H5MOTE_STEP Status load_type(FileState& file, StoredAttributeMessage& attribute, AttributeState*& state) noexcept {
    StoredMessage message;
    MetadataWindow* part = nullptr;
    Address offset = 0;
    std::uint32_t length = 0;
    H5MOTE_TRY(open_part(file, attribute, MessageType::datatype, message, part, offset, length));
    ConstBytes bytes;
    H5MOTE_TRY(part->view(offset, length, bytes));
    DatatypeView type;
    H5MOTE_TRY(parse_datatype(file.context, bytes, type));
    const std::size_t type_length = type.encoded_length();
    const std::size_t name_length = attribute.parts.name_size;
    void* const memory = file.context.allocate(MemoryKind::handle, AttributeState::footprint(name_length, type_length));
    if (memory == nullptr) {
        return Status::out_of_memory;
    }
    state = ::new (memory) AttributeState;
    state->file = &file;
    state->type_length = static_cast<std::uint32_t>(type_length);
    state->name_length = static_cast<std::uint32_t>(name_length);
    file.retain();
    // The window is read again: `bytes` is not relied on after an allocation.
    Status status = part->read(offset, {state->type_bytes(), type_length});
    if (status == Status::ok) {
        status = attribute.bytes.read(attribute.parts.name, {reinterpret_cast<std::byte*>(state->name()), name_length});
    }
    state->type_object = message.committed();
    return status;
}

// Checksum of everything in the message before the value: name, datatype and dataspace.
H5MOTE_STEP Status sum_head(StoredAttributeMessage& attribute, std::uint32_t& sum) noexcept {
    Lookup3Stream stream(attribute.parts.data);
    for (std::size_t at = 0; at < attribute.parts.data;) {
        ConstBytes piece;
        H5MOTE_TRY(attribute.bytes.peek(at, piece));
        const std::size_t left = attribute.parts.data - at;
        piece = piece.first(piece.size() < left ? piece.size() : left);
        stream.update(piece);
        at += piece.size();
    }
    sum = stream.finish();
    return Status::ok;
}

Context* context_of(const AttributeState* state) noexcept { return state == nullptr ? nullptr : &state->file->context; }

}  // namespace

Status make_attribute(FileState& file, Address object, StoredAttributeMessage& attribute,
                      AttributeState*& state) noexcept {
    state = nullptr;
    Status status = load_type(file, attribute, state);
    if (status == Status::ok) {
        status = load_space(file, attribute, *state);
    }
    if (status == Status::ok && file.writable()) {
        status = sum_head(attribute, state->head);
    }
    if (status == Status::ok) {
        state->object = object;
        state->place = attribute.place;
        state->data = attribute.parts.data;
        state->order = attribute.order;
        state->has_order = attribute.has_order;
        state->character_set = attribute.parts.character_set == 0 ? CharacterSet::ascii : CharacterSet::utf8;
        const std::uint32_t size = DatatypeView({state->type_bytes(), state->type_length}).size();
        if (!checked_multiply<std::uint64_t>(state->elements, size, state->bytes) ||
            state->bytes > attribute.bytes.size() - state->data) {
            status = file.context.fail(Module::attribute, H5MOTE_HERE, Status::corrupt_file, 0, object);
        }
    }
    if (status != Status::ok && state != nullptr) {
        AttributeState::destroy(state);
        state = nullptr;
    }
    return status;
}

Attribute& Attribute::operator=(Attribute&& other) noexcept {
    if (this != &other) {
        close();
        state_ = other.state_;
        other.state_ = nullptr;
    }
    return *this;
}

bool Attribute::valid() const noexcept {
    const LibraryLock lock(context_of(state_));
    return state_ != nullptr && state_->file->is_open();
}

void Attribute::close() noexcept {
    const LibraryLock lock(context_of(state_));
    if (state_ != nullptr) {
        AttributeState::destroy(state_);
        state_ = nullptr;
    }
}

std::string_view Attribute::name() const noexcept {
    if (state_ == nullptr) {
        return {};
    }
    const std::string_view stored(state_->name(), state_->name_length);
    return text_before(stored, '\0');
}

CharacterSet Attribute::character_set() const noexcept {
    return state_ == nullptr ? CharacterSet::ascii : state_->character_set;
}

bool Attribute::has_order() const noexcept { return state_ != nullptr && state_->has_order; }

std::uint32_t Attribute::creation_order() const noexcept { return state_ == nullptr ? 0 : state_->order; }

DatatypeView Attribute::type() const noexcept {
    return state_ == nullptr ? DatatypeView() : DatatypeView({state_->type_bytes(), state_->type_length});
}

Address Attribute::type_object() const noexcept { return state_ == nullptr ? kUndefinedAddress : state_->type_object; }

const Dataspace& Attribute::dataspace() const noexcept {
    static constexpr Dataspace kNone = Dataspace::null();
    return state_ == nullptr ? kNone : state_->space;
}

std::uint64_t Attribute::element_count() const noexcept { return state_ == nullptr ? 0 : state_->elements; }

std::uint64_t Attribute::data_size() const noexcept { return state_ == nullptr ? 0 : state_->bytes; }

Address Attribute::object_address() const noexcept { return state_ == nullptr ? kUndefinedAddress : state_->object; }

Object Attribute::object() const noexcept {
    const LibraryLock lock(context_of(state_));
    return valid() ? Object(*state_->file, state_->object) : Object();
}

namespace {

// Opens the attribute message again: at its old place if the file cannot have changed, else by the attribute's name.
// invalid_handle: another attribute took the name since, or this one got another shape.
Status reopen(const Attribute& attribute, const AttributeState& state, MetadataWindow& bytes) noexcept {
    FileState& file = *state.file;
    if (!file.writable()) {
        return state.place.open(file, bytes);
    }
    StoredAttributeMessage found;
    H5MOTE_TRY(find_attribute(file, state.object, attribute.name(), found));
    std::uint32_t head = 0;
    H5MOTE_TRY(sum_head(found, head));
    if (found.parts.data != state.data || head != state.head) {
        return file.context.fail(Module::attribute, H5MOTE_HERE, Status::invalid_handle, 0, state.object);
    }
    bytes = static_cast<MetadataWindow&&>(found.bytes);
    return Status::ok;
}

}  // namespace

H5MOTE_STEP Status Attribute::read_stored(std::uint64_t offset, Bytes to) const noexcept {
    const LibraryLock lock(context_of(state_));
    if (!valid()) {
        return Status::invalid_handle;
    }
    if (!within(offset, to.size(), state_->bytes)) {
        return state_->file->context.fail(Module::attribute, H5MOTE_HERE, Status::invalid_argument, 0, offset);
    }
    if (to.empty()) {
        return Status::ok;
    }
    MetadataWindow bytes;
    H5MOTE_TRY(reopen(*this, *state_, bytes));
    return bytes.read(narrow(state_->data + offset), to);
}

H5MOTE_STEP Status Attribute::read(DatatypeView wanted, Bytes to) const noexcept {
    const LibraryLock lock(context_of(state_));
    if (!valid()) {
        return Status::invalid_handle;
    }
    FileState& file = *state_->file;
    std::uint64_t size = 0;
    if (!checked_multiply<std::uint64_t>(state_->elements, wanted.size(), size) || size != to.size()) {
        return file.context.fail(Module::attribute, H5MOTE_HERE, Status::invalid_argument, 0, size);
    }
    FileSource source(file);
    Conversion conversion;
    H5MOTE_TRY(
        prepare_conversion(file.context, conversion, type(), wanted, source.values(file, FileValues::Side::from)));
    if (to.empty()) {
        return Status::ok;
    }
    MetadataWindow bytes;
    H5MOTE_TRY(reopen(*this, *state_, bytes));
    const std::uint32_t data = state_->data;
    if (conversion.is_copy()) {
        return bytes.read(data, to);
    }
    const std::size_t element = type().size();
    const auto count = static_cast<std::size_t>(state_->elements);
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): the type of an attribute in a file was found to have a size.
    const std::size_t most = element < MetadataWindow::kWindow ? MetadataWindow::kWindow / element : 1;
    Status status = Status::ok;
    std::size_t done = 0;
    while (status == Status::ok && done < count) {
        const std::size_t now = count - done < most ? count - done : most;
        ConstBytes from;
        status = bytes.view(data + done * element, now * element, from);
        if (status == Status::ok) {
            status = conversion.run(now, from.data(), element, to.data() + done * wanted.size(), wanted.size());
        }
        done += now;
    }
    return status;
}

Status Attribute::variable_size(ConstBytes heap_id, std::uint64_t& bytes) const noexcept {
    const LibraryLock lock(context_of(state_));
    return object().variable_size(heap_id, bytes);
}

Status Attribute::read_variable(ConstBytes heap_id, std::uint64_t offset, Bytes to) const noexcept {
    const LibraryLock lock(context_of(state_));
    return object().read_variable(heap_id, offset, to);
}

namespace {

H5MOTE_STEP Status make_named(FileState& file, Address object, std::string_view name, AttributeState*& state) noexcept {
    StoredAttributeMessage found;
    H5MOTE_TRY(find_attribute(file, object, name, found));
    return make_attribute(file, object, found, state);
}

}  // namespace

Result<Attribute> Object::open_attribute(std::string_view name) const noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    AttributeState* state = nullptr;
    H5MOTE_TRY(make_named(*file_, address_, name, state));
    return Attribute(state);
}

struct AttributeIterator::Walk final : OrderedWalk<AttributeIterator::Walk, AttributeCursor, StoredAttributeMessage> {
    Walk(FileState& file, Direction direction) noexcept : OrderedWalk(file, Over::attributes, direction) {}

    H5MOTE_STEP Status start(Address header, IndexOrder wanted) noexcept;
    H5MOTE_STEP Status pass() noexcept;
};

Status AttributeIterator::Walk::start(Address header, IndexOrder wanted) noexcept {
    watch(header);
    H5MOTE_TRY(cursor.open(header));
    order = wanted;
    if (order == IndexOrder::creation && !cursor.tracks_order()) {
        return Status::invalid_argument;
    }
    return cursor.start_directly(order, towards, direct);
}

Status AttributeIterator::Walk::pass() noexcept {
    StoredAttributeMessage attribute;
    std::uint64_t position = 0;
    batch.begin_pass();
    Status status = cursor.start(IndexOrder::native, Direction::increasing);
    while (status == Status::ok && (status = cursor.next(attribute)) == Status::ok) {
        std::byte number[4];
        for (unsigned i = 0; i < 4; ++i) {
            number[i] = static_cast<std::byte>((order == IndexOrder::native ? 0 : attribute.order) >> (24 - 8 * i));
        }
        ConstBytes key(number);
        if (order == IndexOrder::name) {
            std::string_view name;
            status = attribute.name(name);
            key = bytes_of(name);
        }
        if (status == Status::ok) {
            status = batch.offer(key, position++);
        }
    }
    if (status == Status::out_of_memory && batch.shrink()) {
        return Status::ok;  // the caller makes another pass, with less memory
    }
    batch.end_pass();
    return status == Status::not_found ? Status::ok : status;
}

AttributeIterator::AttributeIterator(const Object& object, IndexOrder order, Direction direction) noexcept
    : object_(object.duplicate()), order_(order), direction_(direction) {}

AttributeIterator::~AttributeIterator() {
    const LibraryLock lock(context_of(object_.file_));
    if (walk_ != nullptr) {
        object_.file_->context.destroy(MemoryKind::handle, walk_);
    }
}

Status AttributeIterator::next(Attribute& attribute) noexcept {
    const LibraryLock lock(context_of(object_.file_));
    attribute.close();
    H5MOTE_TRY(object_.check());
    H5MOTE_TRY(status_);
    FileState& file = *object_.file_;
    if (walk_ == nullptr) {
        walk_ = file.context.create<Walk>(MemoryKind::handle, file, direction_);
        if (walk_ == nullptr) {
            return Status::out_of_memory;
        }
        status_ = walk_->start(object_.address_, order_);
        H5MOTE_TRY(status_);
    }
    StoredAttributeMessage found;
    Status status = walk_->step(found);
    if (status == Status::ok) {
        status = make_attribute(file, object_.address_, found, attribute.state_);
    }
    return status;
}

}  // namespace h5mote
