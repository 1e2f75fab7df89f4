// Files behind a user block: addresses that are narrower than those of the storage, and atomic units.
#include "base_driver.hpp"
#include "promising_driver.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <algorithm>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

using namespace h5mote;
using namespace h5mote_test;

namespace {

// A storage that can be extended to any size, but has memory for its first bytes only. The others read as zeros.
class Hollow final : public ForwardingDriver {
public:
    using ForwardingDriver::ForwardingDriver;
    Status truncate(std::uint64_t size) noexcept override {
        size_ = size;
        return size < kStored ? ForwardingDriver::truncate(size) : Status::ok;
    }
    Status end_of_file(std::uint64_t& size) noexcept override {
        size = size_;
        return Status::ok;
    }
    Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept override {
        size_ = std::max<std::uint64_t>(size_, address + from.size());
        return ForwardingDriver::write(usage, address, from);
    }
    Status read(Usage usage, std::uint64_t address, Bytes to) noexcept override {
        std::uint64_t stored = 0;
        (void)ForwardingDriver::end_of_file(stored);
        std::fill(to.begin(), to.end(), std::byte{0});
        const std::uint64_t there = address < stored ? std::min<std::uint64_t>(stored - address, to.size()) : 0;
        return ForwardingDriver::read(usage, address, {to.data(), static_cast<std::size_t>(there)});
    }

private:
    static constexpr std::uint64_t kStored = std::uint64_t{1} << 20;
    std::uint64_t size_ = 0;
};

Status make(Group& group, const char* name, std::uint64_t bytes) {
    DatasetCreate create;
    create.layout = Layout::contiguous;
    create.allocation = AllocationTime::early;
    return group.create_dataset<std::uint8_t>(name, create, Dataspace::simple({bytes})).status();
}

}  // namespace

// The superblock counts the end of file from the start of the storage. An end that would fit in 4 bytes when counted
// from the superblock, but not so, cannot be recorded.
TEST(UserBlockAddresses, NoAddressBeyondTheRecordableEnd) {
    MallocAllocator heap;
    GrowingMemoryDriver memory(heap);
    Hollow driver(memory);
    NullPort port;
    Library library(heap, port);
    FileCreate create;
    create.sizeof_addr = 4;
    create.user_block = 512;
    const std::uint64_t most = 0xfffffffe - create.user_block;
    {
        auto file = File::create(library, driver, FileAccess{}, create);
        ASSERT_EQ(file.status(), Status::ok);
        Group root = file->root();
        EXPECT_EQ(make(root, "small", 16), Status::ok);
        EXPECT_EQ(file->flush(), Status::ok);
        EXPECT_EQ(make(root, "large", most - 256), Status::no_space);
        EXPECT_EQ(file->close(), Status::ok);
    }
    {
        auto file = File::open(library, driver, FileAccess{});
        ASSERT_EQ(file.status(), Status::ok);
        Group root = file->root();
        EXPECT_EQ(make(root, "large", most - 256), Status::no_space);
        EXPECT_EQ(make(root, "less", most - 8192), Status::ok);
        EXPECT_EQ(file->close(), Status::ok);
    }
    auto file = File::open(library, driver, FileAccess{});
    ASSERT_EQ(file.status(), Status::ok);
    EXPECT_EQ(file->root().open_dataset("small").status(), Status::ok);
    EXPECT_EQ(file->root().open_dataset("less").status(), Status::ok);
}

// A storage may promise any unit. Aligned blocks of the unit that is reported lie in one unit of the storage.
TEST(UserBlockAddresses, AtomicUnitsDivideBaseAndUnit) {
    constexpr std::uint32_t kUnits[][3] = {{640, 512, 128},  {640, 0, 640},     {512, 512, 512}, {4096, 512, 512},
                                           {512, 2048, 512}, {1536, 1024, 512}, {1, 512, 1},     {0, 512, 0}};
    MallocAllocator heap;
    GrowingMemoryDriver memory(heap);
    for (const auto& [unit, base, wanted] : kUnits) {
        PromisingDriver storage(memory, with_unit(unit));
        EXPECT_EQ(BaseDriver(storage, base).capabilities().atomic_unit, wanted) << unit << " " << base;
    }
}

TEST(UserBlockAddresses, MustFitInAnAddress) {
    MallocAllocator heap;
    GrowingMemoryDriver memory(heap);
    Hollow driver(memory);
    NullPort port;
    Library library(heap, port);
    FileCreate create;
    create.sizeof_addr = 4;
    create.user_block = std::uint64_t{1} << 32;
    EXPECT_EQ(File::create(library, driver, FileAccess{}, create).status(), Status::invalid_argument);
}

#endif
