// H5D (chunk cache) - buffers of raw chunks within a hard budget, shared by the datasets of a file.
#pragma once

#include "chunk_key.hpp"
#include "file_space.hpp"

namespace h5mote {

class ChunkSlot;

/// A dataset, as the cache sees it.
class ChunkOwner {
public:
    /// Stores the changed bytes of a slot. The slot is clean afterwards.
    virtual Status write_back(ChunkSlot& slot) noexcept = 0;
    /// The slot is about to be evicted or dropped by drop_all(): the owner forgets its pointers to it. Not called by
    /// drop().
    virtual void evicted(ChunkSlot& slot) noexcept = 0;

protected:
    ~ChunkOwner() = default;
};

/// One chunk in memory. The bytes of the chunk follow this object, and its coordinates, if they belong to its name,
/// stand before it.
class ChunkSlot : public ListNode<> {
public:
    ChunkOwner* owner = nullptr;
    ChunkSlot* hash_next = nullptr;
    ChunkNumber number = 0;
    Address address = kUndefinedAddress;  ///< of the chunk in the file; undefined: it has no place there yet
    std::uint32_t stored_size = 0;        ///< bytes at `address`; differs from `size` when the chunk is filtered
    std::uint32_t size = 0;               ///< bytes of the unfiltered chunk
    std::uint32_t dirty_from = 0;         ///< changed bytes are [dirty_from, dirty_to)
    std::uint32_t dirty_to = 0;
    bool known = false;     ///< in_place and within are set, and the chunk index is prepared for a change of the chunk
    bool in_place = false;  ///< the chunk is not filtered: changed bytes are written at `address`
    bool within = false;    ///< when first changed, the chunk was within the dataset's extent (or the rank is not 1)
    bool kept = false;      ///< keep() has reserved room in the storage for the whole chunk
    bool complete = false;  ///< every element was written: a good candidate for eviction
    std::uint16_t coordinates = 0;  ///< bytes of them before this object: of those that belong to the name

    std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
    /// The name of the chunk, valid as long as the slot.
    ChunkKey key() noexcept { return {number, static_cast<const std::uint64_t*>(memory()), coordinates}; }
    /// What was allocated for the chunk begins here, with the coordinates.
    void* memory() noexcept { return reinterpret_cast<std::byte*>(this) - coordinates; }
    bool dirty() const noexcept { return dirty_from < dirty_to; }
    ConstBytes changed() noexcept { return {data() + dirty_from, dirty_to - dirty_from}; }
    void touch(std::uint32_t from, std::uint32_t to) noexcept {
        if (!dirty()) {
            dirty_from = from;
            dirty_to = to;
            return;
        }
        dirty_from = from < dirty_from ? from : dirty_from;
        dirty_to = to > dirty_to ? to : dirty_to;
    }
    void clean() noexcept { dirty_from = dirty_to = 0; }
};

/// Whether there may be a chunk in memory that is complete. Only appending makes such chunks: without it, a search for
/// one would pass all chunks of a large cache each time.
class CompleteChunks {
public:
    bool may_be_complete() const noexcept { return any_; }
    void note_complete(bool complete) noexcept { any_ = any_ || complete; }

private:
    bool any_ = false;
};

/// Takes its place in builds whose caches are small.
class AnyChunks {
public:
    static constexpr bool may_be_complete() noexcept { return true; }
    static void note_complete(bool /*complete*/) noexcept {}
};

using CompleteOrAny = std::conditional_t<H5MOTE_ALL_FORMATS != 0, CompleteChunks, AnyChunks>;

class ChunkCache : CompleteOrAny {
public:
    ChunkCache(Context& context, FileSpace& space) noexcept : context_(context), space_(space) {}
    void open(std::size_t budget) noexcept { budget_ = budget; }

    /// The slot of that chunk, or nullptr.
    ChunkSlot* find(const ChunkOwner& owner, const ChunkKey& key) noexcept;
    /// A new slot of `size` uninitialised bytes, for which others are written back and evicted if need be: complete
    /// ones first, then the least recently used. over_budget when it alone is too large; out_of_memory; errors of
    /// write_back.
    Status add(ChunkOwner& owner, const ChunkKey& key, std::uint32_t size, ChunkSlot*& slot) noexcept;
    /// Hands out `size` bytes of memory that hold no chunk, for reading ahead. Chunks are evicted for them as in add(),
    /// and they take up that much of the budget until take_back(). Errors of add().
    Status lend(std::size_t size, std::byte*& memory) noexcept;
    /// Takes back what lend() gave, with the same size.
    void take_back(std::byte* memory, std::size_t size) noexcept;
    /// Call before a slot is changed: reserves room in the storage to write the whole chunk once. no_space: the slot
    /// must not be changed.
    Status keep(ChunkSlot& slot) noexcept;
    /// Gives that room back: call right before the slot is written. drop() does it by itself.
    void unkeep(ChunkSlot& slot) noexcept;
    /// Frees a slot without writing it.
    void drop(ChunkSlot& slot) noexcept;
    /// Writes and frees every slot, to make room for something else. Errors of write_back.
    Status evict_all() noexcept;
    /// Frees every slot of an owner without writing.
    void drop_all(const ChunkOwner& owner) noexcept;
    /// The same for those of its slots that `unwanted` says so of.
    template <typename Unwanted>
    void drop_if(const ChunkOwner& owner, const Unwanted& unwanted) noexcept {
        for (ChunkSlot* slot = lru_.front(); slot != nullptr;) {
            ChunkSlot* const next = lru_.next(*slot);
            if (slot->owner == &owner && unwanted(*slot)) {
                slot->owner->evicted(*slot);
                drop(*slot);
            }
            slot = next;
        }
    }
    /// Whether write_in_place() has anything to write.
    bool writes_in_place() noexcept {
        bool any = false;
        for (ChunkSlot* slot = lru_.front(); slot != nullptr && !any; slot = lru_.next(*slot)) {
            any = slot->dirty() && slot->in_place && slot->address != kUndefinedAddress;
        }
        return any;
    }
    /// Writes the changed bytes of all unfiltered chunks that have a place in the file. Call before writing an index
    /// that names such chunks. Changes no metadata. `written` is set when there was something to write.
    Status write_in_place(Driver& driver, bool& written) noexcept;
    /// Writes every changed slot of an owner, the least recently used first, which puts appended chunks in their order.
    Status write_back(ChunkOwner& owner) noexcept;

    /// Says whether every element of the slot's chunk was written.
    void set_complete(ChunkSlot& slot, bool complete) noexcept {
        slot.complete = complete;
        note_complete(complete);
    }

    std::size_t budget() const noexcept { return budget_; }

private:
    // What the budget is charged for a chunk. For chunks of less than 64 bytes it includes their bookkeeping, on every
    // machine the same amount, so that all machines evict the same chunks at the same time.
    static std::size_t cost(std::size_t size) noexcept { return size < 64 ? size + 64 : size; }
    // Allocates size + extra bytes, evicting chunks if need be. Only `size` is charged to the budget.
    Status allocate(std::size_t size, std::size_t extra, void*& memory) noexcept;
    Status evict(ChunkSlot& slot) noexcept;
    ChunkSlot* victim() noexcept;

    // A power of two. With fewer chunks in memory than this, hardly any two of them share a bucket.
    static constexpr std::size_t kBuckets = H5MOTE_PARTIAL_IO != 0 ? 32 : 4;

    ChunkSlot*& bucket(const ChunkOwner& owner, ChunkNumber number) noexcept {
        const std::size_t hash = static_cast<std::size_t>(number) ^ (reinterpret_cast<std::uintptr_t>(&owner) >> 5);
        return buckets_[hash & (kBuckets - 1)];
    }

    Context& context_;
    FileSpace& space_;
    ChunkSlot* buckets_[kBuckets] = {};
    List<ChunkSlot> lru_;
    std::size_t budget_ = 0;
    std::size_t used_ = 0;
};

}  // namespace h5mote
