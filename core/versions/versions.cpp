// Object headers and their messages in the versions that a lower version bound asks for, made from what the rest of the
// library writes.

#include "versions.hpp"
#include "attribute_message.hpp"
#include "dataspace_message.hpp"
#include "datatype_encoding.hpp"
#include "fill_value_message.hpp"
#include "layout_message.hpp"
#include "object_messages.hpp"
#include "pipeline_message.hpp"
#include "selection_encoding.hpp"
#include "text.hpp"

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {
namespace {

// The least version of compounds, arrays and enumerations.
unsigned least_datatype(FormatVersion low) noexcept {
    return low < FormatVersion::v18 ? 1 : low < FormatVersion::v112 ? 3 : low < FormatVersion::v200 ? 4 : 5;
}

std::size_t pad8(std::size_t size) noexcept { return (size + 7) & ~std::size_t{7}; }

// Writes the bodies of messages in the version that a lower bound asks for, made from those that are written without a
// bound.
class Converter {
public:
    Converter(FileState& file, Writer& writer) noexcept : context_(file.context), low_(file.low()), writer_(writer) {}

    // The bytes of a shared message say where it is.
    Status write(MessageType type, std::uint8_t flags, ConstBytes body) noexcept {
        switch ((flags & kMessageShared) != 0 ? MessageType::null : type) {
            case MessageType::datatype:
                encode_datatype(writer_, DatatypeView(body), least_datatype(low_));
                return Status::ok;
            case MessageType::attribute:
                return write_attribute(body);
            case MessageType::dataspace:
                write_dataspace(writer_, body);
                return Status::ok;
            case MessageType::fill_value:
                return is_oldest() ? write_fill_value(body) : as_given(body);
            case MessageType::filter_pipeline:
                return is_oldest() ? write_pipeline(body) : as_given(body);
            default:
                return as_given(body);
        }
    }

private:
    bool is_oldest() const noexcept { return low_ == FormatVersion::earliest; }
    Status as_given(ConstBytes body) noexcept {
        writer_.bytes(body);
        return Status::ok;
    }

    // Only version 2 has a null dataspace. The dataspace of an attribute that is renamed has the version that it had.
    void write_dataspace(Writer& writer, ConstBytes body) const noexcept {
        Reader reader(body);
        const unsigned version = reader.u8();
        const unsigned rank = reader.u8();
        const unsigned flags = reader.u8();
        if (!is_oldest() || version < 2 || reader.u8() == static_cast<unsigned>(DataspaceMessage::Type::null)) {
            writer.bytes(body);
            return;
        }
        writer.u8(1);
        writer.u8(rank);
        writer.u8(flags);
        writer.fill(std::byte{0}, 5);
        writer.bytes(reader.rest());
    }

    // Version 1 has a size also where there is no fill value, so that libhdf5 writes version 2.
    Status write_fill_value(ConstBytes body) noexcept {
        FillValueMessage fill;
        H5MOTE_TRY(fill.decode(context_, body));
        writer_.u8(2);
        writer_.u8(fill.allocation_time);
        writer_.u8(fill.write_time);
        writer_.u8(fill.undefined ? 0 : 1);
        if (!fill.undefined) {
            writer_.u32(static_cast<std::uint32_t>(fill.value.size()));
            writer_.bytes(fill.value);
        }
        return Status::ok;
    }

    // The names that libhdf5 stores: H5Ocopy() of it writes them into a copy of the message, which must have room.
    static std::string_view name_of(FilterId id) noexcept {
        static constexpr std::string_view kNames[] = {"deflate", "shuffle", "fletcher32",
                                                      "szip",    "nbit",    "scaleoffset"};
        const unsigned at = static_cast<unsigned>(id) - 1;
        return at < sizeof kNames / sizeof *kNames ? kNames[at] : std::string_view{};
    }

    Status write_pipeline(ConstBytes body) noexcept {
        PipelineReader reader(body);
        unsigned count = 0;
        H5MOTE_TRY(reader.count(context_, count));
        writer_.u8(1);
        writer_.u8(count);
        writer_.fill(std::byte{0}, 6);
        for (unsigned i = 0; i < count; ++i) {
            FilterSpec spec;
            H5MOTE_TRY(reader.next(context_, spec));
            const ConstBytes name = reader.name().empty() ? bytes_of(name_of(spec.id)) : reader.name();
            const std::size_t length = name.empty() ? 0 : pad8(name.size() + 1);
            writer_.u16(static_cast<std::uint16_t>(spec.id));
            writer_.u16(length);
            writer_.u16(spec.optional ? 1 : 0);
            writer_.u16(spec.value_count);
            writer_.bytes(name);
            writer_.fill(std::byte{0}, length - name.size());
            for (unsigned value = 0; value < spec.value_count; ++value) {
                writer_.u32(spec.value(value));
            }
            writer_.fill(std::byte{0}, spec.value_count % 2 == 0 ? 0 : 4);
        }
        return Status::ok;
    }

    // Version 1 pads its parts. An attribute with a shared datatype has version 2, one with a name in UTF-8 version 3.
    Status write_attribute(ConstBytes body) noexcept {
        AttributeParts parts;
        H5MOTE_TRY(parts.decode(context_, body, body.size()));
        if ((parts.flags & AttributeParts::kSharedSpace) != 0) {
            return as_given(body);
        }
        const bool shared = (parts.flags & AttributeParts::kSharedType) != 0;
        const unsigned version = !is_oldest() || parts.character_set != 0 ? 3 : shared ? 2 : 1;
        const ConstBytes type = body.subspan(parts.type, parts.type_size);
        const ConstBytes space = body.subspan(parts.space, parts.space_size);
        const auto put_type = [&](Writer& to) {
            if (shared) {
                to.bytes(type);
            } else {
                encode_datatype(to, DatatypeView(type), least_datatype(low_));
            }
        };
        Writer type_size;
        Writer space_size;
        put_type(type_size);
        write_dataspace(space_size, space);
        if (type_size.written() > 0xffff) {
            return context_.fail(Module::attribute, H5MOTE_HERE, Status::over_budget, 0, type_size.written());
        }
        const auto put_padding = [&](std::size_t size) {
            writer_.fill(std::byte{0}, version == 1 ? pad8(size) - size : 0);
        };
        writer_.u8(version);
        writer_.u8(parts.flags);
        writer_.u16(parts.name_size);
        writer_.u16(type_size.written());
        writer_.u16(space_size.written());
        if (version == 3) {
            writer_.u8(parts.character_set);
        }
        writer_.bytes(body.subspan(parts.name, parts.name_size));
        put_padding(parts.name_size);
        put_type(writer_);
        put_padding(type_size.written());
        write_dataspace(writer_, space);
        put_padding(space_size.written());
        writer_.bytes(body.subspan(parts.data));
        return Status::ok;
    }

    Context& context_;
    FormatVersion low_;
    Writer& writer_;
};

Status convert(FileState& file, MessageType type, const MessageContent& content, StoredContent& stored) noexcept {
    StoredContent given(file.context);
    Bytes body;
    H5MOTE_TRY(given.reserve(content.size(), body));
    Writer writer(body);
    content.write(writer);
    Writer counter;
    H5MOTE_TRY(Converter(file, counter).write(type, 0, given.bytes()));
    H5MOTE_TRY(stored.reserve(counter.written(), body));
    Writer converted(body);
    return Converter(file, converted).write(type, 0, given.bytes());
}

// The messages that a new header has without a bound, as they stand in a header of version 2.
class Messages {
public:
    explicit Messages(ConstBytes bytes) noexcept : bytes_(bytes) {}
    bool next(MessageSlot& slot, ConstBytes& body) noexcept {
        if (at_ + layout_.head_size() > bytes_.size()) {
            return false;
        }
        slot.decode(layout_, bytes_.data() + at_);
        body = bytes_.subspan(at_ + layout_.head_size(), slot.size);
        at_ += layout_.head_size() + slot.size;
        return true;
    }

private:
    static constexpr HeaderLayout layout_{};
    ConstBytes bytes_;
    std::size_t at_ = 0;
};

// The content of a header of version 2.
class ConvertedContent final : public HeaderContent {
public:
    ConvertedContent(FileState& file, ConstBytes messages, const HeaderContent& content) noexcept
        : file_(file), messages_(messages) {
        set_prefix(content);
    }
    void write(HeaderWriter& header) const noexcept override {
        Messages messages(messages_);
        MessageSlot slot;
        for (ConstBytes body; messages.next(slot, body);) {
            header.begin(static_cast<MessageType>(slot.type), slot.flags);
            // Nothing can fail here but with the oldest versions, for which there is OldHeader.
            (void)Converter(file_, header.out).write(static_cast<MessageType>(slot.type), slot.flags, body);
            header.end();
        }
    }

private:
    FileState& file_;
    ConstBytes messages_;
};

// A header of version 1.
class OldHeader {
public:
    OldHeader(FileState& file, ConstBytes messages) noexcept : file_(file), messages_(messages) {}

    Status write(Writer& writer) noexcept {
        count_ = 0;
        Messages messages(messages_);
        MessageSlot slot;
        for (ConstBytes body; messages.next(slot, body);) {
            H5MOTE_TRY(write_message(writer, static_cast<MessageType>(slot.type), slot.flags, body));
        }
        return Status::ok;
    }
    // The time of creation, in seconds since 1970: the prefix has none.
    void write_time(Writer& writer) noexcept {
        begin(writer, MessageType::modification_time, kTimeSize, 0);
        writer.u8(1);
        writer.fill(std::byte{0}, 3);
        writer.u32(file_.context.port().time());
    }
    // libhdf5 counts on room for a continuation message, as a header has it that libhdf5 makes itself: it writes one
    // over the other messages otherwise.
    void fill_up(Writer& writer, std::size_t messages) noexcept {
        const std::size_t least = pad8(layout().head_size() + continuation_body(file_.shape()));
        if (messages < least) {
            const std::size_t size = least - messages - layout().head_size();
            begin(writer, MessageType::null, size, 0);
            writer.fill(std::byte{0}, size);
        }
    }
    std::uint16_t count() const noexcept { return count_; }

private:
    static constexpr std::size_t kTimeSize = 8;

    static constexpr HeaderLayout layout() noexcept { return HeaderLayout::version_1(); }

    void begin(Writer& writer, MessageType type, std::size_t size, std::uint8_t flags) noexcept {
        ++count_;
        write_message_head(writer, layout(), type, size, flags);
    }
    Status write_message(Writer& writer, MessageType type, std::uint8_t flags, ConstBytes body) noexcept {
        Writer counter;
        H5MOTE_TRY(Converter(file_, counter).write(type, flags, body));
        const std::size_t size = pad8(counter.written());
        if (size > 0xffff) {
            return file_.context.fail(Module::object, H5MOTE_HERE, Status::over_budget, 0, size);
        }
        begin(writer, type, size, flags);
        H5MOTE_TRY(Converter(file_, writer).write(type, flags, body));
        writer.fill(std::byte{0}, size - counter.written());
        return type == MessageType::fill_value ? write_older_fill(writer, body) : Status::ok;
    }

    // A value that the program chose is stored once more, as the releases before 1.6 stored it.
    Status write_older_fill(Writer& writer, ConstBytes body) noexcept {
        FillValueMessage fill;
        H5MOTE_TRY(fill.decode(file_.context, body));
        if (fill.value.empty()) {
            return Status::ok;
        }
        const std::size_t size = pad8(4 + fill.value.size());
        begin(writer, MessageType::fill_value_old, size, kMessageConstant);
        writer.u32(static_cast<std::uint32_t>(fill.value.size()));
        writer.bytes(fill.value);
        writer.fill(std::byte{0}, size - 4 - fill.value.size());
        return Status::ok;
    }

    FileState& file_;
    ConstBytes messages_;
    std::uint16_t count_ = 0;
};

Status create_old_header(FileState& file, ConstBytes messages, bool times, Address& address) noexcept {
    OldHeader header(file, messages);
    Writer counter;
    H5MOTE_TRY(header.write(counter));
    if (times) {
        header.write_time(counter);
    }
    const std::size_t messages_end = counter.written();
    header.fill_up(counter, messages_end);
    const std::size_t size = HeaderPrefix::kOldSize + counter.written();
    Pinned block;
    H5MOTE_TRY(file.create_block(Usage::object_header, size, size, block, ChecksumPlace::none));
    address = block->address();
    Writer writer(block->image());
    writer.u8(1);
    writer.u8(0);
    writer.u16(header.count());
    writer.u32(1);  // reference count
    writer.u32(static_cast<std::uint32_t>(counter.written()));
    writer.u32(0);
    MetadataCache::mark_dirty(*block, 0, Phase::object);
    const Status status = header.write(writer);
    if (times) {
        header.write_time(writer);
    }
    header.fill_up(writer, messages_end);
    block.reset();
    if (status != Status::ok) {
        discard_fresh_block(file, address);
    }
    return status;
}

Status create(FileState& file, const HeaderContent& content, Address& address) noexcept {
    Writer counter;
    HeaderWriter measure(counter, file.shape());
    content.write(measure);
    H5MOTE_TRY(measure.check(file.context));
    StoredContent given(file.context);
    Bytes messages;
    H5MOTE_TRY(given.reserve(counter.written(), messages));
    Writer writer(messages);
    HeaderWriter header(writer, file.shape());
    content.write(header);
    return file.low() == FormatVersion::earliest && !content.attributes.track_order
               ? create_old_header(file, given.bytes(), content.track_times, address)
               : create_new_header(file, ConvertedContent(file, given.bytes(), content), address);
}

// libhdf5 2.0 gives version 5, which has more bytes for the sizes of filtered chunks, to filtered datasets only, and
// version 3 to those without chunks. The releases of the bounds v110 to v114 give version 4 to all.
Status settle_layout(FileState& file, LayoutMessage& layout, bool filtered) noexcept {
    if (file.low() >= FormatVersion::v200 && layout.layout_class == Layout::chunked) {
        layout.version = filtered ? 5 : 4;
    } else if (file.low() >= FormatVersion::v200 && layout.layout_class != Layout::virtual_dataset) {
        layout.version = 3;
    }
    return file.allow_version(layout.version > 4   ? FormatVersion::v200
                              : layout.version > 3 ? FormatVersion::v110
                                                   : FormatVersion::v18);
}

// The lower bound, which makes versions newer than the type takes, is no newer than the upper one.
Status check_type(FileState& file, DatatypeView type) noexcept {
    const unsigned version = newest_version(type, file.low() == FormatVersion::standard);
    return file.allow_version(version > 4   ? FormatVersion::v200
                              : version > 3 ? FormatVersion::v112
                                            : FormatVersion::v18);
}

}  // namespace

const VersionsFormat formats::versions = {&create, &convert, &settle_layout, &check_type, &encode_bounded_selection};

}  // namespace h5mote

#endif
