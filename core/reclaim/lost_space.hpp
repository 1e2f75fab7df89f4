// H5MF - finding space that nothing in a file uses: what is common to the walks over the used blocks.
#pragma once

#include "file_state.hpp"
#include "header_list.hpp"
#include "used_runs.hpp"

namespace h5mote {

/// Knows all blocks of a file.
class BlockWalk {
public:
    /// Adds every block that something in the file uses to `runs`, but for the SpaceKeeper's own space, which
    /// FileSpace::add_unused() leaves out. unsupported: there is something of which the walk cannot tell what it uses.
    /// corrupt_file: two blocks overlap, or anything else is damaged. io_error, out_of_memory, over_budget.
    virtual Status walk(UsedRuns& runs) noexcept = 0;
    /// The datasets that the first walk found to have chunks wholly beyond their extent: space that was held in advance
    /// for rows, or chunks of rows that a power cut has lost. They belong to the dataset, but nobody reads them.
    const HeaderList& ahead() const noexcept { return ahead_; }

protected:
    explicit BlockWalk(Context& context) noexcept : ahead_(context) {}
    BlockWalk(const BlockWalk&) = delete;
    BlockWalk& operator=(const BlockWalk&) = delete;
    ~BlockWalk() = default;

    HeaderList ahead_;
};

/// ReclaimFormat::search() with such a walk. It is made as often as a table of `memory` bytes needs to see all of the
/// file. If datasets have chunks beyond their extent, these are removed, and the walks begin anew. Then what nothing
/// uses is given back, for which all walks are made once more, unless one has seen everything.
Status give_back_lost_space(FileState& file, std::size_t memory, BlockWalk& walk, std::uint64_t& bytes) noexcept;

}  // namespace h5mote
