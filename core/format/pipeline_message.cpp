#include "pipeline_message.hpp"

#include "text.hpp"

namespace h5mote {

Status PipelineReader::count(Context& context, unsigned& filters) noexcept {
    const unsigned version = reader_.u8();
    filters = reader_.u8();
    old_ = version == 1;
    if (version != 2 && !old_) {
        return context.unsupported(Module::format, H5MOTE_HERE, Feature::message_version, version);
    }
    reader_.skip(old_ ? 6 : 0);
    return reader_.ok() && filters <= 32 ? Status::ok
                                         : damaged_message(context, H5MOTE_HERE, MessageType::filter_pipeline);
}

Status PipelineReader::next(Context& context, FilterSpec& spec) noexcept {
    const std::uint16_t id = reader_.u16();
    const std::size_t name_size = old_ || id >= 256 ? reader_.u16() : 0;
    spec.id = static_cast<FilterId>(id);
    spec.optional = (reader_.u16() & 1U) != 0;
    const std::size_t count = reader_.u16();
    name_ = reader_.bytes(name_size);
    std::size_t length = 0;
    while (length < name_.size() && name_[length] != std::byte{0}) {
        ++length;
    }
    const bool terminated = length < name_.size() || name_size == 0;
    name_ = name_.first(length);
    const ConstBytes values = reader_.bytes(count * 4);
    if (old_ && count % 2 != 0) {
        reader_.skip(4);
    }
    if (!reader_.ok() || !terminated || (old_ && name_size % 8 != 0)) {
        return damaged_message(context, H5MOTE_HERE, MessageType::filter_pipeline);
    }
    spec.value_count = static_cast<std::uint16_t>(count);
    spec.encoded = count > FilterSpec::kMaxValues ? values.data() : nullptr;
    for (std::size_t v = 0; v < count && v < FilterSpec::kMaxValues; ++v) {
        spec.values[v] = load_le<std::uint32_t>(values.data() + 4 * v);
    }
    return Status::ok;
}

std::size_t borrowed_values(Context& context, ConstBytes body) noexcept {
    PipelineReader reader(body);
    unsigned filters = 0;
    std::size_t bytes = 0;
    Status status = reader.count(context, filters);
    for (unsigned i = 0; status == Status::ok && i < filters; ++i) {
        FilterSpec spec;
        status = reader.next(context, spec);
        bytes += spec.encoded != nullptr ? std::size_t{4} * spec.value_count : 0;
    }
    return status == Status::ok ? bytes : 0;
}

void encode_pipeline(Writer& writer, std::size_t count) noexcept {
    writer.u8(2);
    writer.u8(static_cast<std::uint32_t>(count));
}

void encode_filter(Writer& writer, const FilterSpec& spec, std::string_view name) noexcept {
    const bool named = static_cast<std::uint16_t>(spec.id) >= 256;
    writer.u16(static_cast<std::uint16_t>(spec.id));
    if (named) {
        writer.u16(name.empty() ? 0 : name.size() + 1);
    }
    writer.u16(spec.optional ? 1 : 0);
    writer.u16(spec.value_count);
    if (named && !name.empty()) {
        writer.bytes(bytes_of(name));
        writer.u8(0);
    }
    for (std::size_t v = 0; v < spec.value_count; ++v) {
        writer.u32(spec.value(v));
    }
}

}  // namespace h5mote
