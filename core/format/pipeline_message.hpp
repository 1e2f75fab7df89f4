// H5Z - the filter pipeline message. Specification IV.A.2.l.
#pragma once

#include "message_type.hpp"

namespace h5mote {

/// version 2 | count | per filter: id 2 | [name length 2, only id >= 256] | flags 2 | number of values 2 | [name]
/// | values 4 each
class PipelineReader {
public:
    explicit PipelineReader(ConstBytes body) noexcept : reader_(body) {}
    /// Number of filters; call first. unsupported: not version 2.
    Status count(Context& context, unsigned& filters) noexcept;
    /// The next filter; call at most that many times.
    Status next(Context& context, FilterSpec& spec) noexcept;

private:
    Reader reader_;
};
/// Writes the start of a filter pipeline message; then each filter.
void encode_pipeline(Writer& writer, std::size_t count) noexcept;
void encode_filter(Writer& writer, const FilterSpec& spec) noexcept;

}  // namespace h5mote
