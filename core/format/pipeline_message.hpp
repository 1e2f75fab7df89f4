// H5Z - the filter pipeline message. Specification IV.A.2.l.
#pragma once

#include "message_type.hpp"

#include <string_view>

namespace h5mote {

/// version 2 | count | per filter: id 2 | [name length 2, only id >= 256] | flags 2 | number of values 2 | [name]
/// | values 4 each
/// version 1 | count | 0 6 | per filter: id 2 | name length 2 | flags 2 | number of values 2 | name, a multiple of 8
/// bytes | values 4 each | 0 4 after an odd number of values
class PipelineReader {
public:
    /// `body` outlives the reader and what it yields.
    explicit PipelineReader(ConstBytes body) noexcept : reader_(body) {}
    /// Number of filters, at most 32; call first. unsupported: a version that is not known.
    Status count(Context& context, unsigned& filters) noexcept;
    /// Decodes the next filter; call it at most as often as count() says. If the filter has more than
    /// FilterSpec::kMaxValues parameter values, `spec` borrows all of them from the body (FilterSpec::encoded).
    Status next(Context& context, FilterSpec& spec) noexcept;
    /// Name of the filter that next() gave, without the terminating zero; empty when the message has none.
    ConstBytes name() const noexcept { return name_; }

private:
    Reader reader_;
    ConstBytes name_;
    bool old_ = false;  // version 1
};
/// Bytes of parameter values that the FilterSpecs of a message borrow from its body, so that a copy has to be kept with
/// the specs. 0 if the message is damaged.
std::size_t borrowed_values(Context& context, ConstBytes body) noexcept;
/// Writes the start of the message of a pipeline of `count` filters. The caller writes each of them with
/// encode_filter().
void encode_pipeline(Writer& writer, std::size_t count) noexcept;
/// Only filters that are not part of HDF5 itself have a name.
void encode_filter(Writer& writer, const FilterSpec& spec, std::string_view name = {}) noexcept;

}  // namespace h5mote
