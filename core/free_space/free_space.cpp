#include "free_space.hpp"

namespace h5mote {
namespace {

Status create(FileState& file, const FileCreate& create) noexcept {
    if (create.file_space != SpaceStrategy::managers || create.persist_free_space || create.free_space_threshold != 1) {
        return file.context.unsupported(Module::file, H5MOTE_HERE, Feature::free_space);
    }
    SpilledExtents::attach(file);
    return Status::ok;
}

Status open(FileState& file) noexcept {
    if (file.writable()) {
        SpilledExtents::attach(file);
    }
    return Status::ok;
}

bool is_complete(FileState& /*file*/) noexcept { return false; }

}  // namespace

const FreeSpaceFormat formats::free_space = {&create, &open, &is_complete};

}  // namespace h5mote
