#include <h5mote/context.hpp>

namespace h5mote {

void* Context::allocate(MemoryKind kind, std::size_t size) noexcept {
    constexpr std::size_t kAlignment = 8;
    void* memory = allocator_.allocate(size, kAlignment);
    if (memory == nullptr) {
        garbage_collect();
        memory = allocator_.allocate(size, kAlignment);
    }
    if (memory == nullptr) {
        (void)fail(Module::memory, H5MOTE_HERE, Status::out_of_memory, static_cast<std::uint32_t>(kind), size);
        return nullptr;
    }
    MemoryUsage& usage = kinds_[static_cast<std::size_t>(kind)];
    usage.now += size;
    if (usage.now > usage.peak) {
        usage.peak = usage.now;
    }
    return memory;
}

void Context::release(MemoryKind kind, void* memory, std::size_t size) noexcept {
    if (memory != nullptr) {
        kinds_[static_cast<std::size_t>(kind)].now -= size;
        allocator_.release(memory, size);
    }
}

void Context::garbage_collect() noexcept {
    for (Reclaimer* each = reclaimers_.front(); each != nullptr; each = reclaimers_.next(*each)) {
        each->reclaim();
    }
}

MemoryReport Context::memory_report() const noexcept {
    MemoryReport report;
    report.total = allocator_.usage();
    for (std::size_t i = 0; i < kMemoryKinds; ++i) {
        report.kinds[i] = kinds_[i];
    }
    // The list hands out elements that may be changed; here they are only asked.
    auto& reclaimers = const_cast<List<Reclaimer>&>(reclaimers_);
    for (Reclaimer* each = reclaimers.front(); each != nullptr; each = reclaimers.next(*each)) {
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
