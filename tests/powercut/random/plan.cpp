#include "plan.hpp"

#include <h5mote/config.hpp>

namespace h5mote_test {

namespace {

struct Weight {
    Action action;
    const char* name;
    unsigned weight;
};

// Without H5MOTE_PARTIAL_IO there are only logs, which append() fills.
constexpr unsigned kPartial = H5MOTE_PARTIAL_IO;
// Only profile full makes extents smaller and copies objects.
constexpr unsigned kFull = H5MOTE_ALL_FORMATS;
constexpr Weight kWeights[] = {
    {Action::append, "append", 20},
    {Action::write, "write", 12 * kPartial},
    {Action::grow, "grow", 6 * kPartial},
    {Action::shrink, "shrink", 3 * kFull},
    {Action::make_dataset, "make dataset", 8},
    {Action::make_group, "make group", 3},
    {Action::set_attribute, "set attribute", 8},
    {Action::replace_attribute, "replace attribute", 4},
    {Action::remove_attribute, "remove attribute", 2},
    {Action::rename_attribute, "rename attribute", 3 * kPartial},
    {Action::move_link, "move link", 4 * kPartial},
    {Action::soft_link, "soft link", 3},
    {Action::hard_link, "hard link", 2},
    {Action::copy, "copy", 2 * kFull},
    {Action::unlink, "unlink", 3},
    {Action::remake, "remake", 3},
    {Action::leave, "leave", 3},
    {Action::flush, "flush", 14},
    {Action::reopen, "reopen", 2},
    {Action::kill, "kill", 2},
};

constexpr unsigned total() {
    unsigned sum = 0;
    for (const Weight& each : kWeights) {
        sum += each.weight;
    }
    return sum;
}

}  // namespace

Plan draw_plan(Random& random, std::size_t count) {
    Plan plan;
    plan.seed = random.next();
    // Some workloads flush rarely, so that much happens between two flushes.
    const bool seldom = random.one_in(3);
    plan.steps.push_back({Action::make_dataset, random.next()});
    for (std::size_t i = random.below(count) + count / 2; i > 0; --i) {
        std::size_t lot = random.below(total());
        const Weight* chosen = kWeights;
        while (lot >= chosen->weight) {
            lot -= chosen->weight;
            ++chosen;
        }
        if (chosen->action == Action::flush && seldom && !random.one_in(4)) {
            continue;
        }
        plan.steps.push_back({chosen->action, random.next()});
    }
    return plan;
}

h5mote::FileAccess draw_access(Random& random, bool everything) {
    h5mote::FileAccess access;
    static constexpr std::size_t kMetadata[] = {1024, 1024, 1400, 2048, 2048, 3000, 4096, 65536};
    static constexpr std::size_t kChunks[] = {64, 200, 481, 1024, 4096, 4096, 16384};
    access.metadata_cache = random.of(kMetadata);
    access.chunk_cache = random.of(kChunks);
    access.reclaim = random.one_in(3) && H5MOTE_ALL_FORMATS != 0;
    if (everything) {
        using Version = h5mote::FormatVersion;
        static constexpr Version kVersions[] = {Version::standard, Version::standard, Version::earliest, Version::v18,
                                                Version::v110};
        access.low = random.of(kVersions);
        static constexpr std::uint64_t kBlocks[] = {0, 0, 0, 512, 2048};
        access.metadata_block_size = random.of(kBlocks);
        access.small_data_block_size = random.of(kBlocks);
        if (random.one_in(8)) {
            access.alignment = 64;
            access.alignment_threshold = 200;
        }
        static constexpr std::size_t kTables[] = {64, 256, 1024, 16384};
        access.reclaim_memory = random.of(kTables);
    }
    return access;
}

const char* name_of(Action action) {
    for (const Weight& each : kWeights) {
        if (each.action == action) {
            return each.name;
        }
    }
    return "";
}

}  // namespace h5mote_test
