// H5C H5AC - the metadata cache: metadata blocks as their file bytes, found by address, within a hard budget.
//
// A block stands in memory once, as the bytes that stand in the file, followed by its lookup3 checksum (every version 2
// structure ends with one): verified when the block is read, made anew when it is written. A block is pinned while
// somebody holds a Pinned; others are evicted, least recently used first: clean ones, then fresh ones after writing
// them.
//
// Crash safety lies in the order of writing, which is a property of the blocks: each changed block has a phase, and all
// blocks of a phase are on the storage before any block of a later one is written. The first phases are those of the
// structures that point to each other. write_after() puts one block behind another, as flush dependencies do in the
// HDF5 library; a phase for each step takes one byte a block instead of a list of edges. Whoever writes, be it a flush
// or the cache in want of room, goes through the phases in turn: FileState::write_changes().
//
// A block is `fresh` from its creation until the commit that first makes it reachable: nothing on the storage points to
// it, so it may be written at any time. Modified blocks of at most one sector, which FileSpace places inside one, are
// written in one piece from the first changed byte to the checksum.
#pragma once

#include <h5mote/address.hpp>
#include <h5mote/context.hpp>
#include <h5mote/driver.hpp>

namespace h5mote {

/// Passes on what a driver returned; a failure is recorded in the trail, with the storage's own code.
inline Status told(Context& context, const Driver& driver, SourcePlace place, Status status,
                   std::uint64_t address = 0) noexcept {
    return status == Status::ok
               ? status
               : context.fail(Module::driver, place, status, static_cast<std::uint32_t>(driver.last_error()), address);
}

/// When a dirty block may be written: what points comes after what it points to.
enum class Phase : std::uint8_t {
    fresh,        ///< not reachable yet
    prepared,     ///< live chunk indexes that name chunks which nothing needs yet
    index,        ///< live chunk indexes, reference counts
    element,      ///< live blocks of chunk indexes with elements that have to be counted in the index's header first
    object,       ///< live object headers: dimensions, links, attributes; after it come those of write_after()
    none = 0xff,  ///< after all others
};

class CacheEntry : public ListNode<> {
public:
    Bytes image() noexcept { return {reinterpret_cast<std::byte*>(this + 1), size_}; }
    std::byte* at(std::size_t offset) noexcept { return image().data() + offset; }
    Address address() const noexcept { return address_; }
    std::size_t size() const noexcept { return size_; }
    bool fresh() const noexcept { return fresh_; }
    bool dirty() const noexcept { return dirty_from_ < size_; }
    /// When it may be written, if it is dirty.
    Phase phase() const noexcept { return fresh_ ? Phase::fresh : phase_; }
    /// Waits for another block of its kind: write_after().
    bool waits() const noexcept { return dirty() && !fresh_ && phase_ > Phase::object; }

private:
    friend class MetadataCache;
    friend class MetadataWindow;
    friend class Pinned;

    Address address_ = 0;
    CacheEntry* hash_next_ = nullptr;
    std::uint32_t size_ = 0;
    std::uint32_t dirty_from_ = 0;  // first changed byte; size_ when clean
    std::uint16_t pins_ = 0;
    Usage usage_ = Usage::object_header;
    Phase phase_ = Phase::index;
    bool fresh_ = false;
    bool verified_ = false;
#if H5MOTE_ALL_FORMATS
    bool checksummed_ = true;
#endif
};

/// Holds a block in the cache while it lives. Empty by default.
class Pinned {
public:
    Pinned() noexcept = default;
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;
    Pinned(Pinned&& other) noexcept : entry_(other.entry_) { other.entry_ = nullptr; }
    Pinned& operator=(Pinned&& other) noexcept {
        CacheEntry* const entry = other.entry_;
        other.entry_ = nullptr;
        release();
        entry_ = entry;
        return *this;
    }
    ~Pinned() { release(); }

    void reset(CacheEntry* entry = nullptr) noexcept;
    CacheEntry* operator->() const noexcept { return entry_; }
    // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.UndefReturn): only a block that was asked for and found is used.
    CacheEntry& operator*() const noexcept { return *entry_; }
    explicit operator bool() const noexcept { return entry_ != nullptr; }

private:
    // Out of line: there is one in every return path of everything that touches metadata.
    void release() noexcept;

    CacheEntry* entry_ = nullptr;
};

/// The file, as the cache sees it.
class CommitHook {
public:
    /// Writes every changed block, in the order of their phases; called when only that makes room.
    virtual Status write_changes() noexcept = 0;

    /// Something was written since the last sync.
    bool unsynced = false;

protected:
    ~CommitHook() = default;
};

class MetadataCache final : public Reclaimer {
public:
    MetadataCache(Context& context, Driver& driver, CommitHook& hook) noexcept
        : context_(context), driver_(driver), hook_(hook) {}

    /// `budget` bytes for blocks with their bookkeeping. out_of_memory.
    Status open(std::size_t budget) noexcept;
    /// Drops every block, written or not.
    void close() noexcept;

    /// The block at `address` if it is in memory, else an empty Pinned.
    Pinned find(Address address) noexcept;
    /// The block of `size` bytes at `address`, read if need be. corrupt_file when its checksum is wrong,
    /// over_budget when it cannot be made to fit. Blocks of the old formats carry no checksum; they are only read.
    Status protect(Usage usage, Address address, std::size_t size, Pinned& block, bool checksummed = true) noexcept;
    /// A new block of zeros at an address that nothing points to yet.
    Status create(Usage usage, Address address, std::size_t size, Pinned& block) noexcept;
    /// Gives a block another address, at which nothing is yet and to which nothing points: it is fresh again.
    void move(CacheEntry& block, Address to) noexcept;
    /// Moves a block to `to`, where nothing is yet and to which nothing points, and makes another one of `size` bytes,
    /// less than its own, at its old address: `first`, with the bytes at its beginning, to be marked as changed. Takes
    /// no more room than that. busy: somebody else holds the block. After an error it is where it was.
    Status split(Pinned& block, Address to, std::size_t size, Pinned& first) noexcept;
    /// A block of `size` bytes at `to`, where nothing is yet, that holds what the one at `from` holds. Of that only
    /// what the storage has may remain.
    Status copy(Usage usage, Address from, Address to, std::size_t size, Pinned& block) noexcept;
    /// Says that nothing points to the block, which was written and read again since it was created.
    static void set_fresh(CacheEntry& block) noexcept { block.fresh_ = true; }
    /// Says that bytes from `from` on were changed (and the checksum with them).
    static void mark_dirty(CacheEntry& block, std::size_t from, Phase phase) noexcept;
    /// Comes before a change of `later`, a live block: the change is written only when what was changed in `earlier` so
    /// far is on the storage. False: `earlier` waits for `later` already, so that it has to be written first.
    bool write_after(CacheEntry& later, CacheEntry& earlier) noexcept;
    /// Forgets the block at `address`, if it is there: its space was released.
    void discard(Address address) noexcept;

    /// The same for every block in [address, address + size). Nobody holds one.
    void discard(Address address, Address size) noexcept;

    /// Writes the dirty blocks of one phase in the order of their addresses.
    Status flush(Phase phase) noexcept;
    /// Whether there is a dirty block of that phase.
    bool has_dirty(Phase phase) noexcept { return next_dirty(phase, 0) != nullptr; }
    /// The first phase from that one on of which there is a dirty block; Phase::none when there is none.
    Phase next_phase(Phase from) noexcept;
    /// From now on every block counts as live, also what an operation under way holds: something may point to it.
    void settle() noexcept;

#if H5MOTE_ALL_FORMATS
    /// The block at `address` as the one used last, not pinned yet; nullptr when it is not in memory.
    CacheEntry* touch(Address address) noexcept;
#endif
    /// Whether a block of that size has room beside what is pinned or changed, and leaves some for others.
    bool fits(Address size) noexcept;
    /// Forgets the block at `address` if it is unchanged and nobody holds it; false when it stays.
    bool drop_clean(Address address) noexcept;
    /// Blocks too large for the cache whose checksum was found right: the last few are remembered.
    bool is_verified(Address address, Address size) const noexcept;
    void set_verified(Address address, Address size) noexcept;
    Context& context() noexcept { return context_; }
    Driver& driver() noexcept { return driver_; }

    std::size_t used() const noexcept { return used_; }
    std::size_t budget() const noexcept { return budget_; }

    void reclaim() noexcept override;

private:
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the table of buckets is one of pointers.
    std::size_t bucket_bytes() const noexcept { return bucket_count_ * sizeof(CacheEntry*); }
    static std::size_t footprint(std::size_t size) noexcept { return sizeof(CacheEntry) + size; }
    // What the budget is charged: the bookkeeping of a 32-bit machine everywhere, so that every machine evicts the same
    // blocks at the same time and writes the same file.
    static std::size_t cost(std::size_t size) noexcept { return 32 + size; }
#if H5MOTE_ALL_FORMATS
    // Collections and heap blocks begin at multiples of their size, a power of two.
    static Address hash(Address address) noexcept { return address ^ (address >> 5) ^ (address >> 12); }
#else
    static Address hash(Address address) noexcept { return address ^ (address >> 5); }
#endif
    CacheEntry*& bucket(Address address) noexcept { return buckets_[hash(address) & (bucket_count_ - 1)]; }
    CacheEntry* lookup(Address address) noexcept;
    CacheEntry* next_dirty(Phase phase, Address from) noexcept;
    Status add(Usage usage, Address address, std::size_t size, CacheEntry*& entry) noexcept;
    Status make_room(std::size_t size) noexcept;
    bool evict_clean(std::size_t need) noexcept;
    Status evict_fresh(std::size_t need) noexcept;
    Status write(CacheEntry& entry) noexcept;
    void unlink(CacheEntry& entry) noexcept;
    void remove(CacheEntry& entry) noexcept;

    Context& context_;
    Driver& driver_;
    CommitHook& hook_;
    List<CacheEntry> lru_;  // most recently used in front
    CacheEntry** buckets_ = nullptr;
    std::uint32_t bucket_count_ = 0;
    std::size_t budget_ = 0;
    std::size_t used_ = 0;
#if H5MOTE_ALL_FORMATS
    static constexpr unsigned kVerified = 4;
    struct Extent {
        Address address = kUndefinedAddress;
        Address size = 0;
    };
    Extent verified_[kVerified];
    std::uint8_t next_verified_ = 0;
#endif
};

}  // namespace h5mote
