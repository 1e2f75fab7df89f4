#include "symbol_table_changes.hpp"

#include "any_placement.hpp"
#include "btree1_changes.hpp"
#include "dense_changes.hpp"
#include "disposing_visitor.hpp"
#include "header.hpp"
#include "link_storage.hpp"
#include "links.hpp"
#include "local_heap_changes.hpp"
#include "symbol_node.hpp"

#include <cstring>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {
namespace {

// The rules that keep a power cut from losing links. A test build leaves one of them out (H5MOTE_TEST_OMIT).
enum class Rule {
    none,
    copy_with_tree,  // a node and the key of the tree that changes with it change by one write
    lowered_first,   // a node gets no name of the range of another one before the tree on the storage gives it that
                     // range
};

constexpr bool keep(Rule rule) noexcept { return rule != Rule::H5MOTE_TEST_OMIT; }

// A key of the tree: the offset of a name in the heap.
class Key {
public:
    Key(FileShape shape, Address name) noexcept : size_(shape.sizeof_size) { store_uint(bytes_, size_, name); }
    operator ConstBytes() const noexcept { return ConstBytes(bytes_).first(size_); }

private:
    std::byte bytes_[8];
    std::uint8_t size_;
};

// Whether an entry can have the offset of a path.
bool fits_in_entry(std::uint64_t offset) noexcept { return offset <= 0xffffffffU; }

// The offset of the empty name, which is less than all others.
constexpr Address kFirstName = 0;

// A group whose links are changed.
class TableChanges final : private LocalHeapUser {
public:
    TableChanges(FileState& file, Address group) noexcept
        : file_(file), group_(group), heap_(file, names_, *this), nodes_(file, names_) {}

    Status open() noexcept {
        H5MOTE_TRY(prepare_table(file_, group_));
        GroupStorage storage;
        H5MOTE_TRY(storage.open(file_, group_));
        symbols_ = storage.symbols;
        H5MOTE_TRY(names_.open(file_, symbols_.heap));
        tree_.open(file_, symbols_.btree, names_);
        return Status::ok;
    }
    Status insert(const LinkMessage& link) noexcept;
    Status remove(ConstBytes name) noexcept;

private:
    Status show(LocalHeapNote& note) noexcept override;
    Status lead_to(Address header) noexcept override;
    Status store(std::size_t offset, Address value, Phase phase) noexcept;
    Status add(const SymbolEntry& entry, ConstBytes name) noexcept;
    Status add_first(BTree1Changes& tree, const SymbolEntry& entry) noexcept;
    Status split(BTree1Changes& tree, Address node, unsigned number, const SymbolEntry& entry) noexcept;
    Status replace(BTree1Changes& tree, Address node, const SymbolNodeChange& change, const BTree1Edit& edit) noexcept;
    Status finish(BTree1Changes& tree) noexcept;
    void give_up(Address node) noexcept;
    // Call when a border between two nodes was lowered: the range of the second one is larger now.
    void note_lowered() noexcept { file_.foreign()->lowered_at = file_.foreign()->commits; }
    // The second node may be changed where it is, by a write of its own: the tree comes first.
    Status order_lowered() noexcept {
        const ForeignState& state = *file_.foreign();
        return state.lowered_at == state.commits && keep(Rule::lowered_first) ? file_.order() : Status::ok;
    }
    bool changes_with_tree() noexcept {
        return nodes_.can_change() && (file_.is_atomic() || !keep(Rule::copy_with_tree));
    }

    FileState& file_;
    Address group_;
    SymbolTableMessage symbols_;
    LocalHeap names_;
    LocalHeapChanges heap_;
    GroupBTree1 tree_;
    SymbolNodeEditor nodes_;
    Address new_name_ = kFirstName;  // of a link that is about to be added
};

Status TableChanges::show(LocalHeapNote& note) noexcept {
    GroupBTree1 tree;
    GroupBTree1::Cursor cursor;
    SymbolEntry entry;
    Status status = Status::ok;
    tree.open(file_, symbols_.btree, names_);
    while ((status = tree.next(cursor, entry)) == Status::ok) {
        H5MOTE_TRY(note.use(entry.name));
        if (entry.cached == SymbolEntry::Cached::soft_link) {
            H5MOTE_TRY(note.use(entry.soft_link));
        }
    }
    if (status == Status::not_found) {
        return new_name_ == kFirstName ? Status::ok : note.use(new_name_);
    }
    return status;
}

Status TableChanges::store(std::size_t offset, Address value, Phase phase) noexcept {
    MessageIterator message(file_, group_);
    H5MOTE_TRY(message.next(MessageType::symbol_table));
    std::byte* at = nullptr;
    H5MOTE_TRY(message.change(offset, at, phase));
    file_.shape().store_addr(at, value);
    return Status::ok;
}

Status TableChanges::lead_to(Address header) noexcept {
    H5MOTE_TRY(store(file_.shape().sizeof_addr, header, Phase::object));
    symbols_.heap = header;
    return Status::ok;
}

// The message leads to the changed tree.
Status TableChanges::finish(BTree1Changes& tree) noexcept {
    if (!tree.moved()) {
        return Status::ok;
    }
    const Status status = store(0, tree.root(), Phase::object);
    if (status != Status::ok) {
        tree.undo();
        return status;
    }
    symbols_.btree = tree.root();
    tree.apply();
    if (group_ == file_.root()) {
        file_.forget_root_table();
    }
    return Status::ok;
}

// Gives up a node to which the tree does not lead any more.
void TableChanges::give_up(Address node) noexcept {
    nodes_.park();
    Pinned block = file_.cache.find(node);
    const bool fresh = block && block->fresh();
    block.reset();
    file_.give_up(node, nodes_.size(), fresh);
}

// ---- adding ------------------------------------------------------------------------------------------------------

Status TableChanges::insert(const LinkMessage& link) noexcept {
    SymbolEntry entry;
    const bool soft = link.type == LinkType::soft;
    if (soft && !link.target.empty() && std::memchr(link.target.data(), 0, link.target.size()) != nullptr) {
        return file_.context.fail(Module::group, H5MOTE_HERE, Status::invalid_argument);
    }
    H5MOTE_TRY(order_lowered());
    H5MOTE_TRY(heap_.insert(link.name, entry.name));
    Address target = 0;
    Status status = Status::ok;
    if (soft) {
        new_name_ = entry.name;
        status = heap_.insert(link.target, target);
        if (status == Status::ok && !fits_in_entry(target)) {
            heap_.take_back(target);
            status = file_.context.fail(Module::group, H5MOTE_HERE, Status::over_budget, 0, target);
        }
        entry.cached = SymbolEntry::Cached::soft_link;
        entry.soft_link = static_cast<std::uint32_t>(target);
    } else {
        entry.header = link.address;
    }
    if (status == Status::ok) {
        status = add(entry, link.name);
        if (status != Status::ok && soft) {
            heap_.take_back(target);
        }
    }
    if (status != Status::ok) {
        heap_.take_back(entry.name);
    }
    return status;
}

Status TableChanges::add(const SymbolEntry& entry, ConstBytes name) noexcept {
    Address node = kUndefinedAddress;
    unsigned number = 0;
    bool found = false;
    BTree1Changes tree(tree_, Phase::object);
    tree_.look_for(name);
    const Status status = tree.find();
    if (status != Status::ok) {
        return status == Status::not_found ? add_first(tree, entry) : status;
    }
    H5MOTE_TRY(tree.child(node));
    H5MOTE_TRY(nodes_.open(node));
    H5MOTE_TRY(nodes_.find(name, number, found));
    if (found || nodes_.entries() == 0) {
        return file_.context.fail(Module::group, H5MOTE_HERE, Status::corrupt_file, 0, node);
    }
    if (nodes_.entries() >= nodes_.most()) {
        return split(tree, node, number, entry);
    }
    const Key key(file_.shape(), entry.name);
    const Key first(file_.shape(), kFirstName);
    BTree1Edit edit;
    if (number == nodes_.entries()) {
        edit.right = key;
    }
    if (tree.before()) {
        edit.left = first;
    }
    const bool lowers = !edit.right.empty() && !tree.behind();
    H5MOTE_TRY(replace(tree, node, {0, number, &entry, number, nodes_.entries()}, edit));
    if (lowers) {
        note_lowered();
    }
    return Status::ok;
}

Status TableChanges::add_first(BTree1Changes& tree, const SymbolEntry& entry) noexcept {
    const Key first(file_.shape(), kFirstName);
    const Key last(file_.shape(), entry.name);
    BTree1Edit edit;
    edit.left = first;
    edit.right = last;
    nodes_.park();
    H5MOTE_TRY(nodes_.write({0, 0, &entry, 0, 0}, edit.child));
    Status status = tree.change(edit);
    status = status == Status::ok ? finish(tree) : status;
    if (status != Status::ok) {
        nodes_.undo(edit.child);
    }
    return status;
}

// Changes the open node: where it is, if that is safe, or in a new node. `edit`: what else changes in the tree.
Status TableChanges::replace(BTree1Changes& tree, Address node, const SymbolNodeChange& change,
                             const BTree1Edit& edit) noexcept {
    const bool keys = !edit.left.empty() || !edit.right.empty();
    if (keys ? changes_with_tree() : nodes_.can_change()) {
        if (keys) {
            H5MOTE_TRY(tree.change(edit));
            H5MOTE_TRY(finish(tree));
        }
        nodes_.apply(change);
        nodes_.park();
        return Status::ok;
    }
    BTree1Edit moved = edit;
    H5MOTE_TRY(nodes_.write(change, moved.child));
    nodes_.park();
    Status status = tree.change(moved);
    status = status == Status::ok ? finish(tree) : status;
    if (status == Status::ok) {
        give_up(node);
    } else {
        nodes_.undo(moved.child);
    }
    return status;
}

// The lower half of a full node's entries stays in a node, and the upper half goes into a new one, as in libhdf5.
Status TableChanges::split(BTree1Changes& tree, Address node, unsigned number, const SymbolEntry& entry) noexcept {
    const unsigned entries = nodes_.entries();
    const unsigned half = nodes_.most() / 2;
    const bool below = number <= half;
    const SymbolNodeChange left =
        below ? SymbolNodeChange{0, number, &entry, number, half} : SymbolNodeChange{0, half, nullptr, half, half};
    const SymbolNodeChange right = below ? SymbolNodeChange{half, entries, nullptr, entries, entries}
                                         : SymbolNodeChange{half, number, &entry, number, entries};
    SymbolEntry last;
    H5MOTE_TRY(nodes_.entry(half - 1, last));
    const Key key(file_.shape(), entry.name);
    const Key middle(file_.shape(), number == half ? entry.name : last.name);
    const Key first(file_.shape(), kFirstName);
    BTree1Edit edit;
    edit.middle = middle;
    if (number == entries) {
        edit.right = key;
    }
    const bool lowers = number == entries && !tree.behind();
    if (tree.before()) {
        edit.left = first;
    }
    const bool stays = changes_with_tree();
    H5MOTE_TRY(nodes_.write(right, edit.added));
    Status status = stays ? Status::ok : nodes_.write(left, edit.child);
    if (status != Status::ok) {
        edit.child = kUndefinedAddress;
    }
    if (!stays) {
        nodes_.park();
    }
    status = status == Status::ok ? tree.change(edit) : status;
    status = status == Status::ok ? finish(tree) : status;
    if (status != Status::ok) {
        nodes_.park();
        nodes_.undo(edit.added);
        if (edit.child != kUndefinedAddress) {
            nodes_.undo(edit.child);
        }
        return status;
    }
    if (stays) {
        nodes_.apply(left);
        nodes_.park();
    } else {
        give_up(node);
    }
    if (lowers) {
        note_lowered();
    }
    return Status::ok;
}

// ---- removing ----------------------------------------------------------------------------------------------------

Status TableChanges::remove(ConstBytes name) noexcept {
    Address node = kUndefinedAddress;
    unsigned number = 0;
    bool found = false;
    SymbolEntry removed;
    BTree1Changes tree(tree_, Phase::object);
    tree_.look_for(name);
    H5MOTE_TRY(tree.find());
    H5MOTE_TRY(tree.child(node));
    H5MOTE_TRY(nodes_.open(node));
    H5MOTE_TRY(nodes_.find(name, number, found));
    if (!found || tree.before() || tree.behind()) {
        return Status::not_found;
    }
    H5MOTE_TRY(nodes_.entry(number, removed));
    const unsigned entries = nodes_.entries();
    if (entries == 1) {
        nodes_.park();
        H5MOTE_TRY(tree.remove());
        H5MOTE_TRY(finish(tree));
        give_up(node);
        note_lowered();
    } else {
        SymbolEntry last;
        H5MOTE_TRY(nodes_.entry(number == 0 ? 0 : number - 1, last));
        const Key key(file_.shape(), last.name);
        BTree1Edit edit;
        if (number + 1 == entries) {
            edit.right = key;
        }
        H5MOTE_TRY(replace(tree, node, {0, number, nullptr, number + 1, entries}, edit));
        if (!edit.right.empty()) {
            note_lowered();
        }
    }
    heap_.remove(removed.name);
    if (removed.cached == SymbolEntry::Cached::soft_link) {
        heap_.remove(removed.soft_link);
    }
    return Status::ok;
}

// ---- the part of the format --------------------------------------------------------------------------------------

Status insert_symbol(FileState& file, Address group, const LinkMessage& link) noexcept {
    if (link.type != LinkType::hard && link.type != LinkType::soft) {
        H5MOTE_TRY(convert_symbol_table(file, group));
        LinkMessage same = link;
        return insert_link(file, group, same);
    }
    Temporary<TableChanges> changes(file.context, file, group);
    if (!changes) {
        return Status::out_of_memory;
    }
    H5MOTE_TRY(changes->open());
    return changes->insert(link);
}

Status remove_symbol(FileState& file, Address group, ConstBytes name) noexcept {
    Temporary<TableChanges> changes(file.context, file, group);
    if (!changes) {
        return Status::out_of_memory;
    }
    H5MOTE_TRY(changes->open());
    return changes->remove(name);
}

Status is_empty_table(FileState& file, const SymbolTableMessage& symbols, bool& empty) noexcept {
    LocalHeap names;
    GroupBTree1 tree;
    GroupBTree1::Cursor cursor;
    SymbolEntry entry;
    H5MOTE_TRY(names.open(file, symbols.heap));
    tree.open(file, symbols.btree, names);
    const Status status = tree.next(cursor, entry);
    empty = status == Status::not_found;
    return empty ? Status::ok : status;
}

Status dispose_table(FileState& file, const SymbolTableMessage& symbols, Disposal& disposal) noexcept {
    DisposingVisitor visitor(disposal);
    LocalHeap names;
    GroupBTree1 tree;
    H5MOTE_TRY(names.open(file, symbols.heap));
    tree.open(file, symbols.btree, names);
    H5MOTE_TRY(BTree1Changes::dispose(tree, disposal));
    return names.walk(visitor);
}

Status create_table(FileState& file, SymbolTableMessage& symbols) noexcept {
    H5MOTE_TRY(LocalHeapChanges::create(file, symbols.heap));
    const Status status = BTree1Changes::create(file, BTree1Node::kGroup, file.foreign()->btree_k.group_internal,
                                                file.shape().sizeof_size, symbols.btree);
    LocalHeap names;
    if (status != Status::ok && names.open(file, symbols.heap) == Status::ok) {
        file.give_up(names.fields().data, names.data_size(), true);
        file.give_up(symbols.heap, names.header_size(), true);
    }
    return status;
}

}  // namespace

Status prepare_table(FileState& file, Address group) noexcept {
    const AnyPlacementFormat* const any = file.context.formats().any_placement;
    // A header of version 1 has no shorter prefix, and no shorter symbol table message.
    const std::uint64_t end = std::uint64_t{group} + 16 + 8 + std::uint64_t{2} * file.shape().sizeof_addr;
    return any == nullptr || file.one_write(std::uint64_t{group}, end) ? Status::ok : any->lengthen(file, group);
}

const SymbolTableChangesFormat formats::symbol_table_changes = {&insert_symbol, &remove_symbol, &is_empty_table,
                                                                &dispose_table, &create_table,  &convert_symbol_table};

}  // namespace h5mote

#endif
