// parts FILE...: walks each file with libraries that lack one part of the format each (<h5mote/formats.hpp>). What
// needs the part must be `unsupported`, with the right Feature in the error trail, and everything else must be as with
// all parts. Fails also when no file needs a part. Prints `PART: N files need it`.
#include "all_filters.hpp"
#include "test_allocators.hpp"
#include "walker.hpp"

#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/posix.hpp>

#include <cstdio>
#include <cstring>
#include <initializer_list>

namespace {

using namespace h5mote;
using namespace h5mote_test;

struct Part {
    const char* name;
    void (*leave_out)(Formats& formats);
    std::initializer_list<Feature> features;  // which of them the trail names
    std::initializer_list<ChunkIndex> kinds;  // which of them it names for Feature::chunk_index
};

const Part kParts[] = {
    {"conversion", [](Formats& formats) { formats.conversion = nullptr; }, {Feature::type_conversion}, {}},
    {"virtual data", [](Formats& formats) { formats.virtual_data = nullptr; }, {Feature::layout_class}, {}},
    {"external data", [](Formats& formats) { formats.external_data = nullptr; }, {Feature::external_storage}, {}},
    {"dense storage",
     [](Formats& formats) { formats.dense_storage = nullptr; },
     {Feature::dense_links, Feature::dense_attributes, Feature::shared_message},
     {}},
    {"symbol tables", [](Formats& formats) { formats.symbol_tables = nullptr; }, {Feature::symbol_table_group}, {}},
    {"superblock extension",
     [](Formats& formats) { formats.superblock_extension = nullptr; },
     {Feature::superblock_extension},
     {}},
    {"extensible array",
     [](Formats& formats) { formats.extensible_array = nullptr; },
     {Feature::chunk_index},
     {ChunkIndex::extensible_array}},
    {"fixed array",
     [](Formats& formats) { formats.fixed_array = nullptr; },
     {Feature::chunk_index},
     {ChunkIndex::fixed_array}},
    {"unindexed chunks",
     [](Formats& formats) { formats.unindexed_chunks = nullptr; },
     {Feature::chunk_index},
     {ChunkIndex::single, ChunkIndex::implicit}},
    {"chunk B-tree 1",
     [](Formats& formats) { formats.chunk_btree1 = nullptr; },
     {Feature::chunk_index},
     {ChunkIndex::btree1}},
    {"chunk B-tree 2",
     [](Formats& formats) { formats.chunk_btree2 = nullptr; },
     {Feature::chunk_index},
     {ChunkIndex::btree2}},
};

struct Outcome {
    Status opened = Status::ok;
    WalkResult walk;
    bool named = false;  // the trail has a record of one of the part's features
    bool clean = true;   // all memory was given back
};

bool names(const ErrorRecord& record, const Part& part) {
    bool found = false;
    for (const Feature each : part.features) {
        found = found || (record.status == Status::unsupported && record.value == static_cast<std::uint64_t>(each));
    }
    bool kind = part.kinds.size() == 0;
    for (const ChunkIndex each : part.kinds) {
        kind = kind || record.detail == static_cast<std::uint32_t>(each);
    }
    return found && kind;
}

Outcome walk(const char* path, const Formats& formats, const Part& part) {
    Outcome outcome;
    PosixDriver driver;
    outcome.opened = driver.open(path, PosixDriver::Mode::read_only);
    MallocAllocator heap;
    TrackingAllocator tracking(heap);
    NullPort port;
    Library library(tracking, port, kAllFilters, formats);
    FileAccess access;
    access.read_only = true;
    static std::byte buffer[1024];
    WalkLimits limits;
    limits.steps = 20000;
    if (outcome.opened == Status::ok) {
        outcome.opened = walk_file(library, driver, access, buffer, limits, outcome.walk);
    }
    for (std::size_t i = 0; i < library.trail().size(); ++i) {
        outcome.named = outcome.named || names(library.trail().newest(i), part);
    }
    outcome.clean = tracking.blocks() == 0 && tracking.errors() == 0;
    return outcome;
}

// Walks the file with and without the part. `needed`: it made a difference.
bool compare(const char* path, const Part& part, bool& needed) {
    Formats without = formats::all;
    part.leave_out(without);
    const Outcome all = walk(path, formats::all, part);
    const Outcome less = walk(path, without, part);
    needed = less.opened != all.opened || less.walk.digest != all.walk.digest;
    const Status first = less.opened != Status::ok ? less.opened : less.walk.first_error;
    // A file that has errors of its own may have one of these first.
    const bool unsupported = first == Status::unsupported || (all.walk.errors != 0 && first == all.walk.first_error);
    const bool good = less.clean && (!needed || (unsupported && less.named));
    if (!good) {
        std::printf("%s: without %s: status %u, first error %u, %s, %s\n", path, part.name,
                    static_cast<unsigned>(less.opened), static_cast<unsigned>(first),
                    less.named ? "named" : "not named", less.clean ? "clean" : "memory was not given back");
    }
    return good;
}

// Walks the file with formats::newest.
bool is_newest(const char* path) {
    const Outcome all = walk(path, formats::all, kParts[0]);
    const Outcome newest = walk(path, formats::newest, kParts[0]);
    const bool good = newest.opened == all.opened && newest.walk.digest == all.walk.digest && newest.clean;
    if (!good) {
        std::printf("%s: with formats::newest: status %u, first error %u\n", path, static_cast<unsigned>(newest.opened),
                    static_cast<unsigned>(newest.walk.first_error));
    }
    return good;
}

}  // namespace

int main(int argc, char** argv) {
    bool good = true;
    for (const Part& part : kParts) {
        unsigned files = 0;
        for (int i = 1; i < argc; ++i) {
            bool needed = false;
            good = compare(argv[i], part, needed) && good;
            files += needed ? 1 : 0;
        }
        std::printf("%s: %u files need it\n", part.name, files);
        good = good && files != 0;
    }
    unsigned fresh = 0;
    for (int i = 1; i < argc; ++i) {
        if (std::strstr(argv[i], "_new") != nullptr) {
            good = is_newest(argv[i]) && good;
            ++fresh;
        }
    }
    std::printf("formats::newest: %u files\n", fresh);
    return good && fresh != 0 ? 0 : 1;
}
