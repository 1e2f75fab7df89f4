// A read fails while close() records the free space of which memory has no room: close() says so, or the record is
// sound.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

#include "failing_driver.hpp"
#include "promising_driver.hpp"
#include "sound.hpp"
#include "sweep.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr unsigned kDatasets = 90;
constexpr auto kByte = make_integer(1, false);

// Refuses the memory that the map of free extents asks for when it grows, which is the only block of about that size.
class SmallMap final : public Allocator {
public:
    bool refuses = true;
    unsigned refused = 0;

private:
    void* do_allocate(std::size_t size, std::size_t alignment) noexcept override {
        const bool grows = refuses && size > 700 && size < 1000;
        refused += grows ? 1 : 0;
        return grows ? nullptr : inner_.allocate(size, alignment);
    }
    void do_release(void* memory, std::size_t size) noexcept override { inner_.release(memory, size); }
    void* do_resize(void*, std::size_t, std::size_t) noexcept override { return nullptr; }
    MemoryUsage do_usage() const noexcept override { return inner_.usage(); }

    MallocAllocator inner_;
};

// Returns whether a call failed.
bool run(std::uint64_t k, unsigned& closed) {
    MallocAllocator heap;
    GrowingMemoryDriver storage(heap);
    FailingDriver driver(storage);
    PromisingDriver units(driver, with_unit(512));
    SmallMap memory;
    NullPort port;
    Library library(memory, port, {}, formats::all);
    FileCreate create;
    create.persist_free_space = true;
    auto file = File::create(library, units, {}, create);
    EXPECT_EQ(file.status(), Status::ok);
    Group root = file->root();
    DatasetCreate properties;
    properties.layout = Layout::contiguous;
    properties.allocation = AllocationTime::early;
    for (unsigned i = 0; i < kDatasets; ++i) {
        const Dataspace space = Dataspace::simple({40 + i % 12 * 8});
        EXPECT_EQ(root.create_dataset(std::to_string(i), kByte.view(), space, properties).status(), Status::ok);
    }
    EXPECT_EQ(file->flush(), Status::ok);
    for (unsigned i = 0; i < kDatasets; i += 2) {
        EXPECT_EQ(root.unlink(std::to_string(i)), Status::ok);
    }
    EXPECT_EQ(file->flush(), Status::ok);
    EXPECT_EQ(file->flush(), Status::ok);
    EXPECT_NE(memory.refused, 0U);
    root.close();
    DriverFault fault;
    fault.at = k;
    fault.calls = kReadCall;
    driver.arm(fault);
    const Status status = file->close();
    const bool failed = driver.failures() != 0;
    driver.disarm();
    closed += status == Status::ok ? 1 : 0;
    memory.refuses = false;
    auto again = File::open(library, storage);
    EXPECT_EQ(again.status(), Status::ok);
    const Findings findings = findings_in(*again);
    EXPECT_TRUE(status != Status::ok || findings.none()) << findings.last_kind << " at " << findings.last_address;
    return failed;
}

}  // namespace

TEST(FreeSpaceClose, AReadFails) {
    unsigned points = 0;
    unsigned closed = 0;
    for (std::uint64_t k = 1; run(k, closed) && !testing::Test::HasFailure(); k += sweep_step()) {
        SCOPED_TRACE(k);
        ++points;
    }
    std::printf("%u points, %u times ok\n", points, closed);
    EXPECT_GT(points * sweep_step(), 100U);
}

#endif
