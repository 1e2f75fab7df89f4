// H5HF (filters) - decodes the filtered blocks of fractal heaps with the filter pipeline that chunks use.
#pragma once

#include "file_state.hpp"

namespace h5mote {

/// Has no state: one object serves every file.
class PipelineBlockDecoder final : public BlockDecoder {
public:
    constexpr PipelineBlockDecoder() noexcept = default;
    Status decode(FileState& file, ConstBytes pipeline, std::uint32_t mask, Address address, Address stored,
                  Bytes to) const noexcept override;
};

extern const PipelineBlockDecoder pipeline_block_decoder;

}  // namespace h5mote
