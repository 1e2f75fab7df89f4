#include "link_storage.hpp"

#include "text.hpp"

namespace h5mote {
namespace {

// The longest link message that is read. All known writers store the lengths of names and targets in two bytes at most.
constexpr Address kMaxLink = 0x40000;

Status decode_symbol_table(MessageIterator& message, GroupStorage& storage) noexcept {
    FileState& file = message.file();
    storage.kind = LinkStorage::symbol_table;
    return storage.symbols.decode(file.shape(), message.body())
               ? Status::ok
               : damaged_message(file.context, H5MOTE_HERE, MessageType::symbol_table);
}

Status make_symbols(Context& context, SymbolTableReader*& symbols) noexcept {
    const SymbolTableFormat* const format = context.formats().symbol_tables;
    if (format == nullptr) {
        return context.unsupported(Module::group, H5MOTE_HERE, Feature::symbol_table_group);
    }
    symbols = format->make(context);
    return symbols == nullptr ? Status::out_of_memory : Status::ok;
}

H5MOTE_STEP Status find_symbol(FileState& file, const GroupStorage& storage, ConstBytes name,
                               StoredLink& link) noexcept {
    SymbolTableReader* symbols = nullptr;
    H5MOTE_TRY(make_symbols(file.context, symbols));
    Status status = symbols->open(file, storage.symbols.btree, storage.symbols.heap, false);
    if (status == Status::ok) {
        status = symbols->find(name, link);
    }
    symbols->destroy(file.context);
    return status;
}

// Whether the link info message at which the iterator stands says that the links are in dense storage.
H5MOTE_STEP Status decode_dense(MessageIterator& message, bool& dense) noexcept {
    LinkInfoMessage info;
    H5MOTE_TRY(info.decode(message.file().context, message.file().shape(), message.body()));
    dense = info.dense;
    return Status::ok;
}

// Finds the link if it is a message of the group's header. `elsewhere`: the group has its links in another place.
H5MOTE_STEP Status find_in_header(FileState& file, Address group, ConstBytes name, StoredLink& link,
                                  bool& elsewhere) noexcept {
    MessageIterator message(file, group);
    while (!elsewhere) {
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            message.pass_links(name);
        }
        H5MOTE_TRY(message.next());
        const bool symbols = message.type() == MessageType::symbol_table;
        if (symbols) {
            elsewhere = true;
        } else if (message.type() == MessageType::link_info) {
            H5MOTE_TRY(decode_dense(message, elsewhere));
        }
        if (elsewhere && H5MOTE_ALL_FORMATS == 0) {
            return file.context.unsupported(Module::group, H5MOTE_HERE,
                                            symbols ? Feature::symbol_table_group : Feature::dense_links);
        }
        if (message.type() == MessageType::link && LinkMessage::has_name(message.body(), name)) {
            H5MOTE_TRY(message.open_body(link.bytes));
            return link.decode(file);
        }
    }
    return Status::not_found;
}

// Finds a link that is no message of the group's header.
H5MOTE_STEP Status find_elsewhere(FileState& file, const GroupStorage& storage, ConstBytes name,
                                  StoredLink& link) noexcept {
    if (storage.kind != LinkStorage::dense) {
        return find_symbol(file, storage, name, link);
    }
    const DenseStorageFormat* format = nullptr;
    H5MOTE_TRY(dense_storage(file.context, Module::group, Feature::dense_links, format));
    file.space.keep_spare();  // the link may be removed, or others
    return format->find_link(file, storage.info.storage, name, link);
}

}  // namespace

Status StoredLink::decode(FileState& file) noexcept {
    if (bytes.size() > kMaxLink) {
        return file.context.fail(Module::group, H5MOTE_HERE, Status::corrupt_file, 0, bytes.address());
    }
    ConstBytes body;
    H5MOTE_TRY(bytes.view(0, static_cast<std::size_t>(bytes.size()), body));
    return link.decode(file.context, file.shape(), body);
}

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
            return Status::ok;
        }
    }
}

Status find_stored_link(FileState& file, Address group, std::string_view name, StoredLink& link) noexcept {
    link.close();
    bool elsewhere = false;
    const Status status = find_in_header(file, group, bytes_of(name), link, elsewhere);
    if (H5MOTE_ALL_FORMATS != 0 && elsewhere && status == Status::not_found) {
        GroupStorage storage;
        H5MOTE_TRY(storage.open(file, group));
        return find_elsewhere(file, storage, bytes_of(name), link);
    }
    return status;
}

Status GroupStorage::open_to_change(FileState& file, Address group) noexcept {
    H5MOTE_TRY(open(file, group));
    return is_changeable(file) ? Status::ok : unsupported(file);
}

Status GroupStorage::find(FileState& file, Address group, std::string_view name, StoredLink& link) const noexcept {
    if (H5MOTE_ALL_FORMATS != 0 && kind != LinkStorage::compact) {
        link.close();
        return find_elsewhere(file, *this, bytes_of(name), link);
    }
    return find_stored_link(file, group, name, link);
}

Status GroupStorage::unsupported(FileState& file) const noexcept {
    return file.context.unsupported(Module::group, H5MOTE_HERE,
                                    kind == LinkStorage::dense ? Feature::dense_links : Feature::symbol_table_group);
}

LinkCursor::~LinkCursor() {
    if (symbols_ != nullptr) {
        symbols_->destroy(file_.context);
    }
}

Status LinkCursor::open(Address group) noexcept {
    group_ = group;
    H5MOTE_TRY(storage_.open(file_, group));
    if (H5MOTE_ALL_FORMATS == 0 && storage_.kind != LinkStorage::compact) {
        return storage_.unsupported(file_);
    }
    if (in_symbol_table() && symbols_ == nullptr) {
        H5MOTE_TRY(make_symbols(file_.context, symbols_));
    }
    if (is_dense()) {
        H5MOTE_TRY(dense_.make(Module::group, Feature::dense_links));
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
    H5MOTE_TRY(dense_->open_heap(file_, storage_.info.storage.heap));
    return dense_->open_index(file_, by_order ? storage_.info.storage.order_index : storage_.info.storage.name_index);
}

Status LinkCursor::start(IndexOrder order, Direction direction) noexcept {
    direction_ = direction;
    position_ = 0;
    if (in_symbol_table()) {
        return symbols_->open(file_, storage_.symbols.btree, storage_.symbols.heap, direction == Direction::decreasing);
    }
    if (is_dense()) {
        return open_dense(order == IndexOrder::creation);
    }
    message_.restart(group_);
    return Status::ok;
}

Status LinkCursor::next(StoredLink& link) noexcept {
    link.close();
    if (in_symbol_table()) {
        return symbols_->next(link);
    }
    if (!is_dense()) {
        return next_compact(link);
    }
    if (position_ >= dense_->size()) {
        return Status::not_found;
    }
    const std::uint64_t position = position_++;
    return dense_at(direction_ == Direction::increasing ? position : dense_->size() - 1 - position, link);
}

Status LinkCursor::next_compact(StoredLink& link) noexcept {
    do {
        H5MOTE_TRY(message_.next());
    } while (message_.type() != MessageType::link);
    ++position_;
    H5MOTE_TRY(message_.open_body(link.bytes));
    return link.decode(file_);
}

Status LinkCursor::dense_at(std::uint64_t position, StoredLink& link) noexcept {
    std::byte bytes[BTree2::kMaxRecordSize];
    const ConstBytes record{bytes, dense_->record_size()};
    H5MOTE_TRY(dense_->record(position, {bytes, dense_->record_size()}));
    LinkNameRecord by_name;
    LinkOrderRecord by_order;
    if (by_order_ ? !by_order.decode(record) : !by_name.decode(record)) {
        return file_.context.fail(Module::group, H5MOTE_HERE, Status::corrupt_file, 0, group_);
    }
    H5MOTE_TRY(dense_->object(by_order_ ? by_order.heap_id : by_name.heap_id, link.bytes));
    return link.decode(file_);
}

Status LinkCursor::at(std::uint64_t position, StoredLink& link) noexcept {
    link.close();
    if (is_dense()) {
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
    if (is_dense()) {
        links = dense_->size();
        return Status::ok;
    }
    H5MOTE_TRY(start(IndexOrder::native, Direction::increasing));
    Status status = Status::ok;
    if (in_symbol_table()) {
        H5MOTE_TRY(symbols_->count(links));
    } else {
        while ((status = message_.next()) == Status::ok) {
            links += message_.type() == MessageType::link ? 1U : 0U;
        }
        if (status != Status::not_found) {
            return status;
        }
    }
    return start(IndexOrder::native, Direction::increasing);
}

Status LinkCursor::storage_size(StorageSize& size) noexcept {
    BlockSum index;
    BlockSum heap;
    if (in_symbol_table()) {
        H5MOTE_TRY(symbols_->walk(index, heap));
    } else if (is_dense()) {
        const DenseStorage& dense = storage_.info.storage;
        H5MOTE_TRY(dense_->open_index(file_, dense.name_index));
        H5MOTE_TRY(dense_->walk_index(index));
        if (dense.order_index != kUndefinedAddress) {
            H5MOTE_TRY(dense_->open_index(file_, dense.order_index));
            H5MOTE_TRY(dense_->walk_index(index));
        }
        H5MOTE_TRY(dense_->walk_heap(heap));
        H5MOTE_TRY(open_dense(by_order_));
    }
    size.index = index.bytes;
    size.heap = heap.bytes;
    return Status::ok;
}

}  // namespace h5mote
