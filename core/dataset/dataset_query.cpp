// What a dataset says of itself.

#include "dataset_state.hpp"

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

Result<Dataset> Dataset::from(Object&& /*object*/) noexcept { return Status::unsupported; }
Status Dataset::info(DatasetInfo& /*info*/) const noexcept { return Status::unsupported; }
Status Dataset::storage_size(std::uint64_t& /*bytes*/) const noexcept { return Status::unsupported; }
Status Dataset::index_size(std::uint64_t& /*chunks*/, std::uint64_t& /*bytes*/) const noexcept {
    return Status::unsupported;
}
Status Dataset::chunk_dims(Span<std::uint64_t> /*dims*/) const noexcept { return Status::unsupported; }
Status Dataset::filter(std::size_t /*i*/, FilterInfo& /*info*/, Span<char> /*name*/,
                       Span<std::uint32_t> /*values*/) const noexcept {
    return Status::unsupported;
}
Status Dataset::external_file(std::size_t /*i*/, ExternalFile& /*info*/, Span<char> /*name*/) const noexcept {
    return Status::unsupported;
}
Status Dataset::virtual_mapping(std::size_t /*i*/, VirtualMapping& /*mapping*/, SelectionSet* /*source*/,
                                SelectionSet* /*destination*/) const noexcept {
    return Status::unsupported;
}
Status Dataset::fill_value(DatatypeView /*type*/, Bytes /*to*/) const noexcept { return Status::unsupported; }
Status Dataset::stored_fill_value(Bytes /*to*/) const noexcept { return Status::unsupported; }
Status Dataset::read_stored(const Selection& /*selection*/, Bytes /*data*/) noexcept { return Status::unsupported; }

ChunkIterator::~ChunkIterator() { (void)walk_; }
Status ChunkIterator::next(ChunkInfo& /*chunk*/) noexcept { return Status::unsupported; }

}  // namespace h5mote

#endif
