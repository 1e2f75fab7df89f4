// The memory of workloads. In builds with few free extents there is none to spare for more of them, so that most of
// them go to the table in the file.
#pragma once

#include "free_extents.hpp"

#include <h5mote/library.hpp>
#include <h5mote/port/malloc.hpp>

namespace h5mote_test {

/// Refuses memory of the sizes that a longer list of free extents has. Others who want as much ask once more, and get
/// it then.
class FrugalAllocator final : public h5mote::Allocator {
public:
    /// Released memory goes back at once, so that every allocation comes here.
    static void prepare(h5mote::Library& library) { library.set_free_list_limits({0, 0}); }
    /// How often all of them have refused memory.
    static std::uint64_t& refusals() {
        static std::uint64_t count = 0;
        return count;
    }

private:
    void* do_allocate(std::size_t size, std::size_t alignment) noexcept override {
        const bool refuse = may_be_free_extents(size) && size != refused_;
        refused_ = refuse ? size : 0;
        refusals() += refuse ? 1 : 0;
        return refuse ? nullptr : inner_.allocate(size, alignment);
    }
    void do_release(void* memory, std::size_t size) noexcept override { inner_.release(memory, size); }
    void* do_resize(void*, std::size_t, std::size_t) noexcept override { return nullptr; }
    h5mote::MemoryUsage do_usage() const noexcept override { return inner_.usage(); }

    h5mote::MallocAllocator inner_;
    std::size_t refused_ = 0;
};

/// All memory that there is.
class AmpleAllocator final : public h5mote::Allocator {
public:
    static void prepare(h5mote::Library& /*library*/) {}

private:
    void* do_allocate(std::size_t size, std::size_t alignment) noexcept override {
        return inner_.allocate(size, alignment);
    }
    void do_release(void* memory, std::size_t size) noexcept override { inner_.release(memory, size); }
    void* do_resize(void*, std::size_t, std::size_t) noexcept override { return nullptr; }
    h5mote::MemoryUsage do_usage() const noexcept override { return inner_.usage(); }

    h5mote::MallocAllocator inner_;
};

using WorkloadAllocator = std::conditional_t<(H5MOTE_TEST_FREE_EXTENTS < 8), FrugalAllocator, AmpleAllocator>;

}  // namespace h5mote_test
