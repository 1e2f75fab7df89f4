#include "shared_messages.hpp"

#include "dense_storage_changes.hpp"
#include "extension_messages.hpp"
#include "metadata_writer.hpp"
#include "stored_message.hpp"

#include <cstring>

namespace h5mote {
namespace {

constexpr unsigned kNone = ~0U;
constexpr std::uint16_t kMostMessages = 0xffff;
constexpr std::uint32_t kMostReferences = 0xffffffff;

Address table_size(FileState& file) noexcept { return SharedTable::size(file.shape(), file.foreign()->shared_indexes); }

BTree2Create tree_of(FileShape shape) noexcept {
    BTree2Create create;
    create.type = BTree2Type::shared_message;
    create.record_size = static_cast<std::uint16_t>(SharedMessageRecord::size(shape));
    return create;
}

// The rules without which a power cut may leave a record of a message that the heap does not have, or a count that is
// too low.
enum class SharedRule {
    none,
    heap_first,   // the heap has a message before the table or the tree leads to it
    table_first,  // the table counts a message before the tree has it
    uses_last,    // a message goes from the tree, then from the table's count, then from the heap
};

constexpr bool keep(SharedRule rule) noexcept { return rule != SharedRule::H5MOTE_TEST_OMIT; }

// What the storage has of a block that nothing there leads to needs no order.
Status write_after(FileState& file, SharedRule rule, CacheEntry& later, CacheEntry& earlier) noexcept {
    return later.fresh() || earlier.fresh() || !keep(rule) ? Status::ok : file.write_after(later, earlier);
}

}  // namespace

Status SharedMessages::open() noexcept {
    for (number_ = 0; number_ < file_.foreign()->shared_indexes; ++number_) {
        H5MOTE_TRY(read_shared_index(file_, number_, index_));
        if (index_.holds(type_)) {
            return index_.heap == kUndefinedAddress ? Status::ok : heap_.open(file_, index_.heap);
        }
    }
    return Status::not_found;
}

// ---- the master table --------------------------------------------------------------------------------------------

Status SharedMessages::hold_table() noexcept {
    const Address size = table_size(file_);
    H5MOTE_TRY(file_.cache.protect(Usage::object_header, file_.foreign()->shared_table, static_cast<std::size_t>(size),
                                   table_));
    if (file_.one_write(*table_, 0)) {
        return Status::ok;
    }
    return file_.space.in_one_unit(0, size) ? move_table() : file_.allow_torn();
}

Status SharedMessages::move_table() noexcept {
    const Address size = table_size(file_);
    const Address old = table_->address();
    Pinned block;
    H5MOTE_TRY(file_.create_block(Usage::object_header, static_cast<std::size_t>(size), size, block));
    std::memcpy(block->at(0), table_->at(0), static_cast<std::size_t>(size));
    MetadataCache::mark_dirty(*block, 0, Phase::object);
    MessageIterator message(file_, file_.superblock().extension);
    Status status = message.next(MessageType::shared_message_table);
    if (status == Status::ok) {
        status = message.store(SharedTableMessage::kTableOffset, block->address(), file_.shape().sizeof_addr);
    }
    if (status != Status::ok) {
        const Address address = block->address();
        block.reset();
        file_.give_up(address, size, true);
        return status;
    }
    table_.reset();
    file_.give_up(old, size);
    file_.foreign()->shared_table = block->address();
    table_ = static_cast<Pinned&&>(block);
    return Status::ok;
}

void SharedMessages::store_table() noexcept {
    const auto at = static_cast<std::size_t>(SharedTable::offset(file_.shape(), number_));
    index_.store(file_.shape(), table_->at(at));
    MetadataCache::mark_dirty(*table_, at, Phase::object);
}

// ---- records -----------------------------------------------------------------------------------------------------

// The table may count more messages than the tree has, as a power cut has left them.
Status SharedMessages::open_tree() noexcept {
    H5MOTE_TRY(tree_.open(file_, index_.index, Phase::object));
    if (tree_.type() != BTree2Type::shared_message || tree_.record_size() != record_size() ||
        tree_.size() > kMostMessages) {
        return file_.context.fail(Module::object, H5MOTE_HERE, Status::corrupt_file, 0, index_.index);
    }
    index_.messages = static_cast<std::uint16_t>(tree_.size());
    return Status::ok;
}

// The header of the tree is to lie so that one write changes it. The table names it in its new place.
Status SharedMessages::place_tree() noexcept {
    if (tree_.switches_at_once()) {
        return Status::ok;
    }
    const Address old = index_.index;
    H5MOTE_TRY(tree_.move_header(index_.index));
    store_table();
    file_.give_up(old, narrow(BTree2Header::size(file_.shape())));
    return Status::ok;
}

Status SharedMessages::open_list(MetadataWindow& list) noexcept {
    if (index_.index == kUndefinedAddress) {
        return Status::ok;
    }
    return index_.btree ? open_tree()
                        : file_.window(Usage::object_header, index_.index,
                                       SharedList::size(file_.shape(), index_.messages), true, list);
}

Status SharedMessages::record_at(unsigned i, MetadataWindow& list, std::byte* record) noexcept {
    if (index_.btree) {
        return tree_.record(i, {record, record_size()});
    }
    return list.read(SharedList::offset(file_.shape(), i), {record, record_size()});
}

// Finds the record of a message: `found_`, and `at_` if the index is a list.
Status SharedMessages::find(SharedMessageCompare& compare, bool& found) noexcept {
    const Bytes record{record_, record_size()};
    found = false;
    if (index_.index == kUndefinedAddress) {
        return Status::ok;
    }
    MetadataWindow list;
    H5MOTE_TRY(open_list(list));
    if (index_.btree) {
        const Status status = tree_.find(compare, record);
        found = status == Status::ok;
        H5MOTE_TRY(found || status == Status::not_found ? Status::ok : status);
    } else {
        for (at_ = 0; at_ < index_.messages; ++at_) {
            int order = 0;
            H5MOTE_TRY(record_at(at_, list, record_));
            H5MOTE_TRY(compare.compare(record, order));
            found = order == 0;
            if (found) {
                break;
            }
        }
    }
    return !found || found_.decode(file_.shape(), record)
               ? Status::ok
               : file_.context.fail(Module::object, H5MOTE_HERE, Status::corrupt_file, 0, index_.index);
}

// Writes a new list of all records but the one at position `at`, in whose place `record` comes, if there is one; behind
// the last record it is added.
Status SharedMessages::write_list(unsigned at, const std::byte* record, Address& list) noexcept {
    const FileShape shape = file_.shape();
    const unsigned count = index_.messages;
    const unsigned stored = record != nullptr ? (at == count ? count + 1 : count) : (at < count ? count - 1 : count);
    const Address room = SharedList::size(shape, index_.list_max);
    const Address used = SharedList::size(shape, stored);
    MetadataWindow old;
    H5MOTE_TRY(open_list(old));
    H5MOTE_TRY(file_.space.allocate(Usage::object_header, room, list));
    file_.space.unkeep_metadata(room);  // the list is written now
    const auto write = [&]() noexcept {
        std::byte bytes[SharedMessageRecord::kMostSize];
        Writer prefix{Bytes(bytes)};
        MetadataWriter block(file_, Usage::object_header, list, used - narrow(kChecksumSize));
        SharedList::encode_prefix(prefix);
        H5MOTE_TRY(block.put({bytes, prefix.written()}));
        for (unsigned i = 0; i < count + (at == count ? 1U : 0U); ++i) {
            if (i != at) {
                H5MOTE_TRY(record_at(i, old, bytes));
            }
            const std::byte* const from = i == at ? record : bytes;
            H5MOTE_TRY(from == nullptr ? Status::ok : block.put({from, record_size()}));
        }
        H5MOTE_TRY(block.end(true));
        // libhdf5 reads the whole of it.
        MetadataWriter rest(file_, Usage::object_header, list + used, room - used);
        H5MOTE_TRY(rest.put_zeros(room - used));
        return rest.end(false);
    };
    const Status status = write();
    if (status != Status::ok) {
        file_.give_up(list, room, true);
    }
    return status;
}

void SharedMessages::give_up_list(Address list) noexcept {
    if (list != kUndefinedAddress) {
        file_.give_up(list, SharedList::size(file_.shape(), index_.list_max));
    }
}

// The record that find() has found becomes what `found_` says.
Status SharedMessages::store_record(SharedMessageCompare& compare) noexcept {
    std::byte bytes[SharedMessageRecord::kMostSize];
    Writer writer{Bytes(bytes)};
    found_.encode(file_.shape(), writer);
    if (index_.btree) {
        H5MOTE_TRY(place_tree());
        return tree_.update(compare, {bytes, record_size()});
    }
    const Address old = index_.index;
    H5MOTE_TRY(write_list(at_, bytes, index_.index));
    give_up_list(old);
    store_table();
    return Status::ok;
}

// Makes a tree with the records of the list and `record`, for which `added` compares. Nothing leads to it yet, and no
// record may be added before something does: the cache may have written the header, which then changes as one that the
// storage leads to.
Status SharedMessages::to_tree(SharedMessageCompare& added, const std::byte* record, Address& header) noexcept {
    MetadataWindow list;
    H5MOTE_TRY(open_list(list));
    H5MOTE_TRY(BTree2Changes::create(file_, tree_of(file_.shape()), header));
    Status status = tree_.open(file_, header, Phase::object);
    for (unsigned i = 0; status == Status::ok && i < index_.messages; ++i) {
        SharedMessageCompare compare(file_, heap_, type_);
        SharedMessageRecord listed;
        std::byte bytes[SharedMessageRecord::kMostSize];
        status = list.read(SharedList::offset(file_.shape(), i), {bytes, record_size()});
        if (status == Status::ok && !listed.decode(file_.shape(), {bytes, record_size()})) {
            status = file_.context.fail(Module::object, H5MOTE_HERE, Status::corrupt_file, 0, index_.index);
        }
        if (status == Status::ok) {
            compare.set(listed);
            status = tree_.insert(compare, {bytes, record_size()});
        }
    }
    status = status == Status::ok ? tree_.insert(added, {record, record_size()}) : status;
    status = status == Status::ok ? file_.complete_first(header) : status;
    if (status != Status::ok) {
        dispose(kUndefinedAddress, header);
    }
    return status;
}

void SharedMessages::dispose(Address heap, Address tree) noexcept {
    Disposal disposal(file_, false);
    if (DenseStorageChanges::dispose(file_, {heap, tree, kUndefinedAddress}, disposal) != Status::ok) {
        file_.space.free().set_complete(false);
    }
}

// ---- more uses ---------------------------------------------------------------------------------------------------

Status SharedMessages::share(HeapContent& body, Bytes id, bool& shared) noexcept {
    SharedMessageCompare compare(file_, heap_, type_);
    bool found = false;
    shared = false;
    H5MOTE_TRY(hold_table());
    H5MOTE_TRY(compare.set(body));
    H5MOTE_TRY(find(compare, found));
    if (!found) {
        return index_.messages == kMostMessages ? Status::ok : insert(compare, body, id, shared);
    }
    if (!found_.in_heap || found_.references == kMostReferences) {
        return Status::ok;
    }
    std::memcpy(id.data(), found_.heap_id.data(), SharedReference::kHeapIdSize);
    ++found_.references;
    compare.set(found_);
    H5MOTE_TRY(store_record(compare));
    shared = true;
    return Status::ok;
}

// Opens the heap to be changed. `possible`: that can be done, and one write switches its header.
Status SharedMessages::open_changes(bool& possible) noexcept {
    const Status status = changes_.open(kSharedHeap, index_.heap);
    possible = status == Status::ok && file_.one_write(changes_.header_block(), 0);
    staged_ = status == Status::ok;
    return status == Status::not_found ? Status::ok : status;
}

Status SharedMessages::insert(SharedMessageCompare& compare, HeapContent& body, Bytes id, bool& shared) noexcept {
    const Address size = FractalHeapChanges::header_size(file_.shape());
    const bool makes_heap = index_.heap == kUndefinedAddress;
    if (makes_heap) {
        H5MOTE_TRY(file_.space.allocate(Usage::object_header, size, index_.heap));
    }
    Status status = makes_heap ? FractalHeapChanges::create(file_, kSharedHeap, index_.heap) : Status::ok;
    bool possible = false;
    status = status == Status::ok ? open_changes(possible) : status;
    if (status == Status::ok && possible) {
        status = insert_record(compare, body, id);
        shared = status == Status::ok;
    }
    if (status != Status::ok && makes_heap) {
        undo();
        file_.give_up(index_.heap, size, true);
        index_.heap = kUndefinedAddress;
    }
    return status;
}

Status SharedMessages::insert_record(SharedMessageCompare& compare, HeapContent& body, Bytes id) noexcept {
    H5MOTE_TRY(changes_.insert(body, id));
    H5MOTE_TRY(changes_.prepare());
    std::byte bytes[SharedMessageRecord::kMostSize];
    Writer writer{Bytes(bytes)};
    SharedMessageRecord record;
    record.in_heap = true;
    record.hash = compare.hash();
    record.references = 1;
    record.heap_id = id;
    record.encode(file_.shape(), writer);
    const Address old = index_.index;
    // Deleting the last message may have left an index that is a tree, but has none.
    const bool was_list = !index_.btree || old == kUndefinedAddress;
    const bool grows = index_.messages >= index_.list_max && was_list;
    Address made = kUndefinedAddress;
    if (grows) {
        H5MOTE_TRY(to_tree(compare, bytes, made));
    } else if (was_list) {
        H5MOTE_TRY(write_list(index_.messages, bytes, made));
    } else {
        H5MOTE_TRY(place_tree());
        tree_.stage();
    }
    Status status = was_list ? Status::ok : tree_.insert(compare, {bytes, record_size()});
    status = status == Status::ok ? apply_insertion(made) : status;
    if (status != Status::ok) {
        undo();
        if (grows) {
            dispose(kUndefinedAddress, made);
        } else if (was_list) {
            file_.give_up(made, SharedList::size(file_.shape(), index_.list_max), true);
        }
        return status;
    }
    if (was_list) {
        give_up_list(old);
    }
    return Status::ok;
}

// The heap is changed first, then the table, then a tree that it names already. `made`: a new list or tree.
Status SharedMessages::apply_insertion(Address made) noexcept {
    changes_.apply();
    H5MOTE_TRY(write_after(file_, SharedRule::heap_first, *table_, changes_.header_block()));
    ++index_.messages;
    if (made != kUndefinedAddress) {
        index_.btree = index_.messages > index_.list_max;
        index_.index = made;
    }
    store_table();
    if (made == kUndefinedAddress) {
        Pinned header = file_.cache.find(index_.index);
        const Status status = header ? write_after(file_, SharedRule::table_first, *header, *table_) : Status::ok;
        if (status != Status::ok) {
            return status;
        }
        tree_.apply();
    }
    staged_ = false;
    changes_.close();
    return Status::ok;
}

// ---- fewer uses --------------------------------------------------------------------------------------------------

// Finds the record of the message with that id in the heap.
Status SharedMessages::find(ConstBytes id, SharedMessageCompare& compare, bool& found) noexcept {
    MetadataWindow window;
    H5MOTE_TRY(heap_.object(id, window));
    WindowContent body(window);
    H5MOTE_TRY(compare.set(body));
    compare.set_place(id);
    return find(compare, found);
}

Status SharedMessages::count_users(ConstBytes id, std::uint32_t& users) noexcept {
    SharedMessageCompare compare(file_, heap_, type_);
    bool found = false;
    H5MOTE_TRY(index_.heap == kUndefinedAddress ? Status::ok : find(id, compare, found));
    users = found ? found_.references : 0;
    return Status::ok;
}

Status SharedMessages::release(ConstBytes id, bool& gone) noexcept {
    SharedMessageCompare compare(file_, heap_, type_);
    bool found = false;
    if (index_.heap == kUndefinedAddress) {
        return Status::ok;
    }
    H5MOTE_TRY(hold_table());
    H5MOTE_TRY(find(id, compare, found));
    gone = found && found_.references == 1;
    return found ? lower(compare) : Status::ok;
}

Status SharedMessages::forget(HeapContent& body, Address header, bool marked, bool& found) noexcept {
    SharedMessageCompare compare(file_, heap_, type_);
    H5MOTE_TRY(hold_table());
    H5MOTE_TRY(compare.set(body));
    compare.set_place(header);
    H5MOTE_TRY(find(compare, found));
    found = found && (marked || (!found_.in_heap && found_.header == header));
    return found ? lower(compare) : Status::ok;
}

Status SharedMessages::lower(SharedMessageCompare& compare) noexcept {
    compare.set(found_);
    if (found_.in_heap && found_.references > 1) {
        --found_.references;
        return store_record(compare);
    }
    if (index_.messages <= 1) {
        remove_all();
        return Status::ok;
    }
    H5MOTE_TRY(remove_record(compare));
    if (found_.in_heap && remove_from_heap() != Status::ok) {
        undo();  // the bytes stay in the heap
    }
    return Status::ok;
}

Status SharedMessages::remove_record(SharedMessageCompare& compare) noexcept {
    const Address old = index_.index;
    if (!index_.btree) {
        H5MOTE_TRY(write_list(at_, nullptr, index_.index));
        give_up_list(old);
        --index_.messages;
        store_table();
        return Status::ok;
    }
    H5MOTE_TRY(place_tree());
    H5MOTE_TRY(tree_.remove(compare));
    {
        Pinned header = file_.cache.find(index_.index);
        H5MOTE_TRY(header ? write_after(file_, SharedRule::uses_last, *table_, *header) : Status::ok);
    }
    --index_.messages;
    Address list = kUndefinedAddress;
    const bool shrinks = index_.messages < index_.btree_min && index_.messages <= index_.list_max;
    const Status status = shrinks ? write_list(kNone, nullptr, list) : Status::ok;
    if (list != kUndefinedAddress && status == Status::ok) {
        const Address tree = index_.index;
        index_.index = list;
        index_.btree = false;
        store_table();
        dispose(kUndefinedAddress, tree);
    } else {
        store_table();
    }
    return Status::ok;
}

Status SharedMessages::remove_from_heap() noexcept {
    bool possible = false;
    H5MOTE_TRY(open_changes(possible));
    if (possible) {
        H5MOTE_TRY(changes_.remove(found_.heap_id));
        H5MOTE_TRY(changes_.prepare());
        H5MOTE_TRY(write_after(file_, SharedRule::uses_last, changes_.header_block(), *table_));
        changes_.apply();
    }
    staged_ = false;
    changes_.close();
    return Status::ok;
}

// The last message goes, and with it index and heap.
void SharedMessages::remove_all() noexcept {
    const SharedIndex old = index_;
    index_.messages = 0;
    index_.index = index_.heap = kUndefinedAddress;
    index_.btree = index_.btree && index_.btree_min == 0;
    store_table();
    if (!old.btree) {
        give_up_list(old.index);
    }
    dispose(old.heap, old.btree ? old.index : kUndefinedAddress);
}

void SharedMessages::undo() noexcept {
    if (staged_) {
        changes_.undo();
        tree_.undo();
        changes_.close();
    }
    staged_ = false;
}

}  // namespace h5mote
