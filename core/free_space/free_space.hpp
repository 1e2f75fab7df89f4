// H5MF H5FS - the free space that a file records from one opening to the next.
#pragma once

#include "free_space_format.hpp"
#include "spilled_extents.hpp"

namespace h5mote {

class FreeSpace final : public SpilledExtents {
public:
    using SpilledExtents::SpilledExtents;

    void end() noexcept override { file_.context.destroy(MemoryKind::file, this); }
};

}  // namespace h5mote
