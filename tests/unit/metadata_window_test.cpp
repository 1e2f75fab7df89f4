// Metadata blocks of any size, read whole or through a window.
#include "metadata_window.hpp"
#include "checksum.hpp"
#include "cursor.hpp"
#include "storage_bench.hpp"

#if H5MOTE_ALL_FORMATS

using namespace h5mote;
using namespace h5mote_test;

namespace {

class Hook final : public CommitHook {
public:
    bool is_unrecorded(Address /*address*/) const noexcept override { return true; }
    Status write_changes() noexcept override { return Status::ok; }
};

class WindowBench : public Bench {
public:
    WindowBench() noexcept : cache(library, driver, hook) {
        EXPECT_EQ(cache.open(1024), Status::ok);
        Numbers numbers(7);
        for (std::size_t i = 0; i < sizeof bench_storage; ++i) {
            bench_storage[i] = static_cast<std::byte>(numbers.below(256));
        }
        EXPECT_EQ(driver.truncate(sizeof bench_storage), Status::ok);
        for (std::size_t i = 0; i < sizeof bench_storage; ++i) {
            bench_storage[i] = static_cast<std::byte>(numbers.below(256));
        }
    }
    ~WindowBench() { cache.close(); }
    void seal(std::size_t address, std::size_t size) noexcept {
        store_le(bench_storage + address + size - 4, lookup3({bench_storage + address, size - 4}));
    }
    // Puts the checksum at byte 15 of the block.
    void seal_inside(std::size_t address, std::size_t size) noexcept {
        store_le<std::uint32_t>(bench_storage + address + 15, 0);
        store_le(bench_storage + address + 15, lookup3({bench_storage + address, size}));
    }
    Hook hook;
    MetadataCache cache;
};

// Reads pieces smaller and larger than the window, back and forth.
void expect_bytes(MetadataWindow& window, std::size_t address, std::size_t size) {
    Numbers numbers(3);
    static std::byte copy[2048];
    for (unsigned i = 0; i < 200; ++i) {
        const std::size_t at = numbers.below(static_cast<std::uint32_t>(size));
        const std::size_t left = size - at;
        std::size_t count = numbers.below(i % 10 == 0 ? 2048 : 64);
        count = count < left ? count : left;
        ConstBytes bytes;
        ASSERT_EQ(window.view(at, count, bytes), Status::ok);
        ASSERT_EQ(std::memcmp(bytes.data(), bench_storage + address + at, count), 0);
        ASSERT_EQ(window.peek(at, bytes), Status::ok);
        ASSERT_GE(bytes.size(), std::size_t{1});
        ASSERT_LE(bytes.size(), left);
        ASSERT_EQ(std::memcmp(bytes.data(), bench_storage + address + at, bytes.size()), 0);
        ASSERT_EQ(window.read(at, {copy, count}), Status::ok);
        ASSERT_EQ(std::memcmp(copy, bench_storage + address + at, count), 0);
    }
}

}  // namespace

TEST(MetadataWindow, SmallAndLargeBlocksReadTheSame) {
    WindowBench bench;
    for (const std::size_t size : {std::size_t{5}, std::size_t{300}, std::size_t{700}, std::size_t{9000}}) {
        for (const bool checksummed : {false, true}) {
            bench.seal(1000, size);
            MetadataWindow window;
            ASSERT_EQ(window.open(bench.cache, Usage::btree, 1000, size, checksummed), Status::ok);
            EXPECT_EQ(window.size(), size);
            expect_bytes(window, 1000, size);
            if (size > 20) {
                ASSERT_EQ(window.restrict(7, size - 10), Status::ok);
                EXPECT_EQ(window.address(), Address{1007});
                expect_bytes(window, 1007, size - 10);
            }
            window.close();
            bench.cache.discard(1000);
        }
    }
}

// After a failed open() a window gives no bytes, so that no caller reads bytes whose checksum was never verified.
TEST(MetadataWindow, WhatCouldNotBeOpenedIsClosed) {
    WindowBench bench;
    for (const std::size_t size : {std::size_t{0}, std::size_t{3}, std::size_t{300}, std::size_t{9000}}) {
        if (size > 3) {
            bench.seal(2000, size);
            bench_storage[2000 + size / 2] ^= std::byte{1};
        }
        MetadataWindow window;
        ConstBytes bytes;
        EXPECT_EQ(window.open(bench.cache, Usage::btree, 2000, size, true), Status::corrupt_file);
        EXPECT_FALSE(window.valid());
        EXPECT_EQ(window.size(), Address{0});
        EXPECT_EQ(window.view(0, 1, bytes), Status::corrupt_file);
        std::byte copy[1];
        EXPECT_EQ(window.read(0, copy), Status::corrupt_file);
    }
}

TEST(MetadataWindow, WrongChecksumIsFoundAtAnySize) {
    WindowBench bench;
    for (const std::size_t size : {std::size_t{300}, std::size_t{9000}}) {
        bench.seal(2000, size);
        bench_storage[2000 + size / 2] ^= std::byte{1};
        MetadataWindow window;
        EXPECT_EQ(window.open(bench.cache, Usage::btree, 2000, size, true), Status::corrupt_file);
        EXPECT_EQ(window.open(bench.cache, Usage::btree, 2000, size, false), Status::ok);
        window.close();
        bench.cache.discard(2000);
    }
}

// Wherever the checksum is, and however the block was read before.
TEST(MetadataWindow, AChecksumNearTheBeginningIsVerified) {
    constexpr auto kPlace = static_cast<ChecksumPlace>(15);
    WindowBench bench;
    MetadataWindow window;
    for (const std::size_t size : {std::size_t{19}, std::size_t{300}, std::size_t{1100}, std::size_t{9000}}) {
        bench.seal_inside(2000, size);
        ASSERT_EQ(window.open(bench.cache, Usage::btree, 2000, size, kPlace), Status::ok);
        expect_bytes(window, 2000, size);
        window.close();
        bench.cache.discard(2000);
        for (const std::size_t at : {std::size_t{0}, std::size_t{15}, size - 1}) {
            // A change that leaves the size as verified before must not be found: another address.
            const std::size_t address = 2000 + at % 7 + 1;
            bench.seal_inside(address, size);
            bench_storage[address + at] ^= std::byte{1};
            ASSERT_EQ(window.open(bench.cache, Usage::btree, narrow(address), size, false), Status::ok);
            window.close();
            EXPECT_EQ(window.open(bench.cache, Usage::btree, narrow(address), size, kPlace), Status::corrupt_file);
            EXPECT_FALSE(window.valid());
            bench.cache.discard(narrow(address));
        }
    }
    // No room for a checksum.
    EXPECT_EQ(window.open(bench.cache, Usage::btree, 2000, 18, kPlace), Status::corrupt_file);
    // A block in memory of its own is verified when the caller asks for that.
    bench.seal_inside(3000, 1200);
    Bytes to;
    ASSERT_EQ(window.allocate(bench.library, 1200, to), Status::ok);
    std::memcpy(to.data(), bench_storage + 3000, 1200);
    EXPECT_EQ(window.verify(kPlace, 3000), Status::ok);
    to[1199] ^= std::byte{1};
    EXPECT_EQ(window.verify(kPlace, 3000), Status::corrupt_file);
}

TEST(MetadataWindow, NothingBeyondTheEnd) {
    WindowBench bench;
    for (const std::size_t size : {std::size_t{100}, std::size_t{5000}}) {
        MetadataWindow window;
        ASSERT_EQ(window.open(bench.cache, Usage::btree, 0, size, false), Status::ok);
        ConstBytes bytes;
        EXPECT_EQ(window.view(size - 1, 2, bytes), Status::corrupt_file);
        EXPECT_EQ(window.view(size + 1, 0, bytes), Status::corrupt_file);
        EXPECT_EQ(window.view(~Address{0}, 2, bytes), Status::corrupt_file);
        EXPECT_EQ(window.peek(size, bytes), Status::corrupt_file);
        EXPECT_EQ(window.view(size - 1, 1, bytes), Status::ok);
        EXPECT_EQ(window.restrict(1, size), Status::corrupt_file);
        EXPECT_EQ(window.restrict(size, 0), Status::ok);
        EXPECT_EQ(window.peek(0, bytes), Status::corrupt_file);
    }
}

TEST(MetadataWindow, MemoryOfItsOwnIsGivenBack) {
    WindowBench bench;
    const std::size_t before = bench.arena.usage().now;
    {
        MetadataWindow window;
        Bytes to;
        ASSERT_EQ(window.allocate(bench.library, 3000, to), Status::ok);
        std::memcpy(to.data(), bench_storage + 50, 3000);
        MetadataWindow other(static_cast<MetadataWindow&&>(window));
        expect_bytes(other, 50, 3000);
        EXPECT_EQ(other.allocate(bench.library, sizeof bench_memory, to), Status::out_of_memory);
        MetadataWindow large;
        ASSERT_EQ(large.open(bench.cache, Usage::btree, 0, 9000, false), Status::ok);
        expect_bytes(large, 0, 9000);
    }
    EXPECT_EQ(bench.arena.usage().now, before);
}

#endif
