// Attributes in dense storage are added, replaced and removed, and objects change between compact and dense storage.

#include "attribute.hpp"
#include "attribute_storage.hpp"
#include "dense_changes.hpp"
#include "dense_editor.hpp"
#include "dense_storage_changes.hpp"
#include "fractal_heap.hpp"
#include "header_rewrite.hpp"
#include "shared_changes.hpp"
#include "stored_message.hpp"
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

std::uint32_t order_in(ConstBytes record) noexcept { return load_le<std::uint32_t>(record.data() + kId + 1); }

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
        if ((record.flags & kMessageShared) != 0) {
            return file_.context.unsupported(Module::attribute, H5MOTE_HERE, Feature::shared_message);
        }
        StoredAttributeMessage attribute;
        std::string_view name;
        H5MOTE_TRY(heap_.object(record.heap_id, attribute.bytes));
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

// A record; that of the order index is its beginning.
void write_record(std::byte (&record)[kNameRecord], const std::byte* id, std::uint32_t order,
                  std::uint32_t hash) noexcept {
    std::memcpy(record, id, kId);
    record[kId] = std::byte{0};
    store_le(record + kId + 1, order);
    store_le(record + kId + 5, hash);
}

// An object whose attributes are changed.
class AttributeChanges {
public:
    AttributeChanges(FileState& file, Address object) noexcept : file_(file), object_(object) {}

    Status open() noexcept;
    bool is_dense() const noexcept { return info_.dense; }
    Status wants_dense(Address size, bool& wants) noexcept;
    Status write(const NewAttribute& attribute, bool exists, bool& compact) noexcept;
    Status rename(ConstBytes from, const NewAttribute& attribute) noexcept;
    Status remove(ConstBytes name) noexcept;
    Status renew(DenseAddresses& old) noexcept;

private:
    const DenseAddresses& dense() const noexcept { return info_.storage; }
    bool indexed() const noexcept { return (info_.flags & kOrderIndexed) != 0; }

    Status add(const DenseAddresses& to, ConstBytes name, std::uint32_t order, HeapContent& content) noexcept;
    Status put(ConstBytes from, ConstBytes name, HeapContent& content) noexcept;
    Status copy_compact(const DenseAddresses& to, ConstBytes left_out) noexcept;
    Status copy_dense(const DenseAddresses& to) noexcept;
    Status copy_one(const DenseAddresses& to, MetadataWindow& message, std::uint32_t order,
                    ConstBytes left_out) noexcept;
    Status become_dense(const NewAttribute& attribute) noexcept;
    Status open_own(MessageIterator& message, MetadataWindow& body) noexcept;
    Status move_to_dense(const NewAttribute& attribute) noexcept;
    Status become_compact(std::uint64_t left_out) noexcept;
    Status copy() noexcept;
    Status make_changeable() noexcept;
    Status remove_from(const DenseAddresses& from, ConstBytes name) noexcept;
    void dispose_of(const DenseAddresses& addresses) noexcept;

    FileState& file_;
    Address object_;
    AttributeInfoMessage info_;
    std::uint16_t max_compact_ = kMaxCompact;
    std::uint16_t min_dense_ = kMinDense;
    std::uint8_t version_ = 2;
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

// Whether an attribute of `size` bytes that is added needs dense storage, or finds it.
Status AttributeChanges::wants_dense(Address size, bool& wants) noexcept {
    wants = info_.dense;
    if (wants || version_ == 1 || !DenseStorageChanges::is_possible(file_)) {
        return Status::ok;
    }
    MessageIterator message(file_, object_);
    std::uint64_t count = 0;
    bool shared = false;
    Status status;
    while ((status = message.next()) == Status::ok) {
        const bool attribute = message.type() == MessageType::attribute;
        count += attribute ? 1U : 0U;
        shared = shared || (attribute && message.shared());
    }
    // Attributes that are shared messages stay where they are if the program cannot change these.
    wants = (count >= max_compact_ || size > kMostInHeader) && (!shared || shared_changes(file_) != nullptr);
    return status == Status::not_found ? Status::ok : status;
}

Status AttributeChanges::add(const DenseAddresses& to, ConstBytes name, std::uint32_t order,
                             HeapContent& content) noexcept {
    Temporary<DenseStorageChanges> changes(file_.context, file_, kDenseAttributes);
    if (!changes) {
        return Status::out_of_memory;
    }
    H5MOTE_TRY(changes->open(to));
    std::byte record[kNameRecord];
    std::byte id[FractalHeapChanges::kMostId];
    H5MOTE_TRY(changes->heap.insert(content, id));
    FractalHeap heap;
    H5MOTE_TRY(heap.open(file_, to.heap));
    ByName by_name(file_, heap, name);
    write_record(record, id, order, by_name.hash());
    H5MOTE_TRY(changes->names.insert(by_name, record));
    if (changes->has_order_index()) {
        ByOrder by_order(order);
        H5MOTE_TRY(changes->orders.insert(by_order, {record, kOrderRecord}));
    }
    H5MOTE_TRY(changes->heap.prepare());
    changes->apply();
    return Status::ok;
}

// Puts an attribute in the place of the one that is called `from`, with its creation order.
Status AttributeChanges::put(ConstBytes from, ConstBytes name, HeapContent& content) noexcept {
    Temporary<DenseStorageChanges> changes(file_.context, file_, kDenseAttributes);
    if (!changes) {
        return Status::out_of_memory;
    }
    H5MOTE_TRY(changes->open(dense()));
    std::byte record[kNameRecord];
    std::byte id[FractalHeapChanges::kMostId];
    FractalHeap heap;
    H5MOTE_TRY(heap.open(file_, dense().heap));
    ByName by_old_name(file_, heap, from);
    H5MOTE_TRY(changes->names.find(by_old_name, record));
    const std::uint32_t order = order_in(record);
    H5MOTE_TRY(changes->heap.replace(content, {record, kId}, id));
    ByName by_name(file_, heap, name);
    write_record(record, id, order, by_name.hash());
    if (text_of(from) == text_of(name)) {
        H5MOTE_TRY(changes->names.update(by_name, record));
    } else {
        // In this order: the heap as it was, in which names are looked up, does not have the new attribute.
        H5MOTE_TRY(changes->names.remove(by_old_name));
        H5MOTE_TRY(changes->names.insert(by_name, record));
    }
    if (changes->has_order_index()) {
        ByOrder by_order(order);
        H5MOTE_TRY(changes->orders.update(by_order, {record, kOrderRecord}));
    }
    H5MOTE_TRY(changes->heap.prepare());
    changes->apply();
    return Status::ok;
}

// Copies the attribute that `message` has open. The name, and of a message that the cache holds everything, is copied
// to memory first, so that nothing in the cache is held meanwhile.
Status AttributeChanges::copy_one(const DenseAddresses& to, MetadataWindow& message, std::uint32_t order,
                                  ConstBytes left_out) noexcept {
    AttributeParts parts;
    H5MOTE_TRY(decode_attribute(file_.context, message, parts));
    const bool whole = static_cast<bool>(message.block());
    const auto size = whole ? static_cast<std::size_t>(message.size()) : parts.name + std::size_t{parts.name_size};
    auto* const bytes = static_cast<std::byte*>(file_.context.allocate(MemoryKind::value, size));
    if (bytes == nullptr) {
        return Status::out_of_memory;
    }
    Status status = message.read(0, {bytes, size});
    const std::string_view name =
        status == Status::ok ? text_before(text_of({bytes + parts.name, parts.name_size}), '\0') : std::string_view{};
    if (status == Status::ok && name != text_of(left_out)) {
        WindowContent in_window(message);
        BytesContent in_memory({bytes, size});
        if (whole) {
            message.close();
        }
        status = add(to, bytes_of(name), order, whole ? static_cast<HeapContent&>(in_memory) : in_window);
    }
    file_.context.release(MemoryKind::value, bytes, size);
    return status;
}

// Opens an attribute in the header as one that shares nothing.
Status AttributeChanges::open_own(MessageIterator& message, MetadataWindow& body) noexcept {
    const SharedMessageChangesFormat* const shared = shared_changes(file_);
    if (shared == nullptr) {
        return message.open_body(body);
    }
    StoredMessage stored;
    H5MOTE_TRY(stored.open(message));
    body = static_cast<MetadataWindow&&>(stored.bytes());
    return shared->own_attribute(file_, body);
}

Status AttributeChanges::copy_compact(const DenseAddresses& to, ConstBytes left_out) noexcept {
    MessageIterator message(file_, object_);
    Status status;
    while ((status = message.next()) == Status::ok) {
        if (message.type() == MessageType::attribute) {
            MetadataWindow body;
            H5MOTE_TRY(open_own(message, body));
            message.park();
            H5MOTE_TRY(copy_one(to, body, message.order(), left_out));
        }
    }
    return status == Status::not_found ? Status::ok : status;
}

Status AttributeChanges::copy_dense(const DenseAddresses& to) noexcept {
    FractalHeap heap;
    BTree2 names;
    H5MOTE_TRY(heap.open(file_, dense().heap));
    H5MOTE_TRY(names.open(file_, dense().name_index));
    for (std::uint64_t i = 0; i < names.size(); ++i) {
        std::byte bytes[BTree2::kMaxRecordSize];
        AttributeRecord record;
        MetadataWindow message;
        H5MOTE_TRY(names.record(i, bytes));
        if (!record.decode(BTree2Type::attribute_name, {bytes, names.record_size()})) {
            return file_.context.fail(Module::attribute, H5MOTE_HERE, Status::corrupt_file, 0, object_);
        }
        const SharedMessageChangesFormat* const shared = shared_changes(file_);
        if (shared == nullptr && (record.flags & kMessageShared) != 0) {
            return file_.context.unsupported(Module::attribute, H5MOTE_HERE, Feature::shared_message);
        }
        H5MOTE_TRY((record.flags & kMessageShared) == 0 ? heap.object(record.heap_id, message)
                                                        : shared->open_attribute(file_, record.heap_id, message));
        H5MOTE_TRY(shared == nullptr ? Status::ok : shared->own_attribute(file_, message));
        H5MOTE_TRY(copy_one(to, message, record.order, {}));
    }
    return Status::ok;
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
                      addresses) {}

private:
    Status decode(Context& context, ConstBytes record, ConstBytes& heap_id,
                  std::uint16_t& order) const noexcept override {
        AttributeRecord found;
        if (!found.decode(BTree2Type::attribute_name, record)) {
            return context.fail(Module::attribute, H5MOTE_HERE, Status::corrupt_file);
        }
        if ((found.flags & kMessageShared) != 0) {
            return context.unsupported(Module::attribute, H5MOTE_HERE, Feature::shared_message);
        }
        heap_id = found.heap_id;
        order = static_cast<std::uint16_t>(found.order);
        return Status::ok;
    }
};

// In dense storage each attribute is its own.
Status AttributeChanges::become_dense(const NewAttribute& attribute) noexcept {
    class Becoming final : public HeaderChange {
    public:
        Becoming(AttributeChanges& changes, const NewAttribute& attribute) noexcept
            : changes_(changes), attribute_(attribute) {}
        Status run() noexcept override { return changes_.move_to_dense(attribute_); }

    private:
        AttributeChanges& changes_;
        const NewAttribute& attribute_;
    };
    const SharedMessageChangesFormat* const shared = shared_changes(file_);
    Becoming becoming(*this, attribute);
    return shared == nullptr ? becoming.run() : shared->take_attributes_out(file_, object_, becoming);
}

Status AttributeChanges::move_to_dense(const NewAttribute& attribute) noexcept {
    DenseAddresses made;
    H5MOTE_TRY(DenseStorageChanges::create(file_, kDenseAttributes, indexed(), made));
    BytesContent content(attribute.head, attribute.data);
    Status status = copy_compact(made, attribute.name);
    status = status == Status::ok ? add(made, attribute.name, attribute.order, content) : status;
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

// Makes new dense storage with the same attributes; `old` is what the object had, which is not given up.
Status AttributeChanges::renew(DenseAddresses& old) noexcept {
    DenseAddresses made;
    H5MOTE_TRY(DenseStorageChanges::create(file_, kDenseAttributes, indexed(), made));
    Status status = copy_dense(made);
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
    old = dense();
    info_.storage = made;
    return Status::ok;
}

Status AttributeChanges::copy() noexcept {
    DenseAddresses old;
    H5MOTE_TRY(renew(old));
    dispose_of(old);
    return Status::ok;
}

Status AttributeChanges::make_changeable() noexcept {
    if (version_ == 1) {
        return file_.context.unsupported(Module::attribute, H5MOTE_HERE, Feature::object_header_version, 1);
    }
    if (!DenseStorageChanges::is_possible(file_)) {
        return file_.context.unsupported(Module::attribute, H5MOTE_HERE, Feature::ordered_writing);
    }
    Status status;
    bool wasteful = false;
    {
        Temporary<DenseStorageChanges> changes(file_.context, file_, kDenseAttributes);
        if (!changes) {
            return Status::out_of_memory;
        }
        status = changes->open(dense());
        wasteful = status == Status::ok && changes->wants_copy();
    }
    if (status != Status::ok && status != Status::not_found) {
        return status;
    }
    return wasteful || status == Status::not_found ? copy() : Status::ok;
}

Status AttributeChanges::write(const NewAttribute& attribute, bool exists, bool& compact) noexcept {
    compact = false;
    if (!info_.dense) {
        const Status status = become_dense(attribute);
        // A cache without room for dense storage, and a header that no write can switch, are no reason to refuse the
        // attribute.
        compact = (status == Status::over_budget || status == Status::unsupported) &&
                  attribute.head.size() + attribute.data.size() <= kMostInHeader;
        return compact ? Status::ok : status;
    }
    H5MOTE_TRY(make_changeable());
    BytesContent content(attribute.head, attribute.data);
    return exists ? put(attribute.name, attribute.name, content)
                  : add(dense(), attribute.name, attribute.order, content);
}

Status AttributeChanges::rename(ConstBytes from, const NewAttribute& attribute) noexcept {
    H5MOTE_TRY(make_changeable());
    BytesContent content(attribute.head, attribute.data);
    return put(from, attribute.name, content);
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

Status AttributeChanges::remove_from(const DenseAddresses& from, ConstBytes name) noexcept {
    Temporary<DenseStorageChanges> changes(file_.context, file_, kDenseAttributes);
    if (!changes) {
        return Status::out_of_memory;
    }
    H5MOTE_TRY(changes->open(from));
    FractalHeap heap;
    std::byte record[kNameRecord];
    H5MOTE_TRY(heap.open(file_, from.heap));
    ByName by_name(file_, heap, name);
    H5MOTE_TRY(changes->names.find(by_name, record));
    H5MOTE_TRY(changes->heap.remove({record, kId}));
    H5MOTE_TRY(changes->names.remove(by_name));
    if (changes->has_order_index()) {
        ByOrder by_order(order_in(record));
        const Status status = changes->orders.remove(by_order);
        if (status != Status::ok) {
            return status == Status::not_found
                       ? file_.context.fail(Module::attribute, H5MOTE_HERE, Status::corrupt_file, 0, from.order_index)
                       : status;
        }
    }
    H5MOTE_TRY(changes->heap.prepare());
    changes->apply();
    return Status::ok;
}

Status AttributeChanges::remove(ConstBytes name) noexcept {
    std::uint64_t position = 0;
    std::uint64_t left = 0;
    {
        FractalHeap heap;
        BTree2 names;
        std::byte bytes[BTree2::kMaxRecordSize];
        AttributeRecord record;
        StoredAttributeMessage attribute;
        H5MOTE_TRY(heap.open(file_, dense().heap));
        H5MOTE_TRY(names.open(file_, dense().name_index));
        ByName by_name(file_, heap, name);
        H5MOTE_TRY(names.find(by_name, bytes, &position));
        left = names.size() - 1;
        (void)record.decode(BTree2Type::attribute_name, {bytes, names.record_size()});
        H5MOTE_TRY(heap.object(record.heap_id, attribute.bytes));
        H5MOTE_TRY(decode_attribute(file_.context, attribute.bytes, attribute.parts));
        if ((attribute.parts.flags & AttributeParts::kSharedSpace) != 0) {
            return file_.context.unsupported(Module::attribute, H5MOTE_HERE, Feature::shared_message);
        }
    }
    if (left < min_dense_ && version_ != 1) {
        const Status status = become_compact(position);
        if (status != Status::over_budget && status != Status::unsupported) {
            return status;
        }
    }
    H5MOTE_TRY(make_changeable());
    return remove_from(dense(), name);
}

}  // namespace

Status wants_dense_attributes(FileState& file, Address object, Address size, bool& wants) noexcept {
    AttributeChanges changes(file, object);
    H5MOTE_TRY(changes.open());
    return changes.wants_dense(size, wants);
}

Status write_dense_attribute(FileState& file, Address object, const NewAttribute& attribute, bool exists,
                             bool& compact) noexcept {
    AttributeChanges changes(file, object);
    H5MOTE_TRY(changes.open());
    return changes.write(attribute, exists, compact);
}

Status rename_dense_attribute(FileState& file, Address object, ConstBytes from,
                              const NewAttribute& attribute) noexcept {
    AttributeChanges changes(file, object);
    H5MOTE_TRY(changes.open());
    return changes.rename(from, attribute);
}

Status remove_dense_attribute(FileState& file, Address object, ConstBytes name, bool& compact) noexcept {
    AttributeChanges changes(file, object);
    H5MOTE_TRY(changes.open());
    compact = !changes.is_dense();
    return compact ? Status::ok : changes.remove(name);
}

Status renew_dense_attributes(FileState& file, Address object, DenseAddresses& old) noexcept {
    AttributeChanges changes(file, object);
    H5MOTE_TRY(changes.open());
    return changes.is_dense() ? changes.renew(old) : Status::not_found;
}

}  // namespace h5mote

#endif
