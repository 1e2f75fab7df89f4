// H5S - makes dataspaces in place: a temporary one is too large for the stack of a small machine.
#pragma once

#include <h5mote/dataspace.hpp>

namespace h5mote {

struct DataspaceEditor {
    /// Makes `space` null, or of `rank` dimensions of the size `dim(d)` that may grow to `max_dim(d)`.
    template <typename Dim, typename MaxDim>
    static void set(Dataspace& space, bool null, unsigned rank, Dim dim, MaxDim max_dim) noexcept {
        space.class_ = null ? DataspaceClass::null : rank == 0 ? DataspaceClass::scalar : DataspaceClass::simple;
        space.rank_ = static_cast<std::uint8_t>(null ? 0 : rank);
        space.valid_ = rank <= H5MOTE_MAX_RANK;
        for (unsigned d = 0; d < space.rank_ && space.valid_; ++d) {
            space.dims_[d] = dim(d);
            space.max_dims_[d] = max_dim(d);
            space.valid_ = space.dims_[d] != kUnlimited && space.dims_[d] <= space.max_dims_[d];
        }
    }
    /// Makes `space` an extent that every selection of `rank` fits.
    static void set_widest(Dataspace& space, std::size_t rank) noexcept {
        const auto size = [](unsigned) { return kUnlimited >> 1; };
        set(space, false, static_cast<unsigned>(rank), size, size);
    }
};

}  // namespace h5mote
