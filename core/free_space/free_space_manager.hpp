// H5FS - reading a free-space manager: its header, and section by section its list.
//
// The list is read from the storage piece by piece and not through the metadata cache: it is read once, and may be
// larger than the cache.
#pragma once

#include "file_state.hpp"
#include "free_space_header.hpp"

#include <h5mote/file.hpp>

namespace h5mote {

class FreeSpaceManager {
public:
    FreeSpaceManager(FileState& file, Address header) noexcept : file_(file), header_(header) {}

    /// Reads the header. corrupt_file, io_error.
    Status open() noexcept;
    const FreeSpaceHeader& header() const noexcept { return manager_; }
    bool has_list() const noexcept { return manager_.list != kUndefinedAddress; }
    /// Verifies the checksum of the list, which the manager has. corrupt_file, io_error.
    Status verify() noexcept;
    /// Visits all sections of the list. corrupt_file, io_error, and what the visitor returns.
    Status walk(SectionVisitor& visitor) noexcept;

    /// Reads the addresses of a file's managers, FileSpaceInfoMessage::kMaxManagers of them. All are undefined if the
    /// file names none.
    static Status find(FileState& file, Address* managers) noexcept;

private:
    static constexpr std::size_t kPiece = 128;

    Status damaged(SourcePlace place) noexcept {
        return file_.context.fail(Module::storage, place, Status::corrupt_file, 0, header_);
    }
    Status load(Address at, Address end) noexcept;
    Status take(Address& at, unsigned width, std::uint64_t& number) noexcept;
    Address end_of_sections() const noexcept {
        return manager_.list + manager_.list_used - FreeSpaceHeader::kChecksumSize;
    }

    FileState& file_;
    Address header_;
    FreeSpaceHeader manager_;
    Address first_ = 0;  // address of the first byte of the piece ...
    Address held_ = 0;   // ... and how many bytes it has
    std::byte piece_[kPiece];
};

}  // namespace h5mote
