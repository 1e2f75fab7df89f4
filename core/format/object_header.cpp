#include "object_header.hpp"

namespace h5mote {

Status HeaderPrefix::decode(Context& context, ConstBytes bytes) noexcept {
    Reader reader(bytes);
    const std::uint32_t signature = reader.u32();
    version = reader.u8();
    if (signature != 0x5244484fU) {
        // Version 1 headers have no signature; their first byte is the version.
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            if ((signature & 0xffU) == 1 && bytes.size() >= kOldSize) {
                version = 1;
                flags = 0;
                size = kOldSize;
                set_reference_count(load_le<std::uint32_t>(bytes.data() + 4));
                messages_size = load_le<std::uint32_t>(bytes.data() + 8);
                return messages_size > 0x7fffffffU ? context.fail(Module::format, H5MOTE_HERE, Status::corrupt_file)
                                                   : Status::ok;
            }
        }
        return (signature & 0xffU) == 1
                   ? context.unsupported(Module::format, H5MOTE_HERE, Feature::object_header_version, 1)
                   : context.fail(Module::format, H5MOTE_HERE, Status::corrupt_file);
    }
    if (version != 2) {
        return context.unsupported(Module::format, H5MOTE_HERE, Feature::object_header_version, version);
    }
    flags = reader.u8();
    const unsigned width = 1U << (flags & 3U);
    size = static_cast<std::uint8_t>(phase_offset() + ((flags & kAttributePhase) != 0 ? 4U : 0U) + width);
    reader.skip(size - 6U - width);
    messages_size = narrow(reader.uint(width));
    // Blocks of 2 GiB or more are refused, because sizes within a header are 32 bits wide in memory.
    if (!reader.ok() || messages_size > 0x7fffffffU) {
        return context.fail(Module::format, H5MOTE_HERE, Status::corrupt_file);
    }
    return Status::ok;
}

void HeaderPrefix::decode_times(ConstBytes bytes, std::uint32_t (&times)[4]) noexcept {
    for (unsigned i = 0; i < 4; ++i) {
        times[i] = load_le<std::uint32_t>(bytes.data() + kTimesOffset + 4 * i);
    }
}

void HeaderWriter::begin(MessageType type, std::uint8_t flags) noexcept {
    start_ = out.written();
    write_message_head(out, layout, type, 0, flags);
}

void HeaderWriter::end() noexcept {
    const std::size_t size = out.written() - start_ - layout.head_size();
    note_body(size);
    if (std::byte* head = out.at(start_)) {
        layout.set_body_size(head, size);
    }
}

void HeaderWriter::reserve_continuation(std::size_t extra) noexcept {
    begin(MessageType::null);
    out.fill(std::byte{0}, continuation_body(shape) + extra);
    end();
}

}  // namespace h5mote
