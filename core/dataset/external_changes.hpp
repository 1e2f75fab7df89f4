// H5D (external file list) - datasets in files without HDF5 structure are made, written and deleted: what programs have
// that name formats::external_changes.
//
// The names are in a local heap that is made complete, with its data segment behind the header, and is never changed.
#pragma once

#include "disposal.hpp"
#include "external_storage.hpp"

#include <h5mote/dataset.hpp>

namespace h5mote {

struct ExternalChangesFormat {
    /// Whether the files of a new dataset are sound; `bytes` becomes what they have room for, the largest number if
    /// there is no end.
    bool (*check)(Span<const NewExternalFile> files, std::uint64_t& bytes);
    /// Makes the heap with the names, to which nothing leads yet. no_space, out_of_memory, io_error.
    Status (*create)(FileState& file, Span<const NewExternalFile> files, Address& heap);
    /// Undoes create().
    void (*discard)(FileState& file, Span<const NewExternalFile> files, Address heap);
    /// Writes the external file list message.
    void (*encode)(Writer& writer, FileShape shape, Span<const NewExternalFile> files, Address heap);
    /// ExternalStorage::write() and sync().
    Status (*write)(ExternalStorage& storage, std::uint64_t offset, ConstBytes from);
    Status (*sync)(ExternalStorage& storage);
    /// Gives up the heap of the dataset whose header is at `header`.
    Status (*dispose)(FileState& file, Address header, Disposal& disposal);
};

}  // namespace h5mote
