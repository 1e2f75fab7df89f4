#include "metadata_cache.hpp"

#include "checksum.hpp"
#include "cursor.hpp"

#include <cstring>

namespace h5mote {
namespace {

constexpr Phase kLastPhase = static_cast<Phase>(static_cast<unsigned>(Phase::links) - 1);

}  // namespace

// Puts the right checksum into a block that has one. Returns whether it was there already.
bool CacheEntry::seal() noexcept {
    CacheEntry& block = *this;
    const std::size_t offset = checksum_offset(block.checksum(), block.size());
    std::byte* const at = block.at(offset);
    const auto before = load_le<std::uint32_t>(at);
    std::size_t covered = offset;
    if (!is_at_end(block.checksum())) {
        covered = block.size();
        store_le<std::uint32_t>(at, 0);
    }
    const std::uint32_t right = lookup3({block.at(0), covered});
    store_le(at, right);
    return before == right;
}

[[gnu::noinline]] void Pinned::release() noexcept {
    if (entry_ != nullptr) {
        --entry_->pins_;
    }
}

void Pinned::reset(CacheEntry* entry) noexcept {
    if (entry != nullptr) {
        ++entry->pins_;
    }
    release();
    entry_ = entry;
}

Status MetadataCache::open(std::size_t budget) noexcept {
    budget_ = budget;
    bucket_count_ = 1U << (floor_log2(budget / 256) + 1);
    buckets_ = static_cast<CacheEntry**>(context_.allocate(MemoryKind::metadata, bucket_bytes()));
    if (buckets_ == nullptr) {
        return Status::out_of_memory;
    }
    std::memset(static_cast<void*>(buckets_), 0, bucket_bytes());
    context_.add_reclaimer(*this);
    return Status::ok;
}

void MetadataCache::close() noexcept {
    while (CacheEntry* entry = lru_.front()) {
        remove(*entry);
    }
    if (buckets_ != nullptr) {
        context_.remove_reclaimer(*this);
        context_.release(MemoryKind::metadata, static_cast<void*>(buckets_), bucket_bytes());
        buckets_ = nullptr;
    }
}

CacheEntry* MetadataCache::lookup(Address address) noexcept {
    // A block that is walked in many small steps is looked up in each of them.
    if (CacheEntry* const last = lru_.front();
        H5MOTE_ALL_FORMATS != 0 && last != nullptr && last->address_ == address) {
        return last;
    }
    CacheEntry* entry = bucket(address);
    while (entry != nullptr && entry->address_ != address) {
        entry = entry->hash_next_;
    }
    return entry;
}

CacheEntry* MetadataCache::touch(Address address) noexcept {
    CacheEntry* const entry = lookup(address);
    if (entry != nullptr) {
        disturb(*entry);
    }
    if (entry != nullptr && (H5MOTE_ALL_FORMATS == 0 || entry != lru_.front())) {
        lru_.remove(*entry);
        lru_.push_front(*entry);
    }
    return entry;
}

Pinned MetadataCache::find(Address address) noexcept {
    Pinned block;
    block.reset(touch(address));
    return block;
}

Status MetadataCache::protect(Usage usage, Address address, std::size_t size, Pinned& block,
                              ChecksumPlace checksum) noexcept {
    block = find(address);
    if (block) {
        // Two structures that disagree about the extent of a block cannot both be right.
        return block->size() == size ? Status::ok
                                     : context_.fail(Module::storage, H5MOTE_HERE, Status::corrupt_file, 0, address);
    }
    CacheEntry* entry = nullptr;
    H5MOTE_TRY(add(usage, address, size, checksum, entry));
    block.reset(entry);
    entry->dirty_from_ = entry->size_;
    // Where the order of writes does not matter, space that a block gives up is better not taken for new.
    entry->fresh_ = H5MOTE_WRITE != 0 && !hook_.atomic && hook_.is_unrecorded(address);
    Status status = told(context_, driver_, H5MOTE_HERE, driver_.read(usage, address, entry->image()), address);
    if (status == Status::ok && has_checksum(checksum) && !entry->seal()) {
        // The record also gets the size: the fuzzer needs it to repair checksums.
        status = context_.fail(Module::storage, H5MOTE_HERE, Status::corrupt_file, static_cast<std::uint32_t>(size),
                               address);
    }
    if (status != Status::ok) {
        block.reset();
        remove(*entry);
    }
    return status;
}

Status MetadataCache::create(Usage usage, Address address, std::size_t size, Pinned& block,
                             ChecksumPlace checksum) noexcept {
    CacheEntry* entry = nullptr;
    H5MOTE_TRY(add(usage, address, size, checksum, entry));
    std::memset(entry->image().data(), 0, size);
    entry->fresh_ = true;
    block.reset(entry);
    return Status::ok;
}

void MetadataCache::move(CacheEntry& block, Address to) noexcept {
    unlink(block);
    block.address_ = to;
    CacheEntry*& head = bucket(to);
    block.hash_next_ = head;
    head = &block;
    block.fresh_ = true;
    block.dirty_from_ = 0;
}

Status MetadataCache::split(Pinned& block, Address to, std::size_t size, Pinned& first) noexcept {
    CacheEntry& entry = *block;
    if (entry.pins_ != 1) {
        return context_.fail(Module::storage, H5MOTE_HERE, Status::busy, 0, entry.address_);
    }
    // To make room, create() may write all changes, the block included: so it is still where something leads to it, and
    // the second block, of which nobody knows yet, has the new place.
    H5MOTE_TRY(create(entry.usage_, to, size, first, entry.checksum()));
    const Address address = entry.address_;
    const bool fresh = entry.fresh_;
    move(entry, to);
    move(*first, address);
    std::memcpy(first->at(0), entry.at(0), size);
    first->fresh_ = fresh;
    return Status::ok;
}

Status MetadataCache::copy(Usage usage, Address from, Address to, std::size_t size, Pinned& block,
                           ChecksumPlace checksum) noexcept {
    Pinned old;
    H5MOTE_TRY(protect(usage, from, size, old, checksum));
    if (old->dirty()) {
        const Status status = create(usage, to, size, block, checksum);
        if (status == Status::ok) {
            std::memcpy(block->at(0), old->at(0), size);
            return status;
        }
        // If create() had no room for a second block but has written the old one, that one can be moved (below).
        if (status != Status::over_budget || old->dirty()) {
            return status;
        }
    }
    // The old block has no changes, so the storage still holds it at `from` if the copy is not used in the end.
    move(*old, to);
    block = static_cast<Pinned&&>(old);
    return Status::ok;
}

bool MetadataCache::write_after(CacheEntry& later, CacheEntry& earlier) noexcept {
    const Phase phase = earlier.phase();
    if (!earlier.dirty() || (later.dirty() && later.phase() > phase)) {
        return true;
    }
    const auto next = [](Phase each) { return static_cast<Phase>(static_cast<unsigned>(each) + 1); };
    if (phase < Phase::object || (later.dirty() && later.phase() < phase) || next_phase(kLastPhase) == kLastPhase) {
        return false;
    }
    if (!later.dirty()) {
        // No block waits for one without changes, so that its phase can be raised. Only a dirty block has a phase:
        // count the last byte as changed, and with it the checksum.
        later.dirty_from_ = static_cast<std::uint32_t>(later.written_from(later.size_ - 1));
    } else {
        // Both have the same phase. Raise `later` and all blocks of later phases by one, so that what waits for `later`
        // goes on waiting for it.
        for (CacheEntry* entry = lru_.front(); entry != first_quiet(); entry = lru_.next(*entry)) {
            if (entry->dirty() && entry->phase_ > phase && entry->phase_ < Phase::links) {
                entry->phase_ = next(entry->phase_);
            }
        }
    }
    later.phase_ = next(phase);
    return true;
}

void MetadataCache::resize(CacheEntry& block, std::size_t size) noexcept {
    block.dirty_from_ = block.dirty() ? block.dirty_from_ : static_cast<std::uint32_t>(size);
    block.spare_ = static_cast<std::uint16_t>(block.spare_ + block.size_ - size);
    block.size_ = static_cast<std::uint32_t>(size);
}

void MetadataCache::mark_dirty(CacheEntry& block, std::size_t from, Phase phase) noexcept {
    // Changes of two phases in one block are written in the later one.
    if (!block.dirty() || block.phase_ < phase) {
        block.phase_ = phase;
    }
    const std::size_t first = block.written_from(from);
    if (first < block.dirty_from_) {
        block.dirty_from_ = static_cast<std::uint32_t>(first);
    }
}

// Goes through the whole cache, unless one block takes all of that space: the pages behind a block are cached as blocks
// of their own, and nothing tells which of them are there but their addresses.
void MetadataCache::discard(Address address, Address size) noexcept {
    forget(address, size);
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        CacheEntry* const whole = lookup(address);
        if (whole != nullptr && whole->size_ >= size) {
            drop(*whole);
            return;
        }
        if (size == 1) {
            return;
        }
    }
    for (CacheEntry* entry = lru_.front(); entry != nullptr;) {
        CacheEntry* const next = lru_.next(*entry);
        if (entry->address_ - address < size) {
            drop(*entry);
        }
        entry = next;
    }
}

CacheEntry* MetadataCache::next_dirty(Phase phase, Address from) noexcept {
    CacheEntry* best = nullptr;
    for (CacheEntry* entry = lru_.front(); entry != first_quiet(); entry = lru_.next(*entry)) {
        if (entry->dirty() && entry->phase() == phase && entry->address_ >= from &&
            (best == nullptr || entry->address_ < best->address_)) {
            best = entry;
        }
    }
    return best;
}

std::size_t MetadataCache::next_dirty(Phase phase, Address from, CacheEntry* (&found)[kBatch]) noexcept {
    std::size_t count = 0;
    // From the oldest on: most blocks get their addresses in the order in which they are made, so that each one found
    // belongs behind those before it.
    CacheEntry* entry = first_quiet() == nullptr ? lru_.back() : lru_.previous(*first_quiet());
    for (; entry != nullptr; entry = lru_.previous(*entry)) {
        if (!entry->dirty() || entry->phase() != phase || entry->address_ < from ||
            (count == kBatch && found[kBatch - 1]->address_ < entry->address_)) {
            continue;
        }
        std::size_t at = count < kBatch ? count++ : kBatch - 1;
        for (; at > 0 && entry->address_ < found[at - 1]->address_; --at) {
            found[at] = found[at - 1];
        }
        found[at] = entry;
    }
    return count;
}

Phase MetadataCache::next_phase(Phase from) noexcept {
    Phase first = Phase::none;
    for (CacheEntry* entry = lru_.front(); entry != first_quiet(); entry = lru_.next(*entry)) {
        const Phase phase = entry->phase();
        first = entry->dirty() && phase >= from && phase < first ? phase : first;
        if (H5MOTE_ALL_FORMATS != 0 && first == from) {
            break;
        }
    }
    return first;
}

Phase MetadataCache::latest_phase(Address address, Address size, Phase least) noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        // Blocks do not overlap: no other one begins in the space of this one.
        const CacheEntry* const whole = lookup(address);
        if (whole != nullptr && whole->size_ >= size) {
            return whole->dirty() && whole->phase() > least ? whole->phase() : least;
        }
    }
    for (CacheEntry* entry = lru_.front(); entry != first_quiet(); entry = lru_.next(*entry)) {
        if (entry->address_ - address < size && entry->dirty() && entry->phase() > least) {
            least = entry->phase();
        }
    }
    return least;
}

Status MetadataCache::flush(Phase phase) noexcept {
    Address from = 0;
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        CacheEntry* found[kBatch];
        std::size_t count = kBatch;
        while (count == kBatch) {
            count = next_dirty(phase, from, found);
            for (std::size_t i = 0; i < count; ++i) {
                CacheEntry& entry = *found[i];
                if (entry.dirty()) {  // not written together with the block before
                    H5MOTE_TRY(joined_write() == nullptr ? write(entry) : joined_write()(*this, entry));
                }
                from = entry.address_ + 1;
            }
        }
    } else {
        while (CacheEntry* entry = next_dirty(phase, from)) {
            H5MOTE_TRY(write(*entry));
            from = entry->address_ + 1;
        }
    }
    return Status::ok;
}

void MetadataCache::settle() noexcept {
    LargeOrNone::settle();
    settle_left();
    CacheEntry* quiet = lru_.front();
    for (CacheEntry* entry = lru_.front(); entry != first_quiet(); entry = lru_.next(*entry)) {
        entry->fresh_ = false;
        if (H5MOTE_ALL_FORMATS != 0 && (entry->dirty() || entry->pins_ != 0)) {
            quiet = lru_.next(*entry);
        }
    }
    set_first_quiet(quiet);
}

Status MetadataCache::add(Usage usage, Address address, std::size_t size, ChecksumPlace checksum,
                          CacheEntry*& entry) noexcept {
    H5MOTE_TRY(make_room(size));
    void* memory = context_.allocate(MemoryKind::metadata, footprint(size));
    if (memory == nullptr) {
        // The budget allows the block, but free memory is in pieces: write changed blocks, so that they can be dropped
        // as well.
        H5MOTE_TRY(evict_fresh(budget_, false));
        if (next_phase(Phase::index) != Phase::none) {
            H5MOTE_TRY(hook_.write_changes());
        }
        memory = context_.allocate(MemoryKind::metadata, footprint(size));
    }
    if (memory == nullptr) {
        return Status::out_of_memory;
    }
    entry = ::new (memory) CacheEntry;
    entry->address_ = address;
    entry->size_ = static_cast<std::uint32_t>(size);
    entry->usage_ = usage;
    entry->checksum_ = checksum;
    entry->spare_ = 0;
    CacheEntry*& head = bucket(address);
    entry->hash_next_ = head;
    head = entry;
    lru_.push_front(*entry);
    used_ += cost(size);
    return Status::ok;
}

Status MetadataCache::make_room(std::size_t size) noexcept {
    const std::size_t need = cost(size);
    // `size` is checked by itself, too, because cost() overflows if it is near the largest number.
    if (size > budget_ || need > budget_ || size > 0xffffffffU) {
        return context_.fail(Module::storage, H5MOTE_HERE, Status::over_budget, 0, need);
    }
    if (H5MOTE_ALL_FORMATS != 0 && used_ + need <= budget_) {
        return Status::ok;
    }
    // Changed blocks stay, and looking for others passes them. A large cache makes so much room at once that this
    // search is rare.
    const bool large = is_generous() && need <= budget_ / 2;
    const std::size_t wanted = large ? need + budget_ / 16 : need;
    const bool keep = kRemembers && !hook_.incomplete;
    if (evict_clean(wanted, keep)) {
        return Status::ok;
    }
    H5MOTE_TRY(evict_fresh(wanted, keep));
    if (used_ + wanted > budget_) {
        H5MOTE_TRY(hook_.write_changes());
        if (!evict_clean(wanted, false) && !(large && used_ + need <= budget_)) {
            return context_.fail(Module::storage, H5MOTE_HERE, Status::over_budget, 1, used_ + need);
        }
    }
    return Status::ok;
}

bool MetadataCache::fits(Address size) noexcept {
    if (is_large(size)) {
        return false;
    }
    // Subtract what evict_clean() would drop, the least recently used block first, until the new block fits.
    std::size_t held = used_ + cost(static_cast<std::size_t>(size));
    for (CacheEntry* entry = lru_.back(); entry != nullptr && held > budget_; entry = lru_.previous(*entry)) {
        held -= entry->pins_ == 0 && !entry->dirty() ? cost(*entry) : 0;
    }
    return held <= budget_;
}

bool MetadataCache::drop_clean(Address address) noexcept {
    CacheEntry* const entry = lookup(address);
    if (entry != nullptr && (entry->pins_ != 0 || entry->dirty())) {
        return false;
    }
    if (entry != nullptr) {
        leave(*entry);
    }
    return true;
}

bool VerifiedBlocks::is_verified(Address address, Address size) const noexcept {
    bool found = false;
    for (const Extent& extent : verified_) {
        found = found || (extent.address == address && extent.size == size);
    }
    return found;
}

void VerifiedBlocks::set_verified(Address address, Address size) noexcept {
    verified_[next_verified_].address = address;
    verified_[next_verified_].size = size;
    next_verified_ = static_cast<std::uint8_t>((next_verified_ + 1U) % kVerified);
}

void MetadataCache::leave(CacheEntry& entry) noexcept {
    if (seems_live(entry)) {
        note_left(entry.address_, entry.size_);
    }
    remove(entry);
}

bool LeftBlocks::has_left(Address address) const noexcept {
    bool found = false;
    for (unsigned i = 0; i < count_; ++i) {
        found = found || (ranges_[i].begin <= address && address < ranges_[i].end);
    }
    return found;
}

unsigned LeftBlocks::place(Address begin, Address end) const noexcept {
    unsigned i = 0;
    while (i < count_ && ranges_[i].end != begin && ranges_[i].begin != end) {
        ++i;
    }
    return i;
}

void LeftBlocks::note_left(Address address, Address size) noexcept {
    const Address end = address + size;
    const unsigned i = place(address, end);
    if (i < count_) {
        Range& range = ranges_[i];
        range = range.begin == end ? Range{address, range.end} : Range{range.begin, end};
    } else if (i < kMost) {
        ranges_[count_++] = {address, end};
    }
}

bool MetadataCache::evict_clean(std::size_t need, bool keep) noexcept {
    for (CacheEntry* entry = lru_.back(); entry != nullptr && used_ + need > budget_;) {
        CacheEntry* previous = lru_.previous(*entry);
        if (entry->pins_ == 0 && !entry->dirty() && !is_kept(*entry, keep)) {
            leave(*entry);
        }
        entry = previous;
    }
    return used_ + need <= budget_;
}

Status MetadataCache::evict_fresh(std::size_t need, bool keep) noexcept {
    for (CacheEntry* entry = lru_.back(); entry != nullptr && used_ + need > budget_;) {
        CacheEntry* previous = lru_.previous(*entry);
        if (entry->pins_ == 0 && entry->fresh_ && !is_kept(*entry, keep)) {
            H5MOTE_TRY(write(*entry));
            leave(*entry);
        }
        entry = previous;
    }
    return Status::ok;
}

Status MetadataCache::write(CacheEntry& entry) noexcept {
    if (H5MOTE_WRITE == 0) {
        return Status::read_only;
    }
    if (has_checksum(entry.checksum())) {
        (void)entry.seal();
    }
    const std::size_t from = entry.dirty_from_;
    hook_.unsynced = true;
    H5MOTE_TRY(told(context_, driver_, H5MOTE_HERE,
                    driver_.write(entry.usage_, entry.address_ + from, entry.image().subspan(from)),
                    entry.address_ + from));
    entry.dirty_from_ = entry.size_;
    return Status::ok;
}

void MetadataCache::unlink(CacheEntry& entry) noexcept {
    CacheEntry** link = &bucket(entry.address_);
    while (*link != &entry) {
        link = &(*link)->hash_next_;
    }
    *link = entry.hash_next_;
}

void MetadataCache::remove(CacheEntry& entry) noexcept {
    unlink(entry);
    disturb(entry);
    lru_.remove(entry);
    used_ -= cost(entry);
    context_.release(MemoryKind::metadata, &entry, footprint(entry.size_ + entry.spare()));
}

void MetadataCache::drop(CacheEntry& entry) noexcept {
    if (entry.pins_ == 0) {
        remove(entry);
    } else {
        entry.dirty_from_ = entry.size_;
    }
}

void MetadataCache::reclaim() noexcept {
    for (CacheEntry* entry = lru_.back(); entry != nullptr;) {
        CacheEntry* previous = lru_.previous(*entry);
        if (entry->pins_ == 0 && !entry->dirty()) {
            leave(*entry);
        }
        entry = previous;
    }
}

}  // namespace h5mote
