#include "btree2_composer.hpp"

#include "checked.hpp"

#include <cstring>

namespace h5mote {
namespace {

// The rules that keep a power cut from losing nodes. A test build leaves one of them out (H5MOTE_TEST_OMIT).
enum class Rule {
    none,
    keep_old,     // nodes to which the storage leads are not used again before a commit
    header_last,  // the header is written after the new nodes
    look_again,   // nodes that were to stay are copied if the storage leads to them by now
};

constexpr bool keep(Rule rule) noexcept { return rule != Rule::H5MOTE_TEST_OMIT; }

}  // namespace

// ---- one change --------------------------------------------------------------------------------------------------

Status BTree2Composer::check_changeable(unsigned depth) noexcept {
    BTree2Level each;
    for (unsigned i = 0; i <= depth; ++i) {
        if (!each.compute(file_->shape(), header_, i) || !each.can_change(header_)) {
            return file_->context.unsupported(Module::index, H5MOTE_HERE, Feature::chunk_index, header_.node_size);
        }
    }
    return Status::ok;
}

Status BTree2Composer::check_budget(FileState& file, std::uint32_t node_size) noexcept {
    const std::uint64_t need = std::uint64_t{node_size} + kBeside;
    return need <= file.cache.budget() ? Status::ok
                                       : file.context.fail(Module::index, H5MOTE_HERE, Status::over_budget, 0, need);
}

Status BTree2Composer::begin_change() noexcept {
    FileState& file = *file_;
    H5MOTE_TRY(check_changeable(header_.depth));
    H5MOTE_TRY(check_budget(file, header_.node_size));
    {
        Pinned header;
        H5MOTE_TRY(file.cache.protect(Usage::btree, address_, BTree2Header::size(file.shape()), header));
        if (!file.one_write(*header, BTree2Header::kChanging)) {
            H5MOTE_TRY(file.allow_torn());
        }
    }
    const bool is_first = made_ == nullptr;
    if (is_first) {
        stored_ = header_;
    } else if (has_steps()) {
        H5MOTE_TRY(copy_steps());
    }
    H5MOTE_TRY(extend_lists());
    next_ = header_;
    // Nodes that stay are pinned until the change is complete: a few, as far as there is room.
    const std::uint64_t pinned = (header_.depth + 1ULL) * header_.node_size;
    if (is_first && in_place_ && header_.depth < Steps::kMost && pinned <= file.cache.budget() / kPinnedShare) {
        void* const memory = file.context.allocate_spare(MemoryKind::other, sizeof(Steps));
        steps_ = memory == nullptr ? nullptr : ::new (memory) Steps;
    }
    return Status::ok;
}

// Gives the lists room for one more change.
Status BTree2Composer::extend_lists() noexcept {
    Context& context = file_->context;
    const unsigned capacity = (made_ == nullptr ? 0 : capacity_) + (header_.depth + 3U) * kMostOnLevel;
    auto* const made = static_cast<Address*>(context.allocate(MemoryKind::other, 2 * capacity * sizeof(Address)));
    if (made == nullptr) {
        return Status::out_of_memory;
    }
    if (made_ == nullptr) {
        made_count_ = retired_count_ = 0;
    } else {
        std::memcpy(made, made_, made_count_ * sizeof(Address));
        std::memcpy(made + capacity, retired_, retired_count_ * sizeof(Address));
        context.release(MemoryKind::other, made_, list_bytes());
    }
    made_ = made;
    retired_ = made + capacity;
    capacity_ = capacity;
    return Status::ok;
}

Status BTree2Composer::pin_header() noexcept {
    FileState& file = *file_;
    H5MOTE_TRY(file.cache.protect(Usage::btree, address_, BTree2Header::size(file.shape()), changed_header_));
    // The cache may have written a fresh header since begin_change() looked at it.
    return file.one_write(*changed_header_, BTree2Header::kChanging) ? Status::ok : file.allow_torn();
}

Status BTree2Composer::end_change(Status status) noexcept {
    if (made_ == nullptr) {
        return status;
    }
    if (status == Status::ok) {
        status = pin_header();
    }
    if (status == Status::ok && !staging_) {
        status = prepare_steps();
    }
    if (status == Status::ok && !has_steps()) {
        header_ = next_;
        leaf_ = Node{};
    }
    if (status != Status::ok || !staging_) {
        settle(status == Status::ok);
    }
    return status;
}

void BTree2Composer::settle(bool good) noexcept {
    if (made_ == nullptr) {
        return;
    }
    if (good) {
        if (has_steps()) {
            apply_steps();
        }
        Writer writer(changed_header_->image());
        header_.encode(file_->shape(), writer);
        if (!keep(Rule::header_last)) {
            MetadataCache::set_fresh(*changed_header_);
        }
        MetadataCache::mark_dirty(*changed_header_, BTree2Header::kChanging, phase_);
        for (unsigned i = 0; i < retired_count_; ++i) {
            give_up_node(retired_[i], false);
        }
    } else {
        header_ = stored_;
        leaf_ = Node{};
        for (unsigned i = 0; i < made_count_; ++i) {
            give_up_node(made_[i], true);
        }
    }
    changed_header_.reset();
    file_->context.destroy(MemoryKind::other, steps_);
    steps_ = nullptr;
    file_->context.release(MemoryKind::other, made_, list_bytes());
    made_ = retired_ = nullptr;
}

// A node of the tree whose block is fresh is one that the storage does not lead to yet, either, and so is one behind
// the end of file that the superblock on the storage has.
void BTree2Composer::give_up_node(Address address, bool is_new) noexcept {
    FileState& file = *file_;
    Pinned block = file.cache.find(address);
    const bool fresh = is_new || (block && block->fresh()) || file.is_unrecorded(address) || !keep(Rule::keep_old);
    const bool unwritten = fresh && block && block->dirty();
    block.reset();
    if (unwritten) {
        file.space.unkeep_metadata(header_.node_size);
    }
    file.cache.discard(address);
    file.space.release(address, header_.node_size, fresh);
}

bool BTree2Composer::is_new(Address address) const noexcept {
    unsigned i = 0;
    while (i < made_count_ && made_[i] != address) {
        ++i;
    }
    return i < made_count_;
}

Status BTree2Composer::retire(const Node& node) noexcept {
    if (node.address == kUndefinedAddress) {
        return Status::ok;
    }
    for (unsigned i = 0; i < made_count_; ++i) {
        if (made_[i] == node.address) {
            made_[i] = made_[--made_count_];
            give_up_node(node.address, true);
            return Status::ok;
        }
    }
    if (retired_count_ == capacity_) {
        return damaged(H5MOTE_HERE, node.address);
    }
    retired_[retired_count_++] = node.address;
    return Status::ok;
}

// ---- nodes that stay where they are ------------------------------------------------------------------------------

// Whether a node stays, which then is the last one that does. Those before it lead there from the root. `growth`: by so
// many bytes it becomes larger.
bool BTree2Composer::stays(const Slot& slot, const Node& node, std::size_t growth) noexcept {
    if (steps_ == nullptr || steps_->count > header_.depth) {
        return false;
    }
    const bool follows = steps_->count == 0 ? slot.in_header()
                                            : slot.holder.address == steps_->steps[steps_->count - 1].block->address();
    Pinned block = file_->cache.find(node.address);
    if (!follows || !block || !file_->stays(*block) || growth > block->spare()) {
        return false;
    }
    Steps::Step& step = steps_->steps[steps_->count++];
    step.block = static_cast<Pinned&&>(block);
    step.records = node.records;
    steps_->depth = steps_->count == 1 ? node.depth : steps_->depth;
    return true;
}

bool BTree2Composer::is_prepared() const noexcept {
    bool stay = true;
    for (unsigned i = 0; has_steps() && i < steps_->count; ++i) {
        stay = stay && file_->stays(*steps_->steps[i].block);
    }
    return stay || !keep(Rule::look_again);
}

Status BTree2Composer::prepare_steps() noexcept {
    if (is_prepared()) {
        return Status::ok;
    }
    Status status = copy_steps();
    status = status == Status::ok ? pin_header() : status;
    if (status != Status::ok && staging_) {
        settle(false);
    }
    return status;
}

// Makes copies of the nodes after all, with the changes, from the lowest one up.
Status BTree2Composer::copy_steps() noexcept {
    while (steps_->count != 0) {
        const unsigned i = --steps_->count;
        Steps::Step& step = steps_->steps[i];
        const Node old{step.block->address(), 0, 0, step.records, static_cast<std::uint16_t>(steps_->depth - i)};
        step.block.reset();
        NewNode to;
        if (old.depth == 0) {
            H5MOTE_TRY(make_leaf(old, step.index,
                                 {steps_->record, steps_->inserts ? std::size_t{header_.record_size} : 0}, to));
        } else {
            H5MOTE_TRY(copy_node(old, to));
            H5MOTE_TRY(
                set_pointer({to.node, step.index}, {step.pointer.address, step.pointer.total, 0, step.pointer.records,
                                                    static_cast<std::uint16_t>(old.depth - 1)}));
        }
        H5MOTE_TRY(retire(old));
        (i == 0 ? next_.root : steps_->steps[i - 1].pointer.address) = to.node.address;
    }
    header_ = next_;
    leaf_ = Node{};
    return Status::ok;
}

void BTree2Composer::apply_steps() noexcept {
    const std::size_t record_size = header_.record_size;
    for (unsigned i = 0; i < steps_->count; ++i) {
        Steps::Step& step = steps_->steps[i];
        CacheEntry& block = *step.block;
        std::size_t offset = pointers_at(step.index);
        if (i != steps_->depth) {
            const BTree2Level& below = level(steps_->depth - i - 1U);
            offset = pointers_at(step.records) + step.index * below.pointer_size(file_->shape());
            step.pointer.store(file_->shape(), below, block.at(offset));
        } else if (steps_->inserts) {
            MetadataCache::resize(block, block.size() + record_size);
            std::memmove(block.at(offset + record_size), block.at(offset), pointers_at(step.records) - offset);
            std::memcpy(block.at(offset), steps_->record, record_size);
        } else {
            std::memmove(block.at(offset), block.at(offset + record_size),
                         pointers_at(step.records) - offset - record_size);
            MetadataCache::resize(block, block.size() - record_size);
        }
        MetadataCache::mark_dirty(block, offset, phase_);
    }
    header_ = next_;
    leaf_ = Node{};
}

// ---- reading -----------------------------------------------------------------------------------------------------

Status BTree2Composer::locate(const Node& node, RecordCompare& compare, unsigned& index, bool& found) noexcept {
    MetadataWindow window;
    H5MOTE_TRY(open_node(node, window));
    return search(node, window, compare, index, found);
}

Status BTree2Composer::load_child(const Node& node, unsigned index, Node& below) noexcept {
    MetadataWindow window;
    H5MOTE_TRY(open_node(node, window));
    return child(node, window, index, below);
}

Status BTree2Composer::load_group(const Node& node, unsigned index, Group& group) noexcept {
    MetadataWindow window;
    H5MOTE_TRY(open_node(node, window));
    group.first = index == 0 ? 0 : index - 1;
    const unsigned last = index == node.records ? index : index + 1;
    group.count = last - group.first + 1;
    for (unsigned i = 0; i < group.count; ++i) {
        H5MOTE_TRY(child(node, window, group.first + i, group.child[i]));
    }
    return Status::ok;
}

Status BTree2Composer::load_record(const Node& node, unsigned index, Bytes record) noexcept {
    return record.empty() ? Status::ok : copy(node, pointers_at(index), header_.record_size, record.data());
}

unsigned BTree2Composer::Group::total() const noexcept {
    unsigned sum = count - 1;
    for (unsigned i = 0; i < count; ++i) {
        sum += child[i].records;
    }
    return sum;
}

// ---- new nodes ---------------------------------------------------------------------------------------------------

Status BTree2Composer::begin(unsigned depth, unsigned records, NewNode& to) noexcept {
    FileState& file = *file_;
    to.node.depth = static_cast<std::uint16_t>(depth);
    to.node.records = records;
    if (records > level(depth).most || made_count_ == capacity_) {
        return damaged(H5MOTE_HERE, address_);
    }
    // A leaf that may stay where it is when it changes again gets memory for all records that it can hold.
    const auto size = static_cast<std::size_t>(used_size(to.node));
    const bool grows = depth == 0 && steps_ != nullptr && header_.node_size - size <= CacheEntry::kMostSpare;
    H5MOTE_TRY(file.create_block(Usage::btree, grows ? header_.node_size : size, header_.node_size, to.block));
    if (grows) {
        MetadataCache::resize(*to.block, size);
    }
    to.node.address = to.block->address();
    made_[made_count_++] = to.node.address;
    BTree2Node::begin(header_.type, depth, to.block->at(0));
    return Status::ok;
}

Status BTree2Composer::copy(const Node& from, std::size_t offset, std::size_t size, std::byte* to) noexcept {
    if (size == 0) {
        return Status::ok;
    }
    MetadataWindow window;
    H5MOTE_TRY(open_node(from, window));
    return window.read(narrow(offset), {to, size});
}

Status BTree2Composer::copy_records(const Node& from, unsigned first, unsigned end, NewNode& to) noexcept {
    std::byte* const at = to.block->at(pointers_at(to.records));
    to.records += end - first;
    return copy(from, pointers_at(first), std::size_t{end - first} * header_.record_size, at);
}

Status BTree2Composer::copy_pointers(const Node& from, unsigned first, unsigned end, NewNode& to) noexcept {
    const std::size_t size = level(from.depth - 1U).pointer_size(file_->shape());
    std::byte* const at = to.block->at(pointers_at(to.node.records) + to.pointers * size);
    to.pointers += end - first;
    return copy(from, pointers_at(from.records) + first * size, (end - first) * size, at);
}

void BTree2Composer::add_record(ConstBytes record, NewNode& to) noexcept {
    std::memcpy(to.block->at(pointers_at(to.records)), record.data(), header_.record_size);
    ++to.records;
}

void BTree2Composer::add_pointer(const Node& below, NewNode& to) noexcept {
    const BTree2Level& level_below = level(below.depth);
    const std::size_t size = level_below.pointer_size(file_->shape());
    const BTree2Pointer pointer{below.address, below.records, below.total};
    pointer.store(file_->shape(), level_below, to.block->at(pointers_at(to.node.records) + to.pointers * size));
    ++to.pointers;
}

// While the node was written the cache may have committed, after which it takes no block for fresh.
void BTree2Composer::finish(std::uint64_t total, NewNode& to) noexcept {
    to.node.total = total;
    MetadataCache::set_fresh(*to.block);
    MetadataCache::mark_dirty(*to.block, 0, phase_);
    to.block.reset();
}

Status BTree2Composer::sum_totals(NewNode& to, std::uint64_t& total) noexcept {
    const FileShape shape = file_->shape();
    const BTree2Level& own = level(to.node.depth);
    const BTree2Level& below = level(to.node.depth - 1U);
    const std::size_t size = below.pointer_size(shape);
    total = to.node.records;
    for (unsigned i = 0; i <= to.node.records; ++i) {
        BTree2Pointer pointer;
        if (!pointer.decode(shape, below, {to.block->at(pointers_at(to.node.records) + i * size), size}) ||
            pointer.total > own.most_below - total) {
            return damaged(H5MOTE_HERE, to.node.address);
        }
        total += pointer.total;
    }
    return Status::ok;
}

Status BTree2Composer::protect_new(const Node& node, Pinned& block) noexcept {
    return file_->cache.protect(Usage::btree, node.address, static_cast<std::size_t>(used_size(node)), block);
}

Status BTree2Composer::set_pointer(const Slot& slot, const Node& node) noexcept {
    for (unsigned i = 0; has_steps() && i < steps_->count; ++i) {
        Steps::Step& step = steps_->steps[i];
        if (step.block->address() == slot.holder.address) {
            step.index = slot.index;
            step.pointer = {node.address, node.records, node.total};
            return Status::ok;
        }
    }
    if (slot.in_header()) {
        next_.root = node.address;
        next_.root_records = static_cast<std::uint16_t>(node.records);
        next_.records = node.total;
        next_.depth = node.depth;
        return Status::ok;
    }
    Pinned block;
    H5MOTE_TRY(protect_new(slot.holder, block));
    const BTree2Level& below = level(node.depth);
    const std::size_t offset = pointers_at(slot.holder.records) + slot.index * below.pointer_size(file_->shape());
    BTree2Pointer{node.address, node.records, node.total}.store(file_->shape(), below, block->at(offset));
    MetadataCache::set_fresh(*block);
    MetadataCache::mark_dirty(*block, offset, phase_);
    return Status::ok;
}

Status BTree2Composer::set_record(const Node& node, unsigned index, ConstBytes record) noexcept {
    Pinned block;
    H5MOTE_TRY(protect_new(node, block));
    std::memcpy(block->at(pointers_at(index)), record.data(), header_.record_size);
    MetadataCache::set_fresh(*block);
    MetadataCache::mark_dirty(*block, pointers_at(index), phase_);
    return Status::ok;
}

Status BTree2Composer::copy_node(const Node& node, NewNode& to) noexcept {
    H5MOTE_TRY(begin(node.depth, node.records, to));
    H5MOTE_TRY(copy_records(node, 0, node.records, to));
    if (node.depth != 0) {
        H5MOTE_TRY(copy_pointers(node, 0, node.records + 1, to));
    }
    finish(node.total, to);
    return Status::ok;
}

Status BTree2Composer::own(const Slot& slot, Node& node, bool whole) noexcept {
    if (!is_new(node.address) && (whole || !stays(slot, node, 0))) {
        NewNode to;
        H5MOTE_TRY(copy_node(node, to));
        H5MOTE_TRY(retire(node));
        node = to.node;
    }
    return set_pointer(slot, node);
}

// Makes a copy of a leaf with one record more, or one less.
Status BTree2Composer::make_leaf(const Node& leaf, unsigned index, ConstBytes record, NewNode& to) noexcept {
    const bool inserts = !record.empty();
    H5MOTE_TRY(begin(0, inserts ? leaf.records + 1 : leaf.records - 1, to));
    H5MOTE_TRY(copy_records(leaf, 0, index, to));
    if (inserts) {
        add_record(record, to);
    }
    H5MOTE_TRY(copy_records(leaf, inserts ? index : index + 1, leaf.records, to));
    finish(leaf.total, to);
    return Status::ok;
}

Status BTree2Composer::change_leaf(const Slot& slot, const Node& leaf, unsigned index, ConstBytes record) noexcept {
    if (!is_new(leaf.address) && stays(slot, leaf, record.size())) {
        Node changed = leaf;
        changed.records = record.empty() ? leaf.records - 1 : leaf.records + 1;
        steps_->steps[steps_->count - 1].index = index;
        steps_->inserts = !record.empty();
        if (steps_->inserts) {
            std::memcpy(steps_->record, record.data(), record.size());
        }
        return set_pointer(slot, changed);
    }
    NewNode to;
    H5MOTE_TRY(make_leaf(leaf, index, record, to));
    H5MOTE_TRY(retire(leaf));
    return set_pointer(slot, to.node);
}

Status BTree2Composer::compose(const Node& parent, const Group& group, unsigned first, unsigned records,
                               Node& made) noexcept {
    NewNode to;
    H5MOTE_TRY(begin(group.child[0].depth, records, to));
    const unsigned end = first + records;
    unsigned start = 0;  // number in the sequence of the child's first record, and of its first pointer
    for (unsigned i = 0; i < group.count; ++i) {
        const Node& from = group.child[i];
        const unsigned behind = start + from.records;
        const unsigned low = first > start ? first : start;
        const unsigned high = end < behind ? end : behind;
        if (low < high) {
            H5MOTE_TRY(copy_records(from, low - start, high - start, to));
        }
        if (from.depth != 0 && low <= high) {
            H5MOTE_TRY(copy_pointers(from, low - start, high - start + 1, to));
        }
        if (i + 1 < group.count && behind >= first && behind < end) {
            H5MOTE_TRY(copy_records(parent, group.first + i, group.first + i + 1, to));
        }
        start = behind + 1;
    }
    std::uint64_t total = records;
    if (to.node.depth != 0) {
        H5MOTE_TRY(sum_totals(to, total));
    }
    finish(total, to);
    made = to.node;
    return Status::ok;
}

Status BTree2Composer::regroup(const Slot& slot, Node& parent, const Group& group, const unsigned* sizes,
                               unsigned count) noexcept {
    Node made[3];
    for (unsigned i = 0, at = 0; i < count; ++i) {
        H5MOTE_TRY(compose(parent, group, at, sizes[i], made[i]));
        at += sizes[i] + 1;
    }
    const unsigned behind = group.first + group.count;  // the first child of the parent that is not in the group
    NewNode to;
    H5MOTE_TRY(begin(parent.depth, parent.records + count - group.count, to));
    H5MOTE_TRY(copy_records(parent, 0, group.first, to));
    for (unsigned i = 0, at = 0; i + 1 < count; ++i) {
        at += sizes[i];
        H5MOTE_TRY(copy_from_group(parent, group, at++, to));
    }
    H5MOTE_TRY(copy_records(parent, behind - 1, parent.records, to));
    H5MOTE_TRY(copy_pointers(parent, 0, group.first, to));
    for (unsigned i = 0; i < count; ++i) {
        add_pointer(made[i], to);
    }
    H5MOTE_TRY(copy_pointers(parent, behind, parent.records + 1, to));
    finish(parent.total, to);
    for (unsigned i = 0; i < group.count; ++i) {
        H5MOTE_TRY(retire(group.child[i]));
    }
    H5MOTE_TRY(retire(parent));
    parent = to.node;
    return set_pointer(slot, parent);
}

// Appends record `number` of the sequence.
Status BTree2Composer::copy_from_group(const Node& parent, const Group& group, unsigned number, NewNode& to) noexcept {
    for (unsigned i = 0; i < group.count; ++i) {
        const Node& from = group.child[i];
        if (number < from.records) {
            return copy_records(from, number, number + 1, to);
        }
        number -= from.records;
        if (number == 0 && i + 1 < group.count) {
            return copy_records(parent, group.first + i, group.first + i + 1, to);
        }
        --number;
    }
    return damaged(H5MOTE_HERE, parent.address);
}

}  // namespace h5mote
