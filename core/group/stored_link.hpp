// H5L - a link that was found in a file.
#pragma once

#include "file_state.hpp"
#include "link_message.hpp"

namespace h5mote {

/// A link that was found; `link` views bytes that the windows hold.
struct StoredLink {
    LinkMessage link;
    MetadataWindow bytes;
    MetadataWindow target;

    /// Makes `link` from `bytes`, which has a link message open. corrupt_file; unsupported; what the window returns.
    Status decode(FileState& file) noexcept;
    /// Closes the windows; `link` is not valid afterwards.
    void close() noexcept {
        bytes.close();
        target.close();
    }
};

}  // namespace h5mote
