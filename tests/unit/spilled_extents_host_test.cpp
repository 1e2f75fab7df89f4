// Free extents for which memory has no room are kept in a table in the file. Space is allocated, released and found at
// random beside a model of who owns which bytes, while memory is given and taken away.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include "failing_driver.hpp"
#include "file_state.hpp"
#include "spilled_extents.hpp"
#include "sweep.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

using namespace h5mote;
using namespace h5mote_test;

namespace {

// Refuses everything while `full`.
class Moody final : public Allocator {
public:
    bool full = false;

private:
    void* do_allocate(std::size_t size, std::size_t alignment) noexcept override {
        return full ? nullptr : inner_.allocate(size, alignment);
    }
    void do_release(void* memory, std::size_t size) noexcept override { inner_.release(memory, size); }
    void* do_resize(void*, std::size_t, std::size_t) noexcept override { return nullptr; }
    MemoryUsage do_usage() const noexcept override { return inner_.usage(); }

    MallocAllocator inner_;
};

// The free space of a file, and the blocks that were allocated in it. Each block is filled with bytes of its own.
class Bench {
public:
    explicit Bench(unsigned seed, Address limit = ~Address{0} / 2) : random_(seed), file_(context_, driver) {
        context_.set_free_list_limits({0, 0});
        FileSpace& space = file_.space;
        space.open(0, limit, 0);
        SpilledExtents::attach(file_);
    }
    ~Bench() {
        allocator_.full = false;
        file_.space.close();
    }

    void step() {
        switch (random_() % 16) {
            case 0:
                allocator_.full = !allocator_.full;
                break;
            case 1:
                ask_for_memory();
                break;
            case 2:
                (void)file_.space.settle();
                break;
            case 3:
            case 4:
            case 5:
            case 6:
            case 7:
            case 8:
                release();
                break;
            default:
                allocate();
        }
    }
    // Fills the storage with a large block and many small ones, and gives every second small one back, without memory
    // for them; after 140 of them, the large one.
    void make_holes(Address large, Address small) {
        if (large != 0) {
            EXPECT_TRUE(allocate(large));
        }
        while (allocate(small)) {
        }
        allocator_.full = true;
        unsigned number = 0;
        for (auto block = std::next(blocks_.begin(), large == 0 ? 0 : 1); block != blocks_.end(); ++number) {
            if (number == 280 && large != 0) {
                release(blocks_.begin(), true);
            }
            block = number % 2 == 0 ? std::next(block) : release(block, true);
        }
    }
    std::size_t parts() noexcept { return file_.space.keeper()->own().size(); }

    // Gives everything back to the map that the keeper has, as File::close() does.
    void store() { EXPECT_EQ(file_.space.keeper()->store(), Status::ok); }

    // Nobody has the same bytes as another, blocks hold what was written, and, unless `some_are_lost`, every byte has
    // an owner.
    void expect_sound(bool some_are_lost = false) {
        SpaceMap& free = file_.space.free();
        std::map<Address, Address> owners = blocks_;
        Address bytes = 0;
        const auto own = [&](Address address, Address size) {
            if (size != 0) {
                EXPECT_TRUE(owners.emplace(address, size).second) << address << " has two owners";
            }
        };
        for (const FreeExtent& part : file_.space.keeper()->own()) {
            own(part.address, part.size);
        }
        for (std::size_t i = 0; i < free.count(); ++i) {
            const FreeExtent extent = free.get(i);
            own(extent.address, extent.size);
        }
        Address end = 0;
        for (const auto& [address, size] : owners) {
            EXPECT_GE(address, end) << "overlap";
            end = address + size;
            bytes += size;
        }
        EXPECT_LE(end, file_.space.end());
        if (!some_are_lost && free.is_complete()) {
            EXPECT_EQ(bytes, file_.space.end());
            ++complete;
        }
        most_spilled = std::max(most_spilled, free.spilled());
        for (const auto& [address, size] : blocks_) {
            std::vector<std::byte> stored(static_cast<std::size_t>(size));
            ASSERT_EQ(storage_.read(Usage::raw_data, address, {stored.data(), stored.size()}), Status::ok);
            for (std::size_t i = 0; i < stored.size(); ++i) {
                ASSERT_EQ(stored[i], value(address + i)) << "byte " << i << " of the block at " << address;
            }
        }
    }

    std::size_t most_spilled = 0;
    unsigned complete = 0;

private:
    static std::byte value(Address at) { return static_cast<std::byte>(at * 37 + 11); }

    void ask_for_memory() {
        constexpr std::size_t kSize = 4096;
        void* const memory = context_.allocate(MemoryKind::other, kSize);
        context_.release(MemoryKind::other, memory, kSize);
    }

    void allocate() { (void)allocate(random_() % 40 == 0 ? 600 : 8 + random_() % 64); }
    bool allocate(Address size) {
        Address address = 0;
        if (file_.space.allocate(Usage::raw_data, size, address) != Status::ok) {
            return false;
        }
        std::vector<std::byte> bytes(static_cast<std::size_t>(size));
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            bytes[i] = value(address + i);
        }
        EXPECT_EQ(storage_.write(Usage::raw_data, address, {bytes.data(), bytes.size()}), Status::ok);
        const auto next = blocks_.lower_bound(address);
        EXPECT_TRUE(next == blocks_.end() || address + size <= next->first) << "given out twice";
        EXPECT_TRUE(next == blocks_.begin() || std::prev(next)->first + std::prev(next)->second <= address)
            << "given out twice";
        blocks_[address] = size;
        return true;
    }

    void release() {
        if (!blocks_.empty()) {
            release(std::next(blocks_.begin(), random_() % static_cast<unsigned>(blocks_.size())), random_() % 2 == 0);
        }
    }
    std::map<Address, Address>::iterator release(std::map<Address, Address>::iterator block, bool fresh) {
        const auto [address, size] = *block;
        const auto next = blocks_.erase(block);
        file_.space.release(address, size, fresh, SpaceKind::raw_data);
        return next;
    }

    std::minstd_rand random_;
    Moody allocator_;
    NullPort port_;
    MallocAllocator bytes_;
    GrowingMemoryDriver storage_{bytes_};
    Context context_{allocator_, port_, {}};

public:
    FailingDriver driver{storage_};

private:
    FileState file_;
    std::map<Address, Address> blocks_;
};

}  // namespace

TEST(SpilledExtents, NothingIsGivenOutTwiceAndNothingIsLost) {
    std::size_t most = 0;
    unsigned complete = 0;
    for (unsigned seed = 1; seed <= 200 && !testing::Test::HasFailure(); seed += static_cast<unsigned>(sweep_step())) {
        SCOPED_TRACE(seed);
        Bench bench(seed);
        for (unsigned i = 0; i < 600 && !testing::Test::HasFailure(); ++i) {
            SCOPED_TRACE(i);
            bench.step();
            bench.expect_sound();
        }
        bench.store();
        bench.expect_sound();
        most = std::max(most, bench.most_spilled);
        complete += bench.complete;
    }
    printf("spilled extents: at most %zu in the table, %u states without a lost byte\n", most, complete);
    if (sweep_step() == 1) {
        EXPECT_GT(most, 28U);  // the table was moved
    }
    EXPECT_GT(complete, 60000U / sweep_step());
}

// A full storage has room for the table in small holes only: one part in each.
TEST(SpilledExtents, AFullStorageForgetsNothing) {
    for (const unsigned holes : {20U, 40U, 60U, 90U, 120U}) {
        SCOPED_TRACE(holes);
        Bench bench(1, Address{600} * holes);
        bench.make_holes(0, 300);
        bench.expect_sound();
        EXPECT_EQ(bench.complete, 1U);
        EXPECT_GE(bench.parts(), holes / 20);
        bench.store();
        bench.expect_sound();
        EXPECT_EQ(bench.complete, 2U);
    }
}

// A table of as many parts as there may be becomes one part again.
TEST(SpilledExtents, ManyPartsAreJoined) {
    Bench bench(1, 6000 + Address{600} * 200);
    bench.make_holes(6000, 300);
    bench.expect_sound();
    EXPECT_EQ(bench.complete, 1U);
    EXPECT_GT(bench.most_spilled, 128U);
    EXPECT_EQ(bench.parts(), 1U);
    bench.store();
    bench.expect_sound();
    EXPECT_EQ(bench.complete, 2U);
}

// An I/O error of the table loses extents, but gives none out twice.
TEST(SpilledExtents, AnErrorLosesExtentsAndNothingElse) {
    std::size_t most = 0;
    for (unsigned seed = 1; seed <= 400 && !testing::Test::HasFailure(); seed += static_cast<unsigned>(sweep_step())) {
        SCOPED_TRACE(seed);
        Bench bench(seed);
        DriverFault fault;
        fault.at = 20 + 7 * seed;
        fault.persistent = seed % 4 == 0;
        fault.calls = seed % 3 == 0 ? kReadCall : seed % 3 == 1 ? kWriteCall : kReadCall | kWriteCall | kTruncateCall;
        bench.driver.arm(fault);
        for (unsigned i = 0; i < 500 && !testing::Test::HasFailure(); ++i) {
            SCOPED_TRACE(i);
            bench.step();
            if (i % 7 == 0) {
                bench.expect_sound();
            }
        }
        bench.store();
        bench.expect_sound();
        most = std::max(most, bench.most_spilled);
    }
    if (sweep_step() == 1) {
        EXPECT_GT(most, 28U);
    }
}

#endif
