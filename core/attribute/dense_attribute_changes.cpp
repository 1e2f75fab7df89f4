// Attributes in dense storage are added, replaced and removed, and objects change between compact and dense storage.

#include "attribute.hpp"
#include "attribute_content.hpp"
#include "attribute_storage.hpp"
#include "committed_type.hpp"
#include "dense_changes.hpp"
#include "dense_editor.hpp"
#include "dense_storage_changes.hpp"
#include "fractal_heap.hpp"
#include "header_rewrite.hpp"
#include "owned_bytes.hpp"
#include "shared_changes.hpp"
#include "text.hpp"

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {
namespace {

constexpr std::size_t kId = AttributeRecord::kHeapIdSize;
constexpr std::size_t kNameRecord = kId + 9;
constexpr std::size_t kOrderRecord = kId + 5;
constexpr std::size_t kMostInHeader = 0xffff;
// As libhdf5 has them where a header does not say otherwise.
constexpr std::uint16_t kMaxCompact = 8;
constexpr std::uint16_t kMinDense = 6;

// Where an attribute that comes is: a message that the file shares already, or one that is to go into the heap.
struct Body {
    HeapContent* content = nullptr;
    ConstBytes shared;  // its id
};

bool is_shared(const std::byte* record) noexcept {
    return (std::to_integer<unsigned>(record[kId]) & kMessageShared) != 0;
}
std::uint32_t order_in(ConstBytes record) noexcept { return load_le<std::uint32_t>(record.data() + kId + 1); }

Status open_shared(FileState& file, ConstBytes id, MetadataWindow& bytes) noexcept {
    const DenseStorageFormat* format = nullptr;
    H5MOTE_TRY(dense_storage(file.context, Module::attribute, Feature::shared_message, format));
    return format->open_shared_message(file, MessageType::attribute, id, bytes);
}

// Compares a name with the records of a name index.
class ByName final : public RecordCompare {
public:
    ByName(FileState& file, FractalHeap& heap, ConstBytes name) noexcept
        : file_(file), heap_(heap), name_(name), hash_(name_hash(name)) {}
    std::uint32_t hash() const noexcept { return hash_; }

    Status compare(ConstBytes bytes, int& order) noexcept override {
        AttributeRecord record;
        if (!record.decode(BTree2Type::attribute_name, bytes)) {
            return file_.context.fail(Module::attribute, H5MOTE_HERE, Status::corrupt_file);
        }
        order = hash_ < record.hash ? -1 : 1;
        if (record.hash != hash_) {
            return Status::ok;
        }
        StoredAttributeMessage attribute;
        std::string_view name;
        H5MOTE_TRY((record.flags & kMessageShared) == 0 ? heap_.object(record.heap_id, attribute.bytes)
                                                        : open_shared(file_, record.heap_id, attribute.bytes));
        H5MOTE_TRY(decode_attribute(file_.context, attribute.bytes, attribute.parts));
        H5MOTE_TRY(attribute.name(name));
        order = text_of(name_).compare(name);
        return Status::ok;
    }

private:
    FileState& file_;
    FractalHeap& heap_;
    ConstBytes name_;
    std::uint32_t hash_;
};

class ByOrder final : public RecordCompare {
public:
    explicit ByOrder(std::uint32_t order) noexcept : order_(order) {}
    Status compare(ConstBytes record, int& order) noexcept override {
        const std::uint32_t found = order_in(record);
        order = order_ < found ? -1 : order_ > found ? 1 : 0;
        return Status::ok;
    }

private:
    std::uint32_t order_;
};

// Completes a record, which has the id already; that of the order index is its beginning.
void write_record(std::byte (&record)[kNameRecord], const Body& body, std::uint32_t order,
                  std::uint32_t hash) noexcept {
    record[kId] = static_cast<std::byte>(body.shared.empty() ? 0 : kMessageShared);
    store_le(record + kId + 1, order);
    store_le(record + kId + 5, hash);
}

// Stages an attribute where it is to be, and what `old` leads to, if there is one, to go. `id` gets the new id.
Status place(FractalHeapChanges& heap, const Body& body, const std::byte* old, std::byte* id) noexcept {
    const bool removes = old != nullptr && !is_shared(old);
    if (removes && body.content != nullptr && body.shared.empty()) {
        return heap.replace(*body.content, {old, kId}, {id, kId});
    }
    if (!body.shared.empty()) {
        std::memcpy(id, body.shared.data(), kId);
    } else if (body.content != nullptr) {
        H5MOTE_TRY(heap.insert(*body.content, {id, kId}));
    }
    return removes ? heap.remove({old, kId}) : Status::ok;
}

// An object whose attributes are changed.
class AttributeChanges {
public:
    AttributeChanges(FileState& file, Address object) noexcept
        : file_(file), object_(object), changes_(file, kDenseAttributes) {}

    Status open() noexcept;
    bool is_dense() const noexcept { return info_.dense; }
    Status wants_dense(bool fits, bool& wants) noexcept;
    Status write(const NewAttribute& attribute, bool exists, bool& compact) noexcept;
    Status rename(ConstBytes from, const NewAttribute& attribute) noexcept;
    Status remove(ConstBytes name) noexcept;

private:
    const DenseAddresses& dense() const noexcept { return info_.storage; }
    bool indexed() const noexcept { return (info_.flags & kOrderIndexed) != 0; }

    Status stage(const DenseAddresses& to, ConstBytes name, std::uint32_t order, const Body& body) noexcept;
    Status stage_instead(ConstBytes from, ConstBytes name, const Body& body) noexcept;
    Status has_order(std::uint32_t order, bool& has) noexcept;
    Status copy_all(const DenseAddresses& to, ConstBytes left_out) noexcept;
    Status copy_one(const DenseAddresses& to, StoredAttributeMessage& attribute, ConstBytes left_out) noexcept;
    Status become_dense(const NewAttribute& attribute, const Body& body) noexcept;
    Status become_compact(std::uint64_t left_out) noexcept;
    Status copy() noexcept;
    Status make_changeable() noexcept;
    Status wants_compact(ConstBytes name, std::uint64_t& position, bool& wants) noexcept;
    Status stage_removal(ConstBytes name) noexcept;
    void dispose_of(const DenseAddresses& addresses) noexcept;

    FileState& file_;
    Address object_;
    AttributeInfoMessage info_;
    std::uint16_t max_compact_ = kMaxCompact;
    std::uint16_t min_dense_ = kMinDense;
    std::uint8_t version_ = 2;
    OpenDenseStorage changes_;
};

Status AttributeChanges::open() noexcept {
    MessageIterator message(file_, object_);
    const Status status = message.next(MessageType::attribute_info);
    version_ = message.version();
    if (status == Status::ok) {
        H5MOTE_TRY(info_.decode(file_.context, file_.shape(), message.body()));
    } else {
        info_.flags = static_cast<std::uint8_t>((message.header_flags() >> 2) & 3U);
    }
    if (status != Status::ok && status != Status::not_found) {
        return status;
    }
    if (version_ != 1 && (message.header_flags() & HeaderPrefix::kAttributePhase) != 0) {
        HeaderPrefix head;
        H5MOTE_TRY(message.read_prefix(head));
        std::byte limits[4];
        MetadataWindow prefix;
        message.park();
        H5MOTE_TRY(file_.window(Usage::object_header, object_, head.size, false, prefix));
        H5MOTE_TRY(prefix.read(static_cast<Address>(head.phase_offset()), limits));
        max_compact_ = load_le<std::uint16_t>(limits);
        min_dense_ = load_le<std::uint16_t>(limits + 2);
    }
    return Status::ok;
}

// Whether an attribute that is added needs dense storage, or finds it. `fits`: it has room in a header.
Status AttributeChanges::wants_dense(bool fits, bool& wants) noexcept {
    wants = info_.dense;
    if (wants || version_ == 1 || !DenseStorageChanges::is_possible(file_)) {
        return Status::ok;
    }
    MessageIterator message(file_, object_);
    std::uint64_t count = 0;
    Status status;
    while ((status = message.next()) == Status::ok) {
        count += message.type() == MessageType::attribute ? 1U : 0U;
    }
    wants = count >= max_compact_ || !fits;
    return status == Status::not_found ? Status::ok : status;
}

// Stages an attribute in dense storage that is open.
Status AttributeChanges::stage(const DenseAddresses& to, ConstBytes name, std::uint32_t order,
                               const Body& body) noexcept {
    std::byte record[kNameRecord];
    H5MOTE_TRY(place(changes_->heap, body, nullptr, record));
    FractalHeap heap;
    H5MOTE_TRY(heap.open(file_, to.heap));
    ByName by_name(file_, heap, name);
    write_record(record, body, order, by_name.hash());
    H5MOTE_TRY(changes_->names.insert(by_name, record));
    if (changes_->has_order_index()) {
        ByOrder by_order(order);
        H5MOTE_TRY(changes_->orders.insert(by_order, {record, kOrderRecord}));
    }
    return Status::ok;
}

// Whether the index of creation orders has that one: libhdf5 1.10 takes an attribute out when it gives it another name.
Status AttributeChanges::has_order(std::uint32_t order, bool& has) noexcept {
    ByOrder by_order(order);
    const Status status = changes_->orders.find(by_order, {});
    has = status == Status::ok;
    return status == Status::not_found ? Status::ok : status;
}

// Stages an attribute in the place of the one that is called `from`, with its creation order.
Status AttributeChanges::stage_instead(ConstBytes from, ConstBytes name, const Body& body) noexcept {
    std::byte old[kNameRecord];
    std::byte record[kNameRecord];
    FractalHeap heap;
    H5MOTE_TRY(heap.open(file_, dense().heap));
    ByName by_old_name(file_, heap, from);
    H5MOTE_TRY(changes_->names.find(by_old_name, old));
    const std::uint32_t order = order_in(old);
    H5MOTE_TRY(place(changes_->heap, body, old, record));
    ByName by_name(file_, heap, name);
    write_record(record, body, order, by_name.hash());
    if (text_of(from) == text_of(name)) {
        H5MOTE_TRY(changes_->names.update(by_name, record));
    } else {
        // In this order: the heap as it was, in which names are looked up, does not have the new attribute.
        H5MOTE_TRY(changes_->names.remove(by_old_name));
        H5MOTE_TRY(changes_->names.insert(by_name, record));
    }
    if (changes_->has_order_index()) {
        bool has = false;
        H5MOTE_TRY(has_order(order, has));
        ByOrder by_order(order);
        const ConstBytes of_order(record, kOrderRecord);
        H5MOTE_TRY(has ? changes_->orders.update(by_order, of_order) : changes_->orders.insert(by_order, of_order));
    }
    return Status::ok;
}

// Copies an attribute. The name, and of a message that the cache holds everything, is copied to memory first, so that
// nothing in the cache is held meanwhile. A shared message stays one, used by the copy instead.
Status AttributeChanges::copy_one(const DenseAddresses& to, StoredAttributeMessage& attribute,
                                  ConstBytes left_out) noexcept {
    MetadataWindow& message = attribute.bytes;
    const AttributeParts& parts = attribute.parts;
    const bool shared = attribute.is_shared();
    const bool whole = !shared && static_cast<bool>(message.block());
    const auto size = whole ? static_cast<std::size_t>(message.size()) : parts.name + std::size_t{parts.name_size};
    OwnedBytes bytes(file_.context, MemoryKind::value);
    H5MOTE_TRY(bytes.reserve(size));
    H5MOTE_TRY(message.read(0, bytes.first(size)));
    const std::string_view name = text_before(text_of({bytes.data() + parts.name, parts.name_size}), '\0');
    if (name == text_of(left_out)) {
        return Status::ok;
    }
    WindowContent in_window(message);
    BytesContent in_memory(bytes.first(size));
    if (whole || shared) {
        message.close();
    }
    Body body;
    body.content = whole ? static_cast<HeapContent*>(&in_memory) : &in_window;
    body.shared = shared ? ConstBytes(attribute.place.id) : ConstBytes{};
    H5MOTE_TRY(changes_.open(to));
    return changes_.finish(stage(to, bytes_of(name), attribute.order, body));
}

// Copies the attributes of the object, which has them in its header or in dense storage.
Status AttributeChanges::copy_all(const DenseAddresses& to, ConstBytes left_out) noexcept {
    AttributeCursor cursor(file_);
    H5MOTE_TRY(cursor.open(object_));
    for (;;) {
        StoredAttributeMessage attribute;
        const Status status = cursor.next(attribute);
        cursor.park();
        if (status != Status::ok) {
            return status == Status::not_found ? Status::ok : status;
        }
        H5MOTE_TRY(copy_one(to, attribute, left_out));
    }
}

void AttributeChanges::dispose_of(const DenseAddresses& addresses) noexcept {
    Disposal disposal(file_, false);
    if (DenseStorageChanges::dispose(file_, addresses, disposal) != Status::ok) {
        file_.space.free().set_complete(false);
    }
}

// The header gets another attribute info message, and in compact storage the attributes.
class AttributesEditor final : public DenseEditor {
public:
    AttributesEditor(FileState& file, const AttributeInfoMessage& info, const DenseAddresses& addresses) noexcept
        : DenseEditor(file, {MessageType::attribute_info, MessageType::attribute, 2}, info.flags, info.max_order,
                      addresses),
          file_(file) {}

private:
    Status decode(ConstBytes bytes, DenseObject& found) const noexcept override {
        AttributeRecord record;
        if (!record.decode(BTree2Type::attribute_name, bytes)) {
            return file_.context.fail(Module::attribute, H5MOTE_HERE, Status::corrupt_file);
        }
        found.heap_id = record.heap_id;
        found.order = static_cast<std::uint16_t>(record.order);
        found.shared = (record.flags & kMessageShared) != 0;
        return Status::ok;
    }

    FileState& file_;
};

// The shared messages that the header uses are those that dense storage uses when it takes their place.
Status AttributeChanges::become_dense(const NewAttribute& attribute, const Body& body) noexcept {
    DenseAddresses made;
    H5MOTE_TRY(DenseStorageChanges::create(file_, kDenseAttributes, indexed(), made));
    Status status = copy_all(made, attribute.name);
    status = status == Status::ok ? changes_.open(made) : status;
    status = status == Status::ok ? changes_.finish(stage(made, attribute.name, attribute.order, body)) : status;
    status = status == Status::ok ? DenseStorageChanges::complete(file_, made) : status;
    if (status == Status::ok) {
        Temporary<AttributesEditor> editor(file_.context, file_, info_, made);
        status = editor ? rewrite_header(file_, object_, *editor) : Status::out_of_memory;
    }
    if (status != Status::ok) {
        dispose_of(made);
    }
    return status;
}

// All attributes go into new dense storage, in which they can be changed, and the message leads there.
Status AttributeChanges::copy() noexcept {
    DenseAddresses made;
    H5MOTE_TRY(DenseStorageChanges::create(file_, kDenseAttributes, indexed(), made));
    Status status = copy_all(made, {});
    status = status == Status::ok ? DenseStorageChanges::complete(file_, made) : status;
    if (status == Status::ok) {
        MessageIterator message(file_, object_);
        const std::size_t offset = (info_.flags & kOrderTracked) != 0 ? 4 : 2;
        std::byte* at = nullptr;
        status = message.next(MessageType::attribute_info);
        status = status == Status::ok ? message.change(offset, at) : status;
        if (status == Status::ok) {
            Writer writer({at, 3U * file_.shape().sizeof_addr});
            file_.shape().write_addr(writer, made.heap);
            file_.shape().write_addr(writer, made.name_index);
            if (indexed()) {
                file_.shape().write_addr(writer, made.order_index);
            }
        }
    }
    if (status != Status::ok) {
        dispose_of(made);
        return status;
    }
    dispose_of(dense());
    info_.storage = made;
    return Status::ok;
}

// Opens the object's dense storage to be changed, or copies it, if it has to be.
Status AttributeChanges::make_changeable() noexcept {
    if (version_ == 1) {
        return file_.context.unsupported(Module::attribute, H5MOTE_HERE, Feature::object_header_version, 1);
    }
    if (!DenseStorageChanges::is_possible(file_)) {
        return file_.context.unsupported(Module::attribute, H5MOTE_HERE, Feature::ordered_writing);
    }
    bool as_it_is = false;
    H5MOTE_TRY(changes_.open(dense(), as_it_is));
    if (!as_it_is) {
        H5MOTE_TRY(copy());
    }
    return changes_.open(dense());
}

Status AttributeChanges::write(const NewAttribute& attribute, bool exists, bool& compact) noexcept {
    BytesContent content(attribute.head, attribute.data);
    const Body body{&content, attribute.shared};
    compact = false;
    if (!info_.dense) {
        const Status status = become_dense(attribute, body);
        // A cache without room for dense storage, and a header that no write can switch, are no reason to refuse the
        // attribute.
        compact = (status == Status::over_budget || status == Status::unsupported) &&
                  (!attribute.shared.empty() || attribute.head.size() + attribute.data.size() <= kMostInHeader);
        return compact ? Status::ok : status;
    }
    H5MOTE_TRY(make_changeable());
    return changes_.finish(exists ? stage_instead(attribute.name, attribute.name, body)
                                  : stage(dense(), attribute.name, attribute.order, body));
}

Status AttributeChanges::rename(ConstBytes from, const NewAttribute& attribute) noexcept {
    BytesContent content(attribute.head, attribute.data);
    H5MOTE_TRY(make_changeable());
    return changes_.finish(stage_instead(from, attribute.name, Body{&content, attribute.shared}));
}

Status AttributeChanges::become_compact(std::uint64_t left_out) noexcept {
    const DenseAddresses old = dense();
    {
        Temporary<AttributesEditor> editor(file_.context, file_, info_, DenseAddresses{});
        if (!editor) {
            return Status::out_of_memory;
        }
        H5MOTE_TRY(editor->take(old, left_out));
        H5MOTE_TRY(rewrite_header(file_, object_, *editor));
    }
    dispose_of(old);
    return Status::ok;
}

// Stages the removal of an attribute from the object's dense storage, which is open.
Status AttributeChanges::stage_removal(ConstBytes name) noexcept {
    FractalHeap heap;
    std::byte record[kNameRecord];
    H5MOTE_TRY(heap.open(file_, dense().heap));
    ByName by_name(file_, heap, name);
    H5MOTE_TRY(changes_->names.find(by_name, record));
    H5MOTE_TRY(is_shared(record) ? Status::ok : changes_->heap.remove({record, kId}));
    H5MOTE_TRY(changes_->names.remove(by_name));
    if (changes_->has_order_index()) {
        bool has = false;
        H5MOTE_TRY(has_order(order_in(record), has));
        ByOrder by_order(order_in(record));
        H5MOTE_TRY(has ? changes_->orders.remove(by_order) : Status::ok);
    }
    return Status::ok;
}

// Finds out whether so few attributes are left without that one, or none, that the header gets them, and which number
// it has.
Status AttributeChanges::wants_compact(ConstBytes name, std::uint64_t& position, bool& wants) noexcept {
    BTree2 names;
    H5MOTE_TRY(names.open(file_, dense().name_index));
    wants = (names.size() <= min_dense_ || names.size() == 1) && version_ != 1;
    if (!wants) {
        return Status::ok;
    }
    FractalHeap heap;
    H5MOTE_TRY(heap.open(file_, dense().heap));
    ByName by_name(file_, heap, name);
    return names.find(by_name, {}, &position);
}

Status AttributeChanges::remove(ConstBytes name) noexcept {
    std::uint64_t position = 0;
    bool compact = false;
    H5MOTE_TRY(wants_compact(name, position, compact));
    if (compact) {
        const Status status = become_compact(position);
        if (status != Status::over_budget && status != Status::unsupported) {
            return status;
        }
    }
    H5MOTE_TRY(make_changeable());
    return changes_.finish(stage_removal(name));
}

}  // namespace

Status wants_dense_attributes(FileState& file, Address object, bool fits, bool& wants) noexcept {
    AttributeChanges changes(file, object);
    H5MOTE_TRY(changes.open());
    return changes.wants_dense(fits, wants);
}

Status write_dense_attribute(FileState& file, Address object, const NewAttribute& attribute, bool exists,
                             bool& compact) noexcept {
    file.note_change(object);
    AttributeChanges changes(file, object);
    H5MOTE_TRY(changes.open());
    return changes.write(attribute, exists, compact);
}

Status rename_dense_attribute(FileState& file, Address object, ConstBytes from,
                              const NewAttribute& attribute) noexcept {
    file.note_change(object);
    AttributeChanges changes(file, object);
    H5MOTE_TRY(changes.open());
    return changes.rename(from, attribute);
}

Status remove_dense_attribute(FileState& file, Address object, ConstBytes name, bool& compact) noexcept {
    file.note_change(object);
    AttributeChanges changes(file, object);
    H5MOTE_TRY(changes.open());
    compact = !changes.is_dense();
    return compact ? Status::ok : changes.remove(name);
}

// A shared attribute is no user: the message is, as long as there is one.
Status release_dense_attribute_types(FileState& file, Address object) noexcept {
    AttributeCursor cursor(file);
    H5MOTE_TRY(cursor.open(object));
    for (bool ordered = false; cursor.is_dense();) {
        StoredAttributeMessage attribute;
        Address type = kUndefinedAddress;
        const Status status = cursor.next(attribute);
        if (status != Status::ok) {
            return status == Status::not_found ? Status::ok : status;
        }
        if (attribute.is_shared() || committed_type_of(file, attribute.bytes, attribute.parts, type) != Status::ok ||
            type == kUndefinedAddress) {
            continue;
        }
        attribute.bytes.close();
        cursor.park();
        H5MOTE_TRY(ordered ? Status::ok : file.order());
        ordered = true;
        (void)release_committed_type(file, type);
    }
    return Status::ok;
}

}  // namespace h5mote

#endif
