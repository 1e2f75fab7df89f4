// H5FA H5EA - finding the block of an element that is about to change, in a metadata cache of any size.
#pragma once

#include "file_state.hpp"

namespace h5mote {

/// Calls `walk`, which pins the block of element `index` in `block`, until it does not return busy. busy says that the
/// cache, to make room, has written a block that had been moved for the change, and which therefore has to move again.
/// Each walk finds more room than the one before: blocks that were written are clean or have left the cache.
/// over_budget: the cache cannot hold all blocks on the way at once.
template <typename Walk>
Status walk_again(Context& context, std::uint64_t index, Pinned& block, Walk walk) noexcept {
    constexpr unsigned kMostWalks = 4;
    Status status = Status::busy;
    for (unsigned walks = 0; status == Status::busy && walks < kMostWalks; ++walks) {
        block.reset();  // a block that the last walk left pinned takes room in the cache
        status = walk();
    }
    return status == Status::busy ? context.fail(Module::index, H5MOTE_HERE, Status::over_budget, 0, index) : status;
}

}  // namespace h5mote
