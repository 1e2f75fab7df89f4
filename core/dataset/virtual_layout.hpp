// H5D (virtual) - datasets made of pieces of other datasets.
#pragma once

#include "transfer.hpp"

namespace h5mote {

#if H5MOTE_ALL_FORMATS

/// Number of mappings of a virtual dataset.
Status count_mappings(FileState& file, const LayoutMessage& layout, std::uint32_t& count) noexcept;

/// Reads a virtual dataset: `space` is its extent.
Status read_virtual(DatasetState& dataset, const TransferRequest& request, const Dataspace& space) noexcept;

#endif

}  // namespace h5mote
