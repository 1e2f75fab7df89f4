#include "dense_storage.hpp"

namespace h5mote {

Status dense_storage(Context& context, Module module, Feature needed_for, const DenseStorageFormat*& format) noexcept {
    format = context.formats().dense_storage;
    return format != nullptr ? Status::ok : context.unsupported(module, H5MOTE_HERE, needed_for);
}

Status DenseHandle::make(Module module, Feature needed_for) noexcept {
    if (reader_ != nullptr) {
        return Status::ok;
    }
    const DenseStorageFormat* format = nullptr;
    H5MOTE_TRY(dense_storage(*context_, module, needed_for, format));
    reader_ = format->make(*context_);
    return reader_ == nullptr ? Status::out_of_memory : Status::ok;
}

}  // namespace h5mote
