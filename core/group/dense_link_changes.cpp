// Links in dense storage are added and removed, and groups change between compact and dense storage.

#include "dense_changes.hpp"
#include "dense_editor.hpp"
#include "dense_storage_changes.hpp"
#include "fractal_heap.hpp"
#include "header_rewrite.hpp"
#include "link_storage.hpp"
#include "object_messages.hpp"
#include "text.hpp"

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {
namespace {

constexpr std::size_t kId = LinkNameRecord::kHeapIdSize;

// Compares a name with the records of a name index. Nothing of the cache is held between two comparisons.
class ByName final : public RecordCompare {
public:
    ByName(FileState& file, FractalHeap& heap, ConstBytes name) noexcept
        : file_(file), heap_(heap), name_(name), hash_(name_hash(name)) {}
    std::uint32_t hash() const noexcept { return hash_; }
    /// The creation order of the link that the last comparison has read.
    std::uint64_t creation_order() const noexcept { return creation_order_; }

    Status compare(ConstBytes record, int& order) noexcept override {
        LinkNameRecord found;
        if (!found.decode(record)) {
            return file_.context.fail(Module::group, H5MOTE_HERE, Status::corrupt_file);
        }
        order = hash_ < found.hash ? -1 : 1;
        if (found.hash != hash_) {
            return Status::ok;
        }
        StoredLink stored;
        H5MOTE_TRY(heap_.object(found.heap_id, stored.bytes));
        H5MOTE_TRY(stored.decode(file_));
        order = text_of(name_).compare(text_of(stored.link.name));
        creation_order_ = stored.link.order;
        return Status::ok;
    }

private:
    FileState& file_;
    FractalHeap& heap_;
    ConstBytes name_;
    std::uint32_t hash_;
    std::uint64_t creation_order_ = 0;
};

class ByOrder final : public RecordCompare {
public:
    explicit ByOrder(std::uint64_t order) noexcept : order_(order) {}
    Status compare(ConstBytes record, int& order) noexcept override {
        LinkOrderRecord found;
        (void)found.decode(record);  // cannot fail: the length of the records was checked
        order = order_ < found.order ? -1 : order_ > found.order ? 1 : 0;
        return Status::ok;
    }

private:
    std::uint64_t order_;
};

// A group whose links are changed.
class LinkChanges {
public:
    LinkChanges(FileState& file, Address group) noexcept : file_(file), group_(group), changes_(file, kDenseLinks) {}

    Status open() noexcept { return storage_.open(file_, group_); }

    Status insert(const LinkMessage& link, bool& compact) noexcept;
    Status remove(ConstBytes name) noexcept;
    Status take_symbols(DenseAddresses& made) noexcept;

private:
    bool is_dense() const noexcept { return storage_.kind == LinkStorage::dense; }
    const DenseAddresses& dense() const noexcept { return storage_.info.storage; }

    Status read_limits() noexcept;
    Status count_compact(std::uint64_t& links) noexcept;
    Status stage(const DenseAddresses& to, const LinkMessage& link, HeapContent& content) noexcept;
    Status add_encoded(const DenseAddresses& to, const LinkMessage& link, StoredLink* stored = nullptr) noexcept;
    Status copy_compact(const DenseAddresses& to) noexcept;
    Status copy_dense(const DenseAddresses& to) noexcept;
    Status copy_symbols(const DenseAddresses& to) noexcept;
    Status become_dense(const LinkMessage& link) noexcept;
    Status copy() noexcept;
    Status make_changeable() noexcept;
    Status wants_compact(ConstBytes name, std::uint64_t& position, bool& wants) noexcept;
    Status become_compact(std::uint64_t left_out) noexcept;
    Status stage_removal(const DenseAddresses& from, ConstBytes name) noexcept;
    void dispose_of(const DenseAddresses& addresses) noexcept;

    FileState& file_;
    Address group_;
    GroupStorage storage_;
    GroupInfo limits_;
    OpenDenseStorage changes_;
};

// Reads how many links make the group change between compact and dense storage.
Status LinkChanges::read_limits() noexcept {
    MessageIterator message(file_, group_);
    const Status status = message.next(MessageType::group_info);
    if (status == Status::ok && !GroupInfoMessage::decode(message.body(), limits_)) {
        return file_.context.fail(Module::group, H5MOTE_HERE, Status::corrupt_file, 0, group_);
    }
    return status == Status::not_found ? Status::ok : status;
}

Status LinkChanges::count_compact(std::uint64_t& links) noexcept {
    MessageIterator message(file_, group_);
    Status status;
    links = 0;
    while ((status = message.next()) == Status::ok) {
        links += message.type() == MessageType::link ? 1U : 0U;
    }
    return status == Status::not_found ? Status::ok : status;
}

// Stages a link, whose message is `content`, in dense storage that is open.
Status LinkChanges::stage(const DenseAddresses& to, const LinkMessage& link, HeapContent& content) noexcept {
    std::byte record[8 + kId];
    std::byte id[FractalHeapChanges::kMostId];
    H5MOTE_TRY(changes_->heap.insert(content, id));
    {
        FractalHeap heap;
        H5MOTE_TRY(heap.open(file_, to.heap));
        ByName compare(file_, heap, link.name);
        store_le(record, compare.hash());
        std::memcpy(record + 4, id, kId);
        H5MOTE_TRY(changes_->names.insert(compare, {record, 4 + kId}));
    }
    if (changes_->has_order_index()) {
        ByOrder compare(link.order);
        store_le(record, link.order);
        std::memcpy(record + 8, id, kId);
        H5MOTE_TRY(changes_->orders.insert(compare, {record, 8 + kId}));
    }
    return Status::ok;
}

// Adds a link to dense storage. `stored`, if given, has the bytes of the link; its windows are closed before anything
// is changed.
Status LinkChanges::add_encoded(const DenseAddresses& to, const LinkMessage& link, StoredLink* stored) noexcept {
    Writer counter;
    link.encode(counter, file_.shape());
    const std::size_t size = counter.written();
    auto* const bytes = static_cast<std::byte*>(file_.context.allocate(MemoryKind::value, size));
    if (bytes == nullptr) {
        return Status::out_of_memory;
    }
    Writer writer({bytes, size});
    link.encode(writer, file_.shape());
    BytesContent content({bytes, size});
    LinkMessage copy;
    Status status = copy.decode(file_.context, file_.shape(), {bytes, size});
    if (stored != nullptr) {
        stored->close();
    }
    status = status == Status::ok ? changes_.open(to) : status;
    status = status == Status::ok ? changes_.finish(stage(to, copy, content)) : status;
    file_.context.release(MemoryKind::value, bytes, size);
    return status;
}

Status LinkChanges::copy_compact(const DenseAddresses& to) noexcept {
    MessageIterator message(file_, group_);
    Status status;
    while ((status = message.next()) == Status::ok) {
        if (message.type() == MessageType::link) {
            StoredLink link;
            H5MOTE_TRY(message.open_body(link.bytes));
            H5MOTE_TRY(link.decode(file_));
            message.park();
            H5MOTE_TRY(add_encoded(to, link.link, &link));
        }
    }
    return status == Status::not_found ? Status::ok : status;
}

Status LinkChanges::copy_dense(const DenseAddresses& to) noexcept {
    FractalHeap heap;
    BTree2 names;
    H5MOTE_TRY(heap.open(file_, dense().heap));
    H5MOTE_TRY(names.open(file_, dense().name_index));
    for (std::uint64_t i = 0; i < names.size(); ++i) {
        std::byte record[BTree2::kMaxRecordSize];
        LinkNameRecord found;
        StoredLink link;
        H5MOTE_TRY(names.record(i, record));
        if (!found.decode({record, names.record_size()})) {
            return file_.context.fail(Module::group, H5MOTE_HERE, Status::corrupt_file, 0, group_);
        }
        H5MOTE_TRY(heap.object(found.heap_id, link.bytes));
        H5MOTE_TRY(link.decode(file_));
        H5MOTE_TRY(add_encoded(to, link.link, &link));
    }
    return Status::ok;
}

Status LinkChanges::copy_symbols(const DenseAddresses& to) noexcept {
    LinkCursor cursor(file_);
    H5MOTE_TRY(cursor.open(group_));
    for (;;) {
        StoredLink link;
        const Status status = cursor.next(link);
        cursor.park();
        if (status != Status::ok) {
            return status == Status::not_found ? Status::ok : status;
        }
        H5MOTE_TRY(add_encoded(to, link.link, &link));
    }
}

// Gives up dense storage to which nothing leads any more. What cannot be read is lost space.
void LinkChanges::dispose_of(const DenseAddresses& addresses) noexcept {
    Disposal disposal(file_, false);
    if (DenseStorageChanges::dispose(file_, addresses, disposal) != Status::ok) {
        file_.space.free().set_complete(false);
    }
}

// The header gets another link info message, and in compact storage the links.
class LinksEditor final : public DenseEditor {
public:
    LinksEditor(FileState& file, const LinkInfoMessage& info, const DenseAddresses& addresses) noexcept
        : DenseEditor(file, {MessageType::link_info, MessageType::link, 8}, info.flags, info.max_order, addresses),
          context_(file.context) {}

private:
    Status decode(ConstBytes bytes, DenseObject& found) const noexcept override {
        LinkNameRecord record;
        if (!record.decode(bytes)) {
            return context_.fail(Module::group, H5MOTE_HERE, Status::corrupt_file);
        }
        found.heap_id = record.heap_id;
        return Status::ok;
    }

    Context& context_;
};

// All links, and the new one, go into new dense storage; then the header gets its message.
Status LinkChanges::become_dense(const LinkMessage& link) noexcept {
    DenseAddresses made;
    H5MOTE_TRY(DenseStorageChanges::create(file_, kDenseLinks, (storage_.info.flags & kOrderIndexed) != 0, made));
    Status status = copy_compact(made);
    status = status == Status::ok ? add_encoded(made, link) : status;
    status = status == Status::ok ? DenseStorageChanges::complete(file_, made) : status;
    if (status == Status::ok) {
        Temporary<LinksEditor> editor(file_.context, file_, storage_.info, made);
        status = editor ? rewrite_header(file_, group_, *editor) : Status::out_of_memory;
    }
    if (status != Status::ok) {
        dispose_of(made);
    }
    return status;
}

// All links go into new dense storage, in which they can be changed, and the message leads there.
Status LinkChanges::copy() noexcept {
    DenseAddresses made;
    H5MOTE_TRY(DenseStorageChanges::create(file_, kDenseLinks, (storage_.info.flags & kOrderIndexed) != 0, made));
    Status status = copy_dense(made);
    status = status == Status::ok ? DenseStorageChanges::complete(file_, made) : status;
    if (status == Status::ok) {
        MessageIterator message(file_, group_);
        const std::size_t offset = (storage_.info.flags & kOrderTracked) != 0 ? 10 : 2;
        std::byte* at = nullptr;
        status = message.next(MessageType::link_info);
        status = status == Status::ok ? message.change(offset, at) : status;
        if (status == Status::ok) {
            Writer writer({at, 3U * file_.shape().sizeof_addr});
            file_.shape().write_addr(writer, made.heap);
            file_.shape().write_addr(writer, made.name_index);
            if ((storage_.info.flags & kOrderIndexed) != 0) {
                file_.shape().write_addr(writer, made.order_index);
            }
        }
    }
    if (status != Status::ok) {
        dispose_of(made);
        return status;
    }
    const DenseAddresses old = dense();
    storage_.info.storage = made;
    dispose_of(old);
    return Status::ok;
}

// Opens the group's dense storage to be changed, or copies it, if it has to be.
Status LinkChanges::make_changeable() noexcept {
    if (!DenseStorageChanges::is_possible(file_)) {
        return file_.context.unsupported(Module::group, H5MOTE_HERE, Feature::ordered_writing);
    }
    bool as_it_is = false;
    H5MOTE_TRY(changes_.open(dense(), as_it_is));
    if (!as_it_is) {
        H5MOTE_TRY(copy());
    }
    return changes_.open(dense());
}

Status LinkChanges::insert(const LinkMessage& link, bool& compact) noexcept {
    compact = false;
    if (is_dense()) {
        file_.space.keep_spare();
        H5MOTE_TRY(make_changeable());
        return add_encoded(dense(), link);
    }
    std::uint64_t links = 0;
    H5MOTE_TRY(read_limits());
    H5MOTE_TRY(count_compact(links));
    Writer counter;
    link.encode(counter, file_.shape());
    compact = (links < limits_.max_compact && counter.written() <= 0xffff) || !DenseStorageChanges::is_possible(file_);
    if (compact) {
        return Status::ok;
    }
    const Status status = become_dense(link);
    if (status == Status::ok) {
        file_.space.keep_spare();
    }
    // A cache without room for dense storage, and a header that no write can switch, are no reason to refuse the link.
    compact = status == Status::over_budget || status == Status::unsupported;
    return compact ? Status::ok : status;
}

// The links but one go into the header.
Status LinkChanges::become_compact(std::uint64_t left_out) noexcept {
    const DenseAddresses old = dense();
    {
        Temporary<LinksEditor> editor(file_.context, file_, storage_.info, DenseAddresses{});
        if (!editor) {
            return Status::out_of_memory;
        }
        H5MOTE_TRY(editor->take(old, left_out));
        H5MOTE_TRY(rewrite_header(file_, group_, *editor));
    }
    dispose_of(old);
    return Status::ok;
}

// Stages the removal of a link from dense storage that is open.
Status LinkChanges::stage_removal(const DenseAddresses& from, ConstBytes name) noexcept {
    FractalHeap heap;
    std::byte record[4 + kId];
    H5MOTE_TRY(heap.open(file_, from.heap));
    ByName compare(file_, heap, name);
    H5MOTE_TRY(changes_->names.find(compare, record));
    const std::uint64_t order = compare.creation_order();
    H5MOTE_TRY(changes_->heap.remove({record + 4, kId}));
    H5MOTE_TRY(changes_->names.remove(compare));
    if (changes_->has_order_index()) {
        ByOrder by_order(order);
        const Status status = changes_->orders.remove(by_order);
        if (status != Status::ok) {
            return status == Status::not_found
                       ? file_.context.fail(Module::group, H5MOTE_HERE, Status::corrupt_file, 0, from.order_index)
                       : status;
        }
    }
    return Status::ok;
}

// Finds out whether so few links are left without that one, or none, that the header gets them, and which number it
// has.
Status LinkChanges::wants_compact(ConstBytes name, std::uint64_t& position, bool& wants) noexcept {
    BTree2 names;
    H5MOTE_TRY(read_limits());
    H5MOTE_TRY(names.open(file_, dense().name_index));
    wants = names.size() <= limits_.min_dense || names.size() == 1;
    if (!wants) {
        return Status::ok;
    }
    FractalHeap heap;
    H5MOTE_TRY(heap.open(file_, dense().heap));
    ByName compare(file_, heap, name);
    return names.find(compare, {}, &position);
}

Status LinkChanges::remove(ConstBytes name) noexcept {
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
    return changes_.finish(stage_removal(dense(), name));
}

Status LinkChanges::take_symbols(DenseAddresses& made) noexcept {
    if (!DenseStorageChanges::is_possible(file_)) {
        return file_.context.unsupported(Module::group, H5MOTE_HERE, Feature::ordered_writing);
    }
    H5MOTE_TRY(DenseStorageChanges::create(file_, kDenseLinks, false, made));
    Status status = copy_symbols(made);
    status = status == Status::ok ? DenseStorageChanges::complete(file_, made) : status;
    if (status != Status::ok) {
        dispose_of(made);
    }
    return status;
}

}  // namespace

Status make_dense_links(FileState& file, Address group, DenseAddresses& made) noexcept {
    return LinkChanges(file, group).take_symbols(made);
}

Status insert_dense_link(FileState& file, Address group, const LinkMessage& link, bool& compact) noexcept {
    LinkChanges changes(file, group);
    H5MOTE_TRY(changes.open());
    return changes.insert(link, compact);
}

Status remove_dense_link(FileState& file, Address group, ConstBytes name) noexcept {
    const FileSpace::Removal removal(file.space);
    LinkChanges changes(file, group);
    H5MOTE_TRY(changes.open());
    return changes.remove(name);
}

Status is_dense_group_empty(FileState& file, const DenseAddresses& addresses, bool& empty) noexcept {
    BTree2 names;
    H5MOTE_TRY(names.open(file, addresses.name_index));
    empty = names.size() == 0;
    return Status::ok;
}

Status dispose_dense_storage(FileState& file, const DenseAddresses& addresses, Disposal& disposal) noexcept {
    return DenseStorageChanges::dispose(file, addresses, disposal);
}

}  // namespace h5mote

#endif
