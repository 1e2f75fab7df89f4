// H5MF H5FS - what a program has that names formats::free_space or formats::reclaim.
#pragma once

#include "file_state.hpp"

#include <h5mote/formats.hpp>

namespace h5mote {

/// Whether a file asks for nothing but what all files have by default, so that it needs no file space info message.
constexpr bool has_default_space(const FileCreate& create) noexcept {
    constexpr FileCreate kPlain{};
    return create.file_space == kPlain.file_space && !create.persist_free_space &&
           create.free_space_threshold == kPlain.free_space_threshold && create.page_size == kPlain.page_size;
}

struct FreeSpaceFormat {
    /// Whether create() can make what `create` asks for. invalid_argument, unsupported.
    Status (*check)(FileState& file, const FileCreate& create);
    /// Makes what `create` asks for in a new file that has nothing but its superblock: a superblock extension with a
    /// file space info message, if anything differs from the defaults, and with the driver information message, if the
    /// storage has something to keep. Gives the file its SpaceKeeper. check() has returned ok.
    Status (*create)(FileState& file, const FileCreate& create);
    /// Reads the superblock extension of a file that is opened for writing, if it has one, and gives the file its
    /// SpaceKeeper. Call between FileState::open() and finish_open(). unsupported: the extension has anything that a
    /// writer must know about and this library does not.
    Status (*open)(FileState& file);
    /// Whether the file records that its free space is known, as it does from one that was closed to the first change.
    /// A file that keeps no record never says so.
    bool (*is_complete)(FileState& file);
};

struct ReclaimFormat {
    /// File::reclaim(), with a table of at most `memory` bytes. `bytes` is what was found.
    Status (*search)(FileState& file, std::size_t memory, std::uint64_t& bytes);
};

}  // namespace h5mote
