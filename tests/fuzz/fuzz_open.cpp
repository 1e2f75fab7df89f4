// Fuzzes opening and walking whole files. The mutator repairs checksums (repair.hpp): it walks the file that it has
// made, corrects the checksums that the library reports as wrong, and repeats this while there is something to correct.
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

// Walks the file, and with `repair` corrects the checksums that the library reported as wrong.
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
