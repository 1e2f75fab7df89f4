// Opens and walks whole files. The mutator repairs checksums: it walks what it has made, and where the library reports
// a block whose checksum is wrong it puts the right one, as long as that leads further.
#include "../reading/all_filters.hpp"
#include "repair.hpp"
#include "walker.hpp"

#include <h5mote/arena.hpp>
#include <h5mote/vfd/memory.hpp>

#include <cstdlib>

namespace {

using namespace h5mote;
using namespace h5mote_test;

alignas(16) std::byte memory[64 * 1024];
std::byte buffer[1024];

// Walks the file. With `repair` returns whether something in it was repaired.
bool walk(Bytes file, bool repair) {
    Arena arena{memory};
    NullPort port;
    Library library(arena, port, kAllFilters);
    MemoryDriver driver = MemoryDriver::reading(file);
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
        h5mote_fuzz::fail();
    }
    return repair && h5mote_fuzz::Repair(file).reported(library.trail());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    (void)walk({reinterpret_cast<std::byte*>(const_cast<std::uint8_t*>(data)), size}, false);
    return 0;
}

#ifdef H5MOTE_FUZZER
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
    size = LLVMFuzzerMutate(data, size, max_size);
    const Bytes file(reinterpret_cast<std::byte*>(data), size);
    // Now and then the file is left as short as it has become.
    if (seed % 8 != 0) {
        h5mote_fuzz::Repair(file).superblock();
    }
    h5mote_fuzz::repair_all(file, [file] { return walk(file, true); });
    return size;
}
#endif
