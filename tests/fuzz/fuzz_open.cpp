// Opens and walks whole files. The mutator repairs checksums: it walks what it has made, and where the library reports
// a block whose checksum is wrong it puts the right one, as long as that leads further.
#include "../reading/all_filters.hpp"
#include "repair.hpp"
#include "walker.hpp"

#include <h5mote/arena.hpp>
#include <h5mote/vfd/memory.hpp>

namespace {

using namespace h5mote;
using namespace h5mote_test;

alignas(16) std::byte memory[64 * 1024];
std::byte buffer[1024];

}  // namespace

// Walks the file.
bool h5mote_fuzz::play(Bytes file, bool repair) noexcept {
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

void h5mote_fuzz::repair_superblock(Bytes input) noexcept { Repair(input).superblock(); }
