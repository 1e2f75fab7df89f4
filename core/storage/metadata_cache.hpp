// H5C H5AC - the metadata cache: metadata blocks as their file bytes, found by address, within a hard budget.
//
// A block is in memory once, as the very bytes of the file. Each block says where its lookup3 checksum is, if it has
// one (ChecksumPlace); the checksum is verified when the block is read and computed anew when it is written. A block is
// pinned while a Pinned refers to it. Blocks that are not pinned are evicted, least recently used first: clean ones,
// then fresh ones after writing them.
//
// Crash safety lies in the order of writing, which is a property of the blocks: each changed block has a phase, and all
// blocks of a phase are on the storage before any block of a later one is written. The first phases are fixed and
// follow the pointers between structures: what is pointed to is written first. Later ones are made by write_after(),
// which puts one object header block behind another, as flush dependencies do in the HDF5 library; a phase takes one
// byte a block, where dependencies would take a list of edges. Both a flush and a cache that needs room write the
// phases in turn: FileState::write_changes().
//
// A block is `fresh` from its creation until the commit that first makes it reachable: nothing on the storage points to
// it, so it may be written at any time. Behind the recorded end of the file that stays known when it is evicted and
// read again. For a fresh block in space that is used again, LeftBlocks keeps that knowledge. Profile logger has no
// such table: there the block counts as live then, which is safe as long as the storage has it in a state in which it
// may be found, for it may be written after what makes it reachable.
//
// A changed block is written in one piece, from the first changed byte, or from its checksum if that comes before, to
// its end. Blocks of at most one sector are placed inside one by FileSpace, so that this write is atomic.
#pragma once

#include "large_blocks.hpp"

#include <h5mote/address.hpp>
#include <h5mote/context.hpp>
#include <h5mote/driver.hpp>

namespace h5mote {

/// Returns the status that a driver returned; records a failure in the trail, with the storage's own error code.
inline Status told(Context& context, const Driver& driver, SourcePlace place, Status status,
                   std::uint64_t address = 0) noexcept {
    return status == Status::ok
               ? status
               : context.fail(Module::driver, place, status, static_cast<std::uint32_t>(driver.last_error()), address);
}

/// The order in which dirty blocks are written: a block that points to another one comes after it. A block is live when
/// something on the storage may point to it, that is, when it is not fresh.
enum class Phase : std::uint8_t {
    fresh,         ///< new blocks, to which nothing on the storage points yet
    ends,          ///< what says less than later phases do: the ends of ranges, that free space is not recorded
    prepared,      ///< live blocks of chunk indexes that were changed only for chunks allocated ahead
    index,         ///< live blocks of chunk indexes; reference counts and creation orders, which grow before their use
    element,       ///< live blocks of chunk indexes with elements that have to be counted in the index's header first
    object,        ///< live object headers: dimensions, links, attributes; write_after() makes the phases that follow
    links = 0xfe,  ///< links between the nodes of version 1 B-trees, which no reader follows
    none = 0xff,   ///< no phase: greater than all others
};

/// Where a metadata block has its lookup3 checksum: nowhere, as in all structures of version 1; in its last four bytes,
/// as in most structures of version 2; or, every other value, at that offset. Then it is computed over the whole block,
/// with zeros in its own place.
enum class ChecksumPlace : std::uint8_t { none, at_end };

inline constexpr std::size_t kChecksumSize = 4;

// In builds that read only what a logger writes, the place is a constant.
constexpr bool is_at_end(ChecksumPlace place) noexcept {
    return H5MOTE_ALL_FORMATS == 0 || place == ChecksumPlace::at_end;
}
constexpr bool has_checksum(ChecksumPlace place) noexcept { return is_at_end(place) || place != ChecksumPlace::none; }
/// The offset of the checksum, if there is one, in a block of `size` bytes.
template <typename Size>
constexpr Size checksum_offset(ChecksumPlace place, Size size) noexcept {
    return is_at_end(place) ? size - Size{kChecksumSize} : static_cast<Size>(place);
}

class CacheEntry : public ListNode<> {
public:
    Bytes image() noexcept { return {reinterpret_cast<std::byte*>(this + 1), size_}; }
    std::byte* at(std::size_t offset) noexcept { return image().data() + offset; }
    Address address() const noexcept { return address_; }
    std::size_t size() const noexcept { return size_; }
    static constexpr std::size_t kMostSpare = 0xffff;
    /// Bytes of memory behind the block, into which MetadataCache::resize() lets it grow.
    std::size_t spare() const noexcept { return spare_; }
    Usage usage() const noexcept { return usage_; }
    ChecksumPlace checksum() const noexcept { return H5MOTE_ALL_FORMATS == 0 ? ChecksumPlace::at_end : checksum_; }
    /// The first byte that is written when the bytes from `from` on were changed: the checksum changes with them.
    std::size_t written_from(std::size_t from) const noexcept {
        const std::size_t offset = checksum_offset(checksum(), size());
        return has_checksum(checksum()) && !is_at_end(checksum()) && offset < from ? offset : from;
    }
    bool fresh() const noexcept { return fresh_; }
    bool dirty() const noexcept { return dirty_from_ < size_; }
    /// The phase in which the block is written, if it is dirty.
    Phase phase() const noexcept { return fresh_ ? Phase::fresh : phase_; }
    /// Whether write_after() has put this block behind another object header block.
    bool waits() const noexcept { return dirty() && !fresh_ && phase_ > Phase::object; }

private:
    friend class MetadataCache;
    friend class StreamedWindow;
    friend class Pinned;

    bool seal() noexcept;

    Address address_ = 0;
    CacheEntry* hash_next_ = nullptr;
    std::uint32_t size_ = 0;
    std::uint32_t dirty_from_ = 0;  // first changed byte; size_ when clean
    std::uint16_t pins_ = 0;
    Usage usage_ = Usage::object_header;
    Phase phase_ = Phase::index;
    bool fresh_ = false;
    ChecksumPlace checksum_ = ChecksumPlace::at_end;
    std::uint16_t spare_;  // add() sets it
};

/// Keeps a block in the cache, at its place in memory, for as long as the Pinned exists. Empty by default.
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
    // Out of line to save code: it is called in every return path of every function that holds a block.
    void release() noexcept;

    CacheEntry* entry_ = nullptr;
};

/// The file, as the cache sees it.
class CommitHook {
public:
    /// Writes every changed block, in the order of their phases. Called when nothing else makes room in the cache.
    virtual Status write_changes() noexcept = 0;

    /// Whether nothing on the storage leads to a block at `address`: it lies behind the end of file that the superblock
    /// there has (never in files with several ranges, each of which has an end of its own), or it is a new block that
    /// has left the cache.
    virtual bool is_unrecorded(Address address) const noexcept = 0;

    /// Whether something was written since the last sync.
    bool unsynced = false;
    /// Whether the driver makes all writes between two syncs appear at once.
    bool atomic = false;
    /// Whether the last commit has failed, or one is being made. The cache does not use it; here it takes less code.
    bool incomplete = false;

protected:
    ~CommitHook() = default;
};

/// The last few blocks that are too large for the cache and whose checksums were verified.
class VerifiedBlocks {
public:
    bool is_verified(Address address, Address size) const noexcept;
    void set_verified(Address address, Address size) noexcept;

private:
    static constexpr unsigned kVerified = 4;
    struct Extent {
        Address address = kUndefinedAddress;
        Address size = 0;
    };
    Extent verified_[kVerified];
    std::uint8_t next_verified_ = 0;
};

/// Takes its place in builds that read no block which is too large for the cache.
class NoVerifiedBlocks {
public:
    static bool is_verified(Address /*address*/, Address /*size*/) noexcept { return false; }
    static void set_verified(Address /*address*/, Address /*size*/) noexcept {}
};

using VerifiedOrNone = std::conditional_t<H5MOTE_ALL_FORMATS != 0, VerifiedBlocks, NoVerifiedBlocks>;

/// Where the new blocks lie that have left the cache since the last commit, before the recorded end of the file: in
/// free space that is used again. Read again, such a block would pass for one that something leads to, and its changes
/// would no longer come before those of the block that will lead to it. What is put in the same place before the next
/// commit is new as well. The table has room for a few ranges: a cache that needs the memory of a block beyond them
/// makes a commit first, unless it is in the middle of one.
class LeftBlocks {
public:
    static constexpr bool kRemembers = true;
    bool has_left(Address address) const noexcept;
    /// Whether the table has room for that block.
    bool can_note(Address address, Address size) const noexcept { return place(address, address + size) < kMost; }
    /// Does nothing when the table has no room.
    void note_left(Address address, Address size) noexcept;
    void settle_left() noexcept { count_ = 0; }

private:
    static constexpr unsigned kMost = 16;
    struct Range {
        Address begin;
        Address end;
    };

    // The range that the block makes longer, else the first unused one, which is kMost when all are used.
    unsigned place(Address begin, Address end) const noexcept;

    Range ranges_[kMost] = {};
    unsigned count_ = 0;
};

/// Takes its place in builds whose transactions are short or that only read.
class NoLeftBlocks {
public:
    static constexpr bool kRemembers = false;
    static constexpr bool has_left(Address /*address*/) noexcept { return false; }
    static constexpr bool can_note(Address /*address*/, Address /*size*/) noexcept { return false; }
    static void note_left(Address /*address*/, Address /*size*/) noexcept {}
    static void settle_left() noexcept {}
};

using LeftOrNone = std::conditional_t<H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0, LeftBlocks, NoLeftBlocks>;

/// How flush() writes a changed block, if not by itself.
class JoinedWrites {
public:
    using Write = Status (*)(MetadataCache&, CacheEntry&) noexcept;
    void set_write(Write write) noexcept { write_ = write; }
    Write joined_write() const noexcept { return write_; }

private:
    Write write_ = nullptr;
};

/// Takes its place in builds in which no blocks are written together.
class NoJoinedWrites {
public:
    using Write = JoinedWrites::Write;
    static void set_write(Write /*write*/) noexcept {}
    static Write joined_write() noexcept { return nullptr; }
};

using JoinedOrNone = std::conditional_t<H5MOTE_ALL_FORMATS != 0, JoinedWrites, NoJoinedWrites>;

/// Where the quiet blocks begin: the least recently used ones, of which none is changed, fresh or pinned. A search for
/// changed blocks ends there. A large cache is nearly all quiet, and is searched several times for each change whose
/// order matters.
class QuietBlocks {
public:
    /// nullptr: no block is known to be quiet.
    CacheEntry* first_quiet() const noexcept { return first_; }
    void set_first_quiet(CacheEntry* first) noexcept { first_ = first; }

private:
    CacheEntry* first_ = nullptr;
};

/// Takes its place in builds whose caches are small.
class NoQuietBlocks {
public:
    static constexpr CacheEntry* first_quiet() noexcept { return nullptr; }
    static void set_first_quiet(CacheEntry* /*first*/) noexcept {}
};

using QuietOrNone = std::conditional_t<H5MOTE_ALL_FORMATS != 0, QuietBlocks, NoQuietBlocks>;

class MetadataCache final : public Reclaimer,
                            public LargeOrNone,
                            private VerifiedOrNone,
                            private JoinedOrNone,
                            private LeftOrNone,
                            private QuietOrNone {
public:
    MetadataCache(Context& context, Driver& driver, CommitHook& hook) noexcept
        : context_(context), driver_(driver), hook_(hook) {}

    /// Starts with `budget` bytes for blocks and their bookkeeping. out_of_memory.
    Status open(std::size_t budget) noexcept;
    /// Drops every block, written or not.
    void close() noexcept;

    /// The block at `address` if it is in memory, else an empty Pinned.
    Pinned find(Address address) noexcept;
    /// The block of `size` bytes at `address`, read if it is not in memory. corrupt_file when its checksum is wrong or
    /// it is in memory with another size, over_budget when it cannot be made to fit.
    Status protect(Usage usage, Address address, std::size_t size, Pinned& block,
                   ChecksumPlace checksum = ChecksumPlace::at_end) noexcept;
    /// A new, fresh block of zeros at an address to which nothing points yet.
    Status create(Usage usage, Address address, std::size_t size, Pinned& block,
                  ChecksumPlace checksum = ChecksumPlace::at_end) noexcept;
    /// Gives a block another address, at which the cache has no block and to which nothing points. The block is fresh
    /// again, and all of it counts as changed.
    void move(CacheEntry& block, Address to) noexcept;
    /// Moves a block to `to`, like move(), and creates a second block at its old address: `first`, of `size` bytes,
    /// fewer than the block has. It starts as a copy of the block's first bytes, and the caller marks it as changed.
    /// Takes no more room in the cache than `first` needs. busy: somebody else holds the block. After an error the
    /// block is where it was.
    Status split(Pinned& block, Address to, std::size_t size, Pinned& first) noexcept;
    /// Makes a block of `size` bytes at `to`, where the cache has none yet, with the contents of the block at `from`.
    /// Afterwards the cache may have lost the block at `from`; then the storage holds the same bytes there.
    Status copy(Usage usage, Address from, Address to, std::size_t size, Pinned& block,
                ChecksumPlace checksum = ChecksumPlace::at_end) noexcept;
    /// Makes a block larger or smaller, within the memory that it was created with: it gets at most spare() bytes more.
    /// The caller marks it as changed, from the place on from which its bytes are others.
    static void resize(CacheEntry& block, std::size_t size) noexcept;
    /// Says that nothing points to the block yet, even if a commit has written it since it was created.
    static void set_fresh(CacheEntry& block) noexcept { block.fresh_ = true; }
    /// Says that bytes from `from` on were changed (and the checksum with them).
    static void mark_dirty(CacheEntry& block, std::size_t from, Phase phase) noexcept;
    /// Call before changing `later`, a live block: the change is written only after everything changed in `earlier` so
    /// far is on the storage. False if phases cannot express that, as when `earlier` waits for `later` already: then
    /// the changes so far have to be written before `later` is changed.
    bool write_after(CacheEntry& later, CacheEntry& earlier) noexcept;
    /// Drops every block that begins in [address, address + size), without writing it: its space was released. A block
    /// that is pinned stays in memory without its changes. Only in damaged files, where two structures have the same
    /// bytes, is there such a block.
    void discard(Address address, Address size = 1) noexcept;

    /// Writes the dirty blocks of one phase in the order of their addresses.
    Status flush(Phase phase) noexcept;
    /// From now on flush() brings blocks that belong together to the storage at once: see write_run().
    void join_writes() noexcept { set_write(&write_run); }
    /// Whether there is a dirty block of that phase.
    bool has_dirty(Phase phase) noexcept { return next_phase(phase) == phase; }
    /// The first phase, `from` or a later one, that has a dirty block; Phase::none if there is no such block.
    Phase next_phase(Phase from) noexcept;
    /// The latest phase for which one of the changed live blocks in [address, address + size) waits, but at least
    /// `least`.
    Phase latest_phase(Address address, Address size, Phase least) noexcept;
    /// From now on no block is fresh, not even one that an operation under way has just created: something may point to
    /// it.
    void settle() noexcept;

    /// The block at `address`, not pinned; it becomes the most recently used one. nullptr when it is not in memory.
    CacheEntry* touch(Address address) noexcept;
    /// Whether a block of `size` bytes takes more than half of the budget, so that it is never read or changed in the
    /// cache where it need not be.
    bool is_large(Address size) const noexcept {
        return size > budget_ / 2 || cost(static_cast<std::size_t>(size)) > budget_ / 2;
    }
    /// Whether a block of `size` bytes takes at most half of the budget and has room beside the blocks that are pinned
    /// or changed.
    bool fits(Address size) noexcept;
    /// Drops the block at `address` if it is unchanged and not pinned; false when it stays.
    bool drop_clean(Address address) noexcept;
    /// Whether the checksum of a block that is too large for the cache was verified before, as set_verified() says.
    /// Only the last few such blocks are remembered.
    using VerifiedOrNone::is_verified;
    using VerifiedOrNone::set_verified;
    /// Whether a new block at that address has left the cache since the last commit.
    using LeftOrNone::has_left;
    /// Writes bytes that the cache does not have.
    Status write_past(Usage usage, Address address, ConstBytes bytes) noexcept {
        hook_.unsynced = true;
        return told(context_, driver_, H5MOTE_HERE, driver_.write(usage, address, bytes), address);
    }
    Context& context() noexcept { return context_; }
    Driver& driver() noexcept { return driver_; }

    std::size_t used() const noexcept { return used_; }
    std::size_t budget() const noexcept { return budget_; }
    /// Whether the machine has memory enough for what saves time only.
    bool is_generous() const noexcept { return H5MOTE_ALL_FORMATS != 0 && budget_ >= kGenerous; }

    void reclaim() noexcept override;

private:
    static constexpr std::size_t kGenerous = 65536;

    // NOLINTNEXTLINE(bugprone-sizeof-expression): the table of buckets is one of pointers.
    std::size_t bucket_bytes() const noexcept { return bucket_count_ * sizeof(CacheEntry*); }
    static std::size_t footprint(std::size_t size) noexcept { return sizeof(CacheEntry) + size; }
    // What the budget is charged: the bookkeeping of a 32-bit machine everywhere, so that every machine evicts the same
    // blocks at the same time and writes the same file.
    static std::size_t cost(std::size_t size) noexcept { return 32 + size; }
    static std::size_t cost(const CacheEntry& entry) noexcept { return cost(entry.size_ + entry.spare()); }
    // Collections and heap blocks begin at multiples of their size, a power of two: higher bits have to count, too.
    static Address hash(Address address) noexcept { return address ^ (address >> 5) ^ (address >> 12); }
    CacheEntry*& bucket(Address address) noexcept { return buckets_[hash(address) & (bucket_count_ - 1)]; }
    CacheEntry* lookup(Address address) noexcept;
    CacheEntry* next_dirty(Phase phase, Address from) noexcept;
    // The first blocks that next_dirty() would find one after the other, at most kBatch; returns how many. Each batch
    // takes a search through the cache, which is large where pointers are.
    static constexpr std::size_t kBatch = sizeof(void*) > 4 ? 256 : 16;
    std::size_t next_dirty(Phase phase, Address from, CacheEntry* (&found)[kBatch]) noexcept;
    // Call before the block is moved to the front or removed, or may be changed.
    void disturb([[maybe_unused]] CacheEntry& entry) noexcept {
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            if (first_quiet() == &entry) {
                set_first_quiet(lru_.next(entry));
            }
        }
    }
    Status add(Usage usage, Address address, std::size_t size, ChecksumPlace checksum, CacheEntry*& entry) noexcept;
    Status make_room(std::size_t size) noexcept;
    // Whether a block is new and, read again, would pass for a live one, for nothing but LeftBlocks can tell.
    bool seems_live(const CacheEntry& entry) const noexcept {
        return kRemembers && entry.fresh_ && !hook_.atomic && !hook_.is_unrecorded(entry.address_);
    }
    // Removes a block that may be read again.
    void leave(CacheEntry& entry) noexcept;
    // `keep`: new blocks stay that LeftBlocks has no room for.
    bool evict_clean(std::size_t need, bool keep) noexcept;
    Status evict_fresh(std::size_t need, bool keep) noexcept;
    bool is_kept(const CacheEntry& entry, bool keep) const noexcept {
        return kRemembers && keep && seems_live(entry) && !can_note(entry.address_, entry.size_);
    }
    Status write(CacheEntry& entry) noexcept;
    static Status write_run(MetadataCache& cache, CacheEntry& first) noexcept;
    void unlink(CacheEntry& entry) noexcept;
    void remove(CacheEntry& entry) noexcept;
    void drop(CacheEntry& entry) noexcept;

    Context& context_;
    Driver& driver_;
    CommitHook& hook_;
    List<CacheEntry> lru_;  // most recently used in front
    CacheEntry** buckets_ = nullptr;
    std::uint32_t bucket_count_ = 0;
    std::size_t budget_ = 0;
    std::size_t used_ = 0;
};

}  // namespace h5mote
