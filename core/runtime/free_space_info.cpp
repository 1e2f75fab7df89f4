// H5FS H5MF - the free space that a file keeps track of.

#include "extension_messages.hpp"
#include "file_state.hpp"
#include "free_space_manager.hpp"

#include <h5mote/h5mote.hpp>

namespace h5mote {
namespace {

Status read(FreeSpaceManager& manager, FileShape shape, FreeSpaceInfo& info, SectionVisitor* visitor) noexcept {
    H5MOTE_TRY(manager.open());
    const FreeSpaceHeader& header = manager.header();
    info.bytes += header.bytes;
    info.sections += header.sections;
    info.metadata += FreeSpaceHeader::size(shape) + header.list_size;
    if (visitor == nullptr || !manager.has_list()) {
        return Status::ok;
    }
    H5MOTE_TRY(manager.verify());
    return manager.walk(*visitor);
}

// What is known of a file of which the record was taken out because its free space is in use.
Status tell(SpaceMap& free, FreeSpaceInfo& info, SectionVisitor* visitor) noexcept {
    for (std::size_t i = 0; i < free.count(); ++i) {
        const FreeExtent extent = free.get(i);
        if (extent.size != 0) {
            info.bytes += extent.size;
            ++info.sections;
            H5MOTE_TRY(visitor == nullptr ? Status::ok : visitor->section(extent.address, extent.size));
        }
    }
    return Status::ok;
}

}  // namespace

Status File::free_space(FreeSpaceInfo& info, SectionVisitor* visitor) const noexcept {
    const LibraryLock lock(context_of(file_));
    info = {};
    if (!valid()) {
        return Status::invalid_handle;
    }
    if (file_->superblock().extension == kUndefinedAddress) {
        return Status::ok;
    }
    const SpaceKeeper* const keeper = file_->space.keeper();
    if (keeper != nullptr && keeper->has_taken_over()) {
        return tell(file_->space.free(), info, visitor);
    }
    Address managers[FileSpaceInfoMessage::kMaxManagers];
    H5MOTE_TRY(FreeSpaceManager::find(*file_, managers));
    for (const Address address : managers) {
        if (address != kUndefinedAddress) {
            FreeSpaceManager manager(*file_, address);
            H5MOTE_TRY(read(manager, file_->shape(), info, visitor));
        }
    }
    return Status::ok;
}

}  // namespace h5mote
