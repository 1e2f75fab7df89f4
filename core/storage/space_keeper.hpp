// H5MF H5FS - what keeps a file's free space beyond what memory has room for, and beyond one session. Implemented in
// core/free_space, which a program links only if it deletes objects or names formats::free_space.
#pragma once

#include "space_map.hpp"

namespace h5mote {

class SpaceKeeper {
public:
    /// Called once, before free space is given out for the first time: loads what the file says to be free, and takes
    /// that record out of the file, which must not claim space that is about to be used.
    virtual Status begin() noexcept { return Status::ok; }
    /// Called when the file is closed, after everything else was committed: records in the file what is free, and gives
    /// back the space that the keeper itself has used. May commit.
    virtual Status store() noexcept = 0;
    /// Called last: gives back all memory, this object included. Writes nothing.
    virtual void end() noexcept = 0;
    /// Whether begin() took a record out of the file, so that only the map and the keeper know what is free.
    virtual bool has_taken_over() const noexcept { return false; }
    /// The parts of the space in which the keeper keeps extents. Nothing in the file refers to them.
    virtual Span<const FreeExtent> own() const noexcept = 0;
    /// Where extents go for which the map has no memory.
    virtual SpaceOverflow* overflow() noexcept = 0;

protected:
    SpaceKeeper() noexcept = default;
    SpaceKeeper(const SpaceKeeper&) = delete;
    SpaceKeeper& operator=(const SpaceKeeper&) = delete;
    ~SpaceKeeper() = default;
};

}  // namespace h5mote
