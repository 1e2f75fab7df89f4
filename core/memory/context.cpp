#include <h5mote/library_lock.hpp>

namespace h5mote {

void* Context::allocate_spare(MemoryKind kind, std::size_t size) noexcept {
    constexpr std::size_t kAlignment = 8;
    void* memory = accounts_.take(kind, size);
    if (memory == nullptr) {
        // Empty the free lists before placing a block that stays (all kinds but `other`): placed behind idle blocks, it
        // would leave holes once these are given back.
        if (kind != MemoryKind::other) {
            (void)accounts_.drain(allocator_);
        }
        memory = allocator_.allocate(size, kAlignment);
    }
    if (memory == nullptr && accounts_.drain(allocator_)) {
        memory = allocator_.allocate(size, kAlignment);
    }
    if (memory != nullptr) {
        MemoryUsage& usage = accounts_.kinds[static_cast<std::size_t>(kind)];
        usage.now += size;
        if (usage.now > usage.peak) {
            usage.peak = usage.now;
        }
    }
    return memory;
}

void* Context::allocate(MemoryKind kind, std::size_t size) noexcept {
    void* memory = allocate_spare(kind, size);
    if (memory == nullptr) {
        garbage_collect();
        memory = allocate_spare(kind, size);
    }
    for (Reclaimer* each = reclaimers_.front(); each != nullptr && memory == nullptr; each = reclaimers_.next(*each)) {
        memory = each->reclaim_used() ? allocate_spare(kind, size) : nullptr;
    }
    if (memory == nullptr) {
        (void)fail(Module::memory, H5MOTE_HERE, Status::out_of_memory, static_cast<std::uint32_t>(kind), size);
    }
    return memory;
}

void Context::release(MemoryKind kind, void* memory, std::size_t size) noexcept {
    if (memory == nullptr) {
        return;
    }
    accounts_.kinds[static_cast<std::size_t>(kind)].now -= size;
    // Nothing is kept idle while no file is open. The last file leaves the list of open files before it releases its
    // memory, so that its blocks empty the free lists here.
    if (open_files_.empty()) {
        (void)accounts_.drain(allocator_);
    } else if (accounts_.give(allocator_, kind, memory, size)) {
        return;
    }
    allocator_.release(memory, size);
}

void Context::set_free_list_limits(const FreeListLimits& limits) noexcept {
    const LibraryLock lock(this);
    (void)accounts_.drain(allocator_);
    accounts_.set_limits(limits);
}

void Context::set_conversions(Span<const UserConversion* const> conversions) noexcept {
    const LibraryLock lock(this);
    accounts_.set_conversions(conversions);
}

void Context::garbage_collect() noexcept {
    const LibraryLock lock(this);
    for (Reclaimer* each = reclaimers_.front(); each != nullptr; each = reclaimers_.next(*each)) {
        each->reclaim();
    }
    (void)accounts_.drain(allocator_);  // includes what the reclaimers have just put on the free lists
}

MemoryReport Context::memory_report() const noexcept {
    const LibraryLock lock(const_cast<Context*>(this));  // needed for reading the numbers, too
    MemoryReport report;
    report.total = allocator_.usage();
    for (std::size_t i = 0; i < kMemoryKinds; ++i) {
        const std::size_t idle = accounts_.idle_bytes(static_cast<MemoryKind>(i));
        report.kinds[i] = {accounts_.kinds[i], idle};
        report.free_list_bytes += idle;
    }
    return report;
}

const Filter* Context::find_filter(FilterId id) const noexcept {
    for (const Filter* filter : filters_) {
        if (filter->id() == id) {
            return filter;
        }
    }
    return nullptr;
}

}  // namespace h5mote
