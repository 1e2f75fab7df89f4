// H5FA H5EA - walking to an element that is going to change, in a metadata cache of any size.
#pragma once

#include "file_state.hpp"

namespace h5mote {

/// Calls `walk`, which pins in `block` what holds element `index`, until it does not return busy: for want of room the
/// cache has written a block that had moved for the change, and which has to move again. What was written has left the
/// cache or is unchanged, so that the next walk finds more of it. over_budget: the cache does not hold the blocks on
/// the way at once.
template <typename Walk>
Status walk_again(Context& context, std::uint64_t index, Pinned& block, Walk walk) noexcept {
    constexpr unsigned kMostWalks = 4;
    Status status = Status::busy;
    for (unsigned walks = 0; status == Status::busy && walks < kMostWalks; ++walks) {
        block.reset();  // what the last walk left pinned needs room in the cache
        status = walk();
    }
    return status == Status::busy ? context.fail(Module::index, H5MOTE_HERE, Status::over_budget, 0, index) : status;
}

}  // namespace h5mote
