// H5O H5MF - giving up the space of an object that is deleted.
#pragma once

#include "file_state.hpp"

namespace h5mote {

/// Is shown the blocks of structures that stay, when somebody wants to know what is in use.
class BlockWitness {
public:
    /// A status other than ok ends the walk and is returned.
    virtual Status block(Address address, Address size) noexcept = 0;

protected:
    BlockWitness() = default;
    BlockWitness(const BlockWitness&) = delete;
    BlockWitness& operator=(const BlockWitness&) = delete;
    ~BlockWitness() = default;
};

/// Is given the space of a structure, block by block, and gives it up. A deletion comes after a rehearsal, which only
/// checks every block, so that nothing is given up of a structure that cannot be given up as a whole.
class Disposal {
public:
    /// Without `chunks` only the blocks of a chunk index are given up, not the chunks that it names.
    Disposal(FileState& file, bool rehearsal, bool chunks = true) noexcept
        : file_(file), rehearsal_(rehearsal), chunks_(chunks) {}
    /// Gives nothing up: every block is checked and shown to `witness`.
    Disposal(FileState& file, BlockWitness& witness) noexcept
        : file_(file), witness_(&witness), rehearsal_(true), chunks_(true) {}

    bool takes_chunks() const noexcept { return chunks_; }
    bool rehearses() const noexcept { return rehearsal_; }

    /// Gives up [address, address + size), or only checks it in a rehearsal. No metadata block there may be pinned. An
    /// undefined address is ignored. corrupt_file: the bytes do not lie within the file.
    H5MOTE_STEP Status give(Address address, Address size, SpaceKind kind = SpaceKind::metadata) noexcept {
        if (address == kUndefinedAddress) {
            return Status::ok;
        }
        if (!file_.contains(address, size)) {
            return file_.context.fail(Module::file, H5MOTE_HERE, Status::corrupt_file, 0, address);
        }
        if (!rehearsal_) {
            file_.give_up(address, size, false, kind);
        }
        return witness_ == nullptr ? Status::ok : witness_->block(address, size);
    }

private:
    FileState& file_;
    BlockWitness* witness_ = nullptr;
    bool rehearsal_;
    bool chunks_;
};

}  // namespace h5mote
