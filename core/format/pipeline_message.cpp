#include "pipeline_message.hpp"

namespace h5mote {

Status PipelineReader::count(Context& context, unsigned& filters) noexcept {
    const unsigned version = reader_.u8();
    filters = reader_.u8();
    if (version != 2) {
        return context.unsupported(Module::format, __LINE__, Feature::message_version, version);
    }
    return reader_.ok() && filters <= 32 ? Status::ok
                                         : damaged_message(context, __LINE__, MessageType::filter_pipeline);
}

Status PipelineReader::next(Context& context, FilterSpec& spec) noexcept {
    const std::uint16_t id = reader_.u16();
    const std::size_t name_size = id >= 256 ? reader_.u16() : 0;
    spec.id = static_cast<FilterId>(id);
    spec.optional = (reader_.u16() & 1U) != 0;
    const std::size_t values = reader_.u16();
    reader_.skip(name_size);
    if (reader_.ok() && values > FilterSpec::kMaxValues) {
        return context.unsupported(Module::format, __LINE__, Feature::filter, id);
    }
    spec.value_count = static_cast<std::uint8_t>(values);
    for (std::size_t v = 0; v < values; ++v) {
        spec.values[v] = reader_.u32();
    }
    return reader_.ok() ? Status::ok : damaged_message(context, __LINE__, MessageType::filter_pipeline);
}

void encode_pipeline(Writer& writer, std::size_t count) noexcept {
    writer.u8(2);
    writer.u8(static_cast<std::uint32_t>(count));
}

void encode_filter(Writer& writer, const FilterSpec& spec) noexcept {
    writer.u16(static_cast<std::uint16_t>(spec.id));
    if (static_cast<std::uint16_t>(spec.id) >= 256) {
        writer.u16(0);
    }
    writer.u16(spec.optional ? 1 : 0);
    writer.u16(spec.value_count);
    for (std::size_t v = 0; v < spec.value_count; ++v) {
        writer.u32(spec.values[v]);
    }
}

}  // namespace h5mote
