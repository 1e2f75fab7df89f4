// The tests that every public call takes the lock of its Library once, holds it until it returns and releases it.
// Without H5MOTE_THREADS no call takes it. tests/threads/entries_test.py checks that the tests miss no public function.
#pragma once

#include "storage_bench.hpp"

#include <h5mote/library_lock.hpp>

#if H5MOTE_WRITE

namespace h5mote_test {

using namespace h5mote;  // this header belongs to three tests

class CountingPort final : public Port {
public:
    void lock() noexcept override {
        entries += depth == 0 ? 1U : 0U;
        ++depth;
    }
    void unlock() noexcept override { --depth; }

    unsigned entries = 0;  // how often a thread that did not hold the lock took it
    unsigned depth = 0;
};

inline constexpr unsigned kOnce = H5MOTE_THREADS != 0 ? 1 : 0;

class LockBench {
public:
    LockBench() noexcept : arena({bench_memory, sizeof bench_memory}), library(arena, port), driver(bench_storage) {
        access.metadata_cache = 2048;
        access.chunk_cache = 512;
    }
    // Whether the lock was taken `times` times since the last call, and is free.
    bool took(unsigned times) noexcept {
        const bool right = port.entries == times * kOnce && port.depth == 0;
        port.entries = 0;
        return right;
    }

    Arena arena;
    CountingPort port;
    Library library;
    MemoryDriver driver;
    FileAccess access;
};

// Makes a call, which must take the lock once. A returned handle lives until the end of the statement.
#define TAKES(...)                  \
    do {                            \
        (void)bench.took(0);        \
        (void)(__VA_ARGS__);        \
        EXPECT_TRUE(bench.took(1)); \
    } while (0)
// The same for a call whose result is a temporary handle, which takes the lock again when it ends.
#define TAKES_AND_ENDS(times, ...)          \
    do {                                    \
        (void)bench.took(0);                \
        (void)(__VA_ARGS__);                \
        EXPECT_TRUE(bench.took(1 + times)); \
    } while (0)

}  // namespace h5mote_test

#endif
