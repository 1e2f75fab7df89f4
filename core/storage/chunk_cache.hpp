// H5D (chunk cache) - buffers of raw chunks within a hard budget, shared by the datasets of a file.
#pragma once

#include "file_space.hpp"

namespace h5mote {

class ChunkSlot;

/// A dataset, as the cache sees it.
class ChunkOwner {
public:
    /// Stores the changed bytes of a slot. The slot is clean afterwards.
    virtual Status write_back(ChunkSlot& slot) noexcept = 0;
    /// The slot is about to go.
    virtual void evicted(ChunkSlot& slot) noexcept = 0;

protected:
    ~ChunkOwner() = default;
};

/// One chunk in memory.
class ChunkSlot : public ListNode<> {
public:
    ChunkOwner* owner = nullptr;
    ChunkSlot* hash_next = nullptr;
    Address index = 0;                    ///< linear index of the chunk in its dataset
    Address address = kUndefinedAddress;  ///< where it stands in the file; undefined: nowhere yet
    std::uint32_t stored_size = 0;        ///< bytes there; differs from size when filtered
    std::uint32_t size = 0;               ///< bytes of the unfiltered chunk
    std::uint32_t dirty_from = 0;         ///< changed bytes are [dirty_from, dirty_to)
    std::uint32_t dirty_to = 0;
    bool known = false;     ///< the next two are set, and an index that names the chunk counts it
    bool in_place = false;  ///< not filtered: what was changed is written to `address`
    bool within = false;    ///< holds elements of the dataset since it is in memory, not only such as are appended
    bool kept = false;      ///< room for all of it is kept in the storage
    bool complete = false;  ///< every element was written: a good candidate for eviction

    std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
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

class ChunkCache {
public:
    ChunkCache(Context& context, FileSpace& space) noexcept : context_(context), space_(space) {}
    void open(std::size_t budget) noexcept { budget_ = budget; }

    /// The slot of that chunk, or nullptr.
    ChunkSlot* find(const ChunkOwner& owner, Address index) noexcept;
    /// A new slot of `size` uninitialised bytes, for which others are written back and evicted if need be: complete
    /// ones first, then the least recently used. over_budget when it alone is too large; out_of_memory; errors of
    /// write_back.
    Status add(ChunkOwner& owner, Address index, std::uint32_t size, ChunkSlot*& slot) noexcept;
    /// `size` bytes of the budget that hold no chunk, for reading ahead: chunks are evicted for them as add() does, and
    /// none is put in their place until take_back(). Errors of add().
    Status lend(std::size_t size, std::byte*& memory) noexcept;
    /// Takes back what lend() gave, with the same size.
    void take_back(std::byte* memory, std::size_t size) noexcept;
    /// Before a slot is changed: it can be written once. no_space: then it must not be changed.
    Status keep(ChunkSlot& slot) noexcept;
    /// Before it is written or dropped.
    void unkeep(ChunkSlot& slot) noexcept;
    /// Frees a slot without writing it.
    void drop(ChunkSlot& slot) noexcept;
    /// Writes and frees every slot, to make room for something else. Errors of write_back.
    Status evict_all() noexcept;
    /// Frees every slot of an owner without writing.
    void drop_all(const ChunkOwner& owner) noexcept;
    /// Writes what was changed in chunks that stand in the file already: before an index that names them is written. It
    /// changes no metadata. `written` is set when there was something to write.
    Status write_in_place(Driver& driver, bool& written) noexcept;
    /// Writes every changed slot of an owner, those not used for longest first: a log's in the order of its chunks.
    Status write_back(ChunkOwner& owner) noexcept;

    std::size_t budget() const noexcept { return budget_; }

private:
    // Of chunks that are smaller than what is kept about them, that counts too; on every machine the same, so that all
    // evict the same chunks at the same time.
    static std::size_t cost(std::size_t size) noexcept { return size < 64 ? size + 64 : size; }
    // Memory for `size` bytes of the budget, with `extra` bytes that do not count.
    Status allocate(std::size_t size, std::size_t extra, void*& memory) noexcept;
    Status evict(ChunkSlot& slot) noexcept;
    ChunkSlot* victim() noexcept;

    // A power of two; with fewer chunks in memory than that the chains are one long.
    static constexpr std::size_t kBuckets = H5MOTE_PARTIAL_IO != 0 ? 32 : 4;

    ChunkSlot*& bucket(const ChunkOwner& owner, Address index) noexcept {
        const std::size_t hash = static_cast<std::size_t>(index) ^ (reinterpret_cast<std::uintptr_t>(&owner) >> 5);
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
