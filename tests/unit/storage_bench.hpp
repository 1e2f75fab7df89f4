// A library over fixed memory and a storage in memory, small enough for a microcontroller.
#pragma once

#include <h5mote/arena.hpp>
#include <h5mote/filters/deflate.hpp>
#include <h5mote/filters/fletcher32.hpp>
#include <h5mote/filters/shuffle.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/vfd/memory.hpp>

#include "cursor.hpp"
#include "test.hpp"

#include <cstring>

namespace h5mote_test {

// On a big-endian machine the records of the tests are converted, which takes plans in memory.
inline constexpr std::size_t kBenchPlans = h5mote::kNativeOrder == h5mote::ByteOrder::big ? 1536 : 0;
// One arena and one storage for the whole program, which all tests share: they run one after the other.
// What keeps free extents is larger where addresses have 64 bits.
inline constexpr std::size_t kBenchExtents = sizeof(h5mote::Address) > 4 ? 224 : 0;
// The ranges in which blocks lie that have left the cache, and their number.
inline constexpr std::size_t kBenchRanges = H5MOTE_ALL_FORMATS != 0 ? 33 * sizeof(h5mote::Address) : 0;
alignas(16) inline std::byte bench_memory[15 * 1024 + 8 * sizeof(void*) + kBenchPlans + kBenchExtents + kBenchRanges];
alignas(16) inline std::byte bench_storage[24 * 1024];

#if H5MOTE_FILTERS
inline constexpr const h5mote::Filter* kBenchFilters[] = {&h5mote::shuffle_filter, &h5mote::deflate_filter,
                                                          &h5mote::fletcher32_filter};
inline h5mote::Span<const h5mote::Filter* const> bench_filters() { return kBenchFilters; }
#else
inline h5mote::Span<const h5mote::Filter* const> bench_filters() { return {}; }
#endif

/// A fill value as DatasetCreate takes it: in the file's byte order, whatever the machine's.
struct FileFill {
    explicit FileFill(std::int32_t value) noexcept {
        h5mote::store_le<std::uint32_t>(bytes, static_cast<std::uint32_t>(value));
    }
    h5mote::ConstBytes view() const noexcept { return h5mote::ConstBytes(bytes, sizeof bytes); }

    std::byte bytes[4];
};

// The default limits of builds without a memory checker; where one is compiled in (H5MOTE_POISON), the default is 0.
inline constexpr h5mote::FreeListLimits kBenchLists{4096, 8192};

class Bench {
public:
    explicit Bench(std::size_t capacity = sizeof bench_storage,
                   const h5mote::Formats& formats = h5mote::formats::standard) noexcept
        : arena({bench_memory, sizeof bench_memory}),
          library(arena, port, bench_filters(), formats),
          driver(h5mote::Bytes{bench_storage, capacity}) {
        library.set_free_list_limits(kBenchLists);
        access.metadata_cache = 2048;
        access.chunk_cache = 512;
    }

    h5mote::Status create(const h5mote::FileCreate& properties = {}) noexcept {
        return take(h5mote::File::create(library, driver, access, properties));
    }
    h5mote::Status open() noexcept { return take(h5mote::File::open(library, driver, access)); }
    /// Closes the file and opens it again.
    h5mote::Status reopen() noexcept {
        const h5mote::Status status = file.close();
        return status == h5mote::Status::ok ? open() : status;
    }
    /// Whether all memory has been given back. Call after the file is closed.
    bool empty() const noexcept { return arena.usage().now == 0 && arena.check(); }

    h5mote::Arena arena;
    h5mote::NullPort port;
    h5mote::Library library;
    h5mote::MemoryDriver driver;
    h5mote::FileAccess access;
    h5mote::File file;

private:
    h5mote::Status take(h5mote::Result<h5mote::File> result) noexcept {
        file = static_cast<h5mote::File&&>(*result);
        return result.status();
    }
};

/// Pseudo-random numbers, the same on every machine.
class Numbers {
public:
    explicit Numbers(std::uint32_t seed) noexcept : state_(seed * 2654435761U + 1) {}
    std::uint32_t below(std::uint32_t limit) noexcept {
        state_ = state_ * 1664525U + 1013904223U;
        return (state_ >> 8) % limit;
    }

private:
    std::uint32_t state_;
};

}  // namespace h5mote_test
