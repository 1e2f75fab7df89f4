#include "dense_storage.hpp"

namespace h5mote {

Status DenseHandle::make(Module module, Feature needed_for) noexcept {
    if (reader_ != nullptr) {
        return Status::ok;
    }
    const DenseStorageFormat* const format = context_->formats().dense_storage;
    if (format == nullptr) {
        return context_->unsupported(module, H5MOTE_HERE, needed_for);
    }
    reader_ = format->make(*context_);
    return reader_ == nullptr ? Status::out_of_memory : Status::ok;
}

}  // namespace h5mote
