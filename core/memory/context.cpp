#include <h5mote/library_lock.hpp>

namespace h5mote {

void* Context::allocate_spare(MemoryKind kind, std::size_t size) noexcept {
    constexpr std::size_t kAlignment = 8;
    void* const memory = allocator_.allocate(size, kAlignment);
    if (memory != nullptr) {
        MemoryUsage& usage = kinds_[static_cast<std::size_t>(kind)];
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
        memory = each->give_up() ? allocate_spare(kind, size) : nullptr;
    }
    if (memory == nullptr) {
        (void)fail(Module::memory, H5MOTE_HERE, Status::out_of_memory, static_cast<std::uint32_t>(kind), size);
    }
    return memory;
}

void Context::release(MemoryKind kind, void* memory, std::size_t size) noexcept {
    if (memory != nullptr) {
        kinds_[static_cast<std::size_t>(kind)].now -= size;
        allocator_.release(memory, size);
    }
}

#if H5MOTE_CONVERSION
void Context::set_conversions(Span<const UserConversion* const> conversions) noexcept {
    const LibraryLock lock(this);
    conversions_ = conversions;
}
#endif

void Context::garbage_collect() noexcept {
    const LibraryLock lock(this);
    for (Reclaimer* each = reclaimers_.front(); each != nullptr; each = reclaimers_.next(*each)) {
        each->reclaim();
    }
}

MemoryReport Context::memory_report() const noexcept {
    // Who only asks takes the lock and walks the list, too, and both need what may be changed.
    auto& self = const_cast<Context&>(*this);
    const LibraryLock lock(self);
    MemoryReport report;
    report.total = allocator_.usage();
    for (std::size_t i = 0; i < kMemoryKinds; ++i) {
        report.kinds[i] = kinds_[i];
    }
    for (Reclaimer* each = self.reclaimers_.front(); each != nullptr; each = self.reclaimers_.next(*each)) {
        report.free_list_bytes += each->idle_bytes();
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
