// H5D (external file list) - raw data in plain files without HDF5 structure, one behind the other.
#pragma once

#include "header_message.hpp"
#include "local_heap.hpp"
#include "messages.hpp"

#include <h5mote/dataset_info.hpp>
#include <h5mote/formats.hpp>
#include <h5mote/opener.hpp>

namespace h5mote {

/// The external files of a dataset. One of them is open at a time.
class ExternalStorage {
public:
    ExternalStorage(FileState& file, Address header) noexcept : file_(file), header_(header) {}
    ExternalStorage(const ExternalStorage&) = delete;
    ExternalStorage& operator=(const ExternalStorage&) = delete;
    ~ExternalStorage() { close(); }

    /// Number of files.
    Status count(std::uint32_t& files) noexcept;
    /// Describes the i-th file and copies its name, unless the span is empty. not_found: no such file.
    /// invalid_argument: the name is longer than the span.
    Status describe(std::size_t i, ExternalFile& info, Span<char> name) noexcept;
    /// Address of the heap with the names, and its bytes.
    Status heap(Address& address) noexcept;
    Status heap_size(std::uint64_t& bytes) noexcept;

    /// Fills `to` with the data from byte `offset` on. Bytes behind the end of a file that is too short are zeros.
    /// corrupt_file: beyond the last file; not_found: a file is missing; unsupported: there is no opener.
    Status read(std::uint64_t offset, Bytes to) noexcept;
    /// Writes the data from byte `offset` on; files that are not there are made. From the first call on, which may
    /// write nothing, read() opens files in the same way. unsupported: there is no opener; read_only: it does not
    /// write. corrupt_file as above.
    Status write(std::uint64_t offset, ConstBytes from) noexcept;
    /// Makes what was written durable. Call after the last write().
    Status sync() noexcept;

private:
    Status load(HeaderMessage& message, ExternalFilesMessage& list) noexcept;
    Status slot(HeaderMessage& message, std::size_t i, ExternalFilesMessage::Slot& slot) noexcept;
    Status open(std::uint64_t offset) noexcept;
    Status open_driver(Address heap, Address name) noexcept;
    void close() noexcept;

    FileState& file_;
    Address header_;
    Driver* driver_ = nullptr;
    std::uint64_t begin_ = 0;  // the open file holds bytes [begin_, end_) of the data ...
    std::uint64_t end_ = 0;
    std::uint64_t offset_ = 0;  // ... at this offset in the file
    std::uint64_t length_ = 0;  // size of that file in bytes
    bool unsynced_ = false;     // the open file was written to since the last sync
    // Set by the first write(): files are opened for writing, and what was written to one is synced before the next is
    // opened. A pointer, so that programs that only read do not link sync().
    Status (*sync_)(ExternalStorage& storage) = nullptr;
};

/// What reads external data, for programs that name formats::external_data.
struct ExternalDataFormat {
    /// ExternalStorage::read().
    Status (*read)(ExternalStorage& storage, std::uint64_t offset, Bytes to);
};

}  // namespace h5mote
