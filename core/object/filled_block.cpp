#include "filled_block.hpp"

#include "btree1_node.hpp"
#include "symbol_entry.hpp"

namespace h5mote {
namespace {

// The rules that keep a power cut within these steps from losing anything.
enum class FilledRule {
    none,
    root_first,  // the copy of a tree's root is on the storage before the group leads to it
    null_first,  // a null message is on the storage before the block has it
};

constexpr bool keep(FilledRule rule) noexcept { return rule != FilledRule::H5MOTE_TEST_OMIT; }

}  // namespace

Status FilledBlock::write(Address address, ConstBytes bytes, bool durably) noexcept {
    H5MOTE_TRY(file_.cache.write_past(Usage::object_header, address, bytes));
    return durably ? file_.commit_metadata() : Status::ok;
}

bool FilledBlock::find(CacheEntry& first) noexcept {
    if (file_.foreign() == nullptr || prefix_.decode(file_.context, first.image()) != Status::ok) {
        return false;
    }
    layout_ = prefix_.layout();
    body_ = prefix_.size + layout_.head_size();
    const std::uint64_t address = first.address();
    const std::uint64_t end = address + first.size();
    const std::uint8_t type = layout_.is_old() ? layout_.type_at(first.at(prefix_.size)) : std::uint8_t{0};
    if (!layout_.is_old() || prefix_.size + layout_.length_at(first.at(prefix_.size)) != first.size() ||
        type == static_cast<std::uint8_t>(MessageType::continuation) || file_.one_write(address, end) ||
        !file_.one_write(address, address + prefix_.size)) {
        return false;
    }
    const std::size_t node =
        BTree1Node::size(file_.shape(), file_.foreign()->btree_k.group_internal, file_.shape().sizeof_size);
    SymbolTableMessage symbols;
    if (type == static_cast<std::uint8_t>(MessageType::symbol_table) && room() <= node &&
        symbols.decode(file_.shape(), first.image().subspan(body_)) && symbols.btree == end) {
        node_ = node;
    }
    return true;
}

// Finds a place for the root, with an address that one write can put into the message. Mostly any will do, since the
// first bytes of addresses are zeros. `root_` stays undefined if none was found.
Status FilledBlock::find_place(CacheEntry& first) noexcept {
    Address address = kUndefinedAddress;
    H5MOTE_TRY(file_.space.allocate(Usage::btree, narrow(node_), address));
    std::byte bytes[sizeof(std::uint64_t)];
    file_.shape().store_addr(bytes, address);
    const std::byte* const old = first.at(body_);
    changed_from_ = 0;
    changed_to_ = file_.shape().sizeof_addr;
    while (bytes[changed_from_] == old[changed_from_]) {
        ++changed_from_;
    }
    while (bytes[changed_to_ - 1] == old[changed_to_ - 1]) {
        --changed_to_;
    }
    const std::uint64_t field = std::uint64_t{first.address()} + body_;
    if (file_.one_write(field + changed_from_, field + changed_to_)) {
        root_ = address;
    } else {
        file_.space.release(address, narrow(node_), true);
    }
    return Status::ok;
}

// Stores a copy of the root before anything leads to it.
Status FilledBlock::move_root(Address from) noexcept {
    Status status;
    {
        Pinned node;
        status = file_.cache.copy(Usage::btree, from, root_, node_, node, ChecksumPlace::none);
        if (status == Status::ok) {
            MetadataCache::mark_dirty(*node, 0, Phase::fresh);
        }
    }
    if (status == Status::ok && keep(FilledRule::root_first)) {
        status = file_.commit_metadata();
    }
    if (status != Status::ok) {
        file_.cache.discard(root_);
        file_.give_up(root_, narrow(node_), true);
    }
    return status;
}

// Up to three writes, each of them in one unit or where nothing leads: the message leads to the copy of the root, the
// null message is behind the block, the block has it.
Status FilledBlock::change(CacheEntry& first) noexcept {
    const Address address = first.address();
    if (node_ != 0) {
        file_.shape().store_addr(first.at(body_), root_);
        const std::size_t from = body_ + changed_from_;
        H5MOTE_TRY(write(narrow(address + from), {first.at(from), changed_to_ - changed_from_}));
    }
    std::byte null[2 * MessageSlot::kMostHead + 2 * sizeof(std::uint64_t)]{};
    layout_.put_null(null, room());
    const Address behind = narrow(address + first.size());
    H5MOTE_TRY(write(behind, {null, room()}, keep(FilledRule::null_first)));
    store_uint(first.at(prefix_.size_offset()), prefix_.size_width(), first.size() + room() - prefix_.size);
    store_uint(first.at(kCount), 2, 2);
    return write(narrow(address + kCount), {first.at(kCount), prefix_.size - kCount});
}

// Everything changed so far is durable then, nobody else has the block, and the cache has nothing behind it.
Status FilledBlock::hold_alone(Pinned& first, Address behind) noexcept {
    const Address address = first->address();
    const std::size_t size = first->size();
    H5MOTE_TRY(file_.commit_metadata());
    first.reset();
    if (!file_.cache.drop_clean(address) || !file_.cache.drop_clean(behind)) {
        return file_.context.fail(Module::object, H5MOTE_HERE, Status::busy, 0, address);
    }
    return file_.cache.protect(Usage::object_header, address, size, first, ChecksumPlace::none);
}

Status FilledBlock::lengthen(Pinned& first) noexcept {
    const Address address = first->address();
    const std::size_t size = first->size();
    const Address behind = narrow(address + size);
    if (node_ == 0 && !file_.space.take_free(behind, narrow(room()))) {
        return Status::ok;
    }
    Status status = hold_alone(first, behind);
    if (status != Status::ok && node_ == 0) {
        file_.space.release(behind, narrow(room()), false);
    }
    H5MOTE_TRY(status);
    if (node_ != 0) {
        H5MOTE_TRY(find_place(*first));
        if (root_ == kUndefinedAddress) {
            return Status::ok;
        }
        H5MOTE_TRY(move_root(behind));
    }
    status = change(*first);
    // After an error the storage may have any of the steps, and what is in memory may be another one.
    first.reset();
    file_.cache.discard(address);
    if (node_ != 0 && address == file_.root()) {
        file_.forget_root_table();
    }
    H5MOTE_TRY(status);
    if (node_ != 0) {
        file_.space.release(narrow(behind + room()), narrow(node_ - room()), false);
    }
    return file_.cache.protect(Usage::object_header, address, size + room(), first, ChecksumPlace::none);
}

}  // namespace h5mote
