#include "virtual_layout.hpp"

#if H5MOTE_ALL_FORMATS

namespace h5mote {

void VirtualMapping::reset() noexcept {
    if (context_ != nullptr) {
        context_->release(MemoryKind::other, text_, file_length_ + dataset_length_);
    }
    context_ = nullptr;
    text_ = nullptr;
    file_length_ = dataset_length_ = 0;
}

Status count_mappings(FileState& /*file*/, const LayoutMessage& /*layout*/, std::uint32_t& count) noexcept {
    count = 0;
    return Status::ok;
}

Status Dataset::virtual_mapping(std::size_t /*i*/, VirtualMapping& /*mapping*/, SelectionSet* /*source*/,
                                SelectionSet* /*destination*/) const noexcept {
    return Status::unsupported;
}

Status read_virtual(DatasetState& dataset, const TransferRequest& /*request*/, const Dataspace& /*space*/) noexcept {
    return dataset.file().context.unsupported(Module::dataset, __LINE__, Feature::layout_class,
                                              static_cast<std::uint32_t>(LayoutMessage::Class::virtual_dataset));
}

}  // namespace h5mote

#endif
