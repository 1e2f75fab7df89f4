#include "ordered_batch.hpp"

#include "cursor.hpp"

#include <cstring>

namespace h5mote {
namespace {

constexpr std::uint32_t kFirstEntries = 16;
constexpr std::uint32_t kFirstKeys = 512;
constexpr std::size_t kLeastLimit = 1024;

}  // namespace

OrderedBatch::OrderedBatch(Context& context, Direction direction) noexcept
    : context_(context), limit_(~std::size_t{0}), direction_(direction) {
    context_.add_reclaimer(*this);
}

OrderedBatch::~OrderedBatch() {
    context_.remove_reclaimer(*this);
    release();
    context_.release(MemoryKind::other, last_, last_capacity_);
}

void OrderedBatch::release() noexcept {
    context_.release(MemoryKind::other, entries_, entry_capacity_ * sizeof(Entry));
    context_.release(MemoryKind::other, keys_, key_capacity_);
    entries_ = nullptr;
    keys_ = nullptr;
    entry_capacity_ = key_capacity_ = 0;
    count_ = next_ = 0;
    key_bytes_ = waste_ = 0;
}

bool OrderedBatch::shrink() noexcept {
    in_pass_ = false;
    complete_ = false;
    const bool least = entry_capacity_ * sizeof(Entry) + key_capacity_ <= kLeastLimit;
    reclaim();
    return !least;
}

void OrderedBatch::reclaim() noexcept {
    if (in_pass_ || entries_ == nullptr) {
        return;
    }
    const std::size_t held = entry_capacity_ * sizeof(Entry) + key_capacity_;
    limit_ = held / 4 < kLeastLimit ? kLeastLimit : held / 4;
    complete_ = complete_ && next_ == count_;
    release();
}

int OrderedBatch::compare(ConstBytes a, std::uint64_t position_a, ConstBytes b,
                          std::uint64_t position_b) const noexcept {
    const std::size_t common = a.size() < b.size() ? a.size() : b.size();
    int order = common == 0 ? 0 : std::memcmp(a.data(), b.data(), common);
    if (order == 0 && a.size() != b.size()) {
        order = a.size() < b.size() ? -1 : 1;
    }
    if (order == 0 && position_a != position_b) {
        order = position_a < position_b ? -1 : 1;
    }
    return direction_ == Direction::increasing ? order : -order;
}

bool OrderedBatch::before(const Entry& a, const Entry& b) const noexcept {
    return compare(key_of(a), a.position, key_of(b), b.position) < 0;
}

template <typename Before>
void OrderedBatch::sift_down(std::uint32_t at, std::uint32_t count, Before before) noexcept {
    for (;;) {
        std::uint32_t child = 2 * at + 1;
        if (child >= count) {
            return;
        }
        if (child + 1 < count && before(entries_[child], entries_[child + 1])) {
            ++child;
        }
        if (!before(entries_[at], entries_[child])) {
            return;
        }
        std::swap(entries_[at], entries_[child]);
        at = child;
    }
}

template <typename Before>
void OrderedBatch::sort(Before before) noexcept {
    for (std::uint32_t i = count_ / 2; i-- > 0;) {
        sift_down(i, count_, before);
    }
    for (std::uint32_t end = count_; end-- > 1;) {
        std::swap(entries_[0], entries_[end]);
        sift_down(0, end, before);
    }
}

bool OrderedBatch::take(std::uint64_t& position) noexcept {
    if (next_ < count_ && keep_last(entries_[next_])) {
        position = entries_[next_++].position;
        return true;
    }
    finished_ = complete_ && next_ == count_;
    return false;
}

bool OrderedBatch::keep_last(const Entry& entry) noexcept {
    const std::uint32_t length = entry.length;
    if (length > last_capacity_ && !grow_last(length)) {
        // Without what the batch holds there may be memory for the key. The next pass, which begins with the same
        // element, then makes do with the rest.
        complete_ = false;
        release();
        failed_ = !grow_last(length);
        return false;
    }
    if (length != 0) {
        std::memcpy(last_, keys_ + entry.key, length);
    }
    last_length_ = length;
    last_position_ = entry.position;
    has_last_ = true;
    return true;
}

// Makes room for a key of `length` bytes; the last key stays.
bool OrderedBatch::grow_last(std::uint32_t length) noexcept {
    const std::uint32_t capacity = length < 48 ? 64 : length + length / 4;
    in_pass_ = true;  // keeps reclaim(), which an allocation may call, from freeing what the caller looks at
    auto* const memory = static_cast<std::byte*>(context_.allocate(MemoryKind::other, capacity));
    in_pass_ = false;
    if (memory == nullptr) {
        return false;
    }
    if (last_length_ != 0) {
        std::memcpy(memory, last_, last_length_);
    }
    context_.release(MemoryKind::other, last_, last_capacity_);
    last_ = memory;
    last_capacity_ = capacity;
    return true;
}

void OrderedBatch::forget(bool by_key) noexcept {
    count_ = next_ = 0;
    key_bytes_ = waste_ = 0;
    complete_ = finished_ = false;
    if (by_key) {
        last_position_ = direction_ == Direction::increasing ? ~std::uint64_t{0} : 0;
    }
}

void OrderedBatch::begin_pass() noexcept {
    count_ = next_ = 0;
    key_bytes_ = waste_ = 0;
    in_pass_ = true;
    complete_ = true;
}

Status OrderedBatch::offer(ConstBytes key, std::uint64_t position) noexcept {
    if (failed_) {
        failed_ = false;
        return Status::out_of_memory;
    }
    if (has_last_ && compare(key, position, {last_, last_length_}, last_position_) <= 0) {
        return Status::ok;
    }
    if (key.size() > 0xffffff) {
        return Status::over_budget;
    }
    // Once an element was left out, no element may enter that comes after all that are held: the one that was left out
    // could come before it.
    if (!complete_ && count_ != 0 && compare(key, position, key_of(entries_[0]), entries_[0].position) > 0) {
        return Status::ok;
    }
    while (!make_room(key.size())) {
        complete_ = false;
        if (count_ == 0) {
            return Status::out_of_memory;
        }
        const Entry& top = entries_[0];
        if (compare(key, position, key_of(top), top.position) > 0) {
            return Status::ok;
        }
        drop_last();
    }
    Entry& entry = entries_[count_];
    entry = {position, key_bytes_, static_cast<std::uint32_t>(key.size())};
    if (!key.empty()) {
        std::memcpy(keys_ + key_bytes_, key.data(), key.size());
    }
    key_bytes_ += entry.length;
    // Moves the new entry up to its place in the heap.
    for (std::uint32_t at = count_++; at != 0 && before(entries_[(at - 1) / 2], entries_[at]); at = (at - 1) / 2) {
        std::swap(entries_[(at - 1) / 2], entries_[at]);
    }
    return Status::ok;
}

void OrderedBatch::drop_last() noexcept {
    waste_ += entries_[0].length;
    entries_[0] = entries_[--count_];
    sift_down(0, count_, [this](const Entry& a, const Entry& b) { return before(a, b); });
}

bool OrderedBatch::make_room(std::size_t key_length) noexcept {
    const auto fits = [&] { return count_ < entry_capacity_ && key_length <= key_capacity_ - key_bytes_; };
    if (fits() || grow(key_length)) {
        return true;
    }
    if (waste_ > key_capacity_ / 4 || (waste_ != 0 && count_ == 0)) {
        compact_keys();
    }
    return fits();
}

// Doubles the room for entries or for keys, whichever is short. false: the limit is reached, or there is no memory.
bool OrderedBatch::grow(std::size_t key_length) noexcept {
    const std::uint32_t entries = count_ < entry_capacity_ ? entry_capacity_
                                  : entry_capacity_ == 0   ? kFirstEntries
                                                           : entry_capacity_ * 2;
    std::size_t keys = key_capacity_ == 0 ? kFirstKeys : key_capacity_;
    while (keys - key_bytes_ < key_length) {
        keys *= 2;
    }
    if (entries * sizeof(Entry) + keys > limit_ && entry_capacity_ != 0) {
        return false;
    }
    if (entries != entry_capacity_) {
        auto* memory = static_cast<Entry*>(context_.allocate(MemoryKind::other, entries * sizeof(Entry)));
        if (memory == nullptr) {
            limit_ = entry_capacity_ * sizeof(Entry) + key_capacity_;
            return false;
        }
        if (count_ != 0) {
            std::memcpy(memory, entries_, count_ * sizeof(Entry));
        }
        context_.release(MemoryKind::other, entries_, entry_capacity_ * sizeof(Entry));
        entries_ = memory;
        entry_capacity_ = entries;
    }
    if (keys != key_capacity_) {
        auto* memory = static_cast<std::byte*>(context_.allocate(MemoryKind::other, keys));
        if (memory == nullptr) {
            limit_ = entry_capacity_ * sizeof(Entry) + key_capacity_;
            return false;
        }
        if (key_bytes_ != 0) {
            std::memcpy(memory, keys_, key_bytes_);
        }
        context_.release(MemoryKind::other, keys_, key_capacity_);
        keys_ = memory;
        key_capacity_ = static_cast<std::uint32_t>(keys);
    }
    return true;
}

void OrderedBatch::compact_keys() noexcept {
    sort([](const Entry& a, const Entry& b) { return a.key < b.key; });
    std::uint32_t to = 0;
    for (std::uint32_t i = 0; i < count_; ++i) {
        move_bytes_down(keys_ + to, keys_ + entries_[i].key, entries_[i].length);
        entries_[i].key = to;
        to += entries_[i].length;
    }
    key_bytes_ = to;
    waste_ = 0;
    for (std::uint32_t i = count_ / 2; i-- > 0;) {
        sift_down(i, count_, [this](const Entry& a, const Entry& b) { return before(a, b); });
    }
}

void OrderedBatch::end_pass() noexcept {
    sort([this](const Entry& a, const Entry& b) { return before(a, b); });
    next_ = 0;
    in_pass_ = false;
    finished_ = count_ == 0;
}

}  // namespace h5mote
