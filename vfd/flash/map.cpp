// The map from the file's pages to their places in the log: a tree of nodes in the log, overlaid by changes in memory
// that no node holds yet. A change may concern a node as well as a page, so that a node can be written without writing
// those above it.
#include "flash_format.hpp"

#include <cstring>
#include <utility>

namespace h5mote {
namespace {

constexpr unsigned kShift = kFlashFanOutLog2;

// A heavier node is written whole, because long chains of records are slow to read.
constexpr unsigned kNodeWeightLimit = 8;

std::uint32_t entry(const std::byte* node, std::uint32_t i) noexcept {
    return load_le<std::uint32_t>(node + std::size_t{4} * i);
}

void set_entry(std::byte* node, std::uint32_t i, std::uint32_t place) noexcept {
    store_le<std::uint32_t>(node + std::size_t{4} * i, place);
}

}  // namespace

// The first change whose key is not less than `key`.
FlashLog::Change* FlashLog::find(std::uint32_t key) noexcept {
    std::uint32_t low = 0;
    std::uint32_t high = change_count_;
    while (low < high) {
        const std::uint32_t middle = (low + high) / 2;
        if (changes_[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return changes_ + low;
}

// The change of that very key; null if there is none.
FlashLog::Change* FlashLog::change_of(std::uint32_t key) noexcept {
    Change* const at = find(key);
    return at != changes_ + change_count_ && at->key == key ? at : nullptr;
}

// Adds or replaces a change. The caller has made room for it, see make_room().
void FlashLog::put(std::uint32_t key, Place place) noexcept {
    Change* at = find(key);
    Change* const end = changes_ + change_count_;
    Change moved{key, place};
    if (at == end || at->key != key) {
        // Each change from here on moves up by one.
        for (; at != end; ++at) {
            std::swap(*at, moved);
        }
        ++change_count_;
    }
    *at = moved;
}

// Whether the key is among the changes or can become one.
bool FlashLog::has_room_for(std::uint32_t key) noexcept {
    return change_count_ < most_changes_ || change_of(key) != nullptr;
}

// Removes the changes to the entries of node `key`: the node's own record covers them from now on.
void FlashLog::remove_children(std::uint32_t key) noexcept {
    const std::uint32_t first = flash_key((key >> 28) - 1, (key & 0x0fffffff) << kShift);
    Change* const from = find(first);
    const Change* to = find(first + kFanOut);
    const Change* const end = changes_ + change_count_;
    change_count_ -= static_cast<std::uint32_t>(to - from);
    move_bytes_down(reinterpret_cast<std::byte*>(from), reinterpret_cast<const std::byte*>(to),
                    static_cast<std::size_t>(end - to) * sizeof(Change));
}

// Finds the place of the newest record of a page or node; 0 if there is none. corrupt_file: a damaged node of the map
// hides it. io_error.
Status FlashLog::lookup(std::uint32_t key, Place& place) noexcept {
    const std::uint32_t level = key >> 28;
    const std::uint32_t index = key & 0x0fffffff;
    place = 0;
    if (level > height_ || index >> (kShift * (height_ - level)) != 0) {
        return Status::ok;
    }
    std::uint32_t from = level;
    for (std::uint32_t above = key;; above = flash_parent(above), ++from) {
        const Change* const change = change_of(above);
        if (change != nullptr) {
            place = (change->place & kFlashGone) != 0 ? 0 : change->place;
            break;
        }
        if (from == height_) {
            place = root_;
            break;
        }
    }
    for (; from > level && place != 0; --from) {
        H5MOTE_TRY(read_node(flash_key(from, index >> (kShift * (from - level))), place));
        place = entry(node_, index >> (kShift * (from - 1 - level)) & (kFanOut - 1));
    }
    return Status::ok;
}

// Whether a page has a record; a page that damage hides counts as one that has.
Status FlashLog::mapped(std::uint32_t page, bool& is) noexcept {
    Place place = 0;
    const Status status = lookup(page, place);
    is = status != Status::ok || place != 0;
    return status == Status::corrupt_file ? Status::ok : status;
}

// Fills node_ with all entries of a node: from its newest record back to the first one with weight 0. The key must
// match: a damaged record was not moved when its block was freed, and its place may hold another node's record by now.
Status FlashLog::read_node(std::uint32_t key, Place place) noexcept {
    if (place == node_place_ && key == node_key_ && place != 0) {
        return Status::ok;
    }
    node_place_ = 0;
    std::memset(node_, 0, std::size_t{4} * kFanOut);
    if (place == kFlashLost) {
        for (std::uint32_t i = 0; i < kFanOut; ++i) {
            set_entry(node_, i, kFlashLost);
        }
    }
    if (place <= kFlashLost) {
        return Status::ok;
    }
    const Place newest = place;
    std::uint32_t known = 0;
    Record record;
    unsigned count = 0;
    do {
        std::byte bytes[4 + 4 * kFanOut];
        if (++count > kLongestChain || !parse(place, record) || record.kind() != FlashRecord::node ||
            record.key != key) {
            return damaged();
        }
        const Bytes payload(bytes, record.length());
        H5MOTE_TRY(read_log(block_of(place), offset_of(place) + record.head(), payload));
        const std::byte* from = bytes;
        const auto mask = load_le<std::uint32_t>(from);
        if (sum_of(record, place, payload) != record.checksum || mask >> kFanOut != 0 ||
            record.length() != 4 + 4 * static_cast<std::uint32_t>(__builtin_popcount(mask))) {
            return Status::corrupt_file;
        }
        for (std::uint32_t i = 0; i < kFanOut; ++i) {
            if ((mask >> i & 1) != 0) {
                from += 4;
                if ((known >> i & 1) == 0) {
                    set_entry(node_, i, load_le<std::uint32_t>(from));
                }
            }
        }
        known |= mask;
        place = record.link;
    } while (record.chained());
    node_place_ = newest;
    node_key_ = key;
    return Status::ok;
}

// Appends those entries of node_ that `mask` names, chained to the record at `previous`; or all of node_, if there is
// no previous record, chaining would save nothing, or the chain is too heavy.
Status FlashLog::write_node(std::uint32_t key, std::uint32_t mask, Place previous, unsigned weight,
                            Place& place) noexcept {
    std::byte bytes[4 + 4 * kFanOut];
    std::uint32_t used = 0;
    for (std::uint32_t i = 0; i < kFanOut; ++i) {
        used |= (entry(node_, i) != 0 ? 1U : 0U) << i;
    }
    std::uint32_t size = 4 + 4 * static_cast<std::uint32_t>(__builtin_popcount(mask));
    if (used == 0 || weight > kNodeWeightLimit ||
        size + 4 >= 4 + 4 * static_cast<std::uint32_t>(__builtin_popcount(used))) {
        previous = 0;
    }
    if (previous == 0) {
        weight = 0;
        mask = used;
        size = 4 + 4 * static_cast<std::uint32_t>(__builtin_popcount(mask));
    }
    store_le<std::uint32_t>(bytes, mask);
    std::byte* to = bytes;
    for (std::uint32_t i = 0; i < kFanOut; ++i) {
        if ((mask >> i & 1) != 0) {
            to += 4;
            store_le<std::uint32_t>(to, entry(node_, i));
        }
    }
    node_place_ = 0;
    H5MOTE_TRY(append({Record::make(FlashRecord::node, size, 0, weight), 0, key, previous}, {bytes, size}, place));
    node_place_ = place;
    node_key_ = key;
    place |= used == 0 ? kFlashGone : 0;
    return Status::ok;
}

// Merges the changes in memory into a node of the map and appends it: only the changed entries where that is enough,
// with `whole` all of them.
Status FlashLog::flush_node(std::uint32_t key, bool whole) noexcept {
    Place place = 0;
    Status status = lookup(key, place);
    if (status == Status::ok) {
        status = read_node(key, place);
    }
    if (status == Status::corrupt_file) {
        place = 0;
        status = read_node(key, kFlashLost);
    }
    H5MOTE_TRY(status);
    node_place_ = 0;
    const std::uint32_t first = flash_key((key >> 28) - 1, (key & 0x0fffffff) << kShift);
    const Change* const end = find(first + kFanOut);
    std::uint32_t mask = 0;
    for (const Change* change = find(first); change != end; ++change) {
        set_entry(node_, change->key - first, (change->place & kFlashGone) != 0 ? 0 : change->place);
        mask |= 1U << (change->key - first);
    }
    Record record;
    const Place previous = whole || place == 0 || !parse(place, record) ? 0 : place;
    const unsigned weight = previous == 0 ? 0 : weight_after(record, previous);
    H5MOTE_TRY(write_node(key, mask, previous, weight, place));
    remove_children(key);
    if (key >> 28 == height_) {
        root_ = (place & kFlashGone) != 0 ? 0 : place;
    } else {
        put(key, place);
    }
    return Status::ok;
}

// Writes the node with the most changes in memory. Of several it takes the one of the highest level, so that repeated
// calls do make room.
Status FlashLog::flush_best() noexcept {
    std::uint32_t best = 0;
    std::uint32_t most = 0;
    for (std::uint32_t i = 0, run = 0; i < change_count_; ++i) {
        const std::uint32_t parent = flash_parent(changes_[i].key);
        run = i > 0 && flash_parent(changes_[i - 1].key) == parent ? run + 1 : 1;
        if (run >= most) {
            most = run;
            best = parent;
        }
    }
    return flush_node(best);
}

// Makes room for two more changes. The caller makes at most one before the next call; the other stays free for
// replay().
Status FlashLog::make_room() noexcept {
    while (change_count_ + 2 > most_changes_) {
        H5MOTE_TRY(flush_best());
    }
    return Status::ok;
}

// The place of the oldest record that a change in memory refers to; 0 if there are no changes.
FlashLog::Place FlashLog::oldest() noexcept {
    Place place = 0;
    for (std::uint32_t i = 0; i < change_count_; ++i) {
        const Place each = changes_[i].place & ~kFlashGone;
        if (place == 0 || age(each) < age(place)) {
            place = each;
        }
    }
    return place;
}

// Writes the nodes whose changes are so old that a mount would have to replay too much of the log.
Status FlashLog::flush_old() noexcept {
    for (;;) {
        const Place place = oldest();
        if (place == 0 || age(place_of(head_, 0)) - age(place) < replay_words_ ||
            age(place) > age(place_of(head_, 0))) {
            return Status::ok;
        }
        for (std::uint32_t i = 0; i < change_count_; ++i) {
            if ((changes_[i].place & ~kFlashGone) == place) {
                H5MOTE_TRY(flush_node(flash_parent(changes_[i].key)));
                break;
            }
        }
    }
}

// Makes the map high enough for a page.
Status FlashLog::grow(std::uint32_t page) noexcept {
    while (page >> (kShift * height_) != 0) {
        if (root_ != 0) {
            std::memset(node_, 0, std::size_t{4} * kFanOut);
            set_entry(node_, 0, root_);
            // If that fails, root_ must still be the place of the root.
            Place place = 0;
            H5MOTE_TRY(write_node(flash_key(height_ + 1U, 0), 0, 0, 0, place));
            root_ = place;
        }
        ++height_;
    }
    return Status::ok;
}

// Whether nothing is mapped below a node, neither on the device nor in memory.
Status FlashLog::absent(std::uint32_t level, std::uint32_t index, bool& is) noexcept {
    Place place = 0;
    const Status status = lookup(flash_key(level, index), place);
    is = status == Status::ok && place == 0;
    for (std::uint32_t below = level; is && below-- > 0;) {
        const unsigned shift = kShift * (level - below);
        is = find(flash_key(below, index << shift)) == find(flash_key(below, (index + 1) << shift));
    }
    return status == Status::corrupt_file ? Status::ok : status;
}

// Unmaps `count` pages or nodes from `key` on, all of them entries of one node and with `pages` mapped pages in all. If
// it fails they stay mapped and counted.
Status FlashLog::unmap_run(std::uint32_t key, std::uint32_t count, std::uint32_t pages) noexcept {
    while (change_count_ + count + 2 > most_changes_) {
        H5MOTE_TRY(flush_best());
    }
    std::byte payload[4];
    store_le<std::uint32_t>(payload, count);
    Place place = 0;
    H5MOTE_TRY(append({Record::make(FlashRecord::gone, 4), 0, key, count}, payload, place));
    apply_gone(key, count, place);
    live_pages_ -= pages < live_pages_ ? pages : live_pages_;
    return Status::ok;
}

void FlashLog::apply_gone(std::uint32_t key, std::uint32_t count, Place place) noexcept {
    for (std::uint32_t i = 0; i < count; ++i) {
        if (key >> 28 != 0) {
            remove_children(key + i);
        }
        if (key >> 28 == height_) {
            root_ = 0;
        } else {
            put(key + i, place | kFlashGone);
        }
    }
}

// Unmaps the pages [first, last).
Status FlashLog::unmap(std::uint32_t first, std::uint32_t last) noexcept {
    const std::uint32_t end = 1U << (kShift * height_ < 28 ? kShift * height_ : 28);
    last = last < end ? last : end;
    while (first < last) {
        bool nothing = false;
        std::uint32_t level = 1;
        H5MOTE_TRY(absent(1, first >> kShift, nothing));
        if (nothing) {
            // Skip the largest subtree around `first` in which nothing is mapped.
            for (bool more = true; more && level < height_; level += more ? 1 : 0) {
                H5MOTE_TRY(absent(level + 1, first >> (kShift * (level + 1)), more));
            }
            first = ((first >> (kShift * level)) + 1) << (kShift * level);
            continue;
        }
        H5MOTE_TRY(unmap_leaf(first, last));
        first = ((first >> kShift) + 1) << kShift;
    }
    return Status::ok;
}

// Unmaps those pages of [first, last) that have the same leaf of the map as `first`.
Status FlashLog::unmap_leaf(std::uint32_t first, std::uint32_t last) noexcept {
    const std::uint32_t leaf = first >> kShift;
    const std::uint32_t end = (leaf + 1) << kShift;
    last = last < end ? last : end;
    std::uint32_t pages = 0;  // those that are mapped
    for (std::uint32_t page = first; page < last; ++page) {
        bool is_mapped = false;
        H5MOTE_TRY(mapped(page, is_mapped));
        pages |= (is_mapped ? 1U : 0U) << (page & (kFanOut - 1));
    }
    if (last - first == kFanOut) {
        return unmap_run(flash_key(1, leaf), 1, static_cast<std::uint32_t>(__builtin_popcount(pages)));
    }
    const std::uint32_t most = most_changes_ / 2;
    for (std::uint32_t i = 0; i < kFanOut;) {
        std::uint32_t run = 0;
        for (; run < most && i + run < kFanOut && (pages >> (i + run) & 1) != 0; ++run) {
        }
        if (run != 0) {
            H5MOTE_TRY(unmap_run(leaf << kShift | i, run, run));
        }
        i += run != 0 ? run : 1;
    }
    return Status::ok;
}

}  // namespace h5mote
