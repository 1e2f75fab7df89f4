// H5O H5MF - giving up the space of an object that is deleted.
#pragma once

#include "file_state.hpp"

namespace h5mote {

/// Takes the space of a structure, block by block. First in a rehearsal, which only looks whether it can be done: then
/// nothing is given up of what cannot be given up as a whole.
class Disposal {
public:
    /// Without `chunks` an index of chunks is taken without what it leads to.
    Disposal(FileState& file, bool rehearsal, bool chunks = true) noexcept
        : file_(file), rehearsal_(rehearsal), chunks_(chunks) {}

    bool takes_chunks() const noexcept { return chunks_; }

    /// Nobody holds a block there. An undefined address is passed over. corrupt_file: not within the file.
    H5MOTE_STEP Status give(Address address, Address size) noexcept {
        if (address == kUndefinedAddress) {
            return Status::ok;
        }
        if (!file_.contains(address, size)) {
            return file_.context.fail(Module::file, H5MOTE_HERE, Status::corrupt_file, 0, address);
        }
        if (!rehearsal_) {
            file_.give_up(address, size);
        }
        return Status::ok;
    }

private:
    FileState& file_;
    bool rehearsal_;
    bool chunks_;
};

}  // namespace h5mote
