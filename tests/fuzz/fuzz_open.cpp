// Opens and walks whole files. The mutator repairs checksums: it walks what it has made, and where the library reports
// a block whose checksum is wrong it puts the right one, as long as that leads further.
#include "../reading/all_filters.hpp"
#include "checksum.hpp"
#include "cursor.hpp"
#include "walker.hpp"

#include <h5mote/arena.hpp>
#include <h5mote/vfd/memory.hpp>

#include <cstdlib>
#include <cstring>

namespace {

using namespace h5mote;
using namespace h5mote_test;

alignas(16) std::byte memory[64 * 1024];
std::byte buffer[1024];

constexpr unsigned kRepairs = 32;

struct Damage {
    std::uint64_t address;
    std::uint64_t size;
};

// Walks the file; `damage`: the blocks reported, newest first.
unsigned walk(const std::uint8_t* data, std::size_t size, Span<Damage> damage) {
    Arena arena{memory};
    NullPort port;
    Library library(arena, port, kAllFilters);
    MemoryDriver driver = MemoryDriver::reading({reinterpret_cast<const std::byte*>(data), size});
    FileAccess access;
    access.read_only = true;
    access.metadata_cache = 4096;
    access.chunk_cache = 8192;
    WalkLimits limits;
    limits.elements = 64;
    limits.steps = 2000;
    WalkResult result;
    (void)walk_file(library, driver, access, buffer, limits, result);
    if (arena.usage().now != 0 || !arena.check()) {
        std::abort();
    }
    unsigned found = 0;
    for (std::size_t i = 0; i < library.trail().size() && found < damage.size(); ++i) {
        const ErrorRecord record = library.trail().newest(i);
        if (record.module == Module::storage && record.status == Status::corrupt_file && record.detail >= 8) {
            damage[found++] = {record.value, record.detail};
        }
    }
    return found;
}

bool repair(std::uint8_t* data, std::size_t size, Damage at) {
    if (at.size > size || at.address > size - at.size) {
        return false;
    }
    auto* block = reinterpret_cast<std::byte*>(data) + at.address;
    const std::uint32_t right = lookup3({block, static_cast<std::size_t>(at.size) - 4});
    std::byte* const stored = block + at.size - 4;
    if (load_le<std::uint32_t>(stored) == right) {
        return false;
    }
    store_le(stored, right);
    return true;
}

void repair_superblock(std::uint8_t* data, std::size_t size) {
    if (size >= 48 && (data[8] == 2 || data[8] == 3) && data[9] <= 8) {
        const std::size_t bytes = 12U + 4U * data[9] + 4U;
        repair(data, size, {0, bytes});
    }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    (void)walk(data, size, {});
    return 0;
}

#ifdef H5MOTE_FUZZER
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned /*seed*/) {
    size = LLVMFuzzerMutate(data, size, max_size);
    repair_superblock(data, size);
    Damage damage[8];
    for (unsigned repaired = 0; repaired < kRepairs;) {
        const unsigned found = walk(data, size, damage);
        bool any = false;
        for (unsigned i = 0; i < found; ++i) {
            if (repair(data, size, damage[i])) {
                any = true;
                ++repaired;
            }
        }
        if (!any) {
            break;
        }
    }
    return size;
}
#else
[[maybe_unused]] static void (*const unused)(std::uint8_t*, std::size_t) = repair_superblock;
#endif
