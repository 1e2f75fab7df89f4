// Compares the sizes that required_memory() assumes with the real sizes of the objects. Makes no code.

#include "dataset_state.hpp"
#include "file_state.hpp"
#include "transfer.hpp"

#include <h5mote/limits.hpp>

namespace h5mote::footprint {

static_assert(sizeof(FileState) <= kFile, "raise footprint::kFile");
static_assert(sizeof(DatasetState) <= kDataset, "raise footprint::kDataset");
static_assert(sizeof(FilterEntry) <= kFilterEntry, "raise footprint::kFilterEntry");
static_assert(sizeof(Transfer) <= kTransfer, "raise footprint::kTransfer");
static_assert(sizeof(ChunkSlot) <= kChunkSlot, "raise footprint::kChunkSlot");

}  // namespace h5mote::footprint
