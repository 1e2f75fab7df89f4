#include "old_prefix.hpp"

#if H5MOTE_ALL_FORMATS

namespace h5mote {
namespace {

// Pins the first block of a version 1 header, of which a field of the prefix is to be changed. No such field lies
// across the end of a sector, and each stands for itself, so that a power cut cannot tear the change.
H5MOTE_STEP Status hold_old_prefix(FileState& file, Address header, const HeaderPrefix& prefix,
                                   Pinned& block) noexcept {
    return file.contains(header, prefix.block_size())
               ? file.cache.protect(Usage::object_header, header, static_cast<std::size_t>(prefix.block_size()), block,
                                    ChecksumPlace::none)
               : file.context.fail(Module::object, H5MOTE_HERE, Status::corrupt_file, 0, header);
}

}  // namespace

void count_messages(FileState& file, Address header, Phase phase) noexcept {
    MessageIterator message(file, header);
    HeaderPrefix prefix;
    if (message.read_prefix(prefix) != Status::ok) {
        return;
    }
    std::uint16_t count = 0;
    Status status;
    while ((status = message.next()) == Status::ok) {
        ++count;
    }
    Pinned block;
    if (status != Status::not_found || hold_old_prefix(file, header, prefix, block) != Status::ok) {
        return;
    }
    std::byte* const stored = block->at(HeaderPrefix::kOldMessageCount);
    if (load_le<std::uint16_t>(stored) != count) {
        store_le(stored, count);
        // A block that is changed already keeps its phase: others may have to come after a number in it.
        MetadataCache::mark_dirty(*block, HeaderPrefix::kOldMessageCount, block->dirty() ? block->phase() : phase);
    }
}

Status change_old_count(FileState& file, Address header, int change, std::uint32_t& count, bool& old) noexcept {
    HeaderPrefix prefix;
    H5MOTE_TRY(MessageIterator(file, header).read_prefix(prefix));
    old = prefix.is_old();
    count = prefix.reference_count;
    if (!old || change == 0) {
        return Status::ok;
    }
    H5MOTE_TRY(next_count(file.context, header, change, count));
    Pinned block;
    H5MOTE_TRY(hold_old_prefix(file, header, prefix, block));
    store_le(block->at(HeaderPrefix::kOldReferenceCount), count);
    MetadataCache::mark_dirty(*block, HeaderPrefix::kOldReferenceCount, phase_of_count(change));
    return Status::ok;
}

}  // namespace h5mote

#endif
