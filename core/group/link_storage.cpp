#include "link_storage.hpp"

#include "text.hpp"

#if H5MOTE_ALL_FORMATS

namespace h5mote {
namespace {

// The longest link message that is read. All known writers store the lengths of names and targets in two bytes at most.
constexpr Address kMaxLink = 0x40000;

Status decode_link(FileState& file, StoredLink& stored) noexcept {
    if (stored.bytes.size() > kMaxLink) {
        return file.context.fail(Module::group, H5MOTE_HERE, Status::corrupt_file, 0, stored.bytes.address());
    }
    ConstBytes body;
    H5MOTE_TRY(stored.bytes.view(0, static_cast<std::size_t>(stored.bytes.size()), body));
    return stored.link.decode(file.context, file.shape(), body);
}

// Makes a link of a symbol table entry.
Status decode_symbol(LocalHeap& names, const SymbolEntry& symbol, StoredLink& stored) noexcept {
    stored.link = {};
    H5MOTE_TRY(names.name(symbol.name, stored.bytes));
    H5MOTE_TRY(stored.bytes.view(0, static_cast<std::size_t>(stored.bytes.size()), stored.link.name));
    if (symbol.cached != SymbolEntry::Cached::soft_link) {
        stored.link.address = symbol.header;
        return Status::ok;
    }
    stored.link.type = LinkMessage::Type::soft;
    H5MOTE_TRY(names.name(symbol.soft_link, stored.target));
    return stored.target.view(0, static_cast<std::size_t>(stored.target.size()), stored.link.target);
}

Status decode_symbol_table(MessageIterator& message, GroupStorage& storage) noexcept {
    FileState& file = message.file();
    Reader reader(message.body());
    storage.kind = LinkStorage::symbol_table;
    storage.btree = file.shape().read_addr(reader);
    storage.heap = file.shape().read_addr(reader);
    return reader.ok() ? Status::ok : damaged_message(file.context, H5MOTE_HERE, MessageType::symbol_table);
}

// Compares a name with the records of the name index of dense storage: by hash, and where the hashes are equal by the
// name of the link itself.
class NameCompare final : public RecordCompare {
public:
    NameCompare(FileState& file, FractalHeap& heap, ConstBytes name, StoredLink& scratch) noexcept
        : file_(file), heap_(heap), name_(name), hash_(name_hash(name)), scratch_(scratch) {}

    Status compare(ConstBytes record, int& order) noexcept override {
        LinkNameRecord found;
        if (!found.decode(record)) {
            return file_.context.fail(Module::group, H5MOTE_HERE, Status::corrupt_file);
        }
        if (found.hash != hash_) {
            order = hash_ < found.hash ? -1 : 1;
            return Status::ok;
        }
        H5MOTE_TRY(heap_.object(found.heap_id, scratch_.bytes));
        H5MOTE_TRY(decode_link(file_, scratch_));
        order = text_of(name_).compare(text_of(scratch_.link.name));
        return Status::ok;
    }

private:
    FileState& file_;
    FractalHeap& heap_;
    ConstBytes name_;
    std::uint32_t hash_;
    StoredLink& scratch_;
};

H5MOTE_STEP Status find_dense(FileState& file, const DenseStorage& storage, ConstBytes name,
                              StoredLink& link) noexcept {
    FractalHeap heap;
    BTree2 index;
    H5MOTE_TRY(heap.open(file, storage.heap));
    H5MOTE_TRY(index.open(file, storage.name_index));
    std::byte record[BTree2::kMaxRecordSize];
    // The comparison that ends a successful search has decoded the link that was found into `link`.
    NameCompare compare(file, heap, name, link);
    return index.find(compare, {record, index.record_size()});
}

H5MOTE_STEP Status find_symbol(FileState& file, const GroupStorage& storage, ConstBytes name,
                               StoredLink& link) noexcept {
    LocalHeap names;
    GroupBTree1 tree;
    SymbolEntry symbol;
    H5MOTE_TRY(names.open(file, storage.heap));
    H5MOTE_TRY(names.begin_search());
    tree.open(file, storage.btree, names);
    H5MOTE_TRY(tree.find(name, symbol));
    names.end_search();
    return decode_symbol(names, symbol, link);
}

// Finds the link if it is a message of the group's header. Else `elsewhere` is set, and `storage` tells where the links
// are.
H5MOTE_STEP Status find_in_header(FileState& file, Address group, ConstBytes name, StoredLink& link,
                                  GroupStorage& storage, bool& elsewhere) noexcept {
    MessageIterator message(file, group);
    for (;;) {
        message.pass_links(name);
        H5MOTE_TRY(message.next());
        switch (message.type()) {
            case MessageType::link_info:
                H5MOTE_TRY(storage.info.decode(file.context, file.shape(), message.body()));
                if (storage.info.dense) {
                    storage.kind = LinkStorage::dense;
                    elsewhere = true;
                    return Status::ok;
                }
                break;
            case MessageType::symbol_table:
                elsewhere = true;
                return decode_symbol_table(message, storage);
            case MessageType::link:
                if (LinkMessage::has_name(message.body(), name)) {
                    H5MOTE_TRY(message.open_body(link.bytes));
                    return decode_link(file, link);
                }
                break;
            default:
                break;
        }
    }
}

}  // namespace

Status GroupStorage::open(FileState& file, Address group) noexcept {
    MessageIterator message(file, group);
    for (;;) {
        H5MOTE_TRY(message.next());
        if (message.type() == MessageType::symbol_table) {
            return decode_symbol_table(message, *this);
        }
        if (message.type() == MessageType::link_info) {
            H5MOTE_TRY(info.decode(file.context, file.shape(), message.body()));
            kind = info.dense ? LinkStorage::dense : LinkStorage::compact;
            header_version = message.version();
            return Status::ok;
        }
    }
}

Status find_stored_link(FileState& file, Address group, std::string_view name, StoredLink& link) noexcept {
    link.close();
    GroupStorage storage;
    bool elsewhere = false;
    H5MOTE_TRY(find_in_header(file, group, bytes_of(name), link, storage, elsewhere));
    if (!elsewhere) {
        return Status::ok;
    }
    return storage.kind == LinkStorage::dense ? find_dense(file, storage.info.storage, bytes_of(name), link)
                                              : find_symbol(file, storage, bytes_of(name), link);
}

LinkCursor::~LinkCursor() {
    file_.context.destroy(MemoryKind::handle, symbols_);
    file_.context.destroy(MemoryKind::handle, dense_);
}

Status LinkCursor::open(Address group) noexcept {
    group_ = group;
    H5MOTE_TRY(storage_.open(file_, group));
    if (storage_.kind == LinkStorage::symbol_table && symbols_ == nullptr) {
        symbols_ = file_.context.create<Symbols>(MemoryKind::handle);
    }
    if (storage_.kind == LinkStorage::dense && dense_ == nullptr) {
        dense_ = file_.context.create<Dense>(MemoryKind::handle);
    }
    if ((storage_.kind == LinkStorage::symbol_table && symbols_ == nullptr) ||
        (storage_.kind == LinkStorage::dense && dense_ == nullptr)) {
        return Status::out_of_memory;
    }
    return start(IndexOrder::native, Direction::increasing);
}

bool LinkCursor::can(IndexOrder order, Direction direction) const noexcept {
    switch (storage_.kind) {
        case LinkStorage::symbol_table:
            return order != IndexOrder::creation;
        case LinkStorage::dense:
            return order == IndexOrder::native ||
                   (order == IndexOrder::creation && storage_.info.storage.order_index != kUndefinedAddress);
        default:
            return order == IndexOrder::native && direction == Direction::increasing;
    }
}

Status LinkCursor::open_dense(bool by_order) noexcept {
    by_order_ = by_order;
    H5MOTE_TRY(dense_->heap.open(file_, storage_.info.storage.heap));
    return dense_->index.open(file_, by_order ? storage_.info.storage.order_index : storage_.info.storage.name_index);
}

Status LinkCursor::start(IndexOrder order, Direction direction) noexcept {
    direction_ = direction;
    position_ = 0;
    if (storage_.kind == LinkStorage::symbol_table) {
        H5MOTE_TRY(symbols_->names.open(file_, storage_.heap));
        symbols_->tree.open(file_, storage_.btree, symbols_->names);
        symbols_->cursor = {};
        symbols_->cursor.backwards = direction == Direction::decreasing;
        return Status::ok;
    }
    if (storage_.kind == LinkStorage::dense) {
        return open_dense(order == IndexOrder::creation);
    }
    message_.restart(group_);
    return Status::ok;
}

Status LinkCursor::next(StoredLink& link) noexcept {
    link.close();
    if (storage_.kind == LinkStorage::compact) {
        return next_compact(link);
    }
    if (storage_.kind == LinkStorage::symbol_table) {
        SymbolEntry symbol;
        H5MOTE_TRY(symbols_->tree.next(symbols_->cursor, symbol));
        return decode_symbol(symbols_->names, symbol, link);
    }
    if (position_ >= dense_->index.size()) {
        return Status::not_found;
    }
    const std::uint64_t position = position_++;
    return dense_at(direction_ == Direction::increasing ? position : dense_->index.size() - 1 - position, link);
}

Status LinkCursor::next_compact(StoredLink& link) noexcept {
    do {
        H5MOTE_TRY(message_.next());
    } while (message_.type() != MessageType::link);
    ++position_;
    H5MOTE_TRY(message_.open_body(link.bytes));
    return decode_link(file_, link);
}

Status LinkCursor::dense_at(std::uint64_t position, StoredLink& link) noexcept {
    std::byte bytes[BTree2::kMaxRecordSize];
    const ConstBytes record{bytes, dense_->index.record_size()};
    H5MOTE_TRY(dense_->index.record(position, {bytes, dense_->index.record_size()}));
    LinkNameRecord by_name;
    LinkOrderRecord by_order;
    if (by_order_ ? !by_order.decode(record) : !by_name.decode(record)) {
        return file_.context.fail(Module::group, H5MOTE_HERE, Status::corrupt_file, 0, group_);
    }
    H5MOTE_TRY(dense_->heap.object(by_order_ ? by_order.heap_id : by_name.heap_id, link.bytes));
    return decode_link(file_, link);
}

Status LinkCursor::at(std::uint64_t position, StoredLink& link) noexcept {
    link.close();
    if (storage_.kind == LinkStorage::dense) {
        return dense_at(position, link);
    }
    if (position_ > position) {
        H5MOTE_TRY(start(IndexOrder::native, Direction::increasing));
    }
    do {
        link.close();
        H5MOTE_TRY(next_compact(link));
    } while (position_ <= position);
    return Status::ok;
}

Status LinkCursor::count(std::uint64_t& links) noexcept {
    links = 0;
    if (storage_.kind == LinkStorage::dense) {
        links = dense_->index.size();
        return Status::ok;
    }
    H5MOTE_TRY(start(IndexOrder::native, Direction::increasing));
    Status status = Status::ok;
    if (storage_.kind == LinkStorage::symbol_table) {
        SymbolEntry symbol;
        while ((status = symbols_->tree.next(symbols_->cursor, symbol)) == Status::ok) {
            ++links;
        }
    } else {
        while ((status = message_.next()) == Status::ok) {
            links += message_.type() == MessageType::link ? 1U : 0U;
        }
    }
    return status == Status::not_found ? start(IndexOrder::native, Direction::increasing) : status;
}

Status LinkCursor::storage_size(StorageSize& size) noexcept {
    BlockSum index;
    BlockSum heap;
    if (storage_.kind == LinkStorage::symbol_table) {
        H5MOTE_TRY(symbols_->tree.walk(index));
        H5MOTE_TRY(symbols_->names.walk(heap));
    } else if (storage_.kind == LinkStorage::dense) {
        H5MOTE_TRY(dense_->index.walk(index));
        if (storage_.info.storage.order_index != kUndefinedAddress) {
            BTree2 orders;
            H5MOTE_TRY(orders.open(file_, storage_.info.storage.order_index));
            H5MOTE_TRY(orders.walk(index));
        }
        H5MOTE_TRY(dense_->heap.walk(heap));
    }
    size.index = index.bytes;
    size.heap = heap.bytes;
    return Status::ok;
}

}  // namespace h5mote

#endif
