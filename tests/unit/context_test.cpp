#include <h5mote/arena.hpp>
#include <h5mote/context.hpp>

#include "test.hpp"
#include "test_allocators.hpp"

namespace {

using namespace h5mote;

alignas(16) std::byte memory[512];

// Holds one block, which it gives back when memory runs out.
class Hoard final : public Reclaimer {
public:
    Hoard(Context& context, std::size_t size) noexcept
        : context_(context), size_(size), block_(context.allocate(MemoryKind::chunk, size)) {}
    void reclaim() noexcept override {
        ++reclaims;
        context_.release(MemoryKind::chunk, block_, size_);
        block_ = nullptr;
    }
    bool empty() const noexcept { return block_ == nullptr; }

    int reclaims = 0;

private:
    Context& context_;
    std::size_t size_;
    void* block_;
};

TEST(Context, CountsByKind) {
    Arena arena{memory};
    NullPort port;
    Context context{arena, port, {}};
    void* const first = context.allocate(MemoryKind::metadata, 20);
    void* const second = context.allocate(MemoryKind::metadata, 30);
    void* const third = context.allocate(MemoryKind::filter, 5);
    ASSERT_TRUE(first != nullptr && second != nullptr && third != nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(second) % 8, 0U);
    context.release(MemoryKind::metadata, first, 20);
    context.release(MemoryKind::metadata, nullptr, 1000);
    const MemoryReport report = context.memory_report();
    const KindUsage& metadata = report.kinds[static_cast<std::size_t>(MemoryKind::metadata)];
    EXPECT_EQ(metadata.now, 30U);
    EXPECT_EQ(metadata.peak, 50U);
    EXPECT_EQ(report.kinds[static_cast<std::size_t>(MemoryKind::filter)].now, 5U);
    EXPECT_EQ(report.kinds[static_cast<std::size_t>(MemoryKind::file)].peak, 0U);
    EXPECT_EQ(report.total.now, arena_block_size(30) + arena_block_size(5));
    EXPECT_EQ(report.total.peak, arena_block_size(20) + arena_block_size(30) + arena_block_size(5));
    EXPECT_EQ(report.free_list_bytes, 0U);
}

TEST(Context, CreateAndDestroy) {
    struct Thing {
        Thing(int& count, int number) noexcept : alive(count), value(number) { ++alive; }
        ~Thing() { --alive; }
        int& alive;
        int value;
    };
    Arena arena{memory};
    NullPort port;
    Context context{arena, port, {}};
    int alive = 0;
    Thing* const thing = context.create<Thing>(MemoryKind::handle, alive, 42);
    ASSERT_TRUE(thing != nullptr);
    EXPECT_EQ(thing->value, 42);
    EXPECT_EQ(alive, 1);
    context.destroy(MemoryKind::handle, thing);
    context.destroy(MemoryKind::handle, static_cast<Thing*>(nullptr));
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(arena.usage().now, 0U);
}

TEST(Context, RefusedAllocationReclaimsAndTriesOnceMore) {
    Arena arena{memory};
    NullPort port;
    Context context{arena, port, {}};
    Hoard one{context, 100};
    Hoard two{context, 300};
    context.add_reclaimer(one);
    context.add_reclaimer(two);
    EXPECT_FALSE(one.empty() || two.empty());
    void* const block = context.allocate(MemoryKind::other, 200);
    EXPECT_TRUE(block != nullptr);
    EXPECT_EQ(one.reclaims, 1);
    EXPECT_EQ(two.reclaims, 1);
    EXPECT_TRUE(one.empty() && two.empty());
    EXPECT_EQ(context.trail().size(), 0U);
    EXPECT_TRUE(arena.check());

    context.remove_reclaimer(one);
    context.garbage_collect();
    EXPECT_EQ(one.reclaims, 1);
    EXPECT_EQ(two.reclaims, 2);
    context.remove_reclaimer(two);
    context.release(MemoryKind::other, block, 200);
}

TEST(Context, RefusedTwiceIsRecorded) {
    Arena arena{memory};
    h5mote_test::FailingAllocator failing{arena};
    NullPort port;
    Context context{failing, port, {}};
    failing.arm(1, true);
    EXPECT_TRUE(context.allocate(MemoryKind::type, 24) == nullptr);
    EXPECT_EQ(failing.calls(), 2U);
    EXPECT_EQ(context.memory_report().kinds[static_cast<std::size_t>(MemoryKind::type)].peak, 0U);
#if H5MOTE_ERROR_TRAIL > 0
    ASSERT_EQ(context.trail().size(), 1U);
    const ErrorRecord record = context.trail().newest();
    EXPECT_EQ(record.module, Module::memory);
    EXPECT_EQ(record.status, Status::out_of_memory);
    EXPECT_EQ(record.value, 24U);
    EXPECT_EQ(record.detail, static_cast<std::uint32_t>(MemoryKind::type));
#endif
    // If only the first try fails, the second one succeeds.
    failing.arm(1, false);
    void* const block = context.allocate(MemoryKind::type, 24);
    EXPECT_TRUE(block != nullptr);
    EXPECT_EQ(failing.failures(), 1U);
    context.release(MemoryKind::type, block, 24);
}

class NamedFilter final : public Filter {
public:
    explicit constexpr NamedFilter(FilterId id) noexcept : id_(id) {}
    FilterId id() const noexcept override { return id_; }
    Status encode(const FilterSpec&, ConstBytes, Bytes, std::size_t&, Bytes) const noexcept override {
        return Status::unsupported;
    }
    Status decode(const FilterSpec&, ConstBytes, Bytes, std::size_t&, Bytes) const noexcept override {
        return Status::unsupported;
    }

private:
    FilterId id_;
};

TEST(Context, FindsFiltersByNumber) {
    const NamedFilter shuffle{FilterId::shuffle};
    const NamedFilter deflate{FilterId::deflate};
    const Filter* const filters[] = {&shuffle, &deflate};
    Arena arena{memory};
    NullPort port;
    const Context context{arena, port, filters};
    EXPECT_EQ(context.find_filter(FilterId::deflate), &deflate);
    EXPECT_EQ(context.find_filter(FilterId::shuffle), &shuffle);
    EXPECT_TRUE(context.find_filter(FilterId::szip) == nullptr);
}

TEST(Context, UnsupportedNamesTheFeature) {
    Arena arena{memory};
    NullPort port;
    Context context{arena, port, {}};
    EXPECT_EQ(context.unsupported(Module::group, H5MOTE_HERE, Feature::dense_links, 3), Status::unsupported);
#if H5MOTE_ERROR_TRAIL > 0
    EXPECT_EQ(context.trail().newest().value, static_cast<std::uint64_t>(Feature::dense_links));
    EXPECT_EQ(context.trail().newest().detail, 3U);
#endif
}

}  // namespace
